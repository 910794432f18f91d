"""Models, and the reports about them."""

import argparse
from pathlib import Path

from party.cli.arguments import add_each, add_form, add_json, add_more_answers, add_overwrite, add_work
from protocols.jobs import Receiver


def declare_show(parser: argparse.ArgumentParser) -> None:
    """Print a model: as text, as a drawing in SVG, PNG or for Graphviz, or as JSON.

    Of a tree the brackets hold, in the order of the first line, each class's share of the leaf in tenths or, where
    counts were revealed, its records. Of naive Bayes the tables hold the chance of each value, given the class.
    Supports of itemsets have intervals.

    Examples:
      cotally show bob/model.json --levels 3
      cotally show bob/model.json --svg > tree.svg
    """
    add = parser.add_argument
    add("model", type=Path, metavar="model.json")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="for Graphviz: cotally show model.json --dot | dot -Tsvg")
    form.add_argument("--svg", action="store_true", help="as a drawing: cotally show model.json --svg > tree.svg")
    form.add_argument("--png", action="store_true", help="as an image: cotally show model.json --png > model.png")
    form.add_argument("--json", action="store_true", help="as JSON, checked and in its standard layout")
    add("--levels", type=int, metavar="N", help="leave out what is deeper than N splits, or sets of more items")


EXPORTS = ("sql", "pmml", "python", "json-schema")


def declare_export(parser: argparse.ArgumentParser) -> None:
    """Write a model for other programs, which then give rows the classes that `predict` gives them.

    Rows have the columns of both parties that the model reads: by their names, or as party.name where both have one of
    that name. With rules, a row gets the consequent of the most confident one that applies.

    sql: one expression, as in SELECT id, (...) FROM rows, null for the odd cells that its first lines list; --ranked
    CLASS gives the share of that class. pmml: PMML 4.4. python: one file without packages: python file.py rows.csv.
    json-schema: what the model's file may hold.

    Examples:
      cotally export bob/model.json --as sql
      cotally export bob/model.json --as python -o score.py
    """
    add = parser.add_argument
    add("model", type=Path, metavar="model.json")
    add("--as", dest="way", required=True, choices=EXPORTS, help="what to write")
    add("--ranked", metavar="CLASS", help="sql: the share of this class, in place of the class")
    add("-o", "--output", type=Path, metavar="FILE", help="default: the standard output")
    add_overwrite(parser)


def declare_rules(parser: argparse.ArgumentParser) -> None:
    """List the association rules that two parties have found together, or the frequent itemsets.

    Supports and confidences are exact unless they are marked: an estimate has an error, and "(?)" where its
    interval holds the threshold. Of a run with reveal = "sets" these are the rules that reach its
    min_threshold, without numbers.

    Examples:
      cotally rules bob/model.json --metric lift --min-threshold 1.2
      cotally rules bob/model.json --itemsets -o itemsets.csv
    """
    add = parser.add_argument
    add("model", type=Path, metavar="model.json", help="what a run with learner = rules has written")
    add("--itemsets", action="store_true", help="the frequent itemsets in place of rules")
    add("--metric", metavar="NAME", help="confidence if not given, or lift and others")
    add("--min-threshold", metavar="T", help="of that metric, 4/5 if not given")
    add("-o", "--output", type=Path, metavar="rules.csv", help="a file for all of them")
    add_overwrite(parser)
    add_json(parser)


def declare_report(parser: argparse.ArgumentParser) -> None:
    """Write a finished run, a survey or disguised baskets as one HTML file, or as Markdown if its name ends in .md.

    Of a run: the model drawn, what it is worth, what each side learned, how to compare it, and no cell of a table. It
    has the costs of the run if `--costs` names the report that `train --report` wrote, or if that is report.json beside
    the settings.

    Of a survey: shares of all columns with intervals, what was learned, what a response discloses, before and after
    mining and to an insider who knows personal answers, and an audit of the sampler. Of baskets: supports with
    intervals, itemsets and rules, breaches, the audit. The HTML file needs no other file and runs no script.

    Examples:
      cotally report bob -o report.html
      cotally report bob --levels 3 -o report.md
      cotally report bob --card -o card.md
      cotally report disguised.csv design.toml -o survey.html --ask 'smoker = yes and sex = f'
    """
    add = parser.add_argument
    said = "of a run, this party: its folder, its party.toml, or its name; of a survey, the disguised answers"
    add("party", type=Path, metavar="PARTY|disguised.csv", help=said)
    add("design", type=Path, nargs="?", metavar="design.toml", help="what was asked and how it was disguised")
    add("-o", "--output", type=Path, required=True, metavar="report.html", help="where the page goes; .md for Markdown")
    add("--model", type=Path, help="the model (default: model.json of the party), or what was mined")
    add("--costs", type=Path, metavar="report.json", help="what the run cost, as `train --report` wrote it (runs only)")
    add("--card", action="store_true", help="write a model card, for those who will use the model (runs only)")
    add("--levels", type=int, metavar="N", help="draw N levels of a tree, or sets of N items at most")
    add_overwrite(parser)
    _add_survey(parser)


