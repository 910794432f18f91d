"""Estimated counts under any design, expanded no further than a node's own path needs (DESIGN 4, 5.1, 5.2).

A response together with a guess of what its group's coin did is one candidate for the true record, with a weight. The
weighted guesses of a group that an expression does not touch add up to 1, so a node's rows are guesses of the groups on
its path alone; and once a path has named all columns of a group, nothing below depends on the guess any more: it is
forgotten, and the rows that differ in it alone are one. So a path through many groups of one column each keeps one row
a record, with the product of their factors as its weight, and never lists the patterns of all coins.

A candidate whose group is not guessed is tallied as it was sent; what its guesses would do to the single rows is then
done to the finished table, where it costs nothing. Equal records are merged first. A record without an answer in a
column (`NO_ANSWER`) is left out of every count that reads the column. A column that has a group of its own is never
guessed on a path: each branch has all rows, by the factor of its value.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.counting.guessing import NOTHING, GuessedRows, guess_values, guess_weights, leaves_one, listed_factors
from protocols.counting.rows import NodeRows, count_together, merge_equal, place_of_each, split_by_value
from protocols.counts import Answer, Classifier, Predictor, Query
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Additions, departures, quadratic, squares_of_truth, table_shares
from protocols.tables import ROOT, Codes, Expression, Floats, Index, Schema

MAX_ROWS = 1 << 26
"""Of one node, about 24 bytes each."""
KEPT_ROWS = 1 << 24
"""Of all nodes of a level that are kept for the next one; those of further nodes are made again."""


class SurveyCounts:
    """Unbiased estimates of `N(E)`, node by node, from records as they were sent, by the columns of the schema.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, codes: Codes, design: Design) -> None:
        self._schema, self._design = schema, design
        distinct, _, self._repeats = merge_equal(codes)
        self._codes = np.asfortranarray(distinct)
        self._sizes = [column.size for column in schema.columns]
        self._columns = [frozenset(group) for group in design.groups]
        self._group = {column: k for k, group in enumerate(self._columns) for column in group}
        self._nodes = NodeRows(self._root, self._branches, NOTHING)
        self._weights = [guess_weights(design, k) for k in range(len(design.groups))]
        self._meant = {column: guess_values(design, k, column) for column, k in self._group.items()}
        self._factor = {c: np.tensordot(self._weights[k], self._meant[c], axes=1) for c, k in self._group.items()}
        certain = {column for column, meant in self._meant.items() if leaves_one(meant)}
        self._value = {column: self._meant[column].argmax(axis=2) for column in certain}

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

    def _answered(self, rows: GuessedRows, *columns: int) -> GuessedRows:
        """Leave out the records that have no answer in one of these columns."""
        given = np.ones(len(rows), dtype=np.bool_)
        for column in columns:
            given &= self._codes[rows.record, column] < self._sizes[column]
        return rows if given.all() else rows.where(given)

    def _sent(self, rows: GuessedRows, column: int) -> Index:
        sent: Index = self._codes[rows.record, column].astype(np.intp)
        return sent

    def _guessed(self, rows: GuessedRows, column: int) -> GuessedRows:
        """Expand the rows by the guesses of a column's group, if they are not guessed yet."""
        group = self._group[column]
        if group in rows.guess:
            return rows
        weights = self._weights[group]
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

    def _guess_of(self, rows: GuessedRows, column: int) -> Index | None:
        """Return the guess of a column's group in each row; None where it is plain or not guessed."""
        return rows.guess.get(self._group.get(column, -1))

    def _values(self, rows: GuessedRows, column: int) -> Index:
        """Return a column's values: as the guesses have it if they say one value, else as they were sent."""
        sent, guess = self._sent(rows, column), self._guess_of(rows, column)
        values: Index = sent if guess is None or column not in self._value else self._value[column][guess, sent]
        return values

    def _branches(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        """Return the rows of every branch of a node; every row has an answer in the column."""
        rows, group = self._answered(rows, column), self._group.get(column)
        if group is None:
            return {value: rows.where(places) for value, places in split_by_value(self._sent(rows, column)).items()}
        if len(self._columns[group]) == 1:
            factors = self._factor[column][self._sent(rows, column)]
            return {value: rows.weighed(factors[:, value]) for value in range(self._sizes[column])}
        rows = self._guessed(rows, column)
        over = self._is_over(node, column)
        if column in self._value:
            values = self._values(rows, column)
            rest = rows.without(group) if over else rows
            return {value: rest.where(places) for value, places in split_by_value(values).items()}
        children = self._distributed(rows, column)
        return {value: _merged(child, group) for value, child in children.items()} if over else children

    def _distributed(self, rows: GuessedRows, column: int) -> dict[int, GuessedRows]:
        """Return the branches of a column of which a guess has a distribution."""
        chances = self._meant[column][rows.guess[self._group[column]], self._sent(rows, column)]
        possible = {value: chances[:, value] > 0 for value in range(self._sizes[column])}
        return {value: rows.where(own).weighed(chances[own, value]) for value, own in possible.items()}

    def _count(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Tally rows apart by the guesses that have distributions, and undo what was sent of other groups."""
        columns = (candidate, self._schema.class_index)
        shape = (nodes, self._sizes[candidate], self._schema.classes)
        first, second = (self._values(rows, column) for column in columns)
        keys, weights = (node * shape[1] + first) * shape[2] + second, rows.weight * self._repeats[rows.record]
        counts = np.zeros(shape)
        for guesses, own in self._apart(rows, columns):
            table = np.bincount(keys[own], weights[own], prod(shape)).astype(np.float64).reshape(shape)
            for axis, (column, guess) in enumerate(zip(columns, guesses, strict=True), 1):
                table = table if guess is None else _along(table, self._meant[column][guess], axis)
            counts += table
        return self._undone(counts, columns, rows)

    def _apart(self, rows: GuessedRows, columns: Sequence[int]) -> Iterator[tuple[list[int | None], Index | slice]]:
        """Yield each combination of guesses that have distributions, and its rows."""
        guesses = [None if column in self._value else self._guess_of(rows, column) for column in columns]
        given = [guess for guess in guesses if guess is not None]
        if not given:
            yield [None] * len(columns), slice(None)
            return
        combinations, inverse = np.unique(np.stack(given), axis=1, return_inverse=True)
        for number, combination in enumerate(combinations.T.tolist()):
            rest = iter(combination)
            yield [None if guess is None else next(rest) for guess in guesses], np.flatnonzero(inverse == number)

    def _undone(self, counts: Floats, columns: Sequence[int], rows: GuessedRows) -> Floats:
        """Apply the guesses of groups that are not guessed to the finished tables."""
        hidden: dict[int, list[tuple[int, int]]] = {}
        for axis, column in enumerate(columns, 1):
            if column in self._group and self._guess_of(rows, column) is None:
                hidden.setdefault(self._group[column], []).append((axis, column))
        for group, axes in hidden.items():
            if len(axes) == 1:
                counts = _along(counts, self._factor[axes[0][1]], axes[0][0])
                continue
            total = np.zeros_like(counts)
            for guess, weight in enumerate(self._weights[group].tolist()):
                table = counts
                for axis, column in axes:
                    table = _along(table, self._meant[column][guess], axis)
                total += weight * table
            counts = total
        return counts

    def _factors(self, column: int) -> Floats:
        return self._factor.get(column, np.eye(self._sizes[column]))

    def _cells(self, rows: GuessedRows, candidate: int) -> tuple[GuessedRows, Index]:
        label = self._schema.class_index
        for column in (candidate, label):
            if column in self._group:
                rows = self._guessed(rows, column)
        rows, values, index = self._settled(rows, candidate)
        rows, classes, index = self._settled(rows, label)
        return rows, values[index] * self._schema.classes + classes

    def _settled(self, rows: GuessedRows, column: int) -> tuple[GuessedRows, Index, Index]:
        """Give every row one value of a column, each that it may have; return what each row came from too."""
        guess = self._guess_of(rows, column)
        if guess is None or column in self._value:
            return rows, self._values(rows, column), np.arange(len(rows), dtype=np.intp)
        chances = self._meant[column][guess, self._sent(rows, column)]
        index, values = np.nonzero(chances)
        return rows.where(index).weighed(chances[index, values]), values, index

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
            return listed_factors(model, self._schema, self._codes, self._design)
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


def _along(tables: Floats, matrix: Floats, axis: int) -> Floats:
    """Replace what was sent by values along one axis: the matrix is `sent x values`."""
    return np.moveaxis(np.tensordot(tables, matrix, axes=(axis, 0)), -1, axis)


def _merged(rows: GuessedRows, group: int) -> GuessedRows:
    """Forget a group's guess, and add up the rows that differed in it alone."""
    rest = rows.without(group)
    keys = rest.record
    for guess in rest.guess.values():
        keys = (int(guess.max(initial=0)) + 1) * keys + guess
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(inverse, weights=rest.weight, minlength=len(first)).astype(np.float64)
    merged = rest.where(first)
    return GuessedRows(merged.record, weight, merged.guess)


def _join(nodes: Sequence[GuessedRows]) -> GuessedRows:
    """Return the rows of nodes that guess the same groups one after another."""
    guess = {group: np.concatenate([node.guess[group] for node in nodes]) for group in nodes[0].guess}
    return GuessedRows(np.concatenate([n.record for n in nodes]), np.concatenate([n.weight for n in nodes]), guess)
