"""The finished model as a file.

`cotally-model/1` is JSON: `{"format", "class": {"name", "values"}, "attributes": [{"party", "name", "values"}],
"tree": NODE}`. A NODE is `{"counts", "attribute", "children": [{"value", "node": NODE}]}` or, a leaf, `{"counts",
"class"}`. Where both parties have a column of one name, `attribute` is `party.name`. The reader trusts nothing: a
file that breaks any rule is refused with the place. Trees are walked without recursion: a tree over many two-valued
columns can be one long chain.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from party.files import read_bytes, write_atomically
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.tables.schema import Attribute, Schema

FORMAT = "cotally-model/1"
MOST_BYTES = 1 << 28
MOST_ATTRIBUTES = 1 << 16

_MOST_NESTING = 6000
_SPLIT = {"counts", "attribute", "children"}
_LEAF = {"counts", "class"}


class ModelError(InputError):
    """A model's file cannot be used."""


def references(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return how each attribute is called: by its name, or as `party.name` where that alone is unique."""
    names = [attribute.name for attribute in attributes]
    full = [f"{attribute.party}.{attribute.name}" for attribute in attributes]
    taken = set(full)
    return tuple(
        name if names.count(name) == 1 and name not in taken else long for name, long in zip(names, full, strict=True)
    )


def number_of(count: float) -> int | float:
    """Return a count as it is written: an integer if it is one."""
    return int(count) if float(count).is_integer() else float(count)


def to_json(tree: Tree) -> str:
    """Write a model as text, one node a line."""
    schema = tree.schema
    target = {"name": schema.class_attribute.name, "values": schema.class_attribute.values}
    attributes = ",\n  ".join(_json({"party": a.party, "name": a.name, "values": a.values}) for a in schema.attributes)
    return (
        f'{{"format": {_json(FORMAT)},\n "class": {_json(target)},\n "attributes": [\n  {attributes}],\n'
        f' "tree": {_nodes_json(tree)}}}\n'
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _nodes_json(tree: Tree) -> str:
    names = references(tree.schema.attributes)
    lines: list[str] = []
    pending: list[tuple[str, Node, str]] = [("", tree.root, "")]
    while pending:
        head, node, tail = pending.pop()
        counts = f'{head}{{"counts": {_json([number_of(count) for count in node.counts])}'
        if isinstance(node, Leaf):
            lines.append(f'{counts}, "class": {_json(tree.schema.class_attribute.values[node.label])}}}{tail}')
            continue
        lines.append(f'{counts}, "attribute": {_json(names[node.attribute])}, "children": [')
        values = tree.schema.attributes[node.attribute].values
        tails = ["},"] * (len(values) - 1) + ["}]}" + tail]
        heads = [f'{{"value": {_json(value)}, "node": ' for value in values]
        pending += reversed(list(zip(heads, node.children, tails, strict=True)))
    return "\n".join(lines)


def write_model(path: Path, tree: Tree) -> None:
    """Write a model's file, whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    write_atomically(path, to_json(tree))


def read_model(path: Path) -> Tree:
    """Read a model's file.

    Raises:
        ModelError: It cannot be read, or is not a `cotally-model/1` in every detail.
    """
    try:
        return from_json(read_bytes(path, MOST_BYTES))
    except ModelError as error:
        raise ModelError(f"{path} is not a {FORMAT}: {error}") from None
    except InputError as error:
        raise ModelError(str(error)) from None


def from_json(data: bytes | str) -> Tree:
    """Read a model from its JSON.

    Raises:
        ModelError: It is not a `cotally-model/1` in every detail.
    """
    top = _record(_parsed(data), "the file", {"format", "class", "attributes", "tree"})
    if top["format"] != FORMAT:
        _refuse("format", f"must be {FORMAT!r}")
    target = _record(top["class"], "class", {"name", "values"})
    class_attribute = _attribute("class", "", target["name"], target["values"])
    attributes = []
    for position, entry in enumerate(_list(top["attributes"], "attributes")[:MOST_ATTRIBUTES]):
        place = f"attributes[{position}]"
        fields = _record(entry, place, {"party", "name", "values"})
        attributes.append(_attribute(place, _text(fields["party"], place), fields["name"], fields["values"]))
    try:
        schema = Schema(tuple(attributes), class_attribute, ())
    except InputError as error:
        _refuse("attributes", str(error))
    return Tree(schema, _Nodes(schema).read(top["tree"]))


def _parsed(data: bytes | str) -> object:
    try:
        with _deep_nesting():
            return json.loads(data, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except RecursionError:
        _refuse("the file", "is nested too deep")
    except ValueError:  # bad JSON, bad UTF-8, or an integer of thousands of digits
        _refuse("the file", "is not JSON")


@contextmanager
def _deep_nesting() -> Iterator[None]:
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, _MOST_NESTING))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        _refuse("the file", "gives a key twice")
    return record


