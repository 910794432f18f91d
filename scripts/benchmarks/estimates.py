#!/usr/bin/env python
"""Estimating all counts of a node against plain passes over the data: 10^6 records by 16 attributes and the class.

A plain pass counts every value of every attribute with every class on the undisguised table. `node` is the root, where
all records are; `making` merges equal records, once for the whole tree. Exit code 1 if a node takes ten plain passes or
more.
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from _lab import make_parser, publish, say

from protocols.counting.plaintext import tally
from protocols.counts import Query
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import ROOT

ATTRIBUTES = 16
PASSES = 10.0
THETA = Fraction(7, 10)
CASES = [(kind, values, groups) for kind in ("related", "unrelated") for values in (2, 4) for groups in (1, 2, 3)]


def make_design(kind: str, values: int, groups: int) -> Design:
    sizes = (values,) * ATTRIBUTES + (2,)
    parts = tuple(tuple(map(int, part)) for part in np.array_split(np.arange(ATTRIBUTES), groups))
    if kind == "related":
        return RelatedDesign(sizes, parts, THETA)
    personal = (*((Fraction(1, values),) * values for _ in range(ATTRIBUTES)), ())
    return UnrelatedDesign(sizes, parts, THETA, personal)


def best(action: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def measure(kind: str, values: int, groups: int, records: int, rounds: int) -> dict[str, object]:
    say(f"{kind} question, {values} values, {groups} groups ...")
    design = make_design(kind, values, groups)
    generator = np.random.default_rng([values, groups])
    codes = generator.integers(0, design.sizes, size=(records, len(design.sizes)), dtype=np.uint8)
    labels = tuple(str(v) for v in range(values))
    schema = survey_schema([*(f"x{i}" for i in range(ATTRIBUTES)), "class"], [labels] * ATTRIBUTES + [("0", "1")])
    survey = Responses(schema, design.randomize(codes, bulk_draw(generator, records)), design)
    query = Query(ROOT, tuple(range(ATTRIBUTES)), None)
    every = np.arange(records)
    plain = best(lambda: tally(codes, [every], [query], schema), rounds)
    making = best(survey.estimator, 1)
    estimator = survey.estimator()
    node = best(lambda: estimator.answers([query]), rounds)
    return {
        "question": kind,
        "values": values,
        "groups": groups,
        "distinct": len(estimator.repeats),
        "plain_seconds": plain,
        "node_passes": node / plain,
        "making_passes": making / plain,
    }


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    records, rounds = (10_000, 1) if arguments.quick else (1_000_000, 3)
    rows = [measure(*case, records, rounds) for case in CASES]
    publish(rows, arguments.out)
    slow = [row for row in rows if float(str(row["node_passes"])) >= PASSES]
    print(f"{len(slow)} of {len(rows)} cases take {PASSES:g} plain passes or more")
    sys.exit(bool(slow) and not arguments.quick)


if __name__ == "__main__":
    main()
