"""The privacy report in plain words: known answers, what must never be left out, and how wide it may be."""

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from party.show.document import USUAL_WIDTH, laid_out
from party.show.privacy_full import findings_json, privacy_parts
from party.show.privacy_short import odds, percent
from party.show.screen import json_text
from protocols.errors import InputError
from protocols.privacy.entry import Prior, breach, entropy_left, entry_of, record_coin_entropy
from protocols.privacy.findings import Findings, measure_design
from protocols.privacy.loss import record_loss
from protocols.privacy.single_entry import single_entry
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from tests.protocols.privacy.designs import DESIGNS, related, shares, skewed, unrelated
from tests.support.examples import few

NO_YES = ["no", "yes"]


def privacy_lines(found: Findings, *, full: bool = False, width: int = USUAL_WIDTH) -> list[str]:
    return laid_out(privacy_parts(found, full=full), width)


def report(design: Design, priors: Sequence[Prior | None] | None = None) -> Findings:
    labels = [[f"v{value}" for value in range(size)] for size in design.sizes]
    return measure_design(design, [f"column{c}" for c in range(len(labels))], labels, priors)


def short(design: Design, priors: Sequence[Prior | None] | None = None) -> str:
    """Return the short report with its sentences in one line."""
    return " ".join(" ".join(privacy_lines(report(design, priors))).split())


def full(design: Design, priors: Sequence[Prior | None] | None = None) -> str:
    return " ".join(" ".join(privacy_lines(report(design, priors), full=True)).split())


@pytest.mark.parametrize("name", ["short", "full"])
def test_a_report_in_plain_words(name: str) -> None:
    design = related([2, 2, 4, 3, 2], [[0, 1, 2], [4]], "9/20")
    values = [NO_YES, NO_YES, ["<30", "<45", "<60", "60+"], ["a", "b", "c"], ["f", "m"]]
    priors = [None, shares("9/10 1/10"), shares("1/4 1/4 1/4 1/4"), None, None]
    columns = ["smoker", "asthma", "age", "town", "sex"]
    lines = privacy_lines(measure_design(design, columns, values, priors, ["health", "person"]), full=name == "full")
    assert "\n".join(lines) + "\n" == Path(__file__).with_name(f"report_{name}.txt").read_text("utf-8")


def test_no_line_is_wider_than_a_terminal() -> None:
    for design, long in product(few(list(DESIGNS.values()), 3), [False, True]):
        text = "a name of many words, " * 9 if long else "n" * 130
        labels = [[f"{text}{value}" for value in range(size)] for size in design.sizes]
        priors = [skewed(size) for size in design.sizes]
        for names in (None, [text] * len(design.groups)):
            found = measure_design(design, [text] * len(labels), labels, priors, names)
            for width in few((60, 80, 200), 2):
                lines = [*privacy_lines(found, width=width), *privacy_lines(found, full=True, width=width)]
                assert max(map(len, lines)) <= width


def test_the_short_report_fits_a_screen() -> None:
    found = report(related([2] * 6, [[0, 1], [2, 3], [4, 5]], "4/5"))
    assert len(privacy_lines(found, width=100)) <= 33
    assert len(privacy_lines(found, width=80)) <= 36


def test_of_columns_that_share_a_coin_no_figure_of_one_alone_is_in_the_short_report() -> None:
    design = related([2, 2, 2], [[0, 1], [2]], "9/20")
    skew = [None, shares("9/10 1/10"), None]
    assert "column0 group 1 shares a coin 0.201 column1 group 1 shares a coin 0.201 column2 group 2 55.0%" in short(
        design, skew
    )
    assert "Worst attribute: column2. After some response the truth is 'v1' with a chance of 55.0%" in short(
        design, skew
    )
    assert "shares a coin its group is read as a whole" in short(design, skew)
    assert "Strongest belief (breach level): 55.0% for 'v1'" in full(design, skew)
    assert "Worst attribute" not in short(related([2, 2], [[0, 1]], "9/20"))
    assert "shares a coin" not in short(related([2, 1], [[0, 1]], "9/20"))


def test_the_chance_of_the_truth_is_each_groups_own_whatever_theta_is_called() -> None:
    """By odds a group of four offsets tells the truth less often than theta, which is that of two."""
    text = short(RelatedDesign.of_odds((2, 2, 4), ((0,), (1,), (2,)), Fraction(11, 20)))
    assert "in 3 groups: a column of 2 values is sent truly with a chance of 55.0%, else as another value; a" in text
    assert "; a column of 4 values is sent truly with a chance of 28.9%, else as another value." in text


