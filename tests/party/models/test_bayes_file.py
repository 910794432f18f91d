import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from party.association import joint_rules
from party.data import read_frame
from party.errors import DataError
from party.models.any_file import model_from_text, read_model, write_model
from party.models.bayes_file import FORMAT, bayes_from_json, bayes_json, read_bayes
from party.models.itemset_file import itemsets_from_json, itemsets_json, read_itemsets
from party.models.prediction import predict_frame
from party.models.strict_json import ModelError
from party.show.document import laid_out
from party.show.tree import bayes_parts
from protocols.association import joint
from protocols.association.joint import JointItemsets, JointSet, ReachedRules
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.tables import Attribute, Schema, Term
from protocols.terms import Metric
from tests.support.models import NAMES, small_model


def log(*chances: ArrayLike) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(np.array(chances))


def small_bayes() -> NaiveBayes:
    """One value never occurs in one class."""
    schema = Schema(
        (Attribute("survey", "age", ("<= 40", "> 40", "missing")), Attribute("survey", "sex", ("f", "m"))),
        Attribute("", "smoker", ("yes", "no")),
        (),
    )
    age = log([0.5, 0.25], [0.5, 0.5], [0, 0.25])
    return NaiveBayes(schema, log(0.25, 0.75), (age, log([0.9, 0.5], [0.1, 0.5])))


@st.composite
def bayes_models(draw: st.DrawFn) -> NaiveBayes:
    values = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    schema = Schema(
        tuple(Attribute("survey", name, draw(values)) for name in names), Attribute("", draw(NAMES), draw(values)), ()
    )
    counts = st.one_of(st.just(0.0), st.floats(1e-9, 1e9))

    def distribution(size: int) -> list[float]:
        drawn = draw(st.lists(counts, min_size=size, max_size=size).filter(any))
        return [count / sum(drawn) for count in drawn]

    tables = [np.array([distribution(a.size) for _ in range(schema.classes)]).T for a in schema.attributes]
    return NaiveBayes(schema, log(*distribution(schema.classes)), tuple(log(*table) for table in tables))


@given(bayes_models())
def test_a_model_that_was_written_is_read_and_written_again_byte_for_byte(model: NaiveBayes) -> None:
    text = bayes_json(model)
    again = bayes_from_json(text)
    assert bayes_json(again) == text
    assert again.schema.attributes == model.schema.attributes
    assert again.schema.class_attribute == model.schema.class_attribute
    np.testing.assert_allclose(np.exp(again.prior), np.exp(model.prior), rtol=1e-11)
    for ours, theirs in zip(again.conditional, model.conditional, strict=True):
        np.testing.assert_allclose(np.exp(ours), np.exp(theirs), rtol=1e-11)


def surveyed_bayes() -> NaiveBayes:
    unknown = float("inf")
    errors = [[0.01, 0.015], [[0.25, unknown], [0.125, unknown], [0.5, unknown]], [[0, 0.5], [0.75, 2]]]
    return replace(small_bayes(), errors=tuple(np.array(each) for each in errors))


def test_errors_that_cannot_be_are_refused_with_the_place() -> None:
    for old, new, problem in [
        ("[0.01, 0.015]", "null", "errors must be a list"),
        ("[0.01, 0.015]", "[0.01]", "errors must hold 2 numbers of 0 or more, or null"),
        ("[0.01, 0.015]", "[0.01, -0.015]", "errors must hold 2 numbers of 0 or more, or null"),
        ("[0.01, 0.015]", "[0.01, 1e400]", "errors must hold 2 numbers of 0 or more, or null"),
        ("[0.01, 0.015]", "[0.01, true]", "errors must hold 2 numbers of 0 or more, or null"),
        ("[[0.0, 0.5], [0.75, 2.0]]", "null", r"attributes\[1\].errors must be a list"),
        ("[[0.0, 0.5], [0.75, 2.0]]", "[[0.0, 0.5]]", r"attributes\[1\].errors must be 2 lists"),
        (', "errors": [0.01, 0.015]', "", "must have exactly the keys"),
    ]:
        text = bayes_json(surveyed_bayes())
        assert old in text
        with pytest.raises(ModelError, match=problem):
            bayes_from_json(text.replace(old, new, 1))


