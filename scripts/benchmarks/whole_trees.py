#!/usr/bin/env python
"""Whole runs of two processes over mutual TLS, by phase, beside the price of one textbook dot product.

`--reveal tree` makes those that reveal the tree alone (`min_leaf` 20): adult, five levels, on this machine and over a
line of 100 Mb/s and 20 ms there and back; with `--data generated` 2^20 records of 11 two-valued columns, four levels.

The textbook dot product is n encryptions by `phe` under a key of the same size, sampled in the same run; `of_textbook`
is the run's time over it. Dot products of more than 2,000 records are left out: they take hours.
"""

from dataclasses import dataclass, replace
from math import floor

from _lab import OPTIONS, Line, make_parser, measure_run, phe_seconds, publish, say
from growth import generate

from party.demo.data import deal_dataset
from protocols.terms import ALL, DEPTH, OMEGA, Counting, Method, Reveal, Window

GENERATED_RECORDS = 1 << 20
DATA = {"tic-tac-toe": None, "mushroom": 8_124, "adult": 32_561, "generated": GENERATED_RECORDS}
USUAL = ("tic-tac-toe", "mushroom", "adult")


@dataclass(frozen=True)
class Way:
    """How a tree is built."""

    method: Method = Method.HYBRID
    omega: Window = 3
    counting: Counting = Counting.OBLIVIOUS_TRANSFER
    max_depth: int | None = None
    reveal: Reveal = Reveal.COUNTS
    far: bool = False

    def is_left_out(self, records: int) -> bool:
        """Tell whether the run would take too long on this many records."""
        return self.counting is Counting.PAILLIER and records > DOT_PRODUCT_RECORDS


RUNS = [
    *(Way(omega=omega) for omega in (1, 3, ALL)),
    *(Way(omega=omega, max_depth=5) for omega in (3, ALL)),
    *(Way(omega=omega, counting=Counting.PAILLIER) for omega in (1, 3, ALL)),
    Way(Method.SMC, ALL, Counting.PAILLIER),
    *(Way(Method.SMC, ALL, max_depth=5, reveal=Reveal.TREE, far=far) for far in (False, True)),
    Way(Method.SMC, ALL),
]
GENERATED = [Way(Method.SMC, ALL, max_depth=4, reveal=Reveal.TREE)]
LINE = Line(delay=0.01, rate=1e8)
DOT_PRODUCT_RECORDS = 2_000  # above, one plane per distinct E_a takes hours


def measure(name: str, records: int | None, runs: list[Way], key_bits: int, textbook: float) -> list[dict[str, object]]:
    if name == "generated":
        halves = generate(records or GENERATED_RECORDS, 11)
    else:
        halves = deal_dataset(name, OPTIONS.seed)
        halves = halves.drawn(records or len(halves.ids), OPTIONS.seed)
    train = len(halves.ids) - floor(len(halves.ids) * OPTIONS.test)
    rows = []
    for way in runs:
        row: dict[str, object] = {
            "data": name,
            "records": train,
            **vars(way),
            "omega": OMEGA.text(way.omega),
            "max_depth": DEPTH.text(way.max_depth),
        }
        if way.is_left_out(len(halves.ids)):
            rows.append({**row, "note": "left out: too long"})
            continue
        say(f"{name}: {way} ...")
        options = replace(OPTIONS, ways=(way.counting,), key_bits=key_bits, max_depth=way.max_depth, reveal=way.reveal)
        if way.reveal is Reveal.TREE:
            options = replace(options, min_leaf=20)
        run = measure_run(halves, way.method, way.omega, LINE if way.far else None, options=options)
        rows.append(
            {
                **row,
                "seconds": run.report.seconds,
                "processor": run.processor_seconds,
                "of_textbook": run.report.seconds / (textbook * train),
                "megabytes": run.megabytes,
                "round_trips": run.report.round_trips,
                "counts": run.report.exact_counts_disclosed,
                "memory_mib": run.memory_mib,
                "phases": run.report.phases,
            }
        )
    return rows


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--data", choices=DATA, action="append", help="only this data set")
    parser.add_argument("--omega", type=OMEGA.parse, help="only this window")
    parser.add_argument("--method", type=Method, choices=list(Method), help="only this method")
    parser.add_argument("--reveal", type=Reveal, choices=list(Reveal), help="only what reveals this")
    parser.add_argument("--rows", type=int, help="of each data set, instead of all")
    arguments = parser.parse_args()
    key_bits = 2048 if arguments.quick else 3072
    data = {name: arguments.rows or DATA[name] for name in arguments.data or USUAL}
    if arguments.quick:
        data = {"tic-tac-toe": 160}  # a fifth of fewer is too small to be held out
    wanted = {"omega": arguments.omega, "method": arguments.method, "reveal": arguments.reveal}
    textbook = phe_seconds(key_bits, 4 if arguments.quick else 50)
    rows = []
    for name, records in data.items():
        ways = GENERATED if name == "generated" else RUNS
        asked = [way for way in ways if all(value in (None, getattr(way, name)) for name, value in wanted.items())]
        rows += measure(name, records, asked[-1:] if arguments.quick else asked, key_bits, textbook)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
