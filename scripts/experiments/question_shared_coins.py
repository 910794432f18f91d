#!/usr/bin/env python
"""Question: what does it cost to let columns share coins, as the papers' multi-group scheme does, and what is it for?

The receiver's attack (DESIGN 10) reads each party's copy, beside the accuracy of trees that are grown on both: with
groups of columns drawn at random, or a coin for each column, at several theta. And of columns with more than two
values, each with a coin of its own: how far theta, and so the odds of a value, may go.
"""

from dataclasses import replace
from fractions import Fraction
from statistics import fmean

import numpy as np
from _command import main
from _data import TEST, binary_table, several_valued_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.counting.rows import View, peer_columns
from protocols.privacy.attack import read_copy
from protocols.simulation.two_party import (
    SIDES,
    HoldOut,
    accuracy,
    at_random,
    disguised_views,
    grow_hybrid,
    grow_plain,
    grow_randomized,
    random_split,
)
from protocols.terms import Growth

RECORDS = {"adult": 5_000, "mushroom": 8_124, "votes": 435}
EACH = "each"  # column has a coin of its own
GROUPS = ("1", "2", "4", EACH)
THETAS = ("9/20", "11/20", "3/5", "2/3", "3/4", "4/5")
SEVERAL = {"adult": ("4", "8"), "mushroom": ("4",), "votes": ("4",)}
"""Values per column at most; votes have three."""
WINDOWS = (1, 2, 3)
LEVELS: dict[str, Growth] = {"any": Growth(), "5": Growth(max_depth=5)}
MOST_GROUPS = 64


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    name, records, values = str(cell["data"]), int(cell["records"]), str(cell["values"])
    several = values != "2"
    table = several_valued_table(name, records, int(values), int(values)) if several else binary_table(name, records)
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    groups = MOST_GROUPS if cell["groups"] == EACH else int(cell["groups"])
    views = disguised_views(split, at_random(Fraction(cell["theta"]), groups, generator), generator)
    measured = reading(split, views)
    for levels, growth in LEVELS.items():
        trees = [
            ("plain", "", grow_plain(split, growth).tree),
            ("randomized", "", grow_randomized(split, views, growth)),
            *(("hybrid", str(omega), grow_hybrid(split, views, omega, growth).tree) for omega in WINDOWS),
        ]
        for method, omega, tree in trees:
            labels: Labels = {"quantity": "accuracy", "method": method, "omega": omega, "levels": levels}
            measured.append((labels, accuracy(tree, split)))
    return measured


def reading(split: HoldOut, views: tuple[View, View]) -> Measured:
    """Return the shares of records that the two receivers read, on average."""
    found: dict[str, list[float]] = {}
    for party, view in zip(SIDES, views, strict=True):
        columns = list(peer_columns(split.schema, party))
        truth, sent = split.train[:, columns], view.codes[:, columns]
        groups = tuple(tuple(columns.index(column) for column in group) for group in view.design.groups)
        read = read_copy(truth, sent, replace(view.design, sizes=tuple(split.sizes[c] for c in columns), groups=groups))
        _, repeated = np.unique(truth, axis=0, return_counts=True)
        for quantity, share in (
            ("whole records read", read.whole / read.records),
            ("records read for sure", read.sure / read.records),
            ("values read", read.cells / read.of),
            ("whole records as sent", float((truth == sent).all(axis=1).mean())),
            ("commonest record", float(repeated.max()) / len(truth)),
        ):
            found.setdefault(quantity, []).append(share)
    return [({"quantity": quantity}, fmean(shares)) for quantity, shares in found.items()]


def read(data: str) -> Panel:
    def where(line: Line) -> bool:
        return (line["data"], line["values"], line["quantity"]) == (data, "2", "whole records read")

    return Panel(f"{data}, read by the receiver", "theta", "mean", ("groups",), where, bars=True, y="whole records")


def reached(data: str) -> Panel:
    def where(line: Line) -> bool:
        kind = (line["data"], line["values"], line["quantity"], line.get("levels"), str(line.get("omega")))
        return kind == (data, "2", "accuracy", "5", "2")

    return Panel(f"{data}, hybrid, ω = 2, five levels", "theta", "mean", ("groups",), where, bars=True)


SWEEP = Sweep(
    name="question_shared_coins",
    seed=122,
    repetitions=5,
    cells=[
        *(
            cell
            for data, records in RECORDS.items()
            for cell in grid(data=[data], records=[records], values=["2"], groups=GROUPS, theta=THETAS)
        ),
        *(
            cell
            for data, records in RECORDS.items()
            for cell in grid(
                data=[data],
                records=[records],
                values=SEVERAL[data],
                groups=[EACH],
                theta=["3/5", "2/3", "3/4", "4/5", "5/6"],
            )
        ),
    ],
    measure=measure,
    quick=grid(data=["votes"], records=[RECORDS["votes"]], values=["2"], groups=["2", EACH], theta=["2/3"]),
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data) for panel in (read, reached) for data in RECORDS])

if __name__ == "__main__":
    main(FIGURE)
