"""A model of any kind for people to read."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from party.show.bayes import bayes_blocks
from party.show.layout import Block, branched
from party.show.tree import to_dot, tree_lines
from protocols.learning.models import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.tables.expression import Expression


@dataclass(frozen=True)
class ModelDisplay:
    """How a kind of model is shown.

    Args:
        blocks: From the model, how many levels of it, the splits that get a mark, and the width of the screen, if any.
        dot: The model in Graphviz's language; None of a kind that has no levels to draw.
    """

    blocks: Callable[[Any, int | None, Collection[Expression], int | None], Iterator[Block]]
    dot: Callable[[Any], str] | None


_SHOWN: Mapping[type[Model], ModelDisplay] = {
    Tree: ModelDisplay(lambda tree, levels, marked, width: branched(tree_lines(tree, levels, marked), width), to_dot),
    NaiveBayes: ModelDisplay(lambda model, _levels, _marked, width: bayes_blocks(model, width), None),
}


def shown(model: Model) -> ModelDisplay:
    """Return how a model of this kind is shown."""
    return _SHOWN[type(model)]
