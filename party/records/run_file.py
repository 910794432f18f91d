"""What the runs of a demo cost and yielded: `run.json`.

`cotally-run/2` is JSON: `{"format", "data", "parameters", "rows"}`, as the dataclasses below name their fields. A
number that was not measured, such as the bytes of the plain tree, is null.
"""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any

from party.files import read_bytes, write_atomically
from protocols.errors import InputError
from protocols.terms import ALL, OMEGA, Counting, Impurity, Method, Reveal, Window

_MOST_BYTES = 1 << 24


class ReportError(InputError):
    """A report's file cannot be used."""


def check(holds: object, problem: str) -> None:
    """Refuse a report that breaks a rule."""
    if not holds:
        raise ReportError(f"a report's {problem}")


def is_count(value: int | None) -> bool:
    """Return whether a value is a count, or was not measured."""
    return value is None or (type(value) is int and value >= 0)


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and isfinite(value) and value >= 0


@dataclass(frozen=True)
class TrainReport:
    """What one party's `train` measured. `accuracy` of `randomized` is an estimate, which may leave `0 .. 1`.

    `run` names the run, and nothing its model: a digest would confirm a guess of all records. `smc_computations` is
    the tally of counts.
    `exact_counts_disclosed` were revealed by this run, and are `counts_of` tables, classes, accuracy and sets of
    items.

    `phases` are the seconds of each part of the run. `noise` is the epsilon against each side as a fraction in lowest
    terms, with its `delta`; both None where counts are exact. `seen` is by how many records a false count must be wrong
    for this party to see it, of `one_group` or `two_groups` of the peer's, or all counts `together`; None for however
    wrong, and as a whole where no counts are revealed.
    """

    run: str
    method: str
    omega: Window
    accuracy: float | None
    correct: float | None
    records_test: int
    smc_computations: int
    seconds: float
    bytes_sent: int
    bytes_received: int
    round_trips: int
    exact_counts_disclosed: int
    counts_of: dict[str, int]
    phases: dict[str, float] = field(default_factory=dict)
    noise: str | None = None
    delta: float | None = None
    seen: dict[str, int | None] | None = None

    def __post_init__(self) -> None:
        check(self.method in Method.names(), "method is unknown")
        check(isinstance(self.run, str), "run must be text")
        counted = isinstance(self.counts_of, dict) and all(type(each) is int for each in self.counts_of.values())
        check(counted, "counts_of must be counts by name")
        for name in ("accuracy", "correct", "seconds"):
            value = getattr(self, name)
            is_number = type(value) in (int, float) and isfinite(value)
            check(is_number or (value is None and name != "seconds"), f"{name} must be a number")
        phases = self.phases.items() if isinstance(self.phases, dict) else [("", None)]
        check(all(type(key) is str and _is_seconds(value) for key, value in phases), "phases must be seconds by name")
        seen = self.seen is None or (isinstance(self.seen, dict) and all(map(is_count, self.seen.values())))
        check(seen, "seen must be records by name, or null")
        check(not OMEGA.problem(self.omega), "omega must be 1 or more, or null")
        counts = ("records_test", "smc_computations", "bytes_sent", "bytes_received", "round_trips")
        for name in (*counts, "exact_counts_disclosed"):
            value = getattr(self, name)
            check(value is not None and is_count(value), f"{name} must be a count")


def write_train_report(path: Path, report: TrainReport) -> None:
    """Write the report of one run as JSON."""
    write_atomically(path, json.dumps(asdict(report), indent=1) + "\n")


def read_train_report(path: Path) -> TrainReport:
    """Read the report of one run."""
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
    except (ValueError, RecursionError):
        raise ReportError(f"{path} is not JSON: name a report that `cotally train` wrote") from None
    names = {field.name for field in fields(TrainReport)}
    if not isinstance(content, dict) or set(content) != names:
        raise ReportError(f"{path} must have exactly the fields {', '.join(sorted(names))}")
    return TrainReport(**content)


FAMILY = "cotally-run/"
FORMAT = f"{FAMILY}2"
PLAIN = "plain"
METHODS = (PLAIN, *Method)


def _is_share(value: float | None) -> bool:
    return value is None or (isinstance(value, int | float) and 0 <= value <= 1)


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
    """What all runs of a demo have in common: fractions as text, any depth and no noise as null."""

    theta: str
    key_bits: int
    seed: int
    max_depth: int | None = None
    min_leaf: int = 1
    impurity: str = Impurity.INFORMATION_GAIN
    noise: str | None = None
    reveal: Reveal = Reveal.COUNTS


@dataclass(frozen=True)
class BytesSent:
    """Payload that each party sent."""

    alice: int
    bob: int

    @property
    def both(self) -> int:
        """Of both together."""
        return self.alice + self.bob


@dataclass(frozen=True)
class TreeSize:
    """Number of nodes, leaves included, and of splits on the longest path."""

    nodes: int
    depth: int


@dataclass(frozen=True)
class Row:
    """One run. `omega` is null for `hybrid` with all candidates, and for methods without a window.

    `smc_computations` is the tally of counts, which the cost ratio compares. `counting` is that of the runs that it is
    one of, null for the plain tree.
    """

    method: str
    omega: Window
    accuracy: float | None
    smc_computations: int
    cost_ratio: float | None
    seconds: float | None
    bytes_sent: BytesSent | None
    round_trips: int | None
    exact_counts_disclosed: int
    tree: TreeSize
    equals_plain_id3: bool
    counting: Counting | None

    def __post_init__(self) -> None:
        check(self.method in METHODS, "method is unknown")
        has_window = self.method == Method.HYBRID
        check(not OMEGA.problem(self.omega) and (has_window or self.omega is ALL), "omega must be 1 or more")
        check(_is_share(self.accuracy), "accuracy must be between 0 and 1")
        check(self.cost_ratio is None or self.cost_ratio >= 0, "cost_ratio must be 0 or more")
        check(self.seconds is None or self.seconds >= 0, "seconds must be 0 or more")
        counts = (
            self.smc_computations,
            self.round_trips,
            self.exact_counts_disclosed,
            self.tree.nodes,
        )
        check(all(map(is_count, counts)), "counts must be 0 or more")


@dataclass(frozen=True)
class RunReport:
    """All runs of a demo."""

    data: DataFacts
    parameters: Parameters
    rows: tuple[Row, ...]

    def ways(self) -> list["RunReport"]:
        """Return the runs of each way of counting by themselves, in their order, the plain tree before them."""
        ways = dict.fromkeys(row.counting for row in self.rows if row.counting)
        return [replace(self, rows=tuple(row for row in self.rows if row.counting in (None, way))) for way in ways]

    def of(self, method: str) -> Row | None:
        """Return the first row of this method."""
        return next((row for row in self.rows if row.method == method), None)

    def to_json(self) -> str:
        """Return the report as `run.json` has it."""
        content: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_run(path: Path, report: RunReport) -> None:
    """Write `run.json`, whole or not at all."""
    write_atomically(path, report.to_json())
