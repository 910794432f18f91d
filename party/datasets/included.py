"""The data sets as the UCI has them.

Tic-tac-toe is computed, the others are packed CSV files with a header, which `scripts/datasets` makes.
"""

import csv
import lzma
from dataclasses import dataclass
from importlib import resources

from party.data import ColumnTreatment
from party.datasets.boards import final_boards
from party.datasets.names import NAMES
from protocols.errors import InputError

CLASS = "class"
RECORD_NUMBER = "sample-code-number"  # of breast-cancer; not distinct, hence no id, and no attribute

_SQUARES = tuple(
    f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
_BINNED = ColumnTreatment(bins="median-of-range")
_TWO_VALUES = ColumnTreatment(max_values=2)
_NEITHER = ColumnTreatment(missing="?")  # in votes "?" means neither yea nor nay
_ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@dataclass(frozen=True, repr=False)
class Dataset:
    """A data set as the UCI has it: texts, in the order of the original rows.

    Args:
        name: One of `NAMES`.
        columns: The class included.
        rows: "?" where a cell is missing.
        class_name: One of the columns.
        treatments: What the demo does to the columns; those without an entry are taken as they are.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    class_name: str
    treatments: dict[str, ColumnTreatment]

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self.rows)} x {len(self.columns)}>"


def load(name: str) -> Dataset:
    """Return the data set of this name.

    Raises:
        InputError: There is none.
    """
    columns, *rows = stored(name)
    if RECORD_NUMBER in columns:
        drop = columns.index(RECORD_NUMBER)
        columns, *rows = [(*row[:drop], *row[drop + 1 :]) for row in (columns, *rows)]
    treatments = {column: _treatment(name, column) for column in columns if column != CLASS}
    return Dataset(name, columns, rows, CLASS, treatments)


def stored(name: str) -> list[tuple[str, ...]]:
    """Return the header and the rows, with the number of each record where the original has one.

    Raises:
        InputError: There is no such data set.
    """
    if name not in NAMES:
        raise InputError(f"there is no data set of this name; there are {', '.join(NAMES)}")
    if name == "tic-tac-toe":
        return [(*_SQUARES, CLASS), *final_boards()]
    packed = resources.files(__package__).joinpath(f"{name}.csv.xz").read_bytes()
    return [tuple(row) for row in csv.reader(lzma.decompress(packed).decode("ascii").splitlines())]


def _treatment(name: str, column: str) -> ColumnTreatment:
    if name == "adult":
        return _BINNED if column in _ADULT_NUMBERS else _TWO_VALUES
    plain = {"breast-cancer": _BINNED, "mushroom": _TWO_VALUES, "votes": _NEITHER}
    return plain.get(name, ColumnTreatment())
