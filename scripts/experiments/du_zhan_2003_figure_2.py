#!/usr/bin/env python
"""Du-Zhan 2003 figure 2: mean (a) and variance (b) of the accuracy of trees from adult, disguised in one group."""

from _command import main
from _data import QUICK_RECORDS, RECORDS, THETAS
from _figure import Figure, Panel, Sweep, grid
from _one_data_set import measure_tree

SWEEP = Sweep(
    name="du_zhan_2003_figure_2",
    seed=20030824,
    repetitions=50,
    cells=grid(data=["adult"], records=[RECORDS["adult"]], groups=[1], theta=THETAS),
    measure=measure_tree,
    quick=grid(data=["adult"], records=[QUICK_RECORDS["adult"]], groups=[1], theta=["0.4", "1.0"]),
)
FIGURE = Figure(
    SWEEP.name,
    SWEEP,
    [Panel("(a) mean", "theta", "mean", ("method",)), Panel("(b) variance", "theta", "variance", ("method",))],
)

if __name__ == "__main__":
    main(FIGURE)
