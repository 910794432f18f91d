"""Several disguised data sets over the same columns, each with a design of its own, to be learned from as one.

Whatever the designs, what a record adds to a count has the right expectation. So each data set estimates the shares of
one population, and they are weighted by their precision (DESIGN 5.4): count by count, since what a design hides of one
column says nothing of another. Errors are those of respondents drawn from one population.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.counts import Answer, Classifier, Counts, Query
from protocols.errors import InputError
from protocols.randomized_response.combined import CombinedEstimate, combined, precision_weights
from protocols.randomized_response.estimate import Additions, squares_of_truth
from protocols.survey.responses import Responses, SurveyEstimator, as_counts, shared_out
from protocols.tables import Codes, Expression, Floats, Schema


@dataclass(frozen=True, eq=False, repr=False)
class PooledResponses:
    """Disguised records of several data sets, each with its own design, over columns of the same names and values."""

    parts: tuple[Responses, ...]

    def __post_init__(self) -> None:
        described = [[(c.name, c.values) for c in part.schema.columns] for part in self.parts]
        if not described or any(each != described[0] for each in described):
            raise InputError("tables are learned from together only where all columns, and their values, are the same")

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __repr__(self) -> str:
        return f"<PooledResponses {' + '.join(str(len(part)) for part in self.parts)}>"

    @property
    def schema(self) -> Schema:
        """Of all parts."""
        return self.parts[0].schema

    @property
    def codes(self) -> Codes:
        """All records, one part after another."""
        return np.concatenate([part.codes for part in self.parts])

    def estimator(self) -> SurveyEstimator:
        """Return estimates from all records."""
        return PooledEstimates(self.parts)

    def comparable(self, model: Classifier) -> SurveyEstimator:
        """Return estimates whose counts may be subtracted: parts count alike in all, as in a test of the model."""
        return PooledEstimates(self.parts, PooledEstimates(self.parts).scales_of_test(model))

    def counts(self) -> Counts:
        """Return the estimates as counts for learners."""
        return as_counts(self.estimator())

    def answered(self, columns: Iterable[int]) -> "PooledResponses":
        """Return the records that have an answer in all of these columns."""
        wanted = list(columns)
        return PooledResponses(tuple(part.answered(wanted) for part in self.parts))

    def class_counts(self) -> tuple[float, ...]:
        """Return how many records each class has, of all that have one: by what the parts say together."""
        found = self._class_estimates()
        return shared_out([each.proportion for each in found], found[0].records)

    def class_errors(self) -> list[float]:
        """Return the standard error of the share of each class, for respondents drawn from a population."""
        return [each.proportion_error for each in self._class_estimates()]

    def _class_estimates(self) -> list[CombinedEstimate]:
        label, designs = self.schema.class_index, [part.design for part in self.parts]
        classes = zip(*(part.class_estimates() for part in self.parts), strict=True)
        return [
            combined(samples, designs, [Expression().child(label, value)] * len(designs))
            for value, samples in enumerate(classes)
        ]

    def rounding(self, columns: frozenset[int]) -> float:
        """Return the most by which two equal estimates over these columns may differ by rounding."""
        return sum(part.rounding(columns) for part in self.parts)


class PooledEstimates:
    """What the estimates of several data sets say together; by `scales` a record of each counts, else by precision.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, parts: Sequence[Responses], scales: Floats | None = None) -> None:
        self._parts = [part.estimator() for part in parts]
        self._designs = [part.design for part in parts]
        self._label, self._fixed = parts[0].schema.class_index, scales

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        for part in self._parts:
            part.advance(expressions)

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate the counts of all queries; cells may be negative."""
        each = [part.answers(queries) for part in self._parts]
        return [self._together(query, same) for query, same in zip(queries, zip(*each, strict=True), strict=True)]

    def samples(self, expression: Expression, candidates: Sequence[int]) -> list[Additions]:
        """Return what each record adds to the cells of some candidates at a node, one candidate's after another's."""
        query = Query(expression, tuple(candidates), None)
        scales = self._scales(query, [part.answers([query])[0] for part in self._parts])
        sizes = [table.size for table in self._parts[0].answers([query])[0].tables]
        own = [part.additions(expression, candidates) for part in self._parts]
        return [_scaled(each, np.repeat(scale, sizes)) for each, scale in zip(own, scales.T, strict=True)]

    def correct(self, model: Classifier) -> list[Additions]:
        """Return what each record adds to the number of records that the model classifies correctly."""
        own, scales = [part.correct(model)[0] for part in self._parts], self.scales_of_test(model)
        return [_scaled(each, scale) for each, scale in zip(own, scales, strict=True)]

    def scales_of_test(self, model: Classifier) -> Floats:
        """Return by what a record of each part counts in a test of a model."""
        own = [part.correct(model)[0] for part in self._parts]
        squares = [float(each.repeats @ each.values[:, 0] ** 2 - each.sums[0] ** 2 / each.records) for each in own]
        return self._weighed([each.records for each in own], squares)

    def _together(self, query: Query, answers: Sequence[Answer]) -> Answer:
        scales = self._scales(query, answers)
        tables = zip(*(answer.tables for answer in answers), strict=True)
        noises = zip(*(answer.noises for answer in answers), strict=True)
        return Answer(
            tuple(_weighted_sum(same, scale) for same, scale in zip(tables, scales, strict=True)),
            tuple(_weighted_sum(same, scale**2) for same, scale in zip(noises, scales, strict=True)),
        )

    def _scales(self, query: Query, answers: Sequence[Answer]) -> Floats:
        """Return by what a record of each part counts in the tables of each candidate (`candidates x parts`)."""
        scales = []
        for place, candidate in enumerate(query.candidates):
            columns = query.expression.columns | {candidate, self._label}
            departed = ((answer.noises[place], squares_of_truth([answer.tables[place]])) for answer in answers)
            squares = [float(coins.sum() + truths.sum()) for coins, truths in departed]
            scales.append(self._weighed([part.answered(columns) for part in self._parts], squares))
        return np.array(scales)

    def _weighed(self, records: Sequence[int], squares: Sequence[float]) -> Floats:
        """Return by what a record of each part counts, so that all make up this many records."""
        if self._fixed is not None:
            return self._fixed
        weights = np.array(precision_weights(records, squares, self._designs))
        scales: Floats = sum(records) * weights / np.maximum(records, 1)
        return scales


def _scaled(additions: Additions, scale: Floats) -> Additions:
    return Additions(additions.values * scale, additions.repeats, additions.records)


def _weighted_sum(tables: Sequence[Floats], scales: Floats) -> Floats:
    """Add tables up in their order."""
    total = np.zeros_like(tables[0], dtype=np.float64)
    for table, scale in zip(tables, scales.tolist(), strict=True):
        total += scale * table
    return total


Survey = Responses | PooledResponses
"""A disguised data set and how it was disguised: what a collector holds, and all that it can learn from."""
