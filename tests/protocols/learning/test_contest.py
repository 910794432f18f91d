"""What each side brings to a comparison of classes says together what the whole model says of the row."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.learning.contest import Contest
from protocols.learning.naive_bayes import NaiveBayes
from protocols.tables import Rows
from tests.support.models import bayes_models, bayes_of

ELSEWHERE = -9


def rows_of(data: st.DataObject, model: NaiveBayes) -> Rows:
    """Draw rows, cells of no value among them."""
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    return np.array(data.draw(st.lists(row, min_size=1, max_size=8)), dtype=np.int16)


@given(bayes_models(), st.data())
def test_numbers_of_both_sides_compare_as_scores_do_each_from_its_own_columns(
    model: NaiveBayes, data: st.DataObject
) -> None:
    codes = rows_of(data, model)
    contest = Contest(model, "alice")
    own = np.array([attribute.party == "alice" for attribute in model.schema.attributes])
    bits = contest.bits(np.where(own, codes, ELSEWHERE))
    asked = (bits * (1 << np.arange(contest.width)[::-1])).sum(axis=2)
    answered = contest.thresholds(np.where(own, ELSEWHERE, codes))
    assert (answered < 1 << contest.width).all()
    order = np.tile(np.arange(len(contest.classes)), (len(codes), 1))
    pairs, straight = contest.places(order)
    assert straight.all()
    beaten = np.zeros((len(codes), len(contest.classes)), dtype=bool)
    for pair in range(contest.pairs):
        first, second = [(i, j) for i in range(len(contest.classes)) for j in range(i + 1, len(contest.classes))][pair]
        second_wins = asked[:, pair] < answered[:, pair]
        assert (second_wins == ~(asked[:, pair] > answered[:, pair] - 1)).all()
        beaten[:, first] |= second_wins
        beaten[:, second] |= ~second_wins
    assert (beaten.sum(axis=1) == len(contest.classes) - 1).all()
    assert contest.classes[beaten.argmin(axis=1)].tolist() == model.predict(codes).tolist()
    assert pairs.shape == (len(codes), contest.pairs)


def test_each_pair_of_places_has_its_classes(three_classes: NaiveBayes) -> None:
    contest = Contest(three_classes, "alice")
    named = [(0, 1), (0, 2), (1, 2)]
    for order in permutations(range(3)):
        (pairs,), (straight,) = contest.places(np.array([order]))
        for place, (left, right) in enumerate(named):
            first, second = named[pairs[place]]
            expected = (order[left], order[right])
            assert expected == ((first, second) if straight[place] else (second, first))
    table = three_classes.conditional[0].copy()
    table[0, 0] = -np.inf
    impossible = NaiveBayes(three_classes.schema, three_classes.prior, (table, *three_classes.conditional[1:]))
    with pytest.raises(InputError, match="impossible"):
        Contest(impossible, "alice")


@pytest.fixture
def three_classes() -> NaiveBayes:
    return bayes_of((2, 3), 3, seed=1)
