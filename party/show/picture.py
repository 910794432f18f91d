"""The picture of a demo: accuracy, cost ratio, seconds and bytes by window (Hybrid figures 3b and 4b, table 1)."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from party.files import write_atomically
from party.records.run_file import PLAIN, Row, RunReport
from party.settings.window import window_text
from party.show.runs import way_text
from protocols.errors import InputError
from protocols.terms import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind people can tell apart; line styles and markers differ too.
_GREEN, _GREY = "#009E73", "#595959"
_COLOURS = ("#0072B2", "#D55E00")  # of the ways of counting, of which there are two
_STYLE: Any = {
    "svg.hashsalt": "cotally",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
}


def write_figures(report: RunReport, png: Path, svg: Path) -> None:
    """Draw the picture as PNG and as SVG; equal reports give equal files.

    Raises:
        InputError: matplotlib is not installed, or a file cannot be written.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415  # an extra: only who draws needs it
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise InputError("drawing needs matplotlib: pip install '.[figures]' in cotally's clone") from None
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10.5, 7.6), layout="constrained")
        _draw(figure, report)
        for path, form, metadata in (
            (png, "png", {"Software": None}),
            (svg, "svg", {"Date": None, "Creator": None}),
        ):
            output = io.BytesIO()
            figure.savefig(output, format=form, dpi=160, metadata=metadata)
            write_atomically(path, output.getvalue())


def _draw(figure: "Figure", report: RunReport) -> None:
    data, parameters = report.data, report.parameters
    depth = "" if parameters.max_depth is None else f", {parameters.max_depth} levels"
    figure.suptitle(
        f"{data.name}: {data.rows_train} training and {data.rows_test} test records, θ = {parameters.theta}{depth}",
        fontsize=11,
        x=0.01,
        ha="left",
    )
    (accuracy, cost), (seconds, sent) = figure.subplots(2, 2)
    _draw_accuracy(accuracy, report)
    _draw_bars(cost, report, _Bars("Cost ratio in %: counts, of those of SMC only", _percent))
    _draw_bars(seconds, report, _Bars("Seconds of a run", lambda row: row.seconds))
    _draw_bars(sent, report, _Bars("Megabytes sent by both", _megabytes))
    handles, labels = accuracy.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False)


def _percent(row: Row) -> float | None:
    return None if row.cost_ratio is None else 100 * row.cost_ratio


def _megabytes(row: Row) -> float | None:
    return None if row.bytes_sent is None else row.bytes_sent.both / 1e6


@dataclass(frozen=True)
class _Bars:
    """A panel: its title, and what it shows of a row."""

    title: str
    value: Callable[[Row], float | None]


def _short(value: float) -> str:
    """Return a number in two digits or more."""
    return f"{value:,.{0 if value >= 10 else 1 if value >= 1 else 2}f}"


def _series(report: RunReport) -> Iterator[tuple[str, str, RunReport]]:
    """Yield a name and a colour for the runs of each way of counting."""
    for way, colour in zip(report.ways(), _COLOURS, strict=False):
        yield way_text(way.rows[-1].counting), colour, way


def _windows(report: RunReport) -> list[Row]:
    """Return the runs of `hybrid` in the order of their windows."""
    rows = [row for row in report.rows if row.method == Method.HYBRID]
    return sorted(rows, key=lambda row: row.omega or report.data.attributes)


def _draw_accuracy(axes: "Axes", report: RunReport) -> None:
    axes.set_title("Accuracy on held-out records", loc="left", fontsize=10)
    drawn: list[float] = []
    for name, colour, way in _series(report):
        rows = [row for row in _windows(way) if row.accuracy is not None]
        values = [row.accuracy or 0.0 for row in rows]
        axes.plot([_place(report, row) for row in rows], values, color=colour, marker="o", linewidth=1.8, label=name)
        estimated = way.of(Method.RANDOMIZED)
        drawn += values
        if estimated is not None and estimated.accuracy is not None:
            axes.axhline(estimated.accuracy, color=colour, linestyle=":", linewidth=1.8, label="randomized only")
            drawn.append(estimated.accuracy)
    plain = report.of(PLAIN)
    if plain is not None and plain.accuracy is not None:
        axes.axhline(plain.accuracy, color=_GREEN, linestyle="--", linewidth=1.8, label="plain ID3")
        drawn.append(plain.accuracy)
    _prepare(axes, report)
    if not drawn:
        axes.text(0.5, 0.5, "no records were held out", transform=axes.transAxes, ha="center", color=_GREY)
        axes.set_yticks([])
        return
    margin = max(0.25 * (max(drawn) - min(drawn)), 0.02)
    axes.set_ylim(max(min(drawn) - margin, 0), min(max(drawn) + margin, 1.005))


def _draw_bars(axes: "Axes", report: RunReport, bars: _Bars) -> None:
    """Draw the runs of each way side by side, with a bar of SMC where that was counted."""
    axes.set_title(bars.title, loc="left", fontsize=10)
    series = list(_series(report))
    width = 0.8 / max(1, len(series))
    for number, (name, colour, way) in enumerate(series):
        rows = [row for row in way.rows if row.method in (Method.HYBRID, Method.SMC) and bars.value(row) is not None]
        shift = (number - (len(series) - 1) / 2) * width
        places = [_place(report, row) + shift for row in rows]
        values = [bars.value(row) or 0.0 for row in rows]
        axes.bar(places, values, width=0.9 * width, color=colour, label=name)
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                _short(value), (place, value), xytext=(0, 3), textcoords="offset points", ha="center",
                fontsize=8,
            )  # fmt: skip
    _prepare(axes, report)
    axes.margins(y=0.15)


def _labels(report: RunReport) -> list[str]:
    """Return what stands on the axis below: the windows of all ways, and SMC where it was counted."""
    windows = dict.fromkeys(window_text(row.omega) for row in _windows(report))
    return [*windows, *(["SMC only"] if report.of(Method.SMC) else [])]


def _place(report: RunReport, row: Row) -> int:
    labels = _labels(report)
    return labels.index(window_text(row.omega)) if row.method == Method.HYBRID else len(labels) - 1


def _prepare(axes: "Axes", report: RunReport) -> None:
    labels = _labels(report)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.5, max(len(labels) - 0.5, 0.5))
    axes.set_xlabel("window ω: attributes with exact counts at a node")
