"""What an audit is given and what it says: records, goals, refusals, words."""

from fractions import Fraction

import pytest

from protocols.errors import InputError
from protocols.privacy.audit import FEWEST, MAX_RECORDS, Goal, Sampler, audit, default_records, records_needed
from protocols.randomized_response.design import Draw
from tests.protocols.privacy.auditing import RELATED, chance, run
from tests.protocols.privacy.designs import related, unrelated


def test_records_show_the_lowest_and_highest_codes_and_both_mixed() -> None:
    assert default_records(RELATED) == ((0, 0, 0), (1, 1, 2), (0, 1, 0), (1, 0, 2))
    assert default_records(related([1, 1], [[0]], "9/20")) == ((0, 0),)


def test_the_records_may_be_chosen() -> None:
    result = audit(RELATED, chance(1), records=[(1, 0, 1), (1, 0, 1)])
    assert result.passed
    assert {test.name.rsplit(" is ")[1] for test in result.tests if test.name.startswith("column 2:")} == {"1"}
    assert result.records == records_needed(RELATED, [(1, 0, 1)], Goal(), result.limit)


def test_a_design_with_nothing_to_disguise_is_audited_on_few_records() -> None:
    assert run(related([2], [], "9/20")).records == 2 * FEWEST
    assert run(related([1, 2], [[0]], "9/20")).passed


def test_the_finding_is_told_in_plain_words() -> None:
    passed = run(related([16, 32], [[0, 1]], "9/20")).lines()
    assert passed[0].endswith(
        "a sampler as declared fails with a chance of at most 1e-06, one with theta off by 1/100 with at least 0.999."
    )
    assert passed[1:] == ["Not counted together, too many cells: columns 0 and 1.", "The sampler responds as declared."]
    design = related([2], [[0]], "9/20")
    failed = run(design, lambda codes, _: codes)
    assert len(failed.lines()) == 1 + len(failed.failures)
    half = failed.records // 2
    assert (
        f"Not as declared: column 0: 0 where the truth is 0: {half} of {half}, declared 9/20; chance at most 0.0e+00."
        in failed.lines()
    )


@pytest.mark.parametrize(
    ("alarm", "power"), [(0.0, 0.9), (1.0, 0.9), (0.1, 0.0), (0.1, 1.0), (float("nan"), 0.9), (0.1, float("nan"))]
)
def test_rates_out_of_range_are_refused(alarm: float, power: float) -> None:
    with pytest.raises(InputError, match="false-alarm rate and power must lie strictly between 0 and 1"):
        Goal(alarm, power)


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(-1, 100), Fraction(101, 100), 0.01])
def test_a_shift_out_of_range_is_refused(shift: Fraction) -> None:
    with pytest.raises(InputError, match="an exact fraction above 0, at most 1"):
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
