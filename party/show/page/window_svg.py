"""Accuracy and cost ratio against the window as a drawing in SVG (Hybrid figures 3b and 4b, table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from party.show.page.classes import EDGE
from party.show.page.templates import render

_LEFT, _STEP, _HIGH, _BELOW, _LEGEND = 48, 90, 200, 26, 44
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class WindowPoint:
    """What a run with one window came to: shares, None where they are not known."""

    window: str
    accuracy: float | None
    cost: float | None


def windows_svg(title: str, points: Sequence[WindowPoint]) -> str:
    """Return a drawing, part of a page, of runs in the order of their windows."""
    top, bottom = EDGE + _LEGEND, EDGE + _LEGEND + _HIGH

    def height(share: float) -> str:
        return f"{bottom - min(max(share, 0.0), 1.0) * _HIGH:.1f}"

    places = [_LEFT + _STEP // 2 + k * _STEP for k in range(len(points))]

    def line(shares: Sequence[float | None]) -> list[dict[str, object]]:
        known = [(x, share) for x, share in zip(places, shares, strict=True) if share is not None]
        return [{"x": x, "y": height(share), "text": f"{share:.3f}"} for x, share in known]

    words: dict[str, object] = {
        "title": title,
        "width": _LEFT + _STEP * len(points) + EDGE,
        "height": bottom + _BELOW,
        "left": _LEFT,
        "bottom": bottom,
        "top": top,
        "ticks": [{"y": height(tick), "text": f"{tick:.0%}"} for tick in _TICKS],
        "windows": [{"x": x, "text": point.window} for x, point in zip(places, points, strict=True)],
        "accuracy": line([point.accuracy for point in points]),
        "cost": line([point.cost for point in points]),
    }
    return render("windows.svg", words)
