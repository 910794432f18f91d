"""Designs: what is refused and why, who shares a coin, and disguising as such."""

from fractions import Fraction
from math import lcm, prod

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.tables.expression import Expression, Term
from tests.support.declaration import pattern_weights, undo
from tests.support.enumeration import (
    BY_CONTRAST,
    DESIGNS,
    coin_outcomes,
    designs,
    every_record,
    name,
    own_truth,
    responses,
)

THETA = Fraction(9, 20)
Groups = tuple[tuple[int, ...], ...]


@pytest.mark.parametrize(
    ("sizes", "groups", "theta", "text"),
    [
        ((2,), ((0,),), "-1/100", "theta must be between 0 and 1, not -1/100"),
        ((2,), ((0,),), "101/100", "theta must be between 0 and 1, not 101/100"),
        ((2,), ((0,),), f"1/{MAX_DENOMINATOR + 1}", "a denominator of at most 1000000000"),
        ((2,), ((0,),), "1/2", "theta = 1/2 makes a group of 2 offsets carry nothing: choose another"),
        ((2, 3), ((0, 1),), "1/6", "theta = 1/6 makes a group of 6 offsets carry nothing: choose another"),
        ((3, 2), ((0,), (1,)), "1/2", "theta = 1/2 makes a group of 2 offsets carry nothing: choose another"),
        ((2, 2), ((0,), (0, 1)), "9/20", "a column is in two groups: name each once"),
        ((2, 2), ((0, 0),), "9/20", "a column is in two groups: name each once"),
        ((2, 2), ((0, 2),), "9/20", "an unknown column: columns are 0 to 1"),
        ((2, 2), ((0, -1),), "9/20", "an unknown column: columns are 0 to 1"),
        ((2, 2), ((0,), ()), "9/20", "a group is empty"),
        ((5, 13), ((0, 1),), "9/20", "needs 65 offsets, more than 64: put columns of equal domain sizes into a group"),
    ],
)
def test_a_design_that_cannot_work_is_refused_with_range_or_cure(
    sizes: tuple[int, ...], groups: Groups, theta: str, text: str
) -> None:
    with pytest.raises(InputError) as refusal:
        RelatedDesign(sizes, groups, Fraction(theta))
    assert text in str(refusal.value)


@pytest.mark.parametrize(
    ("sizes", "groups", "theta"),
    [
        ((64,), ((0,),), "9/20"),
        ((2,) * 12, tuple((c,) for c in range(12)), "9/20"),
        ((1,) * 33, tuple((c,) for c in range(33)), "9/20"),
        ((2,), ((0,),), f"1/{MAX_DENOMINATOR}"),
        ((1,), ((0,),), "1"),
        ((2,), ((0,),), "0"),
        ((2,), ((0,),), "1"),
        ((3,), ((0,),), "1/2"),
        ((2,), (), "1/2"),
    ],
)
def test_a_design_at_the_limits_is_accepted_and_works(sizes: tuple[int, ...], groups: Groups, theta: str) -> None:
    design = RelatedDesign(sizes, groups, Fraction(theta))
    assert len(design.pattern_coins()) == design.patterns
    assert sum(pattern_weights(design)) == 1


@pytest.mark.parametrize("design", designs(), ids=name)
def test_the_chances_of_a_groups_offsets_add_up_to_one(design: RelatedDesign) -> None:
    for group, order in enumerate(design.orders):
        assert order == lcm(*(design.sizes[c] for c in design.groups[group]))
        if order > 1:
            assert design.truth(group) == own_truth(design, order)
            assert design.truth(group) + (order - 1) * design.lie(group) == 1
        assert design.contrast(group) == (design.truth(group) - design.lie(group) if order > 1 else 1)
    assert sum(p for _, p in coin_outcomes(design)) == 1


SHAPES: list[tuple[tuple[int, ...], Groups]] = [
    ((2, 4), ((0, 1),)), ((2, 3), ((0, 1),)), ((2, 5, 2), ((0, 1), (2,))), ((3, 3, 2), ((0, 1), (2,))),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "groups"), SHAPES)
@pytest.mark.parametrize("theta", ["9/20", "11/20", "7/10"])
def test_by_contrast_every_column_is_disguised_alike_whatever_group_it_is_in(
    sizes: tuple[int, ...], groups: Groups, theta: str
) -> None:
    """By all outcomes: a column of `d` values is sent truly with chance `(1 + c (d - 1))/d`, of two values theta."""
    chance = Fraction(theta)
    design = RelatedDesign.of_contrast(sizes, groups, chance)
    assert {design.contrast(group) for group in range(len(groups))} == {2 * chance - 1}
    truth = (0,) * len(sizes)
    told = responses(truth, design)
    for column, size in enumerate(sizes):
        shares = [sum(p for sent, p in told.items() if sent[column] == value) for value in range(size)]
        assert shares[0] == (1 + (2 * chance - 1) * (size - 1)) / size
        assert shares[1:] == [(1 - shares[0]) / (size - 1)] * (size - 1)
        if size == 2:
            assert shares == [chance, 1 - chance]


