#!/usr/bin/env python
"""How much accuracy does noise cost? Trees from counts with noise beside plain ID3 with the same limits (DESIGN 14).

Epsilon is that against each side of the whole run, the accuracy's own included. All candidates are counted (omega =
all, as for `smc`), and the tree is tested on held-out records in the clear, so that the noise in the accuracy does not
blur the comparison.
"""

from fractions import Fraction

import numpy as np
from _command import main
from _data import TEST, binary_table, several_valued_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.simulation.hold_out import accuracy
from protocols.simulation.noise import BulkNoise, grow_with_noise, side_spending
from protocols.simulation.two_party import grow_plain, random_split
from protocols.terms import Growth

RECORDS = {"adult": 48_842, "mushroom": 8_124}
DEPTHS = (3, 4, 5)
EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
MIN_LEAF = 5
TWO, BINS = "2", 4  # values per column; quantiles of numbers where there are more


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    name, records, values = str(cell["data"]), int(cell["records"]), str(cell["values"])
    table = binary_table(name, records) if values == TWO else several_valued_table(name, records, int(values), BINS)
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    depth = int(cell["max_depth"])
    plain = accuracy(grow_plain(split, Growth(depth, MIN_LEAF)).tree, split)
    measured: Measured = []
    for epsilon in EPSILONS:
        growth = Growth(depth, MIN_LEAF, Fraction(epsilon))
        spent = side_spending(split.schema, Fraction(epsilon), depth)
        noisy = grow_with_noise(split, {side: BulkNoise(generator, each) for side, each in spent.items()}, growth)
        reached = accuracy(noisy.tree, split)
        labels: Labels = {"counts": "noise", "epsilon": epsilon}
        measured.append(({**labels, "quantity": "accuracy"}, reached))
        measured.append(({**labels, "quantity": "loss"}, plain - reached))
        measured.append(({"counts": "exact", "epsilon": epsilon, "quantity": "accuracy"}, plain))
    return measured


def panel(data: str, values: str) -> Panel:
    def where(line: Line) -> bool:
        return (line["data"], line["values"], line["quantity"]) == (data, values, "accuracy")

    return Panel(f"{data}, {values} values per column", "epsilon", "mean", ("max_depth", "counts"), where, bars=True)


KINDS = [(data, values) for data in RECORDS for values in (TWO, "6")]
SWEEP = Sweep(
    name="noise_accuracy",
    seed=114,
    repetitions=20,
    cells=[
        cell
        for data, values in KINDS
        for cell in grid(data=[data], records=[RECORDS[data]], values=[values], max_depth=DEPTHS)
    ],
    measure=measure,
    quick=grid(data=["mushroom"], records=[400], values=[TWO], max_depth=[2]),
    constants={"min_leaf": MIN_LEAF, "bins": BINS},
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data, values) for data, values in KINDS])

if __name__ == "__main__":
    main(FIGURE)
