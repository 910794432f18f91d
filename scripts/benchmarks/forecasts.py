#!/usr/bin/env python
"""Forecasts against what then happens: seconds, bytes, memory and round trips must agree within a factor of two.

Counts depend on the tree, which nobody knows before: the most that are told must hold, and what is likely stands beside
it. Both parties share this machine, and a forecast takes each to have one of its own. Exit code 1 if one is missed.
"""

import secrets
import sys
from dataclasses import dataclass, replace
from math import floor

from _lab import FAR, OPTIONS, Line, make_parser, measure_run, publish, say
from growth import generate
from phe.paillier import generate_paillier_keypair

from party.compute import ComputeSettings, available_cpus, make_compute
from party.demo.data import Halves, deal_dataset
from party.demo.options import CountingWay
from party.forecast import model as forecasting
from party.forecast.calibration import Speed, calibrate
from protocols.ciphers.curve import ORDER
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.randomized_response.grouping import default_groups
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import Cipher, Engine, Method

FACTOR = 2.0


@dataclass(frozen=True)
class Case:
    """A run, and the line that it crosses; None for this machine's own."""

    data: str
    records: int
    omega: int
    cipher: Cipher = Cipher.PAILLIER
    line: Line | None = None


CASES = [
    Case("tic-tac-toe", 958, 1),
    Case("tic-tac-toe", 958, 3),
    Case("adult", 5_000, 3),
    Case("generated", 5_000, 2),
    Case("generated", 5_000, 2, line=FAR),
    Case("generated", 100_000, 3, Cipher.CURVE),
    Case("generated", 100_000, 3, Cipher.CURVE, FAR),
]
QUICK = [Case("generated", 300, 1), Case("generated", 300, 1, Cipher.CURVE, FAR)]


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


def domains(halves: Halves, party: str, with_class: bool) -> list[int]:
    half = halves.of[party]
    names = [name for name in half.columns if name != halves.class_name or with_class]
    return [
        half.treatments[name].max_values or 2
        if name in half.treatments and halves.name == "adult"
        else len(set(half.columns[name]))
        for name in names
    ]


def expected_sizes(halves: Halves, key: AnyKeyHolder) -> forecasting.Sizes:
    patterns = []
    for party in ("alice", "bob"):
        columns = domains(halves, party, with_class=True)
        groups = default_groups(columns, OPTIONS.groups)
        patterns.append(RelatedDesign(tuple(columns), groups, OPTIONS.theta).patterns)
    alice, bob = (domains(halves, party, with_class=False) for party in ("alice", "bob"))
    holder = int(not halves.of["alice"].holds_class)
    return forecasting.Sizes(len(halves.ids), (alice, bob), holder, 2, (patterns[0], patterns[1]), key)


def measure(case: Case, key_bits: int) -> tuple[dict[str, object], list[str]]:
    """Return a row of the results, and the quantities that were missed."""
    say(f"{case} ...")
    key = make_key(case.cipher, key_bits)
    speed = calibrate_now(key)
    name, records = case.data, case.records
    halves = generate(records, 10) if name == "generated" else deal_dataset(name, OPTIONS.seed).taken(range(records))
    options = replace(OPTIONS, key_bits=key_bits, ways=(CountingWay(Engine.ENCRYPTED_COINS, case.cipher),))
    line = forecasting.NO_LINE if case.line is None else forecasting.Line(case.line.rate, case.line.delay)
    terms = options.terms(Method.HYBRID, case.omega, "class")
    told = forecasting.forecast(expected_sizes(halves, key), terms, speed, line=line)
    run = measure_run(halves, Method.HYBRID, case.omega, case.line, options=options)
    report = run.report
    pairs = {
        "seconds": Told(told.seconds, report.seconds),
        "bytes": Told(told.bytes, report.bytes_sent + report.bytes_received),
        "memory": Told(told.memory, run.peak_memory_bytes),
        "round_trips": Told(told.round_trips, report.round_trips),
    }
    row: dict[str, object] = {"data": name, "train": records - floor(records * OPTIONS.test), "omega": case.omega}
    row |= {"cipher": case.cipher, "line": case.line is not None}
    row |= {"counts_at_most": told.counts, "counts_likely": told.likely_counts, "counts": report.exact_counts_disclosed}
    for quantity, pair in pairs.items():
        row |= {f"{quantity}_told": float(pair.before), quantity: float(pair.after), f"{quantity}_ratio": pair.ratio}
    missed = [quantity for quantity, pair in pairs.items() if not pair.is_close]
    return row, [*missed, *(["counts"] if report.exact_counts_disclosed > told.counts else [])]


def make_key(cipher: Cipher, key_bits: int) -> AnyKeyHolder:
    """Return a key like those of a run."""
    if cipher == Cipher.CURVE:
        return CurveKeyHolder(CurvePrivateKey(secrets.randbelow(ORDER)))
    made = generate_paillier_keypair(n_length=key_bits)[1]
    return PaillierKeyHolder(PrivateKey(Integer(made.p), Integer(made.q)))


def calibrate_now(key: AnyKeyHolder) -> Speed:
    """Calibrate right before the run, as the product does: a machine's speed changes with its load."""
    with make_compute(ComputeSettings()) as compute:
        return calibrate(key, compute.encryption(key), available_cpus())


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    key_bits = 2048 if arguments.quick else 3072
    measured = [measure(case, key_bits) for case in (QUICK if arguments.quick else CASES)]
    publish([row for row, _ in measured], arguments.out)
    missed = [quantity for _, quantities in measured for quantity in quantities]
    print(f"missed: {', '.join(missed)}" if missed else f"all within a factor of {FACTOR:g}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
