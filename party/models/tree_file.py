"""A tree as a file, `cotally-model/3` (FORMATS.md), read strictly and walked without recursion: it may be a chain."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from party.models.strict_json import (
    attribute_json,
    compact,
    head_of,
    list_of,
    opening,
    parsed,
    read_format,
    record_of,
    refuse,
)
from protocols.errors import InputError
from protocols.kinds import exact_number
from protocols.learning.tree import TENTHS, Leaf, Node, Split, Tree, planted
from protocols.tables import Attribute, Schema, two_way
from protocols.terms import TO_THE_END, Growth, Impurity, Leaves, Splits, TermError

FORMAT, OLDER_TREE, FIRST_TREE = "cotally-model/3", "cotally-model/2", "cotally-model/1"
_SPLIT = {"attribute", "children"}
_LEAF = {"class"}
_SHOWN = {"leaves", "weights"}  # of a tree that was grown otherwise than usual
_GROWTH = {field.name for field in fields(Growth)} - _SHOWN


def references(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return what each attribute is called: its name, or `party.name` where only that is unique."""
    names = [attribute.name for attribute in attributes]
    full = [f"{attribute.party}.{attribute.name}" for attribute in attributes]
    times, taken = Counter(names), set(full)
    return tuple(
        name if times[name] == 1 and name not in taken else long for name, long in zip(names, full, strict=True)
    )


def number_of(count: float) -> int | float:
    """Return a count as it is written: an integer if it is one."""
    return int(count) if float(count).is_integer() else float(count)


def tree_json(tree: Tree) -> str:
    """Write a model as text, one node per line."""
    attributes = ",\n  ".join(map(attribute_json, tree.schema.base.attributes))
    begin = f'{opening(FORMAT, tree.schema.class_attribute)} "growth": {compact(_limits(tree.growth))},\n'
    begin += f' "splits": {compact(Splits.TWO_WAY)},\n' if tree.schema.conditions else ""
    return f'{begin} "attributes": [\n  {attributes}],\n "tree": {_nodes_json(tree)}}}\n'


def _limits(growth: Growth) -> dict[str, object]:
    """Return what a tree was grown under; noise and shares as text, for they are exact numbers."""
    noise = None if growth.noise is None else str(growth.noise)
    limits = asdict(growth) | {"noise": noise, "prune": str(growth.prune)}
    usual = {name for name in _SHOWN if getattr(growth, name) == getattr(TO_THE_END, name)}
    return {name: value for name, value in limits.items() if name not in usual}


def _nodes_json(tree: Tree) -> str:
    names = references(tree.schema.attributes)
    lines: list[str] = []
    pending: list[tuple[str, Node, str]] = [("", tree.root, "")]
    while pending:
        head, node, tail = pending.pop()
        begin = head + "{"
        if tree.has_counts:
            begin += f'"counts": {compact([number_of(count) for count in node.counts])}, '
        if isinstance(node, Leaf):
            begin += f'"tenths": {compact(node.tenths)}, ' if node.tenths else ""
            lines.append(f'{begin}"class": {compact(tree.schema.class_attribute.values[node.label])}}}{tail}')
            continue
        lines.append(f'{begin}"attribute": {compact(names[node.attribute])}, "children": [')
        values = tree.schema.attributes[node.attribute].values
        tails = ["},"] * (len(values) - 1) + ["}]}" + tail]
        heads = [f'{{"value": {compact(value)}, "node": ' for value in values]
        pending += reversed(list(zip(heads, node.children, tails, strict=True)))
    return "\n".join(lines)


def read_tree(path: Path) -> Tree:
    """Read a model's file."""
    return read_format(path, FORMAT, tree_from_json)


def tree_of_first(data: bytes) -> Tree:
    """Read a `cotally-model/1`, which 0.1 grew without limits and so named none."""
    content = parsed(data)
    if not isinstance(content, dict) or content.get("format") != FIRST_TREE:
        refuse("format", f"must be {FIRST_TREE!r}")
    limits = _limits(TO_THE_END) | {"min_class": 1}
    return tree_from_json(compact({**content, "format": OLDER_TREE, "growth": limits}))


def tree_from_json(data: bytes | str) -> Tree:
    """Read a model from its JSON."""
    head = head_of(data, FORMAT, OLDER_TREE, own=["growth", "tree"], may=["splits"])
    gone = {"min_class"} if head.fields["format"] == OLDER_TREE else set[str]()
    schema = head.schema
    if "splits" in head.fields:
        if head.fields["splits"] != Splits.TWO_WAY:
            refuse("splits", f"must be {compact(Splits.TWO_WAY)}, or left out")
        try:
            schema = two_way(schema)
        except InputError as error:
            refuse("attributes", str(error))
    growth = _growth(head.fields["growth"], gone)
    return Tree(schema, _Nodes(schema, growth.leaves).read(head.fields["tree"]), growth)


