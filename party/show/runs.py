"""The runs of a demo: what goes in, a line as each ends, and the table of all."""

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from party.data import Notice
from party.files import write_atomically
from party.node.inputs import ReleasedBefore
from party.records.run_file import PLAIN, Row, RunReport
from party.show.document import Block, CutLines, Grid, headed
from party.show.notices import is_minor, notice_text, treated_text
from party.show.progress import Display, step
from party.show.tree import tree_lines
from protocols.errors import InputError
from protocols.learning.tree import Tree
from protocols.role import Progress
from protocols.terms import OMEGA, Counting, Method, Reveal, Window

_TREE_LINES = 40
_TREE_ALONE = (
    "The tree crossed and, with noise, a table of the held-out records; no count did. Accuracies here are exact, as "
    "the demo has both tables. --reveal counts compares with the papers' methods."
)
_PATHS = (
    "The cost ratio is of counts. Seconds and bytes do not simply follow it: dot products cost a vector of ciphertexts "
    "for each distinct path over the columns of the party that encrypts; nodes with the same candidates share it."
)
_ACCURACY = (
    "Accuracies here are measured on the held-out records as they are, which only the demo has from both parties; "
    "with randomized the party that holds the class estimates it from a copy, so its report shows another figure."
)

_COLUMNS = (
    *headed("<method", "accuracy", "SMC\ncomp.:2", "cost\nratio", "seconds", "sent by\nboth:1"),
    *headed("round\ntrips:7", "counts\nrevealed:5", "nodes:4", "depth:8", "plain\nID3?"),
)


def run_table(rows: Sequence[Row]) -> Grid:
    return Grid(_COLUMNS, list(map(_cells, rows)), rule=True, left_out_suffix="; run.json has all")


def _cells(row: Row) -> tuple[str, ...]:
    return (
        method_text(row.method, row.omega),
        "-" if row.accuracy is None else f"{row.accuracy:.3f}",
        f"{row.smc_computations:,}",
        "-" if row.cost_ratio is None else f"{row.cost_ratio:.1%}",
        "-" if row.seconds is None else f"{row.seconds:.1f}",
        size_text(None if row.bytes_sent is None else row.bytes_sent.both),
        "-" if row.round_trips is None else str(row.round_trips),
        f"{row.exact_counts_disclosed:,}",
        f"{row.tree.nodes:,}",
        str(row.tree.depth),
        "yes" if row.equals_plain_id3 else "no",
    )


def size_text(size: int | None) -> str:
    """Return a number of bytes for people.

    >>> size_text(999), size_text(12_345), size_text(5_600_000), size_text(None)
    ('999 B', '12 kB', '5.6 MB', '-')
    """
    if size is None:
        return "-"
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if value < 10 and unit != "B" else f"{value:.0f} {unit}"


def method_text(method: str, omega: Window) -> str:
    return f"{method} ω={OMEGA.text(omega)}" if method == Method.HYBRID else method


def way_text(counting: Counting | None) -> str:
    return "Dot products by Paillier, as in the papers" if counting == Counting.PAILLIER else "Oblivious transfer"


def show_in_run(display: Display, number: int, runs: int, label: str, progress: Progress) -> None:
    now = step(progress)
    display.show(replace(now, text=f"run {number} of {runs}, {label}: {now.text}"))


