"""A file of itemsets is written again as it was read, and none that breaks a rule is read."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.association import joint_rules
from party.models.any_file import model_from_text, read_model
from party.models.itemset_file import itemsets_from_json, itemsets_json, read_itemsets
from party.models.strict_json import ModelError
from protocols.association import joint
from protocols.association.joint import JointItemsets, JointSet, ReachedRules
from protocols.errors import InputError
from protocols.tables import Attribute, Term
from protocols.terms import Metric

A, B = Term(0, 1), Term(1, 0)
FOUND = JointItemsets(
    attributes=(Attribute("alice", "bread", ("0", "1")), Attribute("bob", "milk", ("yes", "no"))),
    records=40,
    threshold=Fraction(1, 4),
    least=10,
    kept=(
        JointSet((A,), Fraction(20)),
        JointSet((B,), Fraction(15)),
        JointSet((A, B), Fraction(35, 3), Fraction(7, 2), settled=False),
    ),
    undecided=2,
)


UNCOUNTED = replace(FOUND, kept=(JointSet((A, B), Fraction(10), settled=False),), has_counts=False)
REACHED = ReachedRules(Metric.LIFT, Fraction(3, 2), (((A,), (B,)), ((B,), (A,))))
WITH_RULES = replace(UNCOUNTED, reached=REACHED)


@pytest.mark.parametrize(
    "found",
    [FOUND, UNCOUNTED, WITH_RULES, replace(WITH_RULES, reached=replace(REACHED, rules=()))],
    ids=["counts", "none", "rules", "no rule"],
)
def test_itemsets_are_read_as_they_were_written(tmp_path: Path, found: JointItemsets) -> None:
    path = tmp_path / "model.json"
    path.write_text(itemsets_json(found))
    assert read_itemsets(path) == found
    assert itemsets_json(read_itemsets(path)) == itemsets_json(found)
    with pytest.raises(ModelError, match="holds itemsets"):
        read_model(path)
    with pytest.raises(ModelError, match="holds itemsets"):
        model_from_text(itemsets_json(found))


def test_a_file_without_counts_has_sets_of_both_sides_alone() -> None:
    for sets, problem in [
        ([{"items": [[0, 1]]}], "has items of one side alone"),
        ([{"items": [[0, 1], [1, 0]], "count": "12"}], "must have exactly the keys items"),
        ([{"items": [[0, 1], [1, 0], [2, 0]]}], "has a subset that is not listed"),
    ]:
        third = replace(UNCOUNTED, attributes=(*FOUND.attributes, Attribute("bob", "rice", ("yes", "no"))))
        content: Any = json.loads(itemsets_json(third)) | {"sets": sets}
        with pytest.raises(ModelError, match=problem):
            itemsets_from_json(json.dumps(content))


def test_rules_without_counts_are_parts_of_sets_that_are_listed() -> None:
    for changes, problem in [
        ({"metric": "conviction"}, "must be one of confidence, lift"),
        ({"min_threshold": "0"}, "must be above 0"),
        ({"reached": [[[[0, 1]], [[1, 0]]], [[[0, 1]], [[1, 0]]]]}, "has a rule twice"),
        ({"reached": [[[[0, 1]], [[1, 1]]]]}, "must be two parts of a set that is listed"),
        ({"reached": [[[[0, 1], [1, 0]]]]}, "must be two parts of a set that is listed"),
        ({"reached": [[[[0, 1], [1, 0]], []]]}, "must be of different columns"),
    ]:
        content: Any = json.loads(itemsets_json(WITH_RULES))
        content["rules"] |= changes
        with pytest.raises(ModelError, match=problem):
            itemsets_from_json(json.dumps(content))


def test_rules_without_counts_are_listed_at_the_threshold_of_their_run_alone(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(itemsets_json(WITH_RULES))
    for given in ((), ("lift", "3/2")):
        found = joint_rules(path, *given)
        assert list(found.columns) == ["antecedents", "consequents"]
        assert list(found["antecedents"]) == [{"alice.bread=1"}, {"bob.milk=yes"}]
    with pytest.raises(InputError, match="which rules have a lift of 3/2 or more"):
        joint_rules(path, "lift", 2)
    path.write_text(itemsets_json(UNCOUNTED))
    with pytest.raises(InputError, match="min_threshold in the job"):
        joint_rules(path)


def test_a_file_that_breaks_a_rule_is_refused_with_its_place() -> None:
    for place, value, problem in [
        (("sets", 2, "items"), [[0, 1], [0, 0]], "must be of different columns"),
        (("sets", 2, "items"), [[0, 0], [1, 0]], "has a subset that is not listed"),
        (("sets", 1, "items"), [[0, 1]], "is not in order"),
        (("sets", 0, "items"), [], "must be of different columns"),
        (("sets", 0, "items"), [[0, 2]], "names no value of a column"),
        (("sets", 0, "items"), [[2, 0]], "names no value of a column"),
        (("sets", 0, "items"), [[0]], "must be pairs of a column and a value"),
        (("sets", 0, "items"), [[0, True]], "must be pairs of a column and a value"),
        (("sets", 0, "items"), [[0, -1]], "must be pairs of a column and a value"),
        (("sets", 0, "count"), "None", "must be a fraction in lowest terms"),
        (("sets", 0, "count"), "20.0", "must be a fraction in lowest terms"),
        (("sets", 0, "count"), "40/2", "must be a fraction in lowest terms"),
        (("sets", 0, "count"), "1/2", "is settled, but its count is not exact"),
        (("sets", 0, "count"), "41", "is more than there are, or than a subset has"),
        (
            ("sets", 2),
            {"items": [[0, 1], [1, 0]], "count": "16", "variance": "0", "settled": True},
            "than a subset has",
        ),
        (("sets", 2, "count"), "1/" + "9" * 99, "is larger or smaller than any that can be"),
        (("sets", 2, "count"), "9" * 350, "is larger or smaller than any that can be"),
        (("sets", 2, "variance"), "9" * 350, "is larger or smaller than any that can be"),
        (("min_support",), "2", "must be above 0 and at most 1"),
        (("min_support",), "0", "must be above 0 and at most 1"),
        (("sets", 0, "settled"), 1, "must be true or false"),
        (("records",), 0, "must be an integer from 1"),
        (("undecided",), True, "must be an integer from 0"),
        (("format",), "cotally-itemsets/2", "must be 'cotally-itemsets/1'"),
    ]:
        content: Any = json.loads(itemsets_json(FOUND))
        inside = content
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value
        with pytest.raises(ModelError, match=problem):
            itemsets_from_json(json.dumps(content))


def test_no_two_items_of_columns_that_a_peer_has_named_are_written_alike(tmp_path: Path) -> None:
    """Its columns `a` with the value `b=c` and `a=b` with the value `c` would stand for each other in rules."""
    attributes = (
        Attribute("alice", "x", ("0", "1")),
        Attribute("bob", "a", ("", "b=c")),
        Attribute("bob", "a=b", ("", "c")),
    )
    x, first, second = Term(0, 1), Term(1, 1), Term(2, 1)
    sets = {(x,): 60, (first,): 60, (second,): 50, (x, first): 50, (first, second): 45}
    kept = tuple(JointSet(terms, Fraction(count)) for terms, count in sets.items())
    found = JointItemsets(attributes, 100, Fraction(1, 20), 5, kept)
    path = tmp_path / "model.json"
    path.write_text(itemsets_json(found))
    rules = joint_rules(path, min_threshold=0.0)
    told = dict(zip(zip(rules["antecedents"], rules["consequents"], strict=True), rules["confidence"], strict=True))
    one, two, three = (frozenset([name]) for name in ("alice.x=1", "bob.a=b=c", r"bob.a\=b=c"))
    assert told == {
        (one, two): pytest.approx(5 / 6), (two, one): pytest.approx(5 / 6),
        (two, three): pytest.approx(3 / 4), (three, two): pytest.approx(9 / 10),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "least", "found"),
    [
        ("lift", "5/4", 2),
        ("leverage", "3/20", 2),
        ("confidence", "15/16", 2),
        ("jaccard", 0.9375, 2),
        ("lift", 1.26, 0),
    ],
)
def test_rules_exactly_at_a_threshold_are_found(tmp_path: Path, metric: str, least: str | float, found: int) -> None:
    """Of 20 records 15 have the one item, all of them the other too, which 16 have."""
    items = (Attribute("alice", "tea", ("0", "1")), Attribute("bob", "rice", ("0", "1")))
    sets = ((Term(0, 1),), 15), ((Term(1, 1),), 16), ((Term(0, 1), Term(1, 1)), 15)
    kept = tuple(JointSet(terms, Fraction(count)) for terms, count in sets)
    (tmp_path / "sets.json").write_text(itemsets_json(JointItemsets(items, 20, Fraction(1, 2), 10, kept)))
    assert len(joint_rules(tmp_path / "sets.json", metric, least)) == found


def test_more_rules_than_memory_holds_are_told_of_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = replace(FOUND, kept=(*FOUND.kept[:2], JointSet((A, B), Fraction(12))))
    monkeypatch.setattr(joint, "MOST_RULES", 2)
    assert len(settled.rules().rules) == 2
    monkeypatch.setattr(joint, "MOST_RULES", 1)
    with pytest.raises(InputError, match="these sets make 2 rules, more than 1: list the sets"):
        settled.rules()
