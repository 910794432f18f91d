"""Designs: what is refused, who shares a coin, disguising as such, and the transition of the definition."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import lcm, prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR, Design, Matrix
from protocols.randomized_response.estimate import estimate_count, record_factors
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Codes, Expression, Term
from tests.support.declaration import joint_transition, pattern_coins, pattern_weights, undo
from tests.support.enumeration import (
    BY_ODDS,
    DESIGNS,
    assert_unbiased,
    coin_outcomes,
    designs,
    every_design,
    every_record,
    expressions,
    own_truth,
    response_tables,
    responses,
    shares,
    solve,
    true_count,
    unrelated_designs,
)
from tests.support.examples import few

THETA = Fraction(9, 20)
Groups = tuple[tuple[int, ...], ...]


def test_a_design_that_cannot_work_is_refused_with_range_or_cure() -> None:
    for sizes, groups, theta, text in [
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
    ]:
        with pytest.raises(InputError) as refusal:
            RelatedDesign(sizes, groups, Fraction(theta))
        assert text in str(refusal.value)


def test_a_design_at_the_limits_is_accepted_and_works() -> None:
    for sizes, groups, theta in [
        ((64,), ((0,),), "9/20"), ((2,) * 12, tuple((c,) for c in range(12)), "9/20"),
        ((1,) * 33, tuple((c,) for c in range(33)), "9/20"), ((2,), ((0,),), f"1/{MAX_DENOMINATOR}"),
        ((1,), ((0,),), "1"), ((2,), ((0,),), "0"), ((2,), ((0,),), "1"), ((3,), ((0,),), "1/2"), ((2,), (), "1/2"),
    ]:  # fmt: skip
        design = RelatedDesign(sizes, groups, Fraction(theta))
        assert len(pattern_coins(design)) == prod(design.orders)
        assert sum(pattern_weights(design)) == 1


def test_the_chances_of_a_groups_offsets_add_up_to_one() -> None:
    for design in designs():
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


def test_by_odds_the_truth_has_thetas_odds_against_any_one_lie_of_a_groups_coin() -> None:
    """By all outcomes: a column of all offsets has these odds, one of fewer values weaker ones, `1 + (o - 1) d/L`."""
    for sizes, groups in SHAPES:
        for theta in ["9/20", "11/20", "2/3"]:
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
        coins = pattern_coins(design)
        assert not coins[0].any()
        assert len({tuple(row) for row in coins.tolist()}) == len(coins) == prod(design.orders)
        assert (coins < np.array(design.orders, dtype=int)).all()
    for design in designs():
        records = every_record(design.sizes)
        before = records.copy()
        for coins in pattern_coins(design):
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


VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "multi_group_matrices.json").read_text("utf-8"))
SCHEMES = {scheme["groups"]: scheme for scheme in VECTORS["schemes"]}
THETAS = tuple(map(Fraction, ("0", "1/7", "9/20", "7/10", "1")))
EVERY = every_design()


def printed(groups: int, theta: Fraction) -> Matrix:
    """Return the paper's matrix at this theta; an entry `21` is `theta^2 (1 - theta)`."""
    rows = (row.split() for row in SCHEMES[groups]["matrix"])
    return tuple(tuple(theta ** int(entry[0]) * (1 - theta) ** int(entry[1]) for entry in row) for row in rows)


def test_the_transition_of_binary_groups_is_the_papers_matrix() -> None:
    for groups in (1, 2, 3):
        for theta in THETAS:
            design = RelatedDesign((2,) * groups, tuple((column,) for column in range(groups)), theta)
            assert joint_transition(design, range(groups)) == printed(groups, theta)
    for groups in (1, 2, 3):
        rows = [row.split() for row in SCHEMES[groups]["matrix"]]
        assert [row[i] for i, row in enumerate(rows)] == [f"{groups}0"] * 2**groups
        assert [row[-1 - i] for i, row in enumerate(rows)] == [f"0{groups}"] * 2**groups
        assert {int(entry[0]) + int(entry[1]) for row in rows for entry in row} == {groups}


