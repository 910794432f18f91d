"""What a party is told that its check would see is what the check sees."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from protocols.counting.checks import Checks, Plausibility
from protocols.counting.estimated import Estimator
from protocols.counting.rows import View
from protocols.counts import Query
from protocols.errors import DeviationError
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import ROOT
from protocols.two_party.power import least_seen, least_seen_together
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

SCHEMA = schema_of((2, 2), 2, alice=1)
RECORDS = 4000
CODES = np.repeat(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=np.uint8), RECORDS // 4, axis=0)
QUERY = Query(ROOT, (1,), (2000.0, 2000.0))


@pytest.mark.parametrize("groups", [((1,),), ((1,), (2,))], ids=["one group", "two groups"])
def test_a_count_that_is_as_wrong_as_is_told_is_seen_and_a_true_one_is_not(groups: tuple[tuple[int, ...], ...]) -> None:
    """Of 15 runs none gives a false alarm (a chance of 10^-6 each), and none misses (the same)."""
    design = peer_design(SCHEMA, "alice", groups, Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, len(groups))
    assert least is not None
    wrong = int(least) + 1
    assert wrong < 1000
    for secret in range(15):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000, 1000, 1000, 1000])
        with pytest.raises(DeviationError):
            checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])


def test_what_is_told_is_no_looser_than_it_must_be() -> None:
    """The figure is no looser than it must be: at a quarter of it nothing is seen."""
    design = peer_design(SCHEMA, "alice", ((1,),), Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, 1)
    assert least is not None
    wrong = int(least / 4)
    for secret in range(15):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])
    near = RelatedDesign.of_odds((2, 2), ((0,), (1,)), Fraction(9, 20))
    assert least_seen(near, SCHEMA, 1000, 1) is None
    assert least_seen(near, SCHEMA, 10**6, 3) is None
    assert least_seen(RelatedDesign.of_odds((2, 2), (), Fraction(9, 20)), SCHEMA, 10**6, 1) is None
    one, two = (least_seen(near, SCHEMA, 10**6, groups) for groups in (1, 2))
    assert one is not None
    assert two is not None
    assert one < two


WIDE = schema_of((2,) * 12, 2, alice=12)  # Bob, who judges, holds the class
MANY = 4000
EVEN = np.random.default_rng(5).integers(0, 2, (MANY, 13)).astype(np.uint8)
EACH = tuple((column,) for column in range(12))


@cache
def wide_view(secret: int) -> View:
    return view_of(WIDE, "bob", EVEN, peer_design(WIDE, "bob", EACH, Fraction(9, 10)), secret)


def seen_together(wrong: int, secret: int) -> bool:
    """Tell every count of the root wrong by this many, with all sums as they are."""
    classes = np.bincount(EVEN[:, 12], minlength=2)
    query = Query(ROOT, tuple(range(12)), tuple(map(float, classes)))
    lie = wrong * np.array([[1, -1], [-1, 1]])
    tables = [
        np.histogram2d(EVEN[:, column], EVEN[:, 12], bins=(2, 2))[0].astype(int) + lie for column in query.candidates
    ]
    seen = wide_view(secret)
    try:
        Checks(WIDE, MANY, Plausibility(seen, Estimator(seen))).answers(
            [query], [int(count) for table in tables for count in table.ravel()]
        )
    except DeviationError:
        return True
    return False


def test_counts_that_are_all_as_wrong_as_is_told_are_seen_together_where_no_single_one_is() -> None:
    """Of 8 runs none gives a false alarm and none misses (a chance of 10^-6 each); a quarter of it is never seen."""
    design = peer_design(WIDE, "bob", EACH, Fraction(9, 10))
    together, single = least_seen_together(design, WIDE, "bob", MANY, 12), least_seen(design, WIDE, MANY, 1)
    assert together is not None
    assert single is not None
    wrong = int(together.wrong) + 1
    assert together.columns == 12
    assert wrong < single
    assert all(seen_together(wrong, secret) for secret in range(8))
    assert not any(seen_together(0, secret) for secret in range(8))
    assert not any(seen_together(wrong // 4, secret) for secret in range(8))


def test_more_columns_show_smaller_lies_and_what_cannot_be_is_not_claimed() -> None:
    design = peer_design(WIDE, "bob", EACH, Fraction(9, 10))
    least = [least_seen_together(design, WIDE, "bob", MANY, window) for window in (3, 12)]
    assert least[0] is not None
    assert least[1] is not None
    assert least[1].wrong < least[0].wrong
    assert least_seen_together(design, WIDE, "bob", 40, 12) is None
    assert least_seen_together(design, WIDE, "alice", MANY, 12) is None  # the peer has no column but the class