def test_the_worst_is_what_rises_most_and_the_strongest_is_named_where_it_is_another() -> None:
    text = short(related([2, 2], [[0], [1]], "7/10"), [shares("1/100 99/100"), None])
    assert "Worst attribute: column1. After some response the truth is 'v0' with a chance of 70.0% (was 50.0%)." in text
    strongest = "Strongest belief overall, mostly because it was strong before: "
    strongest += "column0. After some response the truth is 'v1'"
    assert strongest in text
    assert "column0 group 1 99.6% (was 99.0%)" in text
    assert "Strongest belief overall" not in short(related([2, 2], [[0], [1]], "7/10"))


def test_equally_bad_attributes_are_named_if_they_are_few() -> None:
    assert "(was 50.0%); column1 and column2 likewise." in short(related([2] * 3, [[0], [1], [2]], "7/10"))
    assert "likewise" not in short(related([2] * 5, [[0], [1], [2], [3], [4]], "7/10"))


def test_what_a_disguise_does_is_said() -> None:
    start = "1 of 1 attributes are disguised, in 1 group: a column of 2 values is sent truly with a chance of "
    assert short(DESIGNS["Warner"]).startswith(start + "45.0%, else as another value.")
    assert short(DESIGNS["Greenberg"]).startswith(start + "50.0%, else as the answer to a personal question.")
    together = "in 1 group: all attributes of a group tell the truth with a chance of 90.0%, else all of them lie."
    assert together in short(DESIGNS["Du-Zhan"])


def test_a_column_of_one_value_sends_no_truth_and_no_lie() -> None:
    """With a coin of its own or beside another, which then has the coin for itself."""
    text = short(related([2, 1], [[0], [1]], "9/20"))
    assert (
        "of 2 values is sent truly with a chance of 45.0%, else as another value; column1 has one value, with" in text
    )
    assert "chance of 100" not in text
    assert "in 1 group: a column of 2 values is sent truly" in short(related([2, 1], [[0, 1]], "9/20"))
    assert "in 2 groups: column0 and column1 have one value, with nothing to hide." in short(
        related([1, 1], [[0], [1]], "9/20")
    )


def test_what_is_sent_in_the_clear_is_named_once() -> None:
    text = short(DESIGNS["partial disguise"])
    assert "Sent in the clear, as they are: column1, column2." in text
    assert text.count("column1") == 1
    assert "Nothing is sent in the clear." in short(DESIGNS["Warner"])


def test_relations_are_shown_of_the_attributes_that_they_link() -> None:
    text = short(related([2, 2, 3, 3], [[0, 1, 2, 3]], "9/20"))
    assert "group 1: whether column0 and column1 agree (by place in their lists)" in text
    assert (
        "group 1: how far apart the values of column2 and column3 stand in their lists; anybody who knows one" in text
    )
    chained = short(related([2, 3, 6], [[0, 1, 2]], "9/20"))
    assert "the values of column0, column1 and column2 stand in their lists, in part; anybody who knows one" in chained
    assert "knows the others or has fewer values left" in chained
    assert "No relation between disguised attributes is disclosed" in short(DESIGNS["coprime"])


def test_epsilon_of_a_record_says_what_it_means_and_when_it_matters() -> None:
    for design, text in [
        (
            related([2, 2], [[0], [1]], "4/5"),
            (
                "is 2.773: a response may change the odds between two true records by up "
                "to 16: of two records that seemed equally likely, one may then seem 16 times as likely as the other."
            ),
        ),
        (
            related([2, 2], [[0, 1]], "4/5"),
            (
                "is infinite (group 1): some response proves combinations of true values "
                "impossible. It matters if the receiver knows part of a record"
            ),
        ),
        (
            related([2, 2], [[0]], "4/5"),
            (
                "is infinite, but only since columns are sent in the clear; what is disguised "
                "has 1.386, odds change by up to 4."
            ),
        ),
        (DESIGNS["no disguise"], "is infinite, but only since columns are sent in the clear."),
        (
            DESIGNS["unrelated, a value never sent"],
            (
                "is infinite: some response proves a true value impossible. It "
                "matters whatever else the receiver knows, since one response of column0 and column1 is enough."
            ),
        ),
    ]:
        assert f"Epsilon of a whole record {text}" in short(design)