def test_models_and_errors_are_read_as_they_were_written_in_the_documented_format(tmp_path: Path) -> None:
    write_model(tmp_path / "b.json", small_bayes())
    untold = {"missing": None, "marks": None}
    assert json.loads((tmp_path / "b.json").read_text()) == {
        "format": "cotally-bayes/2",
        "class": {"name": "smoker", "values": ["yes", "no"]},
        "prior": [0.25, 0.75],
        "errors": None,
        "attributes": [
            {
                "party": "survey", "name": "age", "values": ["<= 40", "> 40", "missing"], **untold,
                "chances": [[0.5, 0.25], [0.5, 0.5], [0.0, 0.25]], "errors": None,
            },
            {
                "party": "survey", "name": "sex", "values": ["f", "m"], **untold, "chances": [[0.9, 0.5], [0.1, 0.5]],
                "errors": None,
            },
        ],
    }  # fmt: skip
    assert bayes_json(read_bayes(tmp_path / "b.json")) == bayes_json(small_bayes())
    text = bayes_json(surveyed_bayes())
    assert json.loads(text)["errors"] == [0.01, 0.015]
    assert json.loads(text)["attributes"][0]["errors"] == [[0.25, None], [0.125, None], [0.5, None]]
    again = bayes_from_json(text)
    assert bayes_json(again) == text
    assert [each.tolist() for each in again.errors] == [each.tolist() for each in surveyed_bayes().errors]
    assert again.digest() == surveyed_bayes().digest() != small_bayes().digest()
    text = bayes_json(small_bayes()).replace(' "missing": null, "marks": null,', "").replace("bayes/2", "bayes/1")
    text = text.replace(', "errors": null', "")
    assert "marks" not in text
    assert "errors" not in text
    assert bayes_json(bayes_from_json(text)) == bayes_json(small_bayes())


def test_a_file_that_breaks_a_rule_is_refused_with_the_place(tmp_path: Path) -> None:
    for old, new, problem in [
        ("{", "[", "is not JSON"),
        (FORMAT, "cotally-bayes/3", "format must be"),
        ('"prior"', '"priors"', "must have exactly the keys"),
        ("[0.25, 0.75]", "[0.25]", "prior must hold 2 numbers from 0 to 1"),
        ("[0.25, 0.75]", "0.25", "prior must be a list"),
        ("[0.25, 0.75]", "[0.25, 0.7]", "prior must add up to 1"),
        ("[0.25, 0.75]", "[-0.25, 1.25]", "prior must hold 2 numbers from 0 to 1"),
        ("[0.25, 0.75]", "[NaN, 0.75]", "holds NaN"),
        ("[0.25, 0.75]", "[1e400, 0.75]", "prior must hold 2 numbers from 0 to 1"),
        ("[0.25, 0.75]", "[true, 0]", "prior must hold 2 numbers from 0 to 1"),
        ("[0.9, 0.5]", "[0.8, 0.5]", r"attributes\[1\].chances must add up to 1 for each class"),
        ("[[0.9, 0.5], [0.1, 0.5]]", "[[0.9, 0.5]]", r"attributes\[1\].chances must be 2 lists"),
        ("[[0.9, 0.5], [0.1, 0.5]]", "[[0.9, 0.5], 1]", r"attributes\[1\].chances must be a list"),
        ('"name": "sex"', '"name": "age"', "a column name occurs twice"),
        ('"name": "sex"', '"name": 1', r"attributes\[1\].name must hold text"),
        ('["f", "m"]', '["f", "f"]', "lists a value twice"),
        ('"party": "survey"', '"party": 1', "must hold text"),
    ]:
        text = bayes_json(small_bayes())
        assert old in text
        path = tmp_path / "b.json"
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(ModelError, match=rf"b.json is not a cotally-bayes/2: .*{problem}"):
            read_bayes(path)


def test_either_kind_is_told_apart_by_its_format(tmp_path: Path) -> None:
    write_model(tmp_path / "b.json", small_bayes())
    write_model(tmp_path / "t.json", small_model())
    assert isinstance(read_model(tmp_path / "b.json"), NaiveBayes)
    assert isinstance(read_model(tmp_path / "t.json"), Tree)
    for content in ("", "[]", "{}", '{"format": []}', '{"format": "cotally-run/1"}'):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(ModelError, match=r"x\.json is not a cotally-model/3"):
            read_model(tmp_path / "x.json")
    with pytest.raises(ModelError, match=r"absent\.json does not exist"):
        read_model(tmp_path / "absent.json")
    (tmp_path / "x.json").write_text(bayes_json(small_bayes()).replace("0.75", "0.7", 1))
    with pytest.raises(ModelError, match=r"x\.json is not a cotally-bayes/2: prior must add up"):
        read_model(tmp_path / "x.json")


