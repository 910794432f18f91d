"""A table: records as rows of codes. Its repr shows size, never content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.tables.schema import Attribute

Codes = NDArray[np.uint8]
Rows = NDArray[np.integer[Any]]
"""Codes of rows to be classified: one outside its attribute's domain, such as -1, stands for an unknown value."""
NO_ANSWER = 255
"""The code, outside every domain, of a survey question that was not answered."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Codes of `n` records by `k` attributes.

    Raises:
        InputError: The shape does not fit, or a code lies outside its attribute's domain.
    """

    attributes: tuple[Attribute, ...]
    codes: Codes

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.attributes):
            raise InputError("a table's codes must be records by attributes")
        sizes = np.array([a.size for a in self.attributes])
        if (self.codes >= sizes).any():
            raise InputError("a table holds a code outside its attribute's domain")

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def __repr__(self) -> str:
        return f"<Table {len(self)} x {len(self.attributes)}>"

    def rows(self, index: Sequence[int] | NDArray[np.intp]) -> "Table":
        """Return the table of these records, in this order."""
        return Table(self.attributes, self.codes[np.asarray(index, dtype=np.intp)])
