"""The parser of arguments: a mistake is one line, which says what was probably meant and where help is."""

import argparse
import platform
import textwrap
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from party.names import nearest, suggestion
from party.settings.place import CONFIG_FILE
from party.show.document import wrapped
from party.show.log import node_log, start_details, stop_log
from party.show.progress import complain
from party.show.screen import columns, quiet


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, which names the help of its command."""

    wanted: str | None = None  # the command, for what only the parser of all commands finds wrong

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words of this command, once all options are known to exist; errors of others come later."""
        self._check_options([] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        program = self.prog if self.wanted is None else f"{self.prog} {self.wanted}"
        advice = ""
        if "are required: " in message and Path(CONFIG_FILE).is_file():
            advice = "; the party here is . (a dot)"
        elif message.startswith(_EXTRA) and not message.startswith(f"{_EXTRA}-"):
            advice = "; to save printed output, use > FILE"
        complain(f"{message}{advice} (see `{program} --help`)")
        self.exit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        options = list(map(str, action.choices))
        close = nearest(str(value), options)
        told = suggestion(str(value), options) if close or len(options) <= _FEW else ""
        raise argparse.ArgumentError(action, f"there is no {str(value)!r}{told}")

    def _check_options(self, words: Sequence[str]) -> None:
        """Refuse an option that there is not, before anything that is missing because of it."""
        inner = any(isinstance(action, argparse._SubParsersAction) for action in self._actions)  # noqa: SLF001
        known = self._option_string_actions
        for word in words:
            if word == "--" or (inner and not word.startswith("-")):
                return
            name = word.split("=", 1)[0]
            if name in _OUTPUT and name not in known:
                cure = "did you mean --model?" if "--model" in known else "add > FILE to write what it prints"
                self.error(f"there is no option {name}; {cure}")
            if name.startswith("--") and " " not in word and not any(option.startswith(name) for option in known):
                close = nearest(name, [option for option in known if option.startswith("--")])
                self.error(f"there is no option {name}" + (f"; did you mean {close}?" if close else ""))


_FEW = 12
_EXTRA = "unrecognized arguments: "
_OUTPUT = ("-o", "--output")


class HelpFormatter(argparse.HelpFormatter):
    """Lays out the paragraphs of a command's docstring; lines that are indented there stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns())

    def format_help(self) -> str:
        """Return the help; what argparse leaves too long, an option's many choices, goes on in another line."""
        lines = super().format_help().split("\n")
        return "\n".join(part for line in lines for part in wrapped(line, self._width))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join("\n".join(_laid_out(paragraph, indent, width)) for paragraph in paragraphs)


def _laid_out(paragraph: str, indent: str, width: int) -> list[str]:
    laid: list[str] = []
    for is_kept, group in groupby(paragraph.split("\n"), lambda line: line.startswith(" ")):
        lines = list(group)
        laid += [indent + line for line in lines] if is_kept else wrapped(indent + " ".join(lines), width)
    return laid


def add_loudness(parser: argparse.ArgumentParser) -> None:
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print only results and errors")
    loudness.add_argument("-v", "--verbose", action="store_true", help="print more of what is done, but no data")


def run_as_loud(run: Callable[[argparse.Namespace], int], parsed: argparse.Namespace) -> int:
    if not parsed.verbose:
        with quiet() if parsed.quiet else nullcontext():
            return run(parsed)
    details, began = start_details(), time.monotonic()
    try:
        node_log.debug(f"cotally {version('cotally')}, Python {platform.python_version()}, {platform.platform()}")
        return run(parsed)
    finally:
        node_log.debug(f"{parsed.command} has ended after {time.monotonic() - began:.1f} s")
        stop_log(details)
