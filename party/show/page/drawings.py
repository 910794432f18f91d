"""Pictures in SVG, and how each kind of model is shown: intervals, bars of chances, curves in panels, trees.

Shares stand as a line from end to end with a dot for the estimate, or as lines in panels that have one axis of shares
upward. A tree has its root at the left, a box per node, the classes of its records as a bar in colours and patterns.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, floor, log10
from typing import Any, NamedTuple

import numpy as np
from rich.cells import cell_len

from party.association.mining import ResultColumns, sets_of
from party.models.any_file import KeptResult
from party.models.tree_file import references
from party.names import printable
from party.show.baskets import first_rows, joint_parts, joint_title, set_text, up_to
from party.show.document import Block, Branches, Drawing
from party.show.page.parts import render
from party.show.quality import figure_text
from party.show.tree import bayes_parts, bayes_title, counts_text, to_dot, tree_lines
from party.show.tree import title as tree_title
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.quality import ScoreTable
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.tables import Expression

EDGE = 8
_CLASS_LEGEND, _LEGEND_ROW, _LEGEND_CELLS = 16, 20, 60
# Okabe and Ito's palette, which colour-blind people can tell apart, and patterns for those who see no colour at all.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#595959")
_SHAPES = ("", "M0 8L8 0", "M0 4H8", "M4 0V8", "M0 0L8 8", "M0 4H8M4 0V8", "M0 0L8 8M0 8L8 0")


def class_words(classes: Sequence[str]) -> dict[str, object]:
    """Return what the template `classes.svg` needs for the classes of these names, at the top of a drawing."""
    kinds = len(COLOURS)
    return {
        "fills": [  # 49 pairs before one comes again
            {"colour": COLOURS[k % kinds], "shape": _SHAPES[(k + k // kinds) % kinds]} for k in range(len(classes))
        ],
        "legend": [
            {"y": EDGE + k * _LEGEND_ROW, "number": k, "text": shortened(name, _LEGEND_CELLS)}
            for k, name in enumerate(classes[:_CLASS_LEGEND])
        ],
        "unnamed": max(len(classes) - _CLASS_LEGEND, 0),
    }


def legend_height(classes: int) -> int:
    return EDGE + min(classes, _CLASS_LEGEND) * _LEGEND_ROW + EDGE


def shortened(text: str, cells: int) -> str:
    if cell_len(text) <= cells:
        return text
    while cell_len(text) >= cells:
        text = text[:-1]
    return f"{text}…"


_NAMES, _PLOT, _ROW, _AXIS = 230, 330, 22, 24
_NAME_CELLS = 30
_MOST_TICKS = 6


@dataclass(frozen=True)
class Interval:
    """A share that has a name, and the ends of its interval, which may leave `0 .. 1`."""

    name: str
    share: float
    low: float
    high: float


def intervals_svg(title: str, shares: Sequence[Interval], mark: float | None = None, *, alone: bool = True) -> str:
    ends = [end for each in shares for end in (each.share, each.low, each.high)]
    ticks = _ticks(min([0.0, *ends]), max([mark or 0.0, *ends]))
    scale = _PLOT / (ticks[-1] - ticks[0])

    def place(share: float) -> str:
        return f"{EDGE + _NAMES + (share - ticks[0]) * scale:.1f}"

    words: dict[str, object] = {
        "alone": alone,
        "title": title,
        "width": EDGE + _NAMES + _PLOT + 4 * EDGE,
        "height": EDGE + len(shares) * _ROW + _AXIS,
        "bottom": EDGE + len(shares) * _ROW,
        "ticks": [{"x": place(tick), "text": f"{100 * tick:.6g}%"} for tick in ticks],
        "mark": None if mark is None else place(mark),
        "names": EDGE + _NAMES - EDGE,
        "rows": [
            {
                "y": EDGE + k * _ROW + _ROW // 2,
                "text": shortened(each.name, _NAME_CELLS),
                "whole": f"{each.name}: {each.share:.4f}, {each.low:.4f} to {each.high:.4f}",
                "share": place(each.share),
                "low": place(each.low),
                "high": place(each.high),
            }
            for k, each in enumerate(shares)
        ],
    }
    return render("intervals.svg", words)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers at equal distances, the first at most `low` and the last at least `high`."""
    least = floor(log10(max(high - low, 1e-9) / _MOST_TICKS))
    steps = (digit * 10.0**power for power in count(least) for digit in (1, 2, 5))
    ends = ((step, floor(low / step), max(ceil(high / step - 1e-9), floor(low / step) + 1)) for step in steps)
    step, first, last = next(each for each in ends if each[2] - each[1] <= _MOST_TICKS)
    return [step * k for k in range(first, last + 1)]


_BAR_NAMES, _BARS, _NUMBER = 190, 240, 52
_LINE, _BAR, _GAP = 20, 13, 8
_BAR_NAME_CELLS = 24


