"""One collector: designs, disguised answers, estimates and surveys."""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from party.cli.arguments import (
    OF_SETS,
    add_confidence,
    add_design,
    add_disguised,
    add_each,
    add_form,
    add_json,
    add_more_answers,
    add_overwrite,
)
from party.cli.parsing import add_loudness
from protocols.privacy.chernoff import DEFAULT_GOAL
from protocols.terms import PRUNING_SHARE, Impurity


def declare_privacy(parser: argparse.ArgumentParser) -> None:
    """Print what a design discloses: beliefs after a response, losses, certain relations, secret bits.

    A short report by default; `--full` shows what every response makes likely, and of every group what its
    responses do.

    The figures depend on what is known beforehand: all values equally likely, or with `--prior` the distribution
    that disguised answers suggest (estimated, negative shares set to 0 and the rest rescaled). With `--model`, a
    tree or naive Bayes that was mined, what its rules leave of the privacy of the class is printed too. How many whole
    records a collector reads is shown of a pilot table of true answers (`--pilot`), or estimated from disguised
    answers (`--prior`).

    Examples:
      cotally privacy design.toml
      cotally privacy design.toml --pilot true.csv
      cotally privacy design.toml --prior disguised.csv --model model.json --full
    """
    add = parser.add_argument
    add_design(parser)
    add("--prior", type=Path, metavar="disguised.csv", help="estimate from these answers what is likely beforehand")
    add("--pilot", type=Path, metavar="true.csv", help="show how many of these true records a collector would read")
    add("--model", type=Path, metavar="model.json", help="mined: show the privacy after mining too")
    add("--full", action="store_true", help="print everything that was found")
    add_json(parser)


def declare_audit(parser: argparse.ArgumentParser) -> None:
    """Check that answers are disguised as the design declares: run the shipped sampler many times, and count.

    It needs no data: a few records are disguised again and again, with fresh secret coins made like those of
    `cotally disguise`, and the responses are held against their declared chances. Exit code 0 if all fit, 1 if not.
    Several designs, whose answers will be combined, share one false-alarm rate.

    Examples:
      cotally audit design.toml
      cotally audit design.toml --shift 1/10 --power 0.9
    """
    add = parser.add_argument
    add_design(parser)
    add_each(parser, "--and", "a further design", dest="more", type=Path, metavar="design.toml")
    said = "shift of theta, or of the chance to show an item, to be caught (default: %(default)s)"
    add("--shift", default=str(DEFAULT_GOAL.shift), metavar="S", help=said)
    add("--alarm", type=float, default=DEFAULT_GOAL.alarm, metavar="P", help="false-alarm rate (default: %(default)s)")
    add(
        "--power", type=float, default=DEFAULT_GOAL.power, metavar="P", help="chance to catch it (default: %(default)s)"
    )
    add_json(parser)


def declare_size(parser: argparse.ArgumentParser) -> None:
    """Say how many respondents a survey needs, before there are any: for intervals of a wanted half-width.

    With --expression it plans for that share's interval. Without it, for every share that naive Bayes, or a tree of
    the given depth, may use; of a design without a class, for the share of any answer. The number is always
    sufficient, and may be generous.

    Examples:
      cotally size design.toml --half-width 0.02
      cotally size design.toml --expression 'smoker = yes' --half-width 0.02 --share 0.3
    """
    add_design(parser)
    said = "such as 'smoker = yes and sex = f', of baskets 'bread, milk'"
    add_each(parser, "--expression", said, metavar="EXPRESSION")
    parser.add_argument("--half-width", required=True, metavar="W", help="half-width of the intervals, such as 0.02")
    add_confidence(parser, "confidence that all intervals hold")
    parser.add_argument("--share", metavar="P", help="rough share of an expression, if known (default: the worst case)")
    parser.add_argument("--depth", type=int, default=3, metavar="N", help="depth of the tree (default: %(default)s)")
    add_json(parser)


