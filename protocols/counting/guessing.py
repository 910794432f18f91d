"""Estimated counts by guesses, expanded no further than a node's own path needs (DESIGN 5.1, 5.2).

A response together with a guess of what its group's coin did is one candidate for the true record, with a weight. The
weighted guesses of a group that an expression does not touch add up to 1, so a node's rows are guesses of the groups on
its path alone; and once a path has named all columns of a group, nothing below depends on the guess any more: it is
forgotten, and the rows that differ in it alone are one. So a path through many groups of one column each keeps one row
a record, with the product of their factors as its weight, and never lists the patterns of all coins.

A candidate whose group is not guessed is tallied as it was sent; what its guesses would do to the single rows is then
done to the finished table, where it costs nothing. Equal records are merged first. A record without an answer in a
column (`NO_ANSWER`) is left out of every count that reads the column.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.counting.rows import NodeRows, count_together, merge_equal, place_of_each
from protocols.counts import Answer, Classifier, Predictor, Query
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Additions, departures, quadratic, squares_of_truth, table_shares
from protocols.tables import ROOT, Codes, Expression, Floats, Index, Schema

MAX_ROWS = 1 << 26
"""Of one node, about 24 bytes each."""
MAX_PATTERNS = 1 << 20
MAX_LISTED = 1 << 26
"""Of what has to be listed to test a model without leaves: at once, and of all records together."""
KEPT_ROWS = 1 << 24
"""Of all nodes of a level that are kept for the next one; those of further nodes are made again."""


@dataclass(frozen=True, eq=False, repr=False)
class GuessedRows:
    """Guesses at a node: the distinct record, the weight, and the guess of each group that still matters."""

    record: Index
    weight: Floats
    guess: Mapping[int, Index]

    def __len__(self) -> int:
        return len(self.record)

    def where(self, index: Index | NDArray[np.bool_]) -> "GuessedRows":
        """Return these rows alone."""
        return GuessedRows(self.record[index], self.weight[index], {k: guess[index] for k, guess in self.guess.items()})

    def weighed(self, factors: Floats) -> "GuessedRows":
        """Return the rows with these factors to their weights."""
        return GuessedRows(self.record, self.weight * factors, self.guess)

    def without(self, group: int) -> "GuessedRows":
        """Return the rows with a group's guess forgotten; rows that are alike otherwise stay apart."""
        return GuessedRows(self.record, self.weight, {k: guess for k, guess in self.guess.items() if k != group})


NOTHING = GuessedRows(np.zeros(0, dtype=np.intp), np.zeros(0), {})


