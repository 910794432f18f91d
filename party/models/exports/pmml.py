"""A model as PMML 4.4: a tree, a regression of naive Bayes' logarithms in grains, or a list of rules.

What a cell means is a derived field, so that missing, rare and unseen cells go the ways that they go in `predict`:
`Discretize` for bins, `MapValues` for texts. Cells of a column with bins are numbers, or dates such as `2024-05-31`.
Sums of grains are exact, and of equal ones the first wins, which products of chances would not give.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib.metadata import version
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from party.models.exports.readings import CellReading, Exported, Range, RuleList, double_below, readings_of
from party.names import printable
from protocols.errors import InputError
from protocols.learning.model import gives_shares
from protocols.learning.naive_bayes import GRAIN, NaiveBayes, grains
from protocols.learning.tree import Leaf, Split, Tree, label_of_node, shares_of
from protocols.tables import Expression

_EPOCH = Decimal(719163)  # 1970-01-01
_LOWEST = Decimal(-(10**9))
_ALWAYS = "<True/>"


def pmml_of(model: Exported) -> str:
    """Return the document; naive Bayes that may find no class possible has none."""
    if isinstance(model, RuleList):
        reads, target, values = model.readings, "consequent", tuple(dict.fromkeys(then for _, then in model.rules))
    else:
        reads, label = readings_of(model), model.schema.class_attribute
        target, values = label.name, label.values
    columns = {reading.column: reading for reading in reads.values()}
    while target in columns:
        target += "'"
    names = {index: f"{place} {reading.column}" for place, (index, reading) in enumerate(reads.items(), 1)}
    while {*names.values()} & {*columns, target}:
        names = {index: f"'{name}" for index, name in names.items()}
    listed = [_tag("Value", value=value) for value in values]
    answer = _tag("DataField", *listed, name=target, optype="categorical", dataType="string")
    fields = [*map(_data_field, columns.values()), answer]
    derived = [_derived(names[index], reading) for index, reading in reads.items()]
    mining = [_tag("MiningField", name=name) for name in columns]
    schema = _tag("MiningSchema", *mining, _tag("MiningField", name=target, usageType="target"))
    body = _rules(model, names, schema) if isinstance(model, RuleList) else _model(model, names, schema)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _tag(
        "PMML",
        _tag("Header", _tag("Application", name="cotally", version=version("cotally"))),
        _tag("DataDictionary", *fields),
        _tag("TransformationDictionary", *derived),
        body,
        version="4.4",
        xmlns="http://www.dmg.org/PMML-4_4",
    )


def _tag(name: str, /, *inner: str, **attributes: object) -> str:
    """Return an element, its content indented below it."""
    written = "".join(f" {key}={quoteattr(_text(str(value)))}" for key, value in attributes.items())
    if not inner:
        return f"<{name}{written}/>\n"
    return f"<{name}{written}>\n" + "".join(inner) + f"</{name}>\n"


def _text(text: str) -> str:
    if any(character < " " or "\ud800" <= character <= "\udfff" or character in "\ufffe\uffff" for character in text):
        raise InputError(f"{printable(text)!r} has a character that XML cannot hold: export it as python")
    return text


def _data_field(reading: CellReading) -> str:
    kind, scale = ("continuous", "double") if reading.ranges and not reading.dated else ("categorical", "string")
    numbers = {mark for mark in reading.absent if mark.lstrip("-").replace(".", "", 1).isdecimal()}
    marks = [mark for mark in reading.absent if scale == "string" or mark in numbers]
    kind, scale = ("continuous", "date") if reading.dated else (kind, scale)
    absent = [_tag("Value", value=mark, property="missing") for mark in marks if not reading.dated]
    return _tag("DataField", *absent, name=reading.column, optype=kind, dataType=scale)


def _derived(name: str, reading: CellReading) -> str:
    if reading.ranges:
        bins = [_tag("DiscretizeBin", _interval(each, reading.dated), binValue=each.value) for each in reading.ranges]
        source, days = reading.column, ""
        if reading.dated:
            source = f"days of {name}"
            cell = _tag("FieldRef", field=reading.column)
            counted = _tag("Apply", cell, "<Constant>1970</Constant>\n", function="dateDaysSinceYear")
            days = _tag("Apply", _tag("Apply", cell, function="isNotMissing"), counted, function="if")
            days = _tag("DerivedField", days, name=source, optype="continuous", dataType="integer")
        what = _tag("Discretize", *bins, field=source, dataType="string", **_ends(reading))
    else:
        days = ""
        pairs = [(text, value) for value, texts in reading.spelled.items() for text in texts]
        rows = [_tag("row", _cell("cell", text), _cell("value", value)) for text, value in dict(pairs).items()]
        table = _tag("InlineTable", *rows)
        pair = _tag("FieldColumnPair", field=reading.column, column="cell")
        what = _tag("MapValues", pair, table, outputColumn="value", dataType="string", **_ends(reading))
    return days + _tag("DerivedField", what, name=name, optype="categorical", dataType="string")


def _ends(reading: CellReading) -> dict[str, object]:
    ends = {"mapMissingTo": reading.missing, "defaultValue": reading.other}
    return {key: value for key, value in ends.items() if value is not None}


def _cell(name: str, text: str) -> str:
    return f"<{name}>{escape(_text(text))}</{name}>\n"


def _interval(each: Range, dated: bool) -> str:
    low = _LOWEST if each.low is None and each.high is None else each.low  # one end is needed
    ends = {"leftMargin": low, "rightMargin": each.high}
    margins = ((key, edge) for key, edge in ends.items() if edge is not None)
    placed: dict[str, object] = {key: int(edge - _EPOCH) if dated else double_below(edge) for key, edge in margins}
    return _tag("Interval", closure="openClosed" if each.high is not None else "openOpen", **placed)


def _model(model: Tree | NaiveBayes, names: Mapping[int, str], schema: str) -> str:
    values = model.schema.class_attribute.values
    known = [
        _tag(
            "OutputField",
            name=f"P({value})",
            optype="continuous",
            dataType="double",
            feature="probability",
            value=value,
        )
        for value in values
        if gives_shares(model)
    ]
    begin = schema + (_tag("Output", *known) if known else "")
    if isinstance(model, NaiveBayes):
        return _regression(model, names, begin)
    node = _nodes(model, names)
    return _tag(
        "TreeModel",
        begin,
        node,
        functionName="classification",
        missingValueStrategy="none",
        noTrueChildStrategy="returnLastPrediction",
        splitCharacteristic="multiSplit",
    )


def _nodes(tree: Tree, names: Mapping[int, str]) -> str:
    label, known = tree.schema.class_attribute.values, gives_shares(tree)

    def made(path: Expression, node: Leaf | Split, children: Sequence[str] = ()) -> str:
        last = path.terms[-1] if path.terms else None
        asked = (
            _ALWAYS
            if last is None
            else _equals(names[last.column], tree.schema.attributes[last.column].values[last.value])
        )
        shares = zip(label, map(float, shares_of(node)), strict=True) if known else ()
        spread = [_tag("ScoreDistribution", value=value, recordCount=share) for value, share in shares]
        return _tag("Node", asked, *spread, *children, score=label[label_of_node(node)])

    return tree.folded(made, made)


def _equals(field: str, value: str) -> str:
    return _tag("SimplePredicate", field=field, operator="equal", value=value)


def _regression(model: NaiveBayes, names: Mapping[int, str], begin: str) -> str:
    prior, *tables = map(grains, (model.prior, *model.conditional))
    if any(np.isinf(each).any() for each in (prior, *tables)):
        raise InputError(
            "a class is impossible by some values, and PMML cannot say what then: export it as sql or python"
        )
    values = [attribute.values for attribute in model.schema.attributes]
    equations = []
    for place, label in enumerate(model.schema.class_attribute.values):
        terms = [
            _tag("CategoricalPredictor", name=names[index], value=value, coefficient=_weight(weight))
            for index, table in enumerate(tables)
            for value, weight in zip(values[index], table[:, place].tolist(), strict=True)
        ]
        equations.append(_tag("RegressionTable", *terms, intercept=_weight(prior[place]), targetCategory=label))
    return _tag("RegressionModel", begin, *equations, functionName="classification", normalizationMethod="softmax")


def _weight(grain: float) -> float:
    return float(grain) / GRAIN


def _rules(model: RuleList, names: Mapping[int, str], schema: str) -> str:
    attributes, rules = model.found.attributes, []
    for place, (first, then) in enumerate(model.rules, 1):
        terms = [_equals(names[t.column], attributes[t.column].values[t.value]) for t in first]
        holds = terms[0] if len(terms) == 1 else _tag("CompoundPredicate", *terms, booleanOperator="and")
        rules.append(_tag("SimpleRule", holds, id=place, score=then))
    chosen = _tag("RuleSelectionMethod", criterion="firstHit")
    return _tag("RuleSetModel", schema, _tag("RuleSet", chosen, *rules), functionName="classification")
