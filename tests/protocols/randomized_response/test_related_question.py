"""Designs: what is refused and why, who shares a coin, and disguising as such."""

from fractions import Fraction
from math import lcm, prod

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.tables import Expression, Term
from tests.support.declaration import pattern_weights, undo
from tests.support.enumeration import BY_ODDS, DESIGNS, coin_outcomes, designs, every_record, name, own_truth, responses

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
            assert design.truth(group) == own_truth(design, group)
            assert design.truth(group) + (order - 1) * design.lie(group) == 1
        assert design.contrast(group) == (design.truth(group) - design.lie(group) if order > 1 else 1)
    assert sum(p for _, p in coin_outcomes(design)) == 1


SHAPES: list[tuple[tuple[int, ...], Groups]] = [
    ((2, 4), ((0, 1),)), ((2, 3), ((0, 1),)), ((2, 5, 2), ((0, 1), (2,))), ((3, 3, 2), ((0, 1), (2,))),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "groups"), SHAPES)
@pytest.mark.parametrize("theta", ["9/20", "11/20", "2/3"])
def test_by_odds_the_truth_has_thetas_odds_against_any_one_lie_of_a_groups_coin(
    sizes: tuple[int, ...], groups: Groups, theta: str
) -> None:
    """By all outcomes: a column of all offsets has these odds, one of fewer values weaker ones, `1 + (o - 1) d/L`."""
    chance = Fraction(theta)
    design = RelatedDesign.of_odds(sizes, groups, chance)
    told = responses((0,) * len(sizes), design)
    for group, order in enumerate(design.orders):
        assert design.truth(group) * (1 - chance) == design.lie(group) * chance
        for column in groups[group]:
            shares = [sum(p for sent, p in told.items() if sent[column] == v) for v in range(sizes[column])]
            assert shares[0] / shares[1] == 1 + (chance / (1 - chance) - 1) * Fraction(sizes[column], order)
            assert len(set(shares[1:])) == 1


def test_by_odds_the_truth_keeps_a_chance_but_at_a_half() -> None:
    by_odds, own = (make((2, 2), ((0, 1),), THETA) for make in (RelatedDesign.of_odds, RelatedDesign))
    assert by_odds.truth(0) == own.truth(0) == THETA
    part = Expression((Term(0, 1),))
    assert by_odds.moments(0, part) == own.moments(0, part)
    assert RelatedDesign.of_odds((64,), ((0,),), Fraction(1, 100)).truth(0) == Fraction(1, 1 + 63 * 99)
    assert RelatedDesign.of_odds((1, 2), ((0,), (1,)), Fraction(0)).orders == (1, 2)
    with pytest.raises(InputError, match="theta = 1/2 makes a group of 4 offsets carry nothing: choose another"):
        RelatedDesign.of_odds((4,), ((0,),), Fraction(1, 2))


def test_the_first_columns_are_disguised_as_in_the_whole() -> None:
    """The class goes from a group of six offsets: the column left in it is sent by these six, seen modulo two."""
    whole = RelatedDesign.of_odds((2, 2, 3), ((0, 2), (1,)), Fraction(2, 3))
    part = whole.of_first(2)
    assert (part.sizes, part.groups, part.orders, part.tossed) == ((2, 2), ((0,), (1,)), (2, 2), (6, 2))
    for column in (0, 1):
        assert part.transition(column, (column,)) == whole.transition(column, (column,))
    assert whole.of_first(1).groups == ((0,),)
    assert RelatedDesign((2, 3), ((0, 1),), THETA).of_first(1) == RelatedDesign((2,), ((0,),), THETA)


def test_patterns_are_all_coins_and_disguising_can_be_undone() -> None:
    for design in designs():
        coins = design.pattern_coins()
        assert not coins[0].any()
        assert len({tuple(row) for row in coins.tolist()}) == len(coins) == design.patterns == prod(design.orders)
        assert (coins < np.array(design.orders, dtype=int)).all()
    for design in designs():
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
    design = RelatedDesign((2, 60), ((0,), (1,)), THETA)
    records = np.array([[0, 59], [1, 30], [1, 0]], dtype=np.uint8)
    coins = np.array([[1, 59], [0, 59], [1, 1]], dtype=np.uint8)
    assert disguise(records, coins, design).tolist() == [[1, 58], [1, 29], [0, 1]]


@pytest.mark.parametrize("theta", BY_ODDS)
def test_where_no_group_has_more_than_two_offsets_by_odds_changes_no_chance(theta: Fraction) -> None:
    """So what is enumerated for such designs holds by odds as well."""
    pairs = [(RelatedDesign(*each, theta), RelatedDesign.of_odds(*each, theta)) for each in DESIGNS.values()]
    alike = [pair for pair in pairs if max(pair[0].orders, default=1) <= 2]
    assert len(alike) >= 5
    for own, other in alike:
        for group in range(len(own.groups)):
            assert own.coin_chances(group) == other.coin_chances(group)
            assert own.guess_weights(group) == other.guess_weights(group)
