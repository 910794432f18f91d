"""What the reader of predicted classes should know, in words; no cell is shown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from party.models.prediction import Predictions, Unknown
from party.names import printable
from party.node.aligning import Offer
from party.show.notices import notice_text
from protocols.two_party.prediction import Answers


def prediction_notes(predicted: Predictions) -> Iterator[str]:
    """Yield how cells were read, which hold no value that the model knows, and the accuracy where it is known."""
    yield from map(notice_text, predicted.notices)
    yield from map(_unknown, predicted.unknown)
    if not predicted.known:
        return
    if not predicted.correct and not predicted.unknown:
        yield "every cell that was read is a value that the model knows"
    share = (predicted.correct or 0) / predicted.known
    yield f"accuracy {share:.4f}: {predicted.correct} of {predicted.known} rows (rows trained on included)"


def joint_notes(offer: Offer, answers: Answers | None, output: Path | None) -> Iterator[str]:
    """Yield what there is to say of a joint prediction: what our cells were, who learned, what came from memory."""
    yield from map(_unknown, offer.unknown)
    rows = len(offer.order)
    if answers is None:
        unwritten = "" if output is None else f", and {output} is not written"
        yield f"The other party has learned the classes of {rows} rows; nothing was revealed here{unwritten}"
        return
    if rows < len(offer.frame):
        left, whole = len(offer.frame) - rows, len(offer.frame)
        yield f"{left} of {whole} rows have no class: the other party has not answered for them"
    if answers.remembered:
        yield (
            f"{answers.remembered} of {rows} rows were answered before, and come from memory: a person is asked for "
            "once per model, whatever the columns are now"
        )


def other_model_lines(written: Path, offered: Path) -> list[str]:
    """Say what lets joint predictions use the model that `serve` has just written, where they would use another."""
    if written == offered:
        return []
    return [f'Joint predictions use {offered}: for this one say [predict] model = "{written.name}"']


def unknown_lines(columns: Sequence[Unknown]) -> list[str]:
    return [*map(_unknown, columns)]


def _unknown(column: Unknown) -> str:
    told = [f"{column.cells} of {column.rows} cells hold no value that the model knows"] if column.cells else []
    if column.alike:
        told.append(f"{column.alike} differ from one only by case, blanks or the way a number is written")
    cells, sign = column.commas
    if cells:
        told.append(f'{cells} are numbers if "{sign}" begins a fraction: say so by --decimal "{sign}"')
    return f"column {printable(column.column)!r}: {'; '.join(told)}"


def classes_written(path: Path, rows: int, *, replaced: bool) -> str:
    return f"{'Replaced' if replaced else 'Wrote'} {path}: {rows} rows"


def prediction_json(predicted: Predictions, output: Path) -> dict[str, object]:
    """Return for programs what became of the rows of a file: where they are now, and how many classes are right."""
    right = {"correct": predicted.correct, "known": predicted.known}
    return _rows_json(len(predicted.labels), output, predicted.unknown) | right


def joint_json(offer: Offer, answers: Answers | None, output: Path) -> dict[str, object]:
    """Return for programs what became of rows whose other columns a peer has; None of what we did not learn."""
    rows = _rows_json(len(offer.frame), output if answers else None, offer.unknown)
    return rows | {"common": len(offer.order), "remembered": answers.remembered if answers else None}


def _rows_json(rows: int, output: Path | None, unknown: Sequence[Unknown]) -> dict[str, object]:
    cells = [{"column": each.column, "cells": each.cells, "rows": each.rows} for each in unknown if each.cells]
    return {"format": "cotally-prediction/1", "rows": rows, "output": output, "unknown": cells}
