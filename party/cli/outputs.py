"""Where commands write: never over what they read, nor over what is there unless `--overwrite` says so."""

from collections.abc import Iterable
from itertools import repeat
from pathlib import Path

from party.files import check_target, is_there, resolved
from protocols.errors import InputError


def settle_outputs(
    outputs: Iterable[Path | None],
    reads: Iterable[Path | None],
    *,
    overwrite: bool | None,
    options: Iterable[str] = repeat("-o"),
) -> None:
    """Make sure, before long work, that outputs destroy nothing: every command that has one asks this.

    Args:
        outputs: Where they go; None for one that nobody asked for.
        reads: The files that the command reads; None for one that nobody named.
        overwrite: Whether files that are there already may be replaced; None where none of this kind ever may.
        options: What names each output on the command line.

    Raises:
        InputError: An output is a file that is read, or another output, or is there already, or cannot be written.
    """
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
