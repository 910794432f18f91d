"""The self-audit: shipped samplers pass, and every departure that it promises to catch is caught.

Seeds are fixed, so nothing here fails by chance; that departures are caught at any seed is shown by exact tails.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from party.show.audit import audit_lines
from protocols.privacy.audit import (
    AuditResult,
    audit,
)
from protocols.privacy.chernoff import trials_needed
from protocols.privacy.events import Margin, told_chance
from protocols.privacy.goal import Goal
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.design import Design, Draw, OneKind
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables.table import Codes
from tests.protocols.privacy.auditing import RELATED, UNRELATED, missed, run
from tests.protocols.privacy.designs import DESIGNS, related, shares, unrelated

CENT = Fraction(1, 100)


def names(result: AuditResult) -> set[str]:
    return {named(test.margin) for test in result.failures}


def named(margin: Margin) -> str:
    if margin.serial:
        return f"column {margin.columns[0]}, one record and the next"
    if margin.told:
        return f"columns {margin.columns[0]} and {margin.columns[1]}, of two groups"
    return f"column{'s' * (len(margin.columns) > 1)} {', '.join(map(str, margin.columns))}"


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_the_shipped_samplers_respond_as_declared(design: Design) -> None:
    result = run(design)
    assert result.passed, audit_lines(result)
    assert not result.failures
    assert not result.untested


def test_keyed_coins_respond_as_declared() -> None:
    goal = Goal(shift=Fraction(1, 5))
    draw = lambda records: keyed_draw(bytes(32), "audit", [str(record) for record in range(records)])  # noqa: E731
    for design in (RELATED, UNRELATED):
        assert audit(design, draw, goal=goal).passed


@pytest.mark.parametrize("shift", [CENT, -CENT])
@pytest.mark.parametrize(
    "design", [RELATED, UNRELATED, related([5], [[0]], "9/10")], ids=["related", "unrelated", "five"]
)
def test_a_theta_that_is_off_by_a_hundredth_is_caught(design: OneKind, shift: Fraction) -> None:
    wrong = replace(design, theta=design.theta + shift)
    assert not run(design, wrong.randomize).passed


BY_ODDS = RelatedDesign.of_odds((2, 4, 5), ((0, 1), (2,)), Fraction(2, 3))


def test_a_design_by_odds_is_held_against_the_chance_of_each_group() -> None:
    """The chances of the truth are 2/5 and 1/3, and not theta itself in every group."""
    assert run(BY_ODDS).passed
    for wrong in (replace(BY_ODDS, tossed=None), replace(BY_ODDS, theta=Fraction(2, 3) + CENT)):
        assert not run(BY_ODDS, wrong.randomize).passed


@pytest.mark.parametrize("theta", ["1", "0", "1/200", "199/200"])
def test_a_theta_that_is_off_near_the_ends_is_caught(theta: str) -> None:
    design = related([2, 2], [[0], [1]], theta)
    wrong = replace(design, theta=design.theta + (CENT if design.theta < CENT else -CENT))
    assert not run(design, wrong.randomize).passed


def test_a_theta_that_is_off_in_one_group_alone_is_caught() -> None:
    wrong = replace(RELATED, theta=RELATED.theta + CENT)

    def sampler(codes: Codes, draw: Draw) -> Codes:
        coins = np.column_stack([RELATED.coins(draw)[:, 0], wrong.coins(draw)[:, 1]])
        return disguise(codes, coins, RELATED)

    result = run(RELATED, sampler)
    assert "column 2" in names(result)
    assert "column 0" not in names(result)


@pytest.mark.parametrize(
    "design", [d for d in DESIGNS.values() if d.groups], ids=[n for n, d in DESIGNS.items() if d.groups]
)
def test_the_power_is_as_stated_by_exact_tails(design: Design) -> None:
    """For a shift of either sign in any one group, the best single test fires with the stated chance at least."""
    result, goal = run(design), Goal()
    for number, group in enumerate(design.groups):
        columns = [column for column in group if design.sizes[column] > 1]
        for shift in (CENT, -CENT):
            if not columns or not 0 <= design.truth(number) + shift <= 1:
                continue
            wrong = moved(design.part(number), design.truth(number) + shift)
            misses = [
                missed(test.chance, wrong(column, code), test.trials, result.limit)
                for column in columns
                for code in range(design.sizes[column])
                for test in result.tests
                if (test.margin.columns, test.margin.truth, test.cell) == ((column,), (code,), (code,))
            ]
            assert min(misses) <= 1 - goal.power


def moved(design: OneKind, theta: Fraction) -> Callable[[int, int], Fraction]:
    """Return the chances of a true response at another theta; the design itself may refuse it."""
    if isinstance(design, UnrelatedDesign):
        personal = design.personal
        return lambda column, code: theta + (1 - theta) * personal[column][code]
    return lambda column, code: told_chance(replace(design, theta=theta), column, code)


def test_the_limits_of_all_tests_that_chance_can_move_add_up_to_the_false_alarm_rate() -> None:
    result = run(related([2, 2], [[0]], "9/20"))
    movable = [test for test in result.tests if 0 < test.chance < 1]
    assert len(movable) < len(result.tests)
    assert result.limit * len(movable) == pytest.approx(1e-6)
    assert all(test.passed == (test.bound > result.limit) for test in result.tests)


def test_two_groups_that_share_a_coin_are_caught() -> None:
    design = related([2, 2], [[0], [1]], "9/20")

    def sampler(codes: Codes, draw: Draw) -> Codes:
        return disguise(codes, design.coins(draw)[:, [0, 0]], design)

    assert names(run(design, sampler)) == {"columns 0 and 1, of two groups"}


def test_a_column_that_does_not_share_the_coin_of_its_group_is_caught() -> None:
    design = related([2, 2, 2], [[0, 1, 2]], "9/20")
    apart = related([2, 2, 2], [[0, 1], [2]], "9/20")
    found = names(run(design, apart.randomize))
    assert found == {"columns 0, 2", "columns 1, 2", "columns 0, 1, 2"}


def test_an_unrelated_column_that_does_not_share_the_coin_of_its_group_is_caught() -> None:
    apart = unrelated([[0], [1], [2]], "1/2", ["1/2 1/2", "1/2 1/2", "1/4 1/4 1/2"])
    assert names(run(UNRELATED, apart.randomize)) == {"columns 0, 1"}


def test_records_that_share_a_coin_are_caught() -> None:
    design = related([2], [[0]], "9/20")

    def sampler(codes: Codes, draw: Draw) -> Codes:
        return disguise(codes, np.repeat(design.coins(draw)[::2], 2, axis=0)[: len(codes)], design)

    assert names(run(design, sampler)) == {"column 0, one record and the next"}


def test_a_personal_distribution_that_is_off_is_caught() -> None:
    assert isinstance(UNRELATED, UnrelatedDesign)
    wrong = replace(UNRELATED, personal=(*UNRELATED.personal[:2], shares("1/4 3/10 9/20")))
    result = run(UNRELATED, wrong.randomize)
    assert (
        {"column 2"}
        <= names(result)
        <= {"column 2", "column 2, one record and the next", "columns 0 and 2, of two groups"}
    )
    told, off = told_chance(UNRELATED, 2, 2), told_chance(wrong, 2, 2)
    assert (trials_needed(told, off, result.limit, 1e-3) or 0) <= min(test.trials for test in result.tests)


def test_personal_answers_that_depend_on_each_other_are_caught() -> None:
    assert isinstance(UNRELATED, UnrelatedDesign)
    design = UNRELATED

    def sampler(codes: Codes, draw: Draw) -> Codes:
        personal = design.draw_personal(draw)
        personal[:, 1] = personal[:, 0]
        return design.answer(codes, personal, design.truths(draw))

    assert names(run(design, sampler)) == {"columns 0, 1"}


def test_declared_answers_that_depend_on_each_other_pass_and_independent_ones_are_caught() -> None:
    declared = DESIGNS["unrelated, dependent answers"]
    assert isinstance(declared, UnrelatedDesign)
    assert names(run(declared)) == set()
    assert names(run(declared, replace(declared, joint=()).randomize)) == {"columns 1, 0"}


def test_a_lie_that_is_told_too_often_is_caught() -> None:
    design = related([3], [[0]], "9/20")

    def sampler(codes: Codes, draw: Draw) -> Codes:
        coins = design.coins(draw)
        coins[(coins == 2) & (draw(b"again", 10) == 0)[:, None]] = 1
        return disguise(codes, coins, design)

    assert "column 0" in names(run(design, sampler))


def test_a_lie_that_depends_on_the_truth_is_caught() -> None:
    design = related([2], [[0]], "9/20")

    def sampler(codes: Codes, draw: Draw) -> Codes:
        responses = design.randomize(codes, draw)
        return np.where((codes == 1) & (draw(b"again", 20) == 0)[:, None], codes, responses)

    failed = {(test.cell, test.margin.truth) for test in run(design, sampler).failures if test.margin.columns == (0,)}
    assert failed == {((0,), (1,)), ((1,), (1,))}


def test_a_plain_column_that_is_touched_once_is_caught() -> None:
    design = related([2, 3], [[0]], "9/20")

    def sampler(codes: Codes, draw: Draw) -> Codes:
        responses = design.randomize(codes, draw)
        responses[5, 1] = 2
        return responses

    result = run(design, sampler)
    assert names(result) == {"column 1"}
    assert {test.bound for test in result.failures} == {0}


def test_three_columns_of_a_group_that_only_fail_together_are_caught() -> None:
    """Pairs of personal answers are as declared, but the third is the XOR of the first two."""
    design = unrelated([[0, 1, 2]], "1/2", ["1/2 1/2"] * 3)
    assert isinstance(design, UnrelatedDesign)

    def sampler(codes: Codes, draw: Draw) -> Codes:
        personal = design.draw_personal(draw)
        personal[:, 2] = personal[:, 0] ^ personal[:, 1]
        return design.answer(codes, personal, design.truths(draw))

    assert names(run(design, sampler)) == {"columns 0, 1, 2"}
