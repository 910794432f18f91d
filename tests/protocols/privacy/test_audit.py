"""Audits of two designs at a fixed seed, and the exact power of a test by `alarm_bound`.

The self-audit: shipped samplers pass, and every departure that it promises to catch is caught.

Seeds are fixed, so nothing here fails by chance; that departures are caught at any seed is shown by exact tails.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import inf, log
from typing import Any

import numpy as np
import pytest

from party.show.audit import audit_lines
from party.show.document import laid_out
from party.show.privacy_short import Names
from protocols.errors import InputError
from protocols.privacy.audit import (
    FEWEST,
    MAX_MARGIN_CELLS,
    MAX_PAIRS,
    MAX_RECORDS,
    AuditResult,
    Margin,
    Sampler,
    audit,
    default_records,
    joint_columns,
    margins,
    records_needed,
    truth_chance,
    untested_pairs,
)
from protocols.privacy.chernoff import Goal, alarm_bound, divergence, trials_needed
from protocols.randomized_response.design import Design, Draw, OneKind, cells
from protocols.randomized_response.related_question import RelatedDesign, disguise, keyed_draw
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Codes
from tests.protocols.privacy.designs import DESIGNS, related, shares, unrelated
from tests.support.binomial import lower_tail, upper_tail
from tests.support.declaration import joint_transition
from tests.support.examples import few

RELATED = related([2, 2, 3], [[0, 1], [2]], "9/20")
UNRELATED = unrelated([[0, 1], [2]], "1/2", ["1/2 1/2", "1/2 1/2", "1/4 1/4 1/2"])


def chance(seed: int) -> Callable[[int], Draw]:
    return lambda records: bulk_draw(np.random.default_rng(seed), records)


def run(design: Design, sampler: Sampler | None = None, goal: Goal | None = None) -> AuditResult:
    return audit(design, chance(1), sampler, goal=goal or Goal())


@cache
def of_all() -> dict[str, AuditResult]:
    """Return the audit of each design by its own sampler, or of every eighth."""
    return {name: run(DESIGNS[name]) for name in few([*DESIGNS], 8)}


COARSE = Goal(shift=Fraction(1, 20))
"""Enough for samplers that differ in more than a theta."""


def missed(claim: Fraction, truth: Fraction, trials: int, alarm: float) -> float:
    """Return the exact chance that `alarm_bound` does not fire."""
    middle = int(trials * claim)
    low = first(0, middle, lambda hits: alarm_bound(hits, trials, claim) > alarm)
    high = first(middle, trials + 1, lambda hits: hits > trials or alarm_bound(hits, trials, claim) <= alarm)
    return max(0.0, 1 - lower_tail(trials, truth, low - 1) - upper_tail(trials, truth, high))


def first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` for which `holds`; `high` if none does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


CENT = Fraction(1, 100)


def names(result: AuditResult) -> set[str]:
    return {named(test.margin) for test in result.failures}


def named(margin: Margin) -> str:
    if margin.serial:
        return f"column {margin.columns[0]}, one record and the next"
    if margin.only_truth:
        return f"columns {margin.columns[0]} and {margin.columns[1]}, of two groups"
    return f"column{'s' * (len(margin.columns) > 1)} {', '.join(map(str, margin.columns))}"


def test_a_theta_that_is_off_by_a_hundredth_is_caught() -> None:
    designs: list[OneKind] = [RELATED, UNRELATED, related([5], [[0]], "9/10")]
    for shift, design in few([*product([CENT, -CENT], designs)], 5):
        wrong = replace(design, theta=design.theta + shift)
        assert not run(design, wrong.randomize).passed


BY_ODDS = RelatedDesign.of_odds((2, 4, 5), ((0, 1), (2,)), Fraction(2, 3))


def test_the_shipped_samplers_and_keyed_coins_respond_as_declared() -> None:
    for result in of_all().values():
        assert result.passed, audit_lines(result)
        assert not result.failures
        assert not result.untested
    goal = Goal(shift=Fraction(1, 5))
    draw = lambda records: keyed_draw(bytes(32), "audit", [str(record) for record in range(records)])  # noqa: E731
    for design in (RELATED, UNRELATED):
        assert audit(design, draw, goal=goal).passed
    # The chances of the truth are 2/5 and 1/3, and not theta itself in every group.
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


def test_the_power_is_as_stated_by_exact_tails() -> None:
    """For a shift of either sign in any one group, the best single test fires with the stated chance at least."""
    for name, result in of_all().items():
        design, goal = DESIGNS[name], Goal()
        for number, group in enumerate(design.groups):
            columns = [column for column in group if design.sizes[column] > 1]
            for shift in (CENT, -CENT):
                if not columns or not 0 <= design.truth(number) + shift <= 1:
                    continue
                wrong = moved(design.part(number), design.truth(number) + shift)
                misses = [
                    missed(test.chance, wrong(column, code), test.trials, result.tests[0].limit)
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
    return lambda column, code: truth_chance(replace(design, theta=theta), column, code)


def test_personal_answers_that_are_off_or_depend_on_each_other_are_caught() -> None:
    assert isinstance(UNRELATED, UnrelatedDesign)
    wrong = replace(UNRELATED, personal=(*UNRELATED.personal[:2], shares("1/4 3/10 9/20")))
    result = run(UNRELATED, wrong.randomize)
    assert (
        {"column 2"}
        <= names(result)
        <= {"column 2", "column 2, one record and the next", "columns 0 and 2, of two groups"}
    )
    told, off = truth_chance(UNRELATED, 2, 2), truth_chance(wrong, 2, 2)
    assert (trials_needed(told, off, result.tests[0].limit, 1e-3) or 0) <= min(test.trials for test in result.tests)
    design = UNRELATED

    def sampler(codes: Codes, draw: Draw) -> Codes:
        personal = design.draw_personal(draw)
        personal[:, 1] = personal[:, 0]
        return design.answer(codes, personal, design.truths(draw))

    assert names(run(design, sampler, COARSE)) == {"columns 0, 1"}
    declared = DESIGNS["unrelated, dependent answers"]
    assert isinstance(declared, UnrelatedDesign)
    assert names(run(declared, replace(declared, joint=()).randomize)) == {"columns 1, 0"}


def a_coin_for_two_records(design: RelatedDesign) -> Sampler:
    return lambda codes, draw: disguise(codes, np.repeat(design.coins(draw)[::2], 2, axis=0)[: len(codes)], design)


def touched_once(design: Design, value: int) -> Sampler:
    def sampler(codes: Codes, draw: Draw) -> Codes:
        responses = design.randomize(codes, draw)
        responses[5, 1] = value
        return responses

    return sampler


def exclusive_or(design: UnrelatedDesign) -> Sampler:
    """Pairs of personal answers are as declared, but the third is the XOR of the first two."""

    def sampler(codes: Codes, draw: Draw) -> Codes:
        personal = design.draw_personal(draw)
        personal[:, 2] = personal[:, 0] ^ personal[:, 1]
        return design.answer(codes, personal, design.truths(draw))

    return sampler


TWO, TRIPLE = related([2, 2], [[0], [1]], "9/20"), related([2, 2, 2], [[0, 1, 2]], "9/20")
WARNER, CLEAR = related([2], [[0]], "9/20"), related([2, 3], [[0]], "9/20")
JOINT = UnrelatedDesign((2, 2, 2), ((0, 1, 2),), Fraction(1, 2), (shares("1/2 1/2"),) * 3)
APART: list[tuple[Design, Sampler, set[str]]] = [
    (TWO, (lambda codes, draw: disguise(codes, TWO.coins(draw)[:, [0, 0]], TWO)), {"columns 0 and 1, of two groups"}),
    (TRIPLE, related([2, 2, 2], [[0, 1], [2]], "9/20").randomize, {"columns 0, 2", "columns 1, 2", "columns 0, 1, 2"}),
    (UNRELATED, unrelated([[0], [1], [2]], "1/2", ["1/2 1/2", "1/2 1/2", "1/4 1/4 1/2"]).randomize, {"columns 0, 1"}),
    (WARNER, a_coin_for_two_records(WARNER), {"column 0, one record and the next"}),
    (CLEAR, touched_once(CLEAR, 2), {"column 1"}),
    (JOINT, exclusive_or(JOINT), {"columns 0, 1, 2"}),
]


def test_coins_that_are_not_as_declared_and_lies_sent_too_often_are_caught() -> None:
    for design, sampler, failed in APART:
        assert names(run(design, sampler, COARSE)) == failed
    assert {test.bound for test in run(CLEAR, touched_once(CLEAR, 2), COARSE).failures} == {0}
    three = related([3], [[0]], "9/20")

    def too_often(codes: Codes, draw: Draw) -> Codes:
        coins = three.coins(draw)
        coins[(coins == 2) & (draw(b"again", 10) == 0)[:, None]] = 1
        return disguise(codes, coins, three)

    def by_the_truth(codes: Codes, draw: Draw) -> Codes:
        responses = WARNER.randomize(codes, draw)
        return np.where((codes == 1) & (draw(b"again", 20) == 0)[:, None], codes, responses)

    assert "column 0" in names(run(three, too_often))
    failures = run(WARNER, by_the_truth).failures
    assert {(t.cell, t.margin.truth) for t in failures if t.margin.columns == (0,)} == {((0,), (1,)), ((1,), (1,))}


NAMES = Names(["age", "sex", "town"], [["young", "old"], ["f", "m"], ["x", "y", "z"]], ["person", "place"])


def told(result: AuditResult, names: Names | None = None) -> str:
    """Return the finding with its sentences in one line."""
    lines = laid_out(audit_lines(result, names))
    assert max(map(len, lines)) <= 80
    assert max(map(len, laid_out(audit_lines(result, names), 60))) <= 60
    return " ".join(" ".join(lines).split())


def test_pairs_and_departures_are_named_the_least_likely_first() -> None:
    result = run(related([16, 32], [[0, 1]], "9/20"))
    text = "Not counted together, as there are too many combinations: "
    assert told(result).endswith(f"{text}column 1 and column 2.")
    names = Names(["street", "house"], [[""] * 16, [""] * 32], ["place"])
    assert told(result, names).endswith(f"{text}street and house.")
    many = replace(result, untested=((0, 1),) * 12)
    assert told(many).count(text) == 10
    assert told(many).endswith("Nor 2 other pairs of columns of one group.")
    honest = run(RELATED, lambda codes, _: codes)
    half = honest.disguised // 4
    only = replace(honest, tests=honest.tests[:1])
    share = f"{2 * half:,} of {2 * half:,} (100%), declared 45.00% (chance of this at most 0.0e+00)."
    assert f"age (group person): 'young' sent where 'young' is true: {share}" in told(only, NAMES)
    assert f"column 1 (group 1): '0' sent where '0' is true: {share}" in told(only)
    text = told(honest, NAMES)
    assert text.count("(chance of this at most 0.0e+00).") == 10
    assert text.endswith(f"And {len(honest.failures) - 10} other counts.")
    first, *_, last = sorted(
        run(RELATED, replace(RELATED, theta=RELATED.theta + Fraction(1, 50)).randomize).failures,
        key=lambda test: test.bound,
    )
    assert first.bound < last.bound
    assert told(replace(honest, tests=(last, first))) == told(replace(honest, tests=(first, last)))


def test_every_kind_of_count_has_its_words_below_the_verdict() -> None:
    passed = run(RELATED)
    assert audit_lines(passed)[0] == "OK: the sampler responds as the design declares."
    assert told(passed) == (
        f"{audit_lines(passed)[0]} Made-up records were disguised {passed.disguised:,} times, and {len(passed.tests)} "
        "counts held against their declared chances: a correct sampler fails such a check in at "
        "most 0.0001% of cases, one whose theta is off by 1/100 in at least 99.9%."
    )
    design = related([2], [[0]], "9/20")
    failed = run(design, lambda codes, _: codes)
    assert audit_lines(failed)[0] == f"NOT as declared: 12 of {len(failed.tests)} counts are not what the design says."
    honest = run(RELATED, lambda codes, _: codes)

    def of(*columns: int, alike: bool = False) -> str:
        failures = (test for test in honest.failures if test.margin.columns == columns and test.observed)
        test = next(test for test in failures if test.margin.only_truth == alike)
        return told(replace(honest, tests=(test,)), NAMES)

    assert "age and sex (group person): 'young' and 'f' sent where 'young' and 'f' is true: " in of(0, 1)
    assert "age and town, of two groups, true values 'young' and 'x': truth and truth sent: " in of(0, 2, alike=True)
    assert "town, a record and the next, true value 'x': truth and truth sent: " in of(2, 2, alike=True)

    design = related([2, 2], [[0]], "9/20")
    words = told(run(design, touched_once(design, 1)), NAMES)
    assert "sex, sent in the clear: 'm' sent where 'f' is true: 1 of " in words


def never(records: int) -> Draw:
    raise AssertionError(records)


RATES = "false-alarm rate and power must lie strictly between 0 and 1"
SHIFTS = "an exact fraction above 0 and at most 1"
FIT = "at least one record, each of 3 codes inside their domains"
SHARES = "a share needs 0 <= hits <= trials"
SIZES = "a sample size needs chances between 0 and 1, and rates strictly between"
NAN, HALF = float("nan"), Fraction(1, 2)
FLOAT: Any = 0.01
REFUSED: list[tuple[str, list[Callable[[], object]]]] = [
    (
        RATES,
        [partial(Goal, *each) for each in ((0.0, 0.9), (1.0, 0.9), (0.1, 0.0), (0.1, 1.0), (NAN, 0.9), (0.1, NAN))],
    ),
    (SHIFTS, [partial(Goal, shift=each) for each in (Fraction(0), -CENT, 1 + CENT, FLOAT)]),
    (
        "theta = 9/20 cannot be off by 3/5 and stay between 0 and 1",
        [lambda: audit(RELATED, chance(1), goal=Goal(shift=Fraction(3, 5)))],
    ),
    (
        f"records, more than {MAX_RECORDS}: raise the shift or the false-alarm rate",
        [lambda: audit(RELATED, never, goal=Goal(shift=Fraction(1, 10_000)))],
    ),
    (
        FIT,
        [
            partial(audit, RELATED, chance(1), records=each)
            for each in ([], [(0, 0)], [(0, 0, 3)], [(0, -1, 0)], [(0, 0, 0), (0, 0, 0, 0)])
        ],
    ),
    (
        "the chosen records do not show theta of group 0: choose other codes",
        [lambda: audit(unrelated([[0]], "1/2", ["0 1"]), chance(1), records=[(1,)])],
    ),
    ("the sampler returned [0-9]+ responses to [0-9]+ records", [lambda: run(RELATED, lambda codes, _: codes[1:])]),
    ("the design has 3 columns, the table 2", [lambda: run(RELATED, lambda codes, _: codes[:, 1:])]),
    ("a code outside the design's domains", [lambda: run(RELATED, lambda codes, _: codes + 1)]),
    (
        SHARES,
        [
            partial(alarm_bound, *each)
            for each in ((-1, 5, HALF), (6, 5, HALF), (0, 0, HALF), (1, 5, 3 * HALF), (1, 5, -2 * HALF))
        ],
    ),
    (SIZES, [partial(trials_needed, HALF, 3 * HALF / 2, *each) for each in ((0, 0.1), (1, 0.1), (0.1, 0), (0.1, 1))]),
    (SIZES, [partial(trials_needed, HALF, 3 * HALF / 2, NAN, 0.1)]),
    (
        SIZES,
        [partial(trials_needed, 4 * HALF, 2 * HALF, 0.1, 0.1), partial(trials_needed, 2 * HALF, 4 * HALF, 0.1, 0.1)],
    ),
]


def test_what_cannot_be_audited_bounded_or_sampled_is_refused() -> None:
    """A goal that needs too many records is refused before any is drawn."""
    for text, calls in REFUSED:
        for call in calls:
            with pytest.raises(InputError, match=text):
                call()


def test_every_margin_is_the_declared_distribution_of_its_events() -> None:
    for design in DESIGNS.values():
        for margin in margins(design, [tuple(0 for _ in design.sizes), tuple(size - 1 for size in design.sizes)]):
            assert sum(margin.chances) == 1
            columns = sorted(set(margin.columns)) if margin.only_truth else margin.columns
            every = cells([design.sizes[column] for column in columns])
            truth = dict(zip(margin.columns, margin.truth, strict=True))
            position = every.index(tuple(truth[column] for column in columns))
            declared = [row[position] for row in joint_transition(design, columns)]
            if not margin.only_truth:
                assert margin.chances == tuple(declared)
                continue
            if margin.serial:
                told = declared[position]
                assert margin.chances == ((1 - told) ** 2, (1 - told) * told, told * (1 - told), told**2)
                continue
            found = dict.fromkeys(cells((2, 2)), Fraction(0))
            for cell, share in zip(every, declared, strict=True):
                response = dict(zip(columns, cell, strict=True))
                found[tuple(int(response[c] == truth[c]) for c in margin.columns)] += share
            assert margin.chances == tuple(found.values())


def test_every_column_and_pair_has_a_margin_and_limits_add_up_to_the_false_alarm_rate() -> None:
    result = run(related([2, 2], [[0]], "9/20"))
    movable = [test for test in result.tests if 0 < test.chance < 1]
    assert len(movable) < len(result.tests)
    assert result.tests[0].limit * len(movable) == pytest.approx(1e-6)
    assert all(test.passed == (test.bound > result.tests[0].limit) for test in result.tests)
    design = related([2, 3, 2, 2, 5], [[0, 2, 3], [1]], "9/20")
    found = [(margin.columns, margin.only_truth, margin.serial) for margin in margins(design, [(0,) * 5])]
    assert found == [
        *(((column,), False, False) for column in range(5)), ((0, 2), False, False), ((0, 3), False, False),
        ((2, 3), False, False), ((0, 2, 3), False, False), ((0, 1), True, False), ((0, 0), True, True),
        ((1, 1), True, True),
    ]  # fmt: skip


def test_cells_are_counted_with_the_last_column_fastest_and_records_show_the_extreme_codes() -> None:
    assert default_records(RELATED) == ((0, 0, 0), (1, 1, 2), (0, 1, 0), (1, 0, 2))
    assert default_records(related([1, 1], [[0]], "9/20")) == ((0, 0),)
    result = audit(RELATED, chance(1), records=[(1, 0, 1), (1, 0, 1)])
    assert result.passed
    assert {test.margin.truth for test in result.tests if test.margin.columns == (2,)} == {(1,)}
    assert result.disguised == records_needed(RELATED, [(1, 0, 1)], Goal(), result.tests[0].limit)
    assert run(related([2], [], "9/20")).disguised == 2 * FEWEST
    assert run(related([1, 2], [[0]], "9/20")).passed
    design = related([2, 2], [[0], [1]], "9/20")
    once, twice = (list(margins(design, records)) for records in ([(0, 0)], [(0, 0), (0, 0)]))
    assert once == twice
    assert [m.truth for m in margins(design, [(0, 0), (0, 1)]) if m.columns == (0,)] == [(0,)]
    margin = Margin((2, 0), (0, 0), (2, 3), (Fraction(1, 6),) * 6)
    responses = np.array([[2, 9, 1], [0, 9, 1], [2, 9, 0], [2, 9, 1]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [0, 0, 1, 1, 0, 2]
    margin = Margin((0, 1), (1, 0), (2, 2), (Fraction(1, 4),) * 4, only_truth=True)
    responses = np.array([[1, 0], [1, 2], [0, 0], [2, 1], [1, 0]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [1, 1, 1, 2]
    margin = Margin((0, 0), (1, 1), (2, 2), (Fraction(1, 4),) * 4, only_truth=True, serial=True)
    responses = np.array([[1], [1], [1], [0], [0], [0], [1], [1], [1]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [1, 0, 1, 2]
    design = related([16, 16, 32, 2], [[0, 1, 2, 3]], "9/20")
    assert MAX_MARGIN_CELLS == 16 * 16
    assert joint_columns(design, design.groups[0]) == [(0, 1), (0, 3), (1, 3), (2, 3)]
    assert untested_pairs(design) == ((0, 2), (1, 2))
    assert truth_chance(DESIGNS["unrelated, mixed"], 1, 2) == Fraction(9, 10) + Fraction(1, 30)
    assert truth_chance(DESIGNS["partial disguise"], 1, 2) == 1
    for columns in (20, 40, 2 * MAX_PAIRS):
        group = tuple(range(columns))
        design = RelatedDesign((2,) * columns, (group,), Fraction(7, 10))
        pairs = [each for each in joint_columns(design, group) if len(each) == 2]
        assert {(0, column) for column in group[1:]} <= set(pairs)
        assert len(pairs) == min(columns * (columns - 1) // 2, max(MAX_PAIRS, columns - 1))
        assert len(pairs) + len(untested_pairs(design)) == columns * (columns - 1) // 2


CHANCES = tuple(map(Fraction, ("0", "1/1000", "9/20", "1/2", "99/100", "1")))


def test_the_alarm_bound_is_never_below_the_chance_of_such_a_share_on_either_side() -> None:
    """What the bound promises: over all outcomes, it is at most `a` with a chance of at most `a`."""
    for trials, chance in product([1, 7, 60], CHANCES):
        bounds = [alarm_bound(hits, trials, chance) for hits in range(trials + 1)]
        for hits, bound in enumerate(bounds):
            worse = [other for other in range(trials + 1) if bounds[other] <= bound]
            total = sum(upper_tail(trials, chance, other) - upper_tail(trials, chance, other + 1) for other in worse)
            assert total <= bound + 1e-12, hits


def test_the_alarm_bound_is_near_the_exact_tails_and_a_contradiction_has_no_chance() -> None:
    exact = 2 * upper_tail(100_000, Fraction(1, 2), 50_870)
    assert exact < alarm_bound(50_870, 100_000, Fraction(1, 2)) < 20 * exact
    assert alarm_bound(1, 1000, Fraction(0)) == alarm_bound(999, 1000, Fraction(1)) == 0
    assert alarm_bound(0, 1000, Fraction(0)) == alarm_bound(1000, 1000, Fraction(1)) == 1


PAIRS = [("9/20", "23/50"), ("9/20", "11/25"), ("1/100", "1/50"), ("99/100", "1"), ("1/100", "0")]
PAIRS += [("1", "99/100"), ("0", "1/100"), ("1", "0"), ("0", "1"), ("1/2", "1")]


def test_a_sample_of_that_size_has_the_power_by_exact_tails() -> None:
    for (claim, truth), (alarm, miss) in product(PAIRS, [(1e-9, 1e-3), (0.01, 0.2)]):
        declared, actual = Fraction(claim), Fraction(truth)
        trials = trials_needed(declared, actual, alarm, miss)
        assert trials is not None
        assert missed(declared, actual, trials, alarm) <= miss
        if not {declared, actual} & {0, 1}:
            assert missed(declared, actual, trials // 3, alarm) > miss  # the bound costs something, not everything


def test_divergence_has_its_known_values_and_what_is_the_same_cannot_be_told_apart() -> None:
    assert divergence(0.5, Fraction(1, 4)) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))
    assert divergence(0.25, Fraction(1, 4)) == 0
    assert divergence(1, Fraction(1, 4)) == pytest.approx(log(4))
    assert divergence(0, Fraction(1, 4)) == pytest.approx(log(4 / 3))
    assert divergence(0.5, Fraction(0)) == divergence(0.5, Fraction(1)) == inf
    assert divergence(0, Fraction(0)) == divergence(1, Fraction(1)) == 0
    near = 1 - Fraction(1, 10**18)
    assert float(near) == 1
    assert divergence(0.5, near) == pytest.approx(0.5 * log(0.5) + 0.5 * log(0.5e18))
    for near in (HALF, HALF + Fraction(1, 10**18)):
        assert trials_needed(HALF, near, 1e-6, 1e-3) is None
