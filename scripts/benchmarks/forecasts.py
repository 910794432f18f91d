#!/usr/bin/env python
"""Forecasts against what then happens: seconds, bytes, memory and round trips must agree within a factor of two.

Counts depend on the tree, which nobody knows before: the most that are told must hold, and what is likely stands beside
it. Both parties share this machine, and a forecast takes each to have one of its own. Exit code 1 if one is missed.
"""

import sys
from dataclasses import dataclass, replace
from math import floor

from _lab import FAR, OPTIONS, Line, make_parser, measure_run, publish, say
from growth import generate

from party.demo.data import Halves, deal_dataset
from party.forecast import model as forecasting
from party.forecast.speed import calibrate_transfers
from protocols.terms import Method, Reveal

FACTOR = 2.0


@dataclass(frozen=True)
class Case:
    """A run, and the line that it crosses; None for this machine's own."""

    data: str
    records: int
    omega: int
    line: Line | None = None
    reveal: Reveal = Reveal.COUNTS


CASES = [
    Case("tic-tac-toe", 958, 1),
    Case("tic-tac-toe", 958, 3),
    Case("adult", 5_000, 3),
    Case("generated", 5_000, 2),
    Case("generated", 5_000, 2, line=FAR),
    Case("generated", 100_000, 3),
    Case("generated", 100_000, 3, line=FAR),
    Case("generated", 100_000, 3, line=FAR, reveal=Reveal.TREE),
]
QUICK = [
    Case("generated", 1_000, 3),
    Case("generated", 1_000, 3, line=FAR),
    Case("generated", 1_000, 3, line=FAR, reveal=Reveal.TREE),
]


@dataclass(frozen=True)
class Told:
    """One quantity of one run, as forecast and as it was."""

    before: float
    after: float

    @property
    def ratio(self) -> float:
        """The forecast over what was."""
        return self.before / self.after

    @property
    def is_close(self) -> bool:
        """Whether they agree within the factor."""
        return 1 / FACTOR <= self.ratio <= FACTOR


def domains(halves: Halves, party: str) -> list[int]:
    half = halves.of[party]
    names = [name for name in half.columns if name != halves.class_name]
    return [
        half.treatments[name].max_values or 2
        if name in half.treatments and halves.name == "adult"
        else len(set(half.columns[name]))
        for name in names
    ]


def expected_sizes(halves: Halves) -> forecasting.Sizes:
    alice, bob = (domains(halves, party) for party in ("alice", "bob"))
    holder = int(not halves.of["alice"].holds_class)
    return forecasting.Sizes(len(halves.ids), (alice, bob), holder, 2)


def measure(case: Case) -> tuple[dict[str, object], list[str]]:
    """Return a row of the results, and the quantities that were missed."""
    say(f"{case} ...")
    means = forecasting.ByTransfers(calibrate_transfers())  # right before: a machine's speed changes with its load
    name, records = case.data, case.records
    halves = generate(records, 10) if name == "generated" else deal_dataset(name, OPTIONS.seed).taken(range(records))
    line = forecasting.NO_LINE if case.line is None else forecasting.Line(case.line.rate, case.line.delay)
    options = replace(OPTIONS, reveal=Reveal.TREE, max_depth=3) if case.reveal is Reveal.TREE else OPTIONS
    terms = options.terms(Method.HYBRID, case.omega, "class")
    told = forecasting.forecast(expected_sizes(halves), terms, means, line=line)
    run = measure_run(halves, Method.HYBRID, case.omega, case.line, options=options)
    report = run.report
    pairs = {
        "seconds": Told(told.seconds, report.seconds),
        "bytes": Told(told.bytes, report.bytes_sent + report.bytes_received),
        "memory": Told(told.memory, run.peak_memory_bytes),
        "round_trips": Told(told.round_trips, report.round_trips),
    }
    row: dict[str, object] = {"data": name, "train": records - floor(records * OPTIONS.test), "omega": case.omega}
    row |= {"line": case.line is not None, "reveal": case.reveal.value}
    row |= {"counts_at_most": told.counts, "counts": report.exact_counts_disclosed}
    for quantity, pair in pairs.items():
        row |= {f"{quantity}_told": float(pair.before), quantity: float(pair.after), f"{quantity}_ratio": pair.ratio}
    missed = [quantity for quantity, pair in pairs.items() if not pair.is_close]
    return row, [*missed, *(["counts"] if report.exact_counts_disclosed > told.counts else [])]


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    measured = [measure(case) for case in (QUICK if arguments.quick else CASES)]
    publish([row for row, _ in measured], arguments.out)
    missed = [quantity for _, quantities in measured for quantity in quantities]
    print(f"missed: {', '.join(missed)}" if missed else f"all within a factor of {FACTOR:g}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
