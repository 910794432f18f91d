"""Which truths could have made a response: the candidates of a record, as its receiver lists them (DESIGN 10).

The coin of a group leaves of every response a short list of truths. Under the related question these are the response
moved by every offset: records that differ by an offset have the same list, each at another place of it. Under the
unrelated question any truth could have been replaced by the personal answers; a most likely distribution has only
truths that were sent, so the list is that of the responses seen. In both, a response has one chance under itself and
one under all others of its list: `T[r][x] = plus [r = x] + other(r)`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.tables import Codes, Index


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """The lists of the responses of one group.

    Args:
        lists: The number of each record's list.
        places: Where on it the response itself stands.
        plus: By how much likelier a response is under itself than under any other of its list.
        other: The chance of the response at each place under any other truth of the list.
        codes: Returns what stands at these places of these lists, records by columns of the group.
    """

    lists: Index
    places: Index
    plus: Fraction
    other: tuple[Fraction, ...]
    codes: Callable[[Index, Index], Codes]

    @property
    def length(self) -> int:
        """How many candidates every list has."""
        return len(self.other)

    def __repr__(self) -> str:
        return f"<Candidates {len(self.lists)} records, {self.length} each>"


def numbered(columns: NDArray[np.integer[Any]]) -> tuple[Index, Index]:
    """Number the distinct rows; return the first row of every number, and the number of every row."""
    numbers = np.zeros(len(columns), dtype=np.intp)
    first = np.zeros(min(len(columns), 1), dtype=np.intp)
    for column in columns.T:
        _, first, numbers = np.unique(
            numbers * (int(column.max(initial=0)) + 1) + column, return_index=True, return_inverse=True
        )
    return first, numbers
