import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data import Form, read_frame
from party.data.notices import About
from party.errors import DataError
from party.models import strict_json as model_json
from party.models.any_file import _FORMATS, read_result, write_model
from party.models.prediction import UNKNOWN, Predictions, coded_rows, predict_frame
from party.models.strict_json import ModelError
from party.models.tree_file import read_tree, references, tree_from_json, tree_json
from party.show.prediction import prediction_notes
from party.show.tree import tree_lines
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Split, Tree, majority
from protocols.tables import Attribute, MissingCells, Schema, two_way
from protocols.terms import Growth, Impurity, Leaves
from tests.support.models import chain, models, small_model


def as_dict(tree: Tree) -> Any:
    return json.loads(tree_json(tree))


def refusal(content: object) -> str:
    with pytest.raises(ModelError) as caught:
        tree_from_json(json.dumps(content))
    return str(caught.value)


def changed(content: Any, path: Sequence[str | int], value: object) -> object:
    *steps, last = path
    place = content = deepcopy(content)
    for step in steps:
        place = place[step]
    place[last] = value
    return content


@given(models())
def test_a_model_survives_its_file(tree: Tree) -> None:
    assert tree_from_json(tree_json(tree)) == tree


def test_the_file_is_as_the_readme_says() -> None:
    of_cities = [
        {"value": "Bergen", "node": {"counts": [5, 0], "class": "bad"}},
        {"value": "Oslo", "node": {"counts": [0, 3], "class": "good"}},
        {"value": "other", "node": {"counts": [0, 0], "class": "bad"}},
    ]
    of_ages = [
        {"value": "no", "node": {"counts": [1, 0], "class": "bad"}},
        {"value": "yes", "node": {"counts": [0, 6], "class": "good"}},
    ]
    untold = {"missing": None, "marks": None}
    assert as_dict(small_model()) == {
        "format": "cotally-model/3",
        "class": {"name": "outcome", "values": ["bad", "good"]},
        "growth": {"max_depth": None, "min_leaf": 1, "noise": None, "impurity": "information_gain", "prune": "0"},
        "attributes": [
            {"party": "alice", "name": "age", "values": ["<= 40", "> 40", "missing"], **untold},
            {
                "party": "alice", "name": "city", "values": ["Bergen", "Oslo", "other"], "missing": "other",
                "marks": ["?", "n/a"],
            },
            {"party": "bob", "name": "age", "values": ["no", "yes"], **untold},
        ],
        "tree": {
            "counts": [7, 9],
            "attribute": "alice.age",
            "children": [
                {"value": "<= 40", "node": {"counts": [5, 3], "attribute": "city", "children": of_cities}},
                {"value": "> 40", "node": {"counts": [1, 6], "attribute": "bob.age", "children": of_ages}},
                {"value": "missing", "node": {"counts": [1, 0], "class": "bad"}},
            ],
        },
    }  # fmt: skip


def test_a_file_of_the_format_before_is_read_and_says_nothing_of_missing_cells() -> None:
    content = as_dict(small_model()) | {"format": "cotally-model/2"}
    content["growth"]["min_class"] = 1
    assert refusal(content).startswith("attributes[0] must have exactly the keys name, party, values")
    for attribute in content["attributes"]:
        del attribute["missing"], attribute["marks"]
    tree = small_model()
    untold = tuple(replace(attribute, missing=MissingCells()) for attribute in tree.schema.attributes)
    assert tree_from_json(json.dumps(content)) == replace(tree, schema=replace(tree.schema, attributes=untold))
    assert refusal(content | {"format": "cotally-model/3"}).startswith("attributes[0] must have exactly the keys marks")


def with_shares() -> Tree:
    tree = replace(small_model(), growth=Growth(leaves=Leaves.TENTHS))
    return tree.relabelled(lambda _, leaf: replace(leaf, tenths=(10 - 3 * leaf.label, 3 * leaf.label)))


