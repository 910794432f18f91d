"""The JSON schema (2020-12) of a model's file, with the names and values of this model (FORMATS.md)."""

import json
from collections.abc import Mapping
from typing import Any

from party.models import bayes_file, itemset_file, tree_file
from party.models.any_file import KeptResult
from party.models.tree_file import references
from protocols.association.joint import JointItemsets
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.terms import Impurity, Leaves

_Json = Mapping[str, Any]

_TEXT: _Json = {"type": "string"}
_WHOLE: _Json = {"type": "integer", "minimum": 0}
_FRACTION: _Json = {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"}
_CHANCE: _Json = {"type": "number", "minimum": 0, "maximum": 1}


def schema_of(model: KeptResult) -> str:
    """Return the schema as text."""
    name, fields, more = _of_kind(model)
    top = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **more}
    return json.dumps({**top, **_object({"format": {"const": name}, **fields})}, indent=1) + "\n"


def _of_kind(model: KeptResult) -> tuple[str, _Json, _Json]:
    """Return the format's name, the fields, and what else stands at the top."""
    match model:
        case Tree():
            return tree_file.FORMAT, _classes(model), {"$defs": {"node": _node(model)}}
        case NaiveBayes():
            return bayes_file.FORMAT, _classes(model), {}
        case JointItemsets():
            name = itemset_file.FORMAT if model.has_counts else itemset_file.WITHOUT_COUNTS
            return name, _sets(model), {}


def _object(fields: _Json, *may: str) -> dict[str, Any]:
    needed = [name for name in fields if name not in may]
    return {"type": "object", "properties": dict(fields), "required": needed, "additionalProperties": False}


def _list(of: _Json, length: int | None = None) -> _Json:
    return {"type": "array", "items": of, **({} if length is None else {"minItems": length, "maxItems": length})}


def _tuple(each: list[Any]) -> _Json:
    return {"type": "array", "prefixItems": each, "items": False, "minItems": len(each)}


def _or_null(of: _Json) -> _Json:
    return {"anyOf": [of, {"type": "null"}]}


def _classes(model: Tree | NaiveBayes) -> _Json:
    schema = model.schema
    label, classes = schema.class_attribute, schema.classes
    chances = _list(_CHANCE, classes)
    errors = _list(_or_null({"type": "number", "minimum": 0}), classes)
    entries = []
    for each in schema.base.attributes:
        names = {"party": {"const": each.party}, "name": {"const": each.name}, "values": {"const": each.values}}
        entry = {**names, "missing": {"enum": [*each.values, None]}, "marks": _or_null(_list(_TEXT)), "ordered": _WHOLE}
        if isinstance(model, NaiveBayes):
            entry |= {"chances": _list(chances, each.size), "errors": _or_null(_list(errors, each.size))}
        entries.append(_object(entry, "ordered"))
    fields = {
        "class": _object({"name": {"const": label.name}, "values": {"const": label.values}}),
        "attributes": _tuple(entries),
    }
    if isinstance(model, NaiveBayes):
        return {**fields, "prior": chances, "errors": _or_null(errors)}
    growth = {
        "max_depth": _or_null(_WHOLE),
        "min_leaf": _WHOLE,
        "noise": _or_null(_FRACTION),
        "impurity": {"enum": list(Impurity)},
        "prune": _FRACTION,
        "leaves": _TEXT,
        "weights": _list(_TEXT),
    }
    splits = {"splits": {"const": "two-way"}} if schema.conditions else {}
    return {**fields, "growth": _object(growth, "leaves", "weights"), **splits, "tree": {"$ref": "#/$defs/node"}}


def _node(tree: Tree) -> _Json:
    schema, below = tree.schema, {"$ref": "#/$defs/node"}
    counts = {"counts": _list({"type": "number"}, schema.classes)} if tree.has_counts else {}
    tenths = {"tenths": _list(_WHOLE, schema.classes)} if tree.growth.leaves == Leaves.TENTHS else {}
    splits: list[_Json] = []
    for name, attribute in zip(references(schema.attributes), schema.attributes, strict=True):
        children = [_object({"value": {"const": value}, "node": below}) for value in attribute.values]
        split = _object({**counts, "attribute": {"const": name}, "children": _tuple(children)})
        splits.append({"if": {"properties": {"attribute": {"const": name}}}, "then": split})
    known = {"required": ["attribute"], "properties": {"attribute": {"enum": references(schema.attributes)}}}
    leaf = _object({**counts, **tenths, "class": {"enum": schema.class_attribute.values}})
    return {"type": "object", "if": {"required": ["class"]}, "then": leaf, "else": {"allOf": [known, *splits]}}


def _sets(found: JointItemsets) -> _Json:
    attributes = [
        _object({"party": {"const": each.party}, "name": {"const": each.name}, "values": {"const": each.values}})
        for each in found.attributes
    ]
    items = _list(_list(_WHOLE, 2))
    counted = {"count": _FRACTION, "variance": _FRACTION, "settled": {"type": "boolean"}} if found.has_counts else {}
    rules = _object({"metric": _TEXT, "min_threshold": _FRACTION, "reached": _list(_list(items, 2))})
    fields = {
        "records": _WHOLE,
        "min_support": _FRACTION,
        "least": _WHOLE,
        "undecided": _WHOLE,
        "attributes": _tuple(attributes),
        "sets": _list(_object({"items": items, **counted})),
    }
    return fields if found.has_counts else {**fields, "rules": _or_null(rules)}
