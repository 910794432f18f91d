"""Shares with their intervals as a drawing in SVG: a line from end to end of each, a dot for the estimate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from party.show.page.classes import EDGE, shortened
from party.show.page.templates import render

_NAMES, _PLOT, _ROW, _AXIS = 230, 330, 22, 24
_NAME_CELLS = 30
_MOST_TICKS = 6


@dataclass(frozen=True)
class Interval:
    """A share that has a name, and the ends of its interval, which may leave `0 .. 1`."""

    name: str
    share: float
    low: float
    high: float


def intervals_svg(title: str, shares: Sequence[Interval], mark: float | None = None, *, alone: bool = True) -> str:
    """Return a drawing of shares, one below the other.

    Args:
        title: What it shows.
        shares: Each of a name that can be printed.
        mark: A share at which a line stands, such as a threshold.
        alone: Whether it is a file of its own, or part of a page.
    """
    ends = [end for each in shares for end in (each.share, each.low, each.high)]
    ticks = _ticks(min([0.0, *ends]), max([mark or 0.0, *ends]))
    scale = _PLOT / (ticks[-1] - ticks[0])

    def place(share: float) -> str:
        return f"{EDGE + _NAMES + (share - ticks[0]) * scale:.1f}"

    words: dict[str, object] = {
        "alone": alone,
        "title": title,
        "width": EDGE + _NAMES + _PLOT + 4 * EDGE,
        "height": EDGE + len(shares) * _ROW + _AXIS,
        "bottom": EDGE + len(shares) * _ROW,
        "ticks": [{"x": place(tick), "text": f"{100 * tick:.6g}%"} for tick in ticks],
        "mark": None if mark is None else place(mark),
        "names": EDGE + _NAMES - EDGE,
        "rows": [
            {
                "y": EDGE + k * _ROW + _ROW // 2,
                "text": shortened(each.name, _NAME_CELLS),
                "whole": f"{each.name}: {each.share:.4f}, {each.low:.4f} to {each.high:.4f}",
                "share": place(each.share),
                "low": place(each.low),
                "high": place(each.high),
            }
            for k, each in enumerate(shares)
        ],
    }
    return render("intervals.svg", words)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers at equal distances, the first at most `low` and the last at least `high`."""
    span = max(high - low, 1e-9)
    return next(ticks for step in _steps(span) if len(ticks := _multiples(step, low, high)) <= _MOST_TICKS + 1)


def _steps(span: float) -> Iterator[float]:
    power = 10.0 ** floor(log10(span / _MOST_TICKS))
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = floor(low / step), max(ceil(high / step - 1e-9), floor(low / step) + 1)
    return [step * k for k in range(first, last + 1)]
