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
from protocols.tables.arrays import Floats

_GAP = 2

_Line = tuple[str, list[str]]


def bayes_blocks(model: NaiveBayes, width: int | None = None) -> Iterator[Block]:
    """Yield a model: `P(class)`, then `P(value given class)`, a column for each class.

    Args:
        model: The classifier.
        width: Of the screen: classes that have no room stand in a further table below; None for one table.
    """
    target = model.schema.class_attribute
    attributes = model.schema.attributes
    yield bayes_title(model)
    of_prior, *errors = model.errors or [None] * (1 + len(attributes))
    rows: list[_Line] = [("P(class)", _told(model.prior, of_prior))]
    for name, attribute, table, own in zip(references(attributes), attributes, model.conditional, errors, strict=True):
        rows.append((printable(name), [""] * target.size))
        values = map(printable, attribute.values)
        each = zip(values, table, [None] * attribute.size if own is None else own, strict=True)
        rows += [(f"  {value}", _told(chances, error)) for value, chances, error in each]
    heads = [printable(value) for value in target.values]
    for first, last in _groups(heads, rows, width):
        shown = [ScreenColumn("", is_text=True), *(ScreenColumn(head) for head in heads[first:last])]
        yield screen_table(shown, [[label, *chances[first:last]] for label, chances in rows], width).drawn
    if model.errors:
        yield "In brackets: standard errors, of respondents drawn from a population."


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
    number = max(len(each) for _, chances in rows for each in chances)
    for place, head in enumerate(heads):
        wide = max(cell_len(head), number) + _GAP
        if place > first and used + wide > width:
            yield first, place
            first, used = place, left
        used += wide
    yield first, len(heads)


def _told(logarithms: Floats, errors: Floats | None) -> list[str]:
    """Return chances, each with its error where it has one."""
    chances = np.exp(logarithms).tolist()
    if errors is None:
        return [f"{chance:.4f}" for chance in chances]
    each = (f"{error:.4f}" if np.isfinite(error) else "?" for error in errors.tolist())
    return [f"{chance:.4f} ({error})" for chance, error in zip(chances, each, strict=True)]
