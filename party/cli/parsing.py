"""The parser of arguments: a mistake is one line, which says what was probably meant and where help is."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from party.names import nearest, suggestion
from party.settings.place import CONFIG_FILE
from party.show.advice import argument_advice
from party.show.screen import say


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, which names the help of its command."""

    wanted: str | None = None  # the command, for what only the parser of all commands finds wrong

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words of this command, once all options are known to exist; errors of others come later."""
        self._check_options([] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        program = self.prog if self.wanted is None else f"{self.prog} {self.wanted}"
        advice = argument_advice(message, in_party_folder=Path(CONFIG_FILE).is_file())
        say(f"cotally: {message}{advice} (see `{program} --help`)", sys.stderr)
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
_OUTPUT = ("-o", "--output")
