"""A chi-square over all counts of the root at once (DESIGN 6.2): many small lies show where each passes its own bound.

The estimates of the root's tables less the counts received, `e`, are a sum over records and over the peer's groups of
independent vectors of mean 0, if these counts are true. Under the guess `m` of a group's coin a record lies in certain
cells, `U_m`, one per table; its estimate is `U_m/c` plus what does not depend on the coin, `c` the contrast. So its
covariance is `U' C U / c^2`, `C = diag(p) - p p'` that of the coin's `L` outcomes, which has the eigenvalues `q` and
`t(1-t)L/(L-1)` beside 0 for the constant (`q` only if
`L > 2`): at most the larger one times `sum_m U_m U_m' - (sum U_m)(sum U_m)'/L`, which
follows from the copy as it was sent and not from the coin. With `S` the sum of these, `e' S^-1 e` is a chi-square of at
most `r = rank S` in expectation, and by Klein and Rio's bound on the largest of many sums (2005, theorem 1.1)

    P( sqrt(e' S^-1 e) >= sqrt(r) + x ) <= exp( -x^2 / (2 + 4 B sqrt(r) + 3 B x) ),

`B` the most that one record can add. This is no approximation. Only tables that touch one group of the peer's take
part: of others, the covariance is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, lgamma, log, sqrt

import numpy as np

from protocols.counting.rows import View
from protocols.counts import Answer, CountTable, Query
from protocols.errors import DeviationError
from protocols.tables import Floats, Index, Schema

FALSE_ALARM = 1e-6
"""Of all bounds of a run together."""

_BLOCK = 1 << 13
_MOST_CELLS = 1024
_NOTHING = 1e-9


@dataclass(frozen=True)
class Misfit:
    """`e' S^-1 e`, the rank of `S`, and the most that one record can add to its root."""

    square: float
    rank: int
    largest: float

    def excess(self, alarm: float) -> float:
        """Return by how much the root passes what chance reaches once in `exp(alarm)` runs; negative if it does not."""
        return sqrt(self.square) - self.bound(alarm)

    def bound(self, alarm: float) -> float:
        """Return what the root of the square reaches by chance once in `exp(alarm)` runs."""
        spread = 1 + 2 * self.largest * sqrt(self.rank)
        linear = 3 * self.largest * alarm
        return sqrt(self.rank) + (linear + sqrt(linear * linear + 8 * spread * alarm)) / 2


def check_root(view: View, query: Query, answer: Answer) -> None:
    """Raise DeviationError where the root's counts are together further from their estimates than chance allows.

    The window depends on the same coins, so all windows of its size share the alarm; and that is the half of the rate
    that the bounds of single counts leave: no expression of one term is asked for.
    """
    if misfit(view, query, answer).excess(alarm_of_windows(view.schema, len(query.candidates))) > 0:
        raise DeviationError


def alarm_of(terms: int, values: int) -> float:
    """Divide the false-alarm rate among all expressions: `2^-T` to those of `T` terms, in equal parts.

    It is minus the natural logarithm of one expression's share; `values` are those of all columns together.
    """
    expressions = terms * log(values) - lgamma(terms + 1)
    return -log(FALSE_ALARM) + terms * log(2) + expressions


def alarm_of_windows(schema: Schema, size: int) -> float:
    """Return the alarm, as `Misfit` takes it, that all windows of a size share."""
    return log(2 / FALSE_ALARM) + log(comb(len(schema.attributes), size))


def misfit(view: View, query: Query, answer: Answer) -> Misfit:
    """Compare the counts received at the root with what the peer's copy says."""
    groups = view.design.groups
    tables = dict(zip(query.candidates, answer.tables, strict=True))
    label = view.schema.class_index
    found = Misfit(0.0, 0, 0.0)
    for k, columns in enumerate(groups):
        others = {column for other in groups if other is not columns for column in other}
        touching = [c for c in tables if {c, label} & set(columns) and not {c, label} & others]
        if view.design.orders[k] > 1 and touching and label not in others:
            part = _Group(view, k, columns, touching).misfit([tables[c] for c in touching])
            found = Misfit(found.square + part.square, found.rank + part.rank, max(found.largest, part.largest))
    return found


class _Group:
    """The tables of the root that touch one group of the peer's and no other."""

    def __init__(self, view: View, group: int, columns: Sequence[int], candidates: Sequence[int]) -> None:
        self._view, self._columns, self._candidates = view, columns, candidates
        design = view.design
        self._order, self._contrast = design.orders[group], float(design.contrast(group))
        truth, lie = float(design.truth(group)), float(design.lie(group))
        self._lie = lie
        self._most = truth * (1 - truth) * self._order / (self._order - 1)
        if self._order > 2:  # there are lies that differ
            self._most = max(self._most, lie)
        sizes = [view.schema.attributes[c].size * view.schema.classes for c in candidates]
        self._starts = np.cumsum([0, *sizes])

    def misfit(self, tables: Sequence[CountTable]) -> Misfit:
        """Compare; nothing is said where there are too many cells."""
        cells = int(self._starts[-1])
        if cells > _MOST_CELLS:
            return Misfit(0.0, 0, 0.0)
        spread, as_sent, all_guesses = np.zeros((cells, cells)), np.zeros(cells), np.zeros(cells)
        for start in range(0, len(self._view), _BLOCK):
            guesses = self._guesses(start)
            mean = guesses.mean(axis=0)
            apart = (guesses - mean).reshape(-1, cells)
            spread += apart.T @ apart
            as_sent += guesses[0].sum(axis=0)
            all_guesses += self._order * mean.sum(axis=0)
        sent_cells = np.concatenate([np.asarray(table, dtype=np.float64).ravel() for table in tables])
        difference = (as_sent - self._lie * all_guesses) / self._contrast - sent_cells
        values, vectors = np.linalg.eigh(spread * self._most / self._contrast**2)
        kept = values > _NOTHING * max(1.0, float(values[-1]))
        whitening = vectors[:, kept] / np.sqrt(values[kept])
        return Misfit(float(((difference @ whitening) ** 2).sum()), int(kept.sum()), self._largest(whitening))

    def _largest(self, whitening: Floats) -> float:
        """Return a bound of what one record can add: two guesses apart, each from the mean of all."""
        most = 0.0
        for start in range(0, len(self._view), _BLOCK):
            guesses = self._guesses(start) @ whitening
            most = max(most, float(np.linalg.norm(guesses - guesses.mean(axis=0), axis=2).max(initial=0.0)))
        return 2 * most / abs(self._contrast)

    def _guesses(self, start: int) -> Floats:
        """Return `U_m` of a block of records: guesses by records by cells."""
        codes = self._view.codes[start : start + _BLOCK].astype(np.intp)
        result = np.zeros((self._order, len(codes), int(self._starts[-1])))
        rows = np.arange(len(codes))
        for offset in range(self._order):
            label = self._value(codes, self._view.schema.class_index, offset)
            for candidate, first in zip(self._candidates, self._starts, strict=False):
                cell = self._value(codes, candidate, offset) * self._view.schema.classes + label
                result[offset, rows, first + cell] = 1
        return result

    def _value(self, codes: Index, column: int, offset: int) -> Index:
        size = self._view.schema.columns[column].size
        values: Index = (codes[:, column] - offset) % size if column in self._columns else codes[:, column]
        return values
