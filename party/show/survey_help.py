"""What the help of each action of a survey says beside its options."""

from collections.abc import Mapping
from typing import Final

_EXITS: Final = "Exit codes: 0 done, 1 a fault of ours, 2 bad input or a store that cannot be used, 130 interrupted."
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


def action_help(name: str, summary: str) -> str:
    """Say what an action does, what comes after it and how it ends."""
    following = [f"Next:\n  {_NEXT[name]}"] if name in _NEXT else []
    return "\n\n".join([f"{summary[0].upper()}{summary[1:]}.", *following, _EXITS])
