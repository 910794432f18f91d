"""The port through which learners count: `counts = yield from engine.count(queries)`.

A query asks, at one node, for the joint counts `N(E and A = v and class = c)` of some candidate attributes. Every
engine answers the same queries with a `values x classes` matrix a candidate; only what crosses to the peer, and
whether the counts are exact, differs. Learners import this module and nothing else of the package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.role import Role
from protocols.tables.expression import Expression
from protocols.tables.table import Codes

CountTable = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Query:
    """Ask for the counts of `candidates` (indices into `Schema.attributes`) at the node `expression`.

    `class_counts` are the node's own counts where they are known from the level above, else None: every candidate's
    counts must add up to them (the conservation check, DESIGN 6.3).
    """

    expression: Expression
    candidates: tuple[int, ...]
    class_counts: tuple[float, ...] | None


@dataclass(frozen=True)
class Answer:
    """Joint counts of one query: a `values x classes` matrix for each of its candidates, in their order."""

    tables: tuple[CountTable, ...]


class Predictor(Protocol):
    """A finished tree, as far as an engine needs it."""

    def predict(self, codes: Codes) -> NDArray[np.intp]:
        """Return the class of each row of joint codes (columns of `Schema.columns`; the class is not read)."""
        ...

    def leaves(self) -> Sequence[tuple[Expression, int]]:
        """Return every leaf's expression and its class."""
        ...


class CountEngine(Protocol):
    """Counts on the training records, and one count on the test records."""

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Answer all queries of one level."""
        ...

    def count_correct(self, tree: Predictor) -> Role[float]:
        """Return the number of test records whose class the tree predicts (DESIGN 7.4): one number."""
        ...
