"""Classify the rows of a CSV or Parquet file and write them with one more column.

Columns are found by name, or by `party.name` where both parties have a column of that name; only those that the model
reads are needed: the splits of a tree, all columns of naive Bayes. Numbers fall into the bins of the model. A missing
cell counts as the value "missing" where the model has it, else as "other". A cell that the model does not know (never
seen in training, or missing where the model knows no missing value) gives its row the majority class of the node that
it reached; naive Bayes leaves it out. How many such cells each column has is told on the standard error; so is, if the
file has the class column, the accuracy over the rows whose class is given.
"""

import argparse
import sys
from pathlib import Path

from party.cli.arguments import add_form, form
from party.data import csv_text, has_columns, name_flaw, read_frame
from party.errors import DataError
from party.files import check_target, is_there, write_atomically
from party.models.any_file import read_model
from party.models.prediction import predict_frame
from party.show.notices import tell
from party.show.prediction import classes_written, prediction_notes
from party.show.screen import say_all
from protocols.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="model.json")
    parser.add_argument("rows", type=Path, metavar="rows.csv", help="CSV or Parquet; - for the standard input")
    parser.add_argument("-o", "--output", type=Path, metavar="out.csv", help="default: the standard output")
    parser.add_argument("--column", default="prediction", help="name of the new column (default: %(default)s)")
    add_form(parser)


def run(arguments: argparse.Namespace) -> int:
    """Classify and write."""
    flaw = name_flaw(arguments.column)
    if flaw is not None:
        raise InputError(f"--column: the name {flaw}")
    model = read_model(arguments.model)
    frame = read_frame(arguments.rows, form(arguments))
    tell(frame.notices)
    if arguments.column in frame.columns:
        raise DataError(
            "the file has a column of this name already: choose another with --column",
            path=arguments.rows,
            column=arguments.column,
        )
    columns = (*frame.columns, arguments.column)
    if arguments.output is not None:
        check_target(arguments.output, (arguments.model, arguments.rows), lambda path: has_columns(path, columns))
    predictions = predict_frame(model, frame)
    text = csv_text(columns, zip(*frame.cells, predictions.labels, strict=True))
    notes = prediction_notes(predictions)
    if arguments.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()  # what cannot be written has nothing to be said about
        say_all(notes, sys.stderr)
    else:
        replaced = is_there(arguments.output)
        write_atomically(arguments.output, text)
        say_all([*notes, classes_written(arguments.output, len(frame), replaced=replaced)], sys.stderr)
    return 0
