"""Secret bits: known entropies, and what a response leaves of them."""

from fractions import Fraction
from itertools import product
from math import copysign, log2

import pytest

from protocols.errors import InputError
from protocols.privacy.entropy import (
    entropy_before,
    entropy_bits,
    entropy_left,
    group_coin_entropy,
    record_coin_entropy,
)
from protocols.privacy.entry import entry_of
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.related_question import RelatedDesign
from tests.protocols.privacy.designs import DESIGNS, certain, related, shares, skewed
from tests.support.declaration import joint_transition

BINARY = 0.45 * log2(1 / 0.45) + 0.55 * log2(1 / 0.55)


def test_entropies_of_even_chances_are_their_number_of_bits() -> None:
    assert entropy_bits(shares("1/2 1/2")) == 1
    assert entropy_bits(shares("1/8 " * 8)) == 3
    assert entropy_bits(shares("1/2 1/4 1/4 0")) == 1.5


def test_certainty_has_no_bits_and_no_sign() -> None:
    assert entropy_bits(certain(3)) == 0
    assert copysign(1, entropy_bits(certain(3))) == 1


def test_a_chance_too_small_for_a_float_has_no_weight() -> None:
    tiny = Fraction(1, 10**400)
    assert entropy_bits([tiny, 1 - tiny]) == 0


@pytest.mark.parametrize("design", [d for d in DESIGNS.values() if isinstance(d, RelatedDesign)], ids=repr)
def test_the_coin_of_a_related_question_is_all_that_hides_a_group(design: RelatedDesign) -> None:
    """Given the truth, the response has exactly the coin's entropy: response and coin determine each other."""
    for k, group in enumerate(design.groups):
        matrix = joint_transition(design, group)
        assert sum(design.coin_chances(k)) == 1
        for truth in range(len(cells([design.sizes[column] for column in group]))):
            assert entropy_bits(row[truth] for row in matrix) == pytest.approx(group_coin_entropy(design, k), abs=1e-12)


def test_a_record_holds_the_bits_of_its_groups_however_many_attributes() -> None:
    assert group_coin_entropy(related([2] * 12, [range(12)], "9/20"), 0) == pytest.approx(BINARY)
    assert record_coin_entropy(related([2] * 12, [range(6), range(6, 12)], "9/20")) == pytest.approx(2 * BINARY)
    assert record_coin_entropy(DESIGNS["no disguise"]) == 0


def test_a_coin_of_several_lies_has_its_truth_and_each_of_them() -> None:
    assert related([2, 4], [[0, 1]], "2/5").coin_chances(0) == shares("2/5 1/5 1/5 1/5")
    assert DESIGNS["one value"].coin_chances(0) == shares("9/20 11/20")
    assert related([1, 2], [[0], [1]], "9/20").coin_chances(0) == shares("1")


def test_the_coin_of_an_unrelated_question_is_truth_or_not() -> None:
    assert DESIGNS["unrelated, mixed"].coin_chances(1) == shares("9/10 1/10")
    assert group_coin_entropy(DESIGNS["Greenberg"], 0) == 1


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_what_a_response_leaves_is_the_joint_entropy_less_its_own(design: Design) -> None:
    """The chain rule `H(X | R) = H(X, R) - H(R)`, computed the other way round."""
    for column, size in enumerate(design.sizes):
        prior = skewed(size)
        entry = entry_of(design, column, prior)
        joint = [prior[x] * entry.matrix[r][x] for r, x in product(range(size), repeat=2)]
        assert entropy_left(entry) == pytest.approx(entropy_bits(joint) - entropy_bits(entry.responses), abs=1e-12)
        assert entropy_before(entry) == entropy_bits(prior)
        assert 0 <= entropy_left(entry) <= entropy_before(entry) + 1e-12


def test_what_is_never_sent_leaves_nothing() -> None:
    assert entropy_left(entry_of(DESIGNS["no disguise"], 1, shares("1/4 0 3/4"))) == 0


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(InputError, match="there is no group 1"):
        group_coin_entropy(DESIGNS["Warner"], 1)
