"""Draw a figure's lines as SVG, the same bytes for the same lines."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from _figure import Figure, Line, Panel, number
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

_WORDS = {"omega": "ω = {}", "theta": "θ = {}", "groups": "{} groups", "W_a": "W_a = {}", "levels": "{} levels"}
_WHOLE = {"omega", "groups"}
_MARKS = "osD^vP*X<>"


def draw(figure: Figure, lines: Sequence[Line], path: Path) -> None:
    """Draw one panel beside the other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": figure.name, "svg.fonttype": "none", "font.size": 8}):
        canvas = Canvas(figsize=(4.6 * len(figure.panels), 3.6), layout="constrained")
        for axes, panel in zip(canvas.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True):
            _draw_panel(axes, panel, lines)
        canvas.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


def _draw_panel(axes: Axes, panel: Panel, lines: Sequence[Line]) -> None:
    curves: dict[str, list[Line]] = {}
    for line in lines:
        if panel.where(line):
            curves.setdefault(_name(line, panel.curves), []).append(line)
    for mark, (name, points) in zip(_MARKS * 3, curves.items(), strict=False):
        x = [number(point, panel.x) for point in points]
        y = [number(point, panel.statistic) for point in points]
        bars = [number(point, "deviation") if point["deviation"] else 0.0 for point in points] if panel.bars else None
        axes.errorbar(x, y, yerr=bars, marker=mark, markersize=3, linewidth=1, capsize=2, label=name)
    for name, printed in panel.printed.items():
        axes.plot(*zip(*printed, strict=True), "k+", markersize=8, label=name)
    axes.set(title=panel.title, xlabel=_WORDS.get(panel.x, panel.x).replace(" = {}", "").replace("{} ", ""))
    axes.set_ylabel(panel.y if panel.statistic == "mean" else f"{panel.statistic} of {panel.y}")
    if panel.x in _WHOLE:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    if curves:
        axes.legend(fontsize=6)


def _name(line: Line, fields: Sequence[str]) -> str:
    words = (_WORDS.get(name, "{}").format(line[name]) for name in fields if line.get(name) not in {None, ""})
    return ", ".join(words).replace("1 groups", "1 group")
