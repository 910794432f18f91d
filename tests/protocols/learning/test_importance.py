"""Shares of the decrease of impurity, against numbers that were worked out by hand."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given

from protocols.learning.impurity import importances
from protocols.learning.tree import Tree
from protocols.terms import Growth, Impurity
from tests.support.models import models, small_model


def _bits(*counts: int) -> float:
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c)


def test_each_split_counts_by_its_records_and_its_decrease() -> None:
    root = 16 * _bits(7, 9) - 8 * _bits(5, 3) - 7 * _bits(1, 6)
    decreases = np.array([root, 8 * _bits(5, 3), 7 * _bits(1, 6)])
    assert importances(small_model()) == pytest.approx(decreases / decreases.sum())
    tree = small_model()

    def by(impurity: Impurity) -> Tree:
        return replace(tree, growth=replace(Growth(), impurity=impurity))

    root = 16 * 2 * 7 * 9 / 256 - 8 * 2 * 15 / 64 - 7 * 2 * 6 / 49
    decreases = np.array([root, 8 * 2 * 15 / 64, 7 * 2 * 6 / 49])
    assert importances(by(Impurity.GINI)) == pytest.approx(decreases / decreases.sum())
    assert importances(by(Impurity.GAIN_RATIO)) == pytest.approx(importances(tree))


@given(models())
def test_shares_are_of_one_whole_or_of_nothing_and_of_split_attributes_alone(tree: Tree) -> None:
    shares = importances(tree)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1) or shares.sum() == 0
    assert {k for k, share in enumerate(shares) if share > 0} <= tree.columns
