import io
import re

import pytest

from party.show.progress import (
    CLEAR,
    WORDS,
    Display,
    LineDisplay,
    Step,
    TerminalDisplay,
    TimeLeft,
    Work,
    complain,
    duration,
    make_progress,
)
from protocols.role import Phase


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def told(line: str) -> str:
    """Return what a line says beside its bar."""
    return re.sub(r"\x1b\[[0-9;]*m|[━╸╺]", "", line).strip()


def play(display: Display, clock: Clock, steps: list[tuple[float, Step]]) -> None:
    for now, progress in steps:
        clock.now = now
        display.show(progress)


def test_the_time_left_follows_from_the_time_taken_in_this_phase() -> None:
    estimate = TimeLeft()
    assert estimate.describe(Step("a", 0, 10), 100.0) == "a 0%"
    assert estimate.describe(Step("a", 2, 10), 100.5) == "a 20%"
    assert estimate.describe(Step("a", 2.5, 10), 110.0) == "a 25%, about 30 s left"
    assert estimate.describe(Step("a", 10, 10), 150.0) == "a 100%"
    assert estimate.describe(Step("b", 0, 4), 150.0) == "b 0%"
    assert estimate.describe(Step("b", 1, 4), 160.0) == "b 25%, about 30 s left"


def test_every_phase_has_words_of_its_own() -> None:
    assert set(WORDS) == {*Phase, *Work}
    assert len(set(WORDS.values())) == len(WORDS)


def test_a_phase_without_a_total_or_with_an_odd_one_is_shown_all_the_same() -> None:
    assert TimeLeft().describe(Step("waiting", 0, 0), 0) == "waiting"
    assert TimeLeft().describe(Step("a", 7, 5), 0) == "a 100%"
    assert TimeLeft().describe(Step("a", -7, 5), 0) == "a 0%"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_a_time_is_told_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_terminal_gets_one_line_that_is_redrawn_but_not_too_often() -> None:
    stream, clock = Terminal(), Clock()
    display = TerminalDisplay(stream, clock, columns=80)
    steps = [(0.0, 0.0), (0.05, 1.0), (0.2, 2.0), (0.21, 4.0)]
    play(display, clock, [(now, Step("a", done, 4)) for now, done in steps])
    assert [told(line) for line in stream.getvalue().split(CLEAR)[1:]] == ["a 0%", "a 50%", "a 100%"]
    assert "\n" not in stream.getvalue()
    display.finish()
    assert stream.getvalue().endswith(CLEAR)
    before = stream.getvalue()
    display.finish()
    assert stream.getvalue() == before


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_bar_shows_the_share_and_its_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("TERM", "xterm")
    drawn = {}
    for done in (0, 1, 2):
        stream = Terminal()
        TerminalDisplay(stream, Clock(), columns).show(Step("x" * 300, done, 2))
        drawn[done] = stream.getvalue().removeprefix(CLEAR)
        assert len(re.sub(r"\x1b\[[0-9;]*m", "", drawn[done])) == columns - 1
    assert len(set(drawn.values())) == 3
    assert "\x1b[" in drawn[1]
    monkeypatch.setenv("NO_COLOR", "1")
    TerminalDisplay(stream := Terminal(), Clock(), columns).show(Step("a", 1, 2))
    assert stream.getvalue() == f"{CLEAR}{'━' * 10}{' ' * 10} a 50%"
    TerminalDisplay(stream := Terminal(), Clock(), columns=59).show(Step("a", 1, 2))
    assert stream.getvalue() == f"{CLEAR}a 50%"


def test_a_line_is_cut_at_the_width_of_the_terminal() -> None:
    stream = Terminal()
    TerminalDisplay(stream, Clock(), columns=5).show(Step("encrypting", 0, 0))
    assert stream.getvalue() == CLEAR + "enc…"


def test_the_estimate_is_right_even_where_redraws_are_left_out() -> None:
    stream, clock = Terminal(), Clock()
    display = TerminalDisplay(stream, clock, columns=80)
    play(display, clock, [(0, Step("x", 1, 1)), (0.01, Step("a", 0, 8)), (2.01, Step("a", 4, 8))])
    assert stream.getvalue().endswith("a 50%, about 2 s left")


def test_a_file_gets_a_line_a_phase_one_every_ten_seconds_and_one_at_its_end() -> None:
    stream, clock = io.StringIO(), Clock()
    steps = [(0, "a", 0), (5, "a", 1), (11, "a", 2), (12, "a", 4), (12, "a", 4), (13, "b", 0)]
    play(LineDisplay(stream, clock), clock, [(now, Step(phase, done, 4)) for now, phase, done in steps])
    assert stream.getvalue().splitlines() == ["a 0%", "a 50%, about 11 s left", "a 100%", "b 0%"]


def test_a_fault_is_one_line_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    complain("two\nlines \x1b[2J")
    assert capsys.readouterr().err == "cotally: two lines \\x1b[2J\n"


def test_the_display_fits_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(make_progress("auto", Terminal()), TerminalDisplay)
    assert isinstance(make_progress("auto", io.StringIO()), LineDisplay)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(make_progress("auto", Terminal()), LineDisplay)


def test_no_progress_means_none() -> None:
    stream = Terminal()
    display = make_progress("none", stream)
    display.show(Step("a", 1, 2))
    display.finish()
    assert not stream.getvalue()
