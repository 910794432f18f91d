"""A naive Bayes classifier for people to read: a table of chances for each attribute.

Names and values come from files, so nothing unprintable of them reaches a terminal.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len

from party.models.tree_file import references
from party.names import printable
from party.show.layout import Block, ScreenColumn, screen_table
from protocols.learning.naive_bayes import NaiveBayes

_CHANCE = 6  # "0.1234"
_GAP = 2

_Line = tuple[str, list[float]]


def bayes_blocks(model: NaiveBayes, width: int | None = None) -> Iterator[Block]:
    """Yield a model: `P(class)`, then `P(value given class)`, a column for each class.

    Args:
        model: The classifier.
        width: Of the screen: classes that have no room stand in a further table below; None for one table.
    """
    target = model.schema.class_attribute
    attributes = model.schema.attributes
    yield bayes_title(model)
    rows: list[_Line] = [("P(class)", list(np.exp(model.prior)))]
    for name, attribute, table in zip(references(attributes), attributes, map(np.exp, model.conditional), strict=True):
        rows.append((printable(name), []))
        values = map(printable, attribute.values)
        rows += [(f"  {value}", list(chances)) for value, chances in zip(values, table, strict=True)]
    heads = [printable(value) for value in target.values]
    for first, last in _groups(heads, rows, width):
        shown = [ScreenColumn("", is_text=True), *(ScreenColumn(head) for head in heads[first:last])]
        cells = [_cells(label, chances[first:last], last - first) for label, chances in rows]
        yield screen_table(shown, cells, width).drawn


def bayes_title(model: NaiveBayes) -> str:
    """Return the line over a model."""
    attributes = len(model.schema.attributes)
    number = "1 attribute" if attributes == 1 else f"{attributes} attributes"
    return f"{printable(model.schema.class_attribute.name)}: naive Bayes over {number}"


def _groups(heads: Sequence[str], rows: Sequence[_Line], width: int | None) -> Iterator[tuple[int, int]]:
    """Yield the classes, by the first and the one after the last, whose columns have room beside the labels."""
    if width is None:
        yield 0, len(heads)
        return
    left = min(max(cell_len(label) for label, _ in rows), width // 2)
    first, used = 0, left
    for place, head in enumerate(heads):
        wide = max(cell_len(head), _CHANCE) + _GAP
        if place > first and used + wide > width:
            yield first, place
            first, used = place, left
        used += wide
    yield first, len(heads)


def _cells(label: str, chances: Sequence[float], classes: int) -> list[str]:
    return [label, *(f"{chance:.4f}" for chance in chances)] if chances else [label, *[""] * classes]
