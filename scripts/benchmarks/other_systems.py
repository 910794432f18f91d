#!/usr/bin/env python
"""Beside MPyC's secure ID3 and SPU's tree, on the same data and machine, in one run: all reveal the tree alone.

MPyC runs its demo `np_id3gini.py`: three parties with an honest majority, a lighter setting than our two parties. SPU
runs its tree of two-valued columns (`sml/tree/tree.py`) by Cheetah: two semi-honest parties, as ours, but as threads of
one process without sockets. Neither is in a wheel: `--mpyc DIR` names a checkout of https://github.com/lschoe/mpyc,
`--spu DIR` one of https://github.com/secretflow/spu of early 2025, and `--python` the interpreter of an environment
with `pip install mpyc spu`. What is missing gets a row that says so.

All learn from all records of the same file and test on none. Beside MPyC our tree splits into all values of a column,
and a branch of fewer records than MPyC splits is a leaf; beside SPU it splits in two, into as many levels, on the same
conditions, and a leaf holds a twentieth of the records. `seconds` are each system's own: ours from the first message to
the model, MPyC's from the connection to the shutdown, without sharing inputs, because its demo gives every party the
data; `processor` those of all processes, from start to end. `megabytes` is what all parties sent, `busiest` what the
busiest one did. `line` is this machine, or 100 Mb/s with 20 ms there and back between any two parties. The targets take
the stricter reading: all our bytes against those of the busiest party.

Other libraries' ciphers stand in `primitives.py`; systems that are not run here, in `published.py`.
"""

import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from _lab import OPTIONS, Line, children_seconds, make_parser, measure_run, publish, say, slow_line
from numpy.typing import NDArray

from party.data import Column, ColumnTreatment, treat
from party.data.cells import Cells
from party.demo.data import Halves, deal_dataset
from party.demo.processes import free_port
from protocols.terms import ALL, Impurity, Method, Reveal, Splits

Row = dict[str, Any]

PARTIES = 3
LINE = Line(delay=0.01, rate=1e8)

_DEMO = Path("demos") / "np_id3gini.py"
_FILE = Path("data") / "id3" / "tennis.csv"  # the name under which the demo reads its data set 0
_TREE = Path("sml") / "tree" / "tree.py"
_SCALE = 8  # the demo's alpha: it divides by 8 s + 1 where Gini's impurity divides by s
_STOPPED = re.compile(r"elapsed time: (\d+):(\d+):([\d.]+)\|bytes sent: (\d+)")
_SIZE = re.compile(r"of depth \d+ and size (\d+)")
_SENT = re.compile(r"Link details: total send bytes (\d+), recv bytes (\d+)")
_LEVELS, _BITS = 4, 128  # of SPU's tree, and of its ring: its scores are products of three counts


@dataclass(frozen=True)
class Case:
    """A data set, the share of its records below which a node is a leaf, and whether SPU can run on it here."""

    data: str
    records: int | None = None
    stop: Fraction = Fraction(1, 20)
    lines: tuple[Line | None, ...] = (None, LINE)
    spu: bool = False


@dataclass(frozen=True)
class Target:
    """Our figure over another's on this machine must be at most this."""

    data: str
    other: str
    figure: str
    at_most: float


@dataclass(frozen=True)
class Others:
    """Where the other systems are, and after how many seconds a run of theirs is ended."""

    python: Path
    mpyc: Path | None
    spu: Path | None
    limit: float


CASES = (Case("tic-tac-toe", spu=True), Case("mushroom"), Case("adult", 26_049))
QUICK = (Case("tic-tac-toe", 120, lines=(None,), spu=True),)
TARGETS = (
    Target("tic-tac-toe", "MPyC", "processor", 1 / 2),
    Target("tic-tac-toe", "SPU", "processor", 1 / 5),
    Target("tic-tac-toe", "SPU", "megabytes", 1 / 20),
    Target("adult", "MPyC", "processor", 1 / 5),
    Target("adult", "MPyC", "megabytes", 1 / 5),
)


def measure_trees(case: Case, others: Others) -> list[Row]:
    halves = deal_dataset(case.data, 1)
    halves = halves.drawn(case.records or len(halves.ids), OPTIONS.seed)
    rows = []
    for line in case.lines:
        rows += [measure_ours(case, halves, line, Splits.VALUES), measure_mpyc(case, halves, others, line)]
    if case.spu:
        rows += [measure_ours(case, halves, None, Splits.TWO_WAY), measure_spu(case, halves, others)]
    return [*rows, *(judge(target, rows) for target in TARGETS if target.data == case.data)]


