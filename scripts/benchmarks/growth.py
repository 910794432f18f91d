#!/usr/bin/env python
"""How a run grows: with records, attributes, groups, and with the delay and rate of the line. Generated tables.

Each block changes one thing about a base case (hybrid, omega = 3, two-valued columns, 2 groups a side); that of the
records has one group a side. With 10^6 records either process must stay below 2 GiB.
"""

import numpy as np
from _lab import Line, make_parser, measure_run, publish, say

from party.data import ColumnTreatment
from party.demo.data import Half, Halves

BASE = {"records": 2_000, "attributes": 10, "groups": 2}
BLOCKS: list[dict[str, object]] = [
    *({"records": 10**power, "groups": 1} for power in (4, 5, 6)),
    *({"attributes": attributes} for attributes in (8, 16, 32, 64)),
    *({"groups": groups} for groups in (1, 2, 3)),
    *({"delay": delay} for delay in (0.0, 0.01, 0.05)),
    *({"rate": rate} for rate in (1e7, 1e8)),
]
QUICK: list[dict[str, object]] = [{"records": 200}, {"records": 200, "delay": 0.01, "rate": 1e8}]


def generate(records: int, attributes: int, seed: int = 7) -> Halves:
    """Return a table in which the class depends on a few attributes and on chance."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(2, size=(records, attributes))
    label = (cells[:, 0] & cells[:, -1]) ^ cells[:, 1] ^ (generator.random(records) < 0.1)
    texts = np.where(np.column_stack([cells, label]) > 0, "1", "0")
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


def measure(case: dict[str, object], key_bits: int) -> dict[str, object]:
    full = {**BASE, "delay": 0.0, "rate": 0.0, **case}
    say(f"{case} ...")
    line = Line(full["delay"], full["rate"]) if full["delay"] or full["rate"] else None
    halves = generate(full["records"], full["attributes"])
    report = measure_run(halves, "hybrid", 3, line, groups=full["groups"], key_bits=key_bits)
    return {
        **full,
        "seconds": report["seconds"],
        "milliseconds_a_record": 1e3 * report["seconds"] / full["records"],
        "megabytes": (report["bytes_sent"] + report["bytes_received"]) / 1e6,
        "round_trips": report["round_trips"],
        "memory_mib": report["peak_memory_bytes"] / 2**20,
        "counts": report["exact_counts_disclosed"],
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--most-records", type=int, default=10**6, help="leave larger cases out")
    arguments = parser.parse_args()
    cases = QUICK if arguments.quick else BLOCKS
    rows = [
        measure(case, 2048 if arguments.quick else 3072)
        for case in cases
        if case.get("records", 0) <= arguments.most_records
    ]
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
