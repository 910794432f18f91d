"""Ask people in their browser: the coin is tossed on their side, and this side gets disguised answers alone.

`new` writes survey.toml and design.toml from a table's columns or from questions. `links` makes one-time links. `serve`
is the server, until it is stopped. `status` tells how many have answered, `results` what they say so far. `close` ends
it, and cuts codes from answers for good. `publish` ends the answering, and lets respondents test a model on their
personal answers (`[round_two]`). `export` writes the answers as `estimate`, `mine` and `audit` read them.
`page` writes the pages as they are served, to be read or printed. `texts` prints every text of theirs.

Exit codes: 0 done, 1 a fault of ours, 2 bad input or a store that cannot be used; 130 interrupted; a
`serve` that is stopped ends with 130 (Ctrl-C) or 143 (SIGTERM).

Examples:
  cotally survey new study --question 'Do you smoke? = yes, no'
  cotally survey links study/survey.toml --number 100 -o links.csv
  cotally survey serve study/survey.toml
  cotally survey export study/survey.toml -o disguised.csv
  cotally estimate disguised.csv study/design.toml 'q1 = yes'
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_form, add_json, add_overwrite
from party.cli.loudness import add_loudness
from party.show.survey_help import action_examples, action_help


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of each action."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")

    def action(name: str, *, help: str) -> argparse.ArgumentParser:  # noqa: A002
        told = action_help(name, help)
        declared = actions.add_parser(
            name, help=help, description=told, epilog=action_examples(name), formatter_class=parser.formatter_class
        )
        add_loudness(declared)
        return declared

    _declare_new(action("new", help="write survey.toml and design.toml"))
    _declare_links(_with_settings(action("links", help="make one-time links")))
    _with_settings(action("serve", help="serve the page and take answers"))
    add_json(_with_settings(action("status", help="tell how many have answered")))
    _with_settings(action("close", help="close the survey for good"))
    _declare_export(_with_settings(action("export", help="write the disguised answers")))
    _declare_results(_with_settings(action("results", help="tell what the answers say so far")))
    _declare_publish(_with_settings(action("publish", help="let respondents test a model on their personal answers")))
    _declare_page(_with_settings(action("page", help="write the pages as files")))
    _with_settings(action("texts", help="print every text of the pages"))


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
    parser.add_argument("--column", action="append", default=[], metavar="NAME", help="of the table; may be repeated")
    parser.add_argument("--title", default="Survey", metavar="TEXT", help="of the page (default: %(default)s)")
    parser.add_argument("--kind", choices=("related", "unrelated"), default="related", help="default: %(default)s")
    parser.add_argument(
        "--theta",
        metavar="P",
        help="chance of the truth of two answers (default: what gives odds of 2 to 1: 2/3, of unrelated questions 1/3)",
    )
    add_form(parser)


def _declare_links(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--number", type=int, required=True, metavar="N", help="how many")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="links.csv", help="a new file, to be secret"
    )


def _declare_publish(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="model.json", help="a tree or naive Bayes, mined from its answers")
    parser.add_argument("disguised", type=Path, metavar="disguised.csv", help="the answers that it was mined from")
    parser.add_argument("--test", required=True, metavar="SHARE", help="what `mine` held out, such as 1/5")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of `mine` (default: %(default)s)")


def _declare_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="a folder that is there")
    add_overwrite(parser)


def _declare_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="disguised.csv", help="the answers; or .parquet"
    )
    add_overwrite(parser)


def _declare_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cross",
        action="append",
        nargs=2,
        default=[],
        metavar=("COLUMN", "COLUMN"),
        help="a table of two columns; may be repeated",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="confidence of each interval (default: %(default)s)"
    )
    add_json(parser)
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write a page")
    add_overwrite(parser)
    parser.add_argument("--serve", action="store_true", help="serve the page on this machine, as answers come")
    parser.add_argument(
        "--every", type=int, default=10, metavar="S", help="seconds until it is loaded anew (default: %(default)s)"
    )
