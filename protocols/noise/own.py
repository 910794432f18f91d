"""One party's own noise in one run: the same whenever asked, and unknown to anybody else (DESIGN 14, "Noise").

Each number's noise is a deterministic function of the owner's secret, of the tables and the peer, of what is asked and
of the noise's own scale, as coins are of what they hide. Asking again tells the same number, in whichever run, so
nothing can be averaged away. Noise of another scale is other noise, of which nothing cancels, and its run spends its
own epsilon.
"""

from collections.abc import Mapping
from types import MappingProxyType

from protocols.counts import ModelParts
from protocols.noise.accounting import Spending, TreeSpending
from protocols.noise.geometric import Geometric, OneSided
from protocols.randomness import KeyedRandomness, canonical, keyed_digest
from protocols.tables.table import Expression


class KeyedNoise:
    """Draws the noise of one owner for what is asked of some tables.

    Args:
        secret: The owner's secret key, 32 bytes.
        tables: A digest of all that decides, with what is asked, which true number an answer is.
        places: A number for each column that does not depend on the order of columns; as they stand unless given.
    """

    def __init__(self, secret: bytes, tables: bytes, places: Mapping[int, int] = MappingProxyType({})) -> None:
        self._key, self._places = keyed_digest(secret, b"cotally noise", tables), places

    def of_model(self, law: Geometric, count: int, label: bytes, model: ModelParts) -> list[int]:
        """Draw the noise of numbers about a model of these parts, in whatever order they come."""
        return self._draw(law, count, label, *sorted(canonical(self._node(path), content) for path, content in model))

    def _draw(self, law: Geometric | OneSided, count: int, *label: bytes) -> list[int]:
        scale = f"{law.scale.numerator}/{law.scale.denominator}".encode()
        chance = KeyedRandomness(self._key, canonical(scale, *label))
        return [law.draw(chance) for _ in range(count)]

    def _node(self, expression: Expression) -> bytes:
        """Return what stands for a node: the same in whatever order its path fixes the columns."""
        return canonical(*sorted(canonical(self._column(t.column), _integer(t.value)) for t in expression.terms))

    def _column(self, column: int) -> bytes:
        return _integer(self._places.get(column, column))


class OwnNoise(KeyedNoise):
    """Draws our noise in counts, as `KeyedNoise`; `spending` is that of our side."""

    def __init__(
        self, secret: bytes, tables: bytes, spending: Spending, places: Mapping[int, int] = MappingProxyType({})
    ) -> None:
        super().__init__(secret, tables, places)
        self.spending = spending

    def __repr__(self) -> str:
        return f"OwnNoise({self.spending})"

    def class_counts(self, classes: int) -> list[int]:
        """Draw the noise of the training records' class counts."""
        return self._draw(self.spending.cells, classes, b"class counts")

    def cells(self, expression: Expression, candidate: int, count: int) -> list[int]:
        """Draw the noise of a candidate's cells at a node, in the order of a batch."""
        return self._draw(self.spending.cells, count, b"cells", self._node(expression), self._column(candidate))

    def accuracy(self, model: ModelParts) -> int:
        """Draw the noise of the number of held-out records that a model of these parts classifies correctly."""
        (noise,) = self.of_model(self.spending.accuracy, 1, b"accuracy", model)
        return noise


class TreeNoise(KeyedNoise):
    """Draws our noise of a tree of which nothing is opened but winners and labels; as `OwnNoise`."""

    def __init__(
        self, secret: bytes, tables: bytes, spending: TreeSpending, places: Mapping[int, int] = MappingProxyType({})
    ) -> None:
        super().__init__(secret, tables, places)
        self.spending = spending

    def __repr__(self) -> str:
        return f"TreeNoise({self.spending})"

    def worth(self, expression: Expression, candidate: int) -> int:
        """Draw the noise of what a candidate is worth at a node."""
        (noise,) = self._draw(self.spending.worth, 1, b"worth", self._node(expression), self._column(candidate))
        return noise

    def label(self, expression: Expression, classes: int) -> list[int]:
        """Draw the noise of the class counts of a leaf."""
        return self._draw(self.spending.label, classes, b"label", self._node(expression))


def _integer(value: int) -> bytes:
    return value.to_bytes(4, "big")
