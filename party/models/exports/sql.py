"""A model as one SQL expression, in words that SQLite, DuckDB and PostgreSQL understand alike, after a note on its use.

NB: names and values may be the partner's, and some databases read a backslash in a text: one that holds one is refused.
"""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from party.models.exports.readings import Exported, RuleList, readings_of
from party.models.exports.sql_cells import REFUSED, cells_table, quoted, value_name
from party.models.tree_file import references
from party.names import printable
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes, grains
from protocols.learning.tree import Leaf, Split, Tree, label_of_node, shares_of
from protocols.tables import Expression, Floats

NOTE = """/* A model of cotally, for SQLite, DuckDB and PostgreSQL: SELECT id, (all of this text) FROM rows.
A row gets what `cotally predict` gives a file that holds its cells as the database writes them (CAST ... AS VARCHAR),
or, where it writes fewer digits than a number has, as the number itself. It gets NULL if a cell that the model reads is
- a number of more than 15 digits which differs in the last ones alone from an edge or a value of the model;
- where bins are of numbers: one of 40 characters, or not 0 and below 1e-20 in size, or of 1e38 or more;
- where bins are of dates: a date that is not written as 2024-05-31 or 2024-05-31 12:30:00;
- where values are dates, times or durations: one that is written in another way.
Of rules, NULL also means that none holds. `predict` reads through tabs, ends of line, characters that nobody sees and
accents that are characters of their own; this does not: clean them first. For SQLite, the name of a column that is not
there is a text. */
"""

_IMPOSSIBLE = -(10**13)  # in grains, of which all that is possible has fewer: no chance is below e^-745


def sql_of(model: Exported, ranked: int | None = None) -> str:
    """Return the class of a row or, of a tree, the share of this class, as an expression."""
    readings = model.readings if isinstance(model, RuleList) else readings_of(model)
    base = model.found.attributes if isinstance(model, RuleList) else model.schema.base.columns
    for read, name in product([each.column for each in readings.values()], references(base)):
        if read != name and read.casefold() == name.casefold():
            both = " and ".join(map(repr, map(printable, sorted((read, name)))))
            raise InputError(f"most databases take {both} for one column: export it as python or pmml")
    if isinstance(model, RuleList):
        answer = _first_rule(model)
    else:
        answer = _of_tree(model, ranked) if isinstance(model, Tree) else _of_bayes(model)
    if readings:
        values = ", ".join(map(value_name, readings))
        answer = f"(SELECT CASE WHEN {REFUSED} IN ({values}) THEN NULL ELSE {answer} END\nFROM {cells_table(readings)})"
    return NOTE + answer


def _of_tree(tree: Tree, ranked: int | None) -> str:
    names = [quoted(value) for value in tree.schema.class_attribute.values]

    def end(_: Expression, node: Leaf | Split) -> str:
        return names[label_of_node(node)] if ranked is None else repr(float(shares_of(node)[ranked]))

    def split(path: Expression, node: Split, children: Sequence[str]) -> str:
        usual = end(path, node)
        if {*children} == {usual}:
            return usual
        values = tree.schema.attributes[node.attribute].values
        branches = "".join(
            f"\n  WHEN {quoted(value)} THEN " + child.replace("\n", "\n  ")
            for value, child in zip(values, children, strict=True)
        )
        return f"CASE {value_name(node.attribute)}{branches}\n  ELSE {usual} END"

    return tree.folded(end, split)


def _of_bayes(model: NaiveBayes) -> str:
    """Return the class of the highest score in grains, the first of several: each is compared with all after it."""
    prior, *tables = (
        np.where(np.isneginf(each), _IMPOSSIBLE, grains(each)) for each in (model.prior, *model.conditional)
    )
    names = [quoted(value) for value in model.schema.class_attribute.values]
    values = [attribute.values for attribute in model.schema.attributes]

    def score(of: int, less: int | None = None) -> str:
        parts = [each[..., of] - (0 if less is None else each[..., less]) for each in (prior, *tables)]
        weights = map(_weight, range(len(values)), values, parts[1:])
        return " + ".join([f"CAST({int(parts[0])} AS BIGINT)", *weights])

    every = range(len(names))
    hopeless = all(any((table[:, each] == _IMPOSSIBLE).any() for table in (prior[None], *tables)) for each in every)
    none = " AND ".join(f"{score(each)} < {_IMPOSSIBLE // 2}" for each in every)
    lines = [f"WHEN {none} THEN {names[int(prior.argmax())]}"] if hopeless else []
    for each in every[:-1]:
        wins = " AND ".join(f"{score(each, other)} >= 0" for other in every[each + 1 :])
        lines.append(f"WHEN {wins} THEN {names[each]}")
    return "\n  ".join(["CASE", *lines, f"ELSE {names[-1]} END"]) if lines else names[0]


def _weight(index: int, values: Iterable[str], weights: Floats) -> str:
    pairs = zip(map(quoted, values), weights.tolist(), strict=True)
    cases = " ".join(f"WHEN {value} THEN {int(each)}" for value, each in pairs)
    return f"CASE {value_name(index)} {cases} ELSE 0 END"


def _first_rule(model: RuleList) -> str:
    attributes, lines = model.found.attributes, []
    for first, told in model.rules:
        holds = " AND ".join(f"{value_name(t.column)} = {quoted(attributes[t.column].values[t.value])}" for t in first)
        lines.append(f"WHEN {holds} THEN {quoted(told)}")
    return "\n  ".join(["CASE", *lines, "END"])