def test_solving_the_papers_system_gives_the_estimates() -> None:
    """A variation sets each group's columns to `e_k` or to its opposite; `e_k` alternates between 0 and 1."""
    for groups, theta in product(
        [((0, 1),), ((0, 1), (2,)), ((0, 1), (2,), (3, 4))], [theta for theta in THETAS if theta]
    ):
        design = RelatedDesign((2,) * 5, groups, theta)
        sent = np.random.default_rng(len(groups)).integers(0, 2, size=(40, 5)).astype(np.uint8)
        asked = [
            Expression(
                tuple(
                    Term(column, column % 2 ^ (sign == "-"))
                    for sign, group in zip(signs, groups, strict=True)
                    for column in group
                )
            )
            for signs in SCHEMES[len(groups)]["variations"]
        ]
        observed = [Fraction(true_count(sent, expression), len(sent)) for expression in asked]
        solved = solve(printed(len(groups), theta), observed)
        assert [estimate_count(sent, expression, design).proportion for expression in asked] == solved


def test_solving_the_joint_system_gives_every_estimate() -> None:
    for design in few(EVERY, 6):
        every = every_record(design.sizes)
        sent = every[np.random.default_rng(len(every)).integers(len(every), size=17)]
        columns = range(len(design.sizes))
        counts = [Fraction(int((sent == cell).all(axis=1).sum())) for cell in every]
        solved = solve(joint_transition(design, columns), counts)
        for expression in expressions(design.sizes):
            held = expression.satisfied_by(every).tolist()
            assert estimate_count(sent, expression, design).count == sum(
                p for p, hit in zip(solved, held, strict=True) if hit
            )


def test_records_that_a_design_cannot_have_disguised_are_refused() -> None:
    for codes, text in [
        (np.zeros((3, 1), dtype=np.uint8), "the design has 2 columns, the table 1"),
        (np.zeros(2, dtype=np.uint8), "the design has 2 columns, the table 2"),
        (np.array([[0, 3]], dtype=np.uint8), "the table holds a code outside the design's domains"),
        (np.array([[2, 0]], dtype=np.uint8), "the table holds a code outside the design's domains"),
    ]:
        for kind in ["related", "unrelated"]:
            design: Design = RelatedDesign((2, 3), ((0,),), Fraction(3, 5))
            if kind == "unrelated":
                design = UnrelatedDesign((2, 3), ((0,),), Fraction(3, 5), (shares("1/2 1/2"), ()))
            design.check_fits(np.array([*product(range(2), range(3))], dtype=np.uint8))
            with pytest.raises(InputError) as refusal:
                design.check_fits(codes)
            assert text in str(refusal.value)


UNRELATED = unrelated_designs()


def test_an_unrelated_design_that_cannot_work_is_refused_with_range_or_cure() -> None:
    for sizes, groups, theta, personal, text in [
        ((2,), ((0,),), "-1/9", ["1/2 1/2"], "theta must be between 0 and 1, not -1/9"),
        ((2,), ((0,),), f"1/{MAX_DENOMINATOR + 1}", ["1/2 1/2"], "theta must be a fraction with a denominator of at"),
        ((2,), ((1,),), "1/2", ["1/2 1/2"], "names an unknown column: columns are 0 to 0"),
        ((2,), ((0,), (0,)), "1/2", ["1/2 1/2"], "a column is in two groups: name each once"),
        ((2,), ((0,), ()), "1/2", ["1/2 1/2"], "a group is empty"),
        ((2,), ((0,),), "0", ["1/2 1/2"], "theta = 0 makes every response a personal one, which carries nothing"),
        ((2, 2), ((0,),), "1/2", ["1/2 1/2"], "the personal record needs an entry for every column; an empty one for"),
        ((2,), ((0,),), "1/2", ["1/2 1/2", ""], "the personal record needs an entry for every column"),
        ((2, 2), ((1,),), "1/2", ["1/2 1/2", "1/2 1/2"], "column 0 is sent as it is and has no personal question"),
        ((2, 3), ((0, 1),), "1/2", ["1/2 1/2", "1/2 1/2"], "column 1 has 3 values, its personal question 2"),
        ((2,), ((0,),), "1/2", [""], "column 0 has 2 values, its personal question 0"),
        ((2,), ((0,),), "1/2", ["3/2 -1/2"], "personal chances of column 0 must be 0 or more and add up to 1"),
        ((2,), ((0,),), "1/2", ["1/2 1/3"], "personal chances of column 0 must be 0 or more and add up to 1"),
        ((2,), ((0,),), "1/2", ["2/3 2/3"], "personal chances of column 0 must be 0 or more and add up to 1"),
        (
            (2,),
            ((0,),),
            "1/2",
            [f"1/{MAX_DENOMINATOR + 1} {MAX_DENOMINATOR}/{MAX_DENOMINATOR + 1}"],
            "the personal chances of column 0 need denominators of at most 1000000000",
        ),
        ((3,), ((0,),), "1/2", ["1/40000 1/40001 1599959999/1600040000"], "need denominators of at most 1000000000"),
    ]:
        with pytest.raises(InputError) as refusal:
            UnrelatedDesign(sizes, groups, Fraction(theta), tuple(map(shares, personal)))
        assert text in str(refusal.value)


