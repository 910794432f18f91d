"""How good a tree is on records that were held out: a table of its labels by the records' classes, with noise.

    shares      of how many held-out records have each label and each class: sums over the leaves of one label
    noise       each side adds its own to its share: two-sided geometric of scale `2 / epsilon`
    opened      the sums with both noises; accuracy and all else follow from them

One record more or less in one cell, or moved from one to another, changes the table by 2 at most. So it is
(ε, δ)-differentially private against each side, whose own noise is no secret to itself (Dwork and Roth 2014, 3.3);
δ is what the cut of the noise leaves.
Another tree over the same people has another table, and costs as much again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.errors import PeerError
from protocols.learning.tree import Tree
from protocols.messages import CountShares
from protocols.noise.geometric import Geometric
from protocols.oblivious.bits import WORD
from protocols.oblivious.numbers import modulus_mask
from protocols.role import Note, Role, exchange
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Term


def noise_of_scores(epsilon: Fraction) -> Geometric:
    """Return what each side adds to each cell, so that it has no more than this epsilon against it."""
    return Geometric(2 / epsilon)


def room_for_scores(law: Geometric) -> int:
    """Return how far both sides' noise may take a cell beyond the held-out records, up and down together."""
    return 4 * law.cut


@dataclass(frozen=True)
class Scores:
    """How many held-out records a tree gives which label, by class (`labels x classes`), with the noise of both sides.

    Noise may make some cells negative; `law` is each side's.
    """

    cells: tuple[int, ...]
    records: int
    law: Geometric

    @property
    def table(self) -> NDArray[np.int64]:
        """The numbers as `labels x classes`."""
        return np.array(self.cells).reshape(isqrt(len(self.cells)), -1)

    @property
    def correct(self) -> int:
        """How many have the class of their label, within what can be."""
        return min(max(int(np.trace(self.table)), 0), self.records)

    @property
    def correct_error(self) -> float:
        """The standard error of the noise in that number."""
        return sqrt(2 * len(self.table) * self.law.variance)

    @property
    def commonest_share(self) -> float:
        """The share of the commonest class among them, which the accuracy should exceed."""
        return min(max(float(self.table.sum(0).max()) / self.records, 0.0), 1.0)


def open_scores(tree: Tree, counts: SharedCounts, law: Geometric, noise: Sequence[int]) -> Role[tuple[int, ...]]:
    """Count what a tree makes of the held-out records, and open it with both sides' noise, label by label.

    `counts` have `room_for_scores`; `noise` is our own, one for each cell.

    Discloses: the number of held-out records of each label and class, with our noise in it.
    """
    classes, leaves = tree.schema.classes, tree.leaves()
    labels = [Term(tree.schema.class_index, label) for label in range(classes)]
    shares = yield from counts.count([path & label for path, _ in leaves for label in labels])
    cells = np.zeros((classes, classes), WORD)
    np.add.at(cells, [label for _, label in leaves], shares.reshape(-1, classes))
    most = modulus_mask(counts.width)
    yield Note(OpenedFact(OpenedKind.SCORES, (), None))
    own = (cells.reshape(-1) + np.array(noise, np.int64).astype(WORD)) & most
    theirs = np.array((yield from exchange(CountShares(tuple(map(int, own))))).shares, WORD)
    if len(theirs) != len(own) or (theirs > most).any():
        raise PeerError("the shares of the held-out records' table are of other counts")
    lowest = 2 * law.cut  # of both sides' noise
    raised: list[int] = ((own + theirs + np.uint64(lowest)) & most).tolist()
    opened = tuple(number - lowest for number in raised)
    yield Note(OpenedFact(OpenedKind.SCORES, (), opened))
    return opened


def simulate_share(own: CountShares, opened: Sequence[int], most: np.uint64) -> CountShares:
    """Return what a side hears which sends this share of a table that is opened so, modulo one more than `most`."""
    theirs = (np.array(opened, np.int64).astype(WORD) - np.array(own.shares, WORD)) & most
    return CountShares(tuple(map(int, theirs)))
