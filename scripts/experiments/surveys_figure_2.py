#!/usr/bin/env python
"""Surveys figure 2: mean of the accuracy of naive Bayes from adult; the same runs as figure 4."""

from _command import main
from _surveys import figure_of

FIGURE = figure_of("surveys_figure_2", "adult", "mean")

if __name__ == "__main__":
    main(FIGURE)
