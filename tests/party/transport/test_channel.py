"""The channel: order, back-pressure, ends and the loop that plays a role, over queues in one process."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pytest

from party.errors import PeerLostError, PeerStoppedError, RunCancelledError
from party.transport.channel import Recording, Watchers, play, reason_for
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, WINDOW, Page, Reason, Waits
from party.wire.codec import decode, encode
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.messages import DisguisedPage, Greeting, ModelDigest, Share, SignedHead, Verdict
from protocols.role import Message, Phase, Progress, Role, Send, exchange, receive
from tests.support.channels import memory_channels
from tests.support.timer import SkippingTimer

T = TypeVar("T")
Start = Callable[..., "Future[object]"]
A_SHARE = Share(1, (), (), ())


@pytest.fixture
def start() -> Iterator[Start]:
    with ThreadPoolExecutor(4) as pool:
        yield pool.submit


def send_all(*messages: Message) -> Role[int]:
    for message in messages:
        yield Send(message)
    return len(messages)


def receive_all(count: int) -> Role[list[int]]:
    sizes: list[int] = []
    while len(sizes) < count:
        sizes.append(len((yield from receive(DisguisedPage)).codes))
    return sizes


def failing(error: BaseException) -> Role[None]:
    yield Send(Verdict("first"))
    raise error


def test_messages_arrive_in_order_and_of_any_size(start: Start) -> None:
    a, b = memory_channels()
    sizes = [0, 1, PAGE_BYTES - 6, PAGE_BYTES - 5, PAGE_BYTES, 3 * PAGE_BYTES, 10_000_000]
    sending = start(play, send_all(*(DisguisedPage(bytes(size)) for size in sizes)), a)
    assert play(receive_all(len(sizes)), b) == sizes
    assert sending.result(5) == len(sizes)


def test_a_message_shows_how_far_the_senders_ledger_leads_where_it_has_grown() -> None:
    a, b = memory_channels()
    first, last = SignedHead(1, bytes(32), b"a"), SignedHead(3, bytes(range(32)), b"b")
    a.ends, b.ends = Ends([None, first, None, last]), Ends([])
    seen = []
    for size in (1, 1, 3 * PAGE_BYTES, 3 * PAGE_BYTES):
        a.send(DisguisedPage(bytes(size)))
        pages = [*b._incoming._pages]
        assert not any(page.ledger for page in pages[:-1])
        b.receive(DisguisedPage)
        seen.append((pages[-1].ledger, [*b.ends.seen]))
    assert seen == [(None, []), (first, [first]), (None, [first]), (last, [first, last])]
    assert not a.ends.seen


class Ends:
    """Shows these ends of our ledger, one for each message, and notes those of the peer's."""

    def __init__(self, own: list[SignedHead | None]) -> None:
        self._own, self.seen = own, list[SignedHead]()

    def grown(self) -> SignedHead | None:
        return self._own.pop(0)

    def see(self, end: SignedHead) -> None:
        self.seen.append(end)


def test_a_slow_receiver_holds_its_sender_back(start: Start) -> None:
    a, b = memory_channels()
    sending = start(play, send_all(*(DisguisedPage(bytes(PAGE_BYTES - 10)) for _ in range(3 * WINDOW))), a)
    with pytest.raises(TimeoutError):
        sending.result(0.3)
    assert a.traffic.frames_sent == WINDOW
    play(receive_all(3 * WINDOW), b)
    assert sending.result(5)


def test_two_parties_that_send_more_than_the_queues_hold_do_not_wait_for_ever(start: Start) -> None:
    def both_ways() -> Role[list[int]]:
        yield from send_all(*(DisguisedPage(bytes(PAGE_BYTES)) for _ in range(3 * WINDOW)))
        return (yield from receive_all(3 * WINDOW))

    a, b = memory_channels()
    one, two = start(play, both_ways(), a), start(play, both_ways(), b)
    assert one.result(10) == two.result(10) == [PAGE_BYTES] * 3 * WINDOW


def test_frames_that_cannot_be_are_refused() -> None:
    a, _ = memory_channels(waits=Waits(silence=0.1))
    start = encode(A_SHARE)[:1]
    a._incoming.put(Page(start + bytes(PAGE_BYTES - 1)))
    a._incoming.put(Page(bytes(PAGE_BYTES)))
    a._incoming.put(Page(bytes(SMALLEST_PAGE)))
    with pytest.raises(PeerError, match=f"^the peer sent a Share of more than {1 << 20} bytes$"):
        a.receive(Share)
    a, _ = memory_channels()
    a._incoming.put(Page(encode(A_SHARE)[:1] + bytes(PAGE_BYTES - 1)))
    with pytest.raises(PeerError, match=r"^expected Greeting from the peer, got Share$"):
        a.receive(Greeting)
    a, _ = memory_channels()
    a._incoming.put(Page(b"\x00", last=True))
    with pytest.raises(PeerError, match="cannot be read"):
        a.receive(Verdict)


