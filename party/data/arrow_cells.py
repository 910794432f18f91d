"""The cells of a column that Arrow holds: as doubles where all are plain numbers, else as texts, made once asked for.

A number needs no text to be sorted and binned. What doubles could confuse, or what may be a code, is left to the
texts: more than 15 digits, a needless zero or a plus in front, an exponent in a text, blanks, anything not finite.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from party.data.cells import NO_TEXT, Cells, NumberCells, TextCells, coded
from party.data.numbers import DIGITS_OF_A_DOUBLE
from protocols.tables.arrays import Floats

_MINUS, _POINT, _ZERO, _NINE = b"-.09"
_DIGITS = np.isin(np.arange(256), [_MINUS, _POINT, *range(_ZERO, _NINE + 1)])
_LOOK = 1000  # bytes that tell most texts from numbers
_LEAST, _MOST = 1e-15, 1e15  # between them a double's shortest text without an exponent is a plain number


class ArrowCells(Cells):
    """Cells of an Arrow column of texts, whole numbers or doubles; null or an empty text is an empty cell."""

    def __init__(self, column: Any) -> None:  # pyarrow is untyped
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @property
    def texts(self) -> Sequence[str]:
        """The distinct texts, none empty; every one occurs."""
        return self._coded.texts

    @property
    def codes(self) -> NDArray[np.int32]:
        """Of each record: the position of its text, or `NO_TEXT`."""
        return self._coded.codes

    @cached_property
    def numbers(self) -> NumberCells | None:
        """These cells as numbers, where all that are not empty are plain ones that doubles tell apart and order."""
        each = [_doubles(chunk) for chunk in self._column.chunks]
        found = [chunk for chunk in each if chunk is not None]
        if not found or len(found) < len(each):
            return None
        joined = np.concatenate(found)
        return None if np.isnan(joined).all() else NumberCells(joined)

    @cached_property
    def _coded(self) -> TextCells:
        return arrow_texts(self._column)


def arrow_texts(column: Any) -> TextCells:
    """Return the cells of an Arrow column as text; doubles as Python writes them."""
    import pyarrow as pa  # noqa: PLC0415

    chunks = column.dictionary_encode().chunks
    if not chunks:
        return coded([], np.empty(0, dtype=np.int32))
    values = chunks[0].dictionary  # of all of them
    if pa.types.is_floating(values.type):
        texts: list[str | None] = [*map(str, values.to_numpy(zero_copy_only=False))]
    else:
        texts = values.cast(pa.string()).to_pylist()
    codes = [chunk.indices.fill_null(NO_TEXT).to_numpy() for chunk in chunks]
    return coded(texts, np.concatenate(codes))


def _doubles(chunk: Any) -> Floats | None:
    """Return the double of each cell, not a number for an empty one; None unless all others are plain numbers."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_string(chunk.type):
        return _plain_values(chunk)
    filled = _filled(chunk)
    if filled is None:
        return None
    try:
        # NB: Arrow's parser, like `float`, takes the double next to the number
        return _spread(chunk.filter(pa.array(filled)).cast(pa.float64()).to_numpy(zero_copy_only=False), filled)
    except pa.ArrowInvalid:
        return None


def _filled(chunk: Any) -> NDArray[np.bool_] | None:
    """Tell which of the texts are not empty, or None unless those are made as plain numbers are.

    That is: of digits, points and minuses, a minus only in front, no zero before another digit, and short.
    """
    _, ends, content = chunk.buffers()
    if chunk.null_count or content is None:
        return None
    at = np.frombuffer(ends, dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    text = np.frombuffer(content, dtype=np.uint8)[: at[-1]]
    length = np.diff(at)
    filled = length > 0
    if length.max(initial=0) > DIGITS_OF_A_DOUBLE or not _DIGITS[text[at[0] :][:_LOOK]].all():
        return None
    start, length = at[:-1][filled], length[filled]
    negative = text[start] == _MINUS
    if not _DIGITS[text[at[0] :]].all() or np.count_nonzero(text[at[0] :] == _MINUS) != np.count_nonzero(negative):
        return None
    start, length = start + negative, length - negative
    several = start[length > 1]
    return None if ((text[several] == _ZERO) & (text[several + 1] != _POINT)).any() else filled


def _plain_values(chunk: Any) -> Floats | None:
    """Return numbers as doubles, unless one has no short text as a plain number."""
    filled = ~chunk.is_null().to_numpy(zero_copy_only=False)
    values = chunk.drop_null().to_numpy(zero_copy_only=False)
    each = values.astype(np.float64)
    size = np.abs(each)
    plain = ((size < _MOST) & ((size >= _LEAST) | (size == 0))).all()
    return _spread(each, filled) if plain else None


def _spread(values: Floats, filled: NDArray[np.bool_]) -> Floats:
    if filled.all():
        return values
    each = np.full(len(filled), np.nan)
    each[filled] = values
    return each
