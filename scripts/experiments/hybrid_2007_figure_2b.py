#!/usr/bin/env python
"""Hybrid figure 2b: accuracy of randomization alone against theta on adult, 1 to 4 groups; the runs of figure 3a."""

from _command import main
from _figure import Figure, Line, Panel
from _hybrid import against_theta


def is_randomized(line: Line) -> bool:
    return line["method"] == "randomized"


FIGURE = Figure(
    "hybrid_2007_figure_2b",
    against_theta("adult"),
    [Panel("adult, randomized", "theta", "mean", ("groups",), bars=True)],
    is_randomized,
)

if __name__ == "__main__":
    main(FIGURE)
