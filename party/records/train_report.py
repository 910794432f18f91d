"""What one run cost and yielded: the report that one party's `train` or `serve` writes."""

import json
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from pathlib import Path

from party.files import read_bytes, write_atomically
from protocols.errors import InputError
from protocols.terms import Method, Window, is_window

_MOST_BYTES = 1 << 24


class ReportError(InputError):
    """A report's file cannot be used."""


def check(holds: object, problem: str) -> None:
    """Refuse a report that breaks a rule.

    Raises:
        ReportError: The rule does not hold.
    """
    if not holds:
        raise ReportError(f"a report's {problem}")


def is_count(value: int | None) -> bool:
    """Tell whether a value is a count, or was not measured."""
    return value is None or (type(value) is int and value >= 0)


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and isfinite(value) and value >= 0


@dataclass(frozen=True)
class TrainReport:
    """What one party's `train` measured. `accuracy` of `randomized` is an estimate, which may leave `0 .. 1`.

    `run` names the run, and nothing its model: a digest would confirm a guess of all records. `smc_computations` is
    the tally of counts; `remembered` of them were known from earlier runs, and not counted now.
    `exact_counts_disclosed` were revealed by this run, and are `counts_of` tables, classes, accuracy and sets of
    items.

    `phases` are the seconds of each part of the run. `noise` is the epsilon against each side as a fraction in lowest
    terms, with its `delta`; both None where counts are exact. `seen` is by how many records a false count must be wrong
    for this party to see it, of `one_group` or `two_groups` of the peer's, or all counts `together`; None for however
    wrong, and as a whole where no counts are told.

    Raises:
        ReportError: A field is out of its range.
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
    remembered: int = 0

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
        check(is_window(self.omega), "omega must be 1 or more, or null")
        counts = ("records_test", "smc_computations", "bytes_sent", "bytes_received", "round_trips")
        for name in (*counts, "exact_counts_disclosed", "remembered"):
            value = getattr(self, name)
            check(value is not None and is_count(value), f"{name} must be a count")


def write_train_report(path: Path, report: TrainReport) -> None:
    """Write the report of one run as JSON.

    Raises:
        InputError: It cannot be written.
    """
    write_atomically(path, json.dumps(asdict(report), indent=1) + "\n")


def read_train_report(path: Path) -> TrainReport:
    """Read the report of one run.

    Raises:
        ReportError: It cannot be read, or does not have exactly the fields of a report, in their ranges.
    """
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
    except (ValueError, RecursionError):
        raise ReportError(f"{path} is not JSON") from None
    names = {field.name for field in fields(TrainReport)}
    if not isinstance(content, dict) or set(content) != names:
        raise ReportError(f"{path} must have exactly the fields {', '.join(sorted(names))}")
    return TrainReport(**content)
