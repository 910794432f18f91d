#!/usr/bin/env python
"""Hybrid figure 4b: accuracy of the hybrid against the window on mushroom, 4 groups, to the end and of 5 levels."""

from _command import main
from _hybrid import against_window

FIGURE = against_window("hybrid_2007_figure_4b", "mushroom")

if __name__ == "__main__":
    main(FIGURE)
