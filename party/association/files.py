"""True baskets as people have them: a line of items each, rows of ids and items, or a column of truth values per item.

A line of a `.dat` file holds items with blanks between them, a line of any other text file is one of CSV without a
header. An empty line is an empty basket. A basket is named by its id where the layout has one, else by its number in
the file, from 1.
"""

import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from party.data import Form, Frame, distinct_ids, read_frame, value_of
from party.data.form import USUAL, bounded_lines, opened, readable
from party.errors import DataError
from party.names import suggestion
from party.settings.transactions import BasketDesign, BasketLayout
from party.survey.table import DataFrameLike, as_frame
from protocols.association.transactions import Transactions

LINES = (".dat", ".basket")
_TRUTHS = {"True": True, "1": True, "False": False, "0": False}

BasketSource = Path | str | Frame | DataFrameLike


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """True transactions, and what names each."""

    transactions: Transactions
    ids: Sequence[str]
    path: Path
    repeating: int = 0

    def __repr__(self) -> str:
        return f"<Baskets {len(self.ids)}>"


def read_baskets(source: BasketSource, design: BasketDesign, form: Form = USUAL) -> Baskets:
    """Read true baskets in the layout of the design; a DataFrame has a column per item, or rows of ids and items."""
    if isinstance(source, Path | str) and design.layout is BasketLayout.LINES:
        path = Path(source)
        gathering = _Gathering(design, path)
        with opened_text(path, form.encoding, "declare its encoding", LINES) as text:
            lines = (line.rstrip("\r\n") for line in bounded_lines(path, text))
            for number, names in enumerate(_split(path, lines, form), 1):
                gathering.add(names, number)
        return gathering.finished()
    if (
        not isinstance(source, Path | str | Frame)
        and design.layout is not BasketLayout.LONG
        and _has_truths(source, design)
    ):
        return _from_truths(source, design)
    frame = read_frame(source, form) if isinstance(source, Path | str) else as_frame(source)
    return _from_rows(frame, design) if design.layout is BasketLayout.LONG else _from_columns(frame, design)


class _Gathering:
    """Numbers of items, basket after basket; every error says where."""

    def __init__(self, design: BasketDesign, path: Path) -> None:
        self.path = path
        self._design, self._number = design, {item: number for number, item in enumerate(design.items)}
        self._sizes = set(design.design.sizes)
        self._starts, self._items, self._repeating = array("q", [0]), array("i"), 0

    def add(self, names: Sequence[str], line: int) -> None:
        """Add a basket; an item that stands in it more than once says no more than once."""
        try:
            numbers = sorted(set(map(self._number.__getitem__, names)))
        except KeyError:
            raise self._error(
                line, "an item is not among those of the design: list it there, or leave it out"
            ) from None
        self._repeating += len(numbers) < len(names)
        self.add_numbers(numbers, line)

    def add_numbers(self, numbers: Sequence[int], line: int) -> None:
        """Add a basket of rising numbers."""
        if len(numbers) not in self._sizes:
            known = self._design.design
            raise self._error(line, known.lacks(len(numbers)))
        self._items.extend(numbers)
        self._starts.append(len(self._items))

    def _error(self, line: int, problem: str) -> DataError:
        return DataError(problem, path=self.path, line=line)

    def finished(self, ids: Sequence[str] | None = None) -> Baskets:
        """Return the baskets, numbered from 1 if they have no ids."""
        starts, items = np.array(self._starts, dtype=np.int64), np.array(self._items, dtype=np.int32)
        made = Transactions(len(self._design.items), starts, items)
        named = [str(n) for n in range(1, len(made) + 1)] if ids is None else ids
        return Baskets(made, named, self.path, self._repeating)