def declare_advise(parser: argparse.ArgumentParser) -> None:
    """Show which theta keeps a receiver's belief below a bound, for columns of a job or questions of a survey.

    Belief, odds and theta follow from each other; name one of them. With `--records` the half-width of the share that
    is estimated is shown, with `--half-width` how many records it takes. All of it is by formulas, without data.

    Examples:
      cotally advise job --belief 2/3
      cotally advise job --odds 2 --records 5000
      cotally advise survey --belief 0.6 --share 0.1 --half-width 0.02
    """
    add = parser.add_argument
    add("what", choices=("job", "survey"), help="columns that a job disguises, or questions of a survey")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--belief", metavar="B", help="what a receiver may believe of one person at most, such as 2/3")
    wanted.add_argument("--odds", metavar="G", help="of a value sent truly against any one other, such as 2")
    wanted.add_argument("--theta", metavar="T", help="chance that a two-valued column is sent truly, such as 2/3")
    add("--share", default="1/2", metavar="P", help="share of those who have the value (default: %(default)s)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--records", type=int, metavar="N", help="show the half-width of the share from N records")
    size.add_argument("--half-width", metavar="W", help="show how many records a half-width takes, such as 0.02")
    add_confidence(parser, "of the interval")
    add_json(parser)


class _Example(argparse.Action):
    """Write the example and end, as `--help` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, option_string
        import_module("party.cli.collector").give_example(Path(str(values)))
        parser.exit()


def declare_disguise(parser: argparse.ArgumentParser) -> None:
    """Disguise a table of true answers as a design declares: what may then be given to a collector.

    The secret file is made on first use and belongs to one data set in one disguise: the same call gives the same copy
    again, byte for byte; another design or other data under the same secret are refused, since two copies together show
    more than either. Keep it, and keep a backup. Columns that the design does not name are left out.

    Examples:
      cotally disguise --example survey
      cotally disguise survey/data.csv survey/design.toml -o disguised.csv --secret survey.key
    """
    add = parser.add_argument
    add("data", type=Path, metavar="data.csv", help="true answers, or baskets; - for the standard input")
    add_design(parser)
    add_form(parser)
    add("-o", "--output", type=Path, required=True, metavar="disguised.csv", help="the copy; or .parquet, or .csv.gz")
    add_overwrite(parser)
    add("--secret", type=Path, required=True, metavar="FILE", help="made on first use; keep it secret")
    add("--dataset", metavar="NAME", help="noted in a new secret file (default: the data file's name)")
    said = "unrelated question: the personal answers, by the same ids (default: drawn as the design says)"
    add("--personal", type=Path, metavar="personal.csv", help=said)
    add("--example", action=_Example, metavar="DIR", help="write an example to try, and exit")
    add_json(parser)


def declare_estimate(parser: argparse.ArgumentParser) -> None:
    """Estimate counts and shares from disguised answers, with standard errors and intervals.

    An expression is a conjunction: `smoker = yes and age = "> 40"`. The error of a count is that of the coins, the
    respondents being who they are; the error and the interval of a share are those of respondents drawn from a
    population. Several files of answers, each with a design of its own, are combined by `--and`, each weighed by
    its precision. Of baskets one asks for itemsets; the errors of their supports are those of the coins.

    Examples:
      cotally estimate disguised.csv design.toml 'smoker = yes' 'smoker = yes and sex = f'
      cotally estimate baskets.csv.gz shop.toml 'bread, milk'
    """
    add_disguised(parser)
    add_design(parser)
    said = "such as 'smoker = yes and sex = f'; of baskets, items: 'bread, milk'"
    parser.add_argument("expressions", nargs="+", metavar="EXPRESSION", help=said)
    add_confidence(parser, "confidence of the intervals")
    said = "also show the most likely joint distribution of an expression's columns"
    parser.add_argument("--likelihood", action="store_true", help=said)
    add_more_answers(parser)
    said = "answers of other respondents and their design, such as an arm that was asked directly: show differences"
    parser.add_argument("--against", nargs=2, type=Path, metavar="FILE", help=said)
    add_json(parser)


def declare_mine(parser: argparse.ArgumentParser) -> None:
    """Learn a decision tree or naive Bayes from disguised answers, and estimate how good it is.

    Counts in brackets are estimates. A split marked "(?)" may be chance, or lead its runner-up by chance:
    with other respondents, or other coins, another attribute might stand there.

    Examples:
      cotally mine tree disguised.csv design.toml --test 1/5 -o model.json
      cotally mine rules baskets.csv.gz shop.toml --min-support 1/100 -o rules.csv
    """
    said = "a decision tree (ID3), naive Bayes, frequent itemsets or association rules; of baskets the last two"
    parser.add_argument("learner", choices=("tree", "bayes", *OF_SETS), help=said)
    add_disguised(parser)
    add_design(parser)
    said = "a new file: model.json for `show` and `predict`, or rules.csv"
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=said)
    add_overwrite(parser)
    add_more_answers(parser, " (tree and bayes)")
    _add_learning(parser)
    parser.add_argument("--min-support", metavar="S", help="such as 1/100 (itemsets and rules, and needed)")
    parser.add_argument("--max-len", type=int, metavar="N", help="the most items of a set (itemsets and rules)")
    parser.add_argument("--metric", metavar="NAME", help="of rules, confidence if not given, or lift and others")
    parser.add_argument("--min-threshold", metavar="T", help="of that metric, 0.8 if not given (rules only)")
    parser.add_argument("--levels", type=int, metavar="N", help="print no more than N levels of the tree")
    add_json(parser)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--test", default="0", metavar="SHARE", help="hold out this share, such as 1/5, for testing")
    add("--seed", type=int, default=0, metavar="N", help="seed of the public split (default: %(default)s)")
    add("--prune", action="store_true", help=f"hold out {PRUNING_SHARE} more and prune the tree by it (tree only)")
    add("--smoothing", type=float, metavar="S", help="added to each estimated count; 1 if not given (bayes only)")
    add("--max-depth", metavar="D", help='most splits of a path, or "any" (tree alone; default: any)')
    add("--min-leaf", type=int, metavar="N", help="fewest records of a leaf, as estimated, 1 if not given (tree alone)")
    add(
        "--impurity", choices=Impurity.names(), help="what splits are chosen by (tree alone; default: information_gain)"
    )


def declare_survey(parser: argparse.ArgumentParser) -> None:
    """Ask people in their browser: the coin is tossed on their side, and this side gets disguised answers alone.

    `new` writes survey.toml and design.toml from a table's columns or from questions. `links` makes one-time links.
    `serve` is the server, until it is stopped. `status` shows how many have answered, `results` what they say so
    far. `close` ends the survey and permanently unlinks the codes from the answers. `publish` ends the answering, and
    lets respondents test a model on their personal answers (`[round_two]`). `export` writes the answers as `estimate`,
    `mine` and `audit` read them. `page` writes the pages as they are served, to be read or printed. `texts` prints all
    their texts.

    Exit codes: 0 done, 1 a fault of ours, 2 bad input or a store that cannot be used; 130 interrupted; a
    `serve` that is stopped ends with 130 (Ctrl-C) or 143 (SIGTERM).

    Examples:
      cotally survey new study --question 'Do you smoke? = yes, no'
      cotally survey links study/survey.toml --number 100 -o links.csv
      cotally survey serve study/survey.toml
      cotally survey export study/survey.toml -o disguised.csv
      cotally estimate disguised.csv study/design.toml 'q1 = yes'
    """
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")

    def action(name: str, *, help: str) -> argparse.ArgumentParser:  # noqa: A002
        told, examples = _action_help(name, help)
        declared = actions.add_parser(
            name, help=help, description=told, epilog=examples, formatter_class=parser.formatter_class
        )
        add_loudness(declared)
        return declared

    _declare_new(action("new", help="write survey.toml and design.toml"))
    add = _with_settings(action("links", help="make one-time links")).add_argument
    add("--number", type=int, required=True, metavar="N", help="how many")
    add("-o", "--output", type=Path, required=True, metavar="links.csv", help="a new file, to be secret")
    _with_settings(action("serve", help="serve the page and take answers"))
    add_json(_with_settings(action("status", help="show how many have answered")))
    _with_settings(action("close", help="close the survey for good"))
    export = _with_settings(action("export", help="write the disguised answers"))
    output = "-o", "--output"
    export.add_argument(*output, type=Path, required=True, metavar="disguised.csv", help="the answers; or .parquet")
    add_overwrite(export)
    _declare_results(_with_settings(action("results", help="show what the answers say so far")))
    publish = _with_settings(action("publish", help="let respondents test a model on their personal answers"))
    add = publish.add_argument
    add("model", type=Path, metavar="model.json", help="a tree or naive Bayes, mined from its answers")
    add("disguised", type=Path, metavar="disguised.csv", help="the answers that it was mined from")
    add("--test", required=True, metavar="SHARE", help="what `mine` held out, such as 1/5")
    add("--seed", type=int, default=0, metavar="N", help="of `mine` (default: %(default)s)")
    page = _with_settings(action("page", help="write the pages as files"))
    page.add_argument(*output, type=Path, required=True, metavar="DIR", help="a folder that is there")
    add_overwrite(page)
    _with_settings(action("texts", help="print every text of the pages"))


_EXITS: Final = "Exit codes: 0 done, 1 a fault of ours, 2 bad input or a store that cannot be used, 130 interrupted."
_EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "new": (
        "cotally survey new study --question 'Do you smoke? = yes, no' --theta 4/5",
        "cotally survey new study --table members.csv --column age --column sex",
    ),
    "links": ("cotally survey links study/survey.toml --number 100 -o links.csv",),
    "serve": ("cotally survey serve study/survey.toml",),
    "status": ("cotally survey status study/survey.toml --json",),
    "close": ("cotally survey close study/survey.toml",),
    "export": ("cotally survey export study/survey.toml -o disguised.csv",),
    "results": (
        "cotally survey results study/survey.toml --cross q1 q2",
        "cotally survey results study/survey.toml --serve --every 30",
    ),
    "publish": ("cotally survey publish study/survey.toml model.json disguised.csv --test 1/5",),
    "page": ("cotally survey page study/survey.toml -o pages",),
    "texts": ("cotally survey texts study/survey.toml > texts.toml",),
}
_NEXT: Final[Mapping[str, str]] = {
    "new": "cotally survey links DIR/survey.toml --number 100 -o links.csv",
    "links": "cotally survey serve survey.toml",
    "serve": "cotally survey results survey.toml",
    "status": "cotally survey results survey.toml",
    "results": "cotally survey close survey.toml",
    "close": "cotally survey export survey.toml -o disguised.csv",
    "export": "cotally mine tree disguised.csv design.toml --test 1/5 -o model.json",
    "publish": "cotally survey results survey.toml",
}


def _action_help(name: str, summary: str) -> tuple[str, str]:
    """Return what an action does, what comes after it and how it ends; and examples of it."""
    following = [f"Next:\n  {_NEXT[name]}"] if name in _NEXT else []
    examples = [f"  {example}" for example in _EXAMPLES[name]]
    told = [f"{summary[0].upper()}{summary[1:]}.", *following, _EXITS]
    return "\n\n".join(told), "\n".join(["Examples:", *examples])


def _with_settings(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("settings", type=Path, metavar="survey.toml", help="settings of the survey")
    return parser


def _declare_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder for survey.toml and design.toml")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--table", type=Path, metavar="FILE", help="ask for this table's columns, with its values")
    source.add_argument(
        "--question", action="append", metavar="TEXT", help="such as 'Do you smoke? = yes, no'; may be repeated"
    )
    add_each(parser, "--column", "of the table", metavar="NAME")
    parser.add_argument("--title", default="Survey", metavar="TEXT", help="of the page (default: %(default)s)")
    parser.add_argument("--kind", choices=("related", "unrelated"), default="related", help="default: %(default)s")
    said = "chance of the truth of two answers (default: what gives odds of 2 to 1: 2/3, of unrelated questions 1/3)"
    parser.add_argument("--theta", metavar="P", help=said)
    add_form(parser)


def _declare_results(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_each(parser, "--cross", "a table of two columns", nargs=2, metavar=("COLUMN", "COLUMN"))
    add_confidence(parser, "confidence of each interval")
    add_json(parser)
    add("--html", type=Path, metavar="FILE.html", help="write a page")
    add_overwrite(parser)
    add("--serve", action="store_true", help="serve the page on this machine, as answers come")
    add("--every", type=int, default=10, metavar="S", help="seconds until it is loaded again (default: %(default)s)")
