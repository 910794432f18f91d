"""How sure a split is: gains with standard errors, and the lead of the chosen attribute over the runner-up.

The delta method: a gain is a smooth function of estimated counts, each of which is a sum over records, so its error is
that of the sum of `gradient x what the record adds`. Leads are compared record by record, which accounts for how the
two gains are correlated. Errors are those of respondents drawn from a population. Where a count was projected to 0 the
gradient stops, and the error is too small: a lead that is called clear there may not be.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from protocols.counts import Answer, Contributions, Query
from protocols.learning.impurity import merit_gradient
from protocols.learning.merit import estimated_merits
from protocols.learning.tree import Split, Tree
from protocols.randomized_response.estimate import quantile
from protocols.survey.pooled import Survey
from protocols.tables.arrays import Floats
from protocols.tables.expression import Expression
from protocols.terms import Impurity


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


def split_doubts(tree: Tree, survey: Survey) -> dict[Expression, Doubt]:
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
            (gains,) = estimated_merits([answer], [sum(node.counts)], tree.growth)
            best = 1 + int(np.argmax(gains[1:])) if len(gains) > 1 else None
            weights = _weights(query, answer, best, tree.growth.impurity)
            error = _error(estimator.contributions(expression, weights), len(survey))
            rival, lead = (None, gains[0]) if best is None else (query.candidates[best], gains[0] - gains[best])
            doubts[expression] = Doubt(node.attribute, gains[0], rival, lead, error)
    return doubts


def _candidates(expression: Expression, node: Split, survey: Survey) -> tuple[int, ...]:
    """Return the attribute that was chosen, then those that were not."""
    taken = expression.columns | {node.attribute}
    return node.attribute, *(a for a in range(len(survey.schema.attributes)) if a not in taken)


def _weights(query: Query, answer: Answer, best: int | None, impurity: Impurity) -> dict[int, Floats]:
    """Return the derivatives of the lead by the cells of the chosen attribute and of the best other one, if any."""
    weights = {query.candidates[0]: merit_gradient(answer.tables[0], impurity)}
    if best is not None:
        weights[query.candidates[best]] = -merit_gradient(answer.tables[best], impurity)
    return weights


def _error(contributions: Contributions, records: int) -> float:
    """Standard error of a sum of contributions over a sample: `sqrt(n s^2)`; infinite for one record."""
    if records < 2:
        return float("inf")
    values, repeats = contributions.values, contributions.repeats
    total = float(repeats @ values)
    squares = float(repeats @ values**2)
    return sqrt(max(0.0, squares - total**2 / records) * records / (records - 1))
