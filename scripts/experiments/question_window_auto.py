#!/usr/bin/env python
"""Question: does a window chosen node by node beat the best fixed one (Hybrid's future work; DESIGN 7.6)?

At a node, the window is all candidates whose estimated gain is at most `z` standard errors below the best one's, and at
most `cap` of them. One formula gives both parties the error: that of a count over one group, as a share of the node's
records, which both know. `lead at equal cost` sets the accuracy against that of fixed windows on the same split and
disguise, read off between the two whose cost ratios enclose this one's.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from _command import main
from _data import QUICK_RECORDS, RECORDS, TEST, binary_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid
from _hybrid import five_levels

from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.rows import View
from protocols.learning.id3 import HybridId3
from protocols.learning.merit import GAIN_BITS
from protocols.randomized_response.moments import noise
from protocols.role import Role, run_alone
from protocols.simulation.two_party import (
    HoldOut,
    PlainRanking,
    accuracy,
    at_random,
    disguised_views,
    grow_hybrid,
    grow_plain,
    random_split,
)
from protocols.terms import TO_THE_END, Growth

DATA = ("tic-tac-toe", "mushroom", "adult")
GROUPS = 4
ERRORS = ("0", "0.05", "0.1", "0.2", "0.4", "0.8")
CAPS = (4, 99)
FIXED = (1, 2, 3, 4, 6, 8)


class _NodeWindows(HybridId3):
    """Hybrid-ID3 whose window is chosen at each node."""

    def __init__(self, split: HoldOut, views: Sequence[View], z: float, cap: int, growth: Growth) -> None:
        engine = PlaintextEngine(split.schema, split.train, split.test)
        self._sums = PlainRanking(list(map(Estimator, views)), split.schema.classes, growth)
        super().__init__(split.schema, engine.class_counts, 1, engine, self._sums, growth)
        self._designs, self._z, self._cap = [each.design for each in views], z, cap

    def _windows(self, level: Sequence[Any]) -> Role[list[tuple[int, ...]]]:
        yield from ()
        self._sums.advance([node.expression for node in level])
        sums = self._sums.gains([node.query(node.candidates) for node in level]) / (2 << GAIN_BITS)
        return [
            self._window_of(node, dict(zip(node.candidates, gains, strict=True)))
            for node, gains in zip(level, sums.tolist(), strict=True)
        ]

    def _window_of(self, node: Any, gains: dict[int, float]) -> tuple[int, ...]:
        records = node.records
        error = min(noise(design, k, records) for design in self._designs for k in range(len(design.groups))) / records
        order = sorted(gains, key=lambda candidate: (-gains[candidate], candidate))[: self._cap]
        return tuple(sorted(c for c in order if gains[c] >= gains[order[0]] - self._z * error))


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    table = binary_table(str(cell["data"]), int(cell["records"]))
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    views = disguised_views(split, at_random(Fraction(cell["theta"]), GROUPS, generator), generator)
    growth = Growth(max_depth=int(cell["levels"])) if "levels" in cell else TO_THE_END
    every = grow_plain(split, growth)
    measured: Measured = []
    fixed: list[tuple[float, float]] = []
    for omega in FIXED:
        grown = grow_hybrid(split, views, omega, growth)
        fixed.append((grown.computations / every.computations, accuracy(grown.tree, split)))
        measured += _lines({"window": "fixed", "omega": omega}, *fixed[-1])
    fixed.append((1.0, accuracy(every.tree, split)))
    costs, reached = zip(*sorted(fixed), strict=True)
    for cap in CAPS:
        for z in ERRORS:
            result = run_alone(_NodeWindows(split, views, float(z), cap, growth).build())
            cost, right = result.computations / every.computations, accuracy(result.tree, split)
            labels: Labels = {"window": "by node", "z": z, "cap": cap}
            measured += _lines(labels, cost, right)
            lead = right - float(np.interp(cost, costs, reached))
            measured.append(({**labels, "quantity": "lead at equal cost"}, lead))
    return measured


def _lines(labels: Labels, cost: float, right: float) -> Measured:
    return [({**labels, "quantity": "cost ratio"}, cost), ({**labels, "quantity": "accuracy"}, right)]


def panel(data: str) -> Panel:
    def where(line: Line) -> bool:
        return (line["data"], line["quantity"]) == (data, "lead at equal cost")

    return Panel(data, "z", "mean", ("theta", "cap", "levels"), where, bars=True, y="lead at equal cost")


SWEEP = Sweep(
    name="question_window_auto",
    seed=76,
    repetitions=10,
    cells=[cell for data in DATA for cell in grid(data=[data], records=[RECORDS[data]], theta=["0.3", "0.45"])],
    measure=measure,
    quick=grid(data=["mushroom"], records=[QUICK_RECORDS["mushroom"]], theta=["0.45"]),
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data) for data in DATA], others=[five_levels(SWEEP)])

if __name__ == "__main__":
    main(FIGURE)
