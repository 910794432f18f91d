#!/usr/bin/env python
"""Hybrid figure 3a: accuracy of all methods against theta on adult, 1 and 4 groups, omega = 1 to 3."""

from _command import main
from _hybrid import methods_against_theta

FIGURE = methods_against_theta("hybrid_2007_figure_3a", "adult")

if __name__ == "__main__":
    main(FIGURE)
