"""Sets that are more frequent than a design assumes, held against counting every set of every size."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.association.findings import Exceeding, find_exceeding
from protocols.association.transactions import Transactions
from tests.support.examples import at_most

UNIVERSE = 6
BASKETS = st.lists(st.sets(st.integers(0, UNIVERSE - 1), max_size=4), min_size=1, max_size=8)
SUPPORTS = st.lists(st.sampled_from([Fraction(n, 8) for n in range(9)]), min_size=1, max_size=3)


def counted(baskets: list[set[int]], supports: list[Fraction]) -> dict[tuple[int, ...], float]:
    """Return every set that exceeds, and how many times the assumed support its largest share is."""
    found: dict[tuple[int, ...], float] = {}
    for size in {len(basket) for basket in baskets}:
        same = [basket for basket in baskets if len(basket) == size]
        for k, support in enumerate(supports, start=1):
            expected, spread = len(same) * float(support), sqrt(len(same) * float(support * (1 - support)))
            for items in combinations(range(UNIVERSE), k):
                holders = sum(basket.issuperset(items) for basket in same)
                if holders >= 10 and holders > expected + 3 * spread:
                    excess = holders / len(same) / float(support) if support else float("inf")
                    found[items] = max(found.get(items, 0), excess)
    return found


@settings(max_examples=at_most(60))
@given(BASKETS, SUPPORTS, st.integers(1, 60))
def test_every_set_that_exceeds_is_found_and_no_other(
    kinds: list[set[int]], supports: list[Fraction], times: int
) -> None:
    baskets = kinds * times
    found = find_exceeding(Transactions.of(baskets, UNIVERSE), supports)
    assert {each.items: each.excess for each in found} == counted(baskets, supports)
    assert [each.excess for each in found] == sorted((each.excess for each in found), reverse=True)


def test_every_set_that_exceeds_is_found_and_no_other_and_none_where_nothing_is_assumed() -> None:
    baskets = [{0, 1}] * 50 + [{2, 3}] * 50 + [{0}] * 9
    found = find_exceeding(Transactions.of(baskets, 4), [Fraction(1, 2), Fraction(1, 10)])
    assert found[0] == Exceeding((0, 1), 2, 50, 100, Fraction(1, 10))
    assert [each.items for each in found] == [(0, 1), (2, 3)]
    assert find_exceeding(Transactions.of([{0}] * 100, 1), []) == ()
    assert find_exceeding(Transactions.of([], 1), [Fraction(1, 10)]) == ()
