import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from party.data import read_frame
from party.errors import DataError
from party.models import strict_json as model_json
from party.models.any_file import read_model, write_model
from party.models.bayes_file import FORMAT, bayes_from_json, bayes_json, read_bayes
from party.models.prediction import predict_frame
from party.models.strict_json import ModelError
from party.show.document import laid_out
from party.show.tree import bayes_parts
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.tables import Attribute, Schema
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
                "party": "survey",
                "name": "age",
                "values": ["<= 40", "> 40", "missing"],
                **untold,
                "chances": [[0.5, 0.25], [0.5, 0.5], [0.0, 0.25]],
                "errors": None,
            },
            {
                "party": "survey",
                "name": "sex",
                "values": ["f", "m"],
                **untold,
                "chances": [[0.9, 0.5], [0.1, 0.5]],
                "errors": None,
            },
        ],
    }
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


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
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
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    text = bayes_json(small_bayes())
    assert old in text
    path = tmp_path / "b.json"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ModelError, match=rf"b.json is not a cotally-bayes/2: .*{problem}"):
        read_bayes(path)


def test_more_attributes_than_can_be_are_refused_and_never_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_json, "MOST_ATTRIBUTES", 2)
    assert bayes_json(bayes_from_json(bayes_json(small_bayes()))) == bayes_json(small_bayes())
    monkeypatch.setattr(model_json, "MOST_ATTRIBUTES", 1)
    with pytest.raises(ModelError, match="attributes are 2, more than 1"):
        bayes_from_json(bayes_json(small_bayes()))


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
    assert (found.correct, found.known) == (2, 2)
    with pytest.raises(DataError, match="column 'sex': the file has no such column"):
        predict(tmp_path, "age\n30\n")
