#!/usr/bin/env python
"""Surveys figure 7 once more, from adult split by its codes, as question 4 found it."""

from _command import main
from _data import BY_CODES
from _surveys import both_questions

FIGURE = both_questions("surveys_figure_7_by_codes", BY_CODES)

if __name__ == "__main__":
    main(FIGURE)
