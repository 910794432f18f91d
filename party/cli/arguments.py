"""Arguments that several commands have."""

import argparse
from fractions import Fraction
from pathlib import Path

from party.data import MISSING_MARKERS, Form
from party.settings.party import CONFIG_FILE
from party.settings.toml import exact_number
from party.show.progress import PROGRESS_STYLES
from protocols.errors import InputError


def add_party(parser: argparse.ArgumentParser, *, here: bool = False) -> None:
    """Declare the party's settings; with `here`, those of the current folder unless named."""
    text = "this party's settings"
    if here:
        text += f" (default: {CONFIG_FILE} here)"
        parser.add_argument("config", type=Path, nargs="?", default=Path(CONFIG_FILE), metavar="PARTY.toml", help=text)
    else:
        parser.add_argument("config", type=Path, metavar="PARTY.toml", help=text)


def party_folder(party: Path) -> Path:
    """Return the folder of a party that is named by it, or by the settings in it."""
    return party.parent if party.name == CONFIG_FILE and not party.is_dir() else party


def add_work(parser: argparse.ArgumentParser) -> None:
    """Declare how progress is shown, and where to compute."""
    parser.add_argument("--progress", choices=PROGRESS_STYLES, default="auto", help="how progress is shown")
    parser.add_argument("--workers", type=int, metavar="N", help="compute in N processes here, whatever [compute] says")


def add_disguised(parser: argparse.ArgumentParser) -> None:
    """Declare the disguised table."""
    parser.add_argument(
        "disguised",
        type=Path,
        metavar="disguised.csv",
        help="disguised answers, CSV or Parquet; - for the standard input",
    )
    add_form(parser)


def add_design(parser: argparse.ArgumentParser) -> None:
    """Declare the design."""
    parser.add_argument("design", type=Path, metavar="design.toml", help="what was asked and how it was disguised")


def add_form(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said of how a table's file is written."""
    parser.add_argument("--separator", metavar="C", help="character between columns (default: detected)")
    parser.add_argument("--encoding", metavar="NAME", help="such as cp1252 or utf-16 (default: detected)")
    parser.add_argument(
        "--missing",
        action="append",
        metavar="TEXT",
        help="means a missing cell, as an empty cell always does; may be repeated (default: ?, -, NA, NaN, null, ...)",
    )


def form(arguments: argparse.Namespace) -> Form:
    """Return what was said of how a table's file is written.

    Raises:
        InputError: It cannot be so.
    """
    separator = "\t" if arguments.separator in {"\\t", "tab"} else arguments.separator
    return Form(separator, arguments.encoding, tuple(arguments.missing or MISSING_MARKERS))


def fraction(option: str, text: str) -> Fraction:
    """Return the exact number that an option was given.

    Raises:
        InputError: It is none.
    """
    number = exact_number(text)
    if number is None:
        raise InputError(f"{option} must be an exact number such as 9/20 or 0.45")
    return number


def add_more_answers(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Declare further files of disguised answers, each with its own design."""
    parser.add_argument(
        "--and",
        dest="more",
        action="append",
        default=[],
        nargs=2,
        type=Path,
        metavar="FILE",
        help=f"further answers and their own design, over the same columns, to be combined; may be repeated{of}",
    )
