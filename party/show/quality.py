"""How good a model is, in words, tables and for programs: whatever the records it was tried on."""

from collections.abc import Iterator, Sequence
from math import floor

from party.names import printable
from party.show.document import Grid, ScreenColumn, headed
from protocols.learning.model import Model, beats_in_training, only_class, training_table
from protocols.learning.quality import CurvePoint, Figure, ScoreTable
from protocols.learning.tree import TENTHS, Split, Tree, leaves_below

OPENED = "The tables below have noise of both sides: numbers need not add up, and may be below 0."


def figure_text(figure: Figure) -> str:
    """Return a share with its standard error.

    >>> figure_text(Figure(0.8421, 0.0093))
    '0.842 ± 0.009'
    """
    return f"{figure.value:.3f} ± {figure.error:.3f}"


def quality_lines(table: ScoreTable, classes: Sequence[str], tried: str) -> list[str]:
    """Say how good a model is by its table of the records that it was `tried` on, each figure with its error."""
    return [accuracy_line(table, tried), *ranking_lines(table, classes)]


def accuracy_line(table: ScoreTable, tried: str) -> str:
    accuracy, common = figure_text(table.accuracy()), figure_text(table.commonest())
    return f"Accuracy {accuracy} on {tried}; always saying the commonest class: {common}"


def ranking_lines(table: ScoreTable, classes: Sequence[str]) -> Iterator[str]:
    ranked = table.ranked
    name = printable(classes[ranked])
    if (auc := table.auc()) is not None and (ks := table.ks()) is not None:
        yield f"AUC {figure_text(auc)}, KS {figure_text(ks)}, ranking by how likely {name} is"
    recall, precision = table.recall(ranked), table.precision(ranked)
    if len(classes) > 1 and recall is None:
        yield f"Too few of these records are {name} to say how many of them the model finds"
    elif len(classes) > 1 and recall is not None:
        called = f"; of those whom it calls {name}, {figure_text(precision)} are" if precision else ""
        yield f"Of those who are {name}, the model finds {figure_text(recall)}{called}"


def confusion_grid(table: ScoreTable, classes: Sequence[str]) -> Grid:
    """Return how many of each class the model gives which; noise may make numbers negative."""
    columns = [ScreenColumn("Model says", is_text=True), *(ScreenColumn(f"is {printable(each)}") for each in classes)]
    rows = zip(classes, table.confusion.tolist(), strict=True)
    cells = [(printable(label), *(f"{number:,.0f}" for number in row)) for label, row in rows]
    return Grid(columns, cells, title="Confusion matrix", folds=len(classes) > _NARROW)


_NARROW = 6
_MOST_POINTS = 12
_SELECTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)


def shown_points(table: ScoreTable) -> list[CurvePoint]:
    """Return what thresholds select: all, or, of many scores, those that first reach some shares of the records."""
    points = [] if table.scores is None else table.curve()[1:]
    if len(points) <= _MOST_POINTS:
        return points
    firsts = (next(k for k, point in enumerate(points) if point.selected >= each - 1e-9) for each in _SELECTED)
    return [points[k] for k in sorted({*firsts})]


def score_grids(table: ScoreTable, classes: Sequence[str]) -> list[Grid]:
    return [confusion_grid(table, classes), *threshold_grids(table, classes)]


def threshold_grids(table: ScoreTable, classes: Sequence[str]) -> Iterator[Grid]:
    if not (points := shown_points(table)):
        return
    name = printable(classes[table.ranked])
    named = (ScreenColumn(f"Of {name}, found"), ScreenColumn(f"Of these, {name}"))
    heads = headed("Score of at least", "Selected", *named, "Lift:1")
    rows = [
        (
            f"{floor(1000 * point.least + 1e-6) / 1000:.3f}",  # rounded down: as a threshold it selects the same
            f"{point.selected:.1%}",
            f"{point.found:.1%}",
            f"{point.right:.1%}",
            f"{point.found / point.selected:.2f}" if point.selected else "-",
        )
        for point in points
    ]
    yield Grid(heads, rows, title="Thresholds")


