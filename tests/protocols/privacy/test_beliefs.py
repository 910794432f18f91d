"""Breach levels and rises of belief, by enumeration."""

from fractions import Fraction
from itertools import product

import pytest

from protocols.errors import InputError
from protocols.privacy.beliefs import Breach, Rise, breach, largest_rise, repeated, repeated_level
from protocols.privacy.entry import Entry, entry_of
from protocols.randomized_response.design import Design
from tests.protocols.privacy.designs import DESIGNS, certain, related, shares, skewed

WARNER = related([2], [[0]], "7/10")


def test_the_breach_level_of_warner_at_an_even_prior_is_theta() -> None:
    assert breach(entry_of(WARNER, 0)) == Breach(Fraction(7, 10), ((0, 0), (1, 1)))


def test_a_strong_belief_is_a_breach_but_no_rise() -> None:
    entry = entry_of(WARNER, 0, shares("1/10 9/10"))
    assert breach(entry) == Breach(Fraction(21, 22), ((1, 1),))
    assert largest_rise(entry) == Rise(0, 0, Fraction(1, 10), Fraction(7, 34))


def test_of_equal_rises_the_first_is_told() -> None:
    assert largest_rise(entry_of(WARNER, 0)) == Rise(0, 0, Fraction(1, 2), Fraction(7, 10))


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_breach_and_rise_are_the_largest_over_all_responses_and_values(design: Design) -> None:
    for column, size in enumerate(design.sizes):
        for prior in (skewed(size), certain(size)):
            entry = entry_of(design, column, prior)
            after = {
                (response, value): posterior[value]
                for response, posterior in enumerate(entry.posteriors)
                if posterior is not None
                for value in range(size)
            }
            found = breach(entry)
            assert found.level == max(after.values())
            assert set(found.where) == {place for place, chance in after.items() if chance == found.level}
            rise = largest_rise(entry)
            assert rise.after == after[rise.response, rise.value]
            assert rise.before == prior[rise.value]
            assert rise.after - rise.before == max(chance - prior[value] for (_, value), chance in after.items())


def test_the_same_response_twice_squares_its_odds() -> None:
    assert repeated_level(entry_of(WARNER, 0), 2) == Fraction(49, 58)
    assert repeated_level(entry_of(WARNER, 0), 1) == Fraction(7, 10)


def test_a_majority_over_21_copies_knows_nearly_all() -> None:
    """DESIGN 4.6: at theta = 0.7 it is wrong in 2.6 % of cases only; where all copies agree, in hardly any."""
    assert 1 - repeated_level(entry_of(WARNER, 0), 21) < Fraction(1, 10**7)


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_repeated_responses_are_independent_given_the_truth(design: Design, times: int) -> None:
    for column, size in enumerate(design.sizes):
        prior = skewed(size)
        entry = entry_of(design, column, prior)
        many = repeated(entry, times)
        assert len(many.matrix) == size + 1
        for response in range(size):
            joint = [Fraction(0)] * size
            for sent in product(range(size), repeat=times):
                if set(sent) == {response}:
                    for truth in range(size):
                        share = prior[truth]
                        for each in sent:
                            share *= entry.matrix[each][truth]
                        joint[truth] += share
            assert many.joint[response] == tuple(joint)
        given = [posterior for posterior in many.posteriors[:size] if posterior is not None]
        assert repeated_level(entry, times) == max(map(max, given))


def test_the_rest_of_repeated_responses_does_not_count_as_one() -> None:
    """Where two copies disagree the truth may be certain; they are then no same response twice."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    entry = Entry((half, half), ((half, Fraction(0)), (half, quarter), (Fraction(0), 3 * quarter)))
    assert repeated(entry, 2).matrix == (
        (quarter, Fraction(0)),
        (quarter, Fraction(1, 16)),
        (Fraction(0), Fraction(9, 16)),
        (half, Fraction(3, 8)),
    )


def test_no_response_is_given_no_times() -> None:
    with pytest.raises(InputError, match="a response is given once or more"):
        repeated(entry_of(WARNER, 0), 0)
