#!/usr/bin/env python
"""Forecasts against what then happens: seconds, bytes, memory and round trips must agree within a factor of two.

Counts depend on the tree, which nobody knows before: the most that are told must hold. Exit code 1 if one is missed.
"""

import sys
from dataclasses import dataclass, replace
from math import floor

from _lab import OPTIONS, make_parser, measure_run, publish, say
from growth import generate
from phe.paillier import generate_paillier_keypair

from party.compute import ComputeSettings, available_cpus, make_compute
from party.demo.data import Halves, deal_dataset
from party.forecast.calibration import Speed, calibrate
from party.forecast.model import Sizes, forecast
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.randomized_response.grouping import default_groups
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import Method

FACTOR = 2.0
CASES = [("tic-tac-toe", 958, 1), ("tic-tac-toe", 958, 3), ("adult", 5_000, 3), ("generated", 5_000, 2)]
QUICK = [("generated", 600, 2)]


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


def expected_sizes(halves: Halves, key: AnyKeyHolder) -> Sizes:
    patterns = []
    for party in ("alice", "bob"):
        columns = domains(halves, party, with_class=True)
        groups = default_groups(columns, OPTIONS.groups)
        patterns.append(RelatedDesign(tuple(columns), groups, OPTIONS.theta).patterns)
    attributes = [size for party in ("alice", "bob") for size in domains(halves, party, with_class=False)]
    return Sizes(len(halves.ids), attributes, 2, (patterns[0], patterns[1]), key)


def measure(name: str, records: int, omega: int, key_bits: int) -> tuple[dict[str, object], list[str]]:
    """Return a row of the results, and the quantities that were missed."""
    say(f"{name}, {records} records, omega {omega} ...")
    key = make_key(key_bits)
    speed = calibrate_now(key)
    halves = generate(records, 10) if name == "generated" else deal_dataset(name, OPTIONS.seed).first(records)
    terms = replace(OPTIONS, key_bits=key_bits).terms(Method.HYBRID, omega, "class")
    told = forecast(expected_sizes(halves, key), terms, speed)
    run = measure_run(halves, Method.HYBRID, omega, options=replace(OPTIONS, key_bits=key_bits))
    report = run.report
    pairs = {
        "seconds": Told(told.seconds, report.seconds),
        "bytes": Told(told.bytes, report.bytes_sent + report.bytes_received),
        "memory": Told(told.memory, run.peak_memory_bytes),
        "round_trips": Told(told.round_trips, report.round_trips),
    }
    row: dict[str, object] = {"data": name, "train": records - floor(records * OPTIONS.test), "omega": omega}
    row |= {"counts_at_most": told.counts, "counts": report.exact_counts_disclosed}
    for quantity, pair in pairs.items():
        row |= {f"{quantity}_told": float(pair.before), quantity: float(pair.after), f"{quantity}_ratio": pair.ratio}
    missed = [quantity for quantity, pair in pairs.items() if not pair.is_close]
    return row, [*missed, *(["counts"] if report.exact_counts_disclosed > told.counts else [])]


def make_key(key_bits: int) -> AnyKeyHolder:
    """Return a key like those of a run."""
    made = generate_paillier_keypair(n_length=key_bits)[1]
    return PaillierKeyHolder(PrivateKey(Integer(made.p), Integer(made.q)))


def calibrate_now(key: AnyKeyHolder) -> Speed:
    """Calibrate right before the run, as the product does: a machine's speed changes with its load."""
    with make_compute(ComputeSettings()) as compute:
        return calibrate(key, compute.encryption(key), available_cpus())


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    key_bits = 2048 if arguments.quick else 3072
    measured = [measure(*case, key_bits) for case in (QUICK if arguments.quick else CASES)]
    publish([row for row, _ in measured], arguments.out)
    missed = [quantity for _, quantities in measured for quantity in quantities]
    print(f"missed: {', '.join(missed)}" if missed else f"all within a factor of {FACTOR:g}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
