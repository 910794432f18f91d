"""What arguments that several commands have mean."""

import argparse
from fractions import Fraction

from party.data import MISSING_MARKERS, Form
from party.settings.toml import exact_number
from protocols.errors import InputError


def form(arguments: argparse.Namespace) -> Form:
    """Return what was said of how a table's file is written.

    Raises:
        InputError: It cannot be so.
    """
    separator = "\t" if arguments.separator in {"\\t", "tab"} else arguments.separator
    markers = (*MISSING_MARKERS, *arguments.missing) if arguments.missing else None
    return Form(separator, arguments.encoding, markers, arguments.decimal)


def fraction(option: str, text: str) -> Fraction:
    """Return the exact number that an option was given.

    Raises:
        InputError: It is none.
    """
    number = exact_number(text)
    if number is None:
        raise InputError(f"{option} must be an exact number such as 9/20 or 0.45")
    return number
