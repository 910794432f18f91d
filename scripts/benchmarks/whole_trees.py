#!/usr/bin/env python
"""Whole runs of two processes over mutual TLS, by phase, beside the price of one textbook dot product.

`factors` says where the random factors of the ciphertexts come from: full-length exponents, short ones (one more
assumption), or made ahead by `cotally precompute`, whose time is not counted.

The textbook dot product is n encryptions by `phe` under a key of the same size, sampled in the same run; `of_textbook`
is the run's time over it. Dot products of more than 2,000 records are left out: they take hours.
"""

from dataclasses import replace
from math import floor

from _lab import FACTORS, OPTIONS, make_parser, measure_run, phe_seconds, publish, say

from party.demo.data import deal_dataset
from party.settings.window import window_text
from protocols.terms import ALL, Engine, Method, Window

DATA = {"tic-tac-toe": None, "mushroom": 8_124, "adult": 32_561}
RUNS = [
    *((Method.HYBRID, omega, Engine.ENCRYPTED_COINS, "full") for omega in (1, 3, ALL)),
    *((Method.HYBRID, omega, Engine.ENCRYPTED_COINS, factors) for factors in ("short", "ahead") for omega in (3, ALL)),
    *((Method.HYBRID, omega, Engine.DOT_PRODUCT, "full") for omega in (1, 3, ALL)),
    (Method.SMC, ALL, Engine.DOT_PRODUCT, "full"),
]
DOT_PRODUCT_RECORDS = 2_000  # above, one plane a distinct E_a takes hours


def measure(
    name: str, records: int | None, runs: list[tuple[Method, Window, Engine, str]], key_bits: int, textbook: float
) -> list[dict[str, object]]:
    halves = deal_dataset(name, OPTIONS.seed).first(records)
    train = len(halves.ids) - floor(len(halves.ids) * OPTIONS.test)
    rows = []
    for method, omega, engine, factors in runs:
        row: dict[str, object] = {
            "data": name,
            "records": train,
            "method": method,
            "omega": "all" if omega is ALL else omega,
            "engine": engine,
            "factors": factors,
        }
        if engine == Engine.DOT_PRODUCT and len(halves.ids) > DOT_PRODUCT_RECORDS:
            rows.append({**row, "note": "left out: hours"})
            continue
        say(f"{name}: {method} omega {window_text(omega)} by {engine}, {factors} ...")
        options = replace(OPTIONS, engine=engine, key_bits=key_bits)
        run = measure_run(halves, method, omega, prepare=FACTORS[factors], options=options)
        rows.append(
            {
                **row,
                "seconds": run.report.seconds,
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
    arguments = parser.parse_args()
    key_bits = 2048 if arguments.quick else 3072
    data = {name: DATA[name] for name in arguments.data or DATA}
    if arguments.quick:
        data = {"tic-tac-toe": 160}  # a fifth of fewer is too small to be held out
    runs = [RUNS[0], RUNS[-1]] if arguments.quick else RUNS
    textbook = phe_seconds(key_bits, 4 if arguments.quick else 50)
    rows = []
    for name, records in data.items():
        rows += measure(name, records, runs, key_bits, textbook)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
