import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.models import strict_json as model_json
from party.models.any_file import _FORMATS, read_result, write_model
from party.models.strict_json import ModelError
from party.models.tree_file import read_tree, references, tree_from_json, tree_json
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.tables import Attribute, MissingCells
from protocols.terms import Growth, Impurity
from tests.support.examples import at_most
from tests.support.models import chain, models, small_model


def as_dict(tree: Tree) -> Any:
    return json.loads(tree_json(tree))


def refusal(content: object) -> str:
    with pytest.raises(ModelError) as caught:
        tree_from_json(json.dumps(content))
    return str(caught.value)


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
                "party": "alice",
                "name": "city",
                "values": ["Bergen", "Oslo", "other"],
                "missing": "other",
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
    }


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


def test_what_missing_cells_are_is_part_of_a_model_on_which_both_sides_agree() -> None:
    tree = small_model()
    first, *rest = tree.schema.attributes
    for other in (MissingCells("> 40"), MissingCells(None, ()), MissingCells(None, ("-",)), MissingCells("> 40", ())):
        schema = replace(tree.schema, attributes=(replace(first, missing=other), *rest))
        assert replace(tree, schema=schema).digest() != tree.digest()
    with pytest.raises(InputError, match="column 'age' lacks the value of its missing cells"):
        replace(first, missing=MissingCells("Rome"))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
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
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_place(
    path: tuple[str | int, ...], value: object, problem: str
) -> None:
    content = as_dict(small_model())
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert refusal(content).startswith(problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[]", "must have exactly the keys"),
        (b"1" * 5000, "is not JSON"),
        (b'{"format": NaN}', "holds NaN"),
        (b'{"format": 1, "format": 2}', "gives a key twice"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a":' * 200_000, "is nested too deeply"),
    ],
)
def test_a_file_that_is_no_model_at_all_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        tree_from_json(data)


@given(st.binary(max_size=200))
@settings(max_examples=at_most(50))
def test_any_bytes_are_a_model_or_a_refusal(data: bytes) -> None:
    with pytest.raises(ModelError):
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


@pytest.mark.parametrize("known", list(map(str, _FORMATS)))
@pytest.mark.parametrize("version", ["0", "99"])
def test_a_model_of_another_version_is_named_with_the_way_on(tmp_path: Path, known: str, version: str) -> None:
    path, kind = tmp_path / "model.json", known.partition("/")[0]
    path.write_text(json.dumps({"format": f"{kind}/{version}"}))
    with pytest.raises(
        ModelError, match=rf"model\.json is a {kind}/{version}, this program reads .*{known}.*: go on with"
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
