"""A model as one SQL expression: ANSI, but for `LOWER` and `UPPER` of what is no text, and tried on three databases.

Columns of numbers and of dates may have these types or be texts that are all such, dates as `2024-05-31`. A text is
found as `plain_text` writes it, or as databases write its number, truth value or time. NB: names and values may be the
partner's, and some databases read a backslash in a text: one that holds one is refused.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from party.models.exports.readings import CellReading, Exported, Range, RuleList, day_of, readings_of
from party.names import printable
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes, grains
from protocols.learning.tree import Leaf, Split, Tree, label_of_node, shares_of
from protocols.tables import Expression, Floats

_IMPOSSIBLE = -(10**13)  # in grains, of which all that is possible has fewer: no chance is below e^-745
_BEYOND = "1e100"  # no number that is read is larger; an infinity is, and in SQLite any text


def sql_of(model: Exported, ranked: int | None = None) -> str:
    """Return the class of a row or, of a tree, the share of this class, as an expression.

    Raises:
        InputError: A text cannot be quoted safely.
    """
    if isinstance(model, RuleList):
        return _first_rule(model)
    return _of_tree(model, ranked) if isinstance(model, Tree) else _of_bayes(model)


def _quoted(text: str, mark: str = "'") -> str:
    if "\\" in text or not text.isprintable():
        raise InputError(f"{printable(text)!r} has a character that databases read in two ways: export it as python")
    return mark + text.replace(mark, 2 * mark) + mark


def _of_tree(tree: Tree, ranked: int | None) -> str:
    reads = {index: _value(reading) for index, reading in readings_of(tree).items()}
    names = [_quoted(value) for value in tree.schema.class_attribute.values]

    def end(_: Expression, node: Leaf | Split) -> str:
        return names[label_of_node(node)] if ranked is None else repr(float(shares_of(node)[ranked]))

    def split(path: Expression, node: Split, children: Sequence[str]) -> str:
        usual = end(path, node)
        if {*children} == {usual}:
            return usual
        values = tree.schema.attributes[node.attribute].values
        branches = "".join(
            f"\n  WHEN {_quoted(value)} THEN " + child.replace("\n", "\n  ")
            for value, child in zip(values, children, strict=True)
        )
        return f"CASE {reads[node.attribute]}{branches}\n  ELSE {usual} END"

    return tree.folded(end, split)


def _of_bayes(model: NaiveBayes) -> str:
    """Return the class of the highest score in grains, the first of several: each is compared with all after it."""
    reads = [_value(reading) for reading in readings_of(model).values()]
    prior, *tables = (
        np.where(np.isneginf(each), _IMPOSSIBLE, grains(each)) for each in (model.prior, *model.conditional)
    )
    names = [_quoted(value) for value in model.schema.class_attribute.values]
    values = [attribute.values for attribute in model.schema.attributes]

    def score(of: int, less: int | None = None) -> str:
        parts = [each[..., of] - (0 if less is None else each[..., less]) for each in (prior, *tables)]
        return " + ".join([f"CAST({int(parts[0])} AS BIGINT)", *map(_weight, reads, values, parts[1:])])

    every = range(len(names))
    hopeless = all(any((table[:, each] == _IMPOSSIBLE).any() for table in (prior[None], *tables)) for each in every)
    none = " AND ".join(f"{score(each)} < {_IMPOSSIBLE // 2}" for each in every)
    lines = [f"WHEN {none} THEN {names[int(prior.argmax())]}"] if hopeless else []
    for each in every[:-1]:
        wins = " AND ".join(f"{score(each, other)} >= 0" for other in every[each + 1 :])
        lines.append(f"WHEN {wins} THEN {names[each]}")
    return "\n  ".join(["CASE", *lines, f"ELSE {names[-1]} END"]) if lines else names[0]


def _weight(read: str, values: Iterable[str], weights: Floats) -> str:
    pairs = zip(values, weights.tolist(), strict=True)
    return f"CASE {read} {' '.join(f'WHEN {_quoted(value)} THEN {int(each)}' for value, each in pairs)} ELSE 0 END"


def _first_rule(model: RuleList) -> str:
    attributes = model.found.attributes
    reads: Mapping[int, str] = {index: _value(reading) for index, reading in model.readings.items()}
    lines = []
    for first, told in model.rules:
        holds = " AND ".join(f"{reads[t.column]} = {_quoted(attributes[t.column].values[t.value])}" for t in first)
        lines.append(f"WHEN {holds} THEN {_quoted(told)}")
    return "\n  ".join(["CASE", *lines, "END"])


def _value(reading: CellReading) -> str:
    """Return the value of a cell; of an unknown one it is null."""
    column = _quoted(reading.column, '"')
    text = f"TRIM(CAST({column} AS VARCHAR(1024)))"
    spelled = reading.spelled
    gone = ", ".join(map(_quoted, ["", *reading.absent, *spelled.pop(reading.missing or "", ())]))
    tests = [(f"{column} IS NULL OR {text} IN ({gone})", reading.missing)]
    tests += [(f"{text} IN ({', '.join(map(_quoted, texts))})", value) for value, texts in spelled.items()]
    if reading.ranges and not reading.dated:  # what has letters, but for those of 1e-05, is no number
        strange = f"LOWER({text}) <> UPPER({text}) AND LOWER({text}) NOT LIKE '%e-%' AND LOWER({text}) NOT LIKE '%e+%'"
        tests.append((strange, reading.other))
    number = f"CAST({column} AS DOUBLE PRECISION)"
    for each in reading.ranges:
        tests.append((_within_days(text, each) if reading.dated else _within(number, each), each.value))
    cases = " ".join(f"WHEN {test} THEN {_or_null(value)}" for test, value in tests)
    return f"CASE {cases} ELSE {_or_null(reading.other)} END"


def _or_null(value: str | None) -> str:
    return "NULL" if value is None else _quoted(value)


def _within(number: str, each: Range) -> str:
    low, high = (None if edge is None else repr(float(edge)) for edge in (each.low, each.high))
    above = f"{number} > {low or '-' + _BEYOND}"
    return f"{above} AND {number} {f'<= {high}' if high else f'< {_BEYOND}'}"


def _within_days(text: str, each: Range) -> str:
    low = None if each.low is None else day_of(each.low, 1)
    high = None if each.high is None else day_of(each.high, 1)
    ends = [f"{text} >= '{low}'"] * (low is not None) + [f"{text} < '{high}'"] * (high is not None)
    return " AND ".join([f"{text} LIKE '____-__-__%'", *ends])
