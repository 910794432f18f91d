"""Where commands write: never over what they read, nor over what is there unless `--overwrite` says so."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import TextIO

from party.data import MISSING_MARKERS, Form
from party.errors import ConfigError
from party.files import check_target, is_there, resolved
from party.show.document import Block
from party.show.screen import columns, lay_out, put_json, say_all
from protocols.errors import InputError
from protocols.kinds import exact_number


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


def settle_copy(arguments: argparse.Namespace, check_name: Callable[[Path], None]) -> Path | None:
    """Make sure that a copy destroys nothing and can be written; return the secret file that is made for it, if any."""
    reads = [path for path in (arguments.data, arguments.design, arguments.personal) if path is not None]
    if resolved(arguments.secret) in map(resolved, reads):
        raise ConfigError(f"{arguments.secret} is another file of this command: name a --secret file of its own")
    made = not is_there(arguments.secret)
    if made and is_there(arguments.output):
        raise ConfigError(
            f"{arguments.output} is there and {arguments.secret} is not: a second copy with new coins would undo the "
            "first; name the secret that the first was made with, or another output"
        )
    settle_outputs([arguments.output], [*reads, arguments.secret], overwrite=arguments.overwrite)
    check_name(arguments.output)
    return Path(arguments.secret) if made else None


def need_least(option: str, number: int | None, least: int) -> None:
    if number is not None and number < least:
        raise InputError(f"{option} must be {least} or more")


def give(
    arguments: argparse.Namespace,
    content: Mapping[str, object],
    shown: Iterable[Block],
    stream: TextIO | None = None,
    *,
    laid_out: bool = False,
) -> int:
    """Print a result, for programs or for people: its sentences in a line each, or laid out in files too."""
    if arguments.json:
        put_json(content)
    elif laid_out:
        lay_out(shown, columns())
    else:
        say_all(shown, stream)
    return 0


def form(arguments: argparse.Namespace) -> Form:
    separator = "\t" if arguments.separator in {"\\t", "tab"} else arguments.separator
    markers = (*MISSING_MARKERS, *arguments.missing) if arguments.missing else None
    return Form(separator, arguments.encoding, markers, arguments.decimal)


def fraction(option: str, text: str) -> Fraction:
    number = exact_number(text)
    if number is None:
        raise InputError(f"{option} must be an exact number such as 9/20 or 0.45")
    return number
