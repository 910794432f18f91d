"""What an audit is given and what it says: records, goals, refusals, words."""

from dataclasses import replace
from fractions import Fraction

import pytest

from party.show.audit import audit_lines
from party.show.layout import laid_out
from party.show.names import Names
from protocols.errors import InputError
from protocols.privacy.audit import (
    FEWEST,
    MAX_RECORDS,
    AuditResult,
    Sampler,
    audit,
    default_records,
    records_needed,
)
from protocols.privacy.goal import Goal
from protocols.randomized_response.design import Draw
from protocols.tables.table import Codes
from tests.protocols.privacy.auditing import RELATED, chance, run
from tests.protocols.privacy.designs import related, unrelated


def test_records_show_the_lowest_and_highest_codes_and_both_mixed() -> None:
    assert default_records(RELATED) == ((0, 0, 0), (1, 1, 2), (0, 1, 0), (1, 0, 2))
    assert default_records(related([1, 1], [[0]], "9/20")) == ((0, 0),)


def test_the_records_may_be_chosen() -> None:
    result = audit(RELATED, chance(1), records=[(1, 0, 1), (1, 0, 1)])
    assert result.passed
    assert {test.margin.truth for test in result.tests if test.margin.columns == (2,)} == {(1,)}
    assert result.records == records_needed(RELATED, [(1, 0, 1)], Goal(), result.limit)


def test_a_design_with_nothing_to_disguise_is_audited_on_few_records() -> None:
    assert run(related([2], [], "9/20")).records == 2 * FEWEST
    assert run(related([1, 2], [[0]], "9/20")).passed


NAMES = Names(["age", "sex", "town"], [["young", "old"], ["f", "m"], ["x", "y", "z"]], ["person", "place"])


def told(result: AuditResult, names: Names | None = None) -> str:
    """Return the finding with its sentences in one line."""
    lines = laid_out(audit_lines(result, names))
    assert max(map(len, lines)) <= 80
    assert max(map(len, laid_out(audit_lines(result, names), 60))) <= 60
    return " ".join(" ".join(lines).split())


def test_the_verdict_comes_first_then_what_was_counted() -> None:
    passed = run(RELATED)
    assert audit_lines(passed)[0] == "OK: the sampler responds as the design declares."
    assert told(passed) == (
        f"{audit_lines(passed)[0]} Made-up records were disguised {passed.records:,} times, and {len(passed.tests)} "
        "counts of the responses were held against their declared chances: a correct sampler fails such a check in at "
        "most 0.0001% of cases, one whose theta is off by 1/100 in at least 99.9%."
    )
    design = related([2], [[0]], "9/20")
    failed = run(design, lambda codes, _: codes)
    assert audit_lines(failed)[0] == f"NOT as declared: 12 of {len(failed.tests)} counts are not what the design says."


def test_pairs_that_were_not_counted_are_named() -> None:
    result = run(related([16, 32], [[0, 1]], "9/20"))
    text = "Not counted together, as there are too many combinations: "
    assert told(result).endswith(f"{text}column 1 and column 2.")
    names = Names(["street", "house"], [[""] * 16, [""] * 32], ["place"])
    assert told(result, names).endswith(f"{text}street and house.")
    many = replace(result, untested=((0, 1),) * 12)
    assert told(many).count(text) == 10
    assert told(many).endswith("Nor 2 other pairs of columns of one group.")


def test_departures_are_told_by_name_the_least_likely_first() -> None:
    honest = run(RELATED, lambda codes, _: codes)
    half = honest.records // 4
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


def test_every_kind_of_count_has_its_words() -> None:
    honest = run(RELATED, lambda codes, _: codes)

    def of(*columns: int, alike: bool = False) -> str:
        failures = (test for test in honest.failures if test.margin.columns == columns and test.observed)
        test = next(test for test in failures if test.margin.told == alike)
        return told(replace(honest, tests=(test,)), NAMES)

    assert "age and sex (group person): 'young' and 'f' sent where 'young' and 'f' is true: " in of(0, 1)
    assert "age and town, of two groups, true values 'young' and 'x': truth and truth told: " in of(0, 2, alike=True)
    assert "town, a record and the next, true value 'x': truth and truth told: " in of(2, 2, alike=True)

    def touched(codes: Codes, draw: Draw) -> Codes:
        responses = design.randomize(codes, draw)
        responses[5, 1] = 1
        return responses

    design = related([2, 2], [[0]], "9/20")
    assert "sex, sent in the clear: 'm' sent where 'f' is true: 1 of " in told(run(design, touched), NAMES)


@pytest.mark.parametrize(
    ("alarm", "power"), [(0.0, 0.9), (1.0, 0.9), (0.1, 0.0), (0.1, 1.0), (float("nan"), 0.9), (0.1, float("nan"))]
)
def test_rates_out_of_range_are_refused(alarm: float, power: float) -> None:
    with pytest.raises(InputError, match="false-alarm rate and power must lie strictly between 0 and 1"):
        Goal(alarm, power)


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(-1, 100), Fraction(101, 100), 0.01])
def test_a_shift_out_of_range_is_refused(shift: Fraction) -> None:
    with pytest.raises(InputError, match="an exact fraction above 0 and at most 1"):
        Goal(shift=shift)


def test_a_shift_that_no_theta_can_take_is_refused() -> None:
    with pytest.raises(InputError, match="theta = 9/20 cannot be off by 3/5 and stay between 0 and 1"):
        audit(RELATED, chance(1), goal=Goal(shift=Fraction(3, 5)))


def test_a_goal_that_needs_too_many_records_is_refused_before_any_is_drawn() -> None:
    def never(records: int) -> Draw:
        raise AssertionError(records)

    with pytest.raises(InputError, match=f"records, more than {MAX_RECORDS}: raise the shift or the false-alarm rate"):
        audit(RELATED, never, goal=Goal(shift=Fraction(1, 10_000)))


@pytest.mark.parametrize("records", [[], [(0, 0)], [(0, 0, 3)], [(0, -1, 0)], [(0, 0, 0), (0, 0, 0, 0)]])
def test_records_that_do_not_fit_are_refused(records: list[tuple[int, ...]]) -> None:
    with pytest.raises(InputError, match="at least one record, each of 3 codes inside their domains"):
        audit(RELATED, chance(1), records=records)


def test_records_that_do_not_show_theta_are_refused() -> None:
    with pytest.raises(InputError, match="the chosen records do not show theta of group 0: choose other codes"):
        audit(unrelated([[0]], "1/2", ["0 1"]), chance(1), records=[(1,)])


@pytest.mark.parametrize(
    ("sampler", "text"),
    [
        (lambda codes, _: codes[1:], "the sampler returned [0-9]+ responses to [0-9]+ records"),
        (lambda codes, _: codes[:, 1:], "the design has 3 columns, the table 2"),
        (lambda codes, _: codes + 1, "a code outside the design's domains"),
    ],
)
def test_what_is_no_table_of_responses_is_refused(sampler: Sampler, text: str) -> None:
    with pytest.raises(InputError, match=text):
        run(RELATED, sampler)
