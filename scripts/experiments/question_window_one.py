#!/usr/bin/env python
"""Question: is omega = 1 so much better than randomization alone because its stops are exact, as Hybrid 5.2 says?

The two choose attributes by the same estimates and differ in two things: where they stop, and how leaves are labelled.
So each tree's leaves are labelled both by exact counts and by estimates: four trees, one for each combination.
"""

from fractions import Fraction

import numpy as np
from _command import main
from _data import QUICK_RECORDS, RECORDS, TEST, binary_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.simulation.two_party import (
    accuracy,
    at_random,
    disguised_views,
    grow_hybrid,
    grow_plain,
    grow_randomized,
    label_by_estimates,
    label_exactly,
    random_split,
)

DATA = ("adult", "mushroom", "tic-tac-toe")
GROUPS = (1, 4)
THETAS = ("0.2", "0.3", "0.4", "0.45")


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    table = binary_table(str(cell["data"]), int(cell["records"]))
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    views = disguised_views(split, at_random(Fraction(cell["theta"]), int(cell["groups"]), generator), generator)
    estimated, exact = grow_randomized(split, views), grow_hybrid(split, views, 1).tree
    trees = {
        ("estimated", "estimated"): estimated,
        ("estimated", "exact"): label_exactly(estimated, split),
        ("exact", "estimated"): label_by_estimates(exact, split, views),
        ("exact", "exact"): exact,
        ("plain ID3", ""): grow_plain(split).tree,
    }
    measured: Measured = []
    for (stops, labels), tree in trees.items():
        names: Labels = {"stops": stops, "labels": labels}
        measured.append(({**names, "quantity": "accuracy"}, accuracy(tree, split)))
        measured.append(({**names, "quantity": "nodes"}, float(tree.size)))
    return measured


def panel(data: str) -> Panel:
    def where(line: Line) -> bool:
        return line["data"] == data and line["groups"] == GROUPS[-1] and line["quantity"] == "accuracy"

    return Panel(f"{data}, {GROUPS[-1]} groups; stops, labels", "theta", "mean", ("stops", "labels"), where, bars=True)


SWEEP = Sweep(
    name="question_window_one",
    seed=103,
    repetitions=20,
    cells=[cell for d in DATA for cell in grid(data=[d], records=[RECORDS[d]], groups=GROUPS, theta=THETAS)],
    measure=measure,
    quick=grid(data=["adult"], records=[QUICK_RECORDS["adult"]], groups=[1], theta=["0.4"]),
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data) for data in DATA])

if __name__ == "__main__":
    main(FIGURE)
