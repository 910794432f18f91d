"""How sure a split is: gains with standard errors, and the lead of the chosen attribute over the runner-up.

The delta method: a gain is a smooth function of estimated counts, each of which is a sum over records, so its error is
that of the sum of `gradient x what the record adds`. Leads are compared record by record, which accounts for how the
two gains are correlated. Errors are those of respondents drawn from a population. Where a count was projected to 0 the
gradient stops, and the error is too small: a lead that is called clear there may not be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from protocols.counts import Answer, Contributions, Query
from protocols.learning.impurity import gain_gradient, limited_gains
from protocols.learning.tree import Split, Tree
from protocols.randomized_response.estimate import quantile
from protocols.survey.responses import Responses, SurveyEstimator
from protocols.tables.expression import Expression


@dataclass(frozen=True)
class Doubt:
    """The estimated gain of a split, and its lead over the best attribute that was not chosen (None if none was left).

    Attributes are indices into `Schema.attributes`; gains and errors are in bits.
    """

    attribute: int
    gain: float
    runner_up: int | None
    lead: float
    lead_error: float

    def is_clear(self, confidence: float) -> bool:
        """Tell whether the lead is beyond chance, two-sided, at this confidence; where nothing competed, it is."""
        return self.runner_up is None or self.lead > quantile(confidence) * self.lead_error


def split_doubts(tree: Tree, survey: Responses) -> dict[Expression, Doubt]:
    """Return for every split of a tree how sure it is, judging by the records that it was grown from.

    Raises:
        InputError: The survey cannot be mined.
    """
    estimator = survey.estimator()
    doubts = {}
    for level in tree.levels():
        queries = [Query(expression, _candidates(expression, node, survey), None) for expression, node in level]
        estimator.advance([query.expression for query in queries])
        for (expression, node), query, answer in zip(level, queries, estimator.answers(queries), strict=True):
            gains = limited_gains(answer.tables, [sum(node.counts)] * len(answer.tables), tree.growth)
            doubts[expression] = _doubt(query, answer, gains, estimator, len(survey))
    return doubts


def _candidates(expression: Expression, node: Split, survey: Responses) -> tuple[int, ...]:
    """Return the attribute that was chosen, then those that were not."""
    taken = expression.columns | {node.attribute}
    return node.attribute, *(a for a in range(len(survey.schema.attributes)) if a not in taken)


def _doubt(query: Query, answer: Answer, gains: Sequence[float], estimator: SurveyEstimator, records: int) -> Doubt:
    chosen = query.candidates[0]
    weights = {chosen: gain_gradient(answer.tables[0])}
    lead, rival = gains[0], None
    if len(gains) > 1:
        best = 1 + int(np.argmax(gains[1:]))
        lead, rival = gains[0] - gains[best], query.candidates[best]
        weights[rival] = -gain_gradient(answer.tables[best])
    error = _error(estimator.contributions(query.expression, weights), records)
    return Doubt(chosen, gains[0], rival, lead, error)


def _error(contributions: Contributions, records: int) -> float:
    """Standard error of a sum of contributions over a sample: `sqrt(n s^2)`; infinite for one record."""
    if records < 2:
        return float("inf")
    values, repeats = contributions.values, contributions.repeats
    total = float(repeats @ values)
    squares = float(repeats @ values**2)
    return sqrt(max(0.0, squares - total**2 / records) * records / (records - 1))