@contextmanager
def opened_text(path: Path, encoding: str | None, cure: str, more: Sequence[str] = ()) -> Iterator[TextIO]:
    """Open a file of lines; whatever keeps it from being read is an error of that file."""
    try:
        with readable(path), opened(path, more) as file:
            text = io.TextIOWrapper(file, encoding or "utf-8-sig", newline="\n")
            yield text
            text.detach()  # it would close the file
    except UnicodeDecodeError:
        raise DataError(f"the file is not text in {encoding or 'UTF-8'}: {cure}", path=path) from None
    except csv.Error:
        raise DataError("a quote is not closed or not doubled: write a quote within a cell twice", path=path) from None


def _split(path: Path, lines: Iterator[str], form: Form) -> Iterator[list[str]]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if any(suffix in LINES for suffix in suffixes) and form.separator is None:
        return (line.split() for line in lines)
    separator = form.separator or ("\t" if ".tsv" in suffixes else ",")
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    return ([cell.strip() for cell in row if cell.strip()] for row in rows)


def _from_rows(frame: Frame, design: BasketDesign) -> Baskets:
    """Gather rows of ids and items; a row without an item stands for a basket that may be empty."""
    owners, items = frame.ids(design.id_column or ""), frame.column(design.item_column or "", design.items)
    named = {text: value_of(design.items, text) or text for text in items.cells.texts}
    baskets: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for row, (owner, item) in enumerate(zip(owners.cells, items.cells, strict=True)):
        if owner is None:
            raise owners.error("the id is missing: give each row one", row)
        first.setdefault(owner, frame.lines[row])
        baskets.setdefault(owner, []).extend([] if item is None else [named[item]])
    gathering = _Gathering(design, frame.path)
    for basket, names in baskets.items():
        gathering.add(names, first[basket])
    return gathering.finished([*baskets])


def _has_truths(source: Any, design: BasketDesign) -> bool:
    """Return whether a data frame of pandas has a column of truth values for each item, and no other."""
    dtypes: Any = getattr(source, "dtypes", None)
    if not hasattr(dtypes, "items"):
        return False
    kinds = {str(name): str(kind) for name, kind in dtypes.items() if str(name) != design.id_column}
    return kinds == dict.fromkeys(design.items, "bool")


def _from_truths(source: Any, design: BasketDesign) -> Baskets:
    """Read a DataFrame of truth values, which may be large, without texts between."""
    label = {str(name): name for name in source.columns}
    held = np.column_stack([source[label[name]].to_numpy() for name in design.items])
    named = design.id_column
    ids = None if named is None else distinct_ids(as_frame(source[[label[named]]]).ids(named))
    return _of_matrix(held, range(1, len(held) + 1), ids, _Gathering(design, Path("DataFrame")))


def _from_columns(frame: Frame, design: BasketDesign) -> Baskets:
    """Read a truth value per basket and item; there is a column for each item of the design, and no other."""
    names = [name for name in frame.columns if name != design.id_column]
    for name in names:
        if name not in design.items:
            near = suggestion(name, design.items) if len(design.items) < 20 else ""
            raise DataError(f"it is no item of the design{near}", path=frame.path, column=name)
    held = np.zeros((len(frame), len(design.items)), dtype=np.bool_)
    for number, name in enumerate(design.items):
        column = frame.column(name, ())
        try:
            held[:, number] = [_TRUTHS[cell or ""] for cell in column.cells]
        except KeyError:
            row = next(row for row, cell in enumerate(column.cells) if (cell or "") not in _TRUTHS)
            raise column.error("must be true or false, or 1 or 0", row) from None
    ids = None if design.id_column is None else distinct_ids(frame.ids(design.id_column))
    return _of_matrix(held, frame.lines, ids, _Gathering(design, frame.path))


def _of_matrix(
    held: NDArray[np.bool_], lines: Sequence[int], ids: Sequence[str] | None, gathering: _Gathering
) -> Baskets:
    for row, line in zip(held, lines, strict=True):
        gathering.add_numbers(np.flatnonzero(row).tolist(), line)
    return gathering.finished(ids)