def test_the_shares_of_leaves_are_part_of_a_model_and_of_its_file() -> None:
    tree = with_shares()
    assert tree_from_json(tree_json(tree)) == tree
    assert tree.digest() != small_model().digest()
    content = as_dict(tree)
    assert content["growth"]["leaves"] == "tenths"
    assert '"tenths": [10, 0], "class": "bad"' in tree_json(tree)
    for wrong in ([10], [0, 0], [11, 0], [-1, 2], ["1", 9]):
        assert "tenths must be" in refusal(json.loads(tree_json(tree).replace("[10, 0]", json.dumps(wrong))))
    assert "exactly the keys" in refusal(json.loads(tree_json(tree).replace('"tenths": [10, 0], ', "")))


def test_what_missing_cells_are_is_part_of_a_model_on_which_both_sides_agree() -> None:
    tree = small_model()
    first, *rest = tree.schema.attributes
    for other in (MissingCells("> 40"), MissingCells(None, ()), MissingCells(None, ("-",)), MissingCells("> 40", ())):
        schema = replace(tree.schema, attributes=(replace(first, missing=other), *rest))
        assert replace(tree, schema=schema).digest() != tree.digest()
    with pytest.raises(InputError, match="column 'age' lacks the value of its missing cells"):
        replace(first, missing=MissingCells("Rome"))


AGES = Attribute("alice", "age", ("<= 20", "(20, 40]", "> 40", "missing"), MissingCells("missing"), ordered=3)


def two_way_tree() -> Tree:
    """Split at an age, then at another one: yes means good between them."""
    schema = two_way(
        Schema((AGES, Attribute("bob", "job", ("clerk", "cook"))), small_model().schema.class_attribute, ())
    )
    bad, good = Leaf((), 0), Leaf((), 1)
    return Tree(schema, Split((), 1, (Split((), 0, (bad, good)), bad)), Growth(min_leaf=20))


def test_a_tree_of_two_way_splits_keeps_its_columns_and_reads_cells_by_them(tmp_path: Path) -> None:
    tree, path = two_way_tree(), tmp_path / "rows.csv"
    content = as_dict(tree)
    assert (content["splits"], content["attributes"][0]["ordered"]) == ("two-way", 3)
    assert "ordered" not in content["attributes"][1]
    assert tree_from_json(tree_json(tree)) == tree
    path.write_text("age\n30\n20\n41\n?\nold\n")
    assert predict_frame(tree, read_frame(path)).labels == ["good", "bad", "bad", "bad", "bad"]
    assert list(tree_lines(tree))[1:] == [
        "age <= 40", "├─ yes: age <= 20", "│  ├─ yes: → bad", "│  └─ no: → good", "└─ no: → bad",
    ]  # fmt: skip
    for place, value, problem in (
        (("attributes", 0, "ordered"), 5, "attributes[0].ordered must be an integer from 2 to 4"),
        (("splits",), "values", 'splits must be "two-way", or left out'),
        (("tree", "attribute"), "age", "tree.attribute is not one of the attributes"),
    ):
        assert refusal(changed(content, place, value)).startswith(problem)
    assert len({replace(AGES, ordered=ordered).encoded for ordered in (0, 2, 3)}) == 3


