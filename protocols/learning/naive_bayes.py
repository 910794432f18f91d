"""Naive Bayes from counts (Surveys section 3.3; DESIGN 8): only `P(c)` and `P(a and c)` are needed.

Any count engine will do, since one question at the root asks for everything: estimated counts of a survey, the counts
of a whole table, or secure counts of two parties.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.counts import Counts, CountTable, Query
from protocols.errors import InputError
from protocols.randomness import canonical
from protocols.role import Role
from protocols.tables import ROOT, Expression, Floats, Rows, Schema

GRAIN: Final = 1 << 16
"""Classes are compared by logarithms in whole parts of this many, whose sums are the same in any order, and exact."""

LAPLACE: Final = 1.0
"""What is added to every exact count."""

_MOST = 1e12
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """`argmax_c P(c) prod P(a_i | c)`, in logarithms; a chance of 0 is minus infinity.

    `conditional[i]` is `log P(A_i = v | c)`, `values x classes`. Where counts were estimated `errors` are the standard
    errors of the prior's chances and of each table's, in twelve digits, infinite where unknown; else there are none.
    """

    schema: Schema
    prior: Floats
    conditional: tuple[Floats, ...]
    errors: tuple[Floats, ...] = ()

    def parts(self) -> list[tuple[Expression, bytes]]:
        """Return the chance of each class, and of each value in each class, in bytes."""
        values = [
            (ROOT.child(column, value), row)
            for column, table in enumerate(self.conditional)
            for value, row in enumerate(table)
        ]
        return [(node, repr(chances_of(row).tolist()).encode()) for node, row in [(ROOT, self.prior), *values]]

    @property
    def telling(self) -> int | None:
        """The first attribute each value of which has one class alone, if there is one and several classes are."""
        held = (np.isfinite(table).sum(axis=1) <= 1 for table in self.conditional)
        every = range(len(self.schema.attributes)) if self.schema.classes > 1 else ()
        return next((place for place, each in zip(every, held, strict=False) if each.all()), None)

    def digest(self) -> bytes:
        """Return SHA-256 of the model in canonical form: of all that its file holds."""
        label = self.schema.class_attribute
        target = canonical(*(text.encode() for text in (label.name, *label.values)))
        columns = (*(column.encoded for column in self.schema.attributes), target)
        numbers = (*map(chances_of, (self.prior, *self.conditional)), *self.errors)
        tables = (repr(table.tolist()).encode() for table in numbers)
        return hashlib.sha256(canonical(b"cotally bayes", canonical(*columns), *tables)).digest()

    @property
    def columns(self) -> frozenset[int]:
        """The attributes that `predict` reads: all."""
        return frozenset(range(len(self.schema.attributes)))

    def scores(self, codes: Rows) -> Floats:
        """Return `log P(c) + sum_i log P(a_i | c)` of each row (`rows x classes`); the class column is not read.

        A code outside an attribute's domain, such as -1, says nothing and is left out.
        """
        return _sums(codes, self.prior, self.conditional)

    def predict(self, codes: Rows) -> NDArray[np.intp]:
        """Return the class of each row by scores in whole grains (`GRAIN`).

        Ties go to the first class, rows of no possible class to the most common.
        """
        scores = _sums(codes, grains(self.prior), [grains(table) for table in self.conditional])
        impossible = np.isneginf(scores).all(axis=1)
        labels: NDArray[np.intp] = np.where(impossible, grains(self.prior).argmax(), scores.argmax(axis=1))
        return labels

    def shares(self, codes: Rows) -> Floats:
        """Return the chance of each class (`rows x classes`); the prior where no class is possible."""
        scores = self.scores(codes)
        scores[np.isneginf(scores).all(axis=1)] = self.prior
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: Floats = chances / chances.sum(axis=1, keepdims=True)
        return shares


def _sums(codes: Rows, prior: Floats, conditional: Sequence[Floats]) -> Floats:
    scores = np.tile(prior, (len(codes), 1))
    for column, table in enumerate(conditional):
        values = codes[:, column]
        known = (values >= 0) & (values < len(table))
        scores[known] += table[values[known]]
    return scores


def grains(logarithms: Floats) -> Floats:
    """Return logarithms as whole numbers of grains, by which classes are compared; minus infinity stays."""
    return np.rint(logarithms * GRAIN)


def fit_naive_bayes(
    schema: Schema, engine: Counts, smoothing: float = 0.0, class_counts: tuple[float, ...] | None = None
) -> Role[NaiveBayes]:
    """Ask for the counts of all attributes by class, once, and make the classifier.

    `smoothing` is added to every cell (Laplace's is 1); 0, as in the paper, makes unseen values impossible.
    `class_counts` are `N(c)` where known beforehand; otherwise the mean, over all attributes, of what their counts add
    up to. Each attribute's counts of a class are rescaled to it, since estimates may not fit.

    Discloses: what `engine` discloses for all attributes at the root, and nothing of its own.
    """
    if not 0 <= smoothing < float("inf"):
        raise InputError("smoothing must be 0 or more")
    every = tuple(range(len(schema.attributes)))
    if not smoothing * max(attribute.size for attribute in schema.attributes) < _MOST:
        raise InputError(f"smoothing must be below {_MOST:g}: more than that hides every count")
    (answer,) = yield from engine.count([Query(ROOT, every, None)])
    tables = [np.asarray(table, dtype=np.float64) for table in answer.tables]
    sums = np.mean([table.sum(axis=0) for table in tables], axis=0)
    return bayes_of_counts(schema, sums if class_counts is None else class_counts, tables, smoothing)


def bayes_of_counts(
    schema: Schema,
    class_counts: ArrayLike,
    tables: Sequence[CountTable],
    smoothing: float = LAPLACE,
) -> NaiveBayes:
    """Make the classifier of counts `N(c)` and `N(A_i = v and c)` (`values x classes`), none of them negative.

    Chances are rounded to twelve digits before any logarithm, so that two machines that have the same counts make the
    same model, bit for bit, and it is what its file holds.
    """
    classes = np.asarray(class_counts, dtype=np.float64)
    if not classes.sum() > 0:
        raise InputError("no record is left to learn from: the estimated counts are all 0 or less")
    conditional = tuple(
        logarithm(rounded(_conditional(np.asarray(table, dtype=np.float64), classes, smoothing))) for table in tables
    )
    return NaiveBayes(schema, logarithm(rounded(classes / classes.sum())), conditional)


def _conditional(table: Floats, classes: Floats, smoothing: float) -> Floats:
    """Return `P(v | c)`; a class without records has no opinion on values."""
    sums = table.sum(axis=0)
    counts = table * np.divide(classes, sums, out=np.zeros_like(sums), where=sums > 0) + smoothing
    totals = counts.sum(axis=0, keepdims=True)
    equal = np.full_like(counts, 1 / len(counts))
    chances: Floats = np.divide(counts, totals, out=equal, where=totals > 0)
    return chances


def chances_of(logarithms: Floats) -> Floats:
    """Return a model's chances to twelve digits, as its file has them."""
    return rounded(np.exp(logarithms))


def rounded(chances: Floats) -> Floats:
    """Return numbers to twelve digits."""
    digits = [float(f"{chance:.{_DIGITS}g}") for chance in chances.ravel().tolist()]
    return np.array(digits).reshape(chances.shape)


def logarithm(chances: Floats) -> Floats:
    """Return natural logarithms, minus infinity for 0."""
    logarithms: Floats = np.log(chances, out=np.full_like(chances, -np.inf), where=chances > 0)
    return logarithms
