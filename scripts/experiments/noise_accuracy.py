#!/usr/bin/env python
"""How much accuracy does noise cost? A noisy tree alone, beside counts with noise and beside no noise (DESIGN 14, 16).

Epsilon is that of the whole run against each side. Trees alone are grown by noisy winners and noisy labels of Gini's
index, each side adding its own noise, trees from counts as `smc` grows them; the one without noise is what a tree alone
is without it: the information gain, leaves of 20 records or more. All are tested on held-out records in the clear.
"""

from fractions import Fraction

import numpy as np
from _command import main
from _data import TEST, binary_table, several_valued_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.learning.tree import Tree
from protocols.simulation.noise import (
    BulkNoise,
    BulkTreeNoise,
    grow_alone_with_noise,
    grow_with_noise,
    side_spending,
)
from protocols.simulation.two_party import HoldOut, accuracy, grow_plain, random_split
from protocols.terms import Growth, Impurity
from protocols.two_party.noise import tree_spending

RECORDS = {"adult": (2_000, 8_000, 48_842), "mushroom": (2_000, 8_124), "tic-tac-toe": (958,)}
DEPTHS = (3, 4, 5, 6)
EPSILONS = ("0.25", "0.5", "1", "2", "4")
MIN_LEAF, MIN_LEAF_OF_COUNTS = 20, 5
TWO, FOUR, BINS = "2", "4", 4  # values per column; quantiles of numbers where there are more


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    name, records, values = str(cell["data"]), int(cell["records"]), str(cell["values"])
    table = binary_table(name, records) if values == TWO else several_valued_table(name, records, int(values), BINS)
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    depth = int(cell["max_depth"])
    plain = accuracy(grow_plain(split, Growth(depth, MIN_LEAF)).tree, split)
    measured: Measured = []
    for epsilon in EPSILONS:
        alone = accuracy(_tree_alone(split, depth, Fraction(epsilon), generator), split)
        counts = accuracy(_tree_from_counts(split, depth, Fraction(epsilon), generator), split)
        for reveal, reached in (("tree with noise", alone), ("counts with noise", counts), ("no noise", plain)):
            labels: Labels = {"revealed": reveal, "epsilon": epsilon}
            measured.append(({**labels, "quantity": "accuracy"}, reached))
            if reveal != "no noise":
                measured.append(({**labels, "quantity": "loss"}, plain - reached))
    return measured


def _tree_alone(split: HoldOut, depth: int, epsilon: Fraction, generator: np.random.Generator) -> Tree:
    growth = Growth(depth, noise=epsilon, impurity=Impurity.GINI)
    spent = tree_spending(len(split.schema.attributes), growth, len(split.train))
    sides = [BulkTreeNoise(generator, spent) for _ in range(2) if spent]
    return grow_alone_with_noise(split.schema, split.train, sides, growth)


def _tree_from_counts(split: HoldOut, depth: int, epsilon: Fraction, generator: np.random.Generator) -> Tree:
    spent = side_spending(split.schema, epsilon, depth)
    growth = Growth(depth, MIN_LEAF_OF_COUNTS, epsilon)
    return grow_with_noise(split, {side: BulkNoise(generator, each) for side, each in spent.items()}, growth).tree


def panel(data: str, values: str) -> Panel:
    def where(line: Line) -> bool:
        shown = (line["data"], line["values"], line["quantity"], line["max_depth"]) == (data, values, "accuracy", 4)
        return shown and line["records"] == RECORDS[data][-1]

    return Panel(f"{data}, {values} values per column, depth 4", "epsilon", "mean", ("revealed",), where, bars=True)


KINDS = [("adult", TWO), ("adult", FOUR), ("mushroom", FOUR), ("tic-tac-toe", FOUR)]
SWEEP = Sweep(
    name="noise_accuracy",
    seed=116,
    repetitions=10,
    cells=[
        cell
        for data, values in KINDS
        for cell in grid(data=[data], records=RECORDS[data], values=[values], max_depth=DEPTHS)
    ],
    measure=measure,
    quick=grid(data=["mushroom"], records=[400], values=[TWO], max_depth=[2]),
    constants={"min_leaf": MIN_LEAF, "min_leaf_of_counts": MIN_LEAF_OF_COUNTS, "bins": BINS},
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data, values) for data, values in KINDS])

if __name__ == "__main__":
    main(FIGURE)
