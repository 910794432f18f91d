"""What a run with noise lets out of each side: sensitivity, scale, epsilon and delta (DESIGN 14, "Noise").

Neighbours are two tables that differ in one record's values on one side; its class may differ too if that side holds
the class alone. How many records there are is public, and so is which of them are held out.

* A *training* record lies in one node of each level. At most its values move it to another node, or to another cell of
  the same one: either way it leaves one cell of each counted candidate and enters one, so a level whose nodes count `w`
  candidates changes by `2 w`. At the root nothing moves, and without the class only the side's own candidates change.
  The class counts, sent by the party that holds the class, change by 2.
* A *held-out* record changes the accuracy by 1, and nothing else; a training record changes it only through what has
  been revealed. So the accuracy spends nothing of what the cells need, and has noise of scale `1/epsilon`.

Shares are equal: noise of scale `changes / epsilon` for every cell and class count. Whatever is computed from revealed
numbers (the tree, its stops, the checks on both sides) spends nothing more.

Delta: a cell that changes by 1 is `(1/scale, d)`-private, `d` the chance of the noise at one end of its range, which is
at most `2**-40 / scale` (the sum over the range is at least `scale` as long as `exp(-cut/scale) <= 1/2`). Over all
changes that is at most `epsilon * 2**-40`.
"""

from dataclasses import dataclass
from fractions import Fraction

from protocols.noise.geometric import CUT_BITS, Geometric, OneSided
from protocols.tables import Schema
from protocols.terms import ALL, Window


@dataclass(frozen=True)
class Spending:
    """What one side spends in a run: epsilon, over all `changes` of cells and class counts by one neighbour."""

    epsilon: Fraction
    changes: int

    @property
    def cells(self) -> Geometric:
        """The noise of each cell, and of each class count; as if one cell changed where none can."""
        return Geometric(max(self.changes, 1) / self.epsilon)

    @property
    def accuracy(self) -> Geometric:
        """The noise of the number of correctly classified held-out records."""
        return Geometric(1 / self.epsilon)

    @property
    def delta(self) -> Fraction:
        """The most by which any event's chance may pass `exp(epsilon)` times that under a neighbour."""
        return delta_of(self.epsilon)


@dataclass(frozen=True)
class TreeSpending:
    """What either side spends on a tree of noisy winners and noisy labels (DESIGN 16, "Noise").

    A record lies in one node of each level and in one leaf. Where it moves from one node to another, all that is
    compared in each changes by `change` at most, relative to one another; where it stays, by twice as much in one.

    `columns` are the candidates at the root. Where `tenths` of leaves are opened, counts have noise of both signs,
    of which label and shares are made: one record changes two of them by 1 at most.
    """

    epsilon: Fraction
    levels: int
    change: int
    columns: int
    tenths: bool = False

    @property
    def of_level(self) -> Fraction:
        """The epsilon of the winners of one depth: six tenths of all are theirs."""
        return self.epsilon * Fraction(3, 5) / self.levels

    @property
    def of_label(self) -> Fraction:
        """The epsilon of the labels."""
        return self.epsilon * Fraction(2, 5)

    @property
    def worth(self) -> OneSided:
        """The noise of what each candidate is worth."""
        return OneSided(2 * self.change / self.of_level, 2 * self.change)

    @property
    def label(self) -> OneSided | Geometric:
        """The noise of each class count of a leaf."""
        if self.tenths:
            return Geometric(2 / self.of_label)
        return OneSided(2 / self.of_label, 2)

    @property
    def delta(self) -> Fraction:
        """The most by which any event's chance may pass `exp(epsilon)` times that under a neighbour.

        A winner's chance passes it by `2**-40` times the epsilon of the comparison at most, for each who may win.
        """
        return delta_of(self.epsilon, max(self.columns, 2))


def delta_of(epsilon: Fraction, winners: int = 1) -> Fraction:
    """Return the delta of a run, as this module has it; `winners` is how many may win at a node of a tree alone."""
    return winners * epsilon / (1 << CUT_BITS)


def most_changes(schema: Schema, side: str, window: Window, depth: int) -> int:
    """Return by how much cells and class counts change in all when one training record's values on a side change."""
    own = sum(attribute.party == side for attribute in schema.attributes)
    return changes_of(len(schema.attributes), own, schema.class_owners == (side,), window, depth)


def changes_of(candidates: int, own: int, alone: bool, window: Window, depth: int) -> int:
    """Return as much, of this many candidates, `own` of the side; `alone` if its record's class may change too."""
    most = candidates if window is ALL else window
    counted = [min(candidates - level, most) for level in range(min(depth, candidates))]
    if counted and not alone:
        counted[0] = min(counted[0], own)
    return 2 * (sum(counted) + alone)