def test_nine_twentieths_are_told_with_nine_to_eleven_in_a_group_of_four_offsets() -> None:
    """DESIGN 14: with theta itself as the group's chance, the same column was sent truly with 19/30."""
    by_contrast = RelatedDesign.of_contrast((2, 4), ((0, 1),), THETA)
    assert (by_contrast.truth(0), by_contrast.lie(0)) == (Fraction(7, 40), Fraction(11, 40))
    assert by_contrast.transition(0, (0,))[0] == (Fraction(9, 20), Fraction(11, 20))
    assert by_contrast.transition(0, (1,))[0] == (Fraction(7, 40), *[Fraction(11, 40)] * 3)
    assert RelatedDesign((2, 4), ((0, 1),), THETA).transition(0, (0,))[0][0] == Fraction(19, 30)


def test_by_contrast_two_offsets_have_theta_itself() -> None:
    by_contrast, own = (make((2, 2), ((0, 1),), THETA) for make in (RelatedDesign.of_contrast, RelatedDesign))
    assert by_contrast.truth(0) == own.truth(0) == THETA
    part = Expression((Term(0, 1),))
    assert by_contrast.moments(0, part) == own.moments(0, part)


@pytest.mark.parametrize(
    ("order", "theta", "text"),
    [
        (11, "9/20", "theta = 9/20 leaves a group of 11 offsets no chance of the truth: theta = 11/20 has the same"),
        (3, "1/4", "theta = 1/4 leaves a group of 3 offsets no chance of the truth: theta = 3/4 has the same strength"),
        (4, "1/2", "theta = 1/2 makes a group of 4 offsets carry nothing: choose another"),
    ],
)
def test_a_theta_that_no_group_can_follow_is_refused_with_its_mirror_image(order: int, theta: str, text: str) -> None:
    with pytest.raises(InputError, match=text):
        RelatedDesign.of_contrast((order,), ((0,),), Fraction(theta))
    mirrored = RelatedDesign.of_contrast((order,), ((0,),), 1 - Fraction(theta)) if theta != "1/2" else None
    assert mirrored is None or mirrored.contrast(0) == 1 - 2 * Fraction(theta)
    assert RelatedDesign.of_contrast((order - 1,), ((0,),), Fraction("9/20")).truth(0) > 0


@pytest.mark.parametrize("design", designs(), ids=name)
def test_patterns_are_all_coins_once_the_truth_first(design: RelatedDesign) -> None:
    coins = design.pattern_coins()
    assert not coins[0].any()
    assert len({tuple(row) for row in coins.tolist()}) == len(coins) == design.patterns == prod(design.orders)
    assert (coins < np.array(design.orders, dtype=int)).all()
    assert design.pattern_of(coins).tolist() == list(range(design.patterns))


@pytest.mark.parametrize("design", designs(), ids=name)
def test_disguising_shifts_a_groups_columns_alike_and_undoing_takes_it_back(design: RelatedDesign) -> None:
    records = every_record(design.sizes)
    before = records.copy()
    for coins in design.pattern_coins():
        each = np.broadcast_to(coins, (len(records), len(coins)))
        sent = disguise(records, each, design)
        expected = records.astype(int)
        for coin, group in zip(coins.tolist(), design.groups, strict=True):
            for column in group:
                expected[:, column] = (expected[:, column] + coin) % design.sizes[column]
        assert (sent == expected).all()
        assert (undo(sent, each, design) == records).all()
        assert (records == before).all()


def test_each_record_is_shifted_by_its_own_coins() -> None:
    design = RelatedDesign((2, 60), ((0,), (1,)), THETA)
    records = np.array([[0, 59], [1, 30], [1, 0]], dtype=np.uint8)
    coins = np.array([[1, 59], [0, 59], [1, 1]], dtype=np.uint8)
    assert disguise(records, coins, design).tolist() == [[1, 58], [1, 29], [0, 1]]


@pytest.mark.parametrize("theta", BY_CONTRAST)
def test_where_no_group_has_more_than_two_offsets_contrast_changes_no_chance(theta: Fraction) -> None:
    """So what is enumerated for such designs holds by contrast as well."""
    pairs = [(RelatedDesign(*each, theta), RelatedDesign.of_contrast(*each, theta)) for each in DESIGNS.values()]
    alike = [pair for pair in pairs if max(pair[0].orders, default=1) <= 2]
    assert len(alike) >= 5
    for own, other in alike:
        for group in range(len(own.groups)):
            assert own.coin_chances(group) == other.coin_chances(group)
            assert own.guess_weights(group) == other.guess_weights(group)
