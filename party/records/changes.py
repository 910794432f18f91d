"""What was released of a data set may not be released differently: which field differs, and how that is said.

The ledger holds the releases of runs (`releases.py`), a secret of coins those of a survey (`party.keys.coin_secret`).
"""

import json
from collections.abc import Mapping
from pathlib import Path

from party.errors import ConfigError
from protocols.terms import EVERYONE

_SHOWN = ("class", "theta", "seed", "test")
"""Fields whose values may be shown: they are terms, and name nothing of a table."""
_BROUGHT = ("class values", "peer columns", "peer groups", "peer data", "peer copy")
_ORDER = (
    "party", "class", "columns", "items", "kind", "theta", "groups", "personal", "operators", "records", "answers",
    "seed", "test", *_BROUGHT,
)  # fmt: skip


def first_change(known: Mapping[str, object], fields: Mapping[str, object]) -> str | None:
    """Return the first field that is known to have been released differently, or None; an unknown field may be new."""
    return next((f for f in _ORDER if f in fields and known.get(f, fields[f]) != fields[f]), None)


def refusal(
    dataset: str, field: str, known: Mapping[str, object], fields: Mapping[str, object], record: Path, cure: str
) -> ConfigError:
    """Make the error that says what was released differently, where that is on record, and what to do."""
    was, now = _differently(field, known, fields)
    return ConfigError(f"data set {dataset!r} has been released with {was} before ({record}){now}; {cure}")


def _differently(field: str, known: Mapping[str, object], fields: Mapping[str, object]) -> tuple[str, str]:
    """Say how a field was released, and how that differs from what is asked for now."""
    if field == "groups" and _are_named(known[field]):
        return f"groups = {json.dumps(known[field])}", ""
    if field not in _SHOWN:
        return f"other {field}", ""
    was, now = map(release_text, (known[field], fields[field]))
    return f"{field} {was}", f", not with {now}"


def _are_named(groups: object) -> bool:
    """Tell whether groups are those of a party, which names their columns; a design of answers numbers them."""
    return isinstance(groups, list) and all(
        isinstance(group, list) and all(isinstance(name, str) for name in group) for group in groups
    )


def release_text(value: object) -> str:
    """Return a term of a release as people read it: runs for rules have no class, and one value stands for it."""
    return "none (association rules)" if value == EVERYONE else str(value)