def _add_survey(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    said = "estimate this too, such as 'smoker = yes and sex = f'; of baskets, items: 'bread, milk'"
    add_each(parser, "--ask", said, metavar="EXPRESSION")
    add("--confidence", type=float, metavar="C", help="confidence of the intervals, 0.95 if not given")
    add("--min-support", metavar="S", help="look for itemsets and rules of this support, such as 1/100")
    add("--max-len", type=int, metavar="N", help="the most items of a set")
    add("--min-threshold", metavar="T", help="least confidence of a rule, 4/5 if not given")
    add("--shift", metavar="S", help="shift of theta that the audit must catch, 1/20 if not given; larger is faster")
    add_more_answers(parser)
    add_form(parser)


RECEIVERS = {"us": Receiver.INITIATOR, "peer": Receiver.RESPONDER, "both": Receiver.BOTH}


def declare_predict(parser: argparse.ArgumentParser) -> None:
    """Classify the rows of a CSV or Parquet file and write them with one more column.

    Columns are found by name, or by `party.name` where both parties have a column of that name; only those that the
    model reads are needed: the splits of a tree, all columns of naive Bayes. Numbers fall into the bins of the model.
    A missing cell counts as the value "missing" where the model has it, else as "other". A cell that the model does
    not know (never seen in training, or missing where the model knows no missing value) gives its row the majority
    class of the node that it reached; naive Bayes leaves it out. A line counts such cells per column. If the file has
    the class, further lines show how good the classes and scores are on the rows that have one (rows trained on
    included, on which any model looks better than it is).

    The score of a row is the share of one class where it ends: the rarer of two as far as the model knows, or the one
    that --ranked names; a model of labels alone has no scores. With --threshold a row of this score or more gets that
    class, and another row the likeliest other.

    With --with PEER both parties classify people together, and neither shows its columns to the other. The first
    argument names this party, the file holds the ids and our own columns of the model, and the peer's `cotally serve`
    brings the others. Answers are kept: --answered in place of --with writes them again, as after a crash or at the
    side that served, and calls nobody.

    Examples:
      cotally predict bob/model.json rows.csv -o classified.csv
      cotally predict bob/model.json rows.csv --scores --threshold 0.2 -o ranked.csv
      cotally predict bob --with alice rows.csv --probabilities
      cotally predict alice --answered new-rows.csv -o predictions.csv
    """
    add = parser.add_argument
    said = "model.json; with --with this party: its folder, its party.toml, or its name"
    add("model", type=Path, metavar="MODEL", help=said)
    add("rows", type=Path, metavar="rows.csv", help="CSV or Parquet; - for the standard input")
    add("-o", "--output", type=Path, metavar="out.csv", help="default: the standard output")
    add("--column", default="prediction", help="name of the new column (default: %(default)s)")
    add("--probabilities", action="store_true", help="add the share of each class, as P(class)")
    add("--scores", action="store_true", help="add the share of the ranked class, and each row's rank")
    add("--threshold", metavar="X", help="give the ranked class to rows of this score or more")
    add("--ranked", metavar="CLASS", help="the class that rows are ranked by (default: the rarer of two)")
    add("--report", type=Path, metavar="FILE", help="write how good it is on rows with the class: .html or .md")
    add_overwrite(parser)
    add_form(parser)
    joint = parser.add_argument_group("with a peer")
    joint.add_argument("--with", dest="peer", metavar="PEER", help="the party that holds the other columns")
    joint.add_argument("--answered", action="store_true", help="write what the peer has answered before")
    joint.add_argument("--model", dest="tree", type=Path, help="the model (default: model.json in the party's folder)")
    joint.add_argument("--receiver", choices=RECEIVERS, default="us", help="who learns the classes (%(default)s)")
    add_work(parser)
    add_json(parser)
