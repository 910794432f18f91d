"""Sessions over real sockets under mutual TLS: delivery, back-pressure, ends, and what happens when a peer goes."""

import contextlib
import itertools
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar, cast

import pytest

from party.errors import PeerLostError, PeerStoppedError
from party.keys.identity import load_identity, trust
from party.transport import channel as channel_module
from party.transport.channel import PagedChannel, drive
from party.transport.grpc import client as client_module
from party.transport.grpc import server as server_module
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import LONG_POLL
from party.transport.pages import PAGE_BYTES, WINDOW, Reason, Waits
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.messages import ModelDigest, Verdict
from protocols.role import Message, Role, exchange, receive, run_pair
from tests.support.identities import create_identity
from tests.support.processes import wait_for
from tests.support.rpc import Forwarder, Parties, both_ways, live_on, receive_bulk, send_bulk, session
from tests.support.timer import SkippingTimer

T = TypeVar("T")
Start = Callable[..., "Future[object]"]
MIB = 1 << 20


def finish(role: Role[object], channel: PagedChannel) -> object:
    with channel:
        return drive(role, channel)


def interrupted(role: Role[T], interrupt: Callable[[], None], before: set[int]) -> Role[T]:
    """Do as a role does, with an interruption before the steps of these numbers."""
    reply: Message | None = None
    for number in itertools.count():
        try:
            step = role.send(reply)
        except StopIteration as end:
            return cast("T", end.value)
        if number in before:
            interrupt()
        reply = yield step
    raise AssertionError


def chat(rounds: int) -> Role[list[bytes]]:
    heard = []
    for number in range(rounds):
        message = yield from exchange(ModelDigest(bytes([number]) * 32))
        heard.append(message.digest)
    yield from both_ways(2, 10 * MIB)
    return heard


# Delivery


def test_a_session_gives_what_run_pair_gives_frames_of_10_mib_included(parties: Parties, start: Start) -> None:
    with session(parties) as (alice, bob, _):
        assert (alice.peer, bob.peer) == ("bob", "alice")
        other = start(finish, chat(5), bob)
        ours = finish(chat(5), alice)
        assert (ours, other.result(10)) == run_pair(chat(5), chat(5))
        assert alice.traffic.bytes_sent == bob.traffic.bytes_received > 20 * MIB
        assert alice.traffic.round_trips == 6


def test_both_parties_may_send_more_than_the_queues_hold(parties: Parties, start: Start) -> None:
    frames = 4 * WINDOW
    with session(parties) as (alice, bob, _):
        other = start(finish, both_ways(frames, PAGE_BYTES), bob)
        assert finish(both_ways(frames, PAGE_BYTES), alice) == frames * PAGE_BYTES
        assert other.result(10) == frames * PAGE_BYTES


@pytest.mark.parametrize("initiator_sends", [True, False])
def test_a_slow_receiver_holds_its_sender_back_and_neither_takes_the_other_for_lost(
    parties: Parties, start: Start, timer: SkippingTimer, *, initiator_sends: bool
) -> None:
    frames, size = 4 * WINDOW, PAGE_BYTES - 10
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        sender, receiver = (alice, bob) if initiator_sends else (bob, alice)
        sending = start(finish, send_bulk(frames, size), sender)
        live_on(bob, timer, steps=5, seconds=20)
        assert not sending.done()
        assert sender.traffic.frames_sent <= 2 * WINDOW + 1
        assert finish(receive_bulk(frames), receiver) == frames * size
        assert sending.result(5) == frames


def test_a_session_survives_cut_connections_without_loss_or_repetition(parties: Parties, start: Start) -> None:
    with parties.serve(patience=5) as server:
        hop = Forwarder(server.address)
        alice = parties.connect(hop.address, patience=5)
        bob = server.accept(5)
        other = start(finish, chat(40), bob)
        ours = start(finish, interrupted(chat(40), hop.cut, {9, 30, 51, 81, 83}), alice)
        assert (ours.result(20), other.result(20)) == run_pair(chat(40), chat(40))
        hop.close()


def test_a_line_that_carries_a_frame_in_twice_our_patience_is_not_dead(parties: Parties, start: Start) -> None:
    size = 600_000
    with parties.serve(patience=1) as server:
        hop = Forwarder(server.address, rate=300_000)
        alice = parties.connect(hop.address, patience=1)
        bob = server.accept(5)
        other = start(finish, both_ways(1, size), bob)
        assert finish(both_ways(1, size), alice) == other.result(10) == size
        hop.close()


