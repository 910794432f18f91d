"""What absent items, sizes and all knowledge make of a randomized transaction, by brute force."""

from fractions import Fraction
from itertools import combinations

import pytest

from protocols.association.disclosure import absent_belief, likelihood_ratio, size_beliefs
from protocols.association.operators import CutAndPaste, Operator, SelectASize
from protocols.errors import InputError
from tests.support.transactions import OPERATORS, every_form, fractions, label

FILLED = [(operator, universe) for operator, universe in OPERATORS if operator.size]


@pytest.mark.parametrize(("operator", "universe"), FILLED, ids=label)
def test_an_absent_item_and_a_size_tell_what_bayes_says(operator: Operator, universe: int) -> None:
    """All transactions of the size are equally likely, so each item has the support `m/n`."""
    every = list(combinations(range(universe), operator.size))
    support = Fraction(operator.size, universe)
    forms = [(t, sent, p / len(every)) for t in every for sent, p in every_form(operator, t, universe).items()]
    hidden = sum(p for _, sent, p in forms if 0 not in sent)
    own = sum(p for t, sent, p in forms if 0 not in sent and 0 in t)
    assert absent_belief(operator, support) == (own / hidden if hidden else None)
    told = {belief.shown: belief for belief in size_beliefs(operator, support, universe)}
    for z in range(universe + 1):
        here = [(t, sent, p) for t, sent, p in forms if len(sent) == z]
        shown = sum(p for _, sent, p in here if 0 in sent)
        if not shown:
            assert z not in told
            continue
        assert told[z].chance == float(sum(p for *_, p in here))
        assert told[z].belief == float(sum(p for t, sent, p in here if 0 in sent and 0 in t) / shown)


@pytest.mark.parametrize(("operator", "universe"), OPERATORS, ids=label)
def test_the_largest_ratio_is_that_of_all_responses_to_all_transactions(operator: Operator, universe: int) -> None:
    forms = [every_form(operator, t, universe) for t in combinations(range(universe), operator.size)]
    responses = {sent for form in forms for sent in form}
    chances = [[form.get(sent, Fraction(0)) for form in forms] for sent in responses]
    finite = all(all(row) for row in chances)
    assert likelihood_ratio(operator, universe) == (max(max(row) / min(row) for row in chances) if finite else None)


def test_a_large_universe_is_no_trouble() -> None:
    operator = CutAndPaste(10, 7, Fraction(81, 1000))
    assert likelihood_ratio(operator, 1000) == likelihood_ratio(operator, 20)
    beliefs = size_beliefs(operator, Fraction(1, 20), 870)
    assert sum(belief.chance for belief in beliefs) == pytest.approx(1)
    assert beliefs[0].belief > beliefs[-1].belief


def test_supports_that_are_none_and_empty_transactions_are_refused() -> None:
    with pytest.raises(InputError, match="support must be between 0 and 1"):
        absent_belief(CutAndPaste(1, 1, Fraction(1, 5)), Fraction(3, 2))
    with pytest.raises(InputError, match="empty transactions hold no item"):
        size_beliefs(SelectASize(0, fractions("1"), Fraction(1, 5)), Fraction(1, 2), 3)
