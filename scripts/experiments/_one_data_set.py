"""Sweeps over one disguised data set: Du-Zhan 2003, Multi-group, Surveys.

As in the papers, the split into training and test records is drawn once per data set (and is part of the sweep's
chance), groups and coins again each repetition; test records are in the clear; the class is disguised with the group it
is in.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from _data import BY_CODES, TEST, binary_table, table_by_codes
from _figure import Labels, Measured, generator_of

from protocols.simulation.survey import (
    naive_bayes_accuracy,
    no_disguise,
    random_hold_out,
    related_question,
    tree_accuracy,
    unrelated_question,
)
from protocols.simulation.two_party import HoldOut

SPLIT_SEED = 2003


@cache
def split_of(name: str, records: int) -> HoldOut:
    chance = generator_of(SPLIT_SEED, {"data": "adult" if name == BY_CODES else name, "records": records}, 0)
    table = table_by_codes(records) if name == BY_CODES else binary_table(name, records)
    return random_hold_out(table, Fraction(TEST), chance)


def measure_tree(cell: Labels, generator: np.random.Generator) -> Measured:
    """Grow a tree on records disguised by the related question, beside one on the original records."""
    data = split_of(str(cell["data"]), int(cell["records"]))
    design = related_question(data, Fraction(cell["theta"]), int(cell["groups"]), generator)
    return [
        ({"method": "randomized"}, tree_accuracy(data, design, generator)),
        ({"method": "original"}, _original(tree_accuracy, data)),
        ({"method": "commonest class"}, _commonest(data)),
    ]


def measure_naive_bayes(cell: Labels, generator: np.random.Generator) -> Measured:
    """Learn naive Bayes from records disguised in one group by either question, beside one on the original records."""
    data, theta = split_of(str(cell["data"]), int(cell["records"])), Fraction(cell["theta"])
    is_related = cell["question"] == "related"
    design = related_question(data, theta, 1, generator) if is_related else unrelated_question(data, theta)
    return [
        ({"method": "randomized"}, naive_bayes_accuracy(data, design, generator)),
        ({"method": "original"}, _original(naive_bayes_accuracy, data)),
        ({"method": "commonest class"}, _commonest(data)),
    ]


@cache
def _original(learn: Callable[..., float], data: HoldOut) -> float:
    return learn(data, no_disguise(data), np.random.default_rng(0))  # nothing is drawn from it


@cache
def _commonest(data: HoldOut) -> float:
    """The accuracy of always guessing the class that most training records have."""
    commonest = np.bincount(data.train[:, -1]).argmax()
    return float((data.test[:, -1] == commonest).mean())
