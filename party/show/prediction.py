"""What the reader of predicted classes should know, in words; no cell is shown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from party.data.numbers import doubles
from party.models.prediction import Predictions, RankedBy, Unknown
from party.names import printable
from party.node.aligning import Offer
from party.show.document import Document, PageSection, ReportPart
from party.show.notices import notice_text
from party.show.page.drawings import quality_drawings
from party.show.quality import accuracy_line, confusion_grid, quality_json, ranking_json, ranking_lines, threshold_grids
from protocols.two_party.prediction import Answers


def prediction_notes(predicted: Predictions, ranking: RankedBy | None = None) -> Iterator[ReportPart]:
    yield from map(notice_text, predicted.notices)
    yield from map(unknown_line, predicted.unknown)
    if ranking is not None and predicted.ranked is not None:
        name = printable(predicted.target.values[predicted.ranked])
        least = "" if ranking.threshold is None else f"; from {ranking.threshold:g} on a row is classified so"
        yield f"a row's score is the share of {name} where it ends{least}"
    if (found := predicted.quality) is None:
        return
    if not found.correct and not predicted.unknown:
        yield "every cell that was read is a value that the model knows"
    tried = f"{found.known:,} rows (rows trained on included), {found.correct:,} of them right"
    yield accuracy_line(found.table, tried)
    yield from ranking_lines(found.ranking, found.against)
    yield confusion_grid(found.table, predicted.target.values)
    yield from threshold_grids(found.ranking, found.against)


def prediction_page(predicted: Predictions, notes: Sequence[ReportPart]) -> Document:
    found, title = predicted.quality, printable(predicted.target.name)
    curves = () if found is None else quality_drawings(found.ranking, found.against)
    return Document(f"Prediction of {title}", [PageSection("quality", "How good it is", [*notes, *curves])])


def formula_notes(classes: Sequence[str]) -> Iterator[str]:
    """Yield a note where a class, which the other party may have named, is a formula to a spreadsheet."""
    found = next((each for each in classes if each[:1] in {*"=+-@"} and doubles([each]) is None), None)
    if found is not None:
        yield f"the class {printable(found)!r} is a formula to a spreadsheet: open the table there as text"


def joint_notes(offer: Offer, answers: Answers | None, output: Path | None) -> Iterator[str]:
    yield from map(unknown_line, offer.unknown)
    rows = len(offer.order)
    if answers is None:
        unwritten = "" if output is None else f", so {output} is not written"
        learned = f"The other party has learned the classes of {rows} rows"
        yield f"{learned}; we have learned none, as it asked (--receiver){unwritten}"
        return
    if rows < len(offer.frame):
        left, whole = len(offer.frame) - rows, len(offer.frame)
        yield f"{left} of {whole} rows have no class: the other party has not answered for them"
    if answers.remembered:
        yield (
            f"{answers.remembered} of {rows} rows were answered before, and come from memory: a person is asked about "
            "once per model, whatever the columns are now"
        )


def other_model_lines(written: Path, offered: Path) -> list[str]:
    if written == offered:
        return []
    return [f'Joint predictions use {offered}: to use this one, set [predict] model = "{written.name}"']


def unknown_line(column: Unknown) -> str:
    found = [f"{column.cells} of {column.rows} cells hold no value that the model knows"] if column.cells else []
    if column.alike:
        found.append(f"{column.alike} differ from one only by case, blanks or the way a number is written")
    cells, sign = column.commas
    if cells:
        found.append(f'{cells} are numbers if "{sign}" is the decimal sign: use --decimal "{sign}"')
    return f"column {printable(column.column)!r}: {'; '.join(found)}"


def classes_written(path: Path, rows: int, *, replaced: bool) -> str:
    return f"{'Replaced' if replaced else 'Wrote'} {path}: {rows} rows"


def prediction_json(predicted: Predictions, output: Path) -> dict[str, object]:
    found = predicted.quality
    right = {"correct": found and found.correct, "known": found and found.known}
    quality = None if found is None else quality_json(found.table, predicted.target.values)
    ranking = None if found is None else ranking_json(found.ranking, found.against)
    rows = _rows_json(len(predicted.labels), output, predicted.unknown)
    return rows | right | {"quality": quality, "ranking": ranking}


def joint_json(offer: Offer, answers: Answers | None, output: Path) -> dict[str, object]:
    rows = _rows_json(len(offer.frame), output if answers else None, offer.unknown)
    return rows | {"common": len(offer.order), "remembered": answers.remembered if answers else None}


def _rows_json(rows: int, output: Path | None, unknown: Sequence[Unknown]) -> dict[str, object]:
    cells = [{"column": each.column, "cells": each.cells, "rows": each.rows} for each in unknown if each.cells]
    return {"format": "cotally-prediction/1", "rows": rows, "output": output, "unknown": cells}
