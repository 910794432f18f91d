"""`cotally completion`: print what lets a shell complete commands and options."""

import argparse

import shtab

from party.cli.main import COMMANDS, command_parser
from party.show.screen import put


def run(arguments: argparse.Namespace) -> int:
    """Print it, of all commands."""
    parser = command_parser(*COMMANDS)
    _complete_files(parser)
    put(shtab.complete(parser, arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Let the shell offer files wherever a path is read."""
    for action in parser._actions:  # noqa: SLF001  # argparse has no other list of them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action.choices.values():
                _complete_files(each)
        elif action.type is not None and getattr(action.type, "__name__", "") == "Path":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # how shtab is told
