"""The domain of a survey's column: declared without looking at data, since a collector has only disguised data.

A cell is one of the values, or a number that falls into one of the bins. A missing cell is the value that the
declaration gives it; otherwise an answer not given, or an error if the declaration refuses that. A cell outside the
domain is an error. No error holds a cell's content.
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from party.data import Column, value_of
from party.data.bins import bin_of, number
from party.data.texts import decimal_signs
from protocols.tables.table import NO_ANSWER


@dataclass(frozen=True)
class Domain:
    """What a column can hold.

    Args:
        values: In the order of their codes.
        edges: Of the bins, which are the first values; empty where there are none.
        missing: The value of a missing cell; None where it means no answer.
        complete: Whether a cell without an answer is refused.
    """

    values: tuple[str, ...]
    edges: tuple[Decimal, ...] = ()
    missing: str | None = None
    complete: bool = False

    @property
    def may_be_missing(self) -> bool:
        """Whether an answer may be left out, visibly so."""
        return self.missing is None and not self.complete

    def codes(self, column: Column) -> NDArray[np.uint8]:
        """Return the code of every cell, `NO_ANSWER` where none is given.

        Raises:
            DataError: A cell is missing where that is refused, or outside the domain; the text names its line.
        """
        first: dict[str | None, int] = {}
        for row, text in enumerate(column.cells):
            first.setdefault(text, row)
        code = {text: self._code(column, text, row) for text, row in first.items()}
        return np.fromiter(map(code.__getitem__, column.cells), np.uint8, len(column.cells))

    def _code(self, column: Column, text: str | None, row: int) -> int:
        if text is None:
            if self.complete:
                raise column.error("the cell is missing, and the design refuses that", row)
            return NO_ANSWER if self.missing is None else self.values.index(self.missing)
        known = value_of(self.values, text)
        if known is not None:
            return self.values.index(known)
        value = number(text) if self.edges else None
        if value is None:
            what = "neither a plain number nor a declared bin" if self.edges else "none of the declared values"
            if self.edges and decimal_signs({text: 1}):
                what += ": declare which sign begins a fraction (decimal)"
            raise column.error(f"the cell is {what}", row)
        return bin_of(self.edges, value)
