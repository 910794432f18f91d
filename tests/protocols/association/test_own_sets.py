"""Which sets of its own items a party uses: found by brute force too, and without the memory of all candidates."""

import tracemalloc
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.association.own_sets import TermSet, find_own_sets
from protocols.tables import Codes, Expression, Term


def brute_force(codes: Codes, items: list[Term], least: int, smallest: int, max_len: int) -> dict[TermSet, int]:
    """Return the sets that are used, every two compared record by record."""
    used: dict[TermSet, NDArray[np.bool_]] = {}
    for length in range(1, max_len + 1):
        for terms in combinations(items, length):
            parts = combinations(terms, length - 1) if length > 1 else ()
            if len({term.column for term in terms}) < length or not all(part in used for part in parts):
                continue
            having = Expression(terms).satisfied_by(codes)
            others = [np.zeros(len(codes), dtype=np.bool_), *used.values()]
            apart = [int((having != each).sum()) for other in others for each in (other, ~other)]
            if having.sum() >= least and all(number == 0 or number >= smallest for number in apart):
                used[terms] = having
    return {terms: int(having.sum()) for terms, having in used.items()}


@st.composite
def tables(draw: st.DrawFn) -> Codes:
    row = st.lists(st.integers(0, 2), min_size=3, max_size=3)
    rows = draw(st.lists(row, min_size=1, max_size=24))
    return np.array(rows, dtype=np.uint8)


@given(codes=tables(), least=st.integers(1, 4), smallest=st.integers(2, 6))
def test_no_two_of_the_sets_that_are_used_differ_in_few_records_nor_do_their_complements(
    codes: Codes, least: int, smallest: int
) -> None:
    items = [Term(column, value) for column in range(codes.shape[1]) for value in range(3)]
    found = find_own_sets(codes, items, least, (3, smallest), 10_000)
    assert {each.terms: each.count for each in found.sets} == brute_force(codes, items, least, smallest, 3)
    assert found.complete


def test_candidates_are_looked_at_one_by_one_and_never_held_all_together() -> None:
    codes = np.ones((80_000, 200), dtype=np.uint8)
    items = [Term(column, 1) for column in range(200)]
    tracemalloc.start()
    try:
        found = find_own_sets(codes, items, 1, (2, 1), 250)  # of 19,900 pairs, 10 kB each
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(found.sets), found.complete) == (250, False)
    assert peak < 50e6
