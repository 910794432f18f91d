#!/usr/bin/env python
"""Hybrid table 1: gain in accuracy over randomization alone (A) and cost ratio (C), 4 groups, theta = 0.45.

In both readings of "4 groups": 4 of each party, and 2 of each, 4 in all; on trees grown to the end, and of five levels.
"""

from _command import main
from _data import QUICK_RECORDS
from _figure import Figure, Line, Panel, Sweep
from _hybrid import SEED, cells, five_levels, measure

DATA = ("adult", "mushroom", "tic-tac-toe")
GROUPS_PER_PARTY = (4, 2)
THETA = "0.45"
WINDOWS = 4
PRINTED = {
    ("adult", "gain over randomized"): ((2, 0.14), (3, 0.15), (4, 0.16)),
    ("adult", "cost ratio"): ((2, 0.19), (3, 0.28), (4, 0.37)),
    ("mushroom", "gain over randomized"): ((2, 0.23), (3, 0.26), (4, 0.27)),
    ("mushroom", "cost ratio"): ((2, 0.10), (3, 0.15), (4, 0.20)),
}

SWEEP = Sweep(
    name="hybrid_2007_table_1",
    seed=SEED,
    repetitions=50,
    cells=[cell for data in DATA for cell in cells(data, GROUPS_PER_PARTY, (THETA,), WINDOWS)],
    measure=measure,
    quick=[cell for data in DATA for cell in cells(data, (2,), (THETA,), 2, QUICK_RECORDS)],
)


def panel(data: str, quantity: str) -> Panel:
    def where(line: Line) -> bool:
        return line["method"] == "hybrid" and line["data"] == data and line["quantity"] == quantity

    printed = {"printed": PRINTED[data, quantity]}
    return Panel(f"{data}, {quantity}", "omega", "mean", ("groups", "levels"), where, True, printed, quantity)


FIGURE = Figure(SWEEP.name, SWEEP, [panel(*key) for key in PRINTED], others=[five_levels(SWEEP)])

if __name__ == "__main__":
    main(FIGURE)