def bayes_svg(model: NaiveBayes, *, alone: bool = True) -> str:
    classes = [printable(value) for value in model.schema.class_attribute.values]
    y = legend_height(len(classes))
    heads: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    for name, lines in _tables(model):
        heads.append({"y": y + _LINE - 6, "text": shortened(name, 2 * _BAR_NAME_CELLS), "whole": name})
        y += _LINE
        for value, chances in lines:
            rows.append(_row(value, chances, y))
            y += _BAR * len(chances) + _GAP
    words = class_words(classes) | {
        "alone": alone,
        "title": bayes_title(model),
        "width": EDGE + _BAR_NAMES + _BARS + _NUMBER + EDGE,
        "height": y + EDGE,
        "heads": heads,
        "rows": rows,
        "left": EDGE + _BAR_NAMES,
        "bar": _BAR,
    }
    return render("bayes.svg", words)


def _tables(model: NaiveBayes) -> Iterator[tuple[str, list[tuple[str, list[float]]]]]:
    yield "P(class)", [("", np.exp(model.prior).tolist())]
    attributes = model.schema.attributes
    for name, attribute, table in zip(references(attributes), attributes, model.conditional, strict=True):
        values = map(printable, attribute.values)
        yield f"P({printable(name)} | class)", list(zip(values, np.exp(table).tolist(), strict=True))


def _row(value: str, chances: Sequence[float], y: int) -> dict[str, object]:
    told = ", ".join(f"{chance:.4f}" for chance in chances)
    return {
        "y": y + _BAR * len(chances) // 2 + 4,
        "text": shortened(value, _BAR_NAME_CELLS),
        "whole": f"{value}: {told}" if value else told,
        "bars": [
            {"y": y + k * _BAR, "number": k, "width": f"{_BARS * chance:.1f}", "text": f"{chance:.3f}"}
            for k, chance in enumerate(chances)
        ],
    }


def sets_svg(title: str, columns: ResultColumns, threshold: float, *, alone: bool = True) -> str:
    shares = [
        Interval(set_text(columns["itemsets"][k]), *(float(columns[name][k]) for name in ("support", "low", "high")))
        for k in first_rows(columns["support"])
    ]
    return intervals_svg(title, shares, threshold, alone=alone)


def joint_svg(found: JointItemsets, most_items: int | None = None) -> str:
    if not found.has_counts:
        raise InputError("these sets have no counts to draw: print them by `cotally show`")
    return sets_svg(joint_title(found), sets_of(up_to(found, most_items)), float(found.threshold))


_LEFT, _HIGH, _APART, _TICKS_BELOW, _NAME_BELOW = 48, 200, 48, 26, 18
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SQUARE = 200
_CURVES = "ROC, lift and calibration"


class _Point(NamedTuple):
    """A point of a line, what it says, and how far it may be off upward and downward."""

    x: float
    y: float
    text: str
    error: float = 0.0


@dataclass(frozen=True)
class _Panel:
    """Named lines over an axis, what is said above it, what stands at which share of its width, and what it is."""

    said: str
    lines: Sequence[tuple[str, Sequence[_Point]]]
    width: int
    ticks: Sequence[tuple[float, str]]
    under: str = ""
    diagonal: bool = False


def _curves_svg(title: str, panels: Sequence[_Panel]) -> str:
    named = max(bool(panel.said) + sum(bool(name) for name, _ in panel.lines) for panel in panels)
    bottom = EDGE + named * _LEGEND_ROW + EDGE + _HIGH
    drawn, left = [], _LEFT
    for panel in panels:
        drawn.append(_drawn(panel, left, bottom))
        left += panel.width + _APART
    words: dict[str, object] = {
        "title": title,
        "width": left,
        "height": bottom + _TICKS_BELOW + max(bool(panel.under) for panel in panels) * _NAME_BELOW,
        "left": _LEFT,
        "bottom": bottom,
        "ticks": [{"y": _height(tick, bottom), "text": f"{tick:.0%}"} for tick in _TICKS],
        "panels": drawn,
        "radius": 3 if len(panels) > 1 else 4,
    }
    return render("curves.svg", words)


def _height(share: float, bottom: int) -> str:
    return f"{bottom - min(max(share, 0.0), 1.0) * _HIGH:.1f}"


def _drawn(panel: _Panel, left: int, bottom: int) -> dict[str, object]:
    def place(share: float) -> str:
        return f"{left + min(max(share, 0.0), 1.0) * panel.width:.1f}"

    lines = [
        {
            "colour": COLOURS[number],
            "dashed": number > 0,
            "points": [
                {"x": place(each.x), "y": _height(each.y, bottom), "text": each.text}
                | (
                    {"low": _height(each.y - each.error, bottom), "high": _height(each.y + each.error, bottom)}
                    if each.error
                    else {"low": ""}
                )
                for each in points
            ],
        }
        for number, (_, points) in enumerate(panel.lines)
    ]
    legend = [(panel.said, "")] * bool(panel.said)
    legend += [(name, COLOURS[number]) for number, (name, _) in enumerate(panel.lines) if name]
    rows = enumerate(legend)
    return {
        "left": left,
        "middle": left + panel.width // 2,
        "legend": [{"y": EDGE + k * _LEGEND_ROW + 8, "text": text, "colour": colour} for k, (text, colour) in rows],
        "ticks": [{"x": place(at), "text": text} for at, text in panel.ticks],
        "under": panel.under,
        "diagonal": f"M{place(0)} {_height(0, bottom)}L{place(1)} {_height(1, bottom)}" if panel.diagonal else "",
        "lines": lines,
    }


