"""How good a tree is on records that were held out: a table of what it says by the records' classes, with noise.

    rows        what the leaves say, each once: their labels, and of two classes the tenths, where these are opened
    shares      of how many held-out records have each row and each class: sums over the leaves that say so
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
from math import sqrt
from typing import Final, Self

import numpy as np

from protocols.errors import InputError, PeerError
from protocols.learning.quality import ScoreTable
from protocols.learning.tree import TENTHS, Leaf, Tree
from protocols.messages import CountShares
from protocols.noise.geometric import Geometric
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.numbers import modulus_mask
from protocols.role import Note, Role, exchange
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Term
from protocols.terms import Leaves


def noise_of_table(epsilon: Fraction) -> Geometric:
    """Return what each side adds to each cell, so that it has no more than this epsilon against it."""
    return Geometric(2 / epsilon)


def room_for_table(law: Geometric) -> int:
    """Return how far both sides' noise may take a cell beyond the held-out records, up and down together."""
    return 4 * law.cut


def facts_read(records: int, cells: int, law: Geometric, openings: int = 1) -> int:
    """Return how many yes-or-no facts at most a side that deviates reads by a table of these cells, whatever it sends.

    A cell has as many bits as the largest number in it, of which the other side's noise, the same in each opening,
    takes its entropy.
    """
    bits = openings * (records + room_for_table(law)).bit_length() - law.entropy
    return max(0, int(cells * bits))


def error_of_correct(rows: int, law: Geometric) -> float:
    """Return the standard error of the noise in how many are classified rightly, by a table of this many rows."""
    return sqrt(2 * rows * law.variance)


def most_rows(classes: int, leaves: Leaves) -> int:
    """Return how many rows a table has at most: of five tenths in a leaf either of two classes may be the label."""
    return TENTHS + 2 if leaves == Leaves.TENTHS and classes == _RANKED else classes


_RANKED: Final = 2


@dataclass(frozen=True)
class LeafStatement:
    """What leaves say: a label, and of two classes the tenths of the second one, or nothing."""

    tenth: int
    label: int


NO_TENTH: Final = -1


def said_by(leaf: Leaf) -> LeafStatement:
    """Return what a leaf says."""
    return LeafStatement(leaf.tenths[1] if len(leaf.tenths) == _RANKED else NO_TENTH, leaf.label)


@dataclass(frozen=True)
class Scores:
    """The table with the noise of both sides: how many held-out records of each class get each statement of a leaf.

    `rows` are what is said, by tenths and labels, each with the numbers by class, which noise may make negative; `law`
    is each side's.
    """

    rows: tuple[tuple[LeafStatement, tuple[int, ...]], ...]
    records: int
    law: Geometric

    @classmethod
    def read(cls, numbers: Sequence[int], classes: int, records: int, law: Geometric) -> Self:
        """Return what was opened as such numbers: of each row its tenth, its label, and a number for each class."""
        if not numbers or len(numbers) % (classes + 2):
            raise InputError("the table of held-out records is no multiple of its classes and two")
        rows = np.array(numbers).reshape(-1, classes + 2).tolist()
        return cls(tuple((LeafStatement(tenth, label), tuple(cells)) for tenth, label, *cells in rows), records, law)

    @property
    def table(self) -> ScoreTable:
        """What figures follow from."""
        said, cells = zip(*self.rows, strict=True)
        tenths = tuple(each.tenth / TENTHS for each in said)
        labels, ranks = tuple(each.label for each in said), min(tenths) >= 0
        noise = 2 * self.law.variance
        return ScoreTable(np.array(cells, np.float64), labels, noise, tenths if ranks else None, self.records)

    @property
    def cells(self) -> list[int]:
        """The numbers, row by row."""
        return [number for _, cells in self.rows for number in cells]

    @property
    def correct(self) -> int:
        """How many have the class of their label, within what can be."""
        return min(max(sum(cells[said.label] for said, cells in self.rows), 0), self.records)

    @property
    def correct_error(self) -> float:
        """The standard error of the noise in that number."""
        return error_of_correct(len(self.rows), self.law)

    @property
    def commonest_share(self) -> float:
        """The share of the commonest class among them, which the accuracy should exceed."""
        return self.table.commonest().value


def open_scores(tree: Tree, counts: SharedCounts, law: Geometric, noise: Sequence[int]) -> Role[tuple[int, ...]]:
    """Count what a tree makes of the held-out records, and open it with both sides' noise, as `Scores.read` has it.

    `counts` have `room_for_table`; `noise` is our own, one for each cell.

    Discloses: the number of held-out records of each row and class, with our noise in it.
    """
    classes, rows = tree.schema.classes, said_rows(tree)
    leaves = [(path, said_by(node)) for path, node in tree.walk() if isinstance(node, Leaf)]
    labels = [Term(tree.schema.class_index, label) for label in range(classes)]
    shares = yield from counts.count([path & label for path, _ in leaves for label in labels])
    cells = np.zeros((len(rows), classes), WORD)
    np.add.at(cells, [rows.index(said) for _, said in leaves], shares.reshape(-1, classes))
    yield Note(OpenedFact(OpenedKind.SCORES, (), None))
    numbers = yield from open_cells(cells.reshape(-1), counts.width, noise, 2 * law.cut)
    of_rows = np.reshape(numbers, (-1, classes)).tolist()
    opened = tuple(each for said, row in zip(rows, of_rows, strict=True) for each in (said.tenth, said.label, *row))
    yield Note(OpenedFact(OpenedKind.SCORES, (), opened))
    return opened


def open_cells(cells: Uint64s, width: int, noise: Sequence[int], lowest: int = 0) -> Role[list[int]]:
    """Open the cells of a table, of which these are our shares modulo `2**width`, with both sides' noise.

    No cell is below `-lowest`, the largest noise of both together; `noise` is our own, one for each cell.

    Discloses: the cells, with our noise in them.
    """
    most = modulus_mask(width)
    own = (cells + np.array(noise, np.int64).astype(WORD)) & most
    theirs = np.array((yield from exchange(CountShares(tuple(map(int, own))))).shares, WORD)
    if len(theirs) != len(own) or (theirs > most).any():
        raise PeerError("the shares of the table's cells are of other counts")
    opened: list[int] = (((own + theirs + np.uint64(lowest)) & most).astype(np.int64) - lowest).tolist()
    return opened


def said_rows(tree: Tree) -> list[LeafStatement]:
    """Return what the leaves of a tree say, each once, in the order of tenths and labels."""
    said = {said_by(node) for _, node in tree.walk() if isinstance(node, Leaf)}
    return sorted(said, key=lambda each: (each.tenth, each.label))