def test_what_a_known_personal_answer_does_is_said_of_the_unrelated_question_alone() -> None:
    sentence = "Against someone who knows a respondent's own personal answer, epsilon is infinite: a response that"
    design = DESIGNS["unrelated, one group"]
    assert sentence in short(design)
    assert sentence in full(design)
    assert "; infinite against someone who knows a personal answer of the respondent, to whom the truth of " in full(
        design
    )
    groups = json.loads(json_text(findings_json(report(design))))["groups"]
    assert isinstance(groups, list)
    assert groups[0]["epsilon_if_a_personal_answer_is_known"] == "infinite" != groups[0]["epsilon"]
    for other in ("Warner", "Du-Zhan"):
        assert "personal answer" not in full(DESIGNS[other])


def test_a_factor_however_large_is_printed_in_few_characters() -> None:
    assert (odds(13.8), odds(13.9), odds(23.55)) == ("9.85e+05", "1.1e6", "1.7e10")
    assert odds(1e6) == "3.0e434294"


def test_what_a_group_does_not_protect_stands_at_the_top() -> None:
    text = "NOT PROTECTED, although in a group: every response gives away column0, column1 in full."
    for told in (short, full):
        assert text in told(DESIGNS["always the truth"])
        assert "Worst attribute" not in told(DESIGNS["always the truth"])
        assert "NOT PROTECTED" not in told(DESIGNS["Warner"])


def test_an_infinite_loss_is_not_doubled() -> None:
    text = full(DESIGNS["unrelated, a value never sent"])
    assert "The same response again, with fresh coins, would bring the strongest belief to 100%." in text
    assert "Epsilon: infinite: some response rules a value out." in text


def test_a_group_of_one_has_nothing_to_add() -> None:
    assert "responses of the group" not in full(DESIGNS["Warner"])
    assert "of the group may" not in full(DESIGNS["Warner"])


def test_one_value_and_no_disguise_have_their_words() -> None:
    assert "column0: one value, nothing to disclose." in full(DESIGNS["one value"])
    assert "column0 group 1 has one value column1 group 1" in short(DESIGNS["one value"])
    assert privacy_lines(report(DESIGNS["no disguise"]), width=100) == [
        "0 of 2 attributes are disguised.",
        "Sent in the clear, as they are: column0, column1.",
        "Epsilon of a whole record is infinite, but only since columns are sent in the clear.",
    ]
    assert "coins" not in full(DESIGNS["no disguise"])


def test_a_response_that_is_never_sent_has_its_word() -> None:
    assert "'v1' is never sent." in full(DESIGNS["unrelated, a value never sent"], [shares("1 0"), None])


def test_attributes_of_the_same_figures_are_shown_once_and_those_of_other_priors_apart() -> None:
    design = related([2, 2, 2], [[0], [1], [2]], "4/5")
    values = [NO_YES, ["f", "m"], NO_YES]
    lines = privacy_lines(measure_design(design, list("abc"), values), full=True, width=100)
    assert "a, b and c, by the own response alone (with the values of a; b likewise, value by value as" in lines
    assert sum("'no' is sent by" in line for line in lines) == 1
    priors = [None, None, shares("1/10 9/10")]
    apart = privacy_lines(measure_design(design, list("abc"), values, priors), full=True, width=100)
    assert "c, by the own response alone:" in apart


def test_relations_are_shown_from_the_smaller_domain_whichever_comes_first() -> None:
    found = measure_design(related([4, 2], [[0, 1]], "9/20"), ["age", "smoker"], [list("abcd"), NO_YES])
    assert "the places of the values of smoker and of age, modulo 2" in " ".join(
        " ".join(privacy_lines(found, full=True)).split()
    )


def test_what_is_assumed_is_said_of_the_attributes_that_it_is_assumed_of() -> None:
    design = unrelated([[0], [1]], "1/2", ["1/2 1/2"] * 2)
    assert "all values of every attribute are equally likely before a response. All figures" in short(design)
    part = "all values of column1 are equally likely before a response (of the others: as given)."
    assert part in short(design, [shares("1/4 3/4"), None])
    given = short(design, [shares("1/4 3/4")] * 2)
    assert "Assumed" not in given
    assert "Taken as likely before a response: the distributions that were given." in given


def told(found: Findings) -> Any:
    return json.loads(json_text(findings_json(found)))