def test_a_file_that_breaks_a_rule_is_refused_with_the_place() -> None:
    for path, value, problem in [
        (("format",), "cotally-model/1", "format must be 'cotally-model/3', or 'cotally-model/2'"),
        (("attributes", 0, "missing"), "Rome", "attributes[0].missing must be one of the values, or null"),
        (("attributes", 0, "missing"), ["missing"], "attributes[0].missing must be one of the values, or null"),
        (("attributes", 0, "marks"), "?", "attributes[0].marks must be a list"),
        (("attributes", 0, "marks"), [1], "attributes[0].marks must hold text"),
        (("class",), [], "class must have exactly the keys name, values"),
        (("class", "name"), 3, "class.name must hold text"),
        (("class", "name"), "\ud800", "class.name must hold text"),
        (("class", "values"), ["bad", "bad"], "class cannot be used"),
        (("class", "values"), "bad", "class.values must be a list"),
        (("growth",), None, "growth must have exactly the keys impurity, max_depth, min_leaf, noise, prune"),
        (("growth", "max_depth"), 0, "growth.max_depth must be an integer from 1 to 65535"),
        (("growth", "max_depth"), "3", "growth.max_depth must be an integer or null"),
        (("growth", "min_leaf"), None, "growth.min_leaf must be an integer"),
        (("growth", "noise"), 1, "growth.noise must be a fraction in lowest terms as text"),
        (("growth", "noise"), "2/4", "growth.noise must be a fraction in lowest terms as text"),
        (("growth", "noise"), "0", "growth.noise must be an exact number from 0.001 to 1000"),
        (("growth", "prune"), None, "growth.prune must be a fraction in lowest terms as text"),
        (("growth", "prune"), "None", "growth.prune must be a fraction in lowest terms as text"),
        (("growth", "prune"), "1", "growth.prune must be 0 or more and below 1"),
        (("growth", "min_leaf"), True, "growth.min_leaf must be an integer"),
        (("growth", "impurity"), "chaos", "growth.impurity must be information_gain, gain_ratio or gini"),
        (("growth", "impurity"), [], "growth.impurity must be information_gain"),
        (("growth", "min_leaf"), 0, "growth.min_leaf must be an integer from 1"),
        (("attributes",), {}, "attributes must be a list"),
        (("attributes",), [], "attributes neither party brings"),
        (("attributes", 0), None, "attributes[0] must have exactly"),
        (("attributes", 0, "party"), 1, "attributes[0] must hold text"),
        (("attributes", 0, "party"), "bob", "attributes a column name occurs twice"),
        (("attributes", 1, "values"), [], "attributes[1] cannot be used"),
        (("attributes", 1, "values", 0), 5, "attributes[1].values must hold text"),
        (("tree",), 3, "tree.counts must be a list"),
        (("tree", "counts"), [1], "tree.counts must be 2 numbers"),
        (("tree", "counts"), [1, True], "tree.counts must be 2 numbers"),
        (("tree", "counts"), [1, "2"], "tree.counts must be 2 numbers"),
        (("tree", "counts"), [1, 10**400], "tree.counts must be 2 numbers"),
        (("tree", "attribute"), "age", "tree.attribute is not one of the attributes"),
        (("tree", "attribute"), ["age"], "tree.attribute is not one of the attributes"),
        (("tree", "children"), None, "tree.children must be a list"),
        (("tree", "children"), [], "tree.children must be one for each value"),
        (("tree", "children", 0, "value"), "> 40", "tree.children must be one for each value"),
        (("tree", "children", 0, "extra"), 1, "tree.children must have exactly the keys node, value"),
        (("tree", "extra"), 1, "tree must have exactly the keys attribute, children, counts"),
        (("tree", "children", 2, "node", "extra"), 1, "tree.children[2].node must have exactly the keys class, counts"),
        (("tree", "children", 2, "node", "class"), "ugly", "tree.children[2].node.class is not one"),
        (("tree", "children", 2, "node", "class"), [], "tree.children[2].node.class is not one"),
        (("tree", "children", 0, "node", "attribute"), "alice.age", "tree.children[0].node.attribute was split on"),
    ]:
        assert refusal(changed(as_dict(small_model()), path, value)).startswith(problem)


def test_a_file_that_is_no_model_at_all_is_refused() -> None:
    for data, problem in [
        (b"", "is not JSON"), (b"\xff\xfe\x00", "is not JSON"), (b"[]", "must have exactly the keys"),
        (b"1" * 5000, "is not JSON"), (b'{"format": NaN}', "holds NaN"),
        (b'{"format": 1, "format": 2}', "gives a key twice"), (b"[" * 200_000, "is nested too deeply"),
        (b'{"a":' * 200_000, "is nested too deeply"),
    ]:  # fmt: skip
        with pytest.raises(ModelError, match=problem):
            tree_from_json(data)


