"""Transactions as two flat arrays of numbers of items, and the design that randomizes them.

Transaction `i` holds `items[starts[i] : starts[i + 1]]`, in rising order. There are `n` items, 0 to `n - 1`, whether or
not any transaction holds them: the *universe*.

A design has one operator per original size, over one universe of items. Parameters are given per size (Review section
3.3). A transaction of a size that has none is refused, since leaving it out would bias every support, and guessing
parameters would break what was promised about its privacy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.association.operators import Operator
from protocols.errors import InputError

MAX_UNIVERSE = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Transactions:
    """`N` transactions over a universe of `n` items; `starts` are `N + 1` numbers."""

    universe: int
    starts: NDArray[np.int64]
    items: NDArray[np.int32]

    def __post_init__(self) -> None:
        if not 0 <= self.universe <= MAX_UNIVERSE:
            raise InputError(f"a universe has 0 to {MAX_UNIVERSE} items")
        if len(self.starts) < 1 or self.starts[0] != 0 or self.starts[-1] != len(self.items):
            raise InputError("the starts of transactions must begin with 0 and end with the number of items")
        if (self.sizes < 0).any():
            raise InputError("the starts of transactions must not fall")
        bad = (self.items < 0) | (self.items >= self.universe)
        if bad.any():
            raise InputError(f"transaction {self._owner(bad)} holds an item outside the universe of {self.universe}")
        falls = np.diff(self.items) <= 0
        inside = self.starts[1:-1]
        falls[inside[(inside > 0) & (inside < len(self.items))] - 1] = False
        if falls.any():
            raise InputError(f"transaction {self._owner(falls)} must hold each item once, and its items must rise")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"<Transactions {len(self)} over {self.universe} items>"

    @classmethod
    def of(cls, baskets: Iterable[Iterable[int]], universe: int) -> "Transactions":
        """Return transactions from any collections of item numbers."""
        rows = [sorted(basket) for basket in baskets]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        flat = [item for row in rows for item in row]
        if any(not 0 <= item < universe for item in flat):  # before numbers are cut to 32 bits
            number = next(k for k, row in enumerate(rows) if any(not 0 <= item < universe for item in row))
            raise InputError(f"transaction {number} holds an item outside the universe of {universe}")
        return cls(universe, starts.astype(np.int64), np.array(flat, dtype=np.int32))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items of each transaction, `m`."""
        return np.diff(self.starts)

    def row(self, number: int) -> NDArray[np.int32]:
        """Return the items of one transaction."""
        return self.items[self.starts[number] : self.starts[number + 1]]

    def matrix(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which items these transactions hold (`len(rows) x universe`)."""
        lengths = self.sizes[rows]
        before = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        places = np.arange(lengths.sum()) + np.repeat(self.starts[rows] - before, lengths)
        held = np.zeros((len(rows), self.universe), dtype=np.bool_)
        held[np.repeat(np.arange(len(rows)), lengths), self.items[places]] = True
        return held

    def sets(self) -> Sequence[frozenset[int]]:
        """Return every transaction as a set."""
        return [frozenset(self.row(number).tolist()) for number in range(len(self))]

    def _owner(self, flags: NDArray[np.bool_]) -> int:
        """Return the number, from 0, of the transaction in which the first flagged item stands."""
        return int(np.searchsorted(self.starts, np.argmax(flags), side="right")) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Randomized:
    """Transactions as they were sent, and the size `m` that each had before (Review section 3.6 a)."""

    transactions: Transactions
    sizes: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.sizes.shape != (len(self.transactions),) or (self.sizes < 0).any():
            raise InputError("randomized transactions need one original size each, 0 or more")

    def __len__(self) -> int:
        return len(self.transactions)

    def __repr__(self) -> str:
        return f"<Randomized {len(self)} over {self.transactions.universe} items>"


@dataclass(frozen=True)
class TransactionDesign:
    """The operators of all sizes over a universe of `n` items."""

    universe: int
    operators: tuple[Operator, ...]

    def __post_init__(self) -> None:
        if not self.operators:
            raise InputError("a design of transactions needs an operator for at least one size")
        if len({operator.size for operator in self.operators}) != len(self.operators):
            raise InputError("a size has two operators: give it one")
        for operator in self.operators:
            operator.check_universe(self.universe)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The original sizes that have an operator, rising."""
        return tuple(sorted(operator.size for operator in self.operators))

    def operator(self, size: int) -> Operator:
        """Return the operator for transactions of this size."""
        for operator in self.operators:
            if operator.size == size:
                return operator
        raise InputError(self.lacks(size))

    def check_sizes(self, sizes: Iterable[int]) -> None:
        """Refuse sizes without parameters."""
        for size in sorted(set(sizes)):
            self.operator(size)

    def lacks(self, size: int) -> str:
        """Say that this size has no operator, and which ones do."""
        return f"the design has no parameters for transactions of size {size}: it has them for {self._known()}"

    def declaration(self) -> dict[str, object]:
        """Return what decides how transactions are randomized, as JSON takes it."""
        ordered = sorted(self.operators, key=lambda operator: operator.size)
        return {"universe": self.universe, "operators": [operator.declaration() for operator in ordered]}

    def _known(self) -> str:
        first, last = self.sizes[0], self.sizes[-1]
        if last - first + 1 == len(self.sizes):
            return f"{first} to {last}" if first < last else str(first)
        return ", ".join(map(str, self.sizes))