def measure_ours(case: Case, halves: Halves, line: Line | None, splits: Splits) -> Row:
    say(f"{case.data}, {splits}, {line} ...")
    least = int(len(halves.ids) * case.stop)
    depth = _LEVELS if splits is Splits.TWO_WAY else 8
    options = replace(OPTIONS, test=Fraction(0), reveal=Reveal.TREE, splits=splits, max_depth=depth, min_leaf=least)
    options = replace(options, impurity=Impurity.GINI)
    run = measure_run(halves, Method.SMC, ALL, line, options=options)
    report = run.report
    sent = [report.bytes_sent, report.bytes_received]
    return {
        "system": f"cotally {version('cotally')}",
        "data": case.data,
        "beside": "SPU" if splits is Splits.TWO_WAY else "MPyC",
        "line": _named(line),
        "records": len(halves.ids),
        "seconds": report.seconds,
        "processor": run.processor_seconds,
        "megabytes": sum(sent) / 1e6,
        "busiest": max(sent) / 1e6,
        "nodes": sum(1 for _ in run.tree.nodes()),
    }


def _named(line: Line | None) -> str:
    return "this machine" if line is None else "100 Mb/s, 20 ms there and back"


def _missing(python: Path, package: str, file: Path | None) -> str | None:
    if file is None or not file.is_file():
        return f"no checkout: --{package} DIR"
    found = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
    return f"not installed: pip install {package}" if found.returncode else None


def measure_mpyc(case: Case, halves: Halves, others: Others, line: Line | None) -> Row:
    row: Row = {"system": "MPyC", "data": case.data, "line": _named(line), "records": len(halves.ids)}
    file = others.mpyc and others.mpyc / _DEMO
    if (missing := _missing(others.python, "mpyc", file)) is not None or file is None:
        return {**row, "note": missing}
    say(f"{case.data}, {line}: MPyC ...")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        bits = write_table(root / _FILE, halves)
        demo = [str(file.resolve()), "-i", "0", "-l", str(bits), "-e", str(float(case.stop)), "--no-pretty-tree"]
        before = children_seconds()
        logs = run_mpyc(root, [str(others.python), *demo], others.limit, line)
    if logs is None:
        return {**row, "note": f"more than {others.limit:.0f} seconds"}
    return {**row, **read_logs(logs), "processor": children_seconds() - before}


def run_mpyc(root: Path, demo: list[str], limit: float, line: Line | None) -> list[str] | None:
    """Let all parties run the demo, and return what each said; None if they take longer than the limit."""
    deadline, ports = time.monotonic() + limit, [free_port() for _ in range(PARTIES)]
    paths = [root / f"party-{index}.log" for index in range(PARTIES)]
    processes: list[subprocess.Popen[bytes]] = []
    with ExitStack() as lines:
        try:
            for index, path in enumerate(paths):
                reached = [p if at == index else lines.enter_context(slow_line(p, line)) for at, p in enumerate(ports)]
                addresses = [word for port in reached for word in ("-P", f"127.0.0.1:{port}")]
                with path.open("wb") as log:
                    command = [*demo, *addresses, "-I", str(index)]
                    processes.append(subprocess.Popen(command, cwd=root, stdout=log, stderr=log))
            codes = [process.wait(max(0.0, deadline - time.monotonic())) for process in processes]
        except subprocess.TimeoutExpired:
            return None
        finally:
            for process in processes:
                process.kill()
                process.wait()
    logs = [path.read_text() for path in paths]
    if any(codes):
        raise SystemExit(f"MPyC's demo failed:\n{logs[0]}")
    return logs


def read_logs(logs: list[str]) -> Row:
    stopped = [match for log in logs if (match := _STOPPED.search(log))]
    size = _SIZE.search(logs[0])
    if len(stopped) != PARTIES or size is None:
        raise SystemExit(f"MPyC's demo says something new:\n{logs[0]}")
    sent = [int(match[4]) for match in stopped]
    return {
        "seconds": max(3600 * int(match[1]) + 60 * int(match[2]) + float(match[3]) for match in stopped),
        "megabytes": sum(sent) / 1e6,
        "busiest": max(sent) / 1e6,
        "nodes": int(size[1]),
    }


_SPU = """
import importlib.util, sys, time
import numpy, spu, spu.utils.simulation as simulation
file, rows, levels, bits = sys.argv[1:]
spec = importlib.util.spec_from_file_location("tree", file)
tree = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tree)
table = numpy.loadtxt(rows, delimiter=",", skiprows=1)
config = spu.RuntimeConfig(protocol=spu.ProtocolKind.CHEETAH, field=getattr(spu.FieldType, "FM" + bits))
config.enable_hal_profile = config.enable_pphlo_profile = True
both = simulation.Simulator(2, config)
started = time.perf_counter()
def learn(x, y):
    return tree.DecisionTreeClassifier("gini", "best", int(levels), int(table[:, -1].max()) + 1).fit(x, y).T
simulation.sim_jax(both, learn)(table[:, :-1], table[:, -1])
print("seconds", time.perf_counter() - started)
"""


