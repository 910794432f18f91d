"""Cuts and groups by the class are those of plain implementations; what a column says by chance is as calculated."""

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.learning.grouping import alike_groups, class_cuts, column_worth
from tests.support.examples import at_most

Pair = tuple[int, int]
"""A number and a class."""
CLOSE = 1e-9
TABLES = st.integers(2, 4).flatmap(
    lambda classes: st.lists(
        st.lists(st.integers(0, 12), min_size=classes, max_size=classes).filter(any), min_size=1, max_size=12
    )
)


def plain_bits(records: Sequence[Pair]) -> float:
    """Return the entropy of the class."""
    held = Counter(label for _, label in records)
    return -sum(n / len(records) * log2(n / len(records)) for n in held.values())


def plain_cuts(records: Sequence[Pair], smallest: int) -> list[int]:
    """Return the largest number below each cut, by the recursion as the paper writes it."""
    best, found = -1.0, None
    for cut in sorted({value for value, _ in records})[:-1]:
        low, high = ([each for each in records if (each[0] <= cut) == below] for below in (True, False))
        if min(len(low), len(high)) < smallest:
            continue
        mean = (len(low) * plain_bits(low) + len(high) * plain_bits(high)) / len(records)
        if plain_bits(records) - mean > best + CLOSE:
            best, found = plain_bits(records) - mean, (cut, low, high)
    if found is None:
        return []
    cut, low, high = found
    k, k1, k2 = (len({label for _, label in part}) for part in (records, low, high))
    delta = log2(3**k - 2) - (k * plain_bits(records) - k1 * plain_bits(low) - k2 * plain_bits(high))
    if best <= log2(len(records) - 1) / len(records) + delta / len(records) + CLOSE:
        return []
    return [*plain_cuts(low, smallest), cut, *plain_cuts(high, smallest)]


def records_of(table: Sequence[Sequence[int]]) -> list[Pair]:
    return [(value, label) for value, row in enumerate(table) for label, n in enumerate(row) for _ in range(n)]


@settings(max_examples=at_most(300))
@given(TABLES, st.integers(1, 9))
def test_cuts_are_those_of_the_recursion_as_the_paper_writes_it(table: list[list[int]], smallest: int) -> None:
    assert [cut - 1 for cut in class_cuts(table, smallest)] == plain_cuts(records_of(table), smallest)


def test_cuts_of_iris_are_those_that_are_published() -> None:
    """As the R package `discretization` has them for `mdlp(iris)`; scikit-learn has the data, and is not imported."""
    (place,) = find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr, misc]
    iris = np.loadtxt(Path(place) / "datasets/data/iris.csv", delimiter=",", skiprows=1)
    label, found = iris[:, -1].astype(int), []
    for column in iris[:, :-1].T:
        values, places = np.unique(column, return_inverse=True)
        table = np.bincount(places * 3 + label, minlength=3 * len(values)).reshape(-1, 3)
        found.append([round(float(values[cut - 1] + values[cut]) / 2, 3) for cut in class_cuts(table)])
    assert found == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


@settings(max_examples=at_most(200))
@given(TABLES, st.integers(1, 5), st.booleans())
def test_groups_are_those_of_merging_the_pair_that_loses_least(
    table: list[list[int]], most: int, neighbours: bool
) -> None:
    groups = [[value] for value in range(len(table))]

    def size(group: Sequence[int]) -> float:
        records = [each for each in records_of(table) if each[0] in group]
        return len(records) * plain_bits(records)

    while len(groups) > most:
        pairs = (
            list(combinations(range(len(groups)), 2))
            if not neighbours
            else [(i, i + 1) for i in range(len(groups) - 1)]
        )
        lost = [size(groups[i] + groups[j]) - size(groups[i]) - size(groups[j]) for i, j in pairs]
        i, j = next(pair for pair, each in zip(pairs, lost, strict=True) if each <= min(lost) + CLOSE)
        groups[i] += groups.pop(j)
    assert [list(group) for group in alike_groups(table, most, neighbours=neighbours)] == [
        sorted(each) for each in groups
    ]


def test_groups_of_like_shares_keep_all_that_their_values_say() -> None:
    table = [[90, 10], [10, 90], [9, 1], [50, 50], [2, 18]]
    assert alike_groups(table, 3) == [(0, 2), (1, 4), (3,)]
    merged = [np.sum([table[value] for value in group], axis=0) for group in alike_groups(table, 3)]
    assert column_worth(merged).gain == pytest.approx(column_worth(table).gain)
    assert column_worth(merged).by_chance == column_worth(table).by_chance / 2


def test_what_a_column_says_is_compared_with_what_one_that_says_nothing_does() -> None:
    """Of 400 columns that say nothing the mean gain is the calculated one, and few pass.

    Both are within four standard deviations: a chi-square of 4 degrees passes 9.66 in 19 of 400; the seed is fixed.
    """
    rng = np.random.default_rng(5)
    found = [
        column_worth(np.bincount(rng.integers(0, 5, 2000) * 2 + rng.integers(0, 2, 2000), minlength=10).reshape(5, 2))
        for _ in range(400)
    ]
    gains = np.array([each.gain for each in found])
    assert abs(gains.mean() - found[0].by_chance) < 4 * gains.std() / 20
    assert sum(not each.mostly_chance for each in found) <= 36
    noise = np.bincount(rng.integers(0, 40, 2000) * 2 + rng.integers(0, 2, 2000), minlength=80).reshape(40, 2)
    groups = np.array([noise[list(group)].sum(axis=0) for group in alike_groups(noise, 5)])
    assert not column_worth(groups).mostly_chance  # the control: who forgets that the class chose them is misled
    assert column_worth(groups, 40).mostly_chance
    telling = column_worth([[300, 100], [100, 300]])
    assert telling.gain == telling.share == pytest.approx(1 - (0.25 * 2 + 0.75 * log2(4 / 3)))
    assert not telling.mostly_chance
    few = rng.integers(0, 2, 60)  # of sixty records forty values "tell" most of the class
    many = column_worth(np.bincount(np.arange(60) % 40 * 2 + few, minlength=80).reshape(40, 2))
    assert many.share > 0.5
    assert many.mostly_chance
    assert column_worth([[5, 5]]).gain == column_worth([[5, 0], [5, 0]]).share == 0
