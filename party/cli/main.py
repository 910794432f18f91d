"""The command `cotally`: finds the subcommand, and turns every end into an exit code and at most one line of error.

Each subcommand is a line in `COMMANDS`, a module of `party.cli.arguments` that declares its help and arguments, and one
of this package with `run(arguments)`, which is imported when the arguments are read: it is slow to import.
Exit codes: `party/SYMPTOMS.md` has the table.
"""

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import NoReturn, Protocol, TextIO, cast

from party.cli.help import HelpFormatter
from party.cli.loudness import add_loudness, run_as_loud
from party.cli.parsing import Parser
from party.errors import exit_code
from party.keys.passphrase import asking
from party.show import progress, screen
from party.show.incident import DEBUG, incident
from party.show.passphrase import ask_passphrase
from party.show.progress import complain
from protocols.errors import CotallyError, InputError

COMMANDS = {
    "init": "make a party: keys, certificate, settings",
    "trust": "trust the other party's certificate",
    "pair": "trust each other's certificates by a short code",
    "keys": "seal a party's keys, or renew its certificate",
    "doctor": "find what keeps two parties from meeting",
    "check": "tell what leaves, before it leaves",
    "align": "find the people whom both parties list, or how many they are",
    "plan": "tell what a run will cost, before it starts",
    "serve": "listen, and take part in the runs that the peer opens",
    "train": "open a run with the peer and build the tree",
    "status": "list runs, how far each is and what it waits for",
    "cancel": "give up a run that has not ended",
    "ledger": "tell what was disclosed, and to whom",
    "show": "print a model",
    "rules": "list the association rules that two parties have found together",
    "report": "write a finished run, a survey or baskets as one page, HTML or Markdown",
    "predict": "classify the rows of a file",
    "demo": "run everything on this machine, on real data",
    "privacy": "tell what a design discloses",
    "audit": "check that the disguise follows its design",
    "size": "tell how many respondents a survey needs",
    "disguise": "disguise a table of answers, or baskets, for a collector",
    "estimate": "estimate counts from disguised answers",
    "survey": "ask people in their browser, who toss the coin themselves",
    "mine": "learn a tree, naive Bayes or association rules from what was disguised",
    "completion": "print what lets a shell complete commands and options",
}
"""What each does, for the help of all."""

_EXAMPLES = """Examples:
  cotally demo
  cotally init alice --dir alice --host alice.example.org
  cotally COMMAND --help"""

_PRINTS = {Path(screen.__file__), Path(progress.__file__)}
_FAULT, _BAD_INPUT, _INTERRUPTED, _TERMINATED, _BROKEN_PIPE = 1, 2, 130, 143, 141


class Declaration(Protocol):
    """What a module of `party.cli.arguments` has beside its docstring."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""


class Command(Protocol):
    """What a subcommand's module has."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit code."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    _prepare_streams()
    parsed = argparse.Namespace()
    try:
        return _run(words, parsed)
    except CotallyError as error:
        return _fail(_told(error, parsed), exit_code(error), parsed)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED, parsed)
    except BrokenPipeError:
        _drop(sys.stdout)  # its reader has gone
        return _BROKEN_PIPE
    except OSError as error:
        return _fail(*_system_fault(error), parsed)
    except Exception as error:  # noqa: BLE001  # the last frame: a user gets one line, never a traceback
        return _fail(incident(error), _FAULT, parsed)


def _run(words: list[str], parsed: argparse.Namespace) -> int:
    """Read the arguments into `parsed` and do what they ask for."""
    try:
        parser = command_parser(next((word for word in words if word in COMMANDS), None))  # none before it is a name
        if not words:
            parser.print_help()
            parser.exit()
        parser.parse_args(words, parsed)
        command = cast("Command", import_module(f"party.cli.{parsed.command}"))
        with asking(ask_passphrase):
            code = run_as_loud(command.run, parsed)
    except SystemExit:  # after --help and the like, whose text may have nowhere to go either
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _told(error: CotallyError, parsed: argparse.Namespace) -> str:
    """Return an error's text, in which the option stands for the parameter that it sets."""
    if isinstance(error, InputError) and error.field is not None and error.field in parsed:
        return f"--{error.field.replace('_', '-')} {error.problem}"
    return str(error)


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  # for as long as the process lives
        elif hasattr(stream, "reconfigure"):  # a terminal that lacks a character gets a stand-in, not a crash
            stream.reconfigure(errors="backslashreplace")


def _system_fault(error: OSError) -> tuple[str, int]:
    """Return what the system refused, and the exit code: a path that was given, or the output, is bad input."""
    reason = error.strerror or "input or output error"
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)} cannot be used: {reason}", _BAD_INPUT
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    if raised_in in _PRINTS or raised_in.parent == Path(__file__).parent:  # all other output names its file
        return f"standard output cannot be written: {reason}", _BAD_INPUT
    return incident(error), _FAULT


def _flushed(stream: TextIO) -> bool:
    """Write what waits for a stream; what cannot be written still waits."""
    try:
        stream.flush()
    except OSError:
        return False
    return True


def _drop(stream: TextIO) -> None:
    """Let go what waits for a stream, which Python would else try to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def command_parser(*wanted: str | None) -> Parser:
    """Return the parser of all commands, which knows the options of those that are wanted."""
    parser = Parser(
        prog="cotally",
        formatter_class=HelpFormatter,
        description="Two organisations build one decision tree over columns that neither shows the other, "
        f"or one collector learns from the disguised answers of many.\n\n{_EXAMPLES}",
    )
    parser.add_argument("--version", action="version", version=f"cotally {version('cotally')}")
    choices = parser.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for name, summary in COMMANDS.items():
        sub = choices.add_parser(name, help=summary, formatter_class=HelpFormatter)
        if name in wanted:
            _declare(name, sub)
            parser.wanted = name
    return parser


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Let a command's parser know its help and its arguments."""
    declaration = cast("Declaration", import_module(f"party.cli.arguments.{name}"))
    described, examples, commands = (declaration.__doc__ or "").partition("\nExamples:\n")
    parser.description, parser.epilog = described, f"{examples}{commands}"
    declaration.add_arguments(parser)
    if name != "survey":  # whose actions have their own
        add_loudness(parser)


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End by an exception, so that whatever has to be cleaned up is."""
    sys.exit(_TERMINATED)


def _fail(problem: str, code: int, parsed: argparse.Namespace) -> int:
    if os.environ.get(DEBUG) == "1":
        traceback.print_exc()
    with suppress(OSError):  # there is no other place to say it
        complain(problem, getattr(parsed, "progress", None))
    for stream in (sys.stdout, sys.stderr):
        if not _flushed(stream):
            _drop(stream)
    return code


if __name__ == "__main__":
    sys.exit(main())