def test_a_model_goes_through_a_file_and_errors_name_it(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_model(path, small_model())
    assert read_tree(path) == small_model()
    path.write_text("{}")
    with pytest.raises(ModelError, match=r"model\.json is not a cotally-model/3: the file must have"):
        read_tree(path)
    with pytest.raises(ModelError, match=r"absent\.json does not exist"):
        read_tree(tmp_path / "absent.json")


def test_a_model_of_another_version_is_named_with_the_way_on(tmp_path: Path) -> None:
    for known, version in product(list(map(str, _FORMATS)), ["0", "99"]):
        path, kind = tmp_path / "model.json", known.partition("/")[0]
        path.write_text(json.dumps({"format": f"{kind}/{version}"}))
        with pytest.raises(
            ModelError, match=rf"model\.json is a {kind}/{version}, this program reads .*{known}.*: install a later"
        ):
            read_result(path)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(InputError, match=r"model\.json cannot be written: No space left on device"):
        write_model(path, small_model())
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text() == "old"


def test_a_rewritten_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    path.chmod(0o640)
    write_model(path, small_model())
    assert path.stat().st_mode & 0o777 == 0o640


def test_more_attributes_than_can_be_are_refused_and_never_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_json, "MOST_ATTRIBUTES", 3)
    assert tree_from_json(tree_json(small_model())) == small_model()
    monkeypatch.setattr(model_json, "MOST_ATTRIBUTES", 2)
    assert refusal(as_dict(small_model())) == "attributes are 3, more than 2"


def test_a_model_survives_its_file_whatever_its_json() -> None:
    assert tree_from_json(json.dumps(as_dict(small_model()), indent=3)) == small_model()
    values = ("0", "1")
    pairs = [("alice", "bob.age"), ("alice", "age"), ("bob", "age"), ("bob", "size")]
    attributes = [Attribute(party, name, values) for party, name in pairs]
    assert references(attributes) == ("alice.bob.age", "alice.age", "bob.age", "size")
    # The json of Python 3.12 goes little deeper, that of others past 2,000.
    tree = chain(700)
    assert tree_json(tree_from_json(tree_json(tree))) == tree_json(tree)
    tree = small_model()
    rough = Tree(tree.schema, Leaf((0.1 + 0.2, -1e-3), 0))
    assert tree_from_json(tree_json(rough)) == rough
    growth = Growth(3, 5, noise=Fraction(1, 2), impurity=Impurity.GINI, prune=Fraction(1, 5))
    tree = replace(small_model(), growth=growth)
    limits = {"max_depth": 3, "min_leaf": 5}
    assert as_dict(tree)["growth"] == {**limits, "noise": "1/2", "impurity": "gini", "prune": "1/5"}
    assert tree_from_json(tree_json(tree)) == tree
    tree = small_model()
    assert isinstance(tree.root, Split)
    leaf = Tree(tree.schema, tree.root.children[2])
    assert tree_from_json(tree_json(leaf)) == leaf


def predict(folder: Path, text: str, tree: Tree | None = None, missing: tuple[str, ...] = ("", "?")) -> Predictions:
    path = folder / "rows.csv"
    path.write_text(text)
    return predict_frame(tree or small_model(), read_frame(path, Form(missing=missing)))


TRIED = "{} rows (rows trained on included), {} of them right"


def sentences(found: Predictions) -> list[str]:
    return [each for each in prediction_notes(found) if isinstance(each, str)]


def test_rows_follow_values_bins_missing_and_other(tmp_path: Path) -> None:
    rows = ["17,Oslo,no", "40,Bergen,yes", "41,Oslo,no", "99.5,Rome,yes", "?,Oslo,yes", "40,Rome,yes"]
    result = predict(tmp_path, "\n".join(["alice.age,city,bob.age", *rows]))
    assert result.labels == ["good", "bad", "bad", "good", "bad", "bad"]
    assert result.quality is None


def test_a_cell_without_a_branch_gets_the_majority_of_the_node_that_was_reached(tmp_path: Path) -> None:
    result = predict(tmp_path, "alice.age,city,bob.age\n50,Oslo,perhaps\n12,?,no\nold,Oslo,no\n")
    assert result.labels == ["good", "bad", "good"]


