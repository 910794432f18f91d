"""The command `cotally`: finds the subcommand, imported when needed, and ends with an exit code (SYMPTOMS.md)."""

import argparse
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from typing import TextIO

from party.cli.parsing import HelpFormatter, Parser, add_loudness, run_as_loud
from party.errors import exit_code
from party.keys.passphrase import asking
from party.show import progress, screen
from party.show.log import DEBUG, ask_passphrase, incident
from party.show.progress import complain
from protocols.errors import CotallyError, InputError


@dataclass(frozen=True)
class Command:
    """A subcommand."""

    summary: str
    arguments: str
    work: str


COMMANDS = {
    "init": Command("make a party: keys, certificate, settings", "parties", "parties"),
    "trust": Command("trust the other party's certificate", "parties", "parties"),
    "pair": Command("trust each other's certificates by a short code", "parties", "parties"),
    "check": Command("show what leaves, before it leaves", "runs", "oversight"),
    "rehearse": Command("show what a model would be worth, before anything leaves", "runs", "oversight"),
    "plan": Command("show what a run will cost, before it starts", "runs", "oversight"),
    "serve": Command("listen, and take part in the runs that the peer opens", "runs", "serve"),
    "train": Command("open a run with the peer and build the model", "runs", "train"),
    "show": Command("print a model", "models", "report"),
    "predict": Command("classify the rows of a file", "models", "predict"),
    "report": Command("write a finished run, a survey or baskets as one page, HTML or Markdown", "models", "report"),
    "export": Command("write a model as SQL, PMML, Python or a JSON schema", "models", "report"),
    "rules": Command("list the association rules that two parties have found together", "models", "report"),
    "align": Command("find the people whom both parties list, or how many they are", "runs", "train"),
    "crosstab": Command("count a column of ours by one of the other party's, as one table", "runs", "train"),
    "propose": Command("send the other party a job for its people to approve", "runs", "train"),
    "approve": Command("let a proposed job run, under your name", "runs", "oversight"),
    "refuse": Command("refuse a proposed job, under your name", "runs", "oversight"),
    "status": Command("list runs, how far each is and what it waits for", "runs", "oversight"),
    "cancel": Command("give up a run that has not ended", "runs", "oversight"),
    "ledger": Command("show what was disclosed, and to whom", "runs", "oversight"),
    "doctor": Command("find what keeps two parties from meeting", "parties", "parties"),
    "keys": Command("seal a party's keys, or renew its certificate", "parties", "parties"),
    "upgrade": Command("upgrade a folder of an older release", "parties", "parties"),
    "survey": Command("ask people in their browser, who toss the coin themselves", "collector", "collecting"),
    "privacy": Command("show what a design discloses", "collector", "collector"),
    "size": Command("show how many respondents a survey needs", "collector", "collector"),
    "advise": Command("show which theta keeps a receiver's belief below a bound", "collector", "collector"),
    "audit": Command("check that the disguise follows its design", "collector", "collector"),
    "disguise": Command("disguise a table of answers, or baskets, for a collector", "collector", "collector"),
    "estimate": Command("estimate counts from disguised answers", "collector", "collector"),
    "mine": Command("learn a tree, naive Bayes or association rules from what was disguised", "collector", "collector"),
    "demo": Command("run everything on this machine, on real data", "demo", "demo"),
    "completion": Command("print a script with which a shell completes commands and options", "demo", "demo"),
}

_HEADS = {"init": "two organisations:", "survey": "surveys and baskets:", "demo": "also:"}
"""What stands over a command in the list of all, of it and those after it."""
_PRINTS = {Path(screen.__file__), Path(progress.__file__)}
_FAULT, _BAD_INPUT, _INTERRUPTED, _TERMINATED, _BROKEN_PIPE = 1, 2, 130, 143, 141


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))  # an exception: what must be cleaned up is
    _prepare_streams()
    parsed = argparse.Namespace()
    try:
        return _run(words, parsed)
    except CotallyError as error:
        return _fail(_told(error, parsed), exit_code(error))
    except KeyboardInterrupt as end:
        return _fail(_ended("interrupted", end, words), _INTERRUPTED)
    except SystemExit as end:
        if end.code == _TERMINATED or hasattr(end, "__notes__"):
            _fail(_ended("stopped by SIGTERM", end, words), _TERMINATED)
        raise
    except BrokenPipeError:
        _drop(sys.stdout)  # its reader has gone
        return _BROKEN_PIPE
    except OSError as error:
        return _fail(*_system_fault(error))
    except Exception as error:  # noqa: BLE001  # the last frame: a user gets one line, never a traceback
        return _fail(incident(error), _FAULT)


def _run(words: list[str], parsed: argparse.Namespace) -> int:
    try:
        parser = command_parser(next((word for word in words if word in COMMANDS), None))  # none before it is a name
        if not words:
            parser.print_help()
            parser.exit()
        parser.parse_args(words, parsed)
        work = import_module(f"party.cli.{COMMANDS[parsed.command].work}")
        with asking(ask_passphrase):
            code = run_as_loud(getattr(work, f"command_{parsed.command}"), parsed)
            screen.release()
    except SystemExit:  # after --help and the like, whose text may have nowhere to go either
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _ended(how: str, end: BaseException, words: Sequence[str]) -> str:
    """Return what ended us and, if that paused a run, how to go on."""
    notes: list[str] = getattr(end, "__notes__", [])
    return "; ".join([how, *(f"{note} (here `{shlex.join(['cotally', *words])}`)" for note in notes)])


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


def _drop(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Overview(HelpFormatter):
    """Lists the commands under a heading for each kind."""

    def _format_action(self, action: argparse.Action) -> str:
        head = _HEADS.get(action.dest)
        return (f"\n  {head}\n" if head else "") + super()._format_action(action)


def command_parser(*wanted: str | None) -> Parser:
    parser = Parser(
        prog="cotally",
        formatter_class=_Overview,
        description="Two organisations build one decision tree over columns that neither shows the other, "
        "or one collector learns from the disguised answers of many.\n\n"
        "Examples:\n  cotally demo\n  cotally init alice --dir alice --host alice.example.org\n"
        "  cotally COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"cotally {version('cotally')}")
    choices = parser.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for name, command in COMMANDS.items():
        sub = choices.add_parser(name, help=command.summary, formatter_class=HelpFormatter)
        if name in wanted:
            declare = getattr(import_module(f"party.cli.arguments.{command.arguments}"), f"declare_{name}")
            sub.description, examples, commands = (getdoc(declare) or "").partition("\nExamples:\n")
            sub.epilog = f"{examples}{commands}"
            declare(sub)
            if name != "survey":  # whose actions have their own
                add_loudness(sub)
            parser.wanted = name
    return parser


def _fail(problem: str, code: int) -> int:
    if os.environ.get(DEBUG) == "1":
        traceback.print_exc()
    with suppress(OSError):  # there is no other place to say it
        complain(problem)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _drop(stream)
    return code


if __name__ == "__main__":
    sys.exit(main())
