"""A naive Bayes classifier for people to read: a table of chances for each attribute.

Names and values come from files, so nothing unprintable of them reaches a terminal.
"""

from collections.abc import Iterator

import numpy as np

from party.models.tree_file import references
from party.names import printable
from protocols.learning.naive_bayes import NaiveBayes


def bayes_lines(model: NaiveBayes) -> Iterator[str]:
    """Yield a model line by line: `P(class)`, then `P(value given class)`, a column a class."""
    target = model.schema.class_attribute
    attributes = model.schema.attributes
    number = "1 attribute" if len(attributes) == 1 else f"{len(attributes)} attributes"
    yield f"{printable(target.name)}: naive Bayes over {number}"
    heads = [printable(value) for value in target.values]
    widths = [max(len(head), 6) for head in heads]
    labels = [printable(value) for attribute in attributes for value in attribute.values]
    left = max(len("P(class)"), *(len(label) + 2 for label in labels))

    def row(label: str, cells: list[str]) -> str:
        return "  ".join([label.ljust(left), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])

    yield row("", heads)
    yield row("P(class)", [f"{chance:.4f}" for chance in np.exp(model.prior)])
    for name, attribute, table in zip(references(attributes), attributes, map(np.exp, model.conditional), strict=True):
        yield printable(name)
        for value, chances in zip(attribute.values, table, strict=True):
            yield row(f"  {printable(value)}", [f"{chance:.4f}" for chance in chances])
