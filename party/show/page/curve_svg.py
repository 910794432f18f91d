"""Shares against shares as a drawing in SVG: lines in panels side by side, which have one axis of shares upward."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from party.names import printable
from party.show.page.interval_svg import COLOURS, EDGE
from party.show.page.parts import render
from party.show.quality import figure_text
from protocols.learning.quality import ScoreTable

_LEFT, _HIGH, _GAP, _LEGEND_ROW, _TICKS_BELOW, _NAME_BELOW = 48, 200, 48, 20, 26, 18
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SQUARE = 200


class _Point(NamedTuple):
    """A point of a line, what it says, and how far it may be off upward and downward."""

    x: float
    y: float
    text: str
    error: float = 0.0


@dataclass(frozen=True)
class _Line:
    name: str
    points: Sequence[_Point]


@dataclass(frozen=True)
class _Panel:
    """Lines over one axis; what is said above it, what stands at which share of its width, and what the axis is."""

    said: str
    lines: Sequence[_Line]
    width: int
    ticks: Sequence[tuple[float, str]]
    under: str = ""
    diagonal: bool = False


def _curves_svg(title: str, panels: Sequence[_Panel]) -> str:
    """Return a drawing, part of a page."""
    named = max(bool(panel.said) + sum(bool(line.name) for line in panel.lines) for panel in panels)
    bottom = EDGE + named * _LEGEND_ROW + EDGE + _HIGH
    drawn, left = [], _LEFT
    for panel in panels:
        drawn.append(_drawn(panel, left, bottom))
        left += panel.width + _GAP
    words: dict[str, object] = {
        "title": title,
        "width": left,
        "height": bottom + _TICKS_BELOW + max(bool(panel.under) for panel in panels) * _NAME_BELOW,
        "left": _LEFT,
        "bottom": bottom,
        "ticks": [{"y": _height(tick, bottom), "text": f"{tick:.0%}"} for tick in _TICKS],
        "panels": drawn,
        "radius": 3 if len(panels) > 1 else 4,
    }
    return render("curves.svg", words)


def _height(share: float, bottom: int) -> str:
    return f"{bottom - min(max(share, 0.0), 1.0) * _HIGH:.1f}"


def _drawn(panel: _Panel, left: int, bottom: int) -> dict[str, object]:
    def place(share: float) -> str:
        return f"{left + min(max(share, 0.0), 1.0) * panel.width:.1f}"

    lines = [
        {
            "colour": COLOURS[number],
            "dashed": number > 0,
            "points": [
                {"x": place(each.x), "y": _height(each.y, bottom), "text": each.text}
                | (
                    {"low": _height(each.y - each.error, bottom), "high": _height(each.y + each.error, bottom)}
                    if each.error
                    else {"low": ""}
                )
                for each in line.points
            ],
        }
        for number, line in enumerate(panel.lines)
    ]
    legend = [(panel.said, "")] * bool(panel.said)
    legend += [(line.name, COLOURS[number]) for number, line in enumerate(panel.lines) if line.name]
    rows = enumerate(legend)
    return {
        "left": left,
        "middle": left + panel.width // 2,
        "legend": [{"y": EDGE + k * _LEGEND_ROW + 8, "text": text, "colour": colour} for k, (text, colour) in rows],
        "ticks": [{"x": place(at), "text": text} for at, text in panel.ticks],
        "under": panel.under,
        "diagonal": f"M{place(0)} {_height(0, bottom)}L{place(1)} {_height(1, bottom)}" if panel.diagonal else "",
        "lines": lines,
    }


_STEP = 90


@dataclass(frozen=True)
class WindowPoint:
    """What a run with one window came to: shares, None where they are not known."""

    window: str
    accuracy: float | None
    cost: float | None


def windows_svg(title: str, points: Sequence[WindowPoint]) -> str:
    """Return a drawing, part of a page, of runs in the order of their windows."""
    places = [(k + 0.5) / len(points) for k in range(len(points))]
    shares = {
        "accuracy": [point.accuracy for point in points],
        "cost ratio": [point.cost for point in points],
    }
    lines = [
        _Line(name, [_Point(x, y, f"{name} {y:.3f}") for x, y in zip(places, each, strict=True) if y is not None])
        for name, each in shares.items()
    ]
    ticks = [(x, point.window) for x, point in zip(places, points, strict=True)]
    return _curves_svg(title, [_Panel("", lines, _STEP * len(points), ticks)])


def quality_svg(title: str, table: ScoreTable, classes: Sequence[str]) -> str:
    """Return a drawing, part of a page, of what scores select and find, and of what they promise."""
    name, curve = printable(classes[table.ranked]), table.curve()
    ticks = [(tick, f"{tick:.0%}") for tick in _TICKS[::2]]

    def panel(said: str, under: str, points: Sequence[_Point]) -> _Panel:
        return _Panel(said, [_Line("", points)], _SQUARE, ticks, under, diagonal=True)

    texts = [f"{p.selected:.1%} selected: {p.found:.1%} of {name}, {p.false_alarms:.1%} of others" for p in curve]
    kept = [(each, each.share) for each in table.calibration() if each.share is not None]
    panels = [
        panel(
            "ROC: share found",
            "share of others selected",
            [_Point(p.false_alarms, p.found, text) for p, text in zip(curve, texts, strict=True)],
        ),
        panel(
            "Lift: share found",
            "share of all selected",
            [_Point(p.selected, p.found, text) for p, text in zip(curve, texts, strict=True)],
        ),
        panel(
            "Calibration: true share",
            "score",
            [_Point(p.score, f.value, f"score {p.score:.3f}: {figure_text(f)}", f.error) for p, f in kept],
        ),
    ]
    return _curves_svg(title, panels)
