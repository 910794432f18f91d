#!/usr/bin/env python
"""Review section 3.5: the standard error of a support against number of baskets, size of the set and breach level.

By formula, for cut-and-paste with the smallest rho that keeps the level; no set of 1, 2, 3 items is in more than 5 %,
1 %, 0.5 % of the baskets of a size, and the set is as frequent as that.
"""

from fractions import Fraction
from functools import partial
from math import sqrt

import numpy as np
from _baskets import CUTOFF, SIZES
from _command import main
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.association.breaches import smallest_rho, worst_shares
from protocols.association.operators import CutAndPaste
from protocols.association.support import variance

SUPPORTS = "1/20 1/100 1/200"
LEVELS = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8")
RECORDS = (10_000, 100_000, 1_000_000)


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    del generator  # there is no chance in it
    make, sigmas = partial(CutAndPaste, int(cell["m"]), CUTOFF), list(map(Fraction, SUPPORTS.split()))
    rho = smallest_rho(make, sigmas, Fraction(cell["level"]))
    measured: Measured = [({"quantity": "rho"}, float(rho))]
    for k in SIZES[: int(cell["m"])]:
        each = variance(make(rho), worst_shares(sigmas[:k]), 1)
        for records in RECORDS:
            labels: Labels = {"quantity": "standard error", "k": k, "records": records}
            measured.append((labels, sqrt(each / records)))
    return measured


def by_level(line: Line) -> bool:
    return line.get("records") == 100_000 and line["m"] == 5


def by_size(line: Line) -> bool:
    return line.get("records") == 100_000 and line["level"] == "0.5"


def by_records(line: Line) -> bool:
    return line["quantity"] == "standard error" and line["level"] == "0.5" and line["m"] == 5


SWEEP = Sweep(
    name="review_errors",
    seed=2002,
    repetitions=1,
    cells=grid(m=list(range(1, 11)), level=list(LEVELS)),
    measure=measure,
    quick=grid(m=[3], level=["0.5"]),
    constants={"cut-off": CUTOFF, "supports": SUPPORTS},
)
FIGURE = Figure(
    SWEEP.name,
    SWEEP,
    [
        Panel("baskets of 5, N = 100,000", "level", "mean", ("k",), by_level, y="standard error"),
        Panel("level 1/2, N = 100,000", "m", "mean", ("k",), by_size, y="standard error"),
        Panel("baskets of 5, level 1/2", "records", "mean", ("k",), by_records, y="standard error"),
    ],
)

if __name__ == "__main__":
    main(FIGURE)
