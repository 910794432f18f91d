"""The record of what has left: one data set, one disguise, one split (FAULTS B1, B2, B7, cases 36 to 39 and 50).

* Coins depend on the data set's name, so the same data in the same disguise are the same copy again and teach nothing.
  With another theta, other groups or changed data, the two copies together would show more than either.
* Exact counts over two splits of the same records can be subtracted, and show single records.

So each is noted under the data set's name before the first byte leaves, and anything else under that name is refused.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from party.errors import ConfigError
from party.files import read_bytes, write_atomically
from protocols.messages import Terms
from protocols.randomness import keyed_digest
from protocols.two_party.local import Local

FILE = "releases.json"
_FORMAT = "cotally-releases/1"
_MOST_BYTES = 1 << 26
_DATA_CHANGED = "the data have changed since: give them a data set name of their own (data.dataset), with new coins"
_COPIES = "a second copy in another disguise would undo the first: return to it, or give this one a name of its own"
_SPLITS = "exact counts over two splits can be subtracted and show single records: keep the split"
_CURES = {
    "records": _DATA_CHANGED,
    "columns": _COPIES,
    "theta": _COPIES,
    "groups": _COPIES,
    "seed": _SPLITS,
    "test": _SPLITS,
}
_ORDER = ("columns", "kind", "theta", "groups", "personal", "records", "answers", "seed", "test")


@dataclass(frozen=True)
class Release:
    """What a run lets out of a data set: field by field, as text or lists; fields that it does not use are absent."""

    dataset: str
    fields: dict[str, object]


def release_of(local: Local, terms: Terms) -> Release:
    """Return what leaves under these terms."""
    contents = (*(record.encode() for record in local.records), local.table.codes.tobytes())
    fields: dict[str, object] = {"records": keyed_digest(local.secrets.coins, b"contents", *contents).hex()}
    if terms.method != "smc":
        design = local.design(terms.theta, class_is_shared=False)
        fields["columns"] = [[column.name, list(column.values)] for column in local.table.attributes]
        fields["theta"] = str(design.theta)
        fields["groups"] = [list(group) for group in design.groups]
    if terms.method != "randomized":
        fields |= {"seed": terms.seed, "test": str(terms.test)}
    return Release(local.dataset, fields)


def changed_field(folder: Path, release: Release) -> str | None:
    """Return the first field in which a data set was released otherwise before, or None.

    Raises:
        ConfigError: The record in the party's folder cannot be read.
    """
    return first_change(_read(folder / FILE).get(release.dataset, {}), release.fields)


def first_change(known: Mapping[str, object], fields: Mapping[str, object]) -> str | None:
    """Return the first field that is known to have been released otherwise, or None; what is not known may be new."""
    return next((f for f in _ORDER if f in fields and known.get(f, fields[f]) != fields[f]), None)


def refusal(dataset: str, field: str, record: Path, cure: str) -> ConfigError:
    """Make the error that says what was released otherwise, where that is written, and what to do."""
    return ConfigError(f"data set {dataset!r} has been released with other {field} before ({record}); {cure}")


def check_release(folder: Path, release: Release) -> None:
    """Refuse a release that does not go together with earlier ones of the data set.

    Raises:
        ConfigError: It does not, or the record cannot be read.
    """
    field = changed_field(folder, release)
    if field is not None:
        raise refusal(release.dataset, field, folder / FILE, _CURES[field])


def record_release(folder: Path, release: Release) -> None:
    """Note a release durably, before its first byte leaves.

    Raises:
        ConfigError: As `check_release`.
        InputError: The record cannot be written.
    """
    check_release(folder, release)
    releases = _read(folder / FILE)
    known = releases.get(release.dataset, {})
    if not release.fields.keys() <= known.keys():
        releases[release.dataset] = {**release.fields, **known}
        content = json.dumps({"format": _FORMAT, "releases": releases}, indent=1)
        write_atomically(folder / FILE, content + "\n")


def _read(path: Path) -> dict[str, dict[str, object]]:
    if not path.exists():
        return {}
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
        releases = content["releases"] if content["format"] == _FORMAT else None
    except (ValueError, KeyError, TypeError, RecursionError):
        releases = None
    if not isinstance(releases, dict) or not all(isinstance(entry, dict) for entry in releases.values()):
        raise ConfigError(f"{path} is not a record of releases: restore it from a backup; it must not be lost")
    return releases
