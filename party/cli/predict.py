"""Classify the rows of a CSV or Parquet file and write them with one more column.

Columns are found by name, or by `party.name` where both parties have a column of that name; only those that the model
reads are needed: the splits of a tree, all columns of naive Bayes. Numbers fall into the bins of the model. A missing
cell counts as the value "missing" where the model has it, else as "other". A cell that the model does not know (never
seen in training, or missing where the model knows no missing value) gives its row the majority class of the node that
it reached; naive Bayes leaves it out. How many such cells each column has is told on the standard error; so is, if the
file has the class column, the accuracy over the rows whose class is given.

With --with PEER the first argument is PARTY.toml, the file holds the ids and our own columns of the tree, and the peer,
whose `cotally serve` offers rows of the same people, brings its own: neither side shows them to the other.
"""

import argparse
from pathlib import Path

from party.cli.arguments import add_form, form
from party.cli.classified import Classified, check_written, write_classified
from party.cli.predict_with import add_joint, predict_with
from party.data import read_frame
from party.models.any_file import read_model
from party.models.prediction import predict_frame
from party.show.notices import tell
from party.show.prediction import prediction_notes
from protocols.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="MODEL.json", help="or PARTY.toml, with --with")
    parser.add_argument("rows", type=Path, metavar="rows.csv", help="CSV or Parquet; - for the standard input")
    parser.add_argument("-o", "--output", type=Path, metavar="out.csv", help="default: the standard output")
    parser.add_argument("--column", default="prediction", help="name of the new column (default: %(default)s)")
    parser.add_argument("--probabilities", action="store_true", help="add the share of each class, as P(class)")
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier result")
    add_form(parser)
    add_joint(parser)


def run(arguments: argparse.Namespace) -> int:
    """Classify and write."""
    if arguments.peer is not None:
        return predict_with(arguments)
    if arguments.tree is not None:
        raise InputError("--model: names the tree of a joint prediction; without --with give it as the first argument")
    if arguments.model.suffix == ".toml":
        raise InputError(f"{arguments.model} holds settings: add --with PEER, or give a model, such as model.json")
    model = read_model(arguments.model)
    frame = read_frame(arguments.rows, form(arguments))
    tell(frame.notices)
    check_written(arguments, frame, model.schema.class_attribute, (arguments.model, arguments.rows))
    predictions = predict_frame(model, frame, probabilities=arguments.probabilities)
    classified = Classified(frame, model.schema.class_attribute, predictions.labels, predictions.shares)
    write_classified(arguments.output, arguments.column, classified, list(prediction_notes(predictions)))
    return 0
