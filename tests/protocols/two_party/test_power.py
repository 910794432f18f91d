"""What a party is told that its check would see is what the check sees."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.counting.checks import Checks, Plausibility
from protocols.counting.estimated import Estimator
from protocols.counts import Query
from protocols.errors import DeviationError
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables.expression import ROOT
from protocols.two_party.power import least_seen
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

SCHEMA = schema_of((2, 2), 2, alice=1)
RECORDS = 4000
CODES = np.repeat(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=np.uint8), RECORDS // 4, axis=0)
QUERY = Query(ROOT, (1,), (2000.0, 2000.0))


@pytest.mark.parametrize("groups", [((1,),), ((1,), (2,))], ids=["one group", "two groups"])
def test_a_count_that_is_as_wrong_as_is_told_is_seen_and_a_true_one_is_not(groups: tuple[tuple[int, ...], ...]) -> None:
    """Of 40 runs none gives a false alarm (a chance of 10^-6 each), and none misses (the same)."""
    design = peer_design(SCHEMA, "alice", groups, Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, len(groups))
    assert least is not None
    wrong = int(least) + 1
    assert wrong < 1000
    for secret in range(40):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000, 1000, 1000, 1000])
        with pytest.raises(DeviationError):
            checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])


def test_half_of_what_is_told_would_often_pass() -> None:
    """The figure is no looser than it must be: at a quarter of it nothing is seen."""
    design = peer_design(SCHEMA, "alice", ((1,),), Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, 1)
    assert least is not None
    wrong = int(least / 4)
    for secret in range(40):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])


def test_where_nothing_can_be_seen_nothing_is_claimed() -> None:
    near = RelatedDesign.of_contrast((2, 2), ((0,), (1,)), Fraction(9, 20))
    assert least_seen(near, SCHEMA, 1000, 1) is None
    assert least_seen(near, SCHEMA, 10**6, 3) is None
    assert least_seen(RelatedDesign.of_contrast((2, 2), (), Fraction(9, 20)), SCHEMA, 10**6, 1) is None
    one, two = (least_seen(near, SCHEMA, 10**6, groups) for groups in (1, 2))
    assert one is not None
    assert two is not None
    assert one < two