def _growth(value: object, gone: set[str]) -> Growth:
    shown = _SHOWN & set(value) if isinstance(value, dict) else set[str]()
    known = record_of(value, "growth", _GROWTH | shown | gone)
    limits = {name: each for name, each in known.items() if name not in gone}
    leaves, weights = limits.pop("leaves", Leaves.LABEL), list_of(limits.pop("weights", []), "growth.weights")
    impurity, noise, prune = (limits.pop(name) for name in ("impurity", "noise", "prune"))
    exact_noise = None if noise is None else _exact("noise", noise, ", or null")
    share = _exact("prune", prune)
    for name, limit in limits.items():
        if type(limit) is not int and not (limit is None and name == "max_depth"):
            refuse(f"growth.{name}", "must be an integer" + " or null" * (name == "max_depth"))
    try:
        return Growth(
            **limits,
            noise=exact_noise,
            impurity=Impurity(impurity),
            prune=share,
            leaves=Leaves(leaves),
            weights=tuple(map(str, weights)),
        )
    except TermError as error:
        refuse(f"growth.{error.field}", error.problem)


def _exact(name: str, value: object, or_else: str = "") -> Fraction:
    number = exact_number(value) if isinstance(value, str) else None
    if number is None or str(number) != value:
        refuse(f"growth.{name}", f'must be a fraction in lowest terms as text, such as "1/2"{or_else}')
    return number


@dataclass(frozen=True)
class _Entry:
    """A node not yet read, where it stands, and what the path above it has split on."""

    value: object
    place: str
    used: frozenset[int]


class _Nodes:
    """Reads the nodes of a tree, parents first, then puts them together from the end."""

    def __init__(self, schema: Schema, leaves: Leaves) -> None:
        self._schema, self._leaf_keys = schema, _LEAF | ({"tenths"} if leaves == Leaves.TENTHS else set())
        self._index = {name: i for i, name in enumerate(references(schema.attributes))}
        self._labels = {value: i for i, value in enumerate(schema.class_attribute.values)}

    def read(self, value: object) -> Node:
        """Return the root."""
        nodes: list[Node] = []
        pending = [_Entry(value, "tree", frozenset())]
        counted = set[str]() if isinstance(value, dict) and "counts" not in value else {"counts"}
        while pending:
            entry = pending.pop()
            record = entry.value if isinstance(entry.value, dict) else {}
            counts = self._counts(record.get("counts"), entry.place) if counted else ()
            if "class" in record:
                nodes.append(self._leaf(record_of(record, entry.place, self._leaf_keys | counted), entry.place, counts))
                continue
            record_of(record, entry.place, _SPLIT | counted)
            attribute = self._split_on(record["attribute"], entry)
            nodes.append(Split(counts, attribute, ()))
            pending += reversed(self._children(record["children"], attribute, entry))
        return planted(self._schema, nodes)

    def _counts(self, value: object, place: str) -> tuple[float, ...]:
        counts = list_of(value, f"{place}.counts")
        fits = (type(count) in (int, float) and abs(count) < 2**53 for count in counts)  # no infinity
        if len(counts) != self._schema.classes or not all(fits):
            refuse(f"{place}.counts", f"must be {self._schema.classes} numbers, one per class")
        return tuple(counts)

    def _leaf(self, record: dict[str, Any], place: str, counts: tuple[float, ...]) -> Leaf:
        if not isinstance(record["class"], str) or record["class"] not in self._labels:
            refuse(f"{place}.class", "is not one of the classes")
        tenths = list_of(record.get("tenths", []), f"{place}.tenths")
        fits = all(type(tenth) is int and 0 <= tenth <= TENTHS for tenth in tenths) and sum(tenths) > 0
        if "tenths" in record and not (len(tenths) == self._schema.classes and fits):
            refuse(f"{place}.tenths", f"must be {self._schema.classes} numbers from 0 to {TENTHS}, one per class")
        return Leaf(counts, self._labels[record["class"]], tuple(tenths))

    def _split_on(self, name: object, entry: _Entry) -> int:
        if not isinstance(name, str) or name not in self._index:
            refuse(f"{entry.place}.attribute", "is not one of the attributes")
        if self._index[name] in entry.used:
            refuse(f"{entry.place}.attribute", "was split on above")
        return self._index[name]

    def _children(self, value: object, attribute: int, entry: _Entry) -> list[_Entry]:
        place = f"{entry.place}.children"
        records = [record_of(child, place, {"value", "node"}) for child in list_of(value, place)]
        if tuple(record["value"] for record in records) != self._schema.attributes[attribute].values:
            refuse(place, "must be one for each value of the attribute, in its order")
        used = entry.used | {attribute}
        return [_Entry(record["node"], f"{place}[{i}].node", used) for i, record in enumerate(records)]
