#!/usr/bin/env python
"""Surveys figure 3: mean of the accuracy of naive Bayes from breast-cancer; the same runs as figure 5."""

from _command import main
from _surveys import figure_of

FIGURE = figure_of("surveys_figure_3", "breast-cancer", "mean")

if __name__ == "__main__":
    main(FIGURE)
