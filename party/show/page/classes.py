"""Classes in a drawing: a colour and a pattern for each, and their legend."""

from collections.abc import Sequence

from rich.cells import cell_len

EDGE = 8
_LEGEND, _LEGEND_ROW, _LEGEND_CELLS = 16, 20, 60
# Okabe and Ito's palette, which colour-blind people can tell apart, and patterns for who sees no colour at all.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#595959")
_SHAPES = ("", "M0 8L8 0", "M0 4H8", "M4 0V8", "M0 0L8 8", "M0 4H8M4 0V8", "M0 0L8 8M0 8L8 0")


def class_words(classes: Sequence[str]) -> dict[str, object]:
    """Return what the template `classes.svg` needs for the classes of these names, at the top of a drawing."""
    return {
        "fills": [{"colour": colour, "shape": shape} for colour, shape in map(_fill, range(len(classes)))],
        "legend": [
            {"y": EDGE + k * _LEGEND_ROW, "number": k, "text": shortened(name, _LEGEND_CELLS)}
            for k, name in enumerate(classes[:_LEGEND])
        ],
        "unnamed": max(len(classes) - _LEGEND, 0),
    }


def legend_height(classes: int) -> int:
    """Return where a drawing goes on below the legend of so many classes."""
    return EDGE + min(classes, _LEGEND) * _LEGEND_ROW + EDGE


def shortened(text: str, cells: int) -> str:
    """Return a text that is not wider than so many columns of a terminal."""
    if cell_len(text) <= cells:
        return text
    while cell_len(text) >= cells:
        text = text[:-1]
    return f"{text}…"


def _fill(number: int) -> tuple[str, str]:
    """Return a class's colour and pattern: 49 pairs before one comes again."""
    kinds = len(_COLOURS)
    return _COLOURS[number % kinds], _SHAPES[(number + number // kinds) % kinds]
