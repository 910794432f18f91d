#!/usr/bin/env python
"""Whole runs of two processes over mutual TLS, by phase, beside the price of one textbook dot product.

`factors` says where the random factors of the ciphertexts come from: made fresh, with short exponents (of Paillier
alone; one more assumption), or made ahead by `cotally precompute`, whose time is not counted.

The textbook dot product is n encryptions by `phe` under a key of the same size, sampled in the same run; `of_textbook`
is the run's time over it. Dot products of more than 2,000 records are left out, unless `--long` asks for those on the
curve, which take half an hour and more; by Paillier they take hours.
"""

from dataclasses import dataclass, replace
from math import floor

from _lab import FACTORS, OPTIONS, make_parser, measure_run, phe_seconds, publish, say

from party.demo.data import deal_dataset
from party.demo.options import CountingWay
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

    def is_left_out(self, records: int, *, long: bool) -> bool:
        """Tell whether the run would take too long on so many records; `long` tells whether half an hour is not."""
        many = self.engine == Engine.DOT_PRODUCT and records > DOT_PRODUCT_RECORDS
        return many and not (long and self.cipher == Cipher.CURVE)


RUNS = [
    *(Way(omega=omega, cipher=cipher) for cipher in Cipher for omega in (1, 3, ALL)),
    *(Way(omega=omega, factors="short") for omega in (3, ALL)),
    *(Way(omega=omega, cipher=cipher, factors="ahead") for cipher in Cipher for omega in (3, ALL)),
    *(Way(omega=omega, engine=Engine.DOT_PRODUCT, cipher=cipher) for cipher in Cipher for omega in (1, 3, ALL)),
    *(Way(Method.SMC, ALL, Engine.DOT_PRODUCT, cipher) for cipher in Cipher),
]
DOT_PRODUCT_RECORDS = 2_000  # above, one plane per distinct E_a takes hours


def measure(
    name: str, records: int | None, runs: list[Way], key_bits: int, textbook: float, *, long: bool
) -> list[dict[str, object]]:
    halves = deal_dataset(name, OPTIONS.seed)
    halves = halves.drawn(records or len(halves.ids), OPTIONS.seed)
    train = len(halves.ids) - floor(len(halves.ids) * OPTIONS.test)
    rows = []
    for way in runs:
        row: dict[str, object] = {
            "data": name,
            "records": train,
            **vars(way),
            "omega": window_text(way.omega),
        }
        if way.is_left_out(len(halves.ids), long=long):
            rows.append({**row, "note": "left out: too long"})
            continue
        say(f"{name}: {way} ...")
        options = replace(OPTIONS, ways=(CountingWay(way.engine, way.cipher),), key_bits=key_bits)
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
    parser.add_argument("--method", type=Method, choices=list(Method), help="only this method")
    parser.add_argument("--rows", type=int, help="of each data set, instead of all")
    parser.add_argument("--long", action="store_true", help="also dot products on the curve of many records")
    arguments = parser.parse_args()
    key_bits = 2048 if arguments.quick else 3072
    data = {name: arguments.rows or DATA[name] for name in arguments.data or DATA}
    if arguments.quick:
        data = {"tic-tac-toe": 160}  # a fifth of fewer is too small to be held out
    asked = [way for way in RUNS if arguments.omega in (None, way.omega) and arguments.method in (None, way.method)]
    runs = [RUNS[-1]] if arguments.quick else asked
    textbook = phe_seconds(key_bits, 4 if arguments.quick else 50)
    rows = []
    for name, records in data.items():
        rows += measure(name, records, runs, key_bits, textbook, long=arguments.long)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
