"""What runs cost and gave: the report of one run, and `run.json`, the table of a whole demo.

`cotally-run/1` is JSON: `{"format", "data", "parameters", "rows"}`, as the dataclasses below name their fields. A
number that was not measured, such as the seconds of a derived row, is null.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any

from party.files import read_bytes, write_atomically
from party.show import layout
from party.show.layout import USUAL_WIDTH, Column
from protocols.errors import InputError

FORMAT = "cotally-run/1"
METHODS = ("plain", "randomized", "hybrid", "smc")

_MOST_BYTES = 1 << 24


class ReportError(InputError):
    """A report's file cannot be used."""


def _check(holds: object, problem: str) -> None:
    if not holds:
        raise ReportError(f"a report's {problem}")


def _is_share(value: float | None) -> bool:
    return value is None or (isinstance(value, int | float) and 0 <= value <= 1)


def _is_count(value: int | None) -> bool:
    return value is None or (type(value) is int and value >= 0)


@dataclass(frozen=True)
class TrainReport:
    """What one party's `train` measured. `accuracy` of `randomized` is an estimate, which may leave `0 .. 1`.

    `phases` are the seconds of each part of the run.

    Raises:
        ReportError: A field is out of its range.
    """

    method: str
    omega: int | None
    accuracy: float | None
    correct: float | None
    records_test: int
    smc_computations: int
    seconds: float
    bytes_sent: int
    bytes_received: int
    round_trips: int
    exact_counts_disclosed: int
    phases: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self.method in METHODS[1:], "method is unknown")
        for name in ("accuracy", "correct", "seconds"):
            value = getattr(self, name)
            is_number = type(value) in (int, float) and isfinite(value)
            _check(is_number or (value is None and name != "seconds"), f"{name} must be a number")
        _check(self.omega != 0 and _is_count(self.omega), "omega must be 1 or more, or null")
        counts = ("records_test", "smc_computations", "bytes_sent", "bytes_received", "round_trips")
        for name in (*counts, "exact_counts_disclosed"):
            value = getattr(self, name)
            _check(value is not None and _is_count(value), f"{name} must be a count")


def write_train_report(path: Path, report: TrainReport) -> None:
    """Write the report of one run as JSON.

    Raises:
        InputError: It cannot be written.
    """
    write_atomically(path, json.dumps(asdict(report), indent=1) + "\n")


def read_train_report(path: Path) -> TrainReport:
    """Read the report of one run.

    Raises:
        ReportError: It cannot be read, or has not exactly the fields of a report in their ranges.
    """
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
    except (ValueError, RecursionError):
        raise ReportError(f"{path} is not JSON") from None
    names = {field.name for field in fields(TrainReport)}
    if not isinstance(content, dict) or set(content) != names:
        raise ReportError(f"{path} must have exactly the fields {', '.join(sorted(names))}")
    return TrainReport(**content)


@dataclass(frozen=True)
class DataFacts:
    """The data of a demo."""

    name: str
    rows_train: int
    rows_test: int
    attributes: int
    classes: int


@dataclass(frozen=True)
class Parameters:
    """What all runs of a demo have in common; `theta` as a fraction in text, `groups` per party."""

    theta: str
    groups: int
    key_bits: int
    engine: str
    seed: int


@dataclass(frozen=True)
class BytesSent:
    """Payload that each party sent."""

    alice: int
    bob: int


@dataclass(frozen=True)
class TreeSize:
    """Number of nodes, leaves included, and of splits on the longest path."""

    nodes: int
    depth: int


@dataclass(frozen=True)
class Row:
    """One run. `omega` is null for `hybrid` with all candidates, and for methods without a window.

    Raises:
        ReportError: A field is out of its range.
    """

    method: str
    omega: int | None
    accuracy: float | None
    smc_computations: int
    cost_ratio: float | None
    seconds: float | None
    bytes_sent: BytesSent | None
    round_trips: int | None
    exact_counts_disclosed: int
    tree: TreeSize
    equals_plain_id3: bool
    derived: bool

    def __post_init__(self) -> None:
        _check(self.method in METHODS, "method is unknown")
        _check(self.omega is None or (self.method == "hybrid" and self.omega >= 1), "omega must be 1 or more")
        _check(_is_share(self.accuracy), "accuracy must be between 0 and 1")
        _check(self.cost_ratio is None or self.cost_ratio >= 0, "cost_ratio must be 0 or more")
        _check(self.seconds is None or self.seconds >= 0, "seconds must be 0 or more")
        counts = (self.smc_computations, self.round_trips, self.exact_counts_disclosed, self.tree.nodes)
        _check(all(map(_is_count, counts)), "counts must be 0 or more")

    @property
    def label(self) -> str:
        """The method with its window, for people."""
        return f"hybrid ω={self.omega or 'all'}" if self.method == "hybrid" else self.method


@dataclass(frozen=True)
class RunReport:
    """All runs of a demo."""

    data: DataFacts
    parameters: Parameters
    rows: tuple[Row, ...]

    def of(self, method: str) -> Row | None:
        """Return the first row of this method."""
        return next((row for row in self.rows if row.method == method), None)

    def to_json(self) -> str:
        """Return the report as `run.json` has it."""
        content: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_run(path: Path, report: RunReport) -> None:
    """Write `run.json`, whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    write_atomically(path, report.to_json())


_COLUMNS = (
    Column("method", is_text=True),
    Column("accuracy"),
    Column("SMC\ncomp.", rank=9),
    Column("cost\nratio", rank=3),
    Column("seconds", rank=1),
    Column("alice\nsent", rank=6),
    Column("bob\nsent", rank=5),
    Column("round\ntrips", rank=7),
    Column("counts\ntold", rank=2),
    Column("nodes", rank=4),
    Column("depth", rank=8),
    Column("plain\nID3?"),
)


def table(rows: Sequence[Row], width: int = USUAL_WIDTH) -> list[str]:
    """Return the lines of a table over all runs; `*` marks a row that was derived and not run.

    Args:
        rows: The runs.
        width: Of the screen: columns that have no room are left out and named below.
    """
    laid = layout.table(_COLUMNS, [_cells(row) for row in rows], width)
    rule = "─" * max(map(len, laid.lines))
    lines = [*laid.lines[: laid.headings], rule, *laid.lines[laid.headings :]]
    if any(row.derived for row in rows):
        lines.append("* derived from the plain tree, which asks for the same counts; not run")
    if laid.left_out:
        lines.append(f"Left out, as the screen is too narrow: {', '.join(laid.left_out)}; run.json has all.")
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    sent = row.bytes_sent
    return (
        row.label + "*" * row.derived,
        "-" if row.accuracy is None else f"{row.accuracy:.3f}",
        f"{row.smc_computations:,}",
        "-" if row.cost_ratio is None else f"{row.cost_ratio:.1%}",
        "-" if row.seconds is None else f"{row.seconds:.1f}",
        size_text(None if sent is None else sent.alice),
        size_text(None if sent is None else sent.bob),
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
