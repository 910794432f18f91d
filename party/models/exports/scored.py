"""What an exported Python file runs: its source is written into the file, with that of what reads cells."""

import csv
import itertools
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from party.data.columns import label_of
from party.data.texts import plain_text
from protocols.learning.naive_bayes import GRAIN


def cell_place(column: Mapping[str, Any], row: Mapping[str, object]) -> int:
    """Return the place of a cell among its column's values, -1 for none."""
    cell = row[column["full"]] if column["full"] in row else row[column["name"]]
    text = "" if cell is None else plain_text(str(cell))
    values = tuple(column["values"])
    label = label_of(values, None if not text or text in column["marks"] else text, column["missing"])
    return -1 if label is None else values.index(label)


def classify(model: Mapping[str, Any], row: Mapping[str, object]) -> tuple[str | None, list[float] | None]:
    """Return the class of a row, or the consequent of the first rule that holds, and the classes' shares if known."""
    codes = [cell_place(column, row) for column in model["columns"]]
    if "rules" in model:
        holding = (told for first, told in model["rules"] if all(codes[column] == code for column, code in first))
        return next(holding, None), None
    if "nodes" not in model:
        return _by_bayes(model, codes)
    label, shares, column, children = model["nodes"][0]
    while column >= 0 and codes[column] >= 0:
        label, shares, column, children = model["nodes"][children[codes[column]]]
    return model["classes"][label], shares


def _by_bayes(model: Mapping[str, Any], codes: list[int]) -> tuple[str, list[float]]:
    rows = [column["logs"][code] for column, code in zip(model["columns"], codes, strict=True) if code >= 0]
    logs = [[-math.inf if each is None else each for each in row] for row in (model["prior"], *rows)]
    if math.isinf(max(map(sum, zip(*logs, strict=True)))):
        logs = logs[:1]  # no class is possible: the most common
    scores = [sum(of) for of in zip(*logs, strict=True)]
    grains = [sum(each if math.isinf(each) else round(each * GRAIN) for each in of) for of in zip(*logs, strict=True)]
    chances = [math.exp(score - max(scores)) for score in scores]
    return model["classes"][grains.index(max(grains))], [chance / sum(chances) for chance in chances]


def write_classes(model: Mapping[str, Any]) -> None:
    """Write the rows of a CSV file with their class, and the share of each class where it is known."""
    usage, words = f"usage: python {sys.argv[0]} rows.csv > classified.csv", sys.argv[1:]
    if {*words} & {"-h", "--help"}:
        needed = ", ".join(repr(column["name"]) for column in model["columns"])
        told = "Adds the model's answer to each row of a CSV file: UTF-8, commas, names in its first line."
        sys.stdout.write(f"{usage}\n\n{told}\nThe model reads the columns {needed}.\n")
        return
    if len(words) != 1:
        sys.exit(usage)
    try:
        with Path(words[0]).open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file)
    except (OSError, ValueError, csv.Error):
        sys.exit(f"{words[0]} cannot be read: name a file of CSV in UTF-8, with names in its first line")
    for column in model["columns"]:
        if not {column["name"], column["full"]} & {*header}:
            sys.exit(f"{words[0]} has no column {column['name']!r}: give it one")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [f"P({value})" for value in model["classes"]] if model["shares"] else []
    writer.writerow([*header, "prediction", *names])
    for row in filter(None, rows):
        cells = dict(itertools.zip_longest(header, row[: len(header)]))
        label, shares = classify(model, cells)
        writer.writerow([*cells.values(), label, *(f"{each:.6f}" for each in shares or ())])
