"""The kinds of model that two parties may end with, and whether one does better than a guess."""

from math import hypot, sqrt

import numpy as np

from protocols.learning.naive_bayes import NaiveBayes, grains
from protocols.learning.tree import Leaf, Tree, majority

Model = Tree | NaiveBayes


def commonest_share(model: Model) -> float | None:
    """Return the share of the class that most training records have; None where nobody knows it."""
    if isinstance(model, Tree):
        if not model.has_counts:
            return None
        counts = model.root.counts
        return max(counts) / max(sum(counts), 1)  # noise may leave no record at all
    return float(np.exp(model.prior.max()))


def beats_guessing(share: float, error: float, commonest: float | None) -> bool | None:
    """Tell whether an accuracy exceeds the share of the commonest class, if known, by more than its standard error."""
    return None if commonest is None else share - commonest > error


def beats_when_tested(model: Model, correct: float, records: int, error: float) -> bool | None:
    """Tell it of correct held-out records, whose number has this standard error beside that of the sample."""
    return beats_commonest(commonest_share(model), correct, records, error)


def beats_commonest(commonest: float | None, correct: float, records: int, error: float) -> bool | None:
    """Tell it where the share of the commonest class is known otherwise; None where nobody knows it."""
    share = min(max(correct / records, 0.0), 1.0)
    return beats_guessing(share, hypot(error / records, _sampling(share, records)), commonest)


def beats_in_training(model: Model) -> bool | None:
    """Tell it of the records that a tree was learned from; None of a model that does not hold how many they are."""
    if not isinstance(model, Tree) or not model.has_counts:
        return None
    total = max(sum(model.root.counts), 1)
    right = sum(node.counts[node.label] for _, node in model.walk() if isinstance(node, Leaf))
    share = min(max(right / total, 0.0), 1.0)
    return beats_guessing(share, _sampling(share, total), commonest_share(model))


def only_class(model: Model) -> int | None:
    """Return the class that a model gives to every record, if it gives only one and there are several."""
    if model.schema.classes < 2:
        return None
    if isinstance(model, Tree):
        labels = {label for _, label in model.leaves()}
        return labels.pop() if len(labels) == 1 else None
    label, prior, tables = majority(model.prior.tolist()), grains(model.prior), map(grains, model.conditional)
    with np.errstate(invalid="ignore"):
        leads = prior[label] - prior
        for table in tables:
            ahead = table[:, [label]] - table
            leads += np.minimum(np.where(np.isnan(ahead), np.inf, ahead).min(axis=0), 0)
    others = [place for place in range(len(prior)) if place != label]
    return label if all(leads[place] > 0 or (leads[place] == 0 and label < place) for place in others) else None


def _sampling(share: float, records: float) -> float:
    return sqrt(share * (1 - share) / records)
