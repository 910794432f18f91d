#!/usr/bin/env python
"""Surveys figure 5: variance of the accuracy of naive Bayes from breast-cancer; the same runs as figure 3."""

from _command import main
from _surveys import figure_of

FIGURE = figure_of("surveys_figure_5", "breast-cancer", "variance")

if __name__ == "__main__":
    main(FIGURE)
