"""A limit is a measure in the hand of who may choose it: what is told as nothing has a branch below it (DESIGN 14)."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np

from protocols.two_party import mined
from tests.support.parties import Case, make_terms, play

RECORDS = 200
BOBS = np.random.default_rng(10).integers(0, 2, (RECORDS, 2))


def case(held: int, min_leaf: int) -> Case:
    """Return the case in which Alice's column holds so many people, nearly all of one class."""
    people = np.arange(RECORDS)
    label = np.where(people < held, people % 20 == 0, people % 2)
    codes = np.column_stack([people < held, BOBS, label]).astype(np.uint8)
    terms = make_terms(
        method="randomized", omega=1, theta=Fraction(2, 3), min_leaf=min_leaf, max_depth=1, test=Fraction(0)
    )
    return Case({"alice": (2,), "bob": (2, 2)}, ("alice",), 2, codes, {"alice": 1, "bob": 1}, terms)


def splits(held: int, min_leaf: int) -> bool:
    """Tell whether the tree that Alice mines splits by her column."""
    return play(case(held, min_leaf))[0].tree.columns == {0}


@contextmanager
def exact_limits() -> Iterator[None]:
    """Compare branches with the limit as they are."""
    with patch.object(mined, "RoundedCounts", lambda counts, _: counts):
        yield


def measured(held: int) -> int:
    """Return the last limit that the branch passes, of as many runs as there are limits."""
    passed = [limit for limit in range(34, 42) if splits(held, limit)]
    assert passed == list(range(34, max(passed) + 1))
    return max(passed)


def test_runs_with_every_limit_would_read_a_count_of_a_mined_tree_and_read_it_as_rounded() -> None:
    """A mined count's step is four of two hundred people here: 37, 38 and 39 read the same."""
    with exact_limits():
        assert [measured(held) for held in (37, 38, 39)] == [37, 38, 39]
    assert len({measured(held) for held in (37, 38, 39)}) == 1
