"""How good a classifier is, from a table of its scores by class, each figure with its standard error.

Rows of the table are what the classifier may say: a label, and of two classes a score by which people are ranked. A
cell is how many records with true class `c` it says this of, exactly or with noise. Every figure `g` is a function of
the cells, and its error is by the delta method:

    var g = sum over cells of (dg / dcell)**2 (cell + noise)

for a figure that does not change when all cells grow alike; the first term is the multinomial sample, the second the
noise that was added. For the area under the curve that is the variance of DeLong, DeLong and Clarke-Pearson (1988), of
grouped scores and divided by counts rather than counts less one.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from protocols.errors import InputError
from protocols.tables import Floats, Rows


class Figure(NamedTuple):
    """A figure and its standard error, of sample and noise."""

    value: float
    error: float


class CurvePoint(NamedTuple):
    """What the people of the highest scores are: shares of all, of those with the ranked class, and of the others.

    `least` is the lowest score among them, and `right` what share of them has the ranked class; both are 0 of nobody.
    """

    selected: float
    found: float
    false_alarms: float
    least: float = 0.0
    right: float = 0.0


class Calibrated(NamedTuple):
    """Records of one score: what it says, and what share has the ranked class (none where noise hides it)."""

    score: float
    records: float
    share: Figure | None


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Counts of records by the statement of a classifier and their class.

    Args:
        cells: The numbers (`rows x classes`); noise may make some negative.
        labels: The class that each row says.
        noise: The variance of the noise in each cell.
        scores: By which rows rank the second of two classes, ascending; None where labels alone are known.
        total: How many records there are, where noise is in the cells and not in this, or a class is of no cell.
        about: The class that is ranked; None for the rarest.
    """

    cells: Floats
    labels: tuple[int, ...]
    noise: float = 0.0
    scores: tuple[float, ...] | None = None
    total: int | None = None
    about: int | None = None

    def __post_init__(self) -> None:
        rows, classes = self.cells.shape
        if len(self.labels) != rows or any(not 0 <= label < classes for label in self.labels):
            raise InputError("a table of scores needs a class for each row")
        if self.scores is not None and (
            classes != 2 or len(self.scores) != rows or list(self.scores) != sorted(self.scores)
        ):
            raise InputError("scores rank two classes, and ascend with the rows")

    @property
    def of_classes(self) -> Floats:
        """How many of each class."""
        totals: Floats = self.cells.sum(0)
        return totals

    @property
    def confusion(self) -> Floats:
        """How many are given each class, by their own (`labels x classes`)."""
        table = np.zeros((self.cells.shape[1],) * 2)
        np.add.at(table, list(self.labels), self.cells)
        return table

    @property
    def ranked(self) -> int:
        """The class that scores and curves are about, of two."""
        return int(self.of_classes.argmin()) if self.about is None else self.about

    def accuracy(self) -> Figure:
        """Return the share of records that have the class that is said."""
        right = np.zeros_like(self.cells)
        right[np.arange(len(self.labels)), list(self.labels)] = 1
        return self._share(right)

    def commonest(self) -> Figure:
        """Return the share of the commonest class, which accuracy should exceed."""
        is_it = np.zeros_like(self.cells)
        is_it[:, int(self.of_classes.argmax())] = 1
        return self._share(is_it)

    def recall(self, label: int) -> Figure | None:
        """Return of those with a class the share that is given it; None where too few are known to have it."""
        within = np.zeros_like(self.cells)
        within[:, label] = 1
        return self._share_of(self._says(label) * within, within)

    def precision(self, label: int) -> Figure | None:
        """Return of those given a class the share that has it; None where too few are known to be given it."""
        within = self._says(label) * np.ones_like(self.cells)
        part = np.zeros_like(self.cells)
        part[:, label] = within[:, label]
        return self._share_of(part, within)

    def auc(self) -> Figure | None:
        """Return the area under the curve: how often a record of one class scores above one of the other.

        Of equal scores half counts. None where a class has too few records to be known.
        """
        if (ordered := self._ordered()) is None:
            return None
        others, ranked = ordered.cells.T
        below = np.cumsum(others) - others / 2
        above = ranked.sum() - np.cumsum(ranked) + ranked / 2
        of_ranked, of_others = below / others.sum(), above / ranked.sum()
        value = float(ranked @ of_ranked / ranked.sum())
        slopes = np.stack([(of_others - value) / others.sum(), (of_ranked - value) / ranked.sum()], axis=1)
        return _figure(value, slopes, ordered.cells, ordered.noise)

    def ks(self) -> Figure | None:
        """Return how far the two classes' distributions of scores are apart at most (Kolmogorov and Smirnov)."""
        if (ordered := self._ordered()) is None:
            return None
        totals = ordered.cells.sum(0)
        shares = np.cumsum(ordered.cells, axis=0) / totals
        at = int(np.argmax(shares[:, 0] - shares[:, 1]))
        below = (np.arange(len(shares)) <= at)[:, None]
        slopes = (below - shares[at]) / totals * np.array([1, -1])
        return _figure(float(shares[at, 0] - shares[at, 1]), slopes, ordered.cells, ordered.noise)

    def curve(self) -> list[CurvePoint]:
        """Return what each threshold selects, from nobody to all (ROC and lift); empty where scores are not known."""
        if (ordered := self._ordered()) is None:
            return []
        from_top = np.cumsum(ordered.cells[::-1], axis=0)
        shares = np.clip(from_top / ordered.cells.sum(0), 0, 1)
        selected = np.clip(from_top.sum(1) / ordered.cells.sum(), 0, 1)
        right = np.clip(from_top[:, 1] / np.maximum(from_top.sum(1), 1e-9), 0, 1)
        columns = (selected, shares[:, 1], shares[:, 0], ordered.scores[::-1], right)
        return [CurvePoint(0.0, 0.0, 0.0), *(CurvePoint(*point) for point in np.stack(columns, 1).tolist())]

    def calibration(self) -> list[Calibrated]:
        """Return for each score what share of its records has the ranked class, ascending."""
        if self.scores is None:
            return []
        found, ranked = [], self.ranked
        for score in sorted(set(self.scores)):
            within = np.zeros_like(self.cells)
            within[[each == score for each in self.scores]] = 1
            part = within.copy()
            part[:, 1 - ranked] = 0
            said = score if ranked == 1 else 1 - score
            found.append(Calibrated(said, max(0.0, float((within * self.cells).sum())), self._share_of(part, within)))
        return found if ranked == 1 else found[::-1]

    def _says(self, label: int) -> Floats:
        says: Floats = (np.array(self.labels) == label).astype(np.float64)[:, None]
        return says

    def _ordered(self) -> "_Ordered | None":
        """Return one row for each score, ascending for the ranked class, which is the last column."""
        if self.cells.shape[1] != 2 or not self._is_known(self.of_classes.min(), len(self.cells)):
            return None
        keys = np.array(self.labels if self.scores is None else self.scores, dtype=np.float64)
        distinct, row = np.unique(keys, return_inverse=True)
        merged = np.zeros((len(distinct), 2))
        np.add.at(merged, row, self.cells)
        noise = self.noise * np.bincount(row).astype(np.float64)[:, None]
        if self.ranked == 1:
            return _Ordered(merged, noise, distinct)
        return _Ordered(merged[::-1, ::-1], noise[::-1], 1 - distinct[::-1])

    def _is_known(self, number: float, cells: int) -> bool:
        """Return whether a sum of cells is more than twice the deviation of its noise."""
        return bool(number > 2 * sqrt(self.noise * cells))

    def _share(self, part: Floats) -> Figure:
        """Return the share of all records that some cells are."""
        if self.total is None:
            return self._share_of(part, np.ones_like(part)) or Figure(0.0, 1.0)
        value = min(max(float((part * self.cells).sum()) / self.total, 0.0), 1.0)
        variance = value * (1 - value) / self.total + self.noise * float(part.sum()) / self.total**2
        return Figure(value, sqrt(variance))

    def _share_of(self, part: Floats, within: Floats) -> Figure | None:
        """Return the share that some cells are of others; None where noise or nothing is all there is of those."""
        whole = float((within * self.cells).sum())
        if not self._is_known(whole, int(within.sum())):
            return None
        value = float((part * self.cells).sum()) / whole
        return _figure(value, (part - value * within) / whole, self.cells, self.noise)


class _Ordered(NamedTuple):
    """Cells, the variance of the noise in each, and the score of each row."""

    cells: Floats
    noise: Floats
    scores: Floats


def score_table(said: Rows, own: Rows, classes: int, scores: Floats | None = None, total: int = 0) -> ScoreTable:
    """Return the table of records with these labels, classes, and scores of the second of two classes."""
    keys = said if scores is None else scores
    rows, row = np.unique(np.stack([keys, said], axis=1, dtype=np.float64), axis=0, return_inverse=True)
    cells = np.zeros((len(rows), classes))
    np.add.at(cells, (row.ravel(), own), 1)
    labels = tuple(rows[:, 1].astype(int).tolist())
    return ScoreTable(cells, labels, scores=None if scores is None else tuple(rows[:, 0].tolist()), total=total or None)


def _figure(value: float, slopes: Floats, cells: Floats, noise: Floats | float) -> Figure:
    spread = slopes**2 * (np.maximum(cells, 0) + noise)
    return Figure(min(max(value, 0.0), 1.0), sqrt(float(spread.sum())))
