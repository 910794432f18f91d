"""Trees and naive Bayes are learned from one disguised data set, with how sure each split is (DESIGN 8).

Du-Zhan section 4.2, Multi-group 4.5, Surveys 3.3; the learners are those of two parties, only where counts come from
differs. A split is sure as far as its attribute says anything of the class, and leads the runner-up.

*Against none.* If an attribute says nothing of the class in a node, each cell departs from what its row and its column
make likely by chance alone. The departures of all but one value and one class, each a sum over records, have the
covariance that the records show; their squares, weighed by its inverse (Wald 1943), then follow a chi-square. The
chance of the largest of several attributes' is multiplied by their number (Bonferroni).

*Against the runner-up.* By the delta method: a gain is a smooth function of estimated counts, each of which is a sum
over records, so its error is that of the sum of `gradient x what the record adds`. Leads are compared record by record,
which accounts for how the two gains are correlated. Where a count was projected to 0 the gradient stops, and the error
is too small: a lead that is called clear there may not be.

Errors are those of respondents drawn from a population.

*Pruning* is by reduced error (Du-Zhan 4.3, Multi-group 4.6; DESIGN 8), on records that did not grow the tree. A node is
cut to a leaf where that classifies at least as many pruning records correctly as its subtree does, from the leaves
upward. The counts may be estimates from disguised records, even negative: both sides of the comparison are sums of
unbiased estimates. As sums of floats, equal ones may differ by rounding: a subtree is kept only where it does better by
more than that. A split whose leaves all say one class is a leaf too.

*By personal answers* (Surveys 3.4). Of one group that is asked the unrelated question, `P*(cc) = theta P(cc) + (1 -
theta) P(Y cc)`: to test a model on responses, the collector needs `P(Y cc)`, the share of respondents about whose
*personal* record the model is right. It publishes the model; each respondent runs it on the personal answers, which
nobody else sees, and returns one bit.

Deviation from the paper, where the bit is sent as it is: with a chance `t` the bit is true, else it is the opposite
(Warner; section 4.1). A collector chooses the model, so it chooses what the bit reveals: a model that always says "yes"
asks for the personal class itself, and a response that differs from a known personal answer is the truth. Whatever
model it publishes, the bit moves the odds between two personal records by no more than `t/(1 - t)` to 1; with `t = 1`,
the paper's, without bound. `P(Y cc) = (b - (1 - t))/(2t - 1)`, `b` the share of bits that say "right".
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import erfc, exp, hypot, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Classifier, CountTable, Estimates, Query, positive_part
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.impurity import merit_gradient
from protocols.learning.merit import estimated_merits
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes, rounded
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.privacy.loss import ratio_loss
from protocols.randomized_response.design import MAX_DENOMINATOR, Design, Kind
from protocols.randomized_response.estimate import Additions, departures, quantile, table_shares
from protocols.role import run_alone
from protocols.survey.pooled import Survey
from protocols.survey.responses import Responses
from protocols.tables import ROOT, Expression, Floats
from protocols.terms import ALL, TO_THE_END, Growth

Columns = frozenset[int]
Rounding = Callable[[Columns], float]
"""The most by which a sum of estimates over expressions of these columns may have been rounded."""


@dataclass(frozen=True)
class _Kept:
    """What is left of a subtree: the pruning records that it classifies correctly, and the columns of its paths."""

    node: Node
    right: float
    columns: Columns


def prune(tree: Tree, estimates: Estimates, rounding: Rounding) -> Tree:
    """Return the tree without the branches that the pruning records do not confirm; labels stay those of training.

    `rounding` is what the arithmetic of these counts may lose.
    """
    if isinstance(tree.root, Leaf):
        return tree
    counts = _class_counts(tree, estimates)

    def leaf(expression: Expression, node: Leaf) -> _Kept:
        return _Kept(node, float(counts[expression][node.label]), expression.columns)

    def split(expression: Expression, node: Split, children: Sequence[_Kept]) -> _Kept:
        cut, grown = leaf(expression, Leaf(node.counts, majority(node.counts))), _joined(node, children)
        tolerance = rounding(grown.columns | {tree.schema.class_index})
        return grown if grown.right - cut.right > tolerance else cut

    return replace(tree, root=tree.folded(leaf, split).node)


def _joined(split: Split, children: Sequence[_Kept]) -> _Kept:
    """Return a split over what is left of its children: a leaf, where all of them are leaves of one class."""
    nodes = tuple(child.node for child in children)
    labels = {node.label if isinstance(node, Leaf) else None for node in nodes}
    label = labels.pop()
    node = Split(split.counts, split.attribute, nodes) if labels or label is None else Leaf(split.counts, label)
    columns = frozenset[int]().union(*(child.columns for child in children))
    return _Kept(node, sum(child.right for child in children), columns)


def _class_counts(tree: Tree, estimates: Estimates) -> dict[Expression, NDArray[np.float64]]:
    """Return the counts of the classes at every node, level by level: a split's own counts are its children's sum."""
    counts: dict[Expression, NDArray[np.float64]] = {}
    for level in tree.levels():
        estimates.advance([expression for expression, _ in level])
        answers = estimates.answers([Query(expression, (node.attribute,), None) for expression, node in level])
        for (expression, node), answer in zip(level, answers, strict=True):
            table = np.asarray(answer.tables[0], dtype=np.float64)
            counts[expression] = table.sum(axis=0)
            counts |= {expression.child(node.attribute, value): row for value, row in enumerate(table)}
    return counts


def grow_tree(survey: Survey, growth: Growth = TO_THE_END) -> Tree:
    """Grow ID3 on estimated counts, each node's projected to its parent's; the root's are the class's own estimate.

    Answers not given are left out count by count: a candidate's cells are of the records that have an answer in it, in
    the class and in all columns of the path, and are fitted to the node's total as usual.
    """
    learner = HybridId3(survey.schema, survey.class_counts(), ALL, survey.counts(), growth=growth)
    return run_alone(learner.build()).tree


def prune_tree(tree: Tree, survey: Survey) -> Tree:
    """Cut back a tree by reduced-error pruning on disguised records that did not grow it.

    Counts of one record at several depths are compared, so only records that have an answer in all that is read count.
    """
    given = survey.answered(tree.columns | {survey.schema.class_index})
    return prune(tree, given.comparable(tree), given.rounding)


def learn_naive_bayes(survey: Survey, smoothing: float = 0.0) -> NaiveBayes:
    """Learn naive Bayes from estimated counts; the prior is the class's own estimate.

    Answers not given are left out pair by pair: the counts of an attribute are of those who gave it and the class.

    Standard errors are those of respondents drawn from a population, by the delta method: `P(v | c)` is a smooth
    function of the counts of the class, whose covariance the records show. Smoothing takes the class's count as it is.
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
    weight = records / (records + len(counts) * smoothing)
    errors: Floats = weight * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, spread, gradient), 0.0))
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
    """
    survey = survey.answered(model.columns | {survey.schema.class_index})
    samples, records = survey.estimator().correct(model), len(survey)
    share = sum(float(each.sums[0]) for each in samples) / records
    variance = sum(float(each.covariance[0, 0]) for each in samples)
    return Accuracy(share, sqrt(max(variance, 0.0)) / records, records)


@dataclass(frozen=True)
class Doubt:
    """The estimated gain of a split, and its lead over the best attribute that was not chosen (None if none was left).

    Gains and errors are in bits. `chance` is that of so much by noise alone, in the best of the attributes that could
    be chosen, if no one says anything: at most that, as far as normal errors go.
    """

    attribute: int
    gain: float
    chance: float
    runner_up: int | None
    lead: float
    lead_error: float

    def is_clear(self, confidence: float) -> bool:
        """Return whether the split, and its lead over any competitor, is beyond chance (two-sided)."""
        leads = self.runner_up is None or self.lead > quantile(confidence) * self.lead_error
        return leads and self.chance <= 1 - confidence


def split_doubts(tree: Tree, survey: Survey) -> dict[Expression, Doubt]:
    """Return for every split of a tree how sure it is, judging by the records that it was grown from."""
    estimator = survey.estimator()
    doubts = {}
    for level in tree.levels():
        queries = [Query(expression, _candidates(expression, node, survey), None) for expression, node in level]
        estimator.advance([query.expression for query in queries])
        for (expression, node), query, answer in zip(level, queries, estimator.answers(queries), strict=True):
            (signed,) = estimated_merits([answer], [sum(node.counts)], tree.growth)
            gains = [max(gain, 0.0) for gain in signed]
            best = 1 + int(np.argmax(gains[1:])) if len(gains) > 1 else None
            places = [0] if best is None else [0, best]
            samples = estimator.samples(expression, [query.candidates[place] for place in places])
            gradients = [merit_gradient(answer.tables[place], tree.growth.impurity).ravel() for place in places]
            error = _error(samples, np.concatenate([gradients[0], *(-each for each in gradients[1:])]))
            chance = min(1.0, len(gains) * chance_of_none(samples, answer.tables[0]))
            rival, lead = (None, gains[0]) if best is None else (query.candidates[best], gains[0] - gains[best])
            doubts[expression] = Doubt(node.attribute, gains[0], chance, rival, lead, error)
    return doubts


def _candidates(expression: Expression, node: Split, survey: Survey) -> tuple[int, ...]:
    """Return the attribute that was chosen, then those that were not."""
    taken = expression.columns | {node.attribute}
    return node.attribute, *(a for a in range(len(survey.schema.attributes)) if a not in taken)


def _error(samples: Sequence[Additions], weights: Floats) -> float:
    """Return the standard error of a weighted sum of what records add; infinite for one record."""
    if any(each.records < 2 for each in samples):
        return float("inf")
    return sqrt(max(0.0, sum(float(weights @ each.covariance @ weights) for each in samples)))


def chance_of_none(samples: Sequence[Additions], table: CountTable) -> float:
    """Return the chance that an attribute which says nothing of the class departs as far from that as this one.

    What records add to its cells comes first in each sample.
    """
    (shares,), (classes,) = table_shares([table])
    values, labels = np.flatnonzero(shares > 0), np.flatnonzero(classes > 0)
    freedom = (len(values) - 1) * (len(labels) - 1)
    if freedom < 1 or any(each.records < 2 for each in samples):
        return 1.0
    apart, spread = np.zeros(freedom), np.zeros((freedom, freedom))
    for each in samples:
        cells = each.values[:, : table.size].reshape(-1, *table.shape)
        own = departures(cells, shares, classes)[:, values[:-1]][:, :, labels[:-1]].reshape(len(cells), freedom)
        departed = Additions(own, each.repeats, each.records)
        apart, spread = apart + departed.sums, spread + departed.covariance
    return chi_square_tail(float(apart @ np.linalg.pinv(spread) @ apart), freedom)


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Return the chance that a chi-square of this many degrees of freedom is at least this.

    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(5.991465, 2), 6), chi_square_tail(0.0, 3)
    (0.05, 0.05, 1.0)
    """
    half, odd = statistic / 2, freedom % 2 / 2
    if half <= 0:
        return 1.0
    terms = (exp((k + odd) * log(half) - half - lgamma(k + odd + 1)) for k in range(freedom // 2))
    return min(1.0, (erfc(sqrt(half)) if odd else 0.0) + sum(terms))


@dataclass(frozen=True)
class BitDesign:
    """How the bit is disguised: it is true with a chance above 1/2; 1 sends it as it is."""

    truth: Fraction

    def __post_init__(self) -> None:
        if not Fraction(1, 2) < self.truth <= 1 or self.truth.denominator > MAX_DENOMINATOR:
            raise InputError(
                f"must be above 1/2 and at most 1, with a denominator of at most {MAX_DENOMINATOR}", field="truth"
            )

    @property
    def coin(self) -> tuple[Fraction, ...]:
        """The chances of the bit's coin, the truth first."""
        return (self.truth,) if self.truth == 1 else (self.truth, 1 - self.truth)

    @property
    def loss(self) -> float:
        """Epsilon of the bit, whatever model was published: infinite where it is sent as it is."""
        return ratio_loss(None if self.truth == 1 else self.truth / (1 - self.truth))


def personal_share(right: int, bits: int, design: BitDesign) -> Fraction:
    """Return the estimate of `P(Y cc)`; unbiased, so it may leave `0 .. 1`."""
    if not bits:
        raise InputError("nobody has tested the model yet")
    return (Fraction(right, bits) - (1 - design.truth)) / (2 * design.truth - 1)


def personal_accuracy(right: int, bits: int, design: BitDesign) -> Accuracy:
    """Return `P(Y cc)` with the standard error of a sample, which is infinite for a single bit."""
    share, said = float(personal_share(right, bits, design)), Fraction(right, bits)
    if bits < 2:
        return Accuracy(share, float("inf"), bits)
    return Accuracy(share, sqrt(said * (1 - said) / (bits - 1)) / float(2 * design.truth - 1), bits)


def tested_group(columns: Iterable[int], design: Design) -> int:
    """Return the one group of unrelated questions that holds these columns."""
    groups = {design.group_of(column) for column in columns}
    group = groups.pop() if len(groups) == 1 else None
    if group is None or design.part(group).kind is not Kind.UNRELATED:
        raise InputError(
            "a model is tested on personal answers where its class and all columns that it reads are in one group of "
            "unrelated questions"
        )
    return group


def accuracy_by_bits(model: Classifier, survey: Responses, personal: Accuracy) -> Accuracy:
    """Return `P(cc) = (P*(cc) - (1 - theta) P(Y cc))/theta` on responses (Surveys 3.4).

    The standard error is an upper bound: bits and responses of the same people are taken as independent, and they vary
    together, which takes from the error of the difference.
    """
    label = survey.schema.class_index
    theta = survey.design.truth(tested_group(model.columns | {label}, survey.design))
    given = survey.answered(model.columns | {label})
    right = model.predict(given.codes) == given.codes[:, label]
    records, seen = len(given), float(right.mean())
    share = (seen - (1 - float(theta)) * personal.share) / float(theta)
    if records < 2:
        return Accuracy(share, float("inf"), records)
    own = sqrt(seen * (1 - seen) / (records - 1))
    return Accuracy(share, hypot(own, (1 - float(theta)) * personal.standard_error) / float(theta), records)