def test_traffic_counts_frames_bytes_and_round_trips(start: Start) -> None:
    def asks() -> Role[None]:
        yield from exchange(Verdict("a"))
        yield Send(Verdict("b"))
        yield Send(Verdict("c"))
        yield from receive(Verdict)
        yield from receive(Verdict)  # nothing was sent since the last wait

    def answers() -> Role[None]:
        yield from exchange(Verdict("d"))
        yield from receive(Verdict)
        yield from receive(Verdict)
        yield Send(Verdict("e"))
        yield Send(Verdict("f"))

    a, b = memory_channels()
    a.recording, b.recording = Recording(), Recording()
    other = start(play, answers(), b)
    play(asks(), a)
    other.result(5)
    assert (a.traffic.round_trips, b.traffic.round_trips) == (2, 1)
    assert a.traffic.frames_sent == len(a.recording.sent) == len(a.recording.received) == 3
    assert a.traffic.bytes_sent == b.traffic.bytes_received == sum(map(len, a.recording.sent))
    assert [decode(frame, Verdict) for frame in a.recording.sent] == [Verdict("a"), Verdict("b"), Verdict("c")]
    assert a.recording.received == b.recording.sent
    assert a.recording.sent == b.recording.received


def test_progress_reaches_the_callback_and_nobody_else() -> None:
    def works() -> Role[str]:
        yield Progress(Phase.COLUMNS, 1, 2)
        yield Progress(Phase.COLUMNS, 2, 2)
        return "done"

    seen: list[Progress] = []
    assert play(works(), memory_channels()[0], Watchers(seen.append)) == "done"
    assert play(works(), memory_channels()[0]) == "done"
    assert seen == [Progress(Phase.COLUMNS, 1, 2), Progress(Phase.COLUMNS, 2, 2)]


def test_each_error_has_its_reason() -> None:
    for error, reason in [
        (DeviationError(), Reason.DEVIATION),
        (PeerError("a wrong kind"), Reason.DEVIATION),
        (DisagreementError("theta", "ours is 7/10"), Reason.CANCELLED),
        (PeerLostError(), Reason.PAUSED),
        (PeerStoppedError(), Reason.PAUSED),
        (KeyboardInterrupt(), Reason.PAUSED),
        (InputError("ours"), Reason.INTERNAL),
        (ValueError("a fault of the program"), Reason.INTERNAL),
    ]:
        assert reason_for(error) is reason


def test_an_error_of_a_role_is_raised_again_and_told_to_the_peer_by_its_reason() -> None:
    for error, text in [
        (DeviationError(), "alice reports that what we sent failed a check"),
        (KeyboardInterrupt(), "alice has stopped for now"),
        (ValueError("canary 4711"), "alice had a fault of its own"),
    ]:
        a, b = memory_channels()
        with pytest.raises(type(error)):
            play(failing(error), a)
        with pytest.raises(PeerStoppedError) as stopped:
            play(receive_all(1), b)
        assert text in str(stopped.value)
        assert "4711" not in str(stopped.value)


def test_a_stop_reaches_a_peer_that_is_held_back(start: Start) -> None:
    a, b = memory_channels()
    sending = start(play, send_all(*(DisguisedPage(bytes(PAGE_BYTES)) for _ in range(3 * WINDOW))), b)
    with pytest.raises(TimeoutError):
        sending.result(0.2)
    a.stop(Reason.CANCELLED)
    with pytest.raises(PeerStoppedError):
        sending.result(5)


def test_a_disagreement_arrives_after_the_messages_that_explain_it() -> None:
    a, b = memory_channels()
    with pytest.raises(DisagreementError):
        play(failing(DisagreementError("theta", "ours is 7/10")), a)
    assert b.receive(Verdict) == Verdict("first")
    with pytest.raises(PeerError, match="ended the session before its last message"):
        b.receive(Verdict)


def test_a_role_that_is_dropped_runs_its_own_clean_up() -> None:
    cleaned = threading.Event()

    def tidy() -> Role[None]:
        try:
            yield Send(ModelDigest(b"too short"))
        finally:
            cleaned.set()

    with pytest.raises(InputError):
        play(tidy(), memory_channels()[0])
    assert cleaned.is_set()


def test_what_is_left_at_the_close_is_reported() -> None:
    a, b = memory_channels()
    a.close()
    with pytest.raises(PeerError, match="before its last message"):
        b.send(Verdict(""))
    a, b = memory_channels()
    a.send(Verdict(""))
    with pytest.raises(PeerError, match="sent more than we wait for"):
        b.close()
    a, b = memory_channels()
    a.stop(Reason.DEVIATION)
    with pytest.raises(PeerStoppedError, match="failed a check"):
        b.close()


def test_closing_sends_nothing_more() -> None:
    a, b = memory_channels(waits=Waits(silence=0.1))
    b.send(Verdict(""))
    a.interrupt(RunCancelledError("the owner cancels"))
    with pytest.raises(RunCancelledError, match="the owner cancels"):
        a.send(Verdict(""))
    with pytest.raises(RunCancelledError, match="the owner cancels"):
        a.receive(Verdict)
    a, b = memory_channels()
    a.close()
    a.close()
    a.stop(Reason.DEVIATION)
    with pytest.raises(PeerError, match="ended the session before its last message"):
        b.receive(Verdict)
    b.close()
    a, b = memory_channels()
    with pytest.raises(ZeroDivisionError), a:
        raise ZeroDivisionError
    with pytest.raises(PeerStoppedError):
        b.receive(Verdict)
    a, b = memory_channels()
    with a:
        a.send(Verdict(""))
    assert b.receive(Verdict) == Verdict("")


def test_a_peer_that_lives_but_sends_nothing_is_given_up() -> None:
    timer = SkippingTimer()
    ours, _ = memory_channels(waits=Waits(silence=600, timer=timer))
    with ThreadPoolExecutor(1) as pool:
        heard = pool.submit(ours.receive, Verdict)
        timer.skip_until(heard.done, 100)
        with pytest.raises(PeerLostError, match="bob is there but has sent nothing for 600 s"):
            heard.result()
    assert timer.skipped >= 600
