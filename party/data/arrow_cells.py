"""The cells of an Arrow column: doubles where all are plain numbers that doubles tell apart, else texts when asked.

Arrow's `array` and `to_numpy` import pandas, which takes longer than reading a usual table: its buffers are read here.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from party.data.cells import NO_TEXT, Cells, NumberCells, TextCells, coded
from party.data.moments import plain_moment, span_text
from party.data.numbers import DIGITS_OF_A_DOUBLE
from protocols.tables import Floats

_MINUS, _POINT, _ZERO, _NINE = b"-.09"
_DIGITS = np.isin(np.arange(256), [_MINUS, _POINT, *range(_ZERO, _NINE + 1)])
_LOOK = 1000  # bytes that distinguish most texts from numbers
_UNITS = {"s": "1", "ms": "0.001", "us": "0.000001", "ns": "0.000000001"}
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


class LaterCells(ArrowCells):
    """Cells that cannot be used as they are: their texts are made once somebody looks at them, or writes them."""

    def __init__(self, column: Any, write: Callable[[Any], str]) -> None:
        super().__init__(column)
        self._write = write

    @cached_property
    def numbers(self) -> None:
        """None: they are no numbers."""
        return

    @cached_property
    def _coded(self) -> TextCells:
        found: dict[str, int] = {}
        each = (None if cell is None else self._write(cell) for cell in self._column.to_pylist())
        codes = [NO_TEXT if text is None else found.setdefault(text, len(found)) for text in each]
        return coded([*found], np.array(codes, dtype=np.int32))


def arrow_texts(column: Any) -> TextCells:
    """Return the cells of an Arrow column as text; doubles as Python writes them."""
    import pyarrow as pa  # noqa: PLC0415

    chunks = column.dictionary_encode().chunks
    if not chunks:
        return coded([], np.empty(0, dtype=np.int32))
    values = chunks[0].dictionary  # of all of them
    indices = (chunk.indices.fill_null(NO_TEXT) if chunk.indices.null_count else chunk.indices for chunk in chunks)
    return coded(_texts(pa, values), np.concatenate([*map(np.from_dlpack, indices)]))


def _texts(pa: Any, values: Any) -> list[str | None]:
    if pa.types.is_floating(values.type):
        return [*map(str, values.to_numpy(zero_copy_only=False))]
    if pa.types.is_duration(values.type):
        size = Decimal(_UNITS[values.type.unit])
        return [None if each is None else span_text(each * size) for each in values.cast(pa.int64()).to_pylist()]
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    if pa.types.is_temporal(values.type):
        return [None if text is None else plain_moment(text) or text for text in texts]
    return texts


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
        values = np.from_dlpack(chunk.filter(_mask(pa, filled)).cast(pa.float64()))
        return _spread(np.asarray(values, np.float64), filled)
    except pa.ArrowInvalid:
        return None


def _mask(pa: Any, each: NDArray[np.bool_]) -> Any:
    return pa.Array.from_buffers(pa.bool_(), len(each), [None, pa.py_buffer(np.packbits(each, bitorder="little"))])


def _filled(chunk: Any) -> NDArray[np.bool_] | None:
    """Return which texts are not empty; None unless those are short plain numbers without a needless zero or plus."""
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
