"""Places for the nodes of a tree: parents beside the first of their children, no two nodes in one place.

A drawing that is higher than a screen then begins with its root, where reading begins, on a phone too.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class _Contour:
    """How far a subtree reaches to both sides at each depth below its root, as seen from the root."""

    low: list[float]
    high: list[float]


def tidy(children: Sequence[Sequence[int]]) -> list[float]:
    """Return where each node stands across its level, the root at 0 and neighbours at least 1 apart.

    Subtrees are put as close together as their outlines allow (Reingold and Tilford 1981). No recursion: a tree may be
    deeper than Python's stack.

    Args:
        children: Of each node, in their order; every node comes before its children, the root first.
    """
    offsets = [0.0] * len(children)
    contours: dict[int, _Contour] = {}
    for node in reversed(range(len(children))):
        contours[node] = _placed([contours.pop(child) for child in children[node]], children[node], offsets)
    for node, below in enumerate(children):
        for child in below:
            offsets[child] += offsets[node]
    return offsets


def _placed(subtrees: Sequence[_Contour], nodes: Sequence[int], offsets: list[float]) -> _Contour:
    """Set the offsets of a node's children from it, and return its own outline."""
    low: list[float] = []
    high: list[float] = []
    shifts: list[float] = []
    for subtree in subtrees:
        apart = (right + 1 - left for right, left in zip(high, subtree.low, strict=False))
        shift = max(apart, default=0.0)
        shifts.append(shift)
        low += [shift + left for left in subtree.low[len(low) :]]
        high = [shift + right for right in subtree.high] + high[len(subtree.high) :]
    for node, shift in zip(nodes, shifts, strict=True):
        offsets[node] = shift
    return _Contour([0.0, *low], [0.0, *high])
