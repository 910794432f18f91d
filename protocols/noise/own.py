"""One party's own noise in one run: the same whenever asked, and unknown to anybody else (DESIGN 14, "Noise").

Each number's noise is a deterministic function of the owner's secret, of the run (its terms, both tables and the peer)
and of what is asked, as coins are: asking again tells the same number, so nothing can be averaged away. In another run
every number has other noise, of which nothing cancels, and that run spends its own epsilon.
"""

from collections.abc import Sequence

from protocols.noise.accounting import Spending
from protocols.noise.geometric import Geometric
from protocols.randomness import KeyedRandomness, canonical, keyed_digest
from protocols.tables.expression import Expression


class OwnNoise:
    """Draws our noise.

    Args:
        secret: The owner's secret key, 32 bytes.
        run: A digest of all that decides which true number an answer is.
        spending: Of our side.
    """

    def __init__(self, secret: bytes, run: bytes, spending: Spending) -> None:
        self._key = keyed_digest(secret, b"cotally noise", run)
        self.spending = spending

    def __repr__(self) -> str:
        return f"OwnNoise({self.spending})"

    def class_counts(self, classes: int) -> list[int]:
        """Draw the noise of the training records' class counts."""
        return self._draw(self.spending.cells, classes, b"class counts")

    def cells(self, expression: Expression, candidate: int, count: int) -> list[int]:
        """Draw the noise of a candidate's cells at a node, in the order of a batch."""
        return self._draw(self.spending.cells, count, b"cells", _path(expression), _integer(candidate))

    def accuracy(self, leaves: Sequence[tuple[Expression, int]]) -> int:
        """Draw the noise of the number of held-out records that a tree of these leaves classifies correctly."""
        tree = (canonical(_path(expression), _integer(label)) for expression, label in leaves)
        (noise,) = self._draw(self.spending.accuracy, 1, b"accuracy", *tree)
        return noise

    def _draw(self, law: Geometric, count: int, *label: bytes) -> list[int]:
        chance = KeyedRandomness(self._key, canonical(*label))
        return [law.draw(chance) for _ in range(count)]


def _path(expression: Expression) -> bytes:
    return canonical(*(canonical(_integer(term.column), _integer(term.value)) for term in expression.terms))


def _integer(value: int) -> bytes:
    return value.to_bytes(4, "big")
