"""A naive Bayes classifier for people to read: a table of chances for each attribute.

Names and values come from files, so nothing unprintable of them reaches a terminal.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from party.models.tree_file import references
from party.names import printable
from party.show.layout import shortened
from protocols.learning.naive_bayes import NaiveBayes

_CHANCE = 6  # "0.1234"
_GAP = 2


def bayes_lines(model: NaiveBayes, width: int | None = None) -> Iterator[str]:
    """Yield a model line by line: `P(class)`, then `P(value given class)`, a column for each class.

    Args:
        model: The classifier.
        width: Of the screen: classes that have no room stand in a further table below; None for one table.
    """
    target = model.schema.class_attribute
    attributes = model.schema.attributes
    number = "1 attribute" if len(attributes) == 1 else f"{len(attributes)} attributes"
    yield f"{printable(target.name)}: naive Bayes over {number}"
    heads = [printable(value) for value in target.values]
    rows = [("P(class)", list(np.exp(model.prior)))]
    for name, attribute, table in zip(references(attributes), attributes, map(np.exp, model.conditional), strict=True):
        rows.append((printable(name), []))
        values = map(printable, attribute.values)
        rows += [(f"  {value}", list(chances)) for value, chances in zip(values, table, strict=True)]
    left = max(len(label) for label, chances in rows if chances)
    if width is not None:
        rows = [(shortened(label, width if not chances else width // 2), chances) for label, chances in rows]
        heads = [shortened(head, max(width - min(left, width // 2) - _GAP, _CHANCE)) for head in heads]
        left = min(left, width // 2)
    for first, last in _blocks(heads, left, width):
        yield from _table(heads[first:last], [(label, chances[first:last]) for label, chances in rows], left)


def _blocks(heads: Sequence[str], left: int, width: int | None) -> Iterator[tuple[int, int]]:
    """Yield the classes, by the first and the one after the last, whose columns have room beside the labels."""
    first, used = 0, left
    for place, head in enumerate(heads):
        wide = max(len(head), _CHANCE) + _GAP
        if width is not None and place > first and used + wide > width:
            yield first, place
            first, used = place, left
        used += wide
    yield first, len(heads)


def _table(heads: Sequence[str], rows: Sequence[tuple[str, list[float]]], left: int) -> Iterator[str]:
    widths = [max(len(head), _CHANCE) for head in heads]

    def row(label: str, cells: Sequence[str]) -> str:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return (" " * _GAP).join([label.ljust(left), *padded])

    yield row("", heads)
    for label, chances in rows:
        yield row(label, [f"{chance:.4f}" for chance in chances]) if chances else label
