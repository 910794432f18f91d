#!/usr/bin/env python
"""Whole runs of two processes over mutual TLS, by phase, beside the price of one textbook dot product.

`factors` says where the random factors of the ciphertexts come from: made fresh, with short exponents (of Paillier
alone; one more assumption), or made ahead by `cotally precompute`, whose time is not counted.

The textbook dot product is n encryptions by `phe` under a key of the same size, sampled in the same run; `of_textbook`
is the run's time over it. Dot products of more than 2,000 records are left out: they take hours.
"""

from dataclasses import dataclass, replace
from math import floor

from _lab import FACTORS, OPTIONS, make_parser, measure_run, phe_seconds, publish, say

from party.demo.data import deal_dataset
from party.settings.window import parse_window, window_text
from protocols.terms import ALL, Cipher, Engine, Method, Window

DATA = {"tic-tac-toe": None, "mushroom": 8_124, "adult": 32_561}


@dataclass(frozen=True)
class Way:
    """How a tree is built, and where the factors of its ciphertexts come from."""

    method: Method = Method.HYBRID
    omega: Window = 3
    engine: Engine = Engine.ENCRYPTED_COINS
    cipher: Cipher = Cipher.PAILLIER
    factors: str = "fresh"


RUNS = [
    *(Way(omega=omega, cipher=cipher) for cipher in Cipher for omega in (1, 3, ALL)),
    *(Way(omega=omega, factors="short") for omega in (3, ALL)),
    *(Way(omega=omega, cipher=cipher, factors="ahead") for cipher in Cipher for omega in (3, ALL)),
    *(Way(omega=omega, engine=Engine.DOT_PRODUCT, cipher=cipher) for cipher in Cipher for omega in (1, 3, ALL)),
    *(Way(Method.SMC, ALL, Engine.DOT_PRODUCT, cipher) for cipher in Cipher),
]
DOT_PRODUCT_RECORDS = 2_000  # above, one plane a distinct E_a takes hours


def measure(name: str, records: int | None, runs: list[Way], key_bits: int, textbook: float) -> list[dict[str, object]]:
    halves = deal_dataset(name, OPTIONS.seed).first(records)
    train = len(halves.ids) - floor(len(halves.ids) * OPTIONS.test)
    rows = []
    for way in runs:
        row: dict[str, object] = {
            "data": name,
            "records": train,
            **vars(way),
            "omega": window_text(way.omega),
        }
        if way.engine == Engine.DOT_PRODUCT and len(halves.ids) > DOT_PRODUCT_RECORDS:
            rows.append({**row, "note": "left out: hours"})
            continue
        say(f"{name}: {way} ...")
        options = replace(OPTIONS, engine=way.engine, ciphers=(way.cipher,), key_bits=key_bits)
        run = measure_run(halves, way.method, way.omega, prepare=FACTORS[way.factors], options=options)
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
    parser.add_argument("--omega", type=parse_window, help="only this window")
    arguments = parser.parse_args()
    key_bits = 2048 if arguments.quick else 3072
    data = {name: DATA[name] for name in arguments.data or DATA}
    if arguments.quick:
        data = {"tic-tac-toe": 160}  # a fifth of fewer is too small to be held out
    runs = [RUNS[0], RUNS[-1]] if arguments.quick else [way for way in RUNS if arguments.omega in (None, way.omega)]
    textbook = phe_seconds(key_bits, 4 if arguments.quick else 50)
    rows = []
    for name, records in data.items():
        rows += measure(name, records, runs, key_bits, textbook)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
