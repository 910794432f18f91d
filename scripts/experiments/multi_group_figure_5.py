#!/usr/bin/env python
"""Multi-group figure 5: mean (a) and variance (b) of the accuracy of trees from votes, in 1, 2 and 3 groups."""

from _command import main
from _multi_group import mean_and_variance

FIGURE = mean_and_variance("multi_group_figure_5", "votes")

if __name__ == "__main__":
    main(FIGURE)
