"""Time as a process sees it that may have stood still."""

import threading

import pytest

from party.errors import ConfigError
from party.transport.timer import AwakeTime, Waits


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
    monkeypatch.setattr("party.transport.timer._LOOK_SECONDS", 0.0)
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


def test_waits_end_when_what_they_wait_for_is_there_or_their_time_is_over() -> None:
    timer, condition, event = AwakeTime(), threading.Condition(), threading.Event()
    with condition:
        timer.wait_for(condition, lambda: True, None)
        timer.wait_for(condition, lambda: False, 0.01)
    assert not timer.wait(event, 0.01)
    event.set()
    assert timer.wait(event, 60.0)


def test_patience_is_a_second_to_a_day() -> None:
    assert [Waits(patience).patience for patience in (1.0, 86_400.0)] == [1.0, 86_400.0]
    for patience in (0.0, 0.999, 86_401.0, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="patience must be 1 to 86400 seconds"):
            Waits(patience)
