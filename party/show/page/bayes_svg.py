"""Naive Bayes as a drawing in SVG: of each value how likely it is in each class, as bars of the classes' colours."""

from collections.abc import Iterator, Sequence

import numpy as np

from party.models.tree_file import references
from party.names import printable
from party.show.bayes import bayes_title
from party.show.page.classes import EDGE, class_words, legend_height, shortened
from party.show.page.templates import render
from protocols.learning.naive_bayes import NaiveBayes

_NAMES, _BARS, _NUMBER = 190, 240, 52
_LINE, _BAR, _GAP = 20, 13, 8
_NAME_CELLS = 24


def bayes_svg(model: NaiveBayes, *, alone: bool = True) -> str:
    """Return a drawing of a model.

    Args:
        model: The classifier.
        alone: Whether it is a file of its own, or part of a page.
    """
    classes = [printable(value) for value in model.schema.class_attribute.values]
    y = legend_height(len(classes))
    heads: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    for name, lines in _tables(model):
        heads.append({"y": y + _LINE - 6, "text": shortened(name, 2 * _NAME_CELLS), "whole": name})
        y += _LINE
        for value, chances in lines:
            rows.append(_row(value, chances, y))
            y += _BAR * len(chances) + _GAP
    words = class_words(classes) | {
        "alone": alone,
        "title": bayes_title(model),
        "width": EDGE + _NAMES + _BARS + _NUMBER + EDGE,
        "height": y + EDGE,
        "heads": heads,
        "rows": rows,
        "left": EDGE + _NAMES,
        "bar": _BAR,
    }
    return render("bayes.svg", words)


def _tables(model: NaiveBayes) -> Iterator[tuple[str, list[tuple[str, list[float]]]]]:
    """Yield what each table is called, and its rows: a value with its chance in each class."""
    yield "P(class)", [("", np.exp(model.prior).tolist())]
    attributes = model.schema.attributes
    for name, attribute, table in zip(references(attributes), attributes, model.conditional, strict=True):
        values = map(printable, attribute.values)
        yield f"P({printable(name)} | class)", list(zip(values, np.exp(table).tolist(), strict=True))


def _row(value: str, chances: Sequence[float], y: int) -> dict[str, object]:
    told = ", ".join(f"{chance:.4f}" for chance in chances)
    return {
        "y": y + _BAR * len(chances) // 2 + 4,
        "text": shortened(value, _NAME_CELLS),
        "whole": f"{value}: {told}" if value else told,
        "bars": [
            {"y": y + k * _BAR, "number": k, "width": f"{_BARS * chance:.1f}", "text": f"{chance:.3f}"}
            for k, chance in enumerate(chances)
        ],
    }
