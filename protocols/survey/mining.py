"""Trees and naive Bayes from one disguised data set (Du-Zhan section 4.2, Multi-group 4.5, Surveys 3.3; DESIGN 8).

The learners are those of the two-party half; only where counts come from differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from protocols.counts import Classifier, positive_part
from protocols.learning.id3 import HybridId3
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes, rounded
from protocols.learning.pruning import prune
from protocols.learning.tree import Tree
from protocols.role import run_alone
from protocols.survey.pooled import Survey
from protocols.tables.arrays import Floats
from protocols.tables.expression import ROOT
from protocols.terms import ALL, TO_THE_END, Growth


def grow_tree(survey: Survey, growth: Growth = TO_THE_END) -> Tree:
    """Grow ID3 on estimated counts, each node's projected to its parent's; the root's are the class's own estimate.

    Answers not given are left out count by count: a candidate's cells are of the records that have an answer in it, in
    the class and in all columns of the path, and are fitted to the node's total as usual.

    Raises:
        InputError: The survey cannot be mined.
    """
    learner = HybridId3(survey.schema, survey.class_counts(), ALL, survey.counts(), growth=growth)
    return run_alone(learner.build()).tree


def prune_tree(tree: Tree, survey: Survey) -> Tree:
    """Cut back a tree by reduced-error pruning on disguised records that did not grow it.

    Counts of one record at several depths are compared, so only records that have an answer in all that is read count.

    Raises:
        InputError: The survey cannot be mined.
    """
    given = survey.answered(tree.columns | {survey.schema.class_index})
    return prune(tree, given.comparable(tree), given.rounding)


def learn_naive_bayes(survey: Survey, smoothing: float = 0.0) -> NaiveBayes:
    """Learn naive Bayes from estimated counts; the prior is the class's own estimate.

    Answers not given are left out pair by pair: the counts of an attribute are of those who gave it and the class.

    Standard errors are those of respondents drawn from a population, by the delta method: `P(v | c)` is a smooth
    function of the counts of the class, whose covariance the records show. Smoothing takes the class's count as it is.

    Raises:
        InputError: The survey cannot be mined.
    """
    classes = survey.class_counts()
    model = run_alone(fit_naive_bayes(survey.schema, survey.counts(), smoothing, classes))
    return replace(model, errors=tuple(map(rounded, _chance_errors(survey, np.array(classes), smoothing))))


def _chance_errors(survey: Survey, classes: Floats, smoothing: float) -> Iterator[Floats]:
    """Yield the standard errors of the classes' chances, then of each attribute's values in each class."""
    yield np.array(survey.class_errors())
    estimator = survey.estimator()
    estimator.advance([ROOT])
    for candidate, attribute in enumerate(survey.schema.attributes):
        shape = attribute.size, survey.schema.classes
        samples = estimator.samples(ROOT, [candidate])
        if any(each.records < 2 for each in samples):
            yield np.full(shape, np.inf)
            continue
        table = positive_part(np.sum([each.sums for each in samples], axis=0).reshape(shape))
        spread = np.sum([each.covariance for each in samples], axis=0).reshape(*shape, *shape)
        errors = [_share_errors(table[:, c], spread[:, c, :, c], classes[c], smoothing) for c in range(shape[1])]
        yield np.stack(errors, axis=1)


def _share_errors(counts: Floats, spread: Floats, records: float, smoothing: float) -> Floats:
    """Return the standard errors of the smoothed shares of counts of this covariance; unknown where all are 0."""
    total = counts.sum()
    if not (total > 0 and records > 0):
        return np.full(len(counts), np.inf)
    gradient = (np.eye(len(counts)) - (counts / total)[:, None]) / total
    told = records / (records + len(counts) * smoothing)
    errors: Floats = told * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, spread, gradient), 0.0))
    return errors


@dataclass(frozen=True)
class Accuracy:
    """An unbiased estimate of the share of records that a model classifies correctly; it may leave `0 .. 1`.

    `standard_error` is that of respondents drawn from a population; for a single record it is infinite.
    """

    share: float
    standard_error: float
    records: int


def estimate_accuracy(model: Classifier, survey: Survey) -> Accuracy:
    """Test a model on disguised records (Du-Zhan 4.3, Multi-group 4.6, Surveys 3.4), for any number of groups.

    Only records with an answer in the class and in all columns that the model reads count; `records` says how many.

    Raises:
        InputError: The survey cannot be mined, or there are too many personal records to go through.
    """
    survey = survey.answered(model.columns | {survey.schema.class_index})
    samples, records = survey.estimator().correct(model), len(survey)
    share = sum(float(each.sums[0]) for each in samples) / records
    variance = sum(float(each.covariance[0, 0]) for each in samples)
    return Accuracy(share, sqrt(max(variance, 0.0)) / records, records)
