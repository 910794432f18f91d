"""How far a run is: one line redrawn on a terminal, lines now and then in a file; all on the standard error."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from types import TracebackType
from typing import Any, Self, TextIO

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from party.names import printable
from party.show.document import rendered
from party.show.screen import columns, has_colours, is_quiet, release, say
from protocols.role import Phase, Progress

PROGRESS_STYLES = ("auto", "none")
CLEAR = "\r\x1b[K"

_REDRAW_EVERY = 0.1
_LINE_EVERY = 10.0
_LEAST_TIME = 1.0
_LEAST_SHARE = 0.1  # before it, first steps say little of the others
_BAR, _LEAST_FOR_A_BAR = 20, 60
_TO_DO, _DONE, _FULL = "bright_black", "cyan", "green"

MonotonicClock = Callable[[], float]


class Work(Enum):
    """What a command may be busy with beside the phases of roles."""

    MEASURING = auto()
    DRAWING = auto()
    READING = auto()
    KEYS = auto()
    PLAIN_TREE = auto()
    CANDIDATES = auto()
    REHEARSING = auto()


WORDS: Mapping[Phase | Work, str] = {
    Phase.MATCHING: "comparing ids",
    Phase.OVERLAP: "counting whom both list",
    Phase.COPIES: "exchanging disguised copies",
    Phase.COLUMNS: "encrypting or masking columns",
    Phase.COUNTS: "counting securely",
    Phase.TREE: "growing the tree",
    Phase.HELD_OUT: "testing on held-out records",
    Phase.ROWS: "classifying rows together",
    Work.MEASURING: "measuring this machine",
    Work.DRAWING: "drawing coins",
    Work.CANDIDATES: "counting candidates",
    Work.REHEARSING: "rehearsing",
    Work.READING: "reading the data",
    Work.KEYS: "making both parties' keys",
    Work.PLAIN_TREE: "growing the plain tree",
}


@dataclass(frozen=True)
class Step:
    """How far something is, in words: `done` of `total` units of work, a total of 0 where nobody knows."""

    text: str
    done: float = 0
    total: float = 0


def step(progress: Progress) -> Step:
    return Step(WORDS[progress.phase], progress.done, progress.total)


def working(work: Work, done: float = 0, total: float = 0) -> Step:
    return Step(WORDS[work], done, total)


def waiting(peer: str, address: str, patience: float) -> Step:
    return Step(f"waiting for {peer} at {address}, up to {duration(patience)}")


class TimeLeft:
    """Estimates the time left in the present phase from the time it has taken so far."""

    def __init__(self) -> None:
        self._phase, self._began, self._moved, self._share = "", 0.0, 0.0, 0.0

    def describe(self, step: Step, now: float) -> str:
        """Return phase, share and, from a tenth on, time left as text; it falls while the share stands still."""
        if step.text != self._phase:
            self._phase, self._began, self._moved, self._share = step.text, now, now, 0.0
        if step.total <= 0:
            return step.text
        share = min(max(step.done / step.total, 0.0), 1.0)
        text = f"{step.text} {share:.0%}"
        if share != self._share:
            self._moved, self._share = now, share
        taken = self._moved - self._began
        if taken < _LEAST_TIME or not _LEAST_SHARE <= share < 1:
            return text
        left = taken * (1 - share) / share - (now - self._moved)
        return f"{text}, about {duration(left)} left" if left > 0 else text


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(7.4), duration(130), duration(7300)
    ('7 s', '2 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Display:
    """Shows nothing; the other displays build on it."""

    def __init__(self, stream: TextIO, clock: MonotonicClock) -> None:
        self._stream, self._clock = stream, clock
        self._estimate, self._phase, self._shown_at = TimeLeft(), "", 0.0

    def show(self, step: Step) -> None:
        """Take note of how far the run is."""

    def follow(self, progress: Progress) -> None:
        """Take note of how far a role is."""
        self.show(step(progress))

    def finish(self) -> None:
        """Leave the stream so that ordinary lines can follow; more progress may follow too."""

    def abandon(self) -> None:
        """Leave the stream as `finish` does, but how far the run came stays on the screen."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish()
        else:
            self.abandon()

    def _due(self, step: Step, every: float) -> bool:
        """Return whether to show this one: a phase's first, its last, and one in `every` seconds."""
        now = self._clock()
        ends = step.done >= step.total > 0
        if step.text == self._phase and not ends and now - self._shown_at < every:
            return False
        self._phase, self._shown_at = step.text, now
        return True


