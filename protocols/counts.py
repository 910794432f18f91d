"""The port through which learners count: `counts = yield from engine.count(queries)`.

A query asks, at one node, for the joint counts `N(E and A = v and class = c)` of some candidate attributes. Every
engine answers the same queries with a `values x classes` matrix per candidate; only what crosses to the peer, and
whether the counts are exact, differs. Learners know this module and no engine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.role import Role
from protocols.tables import Codes, Expression, Floats, Schema

_NOTHING = 1e-9
LEAST_MASS = 1e-9  # of estimates that are not all nothing

CountTable = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """Joint counts of one query: a `values x classes` matrix for each of its candidates, in their order.

    Of estimates `noises` are alike: the variance, over the coins, of how far each cell's estimate lies from what its
    row and its column make likely, if the class does not depend on the value (DESIGN 5.3). Empty otherwise.
    """

    tables: tuple[CountTable, ...]
    noises: tuple[NDArray[np.float64], ...] = ()


@dataclass(frozen=True)
class Query:
    """Ask for the counts of `candidates` (indices into `Schema.attributes`) at the node `expression`.

    `class_counts` are the node's own counts where they are known from the level above, else None: every candidate's
    counts must add up to them (the conservation check, DESIGN 6.2).
    """

    expression: Expression
    candidates: tuple[int, ...]
    class_counts: tuple[float, ...] | None

    def cells(self, schema: Schema) -> Iterator[int]:
        """Yield the number of counts of each candidate."""
        yield from (schema.attributes[candidate].size * schema.classes for candidate in self.candidates)


def stacks(tables: Sequence[CountTable]) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Yield the tables of each shape stacked along a first axis, with their positions."""
    positions: dict[tuple[int, ...], list[int]] = {}
    for position, table in enumerate(tables):
        positions.setdefault(table.shape, []).append(position)
    for same in positions.values():
        yield same, np.array([tables[position] for position in same], dtype=np.float64)


def positive_part(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set to 0 what is at most `1e-9` of its table's largest cell, or of one record: nobody has such a class."""
    positive: NDArray[np.float64] = np.maximum(estimates, 0.0)
    nothing = _NOTHING * np.maximum(positive.max(axis=(-2, -1), keepdims=True), 1.0)
    return np.where(positive > nothing, positive, 0.0)


def shaped(queries: Sequence[Query], numbers: NDArray[np.int64], schema: Schema) -> list[Answer]:
    """Return the answers of a batch of counts, in the order queries, candidates, values, classes."""
    answers, start = [], 0
    for query in queries:
        tables = []
        for cells in query.cells(schema):
            tables.append(numbers[start : start + cells].reshape(-1, schema.classes))
            start += cells
        answers.append(Answer(tuple(tables)))
    return answers


@dataclass(frozen=True, eq=False, repr=False)
class Additions:
    """What the records of one sample add to some sums (`distinct records x sums`); records that are not here add 0.

    `values` are of each distinct record, which stands for `repeats` of the sample's `records`.
    """

    values: NDArray[np.float64]
    repeats: NDArray[np.int64]
    records: int

    @property
    def sums(self) -> NDArray[np.float64]:
        """Over all records."""
        added: NDArray[np.float64] = self.repeats @ self.values
        return added

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Of the sums, for respondents drawn from a population: `n s^2`; infinite for a sample of one."""
        if self.records < 2:
            return np.full((self.values.shape[1],) * 2, np.inf)
        products = (self.values * self.repeats[:, None]).T @ self.values
        spread: NDArray[np.float64] = products - np.outer(self.sums, self.sums) / self.records
        return spread * self.records / (self.records - 1)


class Classifier(Protocol):
    """A finished model of any kind."""

    @property
    def columns(self) -> frozenset[int]:
        """The attributes that `predict` reads."""

    def predict(self, codes: Codes) -> NDArray[np.intp]:
        """Return the class of each row of joint codes (columns of `Schema.columns`; the class is not read)."""


ModelParts = Sequence[tuple[Expression, bytes]]
"""What a model says, node by node, in any order: two models that say the same are one."""


class Learned(Classifier, Protocol):
    """A finished model that two parties hold, as far as an engine needs it."""

    def parts(self) -> ModelParts:
        """Return all that it says."""


Claims = Sequence[tuple[Expression, int]]
"""Nodes, none of them within another, each with the class that is claimed for its records."""


@runtime_checkable
class Predictor(Learned, Protocol):
    """A finished tree, as far as an engine needs it."""

    def leaves(self) -> Claims:
        """Return every leaf's expression and its class."""


class Estimates(Protocol):
    """Our own estimated counts, computed without a message."""

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate the counts of all queries; cells may be negative."""


class Counts(Protocol):
    """Counts on the training records: all that a learner needs. Two parties: `counting.oblivious`, `dot_product`."""

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Answer all queries of one level."""


@dataclass(frozen=True)
class Correct:
    """How many test records a model classifies correctly: exactly, or estimated with at most this standard error."""

    count: float
    error: float = 0.0


class CountEngine(Counts, Protocol):
    """Counts on the training records, and one count on the test records."""

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Return the number of test records whose class the model predicts (DESIGN 7.4): one number."""


class SecureEngine(CountEngine, Protocol):
    """One party's side of an engine that counts under encryption."""

    def set_up(self) -> Role[None]:
        """Send or receive what precedes the first batch."""

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Return of how many training records each of these, of which there is one at least, is true."""


def departures(adds: Floats, shares: Floats, classes: Floats) -> Floats:
    """Return how far what each record adds (`records x values x classes`) lies from what its sums make likely."""
    by_value, by_class = adds.sum(axis=2)[:, :, None], adds.sum(axis=1)[:, None, :]
    expected = np.outer(shares, classes)
    apart: Floats = adds - by_value * classes - by_class * shares[:, None] + by_value.sum(axis=1)[:, None] * expected
    return apart


def table_shares(tables: ArrayLike) -> tuple[Floats, Floats]:
    """Return the shares of values and of classes in each table of a stack, negative cells taken as 0."""
    positive = positive_part(np.asarray(tables, dtype=np.float64))
    mass = np.maximum(positive.sum(axis=(1, 2)), LEAST_MASS)[:, None]
    return positive.sum(axis=2) / mass, positive.sum(axis=1) / mass


def squares_of_truth(tables: ArrayLike) -> Floats:
    """Return what true records that make these tables add to the squares of each cell's departure."""
    left, right = (np.eye(each.shape[1]) - each[:, None, :] for each in table_shares(tables))
    return quadratic(np.asarray(tables, dtype=np.float64), left, right)


def quadratic(tables: Floats, left: Floats, right: Floats) -> Floats:
    """Return `sum over a, b of tables[a, b] left[a, v]^2 right[b, c]^2` for each table of a stack."""
    found: Floats = np.matmul(np.matmul((left**2).transpose(0, 2, 1), tables), right**2)
    return found
