"""Where commands write: never over what they read, nor over what is there unless `--overwrite` says so."""

import argparse
from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat
from pathlib import Path

from party.data import MISSING_MARKERS, Form
from party.files import check_target, is_there, resolved
from party.settings.toml import exact_number
from protocols.errors import InputError


def settle_outputs(
    outputs: Iterable[Path | None],
    reads: Iterable[Path | None],
    *,
    overwrite: bool | None,
    options: Iterable[str] = repeat("-o"),
) -> None:
    """Make sure, before long work, that outputs destroy nothing: every command that has one asks this."""
    taken = [path for path in reads if path is not None]
    before: set[Path] = set()
    for path, option in zip(outputs, options, strict=False):
        if path is None:
            continue
        check_target(path, taken)
        if resolved(path) in before:
            raise InputError(f"{path} is named for two outputs: name another file for one")
        if is_there(path) and not overwrite:
            cure = "" if overwrite is None else ", or replace it (--overwrite)"
            raise InputError(f"{path} is there already: name another by {option}{cure}")
        before.add(resolved(path))


def form(arguments: argparse.Namespace) -> Form:
    """Return what was said of how a table's file is written."""
    separator = "\t" if arguments.separator in {"\\t", "tab"} else arguments.separator
    markers = (*MISSING_MARKERS, *arguments.missing) if arguments.missing else None
    return Form(separator, arguments.encoding, markers, arguments.decimal)


def fraction(option: str, text: str) -> Fraction:
    """Return the exact number that an option was given."""
    number = exact_number(text)
    if number is None:
        raise InputError(f"{option} must be an exact number such as 9/20 or 0.45")
    return number
