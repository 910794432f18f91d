#!/usr/bin/env python
"""Hybrid, omitted from the paper for want of space: all methods against theta on tic-tac-toe."""

from _command import main
from _hybrid import methods_against_theta

FIGURE = methods_against_theta("hybrid_2007_tic_tac_toe_a", "tic-tac-toe")

if __name__ == "__main__":
    main(FIGURE)