def _refuse_constant(name: str) -> NoReturn:
    _refuse("the file", f"holds {name}, which is no JSON number")


def _refuse(place: str, problem: str) -> NoReturn:
    raise ModelError(f"{place} {problem}")


def _record(value: object, place: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != keys:
        _refuse(place, "must have exactly the keys " + ", ".join(sorted(keys)))
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(place, "must be a list")
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        _refuse(place, "must hold text")
    return value


def _attribute(place: str, party: str, name: object, values: object) -> Attribute:
    texts = tuple(_text(value, f"{place}.values") for value in _list(values, f"{place}.values"))
    named = _text(name, f"{place}.name")
    try:
        return Attribute(party, named, texts)
    except InputError as error:
        _refuse(place, f"cannot be used: {error}")


@dataclass(frozen=True)
class _Entry:
    """A node that is not read yet, where it stands, and what the path above it has split on."""

    value: object
    place: str
    used: frozenset[int]


class _Nodes:
    """Reads the nodes of a tree, parents first, then puts them together from the end."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._index = {name: i for i, name in enumerate(references(schema.attributes))}
        self._labels = {value: i for i, value in enumerate(schema.class_attribute.values)}

    def read(self, value: object) -> Node:
        """Return the root."""
        heads: list[Leaf | tuple[tuple[float, ...], int]] = []
        pending = [_Entry(value, "tree", frozenset())]
        while pending:
            entry = pending.pop()
            record = entry.value if isinstance(entry.value, dict) else {}
            counts = self._counts(record.get("counts"), entry.place)
            if "class" in record:
                heads.append(self._leaf(_record(record, entry.place, _LEAF), entry.place, counts))
                continue
            _record(record, entry.place, _SPLIT)
            attribute = self._split_on(record["attribute"], entry)
            heads.append((counts, attribute))
            pending += reversed(self._children(record["children"], attribute, entry))
        return self._joined(heads)

    def _counts(self, value: object, place: str) -> tuple[float, ...]:
        counts = _list(value, f"{place}.counts")
        fits = (type(count) in (int, float) and abs(count) < 2**53 for count in counts)  # no infinity
        if len(counts) != self._schema.classes or not all(fits):
            _refuse(f"{place}.counts", f"must be {self._schema.classes} numbers, one a class")
        return tuple(counts)

    def _leaf(self, record: dict[str, Any], place: str, counts: tuple[float, ...]) -> Leaf:
        if not isinstance(record["class"], str) or record["class"] not in self._labels:
            _refuse(f"{place}.class", "is not one of the classes")
        return Leaf(counts, self._labels[record["class"]])

    def _split_on(self, name: object, entry: _Entry) -> int:
        if not isinstance(name, str) or name not in self._index:
            _refuse(f"{entry.place}.attribute", "is not one of the attributes")
        if self._index[name] in entry.used:
            _refuse(f"{entry.place}.attribute", "was split on above")
        return self._index[name]

    def _children(self, value: object, attribute: int, entry: _Entry) -> list[_Entry]:
        place = f"{entry.place}.children"
        records = [_record(child, place, {"value", "node"}) for child in _list(value, place)]
        if tuple(record["value"] for record in records) != self._schema.attributes[attribute].values:
            _refuse(place, "must be one for each value of the attribute, in its order")
        used = entry.used | {attribute}
        return [_Entry(record["node"], f"{place}[{i}].node", used) for i, record in enumerate(records)]

    def _joined(self, heads: list[Leaf | tuple[tuple[float, ...], int]]) -> Node:
        stack: list[Node] = []
        for head in reversed(heads):
            if isinstance(head, Leaf):
                stack.append(head)
                continue
            counts, attribute = head
            children = [stack.pop() for _ in self._schema.attributes[attribute].values]
            stack.append(Split(counts, attribute, tuple(children)))
        return stack.pop()