def test_what_was_left_out_of_cells_is_named_and_a_stray_cell_hides_nothing(tmp_path: Path) -> None:
    result = predict(tmp_path, "alice.age,city,bob.age\n17,Os\u200blo,no\n17,Oslo,no\n17,oslo,no\n")
    assert result.notices == (About.CELLS_UNSEEN(column="city", cells=1),)
    assert result.labels[:2] == ["good", "good"]
    tariff, phone = ("alice", "tariff", ("1", "2", "other")), ("bob", "phone", ("False", "True", "other"))
    path = tmp_path / "rows.csv"
    for rows in (["1,True", "2,False", "2,True", "x,True"], ["1.0,TRUE", "2.0,FALSE", "2.0,TRUE", "x,n.k."]):
        path.write_text("\n".join(["tariff,phone", *rows]) + "\n")
        codes = coded_rows(model_of(tariff, phone), read_frame(path), [0, 1]).codes.tolist()
        assert codes == [[0, 1], [1, 0], [1, 1], [2, 2 if "n.k." in rows[3] else 1]]
    older = model_of(("alice", "tariff", ("1.0", "2.0", "other")))  # as it was written before a value had one text
    path.write_text("tariff\n1\n2.00\nx\n")
    assert coded_rows(older, read_frame(path), [0]).codes[:, 0].tolist() == [0, 1, 2]


UNTOLD = MissingCells()


def model_of(*columns: tuple[str, str, tuple[str, ...]], missing: MissingCells = UNTOLD) -> Tree:
    """A tree that splits on the first column; its first value has the first class."""
    attributes = tuple(Attribute(*column, missing) for column in columns)
    schema = Schema(attributes, Attribute("", "outcome", ("bad", "good")), ())
    leaves = tuple(Leaf((0, 1), 1) if i else Leaf((1, 0), 0) for i in range(len(columns[0][2])))
    return Tree(schema, Split((1, 1), 0, leaves))


def test_columns_are_found_by_name_in_full_first(tmp_path: Path) -> None:
    tree = small_model()
    assert isinstance(tree.root, Split)
    by_city = Tree(tree.schema, tree.root.children[0])
    assert predict(tmp_path, "city\nOslo\nBergen\n", by_city).labels == ["good", "bad"]
    with pytest.raises(DataError, match=r"rows\.csv, column 'city': the file has no such column \(alice's\); it has"):
        predict(tmp_path, "alice.age,bob.age\n1,yes\n")
    with pytest.raises(DataError, match=r"no such column \(alice's\); did you mean 'City'\?$"):
        predict(tmp_path, "alice.age,City,bob.age\n1,Oslo,yes\n")
    alone = model_of(("alice", "city", ("Bergen", "Oslo")))
    with pytest.raises(DataError, match=r"column 'city': the file has no such column; it has"):
        predict(tmp_path, "name,size\nx,1\n", alone)
    with pytest.raises(DataError, match=r"both parties have a column 'age': name it 'alice\.age'"):
        predict(tmp_path, "age,city,bob.age\n1,Oslo,yes\n")
    result = predict(tmp_path, "alice.age,city,alice.city,bob.age\n1,Bergen,Oslo,yes\n")
    assert result.labels == ["good"]
    tree = model_of(("alice", "age", ("0", "1")), ("bob", "alice.age", ("0", "1")))
    with pytest.raises(DataError, match=r"'alice\.age' is a column's own name and one in full: rename it in the data"):
        predict(tmp_path, "alice.age\n0\n", tree)
    assert predict(tmp_path, "age\n0\n", tree).labels == ["bad"]
    tree = model_of(("bob", "alice.age", ("0", "1")), ("alice", "age", ("0", "1")))
    assert predict(tmp_path, "alice.age\n0\n1\n", tree).labels == ["bad", "good"]
    assert predict(tmp_path, "bob.alice.age\n0\n1\n", tree).labels == ["bad", "good"]


