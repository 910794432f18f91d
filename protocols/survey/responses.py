"""A disguised data set and how it was disguised: what a collector holds, and all that it can learn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod
from typing import Protocol

import numpy as np

from protocols.counting.estimated_questions import SurveyCounts
from protocols.counting.plaintext import ProjectedEstimates
from protocols.counts import Classifier, Counts, Estimates
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Additions, Estimate, estimate_count
from protocols.tables import NO_ANSWER, Attribute, Codes, Expression, MissingCells, Schema

SOURCE = "survey"


class SurveyEstimator(Estimates, Protocol):
    """Estimates that also say what each record adds, sample by sample, from which standard errors are made."""

    def samples(self, expression: Expression, candidates: Sequence[int]) -> list[Additions]:
        """Return what each record adds to the cells of some candidates at a node, one candidate's after another's."""

    def correct(self, model: Classifier) -> list[Additions]:
        """Return what each record adds to the number of records that the model classifies correctly."""


class ResponseEstimates(SurveyCounts):
    """Estimates from one data set."""

    def samples(self, expression: Expression, candidates: Sequence[int]) -> list[Additions]:
        """Return what each record adds to the cells of some candidates at a node: of one sample."""
        return [self.additions(expression, candidates)]

    def correct(self, model: Classifier) -> list[Additions]:
        """Return what each record adds to the number of records that the model classifies correctly."""
        return [Additions(self.correct_factors(model)[:, None], self.repeats, len(self))]


@dataclass(frozen=True, eq=False, repr=False)
class Responses:
    """Disguised records by the columns of a schema, the class last, and their design.

    An answer not given has the code `NO_ANSWER` and is left out of every count that needs it.
    """

    schema: Schema
    codes: Codes
    design: Design

    def __post_init__(self) -> None:
        sizes = tuple(column.size for column in self.schema.columns)
        if self.design.sizes != sizes:
            raise InputError(f"the design is for columns of {self.design.sizes} values, the table has {sizes}")
        if not len(self.codes):
            raise InputError("there are no records to learn from")
        self.design.check_fits(np.where(self.codes == NO_ANSWER, 0, self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Responses {len(self)} x {len(self.design.sizes)}>"

    def estimator(self) -> ResponseEstimates:
        """Return estimates from these records."""
        return ResponseEstimates(self.schema, self.codes, self.design)

    def comparable(self, model: Classifier) -> ResponseEstimates:
        """Return estimates whose counts may be subtracted, for whichever model: all of these."""
        del model
        return self.estimator()

    def counts(self) -> Counts:
        """Return the estimates as counts for learners: fitted to the counts of the node that they split."""
        return as_counts(self.estimator())

    def answered(self, columns: Iterable[int]) -> "Responses":
        """Return the records that have an answer in all of these columns."""
        given = self.design.answered(self.codes, columns)
        if given.all():
            return self
        if not given.any():
            raise InputError("no record has an answer in all columns that are needed together")
        return Responses(self.schema, self.codes[given], self.design)

    def class_counts(self) -> tuple[float, ...]:
        """Return how many records each class has: the class's own estimate (Surveys 3.3, equation 1).

        It is exact where the class is plain, unbiased where it is disguised, and projected only where a class would
        have a negative count: such counts to 0, the rest rescaled to all records that have one.
        """
        estimates = self.class_estimates()
        return shared_out([estimate.count for estimate in estimates], estimates[0].records)

    def class_errors(self) -> list[float]:
        """Return the standard error of the share of each class, for respondents drawn from a population."""
        return [estimate.proportion_error if estimate.records > 1 else inf for estimate in self.class_estimates()]

    def class_estimates(self) -> list[Estimate]:
        """Return the estimate of each class, of those who gave an answer."""
        label = self.schema.class_index
        given = self.answered([label])
        classes = (Expression().child(label, value) for value in range(self.schema.classes))
        return [estimate_count(given.codes, each, self.design) for each in classes]

    def rounding(self, columns: frozenset[int]) -> float:
        """Return the most by which two estimates over these columns may differ that are equal but for rounding.

        A record adds a product over the groups that are touched, multiplied out into summands. Added up in any order,
        `N` floats are rounded by at most `N` times half of `epsilon` times the sum of their sizes.
        """
        touched = [k for k, group in enumerate(self.design.groups) if columns.intersection(group)]
        summands = [self.design.guess_weights(group) for group in touched]
        steps = len(self) * prod(len(each) for each in summands) + 2 * len(touched)
        size = len(self) * prod(float(sum(map(abs, each))) for each in summands)
        return float(np.finfo(np.float64).eps) * steps * size


def shared_out(counts: Sequence[Fraction], records: int) -> tuple[float, ...]:
    """Return estimated counts of all values of a column as counts of this many records: none of them negative."""
    positive = [max(count, Fraction(0)) for count in counts]
    return tuple(float(count * records / sum(positive)) for count in positive)


def as_counts(estimates: Estimates) -> Counts:
    """Return estimates as counts for learners: fitted to the counts of the node that they split."""
    return ProjectedEstimates(estimates)


def survey_schema(
    names: Sequence[str], values: Sequence[tuple[str, ...]], missing: Sequence[str | None] | None = None
) -> Schema:
    """Return the schema of a survey's columns, the class last; missing cells without a value are answers not given."""
    absent = [None] * len(names) if missing is None else missing
    columns = [
        Attribute(SOURCE, name, labels, MissingCells(value))
        for name, labels, value in zip(names, values, absent, strict=True)
    ]
    return Schema(tuple(columns[:-1]), columns[-1], (SOURCE,))
