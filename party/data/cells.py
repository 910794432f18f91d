"""The cells of a column: each distinct text once and a code per record, or a double per record of plain numbers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import compress
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from party.data.numbers import Doubles, doubles, text_of_double
from protocols.tables import Floats

NO_TEXT = -1  # the code of an empty cell


class Cells(ABC, Sequence[str | None]):
    """The cells of a column, in the order of the records; an empty one is None."""

    @property
    @abstractmethod
    def texts(self) -> Sequence[str]:
        """The distinct texts, none empty; every one occurs."""

    @property
    @abstractmethod
    def codes(self) -> NDArray[np.int32]:
        """Of each record: the position of its text, or `NO_TEXT`."""

    @cached_property
    @abstractmethod
    def numbers(self) -> "NumberCells | None":
        """These cells as numbers, where all that are not empty are plain ones that doubles tell apart and order."""

    @staticmethod
    def of(cells: Iterable[str | None]) -> "Cells":
        """Return cells from memory; an empty text is an empty cell."""
        found: dict[str | None, int] = {None: 0, "": 0}
        numbers = [found.setdefault(cell, len(found) - 1) for cell in cells]
        return TextCells([text for text in found if text], np.array(numbers, dtype=np.int32) - 1)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self)}>"

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str | None]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(index, slice):
            return [self._text(code) for code in self.codes[index].tolist()]
        return self._text(self.codes[index])

    def __iter__(self) -> Iterator[str | None]:
        texts: list[str | None] = [*self.texts, None]
        return map(texts.__getitem__, self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of every sequence that is compared by its content

    @cached_property
    def records(self) -> NDArray[np.int64]:
        """How many records hold each text."""
        return np.bincount(self.codes[self.codes != NO_TEXT], minlength=len(self.texts)).astype(np.int64)

    @property
    def missing(self) -> int:
        """How many cells are empty."""
        return len(self) - int(self.records.sum())

    @property
    def different(self) -> int:
        """How many texts there are."""
        return len(self.texts)

    def only(self, rows: NDArray[np.intp]) -> "Cells":
        """Return the cells of these records alone, in this order."""
        return coded(self.texts, self.codes[rows])

    def row(self, text: str | None) -> int:
        """Return the first record that holds a text; None for the first empty cell."""
        code = NO_TEXT if text is None else self.texts.index(text)
        return int(np.argmax(self.codes == code))

    def standing_for(self, text_of: Mapping[str, str | None]) -> "Cells":
        """Return the cells that these stand for."""
        if not text_of:
            return self
        place = dict(zip(self.texts, range(len(self.texts)), strict=True))
        code = np.arange(len(place), dtype=np.int32)
        for text, other in text_of.items():
            if text in place:
                code[place[text]] = NO_TEXT if other is None else place.setdefault(other, len(place))
        return coded([*place], np.append(code, np.int32(NO_TEXT))[self.codes])

    def _text(self, code: int) -> str | None:
        return None if code == NO_TEXT else self.texts[code]


class TextCells(Cells):
    """Cells that were read as texts."""

    def __init__(self, texts: Sequence[str], codes: NDArray[np.int32]) -> None:
        self._texts, self._codes = texts, codes

    @property
    def texts(self) -> Sequence[str]:
        """The distinct texts, none empty; every one occurs."""
        return self._texts

    @property
    def codes(self) -> NDArray[np.int32]:
        """Of each record: the position of its text, or `NO_TEXT`."""
        return self._codes

    @cached_property
    def numbers(self) -> "NumberCells | None":
        """These cells as numbers, where all that are not empty are plain ones that doubles tell apart and order."""
        each = doubles(self.texts) if self.texts else None
        return None if each is None else NumberCells(np.append(each, np.nan)[self.codes])


class NumberCells(Cells):
    """Cells that are all plain numbers: of each record the double that is this number alone, nan for an empty cell."""

    def __init__(self, each: Floats) -> None:
        self.each = each + 0.0  # of two zeros, the usual one

    def __len__(self) -> int:
        return len(self.each)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The distinct texts, in rising order of the numbers."""
        return list(map(text_of_double, self.held.distinct.tolist()))

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Of each record: the position of its text, or `NO_TEXT`."""
        return self._without_missing(np.searchsorted(self.held.distinct, self.each)).astype(np.int32)

    def without(self, numbers: Sequence[float]) -> "NumberCells":
        """Return these cells, those that are one of these numbers empty."""
        gone = np.isin(self.each, numbers)
        return NumberCells(np.where(gone, np.nan, self.each)) if gone.any() else self

    @cached_property
    def held(self) -> Doubles:
        """The distinct numbers, and how many records hold each."""
        return Doubles.among(self.each[~np.isnan(self.each)])

    @cached_property
    def records(self) -> NDArray[np.int64]:
        """How many records hold each text."""
        return self.held.records

    @property
    def different(self) -> int:
        """How many texts there are."""
        return len(self.held.distinct)

    def bins(self, edges: Sequence[Decimal]) -> NDArray[np.intp]:
        """Return the bin of each record, or `NO_TEXT`: a number on an edge is in the bin below it."""
        return self._without_missing(self.held.bins_of(self.each, edges))

    def _without_missing(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.where(np.isnan(self.each), NO_TEXT, codes) if self.missing else codes

    @cached_property
    def numbers(self) -> "NumberCells":
        """These cells."""
        return self

    def only(self, rows: NDArray[np.intp]) -> "NumberCells":
        """Return the cells of these records alone, in this order."""
        return NumberCells(self.each[rows])


def coded(texts: Sequence[str | None], codes: NDArray[np.int32]) -> TextCells:
    """Return cells by their codes among texts of which some may not occur, and one may be empty."""
    kept = np.bincount(codes[codes != NO_TEXT], minlength=len(texts)) > 0
    for nothing in {"", None}.intersection(texts):
        kept[texts.index(nothing)] = False
    if kept.all():
        return TextCells(cast("Sequence[str]", texts), codes)
    place = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, NO_TEXT).astype(np.int32)
    return TextCells(
        list(compress(cast("Sequence[str]", texts), kept.tolist())), np.append(place, np.int32(NO_TEXT))[codes]
    )
