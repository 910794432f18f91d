"""A finished naive Bayes classifier as a file.

`cotally-bayes/2` is JSON: `{"format", "class": {"name", "values"}, "prior": [P(c), ...], "attributes": [{"party",
"name", "values", "missing", "marks", "chances": [[P(v given c), ...], ...]}]}`, chances as one list per value with one
number per class. Numbers have twelve digits, so that a file that was read is written again byte for byte. The reader
trusts nothing: a file that breaks any rule is refused with the place.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from party.models.strict_json import attribute_json, compact, head_of, list_of, opening, read_format, refuse
from protocols.learning.naive_bayes import NaiveBayes, chances_of, logarithm
from protocols.tables.arrays import Floats

FORMAT, OLDER_BAYES = "cotally-bayes/2", "cotally-bayes/1"

_SLACK = 1e-9


def bayes_json(model: NaiveBayes) -> str:
    """Write a model as text, one attribute per line."""
    attributes = ",\n  ".join(
        attribute_json(a, chances=chances_of(table).tolist())
        for a, table in zip(model.schema.attributes, model.conditional, strict=True)
    )
    begin = opening(FORMAT, model.schema.class_attribute)
    return f'{begin} "prior": {compact(chances_of(model.prior).tolist())},\n "attributes": [\n  {attributes}]}}\n'


def read_bayes(path: Path) -> NaiveBayes:
    """Read a model's file.

    Raises:
        ModelError: It cannot be read, or is not a `cotally-bayes/2` in every detail, nor one before.
    """
    return read_format(path, FORMAT, bayes_from_json)


def bayes_from_json(data: bytes | str) -> NaiveBayes:
    """Read a model from its JSON.

    Raises:
        ModelError: It is not a `cotally-bayes/2` in every detail, nor one before.
    """
    head = head_of(data, FORMAT, OLDER_BAYES, own=["prior"], of_each=["chances"])
    classes = head.target.size
    prior = _distribution(head.fields["prior"], "prior", classes)
    tables = [
        _table(entry["chances"], f"attributes[{position}].chances", attribute.size, classes)
        for position, (attribute, entry) in enumerate(zip(head.attributes, head.entries, strict=True))
    ]
    return NaiveBayes(head.schema, prior, tuple(tables))


def _table(value: object, place: str, values: int, classes: int) -> Floats:
    rows = list_of(value, place)
    if len(rows) != values:
        refuse(place, f"must be {values} lists, one per value")
    table = np.array([_numbers(row, place, classes) for row in rows])
    if (abs(table.sum(axis=0) - 1) > _SLACK).any():
        refuse(place, "must add up to 1 for each class")
    return logarithm(table)


def _distribution(value: object, place: str, classes: int) -> Floats:
    chances = np.array(_numbers(value, place, classes))
    if abs(chances.sum() - 1) > _SLACK:
        refuse(place, "must add up to 1")
    return logarithm(chances)


def _numbers(value: object, place: str, classes: int) -> Sequence[float]:
    numbers = list_of(value, place)
    fits = (type(number) in (int, float) and 0 <= number <= 1 for number in numbers)
    if len(numbers) != classes or not all(fits):
        refuse(place, f"must hold {classes} numbers from 0 to 1, one per class")
    return [float(number) for number in numbers]