def test_a_session_survives_bits_that_flip_in_replies(parties: Parties, start: Start) -> None:
    with parties.serve(patience=5) as server:
        hop = Forwarder(server.address)
        alice = parties.connect(hop.address, patience=5)
        bob = server.accept(5)
        other = start(finish, chat(20), bob)
        ours = start(finish, chat(20), alice)
        for _ in range(4):
            hop.flip()
            wait_for(lambda: ours.done() or not hop.flips)
        assert (ours.result(20), other.result(20)) == run_pair(chat(20), chat(20))
        assert not hop.flips
        hop.close()


def test_a_session_outlives_its_connections(parties: Parties, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "CONNECTION_SECONDS", 0.2)
    with parties.serve() as server, contextlib.closing(Forwarder(server.address)) as hop:
        alice = parties.connect(hop.address)
        bob = server.accept(5)

        def talk() -> bool:
            other = start(drive, exchange(Verdict("a")), bob)
            assert drive(exchange(Verdict("b")), alice) == Verdict("a")
            assert other.result(5) == Verdict("b")
            return hop.accepted >= 4

        wait_for(talk)
        other = start(bob.close)
        alice.close()
        other.result(5)


# Orderly ends


@pytest.mark.parametrize("initiator_ends", [True, False])
def test_what_was_sent_arrives_although_its_sender_has_closed(
    parties: Parties, start: Start, timer: SkippingTimer, *, initiator_ends: bool
) -> None:
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        first, second = (alice, bob) if initiator_ends else (bob, alice)
        sending = start(finish, send_bulk(12, PAGE_BYTES), first)
        live_on(bob, timer, steps=5, seconds=20)  # longer than patience: the second party still computes
        assert finish(receive_bulk(12), second) == 12 * PAGE_BYTES
        assert sending.result(5) == 12


def test_a_responder_may_leave_as_soon_as_its_last_message_is_taken(parties: Parties, start: Start) -> None:
    def serve() -> None:
        with server, server.accept(5) as bob:
            drive(send_bulk(3, 10_000), bob)

    server = parties.serve(patience=20.0)
    served = start(serve)
    alice = parties.connect(server.address, patience=20.0)
    served.result(10)
    started = time.monotonic()
    assert finish(receive_bulk(3), alice) == 30_000
    assert time.monotonic() - started < 4.0  # no call to a port that nobody listens on any more


def test_an_initiator_that_has_finished_is_not_lost(parties: Parties, timer: SkippingTimer) -> None:
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        finish(send_bulk(1, 10), alice)
        timer.skip(45)
        timer.settle()
        assert finish(receive_bulk(1), bob) == 10


def test_closing_takes_a_long_poll_at_most(parties: Parties) -> None:
    with session(parties, patience=20.0) as (alice, bob, _):
        started = time.monotonic()
        alice.close()
        bob.close()
        assert time.monotonic() - started < 4 * LONG_POLL


@pytest.mark.parametrize("messages", [1, WINDOW + 4])
@pytest.mark.parametrize("initiator_sends", [True, False])
def test_what_nobody_read_is_reported_at_the_close(parties: Parties, messages: int, *, initiator_sends: bool) -> None:
    with session(parties) as (alice, bob, _):
        sender, other = (alice, bob) if initiator_sends else (bob, alice)
        for _ in range(messages):
            sender.send(Verdict(""))
        wait_for(lambda: other._incoming.unread)
        with pytest.raises(PeerError, match="sent more than we wait for"):
            other.close()


@pytest.mark.parametrize("initiator_ends", [True, False])
def test_a_peer_that_ends_too_early_is_told_apart_from_a_lost_one(parties: Parties, *, initiator_ends: bool) -> None:
    with session(parties) as (alice, bob, _):
        first, second = (alice, bob) if initiator_ends else (bob, alice)
        first.close()
        with pytest.raises(PeerError, match="ended the session before its last message"):
            drive(exchange(Verdict("")), second)


def test_both_parties_of_a_disagreement_learn_of_it(parties: Parties, start: Start) -> None:
    def disagree() -> Role[None]:
        yield from exchange(Verdict("theta"))
        raise DisagreementError("theta", "another value")

    with session(parties) as (alice, bob, _):
        other = start(finish, disagree(), bob)
        with pytest.raises(DisagreementError):
            finish(disagree(), alice)
        assert isinstance(other.exception(5), DisagreementError)


def test_the_next_session_follows_the_last(parties: Parties, start: Start) -> None:
    with parties.serve() as server:
        for number in range(3):
            accepted = start(server.accept, 5)
            alice = parties.connect(server.address)
            bob = accepted.result(5)
            assert isinstance(bob, PagedChannel)
            other = start(finish, receive_bulk(1), bob)
            finish(send_bulk(1, number), alice)
            assert other.result(5) == number


# Ends by a fault


def fail(error: BaseException) -> Role[None]:
    yield from receive(Verdict)
    raise error


