#!/usr/bin/env python
"""Hybrid, omitted from the paper for want of space: the hybrid against the window on tic-tac-toe."""

from _command import main
from _hybrid import against_window

FIGURE = against_window("hybrid_2007_tic_tac_toe_b", "tic-tac-toe")

if __name__ == "__main__":
    main(FIGURE)
