"""The runs of a demo: what goes in, a line as each ends, and the table of all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from party.data import Notice
from party.node.inputs import ReleasedBefore
from party.records.run_file import Row, RunReport
from party.settings.window import window_text
from party.show.layout import USUAL_WIDTH, Block, ScreenColumn, cut_lines, screen_table
from party.show.notices import notice_text
from party.show.progress import Step
from party.show.tree import tree_lines
from protocols.learning.tree import Tree
from protocols.terms import Counting, Method, Reveal, Window

_TREE_LINES = 40
_TREE_ALONE = (
    "The tree crossed and, with noise, a table of the held-out records; no count did. Accuracies here are exact, as "
    "the demo has both tables. --reveal counts compares with the papers' methods."
)
_PATHS = (
    "The cost ratio is of counts. Seconds and bytes do not simply follow it: dot products cost a vector of ciphertexts "
    "for each distinct path over the columns of who encrypts, which nodes share that have the same candidates."
)
_ACCURACY = (
    "Accuracies here are measured on the held-out records as they are, which the demo alone has from both parties; "
    "with randomized who holds the class estimates it from a disguised copy, so that log shows another figure."
)

_COLUMNS = (
    ScreenColumn("method", is_text=True),
    ScreenColumn("accuracy"),
    ScreenColumn("SMC\ncomp.", rank=2),
    ScreenColumn("cost\nratio"),
    ScreenColumn("seconds"),
    ScreenColumn("sent by\nboth", rank=1),
    ScreenColumn("round\ntrips", rank=7),
    ScreenColumn("counts\ntold", rank=5),
    ScreenColumn("nodes", rank=4),
    ScreenColumn("depth", rank=8),
    ScreenColumn("plain\nID3?"),
)


def run_table(rows: Sequence[Row], width: int = USUAL_WIDTH) -> list[Block]:
    """Return a table over runs, and what it lacks.

    Args:
        rows: The runs.
        width: Of the screen: columns that have no room are left out and named below.
    """
    laid = screen_table(_COLUMNS, [_cells(row) for row in rows], width, rule=True)
    blocks: list[Block] = [laid.drawn]
    if laid.left_out:
        blocks.append(f"Left out, as the screen is too narrow: {', '.join(laid.left_out)}; run.json has all.")
    return blocks


def _cells(row: Row) -> tuple[str, ...]:
    return (
        label(row),
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


def label(row: Row) -> str:
    """Return the method of a row, with its window."""
    return method_text(row.method, row.omega)


def method_text(method: str, omega: Window) -> str:
    """Return a method with its window, if it has one."""
    return f"{method} ω={window_text(omega)}" if method == Method.HYBRID else method


def way_text(counting: Counting | None) -> str:
    """Say how counts were made."""
    return "Dot products by Paillier, as in the papers" if counting is Counting.PAILLIER else "Oblivious transfer"


def in_run(number: int, runs: int, label: str, step: Step) -> Step:
    """Say of which run, by its number and label, this is a step."""
    return replace(step, text=f"run {number} of {runs}, {label}: {step.text}")


def introduction(report: RunReport, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what the demo runs on: the data, each party's columns, the parameters."""
    data, parameters = report.data, report.parameters
    yield f"{data.name}: {data.rows_train} records to train, {data.rows_test} to test"
    for party, names in columns.items():
        yield f"  {party}: {', '.join(names)}"
    if parameters.reveal is Reveal.COUNTS:
        yield (
            f"θ = {parameters.theta}, keys of {parameters.key_bits} bits, seed {parameters.seed} of rows and splits "
            "(coins are new in every demo, and accuracies move with them)"
        )
    depth = "of any depth" if parameters.max_depth is None else f"of at most {parameters.max_depth} splits of a path"
    is_papers = parameters.min_leaf == 1 and parameters.noise is None
    papers = " (the papers' trees: for data of your own, take 5)" if is_papers else ""
    yield f"Trees by {parameters.impurity}, {depth}, leaves of {parameters.min_leaf} or more records{papers}"
    if parameters.noise is not None:
        what = "Counts of hybrid and smc have" if parameters.reveal is Reveal.COUNTS else "The tree has"
        yield f"{what} noise, epsilon {parameters.noise} against each side per run"


def notice_lines(notices: Sequence[tuple[str, Notice | ReleasedBefore]]) -> Iterator[str]:
    """Yield what each party should know of its data."""
    for party, notice in notices:
        yield f"{party}: {notice_text(notice)}"


def no_figure(reason: object) -> str:
    """Say why there is no picture."""
    return f"No figure: {reason}"


def result(row: Row) -> str:
    """Return what came of one run."""
    accuracy = "" if row.accuracy is None else f"accuracy {row.accuracy:.3f}, "
    ratio = "" if row.cost_ratio is None else f"cost ratio {row.cost_ratio:.1%}, "
    sent = "" if row.bytes_sent is None else f", {size_text(row.bytes_sent.both)}"
    return f"  {label(row)}: {accuracy}{ratio}{row.seconds or 0:.1f} s{sent}"


def conclusion(report: RunReport, tree: Tree, model: Path, width: int) -> Iterator[Block]:
    """Yield the tree, which stands in that file, and the tables of all runs."""
    yield ""
    yield from cut_lines(short_tree(tree, model), width)
    for way in report.ways():
        yield ""
        yield way_text(way.rows[-1].counting)
        yield from run_table(way.rows, width)
    yield ""
    if report.parameters.reveal is Reveal.TREE:
        yield _TREE_ALONE
    if any(row.counting is Counting.PAILLIER for row in report.rows):
        yield _PATHS
    if report.data.rows_test and report.parameters.reveal is Reveal.COUNTS:
        yield _ACCURACY
    yield ""


def demo_written(out: Path, run: str, figures: Sequence[str], model: Path) -> str:
    """Say what the folder of a demo holds."""
    drawn = f", {' and '.join(figures)}" if figures else ""
    return f"In {out}: {run}{drawn}, and each party's {model.name} (cotally show {model})"


def short_tree(tree: Tree, path: Path) -> Iterator[str]:
    """Yield the whole tree, or as many of its levels as make a page."""
    if tree.size < _TREE_LINES:
        yield from tree_lines(tree)
        return
    levels, lines = 1, list(tree_lines(tree, 1))
    while len(deeper := list(tree_lines(tree, levels + 1))) <= _TREE_LINES:
        levels, lines = levels + 1, deeper
    yield from lines
    yield f"… the first {levels} of {tree.depth} levels; all of it: cotally show {path}"