def introduction(report: RunReport, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    data, parameters = report.data, report.parameters
    yield f"{data.name}: {data.rows_train} records to train, {data.rows_test} to test"
    for party, names in columns.items():
        yield f"  {party}: {', '.join(names)}"
    if parameters.reveal == Reveal.COUNTS:
        yield (
            f"θ = {parameters.theta}, keys of {parameters.key_bits} bits, seed {parameters.seed} of rows and splits "
            "(coins are new in every demo, and accuracies move with them)"
        )
    depth = "of any depth" if parameters.max_depth is None else f"of at most {parameters.max_depth} splits of a path"
    is_papers = parameters.min_leaf == 1 and parameters.noise is None
    papers = " (the papers' trees: for your own data use 5)" if is_papers else ""
    yield f"Trees by {parameters.impurity}, {depth}, leaves of {parameters.min_leaf} or more records{papers}"
    if parameters.noise is not None:
        what = "Counts of hybrid and smc have" if parameters.reveal == Reveal.COUNTS else "The tree has"
        yield f"{what} noise, epsilon {parameters.noise} against each side per run"


def notice_lines(notices: Sequence[tuple[str, Notice | ReleasedBefore]]) -> Iterator[str]:
    """Say each notice, but of columns that lost little by the demo's rule only how many they are."""
    for party, notice in notices:
        if not is_minor(notice):
            yield f"{party}: {notice_text(notice)}"
    for party, treated in Counter(party for party, notice in notices if is_minor(notice)).items():
        yield f"{party}: {treated_text(treated)}, as the demo treats all columns; settings of your own can keep more"


def no_figure(reason: object) -> str:
    return f"No figure: {reason}"


def result(row: Row) -> str:
    accuracy = "" if row.accuracy is None else f"accuracy {row.accuracy:.3f}, "
    ratio = "" if row.cost_ratio is None else f"cost ratio {row.cost_ratio:.1%}, "
    sent = "" if row.bytes_sent is None else f", {size_text(row.bytes_sent.both)}"
    return f"  {method_text(row.method, row.omega)}: {accuracy}{ratio}{row.seconds or 0:.1f} s{sent}"


def conclusion(report: RunReport, tree: Tree, model: Path) -> Iterator[Block]:
    yield ""
    yield CutLines(list(short_tree(tree, model)))
    for way in report.ways():
        yield ""
        yield way_text(way.rows[-1].counting)
        yield run_table(way.rows)
    yield ""
    if report.parameters.reveal == Reveal.TREE:
        yield _TREE_ALONE
    if any(row.counting == Counting.PAILLIER for row in report.rows):
        yield _PATHS
    if report.data.rows_test and report.parameters.reveal == Reveal.COUNTS:
        yield _ACCURACY
    yield ""


def demo_written(out: Path, run: str, figures: Sequence[str], model: Path) -> str:
    drawn = f", {' and '.join(figures)}" if figures else ""
    return f"In {out}: {run}{drawn}, and each party's {model.name} (cotally show {model})"


def short_tree(tree: Tree, path: Path) -> Iterator[str]:
    if tree.size < _TREE_LINES:
        yield from tree_lines(tree)
        return
    levels, lines = 1, list(tree_lines(tree, 1))
    while len(deeper := list(tree_lines(tree, levels + 1))) <= _TREE_LINES:
        levels, lines = levels + 1, deeper
    yield from lines
    yield f"… the first {levels} of {tree.depth} levels; all of it: cotally show {path}"


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
    """Draw the picture as PNG and as SVG; equal reports give equal files."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  # an extra: only who draws needs it
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise InputError("drawing needs matplotlib: pip install '.[figures]' in cotally's clone") from None
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10.5, 7.6), layout="constrained")
        _draw(figure, report)
        for path, form, metadata in ((png, "png", {"Software": None}), (svg, "svg", {"Date": None, "Creator": None})):
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
    ratio, megabytes = "Cost ratio in %: counts, of those of SMC only", "Megabytes sent by both"
    _draw_bars(cost, report, ratio, lambda row: None if row.cost_ratio is None else 100 * row.cost_ratio)
    _draw_bars(seconds, report, "Seconds of a run", lambda row: row.seconds)
    _draw_bars(sent, report, megabytes, lambda row: None if row.bytes_sent is None else row.bytes_sent.both / 1e6)
    handles, labels = accuracy.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False)


def _series(report: RunReport) -> Iterator[tuple[str, str, RunReport]]:
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


def _draw_bars(axes: "Axes", report: RunReport, title: str, value: Callable[[Row], float | None]) -> None:
    axes.set_title(title, loc="left", fontsize=10)
    series = list(_series(report))
    width = 0.8 / max(1, len(series))
    for number, (name, colour, way) in enumerate(series):
        rows = [row for row in way.rows if row.method in (Method.HYBRID, Method.SMC) and value(row) is not None]
        shift = (number - (len(series) - 1) / 2) * width
        places = [_place(report, row) + shift for row in rows]
        values = [value(row) or 0.0 for row in rows]
        axes.bar(places, values, width=0.9 * width, color=colour, label=name)
        for place, high in zip(places, values, strict=True):
            text = f"{high:,.{0 if high >= 10 else 1 if high >= 1 else 2}f}"
            axes.annotate(text, (place, high), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    _prepare(axes, report)
    axes.margins(y=0.15)


def _labels(report: RunReport) -> list[str]:
    windows = dict.fromkeys(OMEGA.text(row.omega) for row in _windows(report))
    return [*windows, *(["SMC only"] if report.of(Method.SMC) else [])]


def _place(report: RunReport, row: Row) -> int:
    labels = _labels(report)
    return labels.index(OMEGA.text(row.omega)) if row.method == Method.HYBRID else len(labels) - 1


def _prepare(axes: "Axes", report: RunReport) -> None:
    labels = _labels(report)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.5, max(len(labels) - 0.5, 0.5))
    axes.set_xlabel("window ω: attributes with exact counts at a node")
