"""What a run or a survey ended with, for people to read: as text, and as drawings."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from party.models.any_file import KeptResult
from party.show.baskets import joint_parts
from party.show.document import Block, Branches
from party.show.page.interval_svg import bayes_svg, joint_svg
from party.show.page.tree_svg import tree_svg
from party.show.tree import bayes_parts, to_dot, tree_lines
from protocols.association.joint import JointItemsets
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.tables import Expression


@dataclass(frozen=True)
class ModelDisplay:
    """How a kind of model is shown."""

    blocks: Callable[[Any, int | None, Collection[Expression]], Iterable[Block]]
    svg: Callable[[Any, int | None], str]
    dot: Callable[[Any, int | None], str] | None = None
    levels: bool = True


_SHOWN: Mapping[type[KeptResult], ModelDisplay] = {
    Tree: ModelDisplay(lambda tree, levels, marked: [Branches(tree_lines(tree, levels, marked))], tree_svg, to_dot),
    NaiveBayes: ModelDisplay(
        lambda model, _levels, _marked: bayes_parts(model), lambda model, _levels: bayes_svg(model), levels=False
    ),
    JointItemsets: ModelDisplay(lambda found, levels, _marked: joint_parts(found, levels), joint_svg),
}


def shown(model: KeptResult) -> ModelDisplay:
    return _SHOWN[type(model)]
