"""Naive Bayes as two parties compare its classes, each seeing its own columns alone (DESIGN 13).

A class's score is a sum of whole numbers, one per column (`naive_bayes.grains`), so what one side holds and what the
other holds simply add up. Of two classes the one with the higher score wins, the first where both are equal: with `A`
what the asker's columns add to the first's lead and `B` what the answerer's do, the second wins if `A + B < 0`. Moved
by a number that both know, so that none is negative, that is

    the second wins   if and only if   X < Y         X = A - lowest + 1,   Y = 1 - B - lowest
    the first wins    if and only if   X > Y - 1

where X is the asker's and Y the answerer's. How many binary digits they have follows from the number of columns alone,
as long as no chance is below `e**-16`, so that lengths show nothing of a model of less than eight million records.
Classes that no record has had never win, and are left out.
"""

from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.learning.naive_bayes import GRAIN, NaiveBayes, grains
from protocols.tables import Floats, Index, Rows

_FARTHEST: Final = 16 * GRAIN
"""How far one class leads by one column at most, if no chance is below e**-16."""
Leads = NDArray[np.int64]
"""Of each row and pair of classes, how far one leads, or what that is compared with."""


def usual_width(columns: int) -> int:
    """Return how many binary digits scores over this many columns of the asker take, if no chance is below e**-16."""
    return (2 * _FARTHEST * columns).bit_length()


class Contest:
    """The pairs of classes that are compared, and the numbers that each side brings; the asker brings `X`.

    Every column that is not the asker's is the answerer's.
    """

    def __init__(self, model: NaiveBayes, asker: str) -> None:
        if not all(np.isfinite(table).all() for table in model.conditional):
            raise InputError("the model calls a value impossible in a class, as none of two parties does")
        attributes = model.schema.attributes
        self.classes: Index = np.flatnonzero(np.isfinite(model.prior))
        self._pairs = list(combinations(range(len(self.classes)), 2))
        leads = [self._leads(table) for table in model.conditional]
        self._asked = {c: lead for c, lead in enumerate(leads) if attributes[c].party == asker}
        self._answered = {c: lead for c, lead in enumerate(leads) if attributes[c].party != asker}
        self._start = self._leads(model.prior[None, :])[0]
        self._lowest = np.array(sum(np.minimum(lead.min(axis=0), 0) for lead in self._asked.values()), dtype=np.int64)
        highest = np.array(sum(np.maximum(lead.max(axis=0), 0) for lead in self._asked.values()), dtype=np.int64)
        self._most = highest - self._lowest + 2
        self.width = max(int(self._most.max(initial=1)).bit_length(), usual_width(len(self._asked)))

    @property
    def pairs(self) -> int:
        """How many pairs of classes there are."""
        return len(self._pairs)

    def numbers(self, codes: Rows) -> Leads:
        """Return `X` (`rows x pairs`); the asker's columns are read."""
        return self._sums(self._asked, codes) - self._lowest + 1

    def thresholds(self, codes: Rows) -> Leads:
        """Return `Y` (`rows x pairs`), cut to what `X` can be; the answerer's columns are read."""
        leads = self._start + self._sums(self._answered, codes)
        thresholds: Leads = np.clip(1 - leads - self._lowest, 1, self._most)
        return thresholds

    def _leads(self, logarithms: Floats) -> Leads:
        """Return how far the first class of each pair leads for each value (`values x pairs`)."""
        scores = grains(logarithms[:, self.classes]).astype(np.int64)
        pairs = np.array(self._pairs, dtype=np.intp).reshape(-1, 2)
        return scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]]

    def _sums(self, leads: dict[int, Leads], codes: Rows) -> Leads:
        total = np.zeros((len(codes), self.pairs), dtype=np.int64)
        for column, table in leads.items():
            values = codes[:, column]
            known = (values >= 0) & (values < len(table))
            total[known] += table[values[known]]
        return total
