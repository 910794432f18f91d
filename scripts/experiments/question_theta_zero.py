#!/usr/bin/env python
"""Question: does theta = 0 do as well as theta = 1 under the related question? With two values per column, and more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from _command import main
from _data import QUICK_RECORDS, RECORDS, TEST, binary_table, several_valued_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.simulation.survey import disguised, random_hold_out, related_question
from protocols.simulation.two_party import accuracy
from protocols.survey.mining import grow_tree

BINS = 2  # of numbers where other columns keep all their values
TWO_VALUED = ("adult", "mushroom", "breast-cancer", "votes", "tic-tac-toe")
SEVERAL_VALUED = ("votes", "tic-tac-toe")
GROUPS = (1, 2, 3)


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    name, records = str(cell["data"]), int(cell["records"])
    two = cell["values"] == "two"
    table = binary_table(name, records) if two else several_valued_table(name, records, None, BINS)
    data = random_hold_out(table, Fraction(TEST), generator)
    truth = related_question(data, Fraction(1), int(cell["groups"]), generator)
    lies = replace(truth, theta=Fraction(0))
    by_truth, by_lies = (grow_tree(disguised(data, design, generator)) for design in (truth, lies))
    same = by_truth.predict(data.test) == by_lies.predict(data.test)
    return [
        ({"quantity": "accuracy at theta = 1"}, accuracy(by_truth, data)),
        ({"quantity": "accuracy at theta = 0"}, accuracy(by_lies, data)),
        ({"quantity": "test records classified alike"}, float(same.mean())),
    ]


def cells(values: str, names: Sequence[str], groups: Sequence[int], sizes: Mapping[str, int] = RECORDS) -> list[Labels]:
    every = [grid(values=[values], data=[n], records=[sizes[n]], groups=groups) for n in names]
    return [cell for cells in every for cell in cells]


def panel(values: str) -> Panel:
    def where(line: Line) -> bool:
        return line["values"] == values and line["quantity"] != "test records classified alike"

    return Panel(f"{values} values a column", "groups", "mean", ("data", "quantity"), where, bars=True)


SWEEP = Sweep(
    name="question_theta_zero",
    seed=101,
    repetitions=20,
    cells=[*cells("two", TWO_VALUED, GROUPS), *cells("three", SEVERAL_VALUED, GROUPS)],
    measure=measure,
    quick=[*cells("two", ("adult",), (2,), QUICK_RECORDS), *cells("three", ("votes",), (1,), QUICK_RECORDS)],
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel("two"), panel("three")])

if __name__ == "__main__":
    main(FIGURE)