def test_other_missing_tokens_can_be_given_and_values_of_the_data_are_no_missing_cells(tmp_path: Path) -> None:
    assert predict(tmp_path, "alice.age,city,bob.age\nNA,Oslo,no\n", missing=("NA",)).labels == ["bad"]
    city = ("alice", "city", ("Bergen", "Oslo", "other"))
    model = model_of(city, missing=MissingCells("Oslo", ("-99", "gone")))
    path = tmp_path / "rows.csv"
    path.write_text("city,x\n,1\n-99.0,1\ngone,1\nNA,1\nRome,1\n")
    codes = coded_rows(model, read_frame(path), [0]).codes[:, 0].tolist()
    assert codes == [1, 1, 1, 2, 2]
    assert coded_rows(model, read_frame(path, Form(missing=("NA",))), [0]).codes[:, 0].tolist() == [1, 2, 2, 1, 2]
    found = coded_rows(model_of(city), read_frame(path), [0])
    assert (found.codes[:, 0].tolist(), found.unknown[0].cells) == ([UNKNOWN, 2, 2, UNKNOWN, 2], 2)
    # The owner's missing cells read -1, so that "?" is an answer like any other.
    tree = model_of(("alice", "vote", ("?", "no", "missing")))
    assert predict(tmp_path, 'vote\n?\nno\n""\n', tree).labels == ["bad", "good", "good"]


def test_estimated_counts_give_a_majority_too() -> None:
    schema = Schema((Attribute("a", "x", ("0",)),), Attribute("", "c", ("n", "y")), ())
    tree = Tree(schema, Split((-0.5, 0.25), 0, (Leaf((1, 0), 0),)))
    rows = np.array([[-1], [0], [1]], dtype=np.int16)
    assert tree.predict(rows).tolist() == [1, 0, 1]
    assert tree.shares(rows).tolist() == [[0, 1], [1, 0], [0, 1]]


@given(models(), st.data())
def test_a_code_of_no_value_is_classified_by_the_tree_cut_off_there(tree: Tree, data: st.DataObject) -> None:
    sizes = [attribute.size for attribute in tree.schema.attributes]
    rows = data.draw(st.lists(st.tuples(*[st.integers(-1, size) for size in sizes]), min_size=1, max_size=9))
    for row in rows:
        node = tree.root
        while isinstance(node, Split) and 0 <= row[node.attribute] < len(node.children):
            node = node.children[row[node.attribute]]
        label = node.label if isinstance(node, Leaf) else majority(node.counts)
        assert tree.predict(np.array([row], dtype=np.int16)).tolist() == [label]


def test_cells_that_the_model_does_not_know_are_counted_column_by_column(tmp_path: Path) -> None:
    read = (Attribute("a", "visits", ("0", "1", "2")), Attribute("a", "member", ("No", "Yes")))
    schema = Schema(read, Attribute("", "claim", ("0", "1")), ())
    known = [np.log(np.full((size, 2), 1 / size)) for size in (3, 2)]
    model = NaiveBayes(schema, np.log([0.75, 0.25]), tuple(known))
    path = tmp_path / "rows.csv"
    path.write_text("visits,member,claim\n2.0,yes,1\n7, Yes,0\n,Yes,1.0\n1,perhaps,\n")
    result = predict_frame(model, read_frame(path))
    alike = "differ from one only by case, blanks or the way a number is written"
    assert sentences(result) == [
        "column 'visits': 2 of 4 cells hold no value that the model knows",
        f"column 'member': 2 of 4 cells hold no value that the model knows; 1 {alike}",
        f"Accuracy 0.333 ± 0.272 on {TRIED.format(3, 1)}; always saying the commonest class: 0.667 ± 0.272",
        "AUC 0.500 ± 0.000, KS 0.000 ± 0.000, ranking by how likely 1 is",
        "Of those who are 1, the model finds 0.000 ± 0.000",
    ]
    assert repr(result.unknown[0]) == "<Unknown 2 of 4 cells>"


