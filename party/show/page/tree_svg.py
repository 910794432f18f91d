"""A tree as SVG: its root at the left, a box per node, the classes of its records as a bar in colours and patterns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from party.models.tree_file import references
from party.names import printable
from party.show.page.interval_svg import EDGE, class_words, legend_height, shortened
from party.show.page.parts import render
from party.show.tree import counts_text, title
from protocols.learning.tree import Leaf, Node, Split, Tree


@dataclass(frozen=True)
class _Contour:
    """How far a subtree reaches to both sides at each depth below its root, as seen from the root."""

    low: list[float]
    high: list[float]


def tidy(children: Sequence[Sequence[int]]) -> list[float]:
    """Return where each node stands across its level, as close as outlines allow (Reingold, Tilford), no recursion."""
    offsets = [0.0] * len(children)
    contours: dict[int, _Contour] = {}
    for node in reversed(range(len(children))):
        contours[node] = _placed([contours.pop(child) for child in children[node]], children[node], offsets)
    for node, below in enumerate(children):
        for child in below:
            offsets[child] += offsets[node]
    return offsets


def _placed(subtrees: Sequence[_Contour], nodes: Sequence[int], offsets: list[float]) -> _Contour:
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


_BOX, _HEIGHT, _ROOM, _ROW = 136, 42, 22, 47
_CELLS = 18  # of a line of a box
MOST_DRAWN, MOST_LEVELS = 80, 5  # nodes that can be looked over, levels that fit a page of 62rem


@dataclass(frozen=True)
class _Place:
    """A node, the value that leads to it, its parent's number, and how many nodes below it are left out."""

    node: Node
    depth: int
    branch: str
    parent: int | None
    hidden: int


def shown_levels(tree: Tree) -> int:
    """Return how many levels of a tree make a drawing that can be read: as many as hold 80 nodes, 5 at most."""
    nodes = [depth for depth, _ in tree.nodes()]
    levels = 1
    while levels < min(tree.depth, MOST_LEVELS) and sum(depth <= levels + 1 for depth in nodes) <= MOST_DRAWN:
        levels += 1
    return levels


def tree_svg(tree: Tree, levels: int | None = None, *, alone: bool = True) -> str:
    places = list(_places(tree, levels))
    children: list[list[int]] = [[] for _ in places]
    for number, place in enumerate(places):
        if place.parent is not None:
            children[place.parent].append(number)
    across = tidy(children)
    top = legend_height(tree.schema.classes)
    corners = [
        (EDGE + place.depth * (_BOX + _ROOM), top + round(position * _ROW))
        for place, position in zip(places, across, strict=True)
    ]
    names = [printable(name) for name in references(tree.schema.attributes)]
    classes = [printable(value) for value in tree.schema.class_attribute.values]
    words: dict[str, object] = class_words(classes) | {
        "alone": alone,
        "title": title(tree),
        "width": max(x for x, _ in corners) + _BOX + EDGE,
        "height": max(y for _, y in corners) + _HEIGHT + EDGE,
        "box": _BOX,
        "box_height": _HEIGHT,
        "links": [
            _link(corners[place.parent], corner)
            for place, corner in zip(places, corners, strict=True)
            if place.parent is not None
        ],
        "boxes": [_box(place, corner, names, classes) for place, corner in zip(places, corners, strict=True)],
    }
    return render("tree.svg", words)


def _places(tree: Tree, levels: int | None) -> Iterator[_Place]:
    sizes: dict[int, int] = {}  # how many nodes are below each, by its identity
    for _, each in reversed(list(tree.nodes())):
        sizes[id(each)] = sum(sizes[id(child)] + 1 for child in each.children) if isinstance(each, Split) else 0
    pending: list[tuple[int, Node, str, int | None]] = [(0, tree.root, "", None)]
    number = 0
    while pending:
        depth, node, branch, parent = pending.pop()
        goes_on = isinstance(node, Split) and depth != levels
        yield _Place(node, depth, branch, parent, 0 if goes_on else sizes[id(node)])
        if isinstance(node, Split) and goes_on:
            values = tree.schema.attributes[node.attribute].values
            below = [(depth + 1, child, value, number) for value, child in zip(values, node.children, strict=True)]
            pending += reversed(below)
        number += 1


def _link(parent: tuple[int, int], child: tuple[int, int]) -> str:
    middle = _HEIGHT // 2
    return f"M{parent[0] + _BOX} {parent[1] + middle}h{_ROOM // 2}V{child[1] + middle}H{child[0]}"


def _box(place: _Place, corner: tuple[int, int], names: Sequence[str], classes: Sequence[str]) -> dict[str, object]:
    node, (x, y) = place.node, corner
    is_split = isinstance(node, Split)
    name = names[node.attribute] if isinstance(node, Split) else classes[node.label]
    branch = printable(place.branch)
    counts = counts_text(node)
    shown = shortened(name if is_split else f"→ {name}", _CELLS)
    beside = f"+{place.hidden} nodes" if place.hidden else counts
    if cell_len(shown) + cell_len(beside) > _CELLS:
        shown, beside = (shortened(name, _CELLS - len(beside)), beside) if place.hidden else (shown, "")
    return {
        "x": x,
        "y": y,
        "is_split": is_split,
        "branch": shortened(branch, _CELLS + 2),
        "name": shown,
        "beside": beside,
        "hidden": place.hidden,
        "whole": f"{branch}: {name} {counts}".rstrip() if branch else f"{name} {counts}".rstrip(),
        "bar": list(_bar(node, x)),
    }


def _bar(node: Node, x: int) -> Iterator[dict[str, object]]:
    """Yield the parts of a node's bar: of each class as wide as its share of the records."""
    counts = [max(count, 0.0) for count in (node.tenths if isinstance(node, Leaf) and node.tenths else node.counts)]
    total, start = sum(counts), float(x + 1)
    for number, count in enumerate(counts):
        if count:
            wide = (_BOX - 2) * count / total
            yield {"x": f"{start:.1f}", "width": f"{wide:.1f}", "number": number}
            start += wide
