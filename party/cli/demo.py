"""`cotally demo`: run everything on this machine, on real data."""

import argparse
import sys

import shtab

from party.cli.main import COMMANDS, command_parser
from party.cli.outputs import fraction
from party.demo import USUAL_DATA, USUAL_WAYS
from party.demo.options import DemoError, DemoOptions, OwnFiles, parse_omegas, parse_ways
from party.demo.run import compare_all
from party.settings.job import usual_depth, usual_impurity
from party.show.progress import make_progress
from party.show.screen import put, say
from protocols.errors import InputError
from protocols.terms import DEPTH, Counting, Impurity, Reveal


def command_demo(arguments: argparse.Namespace) -> int:
    options = _options(arguments)
    try:
        with make_progress(arguments.progress) as display:
            compare_all(options, display, say)
    except DemoError as error:
        say(f"cotally: {error}", sys.stderr)
        return error.code
    return 0


def _options(arguments: argparse.Namespace) -> DemoOptions:
    data = _source(arguments)
    reveal = Reveal(arguments.reveal or (Reveal.TREE if isinstance(data, OwnFiles) else Reveal.COUNTS))
    noise = None if arguments.noise is None else fraction("--noise", arguments.noise)
    usual_ways = USUAL_WAYS if reveal == Reveal.COUNTS else Counting.OBLIVIOUS_TRANSFER
    return DemoOptions(
        data=data,
        rows=arguments.rows,
        omegas=parse_omegas(arguments.omega),
        theta=fraction("--theta", arguments.theta),
        key_bits=arguments.key_bits,
        test=fraction("--test", arguments.test),
        seed=arguments.seed,
        out=arguments.out,
        ways=parse_ways(arguments.ways or usual_ways),
        max_depth=usual_depth(reveal) if arguments.max_depth is None else DEPTH.parse(arguments.max_depth, "max_depth"),
        min_leaf=arguments.min_leaf,
        impurity=Impurity(arguments.impurity or usual_impurity(reveal, noise)),
        noise=noise,
        reveal=reveal,
    )


def _source(arguments: argparse.Namespace) -> str | OwnFiles:
    own = (arguments.alice, arguments.bob, arguments.class_name)
    if all(part is None for part in (*own, arguments.id)):
        name: str = arguments.data or USUAL_DATA
        return name
    if arguments.data is not None or any(part is None for part in own):
        raise InputError("tables of your own need --alice, --bob and --class, and no --data")
    return OwnFiles(arguments.alice, arguments.bob, arguments.class_name, arguments.id)


def command_completion(arguments: argparse.Namespace) -> int:
    parser = command_parser(*COMMANDS)
    _complete_files(parser)
    put(shtab.complete(parser, arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001  # argparse has no other list of them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action.choices.values():
                _complete_files(each)
        elif action.type is not None and getattr(action.type, "__name__", "") == "Path":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # as shtab expects it
