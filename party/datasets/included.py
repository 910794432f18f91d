"""The data sets as the UCI has them: packed CSV files with a header, which `scripts/datasets` makes."""

import csv
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from party.data import ColumnTreatment, frame_of, treat
from party.datasets import NAMES
from protocols.errors import InputError
from protocols.tables import Attribute, Table

CLASS = "class"
RECORD_NUMBER = "sample-code-number"  # of breast-cancer; not distinct, hence no id, and no attribute

_BINNED = ColumnTreatment(bins="median-of-range")
_TWO_VALUES = ColumnTreatment(max_values=2)
_NEITHER = ColumnTreatment(missing="?")  # in votes "?" means neither yea nor nay
_ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@dataclass(frozen=True, repr=False)
class Dataset:
    """A data set as the UCI has it: texts, "?" where one is missing; the demo treats columns by `treatments`."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    class_name: str
    treatments: dict[str, ColumnTreatment]

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self.rows)} x {len(self.columns)}>"


def load(name: str) -> Dataset:
    """Return the data set of this name."""
    columns, *rows = stored(name)
    if RECORD_NUMBER in columns:
        drop = columns.index(RECORD_NUMBER)
        columns, *rows = [(*row[:drop], *row[drop + 1 :]) for row in (columns, *rows)]
    treatments = {column: _treatment(name, column) for column in columns if column != CLASS}
    return Dataset(name, columns, rows, CLASS, treatments)


def stored(name: str) -> list[tuple[str, ...]]:
    """Return the header and the rows, with the number of each record where the original has one."""
    if name not in NAMES:
        raise InputError(f"there is no data set of this name; there are {', '.join(NAMES)}")
    packed = resources.files(__package__).joinpath(f"{name}.csv.xz").read_bytes()
    return [tuple(row) for row in csv.reader(lzma.decompress(packed).decode("ascii").splitlines())]


def _treatment(name: str, column: str) -> ColumnTreatment:
    if name == "adult":
        return _BINNED if column in _ADULT_NUMBERS else _TWO_VALUES
    plain = {"breast-cancer": _BINNED, "mushroom": _TWO_VALUES, "votes": _NEITHER}
    return plain.get(name, ColumnTreatment())


def load_table(name: str, records: int | None = None, treatments: Mapping[str, ColumnTreatment] | None = None) -> Table:
    """Return the first records of a data set; the class is last. The data are public: rare values are named."""
    dataset = load(name)
    rows = dataset.rows[:records]
    chosen = dataset.treatments if treatments is None else treatments
    order = [*(c for c in dataset.columns if c != dataset.class_name), dataset.class_name]
    frame = frame_of(Path(name), dataset.columns, list(zip(*rows, strict=True)))
    attributes, codes = [], []
    for column in order:
        treated = treat(frame.column(column), replace(chosen.get(column, ColumnTreatment()), smallest_value=1))
        attributes.append(Attribute(name, column, treated.values, ordered=treated.ordered))
        codes.append(treated.codes)
    return Table(tuple(attributes), np.column_stack(codes))
