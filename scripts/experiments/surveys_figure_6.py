#!/usr/bin/env python
"""Surveys figure 6: privacy of a single entry before mining against theta and W_a, at W_y = 1/2: no chance in it."""

from fractions import Fraction

import numpy as np
from _command import main
from _figure import Figure, Labels, Measured, Panel, Sweep, grid

from protocols.privacy.entry import Entry
from protocols.privacy.single_entry import single_entry

THETAS = ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1")
SHARES = ("0.1", "0.2", "0.3", "0.4", "0.5")
PERSONAL = (Fraction(1, 2), Fraction(1, 2))


def measure(cell: Labels, _: np.random.Generator) -> Measured:
    theta, share = Fraction(cell["theta"]), Fraction(cell["W_a"])
    truth, lie = theta + (1 - theta) * PERSONAL[0], (1 - theta) * PERSONAL[1]
    entry = Entry((1 - share, share), ((truth, lie), (lie, truth)))
    return [({}, float(single_entry(entry)))]


SWEEP = Sweep(
    name="surveys_figure_6",
    seed=2005,
    repetitions=1,
    cells=grid(W_a=SHARES, theta=THETAS),
    measure=measure,
    quick=grid(W_a=["0.5"], theta=THETAS),
)
FIGURE = Figure(SWEEP.name, SWEEP, [Panel("single entry", "theta", "mean", ("W_a",), y="privacy")])

if __name__ == "__main__":
    main(FIGURE)