@pytest.mark.parametrize("initiator_fails", [True, False])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DeviationError(), "reports that what we sent failed a check"),
        (KeyboardInterrupt(), "has stopped for now"),
        (ValueError("canary 4711"), "had a fault of its own"),
    ],
    ids=["deviation", "paused", "internal"],
)
def test_the_reason_of_an_end_reaches_the_other_side_at_once_and_no_text(
    parties: Parties, error: BaseException, text: str, *, initiator_fails: bool
) -> None:
    with session(parties, patience=30.0) as (alice, bob, _):
        failing, other = (alice, bob) if initiator_fails else (bob, alice)
        other.send(Verdict(""))
        started = time.monotonic()
        with pytest.raises(type(error)):
            finish(fail(error), failing)
        with pytest.raises(PeerStoppedError, match=f"^{failing_name(failing, alice)} {text}") as stopped:
            finish(receive(Verdict), other)
        assert "4711" not in str(stopped.value)
        assert time.monotonic() - started < 10.0


def failing_name(failing: PagedChannel, alice: PagedChannel) -> str:
    return "alice" if failing is alice else "bob"


@pytest.mark.parametrize("initiator_stops", [True, False])
def test_a_stop_overtakes_what_waits_and_frees_a_peer_that_is_held_back(
    parties: Parties, start: Start, monkeypatch: pytest.MonkeyPatch, *, initiator_stops: bool
) -> None:
    for module in (client_module, server_module):
        monkeypatch.setattr(module, "STOP_SECONDS", 20.0)
    frames = 5 * WINDOW
    with session(parties, patience=30.0) as (alice, bob, _):
        stopping, other = (alice, bob) if initiator_stops else (bob, alice)
        stopped = start(drive, send_bulk(6 * frames, PAGE_BYTES), stopping)
        held = start(drive, both_ways(frames, PAGE_BYTES), other)
        wait_for(lambda: min(each.traffic.frames_sent for each in (stopping, other)) >= 2)
        started = time.monotonic()
        stopping.stop(Reason.CANCELLED)
        assert isinstance(held.exception(5), PeerStoppedError)
        assert time.monotonic() - started < 10.0
        assert str(stopped.exception(5)) == "we ended the session: cancelled"


def test_a_stop_does_not_wait_for_a_peer_that_cannot_be_reached(
    parties: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (channel_module, client_module):
        monkeypatch.setattr(module, "STOP_SECONDS", 0.3)
    with parties.serve(patience=30) as server:
        hop = Forwarder(server.address)
        alice = parties.connect(hop.address, patience=30)
        hop.close()
        started = time.monotonic()
        alice.stop(Reason.DEVIATION)
        assert time.monotonic() - started < 2.0


def test_closing_the_server_stops_its_session(parties: Parties) -> None:
    with session(parties) as (alice, bob, server):
        server.close()
        with pytest.raises(PeerStoppedError, match="bob has stopped for now"):
            alice.receive(Verdict)
        with pytest.raises(Exception, match="we ended the session"):
            bob.receive(Verdict)
        with pytest.raises(InputError, match="closed"):
            server.accept(5)


def test_closing_the_server_wakes_who_waits_for_a_session(parties: Parties, start: Start, timer: SkippingTimer) -> None:
    server = parties.serve(timer=timer)
    waiting = start(server.accept)
    wait_for(lambda: timer.waiting)
    server.close()
    assert isinstance(waiting.exception(2), InputError)


# One session at a time


def test_a_second_peers_session_is_refused_while_one_runs_and_the_first_goes_on(
    parties: Parties, directory: Path, start: Start
) -> None:
    create_identity(directory / "carol", "carol")
    carol, hers = load_identity(directory / "carol"), trust(directory / "carol", directory / "bob" / "cert.pem")
    with NodeServer.listen(parties.bob, [parties.pinned_alice, carol], "127.0.0.1:0") as server:
        alice, bob = parties.connect(server.address), server.accept(5)
        with pytest.raises(PeerError, match=r"^bob is busy with another session$") as refusal:
            connect(carol, hers, server.address, waits=Waits(1.0))
        assert not isinstance(refusal.value, PeerLostError)
        other = start(finish, chat(2), bob)
        finish(chat(2), alice)
        other.result(10)


def test_a_killed_peer_that_starts_again_is_not_kept_out_by_its_dead_session(parties: Parties) -> None:
    with session(parties, patience=30) as (alice, bob, server):
        alice._release()  # as if killed: no more calls
        again = parties.connect(server.address, patience=10.0)
        fresh = server.accept(5)
        again.send(Verdict("new"))
        assert fresh.receive(Verdict) == Verdict("new")
        with pytest.raises(PeerLostError, match=r"^lost alice: it has started again"):
            bob.receive(Verdict)
        again.stop(Reason.CANCELLED)
