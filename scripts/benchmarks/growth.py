#!/usr/bin/env python
"""How a run grows: with records, attributes, and with the delay and rate of the line. Generated tables.

Each block changes one thing about a base case (hybrid, omega = 3, depth 5, two-valued columns, one coin each). With
10^6 records either process must stay below 2 GiB.
"""

from dataclasses import dataclass, replace

import numpy as np
from _lab import OPTIONS, Line, make_parser, measure_run, publish, say

from party.data import ColumnTreatment
from party.demo.data import Half, Halves
from protocols.terms import Method


@dataclass(frozen=True)
class Case:
    """A table's size, and a line's delay and rate."""

    records: int = 2_000
    attributes: int = 10
    delay: float = 0.0
    rate: float = 0.0


RECORDS = [Case(records=10**power) for power in (4, 5, 6)]
CASES = [
    *RECORDS,
    *(Case(attributes=attributes) for attributes in (8, 16, 32, 64)),
    *(Case(delay=delay) for delay in (0.0, 0.01, 0.05)),
    *(Case(rate=rate) for rate in (1e7, 1e8)),
]
QUICK = [Case(records=150, delay=0.01, rate=1e8)]


def generate(records: int, attributes: int, seed: int = 7, values: int = 2) -> Halves:
    """Return a table whose class depends on a few attributes and on chance; all columns have this many values."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(values, size=(records, attributes))
    high = cells >= values // 2
    label = (high[:, 0] & high[:, -1]) ^ high[:, 1] ^ (generator.random(records) < 0.1)
    names_of_values = np.array([str(value) for value in range(values)], dtype=object)
    texts = names_of_values[np.column_stack([cells, label])]
    columns = {f"c{i}": texts[:, i].tolist() for i in range(attributes)}
    names, middle = list(columns), (attributes + 1) // 2
    plain = ColumnTreatment()
    alice = {name: columns[name] for name in names[:middle]}
    bob = {**{name: columns[name] for name in names[middle:]}, "class": texts[:, -1].tolist()}
    halves = {
        "alice": Half(alice, dict.fromkeys(alice, plain), holds_class=False),
        "bob": Half(bob, dict.fromkeys(names[middle:], plain), holds_class=True),
    }
    return Halves("generated", "class", "id", [str(i) for i in range(records)], halves)


def measure(case: Case) -> dict[str, object]:
    say(f"{case} ...")
    line = Line(case.delay, case.rate) if case.delay or case.rate else None
    options = replace(OPTIONS, max_depth=5)
    run = measure_run(generate(case.records, case.attributes), Method.HYBRID, 3, line, options=options)
    return {
        **vars(case),
        "seconds": run.report.seconds,
        "milliseconds_per_record": 1e3 * run.report.seconds / case.records,
        "processor": run.processor_seconds,
        "megabytes": run.megabytes,
        "round_trips": run.report.round_trips,
        "memory_mib": run.memory_mib,
        "counts": run.report.exact_counts_disclosed,
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--only-records", action="store_true", help="the block of the records alone")
    parser.add_argument("--most-records", type=int, default=10**6, help="leave larger cases out")
    arguments = parser.parse_args()
    chosen = QUICK if arguments.quick else RECORDS if arguments.only_records else CASES
    cases = [case for case in chosen if case.records <= arguments.most_records]
    publish([measure(case) for case in cases], arguments.out)


if __name__ == "__main__":
    main()
