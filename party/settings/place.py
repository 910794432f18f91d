"""Where a party's settings are, however somebody names the party: by its folder, by the file, or by its name.

A name is that of a folder here or, where no folder has it, the `name` in the settings of this folder or of one in it.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

from party.errors import ConfigError
from party.files import check_party_folder, is_there
from party.names import is_party_name

CONFIG_FILE: Final = "party.toml"
_MOST = 1 << 20
_KEY = re.compile(rb"^(name|method|learner)[ \t]*=", re.MULTILINE)


def settings_file(party: Path, *, older: bool = False) -> Path:
    """Return the file of a party's settings, which need not be there where a file or a folder was named.

    Every command that works in a folder begins here: one that others can change or read is refused at once, and one of
    0.1 unless it may be of an `older` release.
    """
    path = _found(party)
    if path.parent.is_dir():
        check_party_folder(path.parent, older=older)
    return path


def _found(party: Path) -> Path:
    if is_there(party):
        if party.is_file() and (other := _else(party)) is not None:
            raise ConfigError(f"{party} is {other}, not a party: name the party first, by its folder or {CONFIG_FILE}")
        return party / CONFIG_FILE if party.is_dir() else party
    if party == Path(CONFIG_FILE):
        raise ConfigError(f"there is no {CONFIG_FILE} here: name the party, by its folder or its {CONFIG_FILE}")
    if not is_party_name(str(party)):
        return party
    here = (Path(CONFIG_FILE), *sorted(Path().glob(f"*/{CONFIG_FILE}")))
    found = [path for path in here if path.is_file() and _name(path) == str(party)]
    if len(found) == 1:
        return found[0]
    if found:
        folders = ", ".join(str(path.parent) for path in found)
        raise ConfigError(f"several parties here are named {party}: name the folder of one ({folders})")
    raise ConfigError(
        f"{party} does not exist, and no party here has this name: name its folder or its {CONFIG_FILE}, or make it by "
        "`cotally init`"
    )


def _else(path: Path) -> str | None:
    """Return what a file is that is given where a party belongs, as when two arguments change places."""
    if path.suffix == ".toml":
        keys = set(_KEY.findall(path.read_bytes()[:_MOST]))
        return "a job" if b"name" not in keys and keys else None
    return {".pem": "a certificate", ".json": "a model"}.get(path.suffix)


def party_folder(party: Path) -> Path:
    """Return the folder of a party, in which its settings need not be yet."""
    return settings_file(party).parent


def _name(path: Path) -> object:
    """Return the name that settings give a party; None where they cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8")).get("name")
    except (OSError, UnicodeError, tomllib.TOMLDecodeError):
        return None