def test_the_text_has_a_table_for_each_attribute_and_nothing_unprintable() -> None:
    assert (
        "\n".join(laid_out(bayes_parts(small_bayes()), None))
        == """\
smoker: naive Bayes over 2 attributes
              yes      no
P(class)   0.2500  0.7500
age
  <= 40    0.5000  0.2500
  > 40     0.5000  0.5000
  missing  0.0000  0.2500
sex
  f        0.9000  0.5000
  m        0.1000  0.5000"""
    )
    assert "\n".join(laid_out(bayes_parts(surveyed_bayes()), None)).splitlines()[1:] == [
        "                       yes               no",
        "P(class)   0.2500 (0.0100)  0.7500 (0.0150)",
        "age",
        "  <= 40    0.5000 (0.2500)       0.2500 (?)",
        "  > 40     0.5000 (0.1250)       0.5000 (?)",
        "  missing  0.0000 (0.5000)       0.2500 (?)",
        "sex",
        "  f        0.9000 (0.0000)  0.5000 (0.5000)",
        "  m        0.1000 (0.7500)  0.5000 (2.0000)",
        "In brackets: standard errors, of respondents drawn from a population.",
    ]
    schema = Schema((Attribute("survey", "a\x1b[2J", ("\n",)),), Attribute("", "c\t", ("\x07",)), ())
    nasty = NaiveBayes(schema, log(1.0), (log([1.0]),))
    assert all(line.isprintable() for line in laid_out(bayes_parts(nasty), None))


def predict(folder: Path, text: str) -> list[str]:
    path = folder / "rows.csv"
    path.write_text(text)
    return predict_frame(small_bayes(), read_frame(path)).labels


def test_rows_get_the_likeliest_class(tmp_path: Path) -> None:
    """By hand: P(yes) P(<= 40|yes) P(f|yes) = 0.1125 against 0.09375; `> 40`, f: 0.1125 against 0.1875."""
    assert predict(tmp_path, "age,sex\n30,f\n50,f\n30,m\n?,f\n<= 40,f\n") == ["yes", "no", "no", "no", "yes"]
    # Without sex: 0.125 against 0.1875; without age: 0.225 against 0.375.
    assert predict(tmp_path, "age,sex\n30,x\nold,f\nold,?\n") == ["no", "no", "no"]
    model = small_bayes()
    certain = NaiveBayes(model.schema, log(0.6, 0.4), model.conditional)
    (tmp_path / "rows.csv").write_text("age,sex,smoker\nold,,yes\n?,f,no\n")
    found = predict_frame(certain, read_frame(tmp_path / "rows.csv"))
    assert found.labels == ["yes", "no"]
    assert found.quality is not None
    assert (found.quality.correct, found.quality.known) == (2, 2)
    with pytest.raises(DataError, match="column 'sex': the file has no such column"):
        predict(tmp_path, "age\n30\n")


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
    for threshold in ((), ("lift", "3/2")):
        found = joint_rules(path, *threshold)
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
        ("lift", "5/4", 2), ("leverage", "3/20", 2), ("confidence", "15/16", 2), ("jaccard", 0.9375, 2),
        ("lift", 1.26, 0),
    ],
)  # fmt: skip
def test_rules_exactly_at_a_threshold_are_found(tmp_path: Path, metric: str, least: str | float, found: int) -> None:
    """Of 20 records 15 have the one item, all of them the other too, which 16 have."""
    items = (Attribute("alice", "tea", ("0", "1")), Attribute("bob", "rice", ("0", "1")))
    sets = ((Term(0, 1),), 15), ((Term(1, 1),), 16), ((Term(0, 1), Term(1, 1)), 15)
    kept = tuple(JointSet(terms, Fraction(count)) for terms, count in sets)
    (tmp_path / "sets.json").write_text(itemsets_json(JointItemsets(items, 20, Fraction(1, 2), 10, kept)))
    assert len(joint_rules(tmp_path / "sets.json", metric, least)) == found


def test_more_rules_than_memory_holds_are_reported_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = replace(FOUND, kept=(*FOUND.kept[:2], JointSet((A, B), Fraction(12))))
    monkeypatch.setattr(joint, "MOST_RULES", 2)
    assert len(settled.rules().rules) == 2
    monkeypatch.setattr(joint, "MOST_RULES", 1)
    with pytest.raises(InputError, match="these sets make 2 rules, more than 1: list the sets"):
        settled.rules()
