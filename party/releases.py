"""The record of what was released: one data set, one theta, one disguise (FAULTS B1, B2, cases 36 to 38).

Coins depend on the data set's name, so an unchanged disguise of it is the same copy again and teaches nothing. Another
theta or other groups under the same name would be a second copy with the same or related coins, from which a receiver
learns more than from either. The record is written before the first byte leaves.
"""

import json
from fractions import Fraction
from pathlib import Path

from party.errors import ConfigError
from party.files import read_bytes, write_atomically
from protocols.randomized_response.design import MultiGroupDesign
from protocols.tables.schema import Attribute

FILE = "releases.json"
_FORMAT = "cotally-releases/1"
_MOST_BYTES = 1 << 26


def record_release(folder: Path, dataset: str, columns: tuple[Attribute, ...], design: MultiGroupDesign) -> None:
    """Note the disguise of a data set, or find it noted already.

    Args:
        folder: The party's own.
        dataset: The name under which the coins are made.
        columns: The columns of the design, in its order.
        design: Groups and theta of the copy that is about to leave.

    Raises:
        ConfigError: The data set has been released in another disguise, or the record cannot be read.
    """
    release: dict[str, object] = {
        "theta": str(Fraction(design.theta)),
        "columns": [[column.name, list(column.values)] for column in columns],
        "groups": [list(group) for group in design.groups],
    }
    path = folder / FILE
    releases = _read(path)
    known = releases.get(dataset)
    if known is None:
        releases[dataset] = release
        write_atomically(path, json.dumps({"format": _FORMAT, "releases": releases}, indent=1) + "\n")
    elif known != release:
        field = next(key for key in release if known.get(key) != release[key])
        raise ConfigError(
            f"data set {dataset!r} has been released with other {field} before (see {path}): a second copy in another "
            "disguise would undo the first. Return to it, or give this disguise a data set name of its own "
            "(data.dataset) and accept that a receiver of both copies learns more from the two than from one"
        )


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
