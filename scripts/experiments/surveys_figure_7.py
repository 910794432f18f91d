#!/usr/bin/env python
"""Surveys figure 7: naive Bayes from adult by both questions near theta = 1/2, which the related one refuses."""

from _command import main
from _surveys import both_questions

FIGURE = both_questions("surveys_figure_7", "adult")

if __name__ == "__main__":
    main(FIGURE)
