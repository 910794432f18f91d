"""Epsilon, against the worst ratio in the written-out transition matrix."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import inf, log

import pytest

from protocols.errors import InputError
from protocols.privacy.loss import attribute_loss, group_loss, known_answers_loss, ratio_loss, record_loss
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from tests.protocols.privacy.designs import DESIGNS, related, unrelated
from tests.support.declaration import joint_transition


def worst_ratio(design: Design, columns: Sequence[int]) -> float:
    """Return the logarithm of the worst ratio of two chances of one response, by the definition."""
    possible = [[chance for chance in row if chance] for row in joint_transition(design, columns)]
    if any(0 < len(row) < len(joint_transition(design, columns)) for row in possible):
        return inf
    return log(max(max(row) / min(row) for row in possible if row))


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_losses_are_the_worst_ratios_of_the_declared_chances(design: Design) -> None:
    for column in range(len(design.sizes)):
        assert attribute_loss(design, column) == pytest.approx(worst_ratio(design, [column]), rel=1e-12)
    for k, group in enumerate(design.groups):
        assert group_loss(design, k) == pytest.approx(worst_ratio(design, group), rel=1e-12)
    assert record_loss(design) == pytest.approx(worst_ratio(design, range(len(design.sizes))), rel=1e-12)


def test_one_attribute_alone_loses_the_log_of_theta_over_q() -> None:
    """DESIGN 10: `ln(theta/q)`, `q` the chance of one lie."""
    design = related([5], [[0]], "3/5")
    assert attribute_loss(design, 0) == group_loss(design, 0) == record_loss(design) == pytest.approx(log(6))


def test_a_related_group_of_several_loses_all_although_each_alone_does_not() -> None:
    design = related([2, 2], [[0, 1]], "9/20")
    assert attribute_loss(design, 0) == pytest.approx(log(11 / 9))
    assert group_loss(design, 0) == record_loss(design) == inf


def test_groups_of_one_add_up() -> None:
    assert record_loss(related([2, 2, 2], [[0], [1], [2]], "9/20")) == pytest.approx(3 * log(11 / 9))


def test_a_plain_column_makes_the_record_infinite_unless_it_has_one_value() -> None:
    assert attribute_loss(related([2, 3], [[0]], "9/20"), 1) == inf
    assert record_loss(related([2, 3], [[0]], "9/20")) == inf
    assert attribute_loss(related([2, 1], [[0]], "9/20"), 1) == 0
    assert record_loss(related([2, 1], [[0]], "9/20")) == pytest.approx(log(11 / 9))


def test_a_loss_near_0_keeps_its_digits() -> None:
    assert ratio_loss(1 + Fraction(1, 10**15)) == pytest.approx(1e-15, rel=1e-12)


def test_a_ratio_beyond_a_float_has_a_loss() -> None:
    assert ratio_loss(Fraction(10) ** 400) == pytest.approx(400 * log(10), rel=1e-15)
    personal = ["1/1000000000 999999999/1000000000"] * 40
    assert group_loss(unrelated([range(40)], "1/2", personal), 0) == pytest.approx(360 * log(10), rel=1e-12)


def test_an_unknown_column_or_group_is_refused() -> None:
    with pytest.raises(InputError, match="there is no column 1"):
        attribute_loss(DESIGNS["Warner"], 1)
    with pytest.raises(InputError, match="there is no group 1"):
        group_loss(DESIGNS["Warner"], 1)


def known_ratio(design: UnrelatedDesign, group: int) -> float:
    """Return the worst ratio over every personal record that can occur, by the definition."""
    every = cells([design.sizes[column] for column in design.groups[group]])
    worst = 0.0
    for personal, response in product(every, repeat=2):
        lie = (1 - design.theta) * (response == personal)
        row = [design.theta * (response == truth) + lie for truth in every]
        if any(row):
            worst = max(worst, log(max(row) / min(row)) if all(row) else inf)
    return worst


@pytest.mark.parametrize("name", [name for name in DESIGNS if name.startswith(("unrelated", "Greenberg"))])
def test_who_knows_a_personal_answer_knows_the_truth_wherever_the_response_differs(name: str) -> None:
    """DESIGN 10: finite only while no personal answer is known."""
    design = DESIGNS[name]
    assert isinstance(design, UnrelatedDesign)
    for group in range(len(design.groups)):
        assert known_answers_loss(design, group) == known_ratio(design, group) == inf


def test_a_group_of_one_value_has_nothing_to_know() -> None:
    assert known_answers_loss(unrelated([[0], [1]], "1/2", ["1", "1/2 1/2"]), 0) == 0


def test_the_related_question_has_no_personal_answers_to_know() -> None:
    design = related([2, 2], [[0], [1]], "9/20")
    assert known_answers_loss(design, 1) is None
    with pytest.raises(InputError, match="there is no group 2"):
        known_answers_loss(design, 2)