def test_a_report_is_plain_json_with_exact_chances_and_infinity_in_words() -> None:
    for design in DESIGNS.values():
        found = report(design, [skewed(size) for size in design.sizes])
        read = told(found)
        for column, entry in enumerate(entry_of(design, c, skewed(size)) for c, size in enumerate(design.sizes)):
            own = read["attributes"][column]
            assert Fraction(own["single_entry_before_mining"]) == single_entry(entry)
            assert Fraction(own["breach_level"]) == breach(entry).level
            assert own["bits_left"] == entropy_left(entry)
            assert own["prior_is_assumed"] is False
            posteriors = [None if row is None else tuple(map(Fraction, row)) for row in own["posteriors"]]
            assert tuple(posteriors) == entry.posteriors
        for group, read_group in zip(design.groups, read["groups"], strict=True):
            entries = [Fraction(read["attributes"][c]["single_entry_before_mining"]) for c in group]
            assert Fraction(read_group["single_entry_before_mining"]) == min(entries)
        loss = read["record"]["epsilon"]
        assert (float("inf") if loss == "infinite" else loss) == record_loss(design)
        assert read["record"]["coin_bits"] == record_coin_entropy(design)


def test_group_names_must_be_as_many_as_groups() -> None:
    with pytest.raises(InputError, match="the design has 1 groups, but 2 names for them"):
        measure_design(related([2], [[0]], "9/20"), ["a"], [NO_YES], None, ["b", "c"])


def test_json_names_what_the_report_found() -> None:
    design = related([2, 4, 3], [[1, 0]], "9/20")
    read = told(measure_design(design, ["a", "b", "c"], [NO_YES, list("wxyz"), list("pqr")], None, ["home"]))
    assert [own["group_name"] for own in read["attributes"]] == ["home", "home", None]
    assert read["theta"] == "9/20"
    assert read["sent_as_they_are"] == ["c"]
    assert read["disclosed_in_full"] == []
    assert read["record"] == {"epsilon": "infinite", "coin_bits": pytest.approx(1.8645, abs=1e-4)}
    assert read["groups"] == [
        {
            "name": "home",
            "attributes": ["b", "a"],
            "kind": "related",
            "theta": "9/20",
            "single_entry_before_mining": str(2 * Fraction(19, 30) * Fraction(11, 30)),
            "epsilon": "infinite",
            "epsilon_if_a_personal_answer_is_known": None,
            "given_away_if_a_personal_answer_is_known": None,
            "coin_bits": pytest.approx(1.8645, abs=1e-4),
            "relations": [{"attributes": ["a", "b"], "difference_modulo": 2, "values_left": [1, 2]}],
        }
    ]


def test_json_of_one_attribute() -> None:
    read = told(measure_design(related([2], [[0]], "7/10"), ["smoker"], [NO_YES]))
    assert read["attributes"] == [
        {
            "name": "smoker",
            "values": ["no", "yes"],
            "group": 0,
            "group_name": "group 1",
            "sent_as_it_is": False,
            "prior": ["1/2", "1/2"],
            "prior_is_assumed": True,
            "responses": ["1/2", "1/2"],
            "posteriors": [["7/10", "3/10"], ["3/10", "7/10"]],
            "breach_level": "7/10",
            "breaches": [{"response": "no", "value": "no"}, {"response": "yes", "value": "yes"}],
            "largest_rise": {"response": "no", "value": "no", "before": "1/2", "after": "7/10"},
            "breach_level_if_asked_twice": "49/58",
            "single_entry_before_mining": "21/50",
            "epsilon": pytest.approx(0.847298),
            "odds": ["7/10", "3/10"],
            "bits_before": 1.0,
            "bits_left": pytest.approx(0.881291),
        }
    ]


def test_percents_are_never_rounded_to_certainty() -> None:
    given = map(Fraction, ("0", "1/100000", "1/1000", "1/3", "999/1000", "99999/100000", "1"))
    assert list(map(percent, given)) == ["0%", "under 0.1%", "0.1%", "33.3%", "99.9%", "over 99.9%", "100%"]


def test_names_labels_and_priors_must_fit() -> None:
    for names, values, priors, text in [
        (["a"], [NO_YES, NO_YES], None, "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES], None, "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES, NO_YES], [None], "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES, ["no"]], None, "column 'b' has 2 values in the design, but 1 labels"),
        (["a", "b"], [NO_YES, NO_YES], [None, shares("1/2 1/4")], "a prior must add up to 1 exactly, not 3/4"),
        (["a", "b"], [NO_YES, NO_YES], [None, shares("1")], "a chance for each of the 2 values of column 1, not 1"),
    ]:
        with pytest.raises(InputError) as refusal:
            measure_design(unrelated([[0, 1]], "1/2", ["1/2 1/2"] * 2), names, values, priors)
        assert text in str(refusal.value)