class GuessingEstimator(ABC):
    """Unbiased estimates of `N(E)`, node by node, from records as they were sent, by the columns of the schema.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, codes: Codes, groups: Sequence[Iterable[int]]) -> None:
        self._schema = schema
        distinct, _, self._repeats = merge_equal(codes)
        self._codes = np.asfortranarray(distinct)
        self._sizes = [column.size for column in schema.columns]
        self._columns = [frozenset(group) for group in groups]
        self._group = {column: k for k, group in enumerate(self._columns) for column in group}
        self._nodes = NodeRows(self._root, self._branches, NOTHING)

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How many records each distinct record stands for."""
        return self._repeats

    def advance(self, expressions: Iterable[Expression]) -> None:
        """Move on to these nodes and forget all others."""
        self._nodes.advance(expressions, KEPT_ROWS)

    def _root(self) -> GuessedRows:
        every = np.arange(len(self._codes), dtype=np.intp)
        return GuessedRows(every, np.ones(len(every)), {})

    def _branches(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        return self._children(self._answered(rows, column), node, column)

    def _answered(self, rows: GuessedRows, *columns: int) -> GuessedRows:
        """Leave out the records that have no answer in one of these columns."""
        given = np.ones(len(rows), dtype=np.bool_)
        for column in columns:
            given &= self._codes[rows.record, column] < self._sizes[column]
        return rows if given.all() else rows.where(given)

    def _sent(self, rows: GuessedRows, column: int) -> Index:
        sent: Index = self._codes[rows.record, column].astype(np.intp)
        return sent

    def _guessed(self, rows: GuessedRows, column: int, weights: Floats) -> GuessedRows:
        """Expand the rows by the guesses of a column's group, `weights` each, if they are not guessed yet."""
        group = self._group[column]
        if group in rows.guess:
            return rows
        if len(rows) * len(weights) > MAX_ROWS:
            raise InputError(
                "a path reads too many groups of several columns at once: put fewer columns into a group, "
                "or columns of equal domain sizes"
            )
        repeated = rows.where(np.repeat(np.arange(len(rows), dtype=np.intp), len(weights)))
        guess = np.tile(np.arange(len(weights), dtype=np.intp), len(rows))
        return GuessedRows(repeated.record, repeated.weight * weights[guess], {**repeated.guess, group: guess})

    def _is_over(self, node: Expression, column: int) -> bool:
        """Return whether a column is the last of its group that a path names: nothing below depends on the guess."""
        return self._columns[self._group[column]] <= node.columns | {column}

    @abstractmethod
    def _children(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        """Return the rows of every branch of a node; every row has an answer in the column."""

    @abstractmethod
    def _count(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Tally a candidate by class at several nodes (`nodes x values x classes`).

        All rows guess the same groups, and have an answer in the candidate and the class.
        """

    @abstractmethod
    def _factors(self, column: int) -> Floats:
        """Return what a response in a column adds to each of its values, its group by itself (`sent x values`)."""

    @abstractmethod
    def _cells(self, rows: GuessedRows, candidate: int) -> tuple[GuessedRows, Index]:
        """Return the rows with all guesses that a candidate's cells need, and the cell of each."""

    @abstractmethod
    def _listed_factors(self, model: Classifier) -> Floats:
        """Return `correct_factors` of a model without leaves, by listing what the records may be."""

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate every candidate of every query; cells may be negative."""
        return [answer for block, nodes in self._blocks(queries) for answer in self._answers(block, nodes)]

    def _blocks(self, queries: Sequence[Query]) -> Iterator[tuple[list[Query], list[GuessedRows]]]:
        """Split queries into blocks of not too many rows."""
        block: list[Query] = []
        nodes: list[GuessedRows] = []
        for query in queries:
            rows = self._nodes.rows(query.expression)
            if block and sum(map(len, nodes)) + len(rows) > KEPT_ROWS:
                yield block, nodes
                block, nodes = [], []
            block.append(query)
            nodes.append(rows)
        if block:
            yield block, nodes

    def _answers(self, queries: Sequence[Query], nodes: Sequence[GuessedRows]) -> list[Answer]:
        """Estimate queries, one pass per candidate over all nodes alike in what they guess."""

        def join(positions: Sequence[int]) -> tuple[GuessedRows, Index, int]:
            joined = [nodes[position] for position in positions]
            return _join(joined), place_of_each(joined), len(joined)

        def count(candidate: int, joined: tuple[GuessedRows, Index, int]) -> Iterator[tuple[Floats, Floats]]:
            rows, node, number = joined
            rows, node = self._given(rows, node, candidate)
            tables = self._count(candidate, rows, node, number)
            return zip(tables, self._noises(candidate, rows, node, tables), strict=True)

        counted = count_together(queries, [frozenset(node.guess) for node in nodes], join, count)
        return [Answer(tuple(table for table, _ in each), tuple(noise for _, noise in each)) for each in counted]

    def _noises(self, candidate: int, rows: GuessedRows, node: Index, tables: Floats) -> Floats:
        """Return the variances over the coins that `Answer` speaks of, of the tables of several nodes.

        With `z` what a record adds to each cell, and the table's shares of values and classes, it departs from what
        its row and column make likely by `r(v, c)`, linear in `z`. So the variance of the sum over the coins is
        estimated by `sum r^2` less what the true records give: that sum with the table in place of what was sent.
        """
        shares, classes = table_shares(tables)
        if self._is_sent(rows, candidate):
            left = self._factors(candidate) - shares[:, None, :]
            right = self._factors(self._schema.class_index) - classes[:, None, :]
            squares = quadratic(self._sent_squares(candidate, rows, node, len(tables)), left, right)
        else:
            ends = np.searchsorted(node, np.arange(len(tables) + 1))
            parts = (rows.where(np.arange(*ends[k : k + 2])) for k in range(len(tables)))
            each = zip(parts, shares, classes, strict=True)
            squares = np.array([self._squares(part, candidate, *of_part) for part, *of_part in each])
        noises: Floats = squares - squares_of_truth(tables)
        return noises

    def _is_sent(self, rows: GuessedRows, candidate: int) -> bool:
        """Return whether what a record adds is a product of what it sent as the candidate and as the class."""
        first, second = (self._group.get(column) for column in (candidate, self._schema.class_index))
        return not {first, second} & rows.guess.keys() and (first is None or first != second)

    def _sent_squares(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Return the sum of squared weights of records by what they sent (`nodes x candidates' values x classes`)."""
        record, weight = rows.record, rows.weight
        if rows.guess:
            places, inverse = np.unique(node * len(self._codes) + record, return_inverse=True)
            weight = np.bincount(inverse, weights=weight, minlength=len(places)).astype(np.float64)
            node, record = np.divmod(places, len(self._codes))
        shape = (nodes, self._sizes[candidate], self._schema.classes)
        sent = (self._codes[record, column].astype(np.intp) for column in (candidate, self._schema.class_index))
        keys = (node * shape[1] + next(sent)) * shape[2] + next(sent)
        found = np.bincount(keys, weights=weight**2 * self._repeats[record], minlength=prod(shape))
        return found.astype(np.float64).reshape(shape)

    def _squares(self, rows: GuessedRows, candidate: int, shares: Floats, classes: Floats) -> Floats:
        """Return `sum r^2` record by record: the coins of what is counted are guessed, or are one."""
        present, adds = self._additions(rows, candidate)
        apart = departures(adds, shares, classes)
        squares: Floats = np.einsum("i,ivc->vc", self._repeats[present].astype(np.float64), apart**2)
        return squares

    def _additions(self, rows: GuessedRows, candidate: int) -> tuple[Index, Floats]:
        """Return the distinct records among rows, and what each adds to each cell (`records x values x classes`)."""
        rows, cell = self._cells(rows, candidate)
        shape = self._sizes[candidate], self._schema.classes
        present, local = np.unique(rows.record, return_inverse=True)
        adds = np.bincount(local * prod(shape) + cell, weights=rows.weight, minlength=len(present) * prod(shape))
        return present, adds.astype(np.float64).reshape(-1, *shape)

    def _given(self, rows: GuessedRows, node: Index, candidate: int) -> tuple[GuessedRows, Index]:
        """Leave out the rows without an answer in a candidate or the class."""
        given = np.ones(len(rows), dtype=np.bool_)
        for column in (candidate, self._schema.class_index):
            given &= self._codes[rows.record, column] < self._sizes[column]
        return (rows, node) if given.all() else (rows.where(given), node[given])

    def cells(self, expression: Expression, candidate: int) -> tuple[GuessedRows, Index]:
        """Return the rows of a node with all guesses that a candidate's cells need, and the cell of each."""
        return self._cells(self._answered(self._nodes.rows(expression), candidate, self._schema.class_index), candidate)

    def additions(self, expression: Expression, candidates: Sequence[int]) -> Additions:
        """Return what each record adds to the cells of some candidates at a node, one candidate's after another's."""
        node = self._nodes.rows(expression)
        answered = (self._answered(node, each, self._schema.class_index) for each in candidates)
        found = [self._additions(*each) for each in zip(answered, candidates, strict=True)]
        present = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(records for records, _ in found)]))
        blocks = [np.zeros((len(present), 0))]
        for records, adds in found:
            block = np.zeros((len(present), prod(adds.shape[1:])))
            block[np.searchsorted(present, records)] = adds.reshape(len(records), block.shape[1])
            blocks.append(block)
        return Additions(np.hstack(blocks), self._repeats[present], len(self))

    def __len__(self) -> int:
        return int(self._repeats.sum())

    def answered(self, columns: Iterable[int]) -> int:
        """Return how many records have an answer in all of these columns."""
        return int(self._repeats[self._answered(self._root(), *columns).record].sum())

    def correct_factors(self, model: Classifier) -> Floats:
        """Return what each distinct record adds to the number of records that the model classifies correctly.

        DESIGN 8: every variation of a record is classified, and what is right is added with the guess's weight. Of a
        tree the variations are those of one path at a time. A record adds 0 where it has no answer.
        """
        if not isinstance(model, Predictor):
            return self._listed_factors(model)
        factors = np.zeros(len(self._codes))
        for rows in self._right(model):
            factors += np.bincount(rows.record, weights=rows.weight, minlength=len(factors))
        return factors

    def _right(self, model: Predictor) -> Iterator[GuessedRows]:
        """Yield the rows of each leaf that are of its class, going down every branch once."""
        above: list[tuple[Expression, int, dict[int, GuessedRows]]] = []
        for leaf, label in model.leaves():
            rows, node = self._root(), ROOT
            for depth, term in enumerate(leaf.child(self._schema.class_index, label).terms):
                if above[depth : depth + 1] and above[depth][:2] == (node, term.column):
                    branches = above[depth][2]
                else:
                    branches = self._branches(rows, node, term.column)
                    above[depth:] = [(node, term.column, branches)]
                rows, node = branches.get(term.value, NOTHING), node & term
            yield rows


def guess_weights(design: Design, group: int) -> Floats:
    """Return the weights of the guesses of a group's coin as floats."""
    return np.array([float(weight) for weight in design.guess_weights(group)])


def guess_values(design: Design, group: int, column: int) -> Floats:
    """Return what a response means under each guess of a group's coin, as floats: `guesses x sent x values`."""
    return np.array(design.guess_values(group, column), dtype=np.float64)


def leaves_one(meant: Floats) -> bool:
    """Return whether every guess leaves one value of what was sent."""
    return bool((meant.max(axis=2) == 1).all())


def _join(nodes: Sequence[GuessedRows]) -> GuessedRows:
    """Return the rows of nodes that guess the same groups one after another."""
    guess = {group: np.concatenate([node.guess[group] for node in nodes]) for group in nodes[0].guess}
    return GuessedRows(np.concatenate([n.record for n in nodes]), np.concatenate([n.weight for n in nodes]), guess)
