#!/usr/bin/env python
"""Surveys figure 4: variance of the accuracy of naive Bayes from adult; the same runs as figure 2."""

from _command import main
from _surveys import figure_of

FIGURE = figure_of("surveys_figure_4", "adult", "variance")

if __name__ == "__main__":
    main(FIGURE)
