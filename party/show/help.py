"""What the help of a survey's actions says beside their options, and what follows a mistake in arguments."""

from collections.abc import Mapping
from typing import Final

_EXITS: Final = "Exit codes: 0 done, 1 a fault of ours, 2 bad input or a store that cannot be used, 130 interrupted."
_EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "new": (
        "cotally survey new study --question 'Do you smoke? = yes, no' --theta 4/5",
        "cotally survey new study --table members.csv --column age --column sex",
    ),
    "links": ("cotally survey links study/survey.toml --number 100 -o links.csv",),
    "serve": ("cotally survey serve study/survey.toml",),
    "status": ("cotally survey status study/survey.toml --json",),
    "close": ("cotally survey close study/survey.toml",),
    "export": ("cotally survey export study/survey.toml -o disguised.csv",),
    "results": (
        "cotally survey results study/survey.toml --cross q1 q2",
        "cotally survey results study/survey.toml --serve --every 30",
    ),
    "publish": ("cotally survey publish study/survey.toml model.json disguised.csv --test 1/5",),
    "page": ("cotally survey page study/survey.toml -o pages",),
    "texts": ("cotally survey texts study/survey.toml > texts.toml",),
}
_NEXT: Final[Mapping[str, str]] = {
    "new": "cotally survey links DIR/survey.toml --number 100 -o links.csv",
    "links": "cotally survey serve survey.toml",
    "serve": "cotally survey results survey.toml",
    "status": "cotally survey results survey.toml",
    "results": "cotally survey close survey.toml",
    "close": "cotally survey export survey.toml -o disguised.csv",
    "export": "cotally mine tree disguised.csv design.toml --test 1/5 -o model.json",
    "publish": "cotally survey results survey.toml",
}


def action_help(name: str, summary: str) -> tuple[str, str]:
    """Return what an action does, what comes after it and how it ends; and examples of it."""
    following = [f"Next:\n  {_NEXT[name]}"] if name in _NEXT else []
    examples = [f"  {example}" for example in _EXAMPLES[name]]
    told = [f"{summary[0].upper()}{summary[1:]}.", *following, _EXITS]
    return "\n\n".join(told), "\n".join(["Examples:", *examples])


_EXTRA = "unrecognized arguments: "


def argument_advice(message: str, *, in_party_folder: bool) -> str:
    """Return what follows the message of the parser: on a party that was not named where one is, or a word too many."""
    if in_party_folder and "are required: " in message:
        return "; the party here is . (a dot)"
    if message.startswith(_EXTRA) and not message.startswith(f"{_EXTRA}-"):
        return "; to save printed output, use > FILE"
    return ""