def test_a_design_at_the_limits_is_accepted_and_unbiased() -> None:
    for theta, personal in [
        (f"1/{MAX_DENOMINATOR}", "1/2 1/2"),
        ("1", "1/2 1/2"),
        ("1/2", "0 1"),
        ("1/2", f"1/{MAX_DENOMINATOR} {MAX_DENOMINATOR - 1}/{MAX_DENOMINATOR}"),
    ]:
        assert_estimates_are_unbiased(UnrelatedDesign((2,), ((0,),), Fraction(theta), (shares(personal),)))


class EveryDraw:
    """A draw for as many records as there are outcomes: each outcome of all draws once."""

    def __init__(self, bounds: dict[bytes, int]) -> None:
        grid = np.indices(tuple(bounds.values())).reshape(len(bounds), -1)
        self._columns = dict(zip(bounds, grid, strict=True))

    def __call__(self, purpose: bytes, bound: int) -> NDArray[np.int64]:
        column = self._columns.pop(purpose)  # a purpose is asked for once
        assert set(column.tolist()) == set(range(bound))
        return column.astype(np.int64)


def bounds_asked(design: Design) -> dict[bytes, int]:
    asked: dict[bytes, int] = {}

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        assert purpose not in asked
        asked[purpose] = bound
        return np.zeros(1, dtype=np.int64)

    design.randomize(np.zeros((1, len(design.sizes)), dtype=np.uint8), draw)
    return asked


SMALL_DRAWS = [design for design in EVERY if prod(bounds_asked(design).values()) <= 20_000]


def test_sampling_is_tried_for_many_designs_and_every_response_has_its_share() -> None:
    assert len([design for design in SMALL_DRAWS if isinstance(design, UnrelatedDesign)]) >= 20
    assert len(SMALL_DRAWS) >= 60
    for design in SMALL_DRAWS:
        bounds = bounds_asked(design)
        outcomes = prod(bounds.values())
        assert len(bounds) == design.draws
        for truth in every_record(design.sizes)[[0, -1]]:
            sent = design.randomize(np.repeat(truth[None], outcomes, axis=0), EveryDraw(bounds))
            assert sent.dtype == np.uint8
            found = Counter(map(tuple, sent.tolist()))
            assert {response: Fraction(hits, outcomes) for response, hits in found.items()} == responses(
                truth.tolist(), design
            )


def test_a_group_answers_with_its_true_or_its_personal_values() -> None:
    half = shares("1/2 1/2")
    design = UnrelatedDesign((2, 2, 2, 2), ((0, 3), (1,)), Fraction(1, 2), (half, half, (), half))
    codes = np.array([[0, 0, 0, 1]] * 4, dtype=np.uint8)
    personal = np.array([[1, 1, 1, 0]] * 4, dtype=np.uint8)
    truths = np.array([[True, True], [True, False], [False, True], [False, False]])
    before = codes.copy(), personal.copy()
    assert design.answer(codes, personal, truths).tolist() == [[0, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]]
    assert (codes == before[0]).all()
    assert (personal == before[1]).all()


