"""What the runs of a demo cost and yielded: `run.json`.

`cotally-run/2` is JSON: `{"format", "data", "parameters", "rows"}`, as the dataclasses below name their fields. A
number that was not measured, such as the bytes of the plain tree, is null.
"""

import json
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from party.files import read_bytes, write_atomically
from party.records.json_codec import from_json, to_json
from protocols.errors import InputError
from protocols.terms import OMEGA, Counting, Impurity, Method, Reveal, Window

_MOST_BYTES = 1 << 24


class ReportError(InputError):
    """A report's file cannot be used."""


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
    method: Method
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
        own = [value for name, value in vars(self).items() if name not in ("accuracy", "correct")]
        every = chain(own, self.counts_of.values(), self.phases.values(), (self.seen or {}).values())
        numbers = [each for each in every if isinstance(each, int | float)]
        finite = map(isfinite, [*numbers, self.accuracy or 0, self.correct or 0])
        if not all(finite) or min(numbers) < 0 or OMEGA.problem(self.omega):
            raise ReportError("a number of a run's report is out of its range")


def write_train_report(path: Path, report: TrainReport) -> None:
    """Write the report of one run as JSON."""
    write_atomically(path, json.dumps(to_json(report), indent=1) + "\n")


def read_train_report(path: Path) -> TrainReport:
    """Read the report of one run."""
    content = read_bytes(path, _MOST_BYTES)
    try:
        read = json.loads(content)
        report = from_json(TrainReport, read)
        if read.keys() == {each.name for each in fields(TrainReport)}:
            return report
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        pass
    raise ReportError(f"{path} is not the report of a run: name one that `cotally train` wrote")


FAMILY = "cotally-run/"
FORMAT = f"{FAMILY}2"
PLAIN = "plain"


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
        content: dict[str, Any] = {"format": FORMAT, **to_json(self)}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_run(path: Path, report: RunReport) -> None:
    """Write `run.json`, whole or not at all."""
    write_atomically(path, report.to_json())
