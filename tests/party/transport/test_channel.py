"""The channel: order, back-pressure, ends and the loop that plays a role, over queues in one process."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from typing import TypeVar

import grpc
import pytest

from party.errors import ConfigError, DataError, IdentityError, PeerLostError, PeerStoppedError, RunCancelledError
from party.transport import pages as pages_module
from party.transport.channel import Recording, Watchers, drive, reason_for
from party.transport.clocks import AwakeTime, Sparingly
from party.transport.grpc.status import (
    STATUS,
    STOPS,
    NotNowError,
    StoppedHereError,
    _read,
    check_free,
    page_from_wire,
    page_to_wire,
    refused,
    split_address,
    status_of,
)
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, WINDOW, Pace, Page, Pages, Reason, Waits, cut
from party.wire.codec import decode, encode
from party.wire.v1 import node_pb2 as wire
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError
from protocols.messages import DisguisedPage, Greeting, ModelDigest, Share, SignedHead, Verdict
from protocols.role import Message, Phase, Progress, Role, Send, exchange, receive
from tests.support.channels import memory_channels
from tests.support.responder import BAD_PAGES
from tests.support.rpc import WIRE_VERSION
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
    sending = start(drive, send_all(*(DisguisedPage(bytes(size)) for size in sizes)), a)
    assert drive(receive_all(len(sizes)), b) == sizes
    assert sending.result(5) == len(sizes)


def test_a_message_shows_how_far_the_senders_ledger_leads_where_it_has_grown() -> None:
    a, b = memory_channels()
    first, last = SignedHead(1, bytes(32), b"a"), SignedHead(3, bytes(range(32)), b"b")
    a.heads, b.heads = Ends([None, first, None, last]), Ends([])
    seen = []
    for size in (1, 1, 3 * PAGE_BYTES, 3 * PAGE_BYTES):
        a.send(DisguisedPage(bytes(size)))
        pages = [*b._incoming._pages]
        assert not any(page.ledger for page in pages[:-1])
        b.receive(DisguisedPage)
        seen.append((pages[-1].ledger, [*b.heads.seen]))
    assert seen == [(None, []), (first, [first]), (None, [first]), (last, [first, last])]
    assert not a.heads.seen


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
    sending = start(drive, send_all(*(DisguisedPage(bytes(PAGE_BYTES - 10)) for _ in range(3 * WINDOW))), a)
    with pytest.raises(TimeoutError):
        sending.result(0.3)
    assert a.traffic.frames_sent == WINDOW
    drive(receive_all(3 * WINDOW), b)
    assert sending.result(5)


def test_two_parties_that_send_more_than_the_queues_hold_do_not_wait_for_ever(start: Start) -> None:
    def both_ways() -> Role[list[int]]:
        yield from send_all(*(DisguisedPage(bytes(PAGE_BYTES)) for _ in range(3 * WINDOW)))
        return (yield from receive_all(3 * WINDOW))

    a, b = memory_channels()
    one, two = start(drive, both_ways(), a), start(drive, both_ways(), b)
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
    other = start(drive, answers(), b)
    drive(asks(), a)
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
    assert drive(works(), memory_channels()[0], Watchers(seen.append)) == "done"
    assert drive(works(), memory_channels()[0]) == "done"
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


def test_an_error_of_a_role_is_raised_again_and_shown_to_the_peer_by_its_reason() -> None:
    for error, text in [
        (DeviationError(), "alice reports that what we sent failed a check"),
        (KeyboardInterrupt(), "alice has stopped for now"),
        (ValueError("canary 4711"), "alice had a fault of its own"),
    ]:
        a, b = memory_channels()
        with pytest.raises(type(error)):
            drive(failing(error), a)
        with pytest.raises(PeerStoppedError) as stopped:
            drive(receive_all(1), b)
        assert text in str(stopped.value)
        assert "4711" not in str(stopped.value)


def test_a_stop_reaches_a_peer_that_is_held_back(start: Start) -> None:
    a, b = memory_channels()
    sending = start(drive, send_all(*(DisguisedPage(bytes(PAGE_BYTES)) for _ in range(3 * WINDOW))), b)
    with pytest.raises(TimeoutError):
        sending.result(0.2)
    a.stop(Reason.CANCELLED)
    with pytest.raises(PeerStoppedError):
        sending.result(5)


def test_a_disagreement_arrives_after_the_messages_that_explain_it() -> None:
    a, b = memory_channels()
    with pytest.raises(DisagreementError):
        drive(failing(DisagreementError("theta", "ours is 7/10")), a)
    b.send(Verdict("crosses it"))
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
        drive(tidy(), memory_channels()[0])
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


A, B, END = Page(b"a", last=True), Page(b"b", last=True), Page(end=Reason.PAUSED)


def holding(*pages: Page) -> Pages:
    queue = Pages(limit=2)
    for page in pages:
        assert queue.put(page, timeout=0)
    return queue


def drained(queue: Pages) -> list[Page]:
    """Take what is there."""
    taken = []
    while (head := queue.head(timeout=0)) is not None:
        queue.remove(head)
        taken.append(head)
    return taken


def test_pages_keep_their_pace() -> None:
    pace = Pace()
    for size in (1, pace.size, pace.size + 1, 2 * pace.size):
        pages = list(cut(bytes(size), pace))
        assert all(len(page.body) == pace.size and not page.last for page in pages[:-1])
        assert pages[-1].last
        assert sum(len(page.body) for page in pages) == size
    pace = Pace()
    sizes = []
    for seconds in (*[0.1] * 9, *[0.5] * 9, *[3.0] * 9):
        pace.took(next(cut(bytes(2 * PAGE_BYTES), pace)), seconds)
        sizes.append(pace.size)
    assert sizes[8] == sizes[17] == PAGE_BYTES
    assert sizes[26] == SMALLEST_PAGE
    pace.took(Page(b"a", last=True), 0.1)
    assert pace.size == SMALLEST_PAGE, "that a short page is quick says nothing of a long one"


def test_a_queue_that_grew_is_as_short_as_before_when_it_has_been_read() -> None:
    pages = Pages(limit=2)
    filler = Page(b"a", last=True)
    for _ in range(2):
        assert pages.put(filler, timeout=0)
    assert not pages.put(filler, timeout=0)
    pages.widen()
    assert pages.put(filler, timeout=0)
    pages.widen()  # not full: nothing to do
    assert pages.put(filler, timeout=0)
    assert not pages.put(filler, timeout=0)
    for _ in range(3):
        head = pages.head()
        assert head is not None
        pages.remove(head)
    assert pages.put(filler, timeout=0)
    assert not pages.put(filler, timeout=0)


def test_what_a_peer_sends_while_it_does_not_receive_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_module, "MAX_UNREAD", 4 * SMALLEST_PAGE)
    pages = Pages(limit=2)
    for _ in range(2):
        assert pages.put(Page(b"a"), timeout=0)
    pages.widen()
    for _ in range(2):
        assert pages.put(Page(b"a"), timeout=0)
    with pytest.raises(PeerError, match="while it does not receive"):
        pages.widen()


def test_pages_come_out_in_order_and_none_before_the_one_before_it_is_removed() -> None:
    queue = holding(A, B)
    assert queue.head(timeout=0) is A
    queue.remove(B)
    assert queue.head(timeout=0) is A
    assert drained(queue) == [A, B]
    assert queue.head(timeout=0) is None


@pytest.mark.parametrize("at_once", [True, False])
def test_a_queue_that_fails_takes_nothing_and_hands_out_what_came_before_unless_at_once(at_once: bool) -> None:
    queue = holding(A)
    queue.fail(PeerError("lost"), at_once=at_once)
    queue.fail(PeerError("another"))
    assert str(queue.failure) == "lost"
    with pytest.raises(PeerError, match="lost"):
        queue.put(B, timeout=0)
    if not at_once:
        assert queue.head(timeout=0) is A
        queue.remove(A)
    with pytest.raises(PeerError, match="lost"):
        queue.head(timeout=0)


def test_a_queue_shows_what_has_been_delivered_whether_the_stream_has_ended_and_whether_a_piece_waits() -> None:
    for pages, all_but_the_end, all_of_it, ended in (
        ((), True, True, False), ((A,), False, False, False),
        ((END,), True, False, True), ((A, END), False, False, True),
    ):  # fmt: skip
        queue = holding(*pages)
        assert queue.wait_delivered(end=False, timeout=0) is all_but_the_end
        assert queue.wait_delivered(end=True, timeout=0) is all_of_it
        assert queue.idle is all_but_the_end
        assert (queue.ended, queue.unread) == (ended, not all_but_the_end)


def test_of_a_failure_hears_who_waits_for_what_is_not_delivered_and_nobody_else() -> None:
    for queue, delivered in ((holding(END), True), (holding(A), False)):
        queue.fail(PeerError("lost"))
        if delivered:
            assert queue.wait_delivered(end=False, timeout=0)
        for end in (True,) if delivered else (True, False):
            with pytest.raises(PeerError, match="lost"):
                queue.wait_delivered(end=end, timeout=0)


def test_a_queue_keeps_its_limit() -> None:
    queue = holding(A, B)
    assert not queue.put(A, timeout=0)
    assert queue.put(END, timeout=0)
    assert drained(queue) == [A, B, END]
    queue = holding(A)
    queue.refuse(PeerError("no more"))
    with pytest.raises(PeerError, match="no more"):
        queue.put(B, timeout=0)
    assert drained(queue) == [A]
    queue = holding(A, B)
    queue.replace(END, PeerError("stopped"))
    with pytest.raises(PeerError, match="stopped"):
        queue.put(A, timeout=0)
    assert drained(queue) == [END]
    queue = holding(A, B)
    queue.finish()
    assert drained(queue) == [A, B, Page(end=Reason.FINISHED)]


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_while_a_process_stands_still_no_time_passes_for_it() -> None:
    clock = Clock()
    timer = AwakeTime(clock)
    started = timer.now()
    for _ in range(20):
        clock.seconds += 2.0  # awake: somebody looks twice a second
        timer.now()
    assert timer.now() - started == pytest.approx(40.0)
    clock.seconds += 60.0  # asleep: nobody has looked
    assert timer.now() - started == pytest.approx(40.0)
    clock.seconds += 1.0
    assert timer.now() - started == pytest.approx(41.0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_has_died_is_not_taken_for_a_process_that_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("party.transport.clocks._LOOK_SECONDS", 0.0)
    seconds, failing = [100.0], threading.Event()

    def clock() -> float:
        if failing.is_set() and threading.current_thread().name == "clock":
            raise SystemExit  # of this thread alone
        return seconds[0]

    timer = AwakeTime(clock)
    started = timer.now()
    looker = timer._looker
    assert looker is not None
    failing.set()
    looker.join()
    seconds[0] += 60.0
    assert timer.now() - started == 60.0
    again = timer._looker
    assert again is not None
    assert again is not looker
    again.join()  # by the same fault


def test_a_wait_that_a_sleep_has_cut_short_goes_on_for_the_rest() -> None:
    clock = Clock()
    timer = AwakeTime(clock)
    timer.now()
    waits: list[float] = []

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            waits.append(timeout)
            assert len(waits) < 3
            clock.seconds += 60.0 if len(waits) == 1 else 3.0
            return False

    assert not timer.wait(Event(), 3.0)
    assert waits == pytest.approx([3.0, 3.0])


def test_waits_end_and_patience_has_its_range() -> None:
    timer, condition, event = AwakeTime(), threading.Condition(), threading.Event()
    with condition:
        timer.wait_for(condition, lambda: True, None)
        timer.wait_for(condition, lambda: False, 0.01)
    assert not timer.wait(event, 0.01)
    event.set()
    assert timer.wait(event, 60.0)
    assert [Waits(patience).patience for patience in (1.0, 86_400.0)] == [1.0, 86_400.0]
    for patience in (0.0, 0.999, 86_401.0, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="patience must be 1 to 86400 seconds"):
            Waits(patience)


Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=bytes(16))
BODY = OPEN.SerializeToString()


def subclasses(kind: type) -> set[type]:
    found = {kind}
    each: type
    for each in kind.__subclasses__():
        found |= subclasses(each)
    return found


def test_no_text_of_an_error_crosses(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [
        PeerError("4711"), InputError("4711"), DataError("4711", path="4711"), IdentityError("4711"),
        PeerLostError("4711"), PeerStoppedError("4711"), NotNowError("4711"), DeviationError(),
        StoppedHereError(Reason.DEVIATION), ValueError("4711"), KeyError("4711"),
    ]  # fmt: skip
    with caplog.at_level(logging.CRITICAL):
        texts = [status_of(error)[1] for error in errors]
    assert not any("4711" in text for text in texts if "incident" not in text)
    assert all("incident" in text for text in texts[-2:])


def test_what_a_peer_is_refused_again_and_again_is_noted_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    timer = SkippingTimer()
    said = Sparingly(timer)
    with caplog.at_level(logging.INFO):
        for lines in (2, 4):
            for _ in range(50):
                status_of(PeerError("a page is out of order"), said)
                status_of(IdentityError("a key that is not pinned"), said)
            assert len(caplog.records) == lines
            timer.skip(60.0)


def test_the_tables_are_total() -> None:
    assert all("bob" in str(refused(code, "bob", "")) for code in set(Code) - {Code.OK})
    assert set(STOPS) == set(Reason)
    for error in subclasses(CotallyError):
        assert any(kind in STATUS for kind in error.__mro__)
    assert status_of(DataError("ours"))[0] is Code.INTERNAL
    assert status_of(NotNowError())[0] is Code.RESOURCE_EXHAUSTED
    assert _read(BODY, wire.OpenRequest.FromString) == OPEN
    for body in (BODY + b"\x78\x01", BODY * 2, BODY[:-1], b"\xff" * 9):
        with pytest.raises(PeerError, match="a call's body"):
            _read(body, wire.OpenRequest.FromString)


def test_an_address_is_a_host_and_a_port() -> None:
    for address, parts in (
        ("bob:0", ("bob", 0)),
        ("127.0.0.1:65535", ("127.0.0.1", 65_535)),
        ("[::1]:7071", ("::1", 7071)),
    ):
        assert split_address(address) == parts
    for address in (
        "", "bob", "bob:", ":1", "[]:1", "bob:x", "bob:-1", "bob:65536", "::1:80", "bob:\u0661", "bob:\u00b2",
    ):  # fmt: skip
        with pytest.raises(ConfigError, match="is not an address: it must be host:port, port 0 to 65535"):
            split_address(address)


def test_a_port_that_is_taken_is_not_free_under_any_name_of_its_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(ConfigError, match=f"^cannot listen on {host}:{port}: the port is in use: choose"):
                check_free(host, port)
    check_free("127.0.0.1", port)
    check_free("192.0.2.1", 50_051)  # whether that host is ours is for another to say


def test_every_page_of_a_frame_and_every_end_crosses() -> None:
    pages = [Page(bytes(size)) for size in (SMALLEST_PAGE, PAGE_BYTES)]
    pages += [Page(bytes(size), last=True) for size in (1, PAGE_BYTES)]
    pages += [Page(b"a", last=True, ledger=SignedHead(1, bytes(range(32)), bytes(72)))]
    pages += [Page(end=reason) for reason in Reason]
    for page, sequence in product(pages, (0, 2**32)):
        crossed = page_to_wire(page, sequence)
        assert (page_from_wire(crossed), crossed.sequence) == (page, sequence)


def test_a_page_that_no_frame_has_is_refused() -> None:
    for page in BAD_PAGES:
        with pytest.raises(PeerError, match="the peer sent a page that no frame has"):
            page_from_wire(BAD_PAGES[page])
