"""Several disguised data sets over the same columns, each with a design of its own, to be learned from as one.

Whatever the designs, what a record adds to a count has the right expectation; so estimates add up, and what single
records add stands one after another, as for one data set. Errors are those of respondents drawn from one population.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Answer, CellWeights, Classifier, Contributions, Counts, Query
from protocols.errors import InputError
from protocols.survey.responses import Responses, SurveyEstimator, as_counts
from protocols.tables.arrays import Floats
from protocols.tables.expression import Expression
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


@dataclass(frozen=True, eq=False, repr=False)
class PooledResponses:
    """Disguised records of several data sets.

    Args:
        parts: Each with its own design, over columns of the same names and values.

    Raises:
        InputError: There is none, or columns differ.
    """

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
        return PooledEstimates([part.estimator() for part in self.parts])

    def counts(self) -> Counts:
        """Return the estimates as counts for learners."""
        return as_counts(self.estimator())

    def answered(self, columns: Iterable[int]) -> "PooledResponses":
        """Return the records that have an answer in all of these columns.

        Raises:
            InputError: A part has none.
        """
        wanted = list(columns)
        return PooledResponses(tuple(part.answered(wanted) for part in self.parts))

    def class_counts(self) -> tuple[float, ...]:
        """Return how many records each class has: the sum of what the parts say."""
        return tuple(map(sum, zip(*(part.class_counts() for part in self.parts), strict=True)))

    def rounding(self, columns: frozenset[int]) -> float:
        """Return the most by which two equal estimates over these columns may differ by rounding."""
        return sum(part.rounding(columns) for part in self.parts)


class PooledEstimates:
    """The sums of the estimates of several data sets.

    Args:
        parts: The estimates of each.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, parts: Sequence[SurveyEstimator]) -> None:
        self._parts = parts

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How many records each distinct record of each part stands for."""
        return np.concatenate([part.repeats for part in self._parts])

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        for part in self._parts:
            part.advance(expressions)

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate the counts of all queries; cells may be negative."""
        each = [part.answers(queries) for part in self._parts]
        return [
            Answer(tuple(map(_sum, zip(*(a.tables for a in same), strict=True)))) for same in zip(*each, strict=True)
        ]

    def contributions(self, expression: Expression, weights: CellWeights) -> Contributions:
        """Return what each record adds to a weighted sum of the cells of some candidates at a node."""
        each = [part.contributions(expression, weights) for part in self._parts]
        values, repeats = [part.values for part in each], [part.repeats for part in each]
        return Contributions(np.concatenate(values), np.concatenate(repeats))

    def correct_factors(self, model: Classifier) -> Floats:
        """Return what each distinct record adds to the number of records that the model classifies correctly."""
        return np.concatenate([part.correct_factors(model) for part in self._parts])


def _sum(tables: Sequence[Floats]) -> Floats:
    """Add tables up in their order."""
    return reduce(np.add, tables)


Survey = Responses | PooledResponses
