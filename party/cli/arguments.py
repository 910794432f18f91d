"""Arguments that several commands have."""

import argparse
from fractions import Fraction
from pathlib import Path

from party.toml import exact_number
from protocols.errors import InputError


def add_disguised(parser: argparse.ArgumentParser) -> None:
    """Declare the disguised table."""
    parser.add_argument("disguised", type=Path, metavar="disguised.csv", help="disguised answers, CSV or Parquet")


def add_design(parser: argparse.ArgumentParser) -> None:
    """Declare the design."""
    parser.add_argument("design", type=Path, metavar="design.toml", help="what was asked and how it was disguised")


def fraction(option: str, text: str) -> Fraction:
    """Return the exact number that an option was given.

    Raises:
        InputError: It is none.
    """
    number = exact_number(text)
    if number is None:
        raise InputError(f"{option} must be an exact number such as 1/5 or 0.2")
    return number
