#!/usr/bin/env python
"""Multi-group figure 3: mean (a) and variance (b) of the accuracy of trees from adult, in 1, 2 and 3 groups."""

from _command import main
from _multi_group import mean_and_variance

FIGURE = mean_and_variance("multi_group_figure_3", "adult")

if __name__ == "__main__":
    main(FIGURE)
