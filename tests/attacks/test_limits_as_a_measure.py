"""A limit is a measure in the hand of who may choose it: a tree shows whether a branch has as many records."""

from fractions import Fraction

import numpy as np

from tests.support.parties import Case, make_terms, play

RECORDS = 200
BOBS = np.random.default_rng(10).integers(0, 2, (RECORDS, 2))


def splits(held: int, min_leaf: int) -> bool:
    """Tell whether the tree that Alice mines splits by her column, which holds this many people."""
    people = np.arange(RECORDS)
    label = np.where(people < held, people % 20 == 0, people % 2)
    codes = np.column_stack([people < held, BOBS, label]).astype(np.uint8)
    terms = make_terms(
        method="randomized", theta=Fraction(2, 3), min_leaf=min_leaf, max_depth=1, test=Fraction(0), reveal="tree"
    )
    case = Case({"alice": (2,), "bob": (2, 2)}, ("alice",), 2, codes, {"alice": 1, "bob": 1}, terms)
    return play(case)[0].tree.columns == {0}


def test_each_run_with_another_limit_shows_by_one_bit_how_many_records_a_branch_of_a_mined_tree_has() -> None:
    """Eight runs read the number among as many; `[agree] most_runs` is 1."""
    for held in (37, 38, 39):
        assert [limit for limit in range(34, 42) if splits(held, limit)] == list(range(34, held + 1))
