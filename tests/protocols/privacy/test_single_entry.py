"""The single-entry measure: the definition, the closed form of DESIGN 10, and its known answers."""

from fractions import Fraction
from itertools import product

import pytest

from protocols.errors import InputError
from protocols.privacy.entry import Entry, entry_of
from protocols.privacy.single_entry import (
    after_mining,
    group_value,
    recoverability_known,
    recoverability_unknown,
    single_entry,
)
from protocols.randomized_response.design import Design
from tests.protocols.privacy.designs import DESIGNS, binary_unrelated, certain, shares, skewed, unrelated

HALF = Fraction(1, 2)


def closed_form(chance: Fraction, yes: Fraction, theta: Fraction) -> Fraction:
    """Return DESIGN 10's formula; not for the corners where nothing is uncertain, at which it is 0/0."""
    lie = 1 - theta
    a1, b1 = theta + lie * yes, lie * yes
    a0, b0 = theta + lie * (1 - yes), lie * (1 - yes)
    spread = 2 * chance * (1 - chance)
    one = spread * a1 * b1 / (a1 * chance + b1 * (1 - chance))
    return one + spread * a0 * b0 / (b0 * chance + a0 * (1 - chance))


@pytest.mark.parametrize(
    ("chance", "yes", "theta", "expected"),
    [
        ("1/2", "1/2", "0", "1/2"),
        ("1/2", "1/2", "3/10", "91/200"),
        ("1/2", "1/2", "1/2", "3/8"),
        ("1/2", "1/2", "4/5", "9/50"),
        ("1/2", "1/2", "1", "0"),
        ("1/10", "1/2", "0", "9/50"),
        ("1/10", "1/2", "3/10", "819/4712"),
        ("1/10", "1/2", "1/2", "9/56"),
        ("1/10", "1/2", "4/5", "9/82"),
        ("1/10", "1/2", "1", "0"),
        ("1/5", "3/10", "2/5", "3336/12025"),
    ],
)
def test_known_answers_of_design_10(chance: str, yes: str, theta: str, expected: str) -> None:
    prior = (1 - Fraction(chance), Fraction(chance))
    entry = Entry(prior, binary_unrelated(Fraction(theta), Fraction(yes)))
    assert single_entry(entry) == Fraction(expected)


def test_the_closed_forms_of_the_unrelated_question() -> None:
    for theta in ("0", "1/7", "1/2", "9/10", "1"):
        for chance, yes in product(shares("1/10 1/2 4/5"), shares("1/7 1/2 99/100")):
            entry = Entry((1 - chance, chance), binary_unrelated(Fraction(theta), yes))
            assert single_entry(entry) == closed_form(chance, yes, Fraction(theta))
    entry = entry_of(unrelated([[0]], "2/5", ["7/10 3/10"]), 0, shares("4/5 1/5"))
    assert single_entry(entry) == Fraction(3336, 12025)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_it_is_the_expected_chance_on_a_wrong_value(design: Design) -> None:
    for column, size in enumerate(design.sizes):
        prior = skewed(size)
        entry = entry_of(design, column, prior)
        wrong = Fraction(0)
        for truth, response in product(range(size), repeat=2):
            posterior = entry.posteriors[response]
            assert posterior is not None or not entry.matrix[response][truth]
            if posterior is not None:
                wrong += prior[truth] * entry.matrix[response][truth] * (1 - posterior[truth])
        assert single_entry(entry) == wrong
        assert 0 <= wrong <= 1 - sum(share**2 for share in prior)


def test_recoverability_by_hand() -> None:
    assert single_entry(entry_of(DESIGNS["Warner"], 0, certain(2))) == 0
    assert single_entry(entry_of(DESIGNS["partial disguise"], 1)) == 0
    # Surveys 4.2, scenario I: confidences 80, 60, 40 and 30 %, here with even preconditions.
    confidences = shares("4/5 3/5 2/5 3/10")
    assert recoverability_known([HALF] * 4, confidences) == Fraction(21, 20)
    preconditions, confidences = shares("1/5 1/5 4/5 4/5"), shares("9/10 1/10 1/3 2/3")
    assert recoverability_known(preconditions, confidences) == 1
    # Surveys 4.2, scenario II, with the guesses of Warner's design at an even prior: theta.
    entry = entry_of(DESIGNS["Warner"], 0)
    guesses = [posterior[value] for value, posterior in enumerate(entry.posteriors) if posterior is not None]
    assert guesses == [Fraction(9, 20)] * 2
    assert recoverability_unknown(shares("4/5 1/5"), guesses) == Fraction(9, 20)


def test_after_mining_is_the_difference_to_the_largest_recoverability() -> None:
    assert after_mining(Fraction(3, 8), shares("1/8 1/4 1/5")) == Fraction(1, 8)
    assert after_mining(Fraction(3, 8), [Fraction(0)]) == Fraction(3, 8)
    # The paper's own rules recover 21/20.
    assert after_mining(Fraction(3, 8), [Fraction(21, 20)]) == Fraction(-27, 40)
    assert group_value(shares("3/8 9/50 91/200")) == Fraction(9, 50)


@pytest.mark.parametrize("left", [(), shares("1/2"), shares("1/2 3/2"), shares("1/2 -1/2"), (HALF, 0.5)])
def test_recoverability_of_what_are_no_chances_is_refused(left: tuple[Fraction, ...]) -> None:
    for right in (shares("1/2 1/2") if left else (),):
        with pytest.raises(InputError, match="recoverability"):
            recoverability_known(left, right)
        with pytest.raises(InputError, match="recoverability"):
            recoverability_unknown(right, left)


@pytest.mark.parametrize("found", [(), shares("-1/2 1/2"), (float("nan"),)])
def test_after_mining_needs_a_recoverability(found: tuple[Fraction, ...]) -> None:
    with pytest.raises(InputError, match="at least one recoverability, each an exact fraction of 0 or more"):
        after_mining(HALF, found)


def test_after_mining_needs_a_privacy_that_is_a_chance() -> None:
    with pytest.raises(InputError, match="privacy before mining must hold exact fractions between 0 and 1"):
        after_mining(Fraction(3, 2), [HALF])


def test_a_group_without_entries_has_no_value() -> None:
    with pytest.raises(InputError, match="the privacy of a group needs at least one entry"):
        group_value([])
