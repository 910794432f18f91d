#!/usr/bin/env python
"""Multi-group figure 6: accuracy of trees from adult against the number of groups and theta; the runs of figure 3."""

from _command import main
from _figure import Figure, Line, Panel, number
from _multi_group import sweep_of


def is_randomized(line: Line) -> bool:
    return line["method"] == "randomized"


def is_lower_half(line: Line) -> bool:
    return number(line, "theta") < 0.5


FIGURE = Figure(
    "multi_group_figure_6",
    sweep_of("adult"),
    [
        Panel("theta below 1/2", "groups", "mean", ("theta",), is_lower_half),
        Panel("theta above 1/2", "groups", "mean", ("theta",), lambda line: not is_lower_half(line)),
    ],
    is_randomized,
)

if __name__ == "__main__":
    main(FIGURE)
