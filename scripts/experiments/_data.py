"""The data sets as the experiments take them: two values per column, as in the papers, or more."""

from functools import cache

import numpy as np
from _adult import ORDER

from party.data import ColumnTreatment
from party.datasets.included import load, load_table
from protocols.tables import Attribute, Table

BY_CODES = "adult by codes"
RECORDS = {"adult": 10_000, BY_CODES: 10_000, "mushroom": 8_124, "tic-tac-toe": 958, "breast-cancer": 699, "votes": 435}
QUICK_RECORDS = {"adult": 400, BY_CODES: 400, "mushroom": 400, "tic-tac-toe": 958, "breast-cancer": 400, "votes": 435}
THETAS = ("0.1", "0.2", "0.3", "0.4", "0.45", "0.51", "0.55", "0.6", "0.7", "0.8", "0.9", "1.0")
TEST = "1/5"


@cache
def binary_table(name: str, records: int, bins: str = "median-of-range") -> Table:
    """Return the first records of a data set, the class last; numbers are split in the middle of the range.

    In all other columns, and where a number is missing, the commonest value stands against the rest.
    """
    table = load_table(name, records, {column: ColumnTreatment(bins=bins) for column in numbers(name)})
    columns = [_two_valued(attribute, table.codes[:, i]) for i, attribute in enumerate(table.attributes)]
    return Table(tuple(attribute for attribute, _ in columns), np.column_stack([codes for _, codes in columns]))


@cache
def table_by_codes(records: int) -> Table:
    """Return the first records of adult with every column split in the middle, for a program that sees only codes.

    Texts are codes in the order in which `adult.names` lists them, split in the middle of their range (missing ones go
    with the first half); numbers are split at the median of the records.
    """
    table = load_table("adult", records, {column: ColumnTreatment(bins="quantiles:2") for column in numbers("adult")})
    columns = [_halved(attribute, table.codes[:, i]) for i, attribute in enumerate(table.attributes)]
    return Table(tuple(attribute for attribute, _ in columns), np.column_stack([codes for _, codes in columns]))


def _halved(attribute: Attribute, codes: np.ndarray) -> tuple[Attribute, np.ndarray]:
    listed = ORDER.get(attribute.name)
    if listed is None:
        return attribute, codes
    later = np.array([value in listed and 2 * listed.index(value) > len(listed) - 1 for value in attribute.values])
    return Attribute(attribute.party, attribute.name, ("first half", "second half")), later[codes].astype(np.uint8)


def _two_valued(attribute: Attribute, codes: np.ndarray) -> tuple[Attribute, np.ndarray]:
    if attribute.size <= 2:
        return attribute, codes
    commonest = int(np.bincount(codes).argmax())
    merged = Attribute(attribute.party, attribute.name, (attribute.values[commonest], "other"))
    return merged, (codes != commonest).astype(np.uint8)


def several_valued_table(name: str, records: int, values: int | None, bins: int) -> Table:
    """Return the first records of a data set with at most this many values per column, numbers split at quantiles."""
    binned = numbers(name)
    treatments = {
        column: ColumnTreatment(bins=f"quantiles:{bins}") if column in binned else ColumnTreatment(max_values=values)
        for column in load(name).columns
    }
    return load_table(name, records, treatments)


def numbers(name: str) -> set[str]:
    """Return the columns of a data set that hold numbers."""
    return {column for column, treatment in load(name).treatments.items() if treatment.bins is not None}