def test_numbers_of_another_decimal_sign_are_named_with_how_to_write_them(tmp_path: Path) -> None:
    tariff = model_of(("alice", "tariff", ("1.5", "2000", "other")))
    rows = 'tariff\n"1,5"\n"2,000"\n"9,5"\n1.5\nx\n'
    (note,) = prediction_notes(predict(tmp_path, rows, tariff))
    assert note == """column 'tariff': 1 are numbers if "." is the decimal sign: use --decimal ".\""""
    assert predict(tmp_path, rows, tariff).labels == ["good"] * 3 + ["bad", "good"]
    assert list(prediction_notes(predict(tmp_path, "tariff\n1.5\nx\n", tariff))) == []
    told = (
        "column 'alice.age': 3 of 4 cells hold no value that the model knows; 2 are numbers if "
        '"," is the decimal sign: use --decimal ","'
    )
    rows = "alice.age;city;bob.age\n17,5;Oslo;no\n1.017,5;Oslo;no\nold;Oslo;no\n17.5;Oslo;no\n"
    assert list(prediction_notes(predict(tmp_path, rows))) == [told]
    (town,) = prediction_notes(predict(tmp_path, "alice.age;city;bob.age\n17.5;Oslo;1,5\n50;Oslo;no\n"))
    assert town == "column 'bob.age': 1 of 2 cells hold no value that the model knows"


WRITINGS = {
    "plain": "visits,member,ward\n2,True,1\n0,True,0\n",
    "floats": "visits,member,ward\n2.0,True,1.0\n0.0,True,0.0\n",
    "lower case": "visits,member,ward\n2,true,1\n0,true,0\n",
    "blanks": " visits, member, ward\n2, True, 1\n0, True, 0\n",
    "semicolons": "visits;member;ward\n2;TRUE;1\n0;TRUE;0\n",
    "a row index": ",visits,member,ward\n0,2,True,1\n1,0,True,0\n",
}


def test_the_same_people_get_the_same_classes_however_they_are_written(tmp_path: Path) -> None:
    for text in WRITINGS.values():
        tree = model_of(("a", "visits", ("0", "1", "2")), ("a", "member", ("False", "True")), ("b", "ward", ("0", "1")))
        by_member = Split((1, 1), 1, (Leaf((1, 0), 0), tree.root))
        result = predict(tmp_path, text, Tree(tree.schema, by_member))
        assert result.labels == ["good", "bad"]
        assert not list(prediction_notes(result))


def test_the_class_column_scores_rows_and_an_accuracy_of_nothing_says_what_is_known(tmp_path: Path) -> None:
    text = "alice.age,city,bob.age,outcome\n17,Oslo,no,good\n17,Oslo,no,bad\n17,Oslo,no,?\n17,Oslo,no,ugly\n"
    result = predict(tmp_path, text)
    assert result.quality is not None
    assert (result.quality.correct, result.quality.known) == (1, 3)
    assert result.quality.table.accuracy().value == pytest.approx(1 / 3)
    text = "alice.age,city,bob.age,outcome\n17,Oslo,no,bad\n"
    wrong, right = predict(tmp_path, text), predict(tmp_path, text.replace("bad", "good"))
    known, accuracy = "every cell that was read is a value that the model knows", "Accuracy {} ± 0.000 on {};"
    assert sentences(wrong)[0] == known
    assert sentences(wrong)[1].startswith(accuracy.format("0.000", TRIED.format(1, 0)))
    assert sentences(right)[0].startswith(accuracy.format("1.000", TRIED.format(1, 1)))
    assert not list(prediction_notes(predict(tmp_path, "alice.age,city,bob.age\n17,Oslo,no\n")))


def test_a_repr_shows_the_number_of_rows_only(tmp_path: Path) -> None:
    schema = Schema((Attribute("a", "x", ("0",)),), Attribute("", "c", ("secret",)), ())
    assert repr(predict(tmp_path, "x\n0\n", Tree(schema, Leaf((1,), 0)))) == "<Predictions of 1 rows>"
