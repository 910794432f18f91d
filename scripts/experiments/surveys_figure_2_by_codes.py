#!/usr/bin/env python
"""Surveys figure 2 once more, from adult split by its codes, as question 4 found it."""

from _command import main
from _data import BY_CODES
from _surveys import figure_of

FIGURE = figure_of("surveys_figure_2_by_codes", BY_CODES, "mean")

if __name__ == "__main__":
    main(FIGURE)
