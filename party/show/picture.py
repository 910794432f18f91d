"""The picture of a demo: accuracy and cost ratio against the window (Hybrid figures 3b and 4b, table 1)."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from party.files import write_atomically
from party.records.run_file import PLAIN, Row, RunReport
from party.settings.window import window_text
from protocols.errors import InputError
from protocols.terms import Cipher, Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind people can tell apart; line styles and markers differ too.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#595959"
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
        raise InputError("drawing needs matplotlib: pip install 'cotally[figures]'") from None
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(4.8 * (3 if len(_ciphers(report)) > 1 else 2), 4.4), layout="constrained")
        _draw(figure, report)
        for path, form, metadata in (
            (png, "png", {"Software": None}),
            (svg, "svg", {"Date": None, "Creator": None}),
        ):
            output = io.BytesIO()
            figure.savefig(output, format=form, dpi=160, metadata=metadata)
            write_atomically(path, output.getvalue())


def _ciphers(report: RunReport) -> list[Cipher]:
    return list(dict.fromkeys(row.cipher for row in report.rows if row.cipher))


def _draw(figure: "Figure", report: RunReport) -> None:
    data, parameters = report.data, report.parameters
    figure.suptitle(
        f"{data.name}: {data.rows_train} training and {data.rows_test} test records, "
        f"θ = {parameters.theta}, groups per party: {parameters.groups}",
        fontsize=11,
        x=0.01,
        ha="left",
    )
    windows = _Windows(report)
    ciphers = _ciphers(report)
    accuracy, cost, *times = figure.subplots(1, 3 if len(ciphers) > 1 else 2)
    _draw_accuracy(accuracy, report, windows)
    _draw_cost(cost, report, windows)
    for axes in times:
        _draw_seconds(axes, report, ciphers)
    if accuracy.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower left", ncols=3, frameon=False)


class _Windows:
    """The rows of `hybrid` by one cipher, the first unless named, in order of their windows; where each stands."""

    def __init__(self, report: RunReport, cipher: Cipher | None = None) -> None:
        rows = [row for row in report.rows if row.method == Method.HYBRID]
        rows = [row for row in rows if row.cipher == (cipher or rows[0].cipher)]
        self.rows: Sequence[Row] = sorted(rows, key=lambda row: row.omega or report.data.attributes)
        self.places = list(range(len(self.rows)))
        self.labels = [window_text(row.omega) for row in self.rows]

    def prepare(self, axes: "Axes") -> None:
        axes.set_xticks(self.places, self.labels)
        axes.set_xlim(-0.5, max(len(self.rows) - 0.5, 0.5))
        axes.set_xlabel("window ω: attributes with exact counts at a node")


def _draw_accuracy(axes: "Axes", report: RunReport, windows: _Windows) -> None:
    axes.set_title("Accuracy on held-out records", loc="left", fontsize=10)
    windows.prepare(axes)
    drawn = []
    for method, text, colour, style in (
        (PLAIN, "plain ID3", _GREEN, "--"),
        (Method.RANDOMIZED, "randomized only", _ORANGE, ":"),
    ):
        row = report.of(method)
        if row is not None and row.accuracy is not None:
            axes.axhline(row.accuracy, color=colour, linestyle=style, linewidth=1.8, label=text)
            drawn.append(row.accuracy)
    values = [row.accuracy for row in windows.rows if row.accuracy is not None]
    if len(values) == len(windows.rows) and values:
        axes.plot(windows.places, values, color=_BLUE, marker="o", linewidth=1.8, label=Method.HYBRID)
        _mark(axes, windows.places, values, [f"{value:.3f}" for value in values])
        drawn += values
    if not drawn:
        axes.text(0.5, 0.5, "no records were held out", transform=axes.transAxes, ha="center", color=_GREY)
        axes.set_yticks([])
        return
    margin = max(0.25 * (max(drawn) - min(drawn)), 0.02)
    axes.set_ylim(max(min(drawn) - margin, 0), min(max(drawn) + margin, 1.02))


def _draw_cost(axes: "Axes", report: RunReport, windows: _Windows) -> None:
    axes.set_title("Cost ratio: SMC computations, hybrid / SMC only", loc="left", fontsize=10)
    windows.prepare(axes)
    ratios = [row.cost_ratio or 0.0 for row in windows.rows]
    smc = report.of(Method.SMC)
    axes.axhline(1, color=_GREY, linestyle="--", linewidth=1.2)
    name = "SMC only" if smc is None or not smc.derived else "SMC only (derived)"
    axes.annotate(
        name, (0.01, 1), xycoords=("axes fraction", "data"), xytext=(0, 4), textcoords="offset points", color=_GREY
    )
    axes.bar(windows.places, ratios, width=0.55, color=_BLUE)
    _mark(axes, windows.places, ratios, [f"{ratio:.0%}" for ratio in ratios])
    axes.set_ylim(0, max(1.15, 1.12 * max(ratios, default=0)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")


def _draw_seconds(axes: "Axes", report: RunReport, ciphers: Sequence[Cipher]) -> None:
    """Draw what each cipher took, side by side; trees, accuracies and cost ratios are the same."""
    axes.set_title("Seconds of a run, by cipher", loc="left", fontsize=10)
    width = 0.8 / len(ciphers)
    for number, (cipher, colour) in enumerate(zip(ciphers, (_BLUE, _ORANGE), strict=False)):
        windows = _Windows(report, cipher)
        windows.prepare(axes)
        places = [place + (number - (len(ciphers) - 1) / 2) * width for place in windows.places]
        seconds = [row.seconds or 0.0 for row in windows.rows]
        axes.bar(places, seconds, width=0.9 * width, color=colour, label=cipher.value)
        _mark(axes, places, seconds, [f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in seconds])
    axes.margins(y=0.15)


def _mark(axes: "Axes", places: Sequence[float], values: Sequence[float], texts: Sequence[str]) -> None:
    for place, value, text in zip(places, values, texts, strict=True):
        axes.annotate(text, (place, value), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=9)
