"""How a set of transactions is randomized: one operator per original size, over one universe of items.

Parameters are given per size (Review section 3.3). A transaction of a size that has none is refused, since leaving it
out would bias every support, and guessing parameters would break what was promised about its privacy.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from protocols.association.operators import Operator
from protocols.errors import InputError


@dataclass(frozen=True)
class TransactionDesign:
    """The operators of all sizes.

    Args:
        universe: Number of items, `n`.
        operators: One per original size.

    Raises:
        InputError: Two operators have one size, there is none, or one cannot work in this universe.
    """

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
        """Return the operator for transactions of this size.

        Raises:
            InputError: There is none.
        """
        for operator in self.operators:
            if operator.size == size:
                return operator
        raise InputError(self.lacks(size))

    def check_sizes(self, sizes: Iterable[int]) -> None:
        """Refuse sizes without parameters.

        Raises:
            InputError: There is one.
        """
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
