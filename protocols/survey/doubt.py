"""How sure a split is: gains with standard errors, and the lead of the chosen attribute over the runner-up.

The delta method: a gain is a smooth function of estimated counts, each of which is a sum over records, so its error is
that of the sum of `gradient x what the record adds`. Leads are compared record by record, which accounts for how the two
gains hang together. Errors are those of respondents drawn from a population. Where a count was projected to 0 the
gradient ends, and the error is too small: a lead that is called clear there may not be.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.engine import Query
from protocols.learning.impurity import gain_gradient, projected_gains
from protocols.learning.tree import Split, Tree
from protocols.randomized_response.estimate import quantile
from protocols.survey.survey import Survey, SurveyEstimator
from protocols.tables.expression import Expression


@dataclass(frozen=True)
class Doubt:
    """The estimated gain of a split, and its lead over the best attribute that was not chosen (None if none was left).

    Attributes are indices into `Schema.attributes`; gains and errors are in bits.
    """

    attribute: int
    gain: float
    gain_error: float
    runner_up: int | None
    lead: float
    lead_error: float

    def is_clear(self, confidence: float) -> bool:
        """Tell whether the lead is beyond chance, two-sided, at this confidence; so it is where nothing competed."""
        return self.runner_up is None or self.lead > quantile(confidence) * self.lead_error


def split_doubts(tree: Tree, survey: Survey) -> dict[Expression, Doubt]:
    """Return for every split of a tree how sure it is, by the records that it was grown from.

    Raises:
        InputError: The survey cannot be mined.
    """
    estimator = survey.estimator()
    levels: dict[int, list[tuple[Expression, Split]]] = {}
    for expression, node in tree.walk():
        if isinstance(node, Split):
            levels.setdefault(len(expression.terms), []).append((expression, node))
    doubts = {}
    for _, level in sorted(levels.items()):
        estimator.advance([expression for expression, _ in level])
        for expression, node in level:
            doubts[expression] = _doubt(expression, node.attribute, survey, estimator)
    return doubts


def _doubt(expression: Expression, chosen: int, survey: Survey, estimator: SurveyEstimator) -> Doubt:
    others = [a for a in range(len(survey.schema.attributes)) if a != chosen and a not in expression.columns]
    candidates = (chosen, *others)
    (answer,) = estimator.answers([Query(expression, candidates, None)])
    gains = projected_gains(answer.tables)
    own = _influence(expression, chosen, answer.tables[0], estimator)
    error = _error(own, estimator.repeats)
    if not others:
        return Doubt(chosen, gains[0], error, None, gains[0], error)
    best = 1 + int(np.argmax(gains[1:]))
    rival = _influence(expression, candidates[best], answer.tables[best], estimator)
    lead_error = _error(own - rival, estimator.repeats)
    return Doubt(chosen, gains[0], error, candidates[best], gains[0] - gains[best], lead_error)


def _influence(
    expression: Expression, candidate: int, table: NDArray[np.float64] | NDArray[np.int64], estimator: SurveyEstimator
) -> NDArray[np.float64]:
    """Return what each distinct record adds to the gain, to first order."""
    gradient = gain_gradient(table)
    influence: NDArray[np.float64] = np.tensordot(estimator.cell_factors(expression, candidate), gradient, axes=2)
    return influence


def _error(influence: NDArray[np.float64], repeats: NDArray[np.int64]) -> float:
    """Standard error of a sum of contributions over a sample: `sqrt(n s^2)`; infinite for one record."""
    records = int(repeats.sum())
    if records < 2:
        return float("inf")
    mean = float(repeats @ influence) / records
    return sqrt(float(repeats @ (influence - mean) ** 2) * records / (records - 1))
