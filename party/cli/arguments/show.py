"""Print a model: as text, as a drawing in SVG, PNG or for Graphviz, or as JSON.

Of a tree the numbers in brackets are the records of each class, in the order of the first line; of naive Bayes the
tables are the chances of each value, given the class; supports of itemsets have intervals.

Examples:
  cotally show bob/model.json --levels 3
  cotally show bob/model.json --svg > tree.svg
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="model.json")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="for Graphviz: cotally show model.json --dot | dot -Tsvg")
    form.add_argument("--svg", action="store_true", help="as a drawing: cotally show model.json --svg > tree.svg")
    form.add_argument("--png", action="store_true", help="as an image: cotally show model.json --png > model.png")
    form.add_argument("--json", action="store_true", help="as JSON, checked and in its standard layout")
    parser.add_argument(
        "--levels", type=int, metavar="N", help="leave out what is deeper than N splits, or sets of more items"
    )
