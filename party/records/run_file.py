"""What the runs of a demo cost and yielded: `run.json`.

`cotally-run/2` is JSON: `{"format", "data", "parameters", "rows"}`, as the dataclasses below name their fields. A
number that was not measured, such as the bytes of the plain tree, is null.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from party.files import write_atomically
from party.records.train_report import check, is_count
from protocols.terms import ALL, Counting, Impurity, Method, Window, is_window

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

    `smc_computations` is the tally of counts, which the cost ratio compares; `counted_now` were counted in this run and
    not known from an earlier one. `counting` is that of the runs that it is one of, null for the plain tree.

    Raises:
        ReportError: A field is out of its range.
    """

    method: str
    omega: Window
    accuracy: float | None
    smc_computations: int
    counted_now: int
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
        check(is_window(self.omega) and (has_window or self.omega is ALL), "omega must be 1 or more")
        check(_is_share(self.accuracy), "accuracy must be between 0 and 1")
        check(self.cost_ratio is None or self.cost_ratio >= 0, "cost_ratio must be 0 or more")
        check(self.seconds is None or self.seconds >= 0, "seconds must be 0 or more")
        counts = (
            self.smc_computations,
            self.counted_now,
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
    """Write `run.json`, whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    write_atomically(path, report.to_json())
