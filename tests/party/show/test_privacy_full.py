"""The privacy report: plain words, plain JSON, nothing assumed in silence."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from party.show.privacy_full import findings_json
from party.show.privacy_short import percent
from party.show.screen import json_text
from protocols.errors import InputError
from protocols.privacy.entry import Prior, breach, entropy_left, entry_of, record_coin_entropy
from protocols.privacy.findings import Findings, measure_design
from protocols.privacy.loss import record_loss
from protocols.privacy.single_entry import single_entry
from protocols.randomized_response.design import Design
from tests.protocols.privacy.designs import DESIGNS, related, shares, skewed, unrelated

NO_YES = ["no", "yes"]


def report(design: Design, priors: Sequence[Prior | None] | None = None) -> Findings:
    labels = [[f"v{value}" for value in range(size)] for size in design.sizes]
    return measure_design(design, [f"column{c}" for c in range(len(labels))], labels, priors)


def told(found: Findings) -> Any:
    return json.loads(json_text(findings_json(found)))


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_a_report_is_plain_json_with_exact_chances_and_infinity_in_words(design: Design) -> None:
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


@pytest.mark.parametrize(
    ("names", "values", "priors", "text"),
    [
        (["a"], [NO_YES, NO_YES], None, "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES], None, "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES, NO_YES], [None], "a name, labels and a prior (or None) for each of 2 columns"),
        (["a", "b"], [NO_YES, ["no"]], None, "column 'b' has 2 values in the design, but 1 labels"),
        (["a", "b"], [NO_YES, NO_YES], [None, shares("1/2 1/4")], "a prior must add up to 1 exactly, not 3/4"),
        (["a", "b"], [NO_YES, NO_YES], [None, shares("1")], "a chance for each of the 2 values of column 1, not 1"),
    ],
)
def test_names_labels_and_priors_must_fit(
    names: list[str], values: list[list[str]], priors: list[Prior | None] | None, text: str
) -> None:
    with pytest.raises(InputError) as refusal:
        measure_design(unrelated([[0, 1]], "1/2", ["1/2 1/2"] * 2), names, values, priors)
    assert text in str(refusal.value)
