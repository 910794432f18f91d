"""Classify the rows of a CSV or Parquet file and write them with one more column.

Columns are found by name, or by `party.name` where both parties have a column of that name; only those that the model
reads are needed: the splits of a tree, all columns of naive Bayes. Numbers fall into the bins of the model. A missing
cell counts as the value "missing" where the model has it, else as "other". A cell that the model does not know (never
seen in training, or missing where the model knows no missing value) gives its row the majority class of the node that
it reached; naive Bayes leaves it out. How many such cells each column has is told on the standard error; so is, if the
file has the class column, the accuracy over the rows whose class is given.

With --with PEER the first argument names this party, the file holds the ids and our own columns of the model, and the
peer, whose `cotally serve` offers rows of the same people, brings its own: neither side shows them to the other. What
was answered is kept: --answered in place of --with writes again which classes the peer has told for these people, as
after a crash, and at the side that served; it calls nobody.

Examples:
  cotally predict bob/model.json rows.csv -o classified.csv
  cotally predict bob --with alice rows.csv --probabilities
  cotally predict alice --answered new-rows.csv -o predictions.csv
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_form, add_json, add_overwrite, add_work
from protocols.jobs import Receiver

RECEIVERS = {"us": Receiver.INITIATOR, "peer": Receiver.RESPONDER, "both": Receiver.BOTH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="model.json; with --with this party: its folder, its party.toml, or its name",
    )
    parser.add_argument("rows", type=Path, metavar="rows.csv", help="CSV or Parquet; - for the standard input")
    parser.add_argument("-o", "--output", type=Path, metavar="out.csv", help="default: the standard output")
    parser.add_argument("--column", default="prediction", help="name of the new column (default: %(default)s)")
    parser.add_argument("--probabilities", action="store_true", help="add the share of each class, as P(class)")
    add_overwrite(parser)
    add_form(parser)
    _add_joint(parser)
    add_json(parser)


def _add_joint(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a prediction with a peer."""
    joint = parser.add_argument_group("with a peer")
    joint.add_argument("--with", dest="peer", metavar="PEER", help="the party that holds the other columns")
    joint.add_argument("--answered", action="store_true", help="write what the peer has answered before")
    joint.add_argument("--model", dest="tree", type=Path, help="the model (default: model.json in the party's folder)")
    joint.add_argument("--receiver", choices=RECEIVERS, default="us", help="who learns the classes (%(default)s)")
    add_work(parser)
