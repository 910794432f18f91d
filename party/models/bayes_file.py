"""Naive Bayes as a file, `cotally-bayes/2` (FORMATS.md); whatever breaks a rule is refused with its place."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from party.models.strict_json import Head, attribute_json, compact, head_of, list_of, opening, read_format, refuse
from protocols.learning.naive_bayes import NaiveBayes, chances_of, logarithm
from protocols.tables import Floats

FORMAT, OLDER_BAYES = "cotally-bayes/2", "cotally-bayes/1"

_SLACK = 1e-9


def bayes_json(model: NaiveBayes) -> str:
    """Write a model as text, one attribute per line."""
    first, *errors = map(_errors_json, model.errors or [None] * (1 + len(model.conditional)))
    attributes = ",\n  ".join(
        attribute_json(a, chances=chances_of(table).tolist(), errors=own)
        for a, table, own in zip(model.schema.attributes, model.conditional, errors, strict=True)
    )
    begin = opening(FORMAT, model.schema.class_attribute)
    prior = f'"prior": {compact(chances_of(model.prior).tolist())}, "errors": {compact(first)}'
    return f'{begin} {prior},\n "attributes": [\n  {attributes}]}}\n'


def _errors_json(errors: Floats | None) -> object:
    if errors is None:
        return None
    if errors.ndim > 1:
        return [_errors_json(row) for row in errors]
    return [error if error < np.inf else None for error in errors.tolist()]


def read_bayes(path: Path) -> NaiveBayes:
    """Read a model's file."""
    return read_format(path, FORMAT, bayes_from_json)


def bayes_from_json(data: bytes | str) -> NaiveBayes:
    """Read a model from its JSON."""
    head = head_of(data, FORMAT, OLDER_BAYES, own=["prior"], of_each=["chances"], new=["errors"])
    classes = head.target.size
    value = head.fields["prior"]
    chances = np.array(_numbers(value, "prior", classes))
    if abs(chances.sum() - 1) > _SLACK:
        refuse("prior", "must add up to 1")
    prior = logarithm(chances)
    tables = [
        _table(entry["chances"], f"attributes[{position}].chances", attribute.size, classes)
        for position, (attribute, entry) in enumerate(zip(head.attributes, head.entries, strict=True))
    ]
    return NaiveBayes(head.schema, prior, tuple(tables), _errors(head, classes))


def _errors(head: Head, classes: int) -> tuple[Floats, ...]:
    first, *rest = (each.get("errors") for each in (head.fields, *head.entries))
    if all(each is None for each in (first, *rest)):
        return ()
    found = [np.array(_error_row(first, "errors", classes))]
    for position, (attribute, own) in enumerate(zip(head.attributes, rest, strict=True)):
        place = f"attributes[{position}].errors"
        rows = list_of(own, place)
        if len(rows) != attribute.size:
            refuse(place, f"must be {attribute.size} lists, one per value")
        found.append(np.array([_error_row(row, place, classes) for row in rows]))
    return tuple(found)


def _error_row(value: object, place: str, classes: int) -> list[float]:
    numbers = list_of(value, place)
    fits = (each is None or (type(each) in (int, float) and 0 <= each < np.inf) for each in numbers)
    if len(numbers) != classes or not all(fits):
        refuse(place, f"must hold {classes} numbers of 0 or more, or null, one per class")
    return [np.inf if each is None else float(each) for each in numbers]


def _table(value: object, place: str, values: int, classes: int) -> Floats:
    rows = list_of(value, place)
    if len(rows) != values:
        refuse(place, f"must be {values} lists, one per value")
    table = np.array([_numbers(row, place, classes) for row in rows])
    if (abs(table.sum(axis=0) - 1) > _SLACK).any():
        refuse(place, "must add up to 1 for each class")
    return logarithm(table)


def _numbers(value: object, place: str, classes: int) -> Sequence[float]:
    numbers = list_of(value, place)
    fits = (type(number) in (int, float) and 0 <= number <= 1 for number in numbers)
    if len(numbers) != classes or not all(fits):
        refuse(place, f"must hold {classes} numbers from 0 to 1, one per class")
    return [float(number) for number in numbers]
