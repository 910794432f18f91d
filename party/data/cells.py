"""The cells of a column: each distinct text once, and a code per record.

A million records then take megabytes, and whatever is done to a column is done to its distinct texts; only counting
them, and the last step, touch every record, and both are array operations.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from party.data.numbers import doubles

NO_TEXT = -1  # the code of an empty cell


class Cells(Sequence[str | None]):
    """The cells of a column, in the order of the records; an empty one is None.

    Args:
        texts: The distinct texts, none empty; every one occurs.
        codes: Of each record: the position of its text, or `NO_TEXT`.
    """

    def __init__(self, texts: Sequence[str], codes: NDArray[np.int32]) -> None:
        self.texts, self.codes = texts, codes

    @classmethod
    def of(cls, cells: Iterable[str | None]) -> "Cells":
        """Return cells from memory; an empty text is an empty cell."""
        found: dict[str | None, int] = {None: 0, "": 0}
        numbers = [found.setdefault(cell, len(found) - 1) for cell in cells]
        return cls([text for text in found if text], np.array(numbers, dtype=np.int32) - 1)

    def __repr__(self) -> str:
        return f"<Cells {len(self)}, {len(self.texts)} texts>"

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

    @cached_property
    def doubles(self) -> NDArray[np.float64] | None:
        """The texts as doubles, where all are plain numbers that doubles tell apart and order."""
        return doubles(self.texts)

    def row(self, text: str | None) -> int:
        """Return the first record that holds a text; None for the first empty cell."""
        code = NO_TEXT if text is None else self.texts.index(text)
        return int(np.argmax(self.codes == code))

    def standing_for(self, text_of: Mapping[str, str | None]) -> "Cells":
        """Return the cells that these stand for.

        Args:
            text_of: What a text stands for, if not for itself.
        """
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


def coded(texts: Sequence[str | None], codes: NDArray[np.int32]) -> Cells:
    """Return cells by their codes among texts of which some may not occur, and one may be empty.

    Args:
        texts: Distinct.
        codes: Of each record; `NO_TEXT` for an empty cell.
    """
    kept = np.bincount(codes[codes != NO_TEXT], minlength=len(texts)) > 0
    for nothing in {"", None}.intersection(texts):
        kept[texts.index(nothing)] = False
    if kept.all():
        return Cells(cast("Sequence[str]", texts), codes)
    place = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, NO_TEXT).astype(np.int32)
    return Cells(
        list(compress(cast("Sequence[str]", texts), kept.tolist())), np.append(place, np.int32(NO_TEXT))[codes]
    )
