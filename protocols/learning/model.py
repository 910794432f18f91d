"""What is asked of any model that classifies: a tree, or naive Bayes."""

from math import hypot, sqrt

import numpy as np

from protocols.learning.naive_bayes import NaiveBayes, grains
from protocols.learning.quality import ScoreTable
from protocols.learning.tree import Leaf, Tree, leaves_below, majority, shares_of

Model = Tree | NaiveBayes


def commonest_share(model: Model) -> float | None:
    """Return the share of the class that most training records have; None where nobody knows it."""
    if isinstance(model, Tree):
        if not model.has_counts:
            return None
        counts = model.root.counts
        return max(counts) / max(sum(counts), 1)  # noise may leave no record at all
    return float(np.exp(model.prior.max()))


def gives_shares(model: Model) -> bool:
    """Return whether the model knows the shares of the classes where a row ends."""
    match model:
        case Tree():
            return model.has_counts or all(leaf.tenths for leaf in leaves_below(model.root))
        case NaiveBayes():
            return True


def rarer_class(model: Model) -> int | None:
    """Return the rarer of two classes, as far as the model knows: its shares at the root, or means of the leaves'."""
    if model.schema.classes != 2 or not gives_shares(model):
        return None
    first, second = map(float, shares_of(model.root)) if isinstance(model, Tree) else np.exp(model.prior).tolist()
    return int(first >= second)


def beats_guessing(share: float, error: float, commonest: float | None) -> bool | None:
    """Return whether an accuracy exceeds the commonest class's share, if known, by more than its error."""
    return None if commonest is None else share - commonest > error


def beats_when_tested(model: Model, correct: float, records: int, error: float) -> bool | None:
    """Return whether the model beats guessing on held-out records, whose correct ones are known but for this error."""
    return beats_commonest(commonest_share(model), correct, records, error)


def beats_commonest(commonest: float | None, correct: float, records: int, error: float) -> bool | None:
    """Return whether a model beats guessing the commonest class, of this share; None where nobody knows the share."""
    share = min(max(correct / records, 0.0), 1.0)
    return beats_guessing(share, hypot(error / records, _sampling(share, records)), commonest)


def beats_in_training(model: Model) -> bool | None:
    """Return whether a tree beats guessing on its training records; None of a model that does not hold their counts."""
    if not isinstance(model, Tree) or not model.has_counts:
        return None
    total = max(sum(model.root.counts), 1)
    right = sum(node.counts[node.label] for _, node in model.walk() if isinstance(node, Leaf))
    share = min(max(right / total, 0.0), 1.0)
    return beats_guessing(share, _sampling(share, total), commonest_share(model))


def training_table(model: Model) -> ScoreTable | None:
    """Return what a tree of two classes says of its training records; None where it does not hold exact counts."""
    if not isinstance(model, Tree) or not model.has_counts or model.schema.classes != 2 or model.growth.noise:
        return None
    scored = sorted((float(shares_of(leaf)[1]), leaf.label, leaf.counts) for leaf in leaves_below(model.root))
    scores, labels, counts = zip(*scored, strict=True)
    cells = np.array(counts, dtype=np.float64)
    return ScoreTable(cells, labels, scores=scores) if (cells == np.rint(cells)).all() else None


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
