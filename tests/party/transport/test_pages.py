"""Pages: how a frame is cut, and what a queue of them gives, refuses and tells."""

import threading

import pytest

from party.errors import ConfigError
from party.transport import pages as pages_module
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, AwakeTime, Pace, Page, Pages, Reason, Waits, cut
from protocols.errors import PeerError

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


@pytest.mark.parametrize(
    ("pages", "all_but_the_end", "all_of_it"),
    [((), True, True), ((A,), False, False), ((END,), True, False), ((A, END), False, False)],
)
def test_what_is_delivered_has_left_the_queue(pages: tuple[Page, ...], all_but_the_end: bool, all_of_it: bool) -> None:
    queue = holding(*pages)
    assert queue.wait_delivered(end=False, timeout=0) is all_but_the_end
    assert queue.wait_delivered(end=True, timeout=0) is all_of_it
    assert queue.idle is all_but_the_end


def test_of_a_failure_hears_who_waits_for_what_is_not_delivered_and_nobody_else() -> None:
    for queue, delivered in ((holding(END), True), (holding(A), False)):
        queue.fail(PeerError("lost"))
        if delivered:
            assert queue.wait_delivered(end=False, timeout=0)
        for end in (True,) if delivered else (True, False):
            with pytest.raises(PeerError, match="lost"):
                queue.wait_delivered(end=end, timeout=0)


@pytest.mark.parametrize(
    ("pages", "ended", "unread"),
    [((), False, False), ((A,), False, True), ((END,), True, False), ((A, END), True, True)],
)
def test_a_queue_tells_whether_the_stream_has_ended_and_whether_a_piece_waits(
    pages: tuple[Page, ...], ended: bool, unread: bool
) -> None:
    queue = holding(*pages)
    assert (queue.ended, queue.unread) == (ended, unread)


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
    monkeypatch.setattr("party.transport.pages._LOOK_SECONDS", 0.0)
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
