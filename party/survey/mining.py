"""Mine a disguised table: hold records out, learn, prune, test, and say which splits are doubtful (DESIGN 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from party.survey.table import check_signal
from protocols.errors import InputError
from protocols.learning.model import Model, beats_guessing
from protocols.learning.tree import Leaf, Split, Tree, majority
from protocols.randomness import public_order
from protocols.survey.mining import Accuracy, estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree, split_doubts
from protocols.survey.pooled import PooledResponses, Survey
from protocols.survey.responses import Responses
from protocols.tables import Expression
from protocols.terms import PRUNING_SHARE, TO_THE_END, Growth

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Parts:
    """The records to learn from, and those held out for testing and for pruning."""

    train: Survey
    test: Survey | None
    pruning: Survey | None


@dataclass(frozen=True, repr=False)
class MinedModel:
    """A model, its accuracy on held-out records beside guessing the commonest class, and splits chance may bring."""

    model: Model
    accuracy: Accuracy | None
    guess: Accuracy | None
    doubtful: frozenset[Expression]
    splits: int

    @property
    def beats_guessing(self) -> bool | None:
        """Whether it did better on records held out than the guess; None where it was not tested."""
        if self.accuracy is None or self.guess is None:
            return None
        return beats_guessing(self.accuracy.share, self.accuracy.standard_error, self.guess.share)


def hold_out(survey: Responses, test: Fraction, seed: int, prune: bool) -> Parts:
    """Split the records by a public order: anyone who knows the seed finds the same parts."""
    if not 0 <= test < 1:
        raise InputError("must be 0 or more and below 1", field="test")
    records = len(survey)
    tested = floor(records * test)
    cut = tested + (floor(records * PRUNING_SHARE) if prune else 0)
    if (test and not tested) or (prune and cut == tested) or cut >= records:
        raise InputError(
            f"{records} records are too few to hold out {test} for testing"
            + (f" and {PRUNING_SHARE} for pruning" if prune else "")
            + ": bring more, or hold out less"
        )
    order = np.array(public_order(seed, records), dtype=np.intp)
    return Parts(
        train=_part(survey, order[cut:]),
        test=_part(survey, order[:tested]) if tested else None,
        pruning=_part(survey, order[tested:cut]) if prune else None,
    )


def pooled(parts: Sequence[Parts]) -> Parts:
    """Return the parts of several data sets, each held out of its own, as one."""
    if len(parts) == 1:
        return parts[0]
    train, test, pruning = (_pool([getattr(each, name) for each in parts]) for name in ("train", "test", "pruning"))
    if train is None:
        raise InputError("there is nothing to learn from: bring answers")
    return Parts(train, test, pruning)


def _pool(parts: Sequence[Responses | None]) -> PooledResponses | None:
    given = tuple(part for part in parts if part is not None)
    return PooledResponses(given) if given else None


def _part(survey: Responses, rows: NDArray[np.intp]) -> Responses:
    return Responses(survey.schema, survey.codes[np.sort(rows)], survey.design)


def mine_tree(parts: Parts, growth: Growth = TO_THE_END) -> MinedModel:
    """Grow a tree, prune it if records are held out for that, test it, and look at its splits."""
    check_signal(parts.train)
    tree = grow_tree(parts.train, growth)
    if parts.pruning is not None:
        tree = prune_tree(tree, parts.pruning)
    doubts = split_doubts(tree, parts.train)
    doubtful = frozenset(path for path, doubt in doubts.items() if not doubt.is_clear(CONFIDENCE))
    splits = sum(isinstance(node, Split) for _, node in tree.walk())
    return MinedModel(tree, _accuracy(tree, parts), _guess(tree.root.counts, tree, parts), doubtful, splits)


def mine_bayes(parts: Parts, smoothing: float) -> MinedModel:
    """Learn naive Bayes and test it as its file will have it."""
    check_signal(parts.train)
    model = learn_naive_bayes(parts.train, smoothing)
    return MinedModel(model, _accuracy(model, parts), _guess(model.prior.tolist(), model, parts), frozenset(), 0)


def _guess(weights: Sequence[float], model: Model, parts: Parts) -> Accuracy | None:
    if parts.test is None:
        return None
    leaf = Tree(parts.train.schema, Leaf(tuple(weights), majority(weights)))
    return estimate_accuracy(leaf, parts.test.answered(model.columns))


def _accuracy(model: Model, parts: Parts) -> Accuracy | None:
    return None if parts.test is None else estimate_accuracy(model, parts.test)
