"""The port through which learners count: `counts = yield from engine.count(queries)`.

A query asks, at one node, for the joint counts `N(E and A = v and class = c)` of some candidate attributes. Every
engine answers the same queries with a `values x classes` matrix per candidate; only what crosses to the peer, and
whether the counts are exact, differs. Learners know this module and no engine; `stacks` and `positive_part` are how the
tables of answers are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from protocols.role import Role
from protocols.tables import Codes, Expression, Floats, Schema

LEAST_MASS = 1e-9  # of estimates that are not all nothing

CountTable = NDArray[np.int64] | Floats


@dataclass(frozen=True)
class Answer:
    """Joint counts of one query: a `values x classes` matrix for each of its candidates, in their order.

    Of estimates `noises` are alike: the variance, over the coins, of how far each cell's estimate lies from what its
    row and its column make likely, if the class does not depend on the value (DESIGN 5.3). Empty otherwise.
    """

    tables: tuple[CountTable, ...]
    noises: tuple[Floats, ...] = ()


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


def stacks(tables: Sequence[CountTable]) -> Iterator[tuple[list[int], Floats]]:
    """Yield the tables of each shape stacked along a first axis, with their positions."""
    positions: dict[tuple[int, ...], list[int]] = {}
    for position, table in enumerate(tables):
        positions.setdefault(table.shape, []).append(position)
    for same in positions.values():
        yield same, np.array([tables[position] for position in same], dtype=np.float64)


def positive_part(estimates: Floats) -> Floats:
    """Set to 0 what is at most `1e-9` of its table's largest cell, or of one record: nobody has such a class."""
    positive: Floats = np.maximum(estimates, 0.0)
    nothing = LEAST_MASS * np.maximum(positive.max(axis=(-2, -1), keepdims=True), 1.0)
    return np.where(positive > nothing, positive, 0.0)


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