class TerminalDisplay(Display):
    """One line, redrawn: a bar where there is room, the phase, its share and the time left."""

    def __init__(self, stream: TextIO, clock: MonotonicClock, columns: int) -> None:
        super().__init__(stream, clock)
        self._columns, self._drawn = columns, False

    def show(self, step: Step) -> None:
        """Redraw the line."""
        text = self._estimate.describe(step, self._clock())
        if self._due(step, _REDRAW_EVERY):
            encoding = getattr(self._stream, "encoding", None) or "utf-8"
            has_bar = step.total > 0 and self._columns >= _LEAST_FOR_A_BAR and "utf" in encoding.lower()
            line = rendered([_line(step, text, has_bar)], self._columns - 1, styled=has_colours(self._stream))
            self._stream.write(CLEAR + line.rstrip("\n"))
            self._stream.flush()
            self._drawn = True

    def finish(self) -> None:
        """Remove the line."""
        self._end(CLEAR)

    def abandon(self) -> None:
        """Go on below the line."""
        self._end("\n")

    def _end(self, mark: str) -> None:
        if self._drawn:
            self._stream.write(mark)
            self._stream.flush()
            self._drawn = False


def _line(step: Step, text: str, has_bar: bool) -> Table:
    """Return a line with the share that is done as a bar before its text, which is cut where it has no room."""
    line = Table.grid(padding=(0, 1, 0, 0))
    line_text = Text(text, no_wrap=True, overflow="ellipsis")
    if has_bar:
        line.add_column(width=_BAR)
        done = min(max(step.done, 0), step.total)
        bar = ProgressBar(step.total, done, _BAR, style=_TO_DO, complete_style=_DONE, finished_style=_FULL)
        line.add_row(bar, line_text)
    else:
        line.add_row(line_text)
    return line


class LineDisplay(Display):
    """A line at the start of each phase, every ten seconds, and at its end."""

    _last = ""

    def show(self, step: Step) -> None:
        """Write a line where one is due, no end twice."""
        text = self._estimate.describe(step, self._clock())
        if self._due(step, _LINE_EVERY) and text != self._last:
            self._last = text
            print(text, file=self._stream, flush=True)


def complain(error: str) -> None:
    release(drop=True)
    say(f"cotally: {printable(' '.join(error.split()))}", sys.stderr)


def make_progress(style: str, stream: TextIO | None = None, clock: MonotonicClock = time.monotonic) -> Display:
    """Return the display for one of `PROGRESS_STYLES`; `auto` looks at the stream."""
    stream = sys.stderr if stream is None else stream
    if style == "none" or (style == "auto" and is_quiet()):
        return Display(stream, clock)
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalDisplay(stream, clock, columns(stream))
    return LineDisplay(stream, clock)


_SILENT = 1.0
_Draw = Callable[[bytes, int], Any]


@contextmanager
def shown_work(work: Work, clock: MonotonicClock = time.monotonic) -> Iterator[Callable[[int, int], None]]:
    began = clock()
    with make_progress("auto", clock=clock) as display:

        def show(done: int, total: int) -> None:
            if clock() - began >= _SILENT:
                display.show(working(work, done, total))

        yield show


@contextmanager
def shown_candidates() -> Iterator[Callable[[int, int, int], None]]:
    with shown_work(Work.CANDIDATES) as show:
        yield lambda _, done, total: show(done, total)


@contextmanager
def shown_drawing(draws: int, clock: MonotonicClock = time.monotonic) -> Iterator[Callable[[_Draw], _Draw]]:
    """Yield what puts itself between a disguise and its draws, this many, and shows how many are done."""
    done = 0
    with shown_work(Work.DRAWING, clock) as show:

        def watch(draw: _Draw) -> _Draw:
            def watched(purpose: bytes, bound: int) -> Any:
                nonlocal done
                drawn = draw(purpose, bound)
                done += 1
                show(done, draws)
                return drawn

            return watched

        yield watch