def assert_estimates_are_unbiased(design: Design) -> None:
    records = every_record(design.sizes)
    codes = records[[len(records) * 2 // 3, 0]] if len(records) <= 8 else records[[-1]]
    assert_unbiased(codes, list(response_tables(codes, design)), design)


def test_over_all_responses_the_estimate_is_the_count_and_its_variance_the_variance() -> None:
    for design in few(UNRELATED, 4):
        assert_estimates_are_unbiased(design)


@pytest.mark.parametrize(
    ("groups", "joint", "text"),
    [
        (((0, 1),), [], ""),
        (((0, 1),), ["1/3 0 0 2/3"], ""),
        (((0, 1),), ["1/3 0 2/3"], "the joint chances of columns (0, 1) must be 4, not 3"),
        (((0, 1),), ["1/4 0 0 3/4"], "the joint chances of columns (0, 1) contradict those of a column"),
        (((0, 1),), ["1/3 1/3 0 1/3"], "the joint chances of columns (0, 1) contradict those of a column"),
        (((0, 1),), ["2/3 -1/3 -1/3 1"], "the joint chances of columns (0, 1) are negative or too fine"),
        (
            ((0, 1),),
            [f"{third} 1/{MAX_DENOMINATOR + 1} 1/{MAX_DENOMINATOR + 1} {2 * third}" for third in shares("1/3")],
            "the joint chances of columns (0, 1) are negative or too fine",
        ),
        (((0,), (1,)), ["1/3 2/3"], "the joint chances need an entry for every group"),
    ],
)
def test_joint_chances_that_cannot_be_are_refused(groups: Groups, joint: list[str], text: str) -> None:
    def made() -> UnrelatedDesign:
        third = shares("1/3 2/3")
        return UnrelatedDesign((2, 2), groups, Fraction(1, 2), (third, third), tuple(map(shares, joint)))

    if not text:
        assert made().joint == tuple(map(shares, joint))
        return
    with pytest.raises(InputError) as refusal:
        made()
    assert text in str(refusal.value)


def test_dependent_personal_answers_that_are_taken_as_independent_give_a_wrong_share() -> None:
    """One personal question, true of a third, stands beside both columns; of who answers nobody has both at once."""
    third = shares("1/3 2/3")
    declared = UnrelatedDesign((2, 2), ((0, 1),), Fraction(1, 2), (third, third), (shares("1/3 0 0 2/3"),))
    both = Expression((Term(0, 0), Term(1, 0)))
    truth = (0, 1)

    def expected(design: UnrelatedDesign) -> Fraction:
        said = responses(truth, declared).items()  # what is truly sent, whatever the design takes for granted
        each = (
            (estimate_count(np.array([response], np.uint8), both, design).count, chance) for response, chance in said
        )
        return sum((count * chance for count, chance in each), Fraction(0))

    assert expected(declared) == 0
    assert expected(replace(declared, joint=())) == Fraction(1, 3) - Fraction(1, 9)


def test_at_theta_one_half_the_surveys_equation_is_solved() -> None:
    """Surveys equation 1, three respondents of four satisfy A: `P(A) = (3/4 - P(Y)/2)/(1/2)`, `P(Y) = 2/5 * 1/4`."""
    personal = (shares("3/5 2/5"), shares("1/4 3/4"))
    design = UnrelatedDesign((2, 2), ((0, 1),), Fraction(1, 2), personal)
    sent = np.array([[1, 0]] * 3 + [[0, 0]], dtype=np.uint8)
    asked = next(e for e in expressions((2, 2)) if [(t.column, t.value) for t in e.terms] == [(0, 1), (1, 0)])
    assert design.personal_chance(asked) == Fraction(1, 10)
    assert estimate_count(sent, asked, design).proportion == (Fraction(3, 4) - Fraction(1, 20)) * 2


def subsets(group: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return every choice of columns of a group in every order."""
    return [
        order
        for size in range(1, len(group) + 1)
        for chosen in combinations(group, size)
        for order in permutations(chosen)
    ]


def on(response: tuple[int, ...], columns: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(response[column] for column in columns)


def test_the_transition_is_that_of_the_definition() -> None:
    for design in EVERY:
        truths = [tuple(record) for record in every_record(design.sizes).tolist()]
        chances = {truth: responses(truth, design) for truth in truths}
        for k, group in enumerate(design.groups):
            for columns in subsets(group):
                matrix = design.transition(k, columns)
                every = list(product(*(range(design.sizes[column]) for column in columns)))
                for truth in truths:
                    found = dict.fromkeys(every, Fraction(0))
                    for response, chance in chances[truth].items():
                        found[on(response, columns)] += chance
                    position = every.index(on(truth, columns))
                    assert [row[position] for row in matrix] == list(found.values())


def second_moment(truth: list[int], part: Expression, design: Design) -> Fraction:
    outcomes = responses(truth, design)
    factors = record_factors(np.array(list(outcomes), dtype=np.uint8), part, design)
    pairs = zip(factors.kinds.tolist(), outcomes.values(), strict=True)
    return sum((chance * factors.values[kind] ** 2 for kind, chance in pairs), Fraction(0))


def test_moments_are_the_largest_over_all_truths() -> None:
    for design in few(EVERY, 6):
        for k, group in enumerate(design.groups):
            records = distinct(every_record(design.sizes), group)
            for part in [e for e in expressions(design.sizes) if e.terms and e.columns <= set(design.groups[k])]:
                squares: dict[bool, set[Fraction]] = {True: set(), False: set()}
                for record, hit in zip(records, part.satisfied_by(np.array(records)).tolist(), strict=True):
                    squares[hit].add(second_moment(record, part, design))
                assert len(squares[True]) == 1
                assert design.moments(k, part) == (max(squares[True]), max(squares[False], default=0))


def distinct(records: Codes, group: tuple[int, ...]) -> list[list[int]]:
    """Return one record for every combination of values of a group."""
    chosen = {on(tuple(record), group): record for record in records.tolist()}
    return list(chosen.values())


def test_the_likelihood_ratio_is_the_largest_over_the_transition_matrix() -> None:
    for design in EVERY:
        for k, group in enumerate(design.groups):
            for columns in subsets(group):
                ratios: list[Fraction] = []
                infinite = False
                for row in design.transition(k, columns):
                    infinite = infinite or (min(row) == 0 < max(row))
                    ratios += [max(row) / min(row)] if min(row) else []
                assert design.likelihood_ratio(k, columns) == (None if infinite else max(ratios))


def test_likelihood_ratios_worked_by_hand() -> None:
    """Warner at 3/4: 3/4 against 1/4. Unrelated at 1/2: 1/2 + 1/2 p against 1/2 p, `p` = 1/2 or 1/4."""
    for design, ratio in [
        (RelatedDesign((2,), ((0,),), Fraction(3, 4)), Fraction(3)),
        (RelatedDesign((2,), ((0,),), Fraction(1, 4)), Fraction(3)),
        (RelatedDesign((2, 2), ((0, 1),), Fraction(3, 4)), None),
        (UnrelatedDesign((2,), ((0,),), Fraction(1, 2), (shares("1/2 1/2"),)), Fraction(3)),
        (UnrelatedDesign((2, 2), ((0, 1),), Fraction(1, 2), (shares("1/2 1/2"),) * 2), Fraction(5)),
        (UnrelatedDesign((2,), ((0,),), Fraction(1, 2), (shares("0 1"),)), None),
    ]:
        assert design.likelihood_ratio(0, design.groups[0]) == ratio


@pytest.mark.parametrize("groups", [((0, 1),), ((0,), (1,))], ids=["one group", "two groups"])
def test_one_personal_answer_to_two_questions_biases_their_joint_count_and_two_do_not(groups: Groups) -> None:
    """Enumerated over coins and personal answers, for a record that has neither; so the same question is refused."""
    design = UnrelatedDesign((2, 2), groups, Fraction(1, 2), ((Fraction(1, 2),) * 2,) * 2)
    both, truth = list(expressions(design.sizes))[-1], np.zeros((1, 2), dtype=np.uint8)

    def expected(answers: list[tuple[int, int]]) -> Fraction:
        tosses = list(product([False, True], repeat=len(groups)))
        found = Fraction(0)
        for personal, coins in product(answers, tosses):
            sent = design.answer(truth, np.array([personal], dtype=np.uint8), np.array([coins]))
            found += Fraction(estimate_count(sent, both, design).count)
        return found / (len(answers) * len(tosses))

    assert expected([(0, 0), (0, 1), (1, 0), (1, 1)]) == 0
    assert expected([(0, 0), (1, 1)]) == Fraction(1, 4)
