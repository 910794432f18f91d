"""Shares with their intervals as a drawing in SVG: a line from end to end of each, a dot for the estimate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from rich.cells import cell_len

from party.association.mining import ResultColumns, sets_of
from party.models.tree_file import references
from party.names import printable
from party.show.baskets import first_rows, joint_title, set_text, up_to
from party.show.page.parts import render
from party.show.tree import bayes_title
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes

EDGE = 8
_CLASS_LEGEND, _LEGEND_ROW, _LEGEND_CELLS = 16, 20, 60
# Okabe and Ito's palette, which colour-blind people can tell apart, and patterns for those who see no colour at all.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#595959")
_SHAPES = ("", "M0 8L8 0", "M0 4H8", "M4 0V8", "M0 0L8 8", "M0 4H8M4 0V8", "M0 0L8 8M0 8L8 0")


def class_words(classes: Sequence[str]) -> dict[str, object]:
    """Return what the template `classes.svg` needs for the classes of these names, at the top of a drawing."""
    return {
        "fills": [{"colour": colour, "shape": shape} for colour, shape in map(_fill, range(len(classes)))],
        "legend": [
            {"y": EDGE + k * _LEGEND_ROW, "number": k, "text": shortened(name, _LEGEND_CELLS)}
            for k, name in enumerate(classes[:_CLASS_LEGEND])
        ],
        "unnamed": max(len(classes) - _CLASS_LEGEND, 0),
    }


def legend_height(classes: int) -> int:
    """Return where a drawing goes on below the legend of this many classes."""
    return EDGE + min(classes, _CLASS_LEGEND) * _LEGEND_ROW + EDGE


def shortened(text: str, cells: int) -> str:
    """Return a text that is not wider than this many columns of a terminal."""
    if cell_len(text) <= cells:
        return text
    while cell_len(text) >= cells:
        text = text[:-1]
    return f"{text}…"


def _fill(number: int) -> tuple[str, str]:
    """Return a class's colour and pattern: 49 pairs before one comes again."""
    kinds = len(COLOURS)
    return COLOURS[number % kinds], _SHAPES[(number + number // kinds) % kinds]


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
    span = max(high - low, 1e-9)
    return next(ticks for step in _steps(span) if len(ticks := _multiples(step, low, high)) <= _MOST_TICKS + 1)


def _steps(span: float) -> Iterator[float]:
    power = 10.0 ** floor(log10(span / _MOST_TICKS))
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = floor(low / step), max(ceil(high / step - 1e-9), floor(low / step) + 1)
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
    """Return a drawing of what two parties have found together, of sets of this many items at most."""
    if not found.has_counts:
        raise InputError("these sets have no counts to draw: print them by `cotally show`")
    return sets_svg(joint_title(found), sets_of(up_to(found, most_items)), float(found.threshold))
