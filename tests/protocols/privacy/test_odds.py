"""Odds of a column: by the definition over all responses, in words, and the same in every group of a run."""

from fractions import Fraction

import pytest

from party.names import odds_words
from party.show.layout import USUAL_WIDTH, laid_out
from party.show.odds import odds_text
from party.show.privacy import privacy_blocks
from protocols.privacy.findings import Findings, measure_design
from protocols.privacy.loss import attribute_loss, ratio_loss
from protocols.privacy.odds import Odds, column_odds, disguised_odds
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from tests.protocols.privacy.designs import related, unrelated
from tests.support.enumeration import every_design, name, responses


def privacy_lines(found: Findings, *, full: bool = False, width: int = USUAL_WIDTH) -> list[str]:
    return laid_out(privacy_blocks(found, full=full, width=width), width)


def worded(design: Design, column: int) -> str:
    odds = column_odds(design, column)
    return odds_words(odds.truth, odds.other)


@pytest.mark.parametrize("design", every_design(), ids=name)
def test_the_odds_are_the_largest_ratio_over_all_responses_and_truths(design: Design) -> None:
    for column, size in enumerate(design.sizes):
        if size == 1 or design.group_of(column) is None:
            continue
        told = []
        for value in range(size):
            truth = [0] * len(design.sizes)
            truth[column] = value
            sent = responses(truth, design)
            told.append([sum(p for r, p in sent.items() if r[column] == code) for code in range(size)])
        pairs = [(told[v][r], told[w][r]) for r in range(size) for v in range(size) for w in range(size)]
        infinite = any(high and not low for high, low in pairs)
        odds = column_odds(design, column)
        assert odds.strength == (None if infinite else max(Fraction(high) / low for high, low in pairs if low))
        assert ratio_loss(odds.strength) == attribute_loss(design, column)
        assert (odds.truth, odds.other) in {
            (told[v][v], told[w][v]) for v in range(size) for w in range(size) if v != w
        }


def test_one_value_has_no_odds_and_a_plain_column_certainty() -> None:
    design = RelatedDesign((1, 2, 3), ((0, 1),), Fraction(9, 20))
    assert column_odds(design, 0) == Odds(Fraction(1), Fraction(1))
    assert worded(design, 2) == "1 to 0"
    assert [found for found, _ in disguised_odds(design, "abc")] == ["b"]


@pytest.mark.parametrize(("theta", "words"), [("9/20", "9 to 11"), ("2/3", "2 to 1")])
def test_by_odds_every_column_with_a_coin_of_its_own_has_the_odds_of_theta(theta: str, words: str) -> None:
    apart = RelatedDesign.of_odds((2, 4, 16), ((0,), (1,), (2,)), Fraction(theta))
    assert {worded(apart, column) for column in (0, 1, 2)} == {words}


def test_by_odds_a_column_of_fewer_values_than_its_groups_offsets_has_weaker_odds() -> None:
    together = RelatedDesign.of_odds((2, 4), ((0, 1),), Fraction(2, 3))
    assert odds_text(disguised_odds(together, ["smoker", "age"])) == "3 to 2 (smoker), 2 to 1 (age)"


def test_the_report_of_a_survey_tells_the_odds_of_each_column() -> None:
    """A respondent's coin is literal: in a group of four offsets two values have 19 to 11 at theta = 9/20."""
    found = measure_design(related([2, 4], [[0, 1]], "9/20"), ["smoker", "age"], [["no", "yes"], list("abcd")])
    for full in (False, True):
        text = " ".join(" ".join(privacy_lines(found, full=full)).split())
        assert "Odds of a true value against any one other: 19 to 11 (smoker), 27 to 11 (age)." in text
    assert [each.odds for each in found.attributes] == [
        Odds(Fraction(19, 30), Fraction(11, 30)), Odds(Fraction(9, 20), Fraction(11, 60)),
    ]  # fmt: skip
    personal = measure_design(unrelated([[0]], "1/2", ["1/4 3/4"]), ["smoker"], [["no", "yes"]])
    assert "any one other (in the clearest response): 5 to 1." in " ".join(" ".join(privacy_lines(personal)).split())
