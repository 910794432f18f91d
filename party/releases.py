"""The record of what was released: one data set, one theta, one disguise (FAULTS B1, B2, cases 36 to 38).

Coins depend on the data set's name, so an unchanged disguise of it is the same copy again and teaches nothing. Another
theta or other groups under the same name would be a second copy with the same or related coins, from which a receiver
learns more than from either. The record is written before the first byte leaves.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from party.errors import ConfigError
from party.files import read_bytes, write_atomically
from protocols.randomized_response.design import MultiGroupDesign
from protocols.tables.schema import Attribute

FILE = "releases.json"
_FORMAT = "cotally-releases/1"
_MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class Release:
    """A data set in one disguise.

    Args:
        dataset: The name under which the coins are made.
        columns: The columns of the design, in its order.
        design: Groups and theta of the copy.
    """

    dataset: str
    columns: tuple[Attribute, ...]
    design: MultiGroupDesign

    def fields(self) -> dict[str, object]:
        """Return what must not change under one name."""
        return {
            "theta": str(self.design.theta),
            "columns": [[column.name, list(column.values)] for column in self.columns],
            "groups": [list(group) for group in self.design.groups],
        }


def changed_field(folder: Path, release: Release) -> str | None:
    """Return the first field in which a data set was released otherwise before, or None.

    Raises:
        ConfigError: The record in the party's folder cannot be read.
    """
    known = _read(folder / FILE).get(release.dataset)
    if known is None:
        return None
    return next((key for key, value in release.fields().items() if known.get(key) != value), None)


def check_release(folder: Path, release: Release) -> None:
    """Refuse a second disguise of a data set.

    Raises:
        ConfigError: It has been released in another disguise, or the record cannot be read.
    """
    field = changed_field(folder, release)
    if field is not None:
        raise ConfigError(
            f"data set {release.dataset!r} has been released with other {field} before (see {folder / FILE}): a second "
            "copy in another disguise would undo the first. Return to it, or give this disguise a data set name of "
            "its own (data.dataset) and accept that who receives both copies learns more from the two than from one"
        )


def record_release(folder: Path, release: Release) -> None:
    """Note a disguise durably, before its first byte leaves; one that is noted already stays.

    Raises:
        ConfigError: As `check_release`.
        InputError: The record cannot be written.
    """
    check_release(folder, release)
    releases = _read(folder / FILE)
    if release.dataset not in releases:
        releases[release.dataset] = release.fields()
        content = json.dumps({"format": _FORMAT, "releases": releases}, indent=1)
        write_atomically(folder / FILE, content + "\n")


def _read(path: Path) -> dict[str, dict[str, object]]:
    if not path.exists():
        return {}
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
        releases = content["releases"] if content["format"] == _FORMAT else None
    except (ValueError, KeyError, TypeError):
        releases = None
    if not isinstance(releases, dict) or not all(isinstance(entry, dict) for entry in releases.values()):
        raise ConfigError(f"{path} is not a record of releases: restore it from a backup; it must not be lost")
    return releases