def quality_json(table: ScoreTable, classes: Sequence[str]) -> dict[str, object]:
    confusion = dict(zip(classes, table.confusion.tolist(), strict=True))
    figures = {"accuracy": table.accuracy(), "commonest": table.commonest()}
    return {name: _figure_json(each) for name, each in figures.items()} | {"confusion": confusion}


def ranking_json(table: ScoreTable, classes: Sequence[str]) -> dict[str, object]:
    """Return for programs how good the scores of the ranked class are; null of what noise hides or nobody has."""
    ranked = table.ranked
    figures = {
        "auc": table.auc(),
        "ks": table.ks(),
        "recall": table.recall(ranked),
        "precision": table.precision(ranked),
    }
    content: dict[str, object] = {name: _figure_json(each) for name, each in figures.items()}
    return {"class": classes[ranked]} | content | {"thresholds": [each._asdict() for each in shown_points(table)]}


def _figure_json(figure: Figure | None) -> dict[str, object] | None:
    return None if figure is None else {"share": figure.value, "standard_error": figure.error}


def worth_lines(model: Model, beats: bool | None = None, table: ScoreTable | None = None) -> list[str]:
    """Say what its user must know: that one split decides, that it guesses, or ranks though its classes are a guess.

    `table` is of held-out records, if there is one, and `beats` what they say.
    """
    poor, lines = "no better than always guessing the commonest class", list[str]()
    if beats is False:
        lines.append(f"Within its error, the model is {poor}.")
    elif beats is None and beats_in_training(model) is False:
        lines.append(f"The model is {poor}, even on its training records.")
        table = table or training_table(model)
    if (label := only_class(model)) is not None:
        each = "Every leaf says" if isinstance(model, Tree) else "Whatever a record holds, the model says"
        lines.append(f"{each} {printable(model.schema.class_attribute.values[label])}.")
    return [*_perfect_lines(model, table), *lines, *(_ranks_lines(model, table) if lines else [])]


def _perfect_lines(model: Model, table: ScoreTable | None) -> list[str]:
    if (place := model.telling) is not None:
        whom = "every training record"
    elif (place := _deciding(model)) is None:
        return []
    elif table is not None and table.accuracy().value >= max(_PERFECT, 1 - table.accuracy().error):
        whom = "nearly every held-out record"
    elif isinstance(model, Tree) and all(max(leaf.tenths, default=0) == TENTHS for leaf in leaves_below(model.root)):
        whom = "nearly every training record"
    else:
        return []
    column = model.schema.attributes[place]
    line = f"{printable(f'{column.party}.{column.name}')} alone gives the class of {whom}"
    return [f"{line}. If it is the class under another name, or known only afterwards, list it under [data] ignore."]


def _deciding(model: Model) -> int | None:
    """Return the column of the root of a tree, if each of its branches has one class alone and there are several."""
    if not isinstance(model, Tree) or not isinstance(model.root, Split):
        return None
    labels = [{leaf.label for leaf in leaves_below(child)} for child in model.root.children]
    return model.root.attribute if all(len(each) == 1 for each in labels) and len(set.union(*labels)) > 1 else None


_PERFECT = 0.99


_SURE = 2
"""By how many of its errors an AUC must exceed one half."""


def _ranks_lines(model: Model, table: ScoreTable | None) -> list[str]:
    how = "`cotally predict --scores` ranks people by them, and `--threshold` gives other classes"
    if table is None:
        several = isinstance(model, Tree) and len({leaf.tenths for leaf in leaves_below(model.root)}) > 1
        return [f"Yet its leaves have different scores: {how}."] if several else []
    auc = None if table.scores is None else table.auc()
    if auc is None or auc.value - _SURE * auc.error <= 1 / 2:
        return []
    return [f"Yet its scores tell people apart (AUC {figure_text(auc)}): {how}."]


def worth_json(model: Model, beats: bool | None) -> dict[str, object]:
    label = only_class(model)
    return {
        "beats_guessing": beats,
        "only_class": None if label is None else model.schema.class_attribute.values[label],
    }
