"""The reference of commands and settings, as Markdown, from what the product declares."""

import argparse
import re
from collections.abc import Iterator, Mapping

from party.cli.main import COMMANDS, command_parser
from party.settings.collector import CLOSE, SERVER, STORE, SURVEY
from party.settings.job import job_keys
from party.settings.party import TREATMENT
from party.settings.template import party_sections
from party.settings.toml import REQUIRED, Declared, toml_value
from protocols.terms import USUAL_KEY_BITS

_MADE = "Printed from the declarations of the product by `scripts/docs`."
_LOUD = {"quiet", "verbose", "help"}


def commands() -> str:
    """Return the page of all commands."""
    parser = command_parser(*COMMANDS)
    lines = [f"# Commands\n\n{_MADE} Each has `--help`, `-q` (results and errors alone) and `-v` (details).\n"]
    for name, sub in _subcommands(parser):
        lines += _command(f"cotally {name}", COMMANDS[name].summary, sub, "##")
    return "\n".join(lines)


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.items()


def _command(name: str, summary: str, parser: argparse.ArgumentParser, mark: str) -> Iterator[str]:
    yield f"{mark} {name}\n"
    said = (parser.description or f"{summary[:1].upper()}{summary[1:]}.").strip()
    yield f"{_plain(said)}\n"
    actions = [each for each in parser._actions if each.dest not in _LOUD]  # noqa: SLF001
    rows = [_argument(each) for each in actions if not isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001
    if rows:
        yield "\n".join(["| argument | what it is |", "| --- | --- |", *rows, ""])
    examples = re.findall(r"^ *(cotally .*)$", parser.epilog or "", re.MULTILINE)
    if examples:
        yield "\n".join(["Examples:\n", *(f"    {line}" for line in examples), ""])
    helps = {
        each.dest: each.help or ""
        for action in parser._actions  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        for each in action._choices_actions  # noqa: SLF001
    }
    for inner, sub in _subcommands(parser):
        yield from _command(f"{name} {inner}", helps.get(inner, inner), sub, f"{mark}#")


def _argument(action: argparse.Action) -> str:
    shown = action.metavar or ("" if action.choices is None else " or ".join(map(str, action.choices)))
    value = " ".join(shown) if isinstance(shown, tuple) else str(shown or action.dest.upper())
    value = value.replace("|", " or ")
    names = ", ".join(action.option_strings)
    text = names if action.nargs == 0 else f"{names} {value}".strip()
    said = (action.help or "") % {**vars(action), "default": action.default}
    return f"| `{text}` | {_plain(said)} |"


def _plain(text: str) -> str:
    """Return a text of a help in which Markdown changes nothing, but for what stands in back-ticks."""
    return "`".join(
        part if number % 2 else re.sub(r"([*|<])", r"\\\1", part) for number, part in enumerate(text.split("`"))
    )


def settings() -> str:
    """Return the page of all keys of settings."""
    party = {each: keys for each, (keys, _) in party_sections("bob", USUAL_KEY_BITS).items()}
    files: Mapping[str, tuple[str, Mapping[str, Declared]]] = {
        "party.toml": (
            "One party: its data, what it agrees to, where it is reached.",
            {**party, "columns.NAME": TREATMENT},
        ),
        "job.toml": (
            "The terms of one run: `class` alone is enough. Both sides compare all of them.",
            {"": job_keys()},
        ),
        "survey.toml": (
            "A survey in the browser. `cotally survey new` writes its `design.toml` with every key explained.",
            {"": SURVEY, "server": SERVER, "store": STORE, "close": CLOSE},
        ),
    }
    lines = [f"# Settings\n\n{_MADE} `cotally init` writes the first two with the same words.\n"]
    for name, (said, sections) in files.items():
        lines += [f"## {name}\n\n{said}\n", *_table(sections)]
    return "\n".join(lines)


def _table(sections: Mapping[str, Declared]) -> Iterator[str]:
    yield "| key | range | default | what it is |"
    yield "| --- | --- | --- | --- |"
    for section, keys in sections.items():
        place = f"[{section}] " if section else ""
        for name, key in keys.items():
            is_open = key.usual is REQUIRED or (key.usual is None and getattr(key.kind, "word", None) is None)
            usual = "" if is_open else f"`{toml_value(key.kind, key.usual)}`"
            legal = key.kind.legal.removeprefix("must ").removeprefix("be ").removeprefix("lie ")
            yield f"| `{place}{name}` | {_plain(legal)} | {usual} | {_plain(key.comment)} |"
    yield ""