def measure_spu(case: Case, halves: Halves, others: Others) -> Row:
    row: Row = {"system": "SPU, Cheetah", "data": case.data, "line": "one process", "records": len(halves.ids)}
    file = others.spu and others.spu / _TREE
    if (missing := _missing(others.python, "spu", file)) is not None or file is None:
        return {**row, "note": missing}
    say(f"{case.data}: SPU ...")
    with tempfile.TemporaryDirectory() as folder:
        table, before = Path(folder) / "table.csv", children_seconds()
        write_conditions(table, halves)
        command = [str(word) for word in (others.python, "-c", _SPU, file, table, _LEVELS, _BITS)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=others.limit)
        except subprocess.TimeoutExpired:
            return {**row, "note": f"more than {others.limit:.0f} seconds"}
    sent, seconds = _SENT.search(done.stdout + done.stderr), re.search(r"seconds ([\d.]+)", done.stdout)
    if done.returncode or sent is None or seconds is None:
        raise SystemExit(f"SPU says something new:\n{done.stderr[-2000:]}")
    ways = [int(sent[1]) / 1e6, int(sent[2]) / 1e6]
    figures = {"processor": children_seconds() - before, "megabytes": sum(ways), "busiest": max(ways)}
    return {**row, "seconds": float(seconds[1]), **figures}


def codes_of(halves: Halves) -> tuple[list[NDArray[np.uint8]], NDArray[np.uint8]]:
    """Return the columns of both halves, and the class."""
    columns, label = [], None
    for half in halves.of.values():
        for name, cells in half.columns.items():
            column = Column(name, Cells.of(cells), Path("table"), range(len(cells)))
            codes = treat(column, half.treatments.get(name, ColumnTreatment())).codes
            if name == halves.class_name:
                label = codes
            else:
                columns.append(codes)
    assert label is not None  # noqa: S101  # one of the two holds the class
    return columns, label


def write_conditions(path: Path, halves: Halves) -> None:
    """Write a column for each condition that splits in two: a value against all others."""
    columns, label = codes_of(halves)
    conditions = [codes == value for codes in columns for value in range(int(codes.max()) + 1)]
    with path.open("w") as file:
        print(*range(len(conditions)), "class", sep=",", file=file)
        np.savetxt(file, np.column_stack([*conditions, label]), fmt="%d", delimiter=",")


def write_table(path: Path, halves: Halves) -> int:
    """Write both halves side by side in the demo's form, the class last, and return the bits its integers need."""
    columns, label = codes_of(halves)
    path.parent.mkdir(parents=True)
    with path.open("w") as file:
        print(*(f"a{i}" for i in range(len(columns))), "class", sep=",", file=file)
        np.savetxt(file, np.column_stack([*columns, label]), fmt="%d", delimiter=",")
    return bits_needed(columns, label)


def bits_needed(columns: list[NDArray[np.uint8]], label: NDArray[np.uint8]) -> int:
    """Return a length for every product that the demo compares, and a sign.

    An attribute's score is a fraction: the denominator is the product of `y = 8 s + 1` over the sizes `s` of its
    branches, the numerator that times the sum of `x^2 / y` over its counts `x`. Two fractions are compared crosswise.
    Both terms fall with the counts, so that none in the tree is above those of all records.
    """
    scores = []
    for codes in columns:
        counts = np.zeros((int(codes.max()) + 1, int(label.max()) + 1), dtype=np.int64)
        np.add.at(counts, (codes, label), 1)
        branches = [branch for branch in counts.tolist() if any(branch)]
        scales = [_SCALE * sum(branch) + 1 for branch in branches]
        below = prod(scales)
        above = sum(sum(x * x for x in branch) * (below // y) for branch, y in zip(branches, scales, strict=True))
        scores.append((above, below))
    return 1 + max(one[0] * other[1] for one, other in permutations(scores, 2)).bit_length()


def judge(target: Target, rows: list[Row]) -> Row:
    """Set our figure against another's; bytes of all our parties against those of the other's busiest."""
    ours = next(row for row in rows if row.get("beside") == target.other)
    theirs = next(row for row in rows if row["system"].startswith(target.other))
    judged: Row = {"system": f"{target.figure}: cotally / {target.other}", "data": target.data}
    judged["at_most"] = target.at_most
    figure = theirs.get("busiest" if target.figure == "megabytes" else target.figure)
    if figure is None:
        return {**judged, "note": "not measured"}
    ratio = ours[target.figure] / figure
    return {**judged, "ratio": ratio, "met": ratio <= target.at_most}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="with mpyc and spu (default: this)")
    parser.add_argument("--mpyc", type=Path, metavar="DIR", help="a checkout of MPyC, for its demo")
    parser.add_argument("--spu", type=Path, metavar="DIR", help="a checkout of SPU, for its tree")
    names = [case.data for case in CASES]
    parser.add_argument("--data", nargs="*", choices=names, default=names, help="the trees (default: all)")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a run of theirs is ended")
    arguments = parser.parse_args()
    others = Others(arguments.python, arguments.mpyc, arguments.spu, arguments.limit)
    rows: list[Row] = []
    for case in QUICK if arguments.quick else CASES:
        if case.data in arguments.data:
            rows += measure_trees(case, others)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
