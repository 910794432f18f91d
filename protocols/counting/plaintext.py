"""Counting on one whole table: plain ID3, and the reference for every other engine."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.counting.rows import NodeRows, count_together, place_of_each, split_by_value
from protocols.counts import Answer, Correct, CountTable, Estimates, Learned, Query, positive_part, stacks
from protocols.role import Role
from protocols.tables import Codes, Expression, Floats, Index, Schema


class PlaintextEngine:
    """Exact counts of joint records that one party holds in the clear.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, train: Codes, test: Codes) -> None:
        self._schema, self._train, self._test = schema, train, test
        self._sets = rows_by_node(train)

    @property
    def class_counts(self) -> tuple[int, ...]:
        """How many training records each class has."""
        labels = self._train[:, self._schema.class_index]
        return tuple(np.bincount(labels, minlength=self._schema.classes).tolist())

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Count at once; yields nothing."""
        self._sets.advance(query.expression for query in queries)
        yield from ()
        nodes = [self._sets.rows(query.expression) for query in queries]
        return tally(self._train, nodes, queries, self._schema)

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Count the test records whose class the model predicts."""
        yield from ()
        return Correct(float((model.predict(self._test) == self._test[:, self._schema.class_index]).sum()))


def rows_by_node(codes: Codes) -> NodeRows[Index]:
    """Return the rows of each node, of a table in which every row is one record or one guess."""

    def branches(rows: Index, node: Expression, column: int) -> dict[int, Index]:
        del node
        return {value: rows[places] for value, places in split_by_value(codes[rows, column]).items()}

    return NodeRows(lambda: np.arange(len(codes), dtype=np.intp), branches, np.zeros(0, dtype=np.intp))


def tally(codes: Codes, nodes: Sequence[Index], queries: Sequence[Query], schema: Schema) -> list[Answer]:
    """Count the rows of every node, one pass per candidate over all nodes that ask for it."""

    def join(positions: Sequence[int]) -> tuple[Index, Index, int]:
        joined = [nodes[position] for position in positions]
        return np.concatenate(joined), place_of_each(joined), len(joined)

    def count(candidate: int, joined: tuple[Index, Index, int]) -> NDArray[np.int64]:
        rows, node, number = joined
        shape = (number, schema.attributes[candidate].size, schema.classes)
        keys = (node * shape[1] + codes[rows, candidate]) * shape[2] + codes[rows, schema.class_index]
        return np.bincount(keys, minlength=prod(shape)).reshape(shape)

    counted = count_together(queries, [None] * len(queries), join, count)
    return [Answer(tuple(tables)) for tables in counted]


class ProjectedEstimates:
    """Estimated counts, projected: of a survey, or of one party's columns beside the other's copy.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, train: Estimates) -> None:
        self._train = train

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Estimate at once; yields nothing."""
        self._train.advance([query.expression for query in queries])
        yield from ()
        return project_answers(queries, self._train.answers(queries))


def project_answers(queries: Sequence[Query], answers: Sequence[Answer]) -> list[Answer]:
    """Project the tables of every answer to the total of its query's node.

    Where the node's counts are not known, the total is what the table's own cells add up to: the number of records it
    was estimated from.
    """
    totals = [
        float(round(float(table.sum())) if query.class_counts is None else sum(query.class_counts))
        for query, answer in zip(queries, answers, strict=True)
        for table in answer.tables
    ]
    tables = [table for answer in answers for table in answer.tables]
    noises = [noise for answer in answers for noise in answer.noises]
    projected: list[tuple[CountTable, Floats]] = [(table, noise) for table, noise in zip(tables, noises, strict=True)]
    for positions, stack in stacks(tables):
        rescaled = project(stack, np.array([totals[position] for position in positions]))
        for position, table, scale in zip(positions, *rescaled, strict=True):
            projected[position] = table, noises[position] * scale**2
    rest = iter(projected)
    counted = [[next(rest) for _ in query.candidates] for query in queries]
    return [Answer(tuple(table for table, _ in each), tuple(noise for _, noise in each)) for each in counted]


def project(estimates: Floats, total: ArrayLike) -> tuple[Floats, Floats]:
    """Set negative estimates (`... x values x classes`) to 0, and rescale the rest so that tables add up to `total`.

    All are 0 if the positive mass is below 1e-9; what is positive by rounding alone counts as 0, or a node of one class
    would seem to have a second one. By what each was multiplied is returned, too (`... x 1 x 1`).
    """
    positive = positive_part(estimates)
    flat = positive.reshape(*positive.shape[:-2], -1)
    mass = np.zeros(flat.shape[:-1])
    for cell in range(flat.shape[-1]):  # in one order on every machine: both parties must get the same bits
        mass = mass + flat[..., cell]
    scale = np.divide(np.asarray(total, dtype=np.float64), mass, out=np.zeros_like(mass), where=mass > 0)
    return positive * scale[..., None, None], scale[..., None, None]