_STEP = 90


@dataclass(frozen=True)
class WindowPoint:
    """What a run with one window came to: shares, None where they are not known."""

    window: str
    accuracy: float | None
    cost: float | None


def windows_svg(title: str, points: Sequence[WindowPoint]) -> str:
    places = [(k + 0.5) / len(points) for k in range(len(points))]
    shares = {
        "accuracy": [point.accuracy for point in points],
        "cost ratio": [point.cost for point in points],
    }
    lines = [
        (name, [_Point(x, y, f"{name} {y:.3f}") for x, y in zip(places, each, strict=True) if y is not None])
        for name, each in shares.items()
    ]
    ticks = [(x, point.window) for x, point in zip(places, points, strict=True)]
    return _curves_svg(title, [_Panel("", lines, _STEP * len(points), ticks)])


def quality_drawings(table: ScoreTable, classes: Sequence[str]) -> Iterator[Drawing]:
    if table.scores is not None and table.curve():
        yield Drawing(_CURVES, quality_svg(_CURVES, table, classes))


def quality_svg(title: str, table: ScoreTable, classes: Sequence[str]) -> str:
    name, curve = printable(classes[table.ranked]), table.curve()
    ticks = [(tick, f"{tick:.0%}") for tick in _TICKS[::2]]

    def panel(said: str, under: str, points: Sequence[_Point]) -> _Panel:
        return _Panel(said, [("", points)], _SQUARE, ticks, under, diagonal=True)

    texts = [f"{p.selected:.1%} selected: {p.found:.1%} of {name}, {p.false_alarms:.1%} of others" for p in curve]
    kept = [(each, each.share) for each in table.calibration() if each.share is not None]
    panels = [
        panel(
            "ROC: share found",
            "share of others selected",
            [_Point(p.false_alarms, p.found, text) for p, text in zip(curve, texts, strict=True)],
        ),
        panel(
            "Lift: share found",
            "share of all selected",
            [_Point(p.selected, p.found, text) for p, text in zip(curve, texts, strict=True)],
        ),
        panel(
            "Calibration: true share",
            "score",
            [_Point(p.score, f.value, f"score {p.score:.3f}: {figure_text(f)}", f.error) for p, f in kept],
        ),
    ]
    return _curves_svg(title, panels)


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


_BOX, _HEIGHT, _ROOM, _LEVEL = 136, 42, 22, 47
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
        (EDGE + place.depth * (_BOX + _ROOM), top + round(position * _LEVEL))
        for place, position in zip(places, across, strict=True)
    ]
    middle = _HEIGHT // 2
    names = [printable(name) for name in references(tree.schema.attributes)]
    classes = [printable(value) for value in tree.schema.class_attribute.values]
    words: dict[str, object] = class_words(classes) | {
        "alone": alone,
        "title": tree_title(tree),
        "width": max(x for x, _ in corners) + _BOX + EDGE,
        "height": max(y for _, y in corners) + _HEIGHT + EDGE,
        "box": _BOX,
        "box_height": _HEIGHT,
        "links": [
            f"M{corners[parent][0] + _BOX} {corners[parent][1] + middle}h{_ROOM // 2}V{y + middle}H{x}"
            for parent, (x, y) in zip((place.parent for place in places), corners, strict=True)
            if parent is not None
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
    counts = [max(each, 0.0) for each in (node.tenths if isinstance(node, Leaf) and node.tenths else node.counts)]
    total, start = sum(counts), float(x + 1)
    for number, held in enumerate(counts):
        if held:
            wide = (_BOX - 2) * held / total
            yield {"x": f"{start:.1f}", "width": f"{wide:.1f}", "number": number}
            start += wide


@dataclass(frozen=True)
class ModelDisplay:
    """How a kind of model is shown."""

    blocks: Callable[[Any, int | None, Collection[Expression]], Iterable[Block]]
    svg: Callable[[Any, int | None], str]
    dot: Callable[[Any, int | None], str] | None = None
    levels: bool = True


def shown(model: KeptResult) -> ModelDisplay:
    match model:
        case Tree():
            return ModelDisplay(lambda tree, *how: [Branches(tree_lines(tree, *how))], tree_svg, to_dot)
        case NaiveBayes():
            return ModelDisplay(lambda bayes, *_: bayes_parts(bayes), lambda bayes, _: bayes_svg(bayes), levels=False)
        case JointItemsets():
            return ModelDisplay(lambda found, levels, _: joint_parts(found, levels), joint_svg)
