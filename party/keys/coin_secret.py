"""The owner's secret file: from it come the coins of *one* data set in *one* disguise (FAULTS B1, B2).

It is made once, before the first disguised byte leaves, and never changed: 32 secret bytes, the name of the data set,
and what left under them. The same data in the same design then give the same copy forever. Another design or other data
under the same secret would give a second copy that, together with the first, shows more than either, so they are
refused. Secret and record are one file, so neither can be lost, restored or copied without the other. A digest made
with the key binds them together: an edited file is refused as damaged, not obeyed.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from party.data import name_flaw
from party.errors import ConfigError, IdentityError
from party.files import is_there
from party.keys.keystore import SECRET_BYTES
from party.keys.passphrase import read_secret, write_secret
from party.records.releases import first_change, refusal
from protocols.randomness import keyed_digest

FORMAT = "cotally-coins/1"

_MOST_BYTES = 1 << 26
_CURE = "restore it from a backup: without it this copy cannot be made again"
_CHANGED = (
    "the data have changed since: bring the earlier ones again (respondents of whom nothing was ever released are "
    "another data set, in a file of their own)"
)
_COPIES = "a second copy in another disguise would undo the first: return to it"


@dataclass(frozen=True, repr=False)
class CoinSecret:
    """What the coins of a data set are made from, and what left under them, field by field."""

    dataset: str
    key: bytes
    released: Mapping[str, object]

    def __repr__(self) -> str:
        return f"<CoinSecret of {self.dataset!r}>"

    def check(self) -> str:
        """Return the digest of everything else that the file holds."""
        record = json.dumps([self.dataset, self.released], sort_keys=True)
        return keyed_digest(self.key, b"coin secret", record.encode()).hex()


def new_key() -> bytes:
    """Return secret bytes from the operating system."""
    return secrets.token_bytes(SECRET_BYTES)


def write_coin_secret(path: Path, secret: CoinSecret) -> None:
    """Make the file, readable by its owner alone; nothing is overwritten."""
    content = {
        "format": FORMAT,
        "dataset": secret.dataset,
        "key": secret.key.hex(),
        "released": secret.released,
        "check": secret.check(),
    }
    write_secret(path, (json.dumps(content, indent=1) + "\n").encode())


def read_coin_secret(path: Path) -> CoinSecret:
    """Read the file."""
    data = read_secret(path, _MOST_BYTES, _CURE)
    try:
        content = json.loads(data)
        known = CoinSecret(content["dataset"], bytes.fromhex(content["key"]), content["released"])
        fits = content["format"] == FORMAT and len(known.key) == SECRET_BYTES
        fits = fits and isinstance(known.dataset, str) and isinstance(known.released, dict)
        fits = fits and hmac.compare_digest(known.check(), content["check"])
    except (ValueError, KeyError, TypeError, RecursionError):
        fits = False
    if not fits:
        raise _damaged(path)
    return known


def _damaged(path: Path) -> IdentityError:
    return IdentityError(f"{path} is damaged, or was not made by `cotally disguise`: {_CURE}")


def noted_secret(
    path: Path, dataset: str | None, stem: str, release: Callable[[bytes], Mapping[str, object]]
) -> CoinSecret:
    """Return the secret, on which this release is noted: one that was there must have been used for the same.

    A new one is of the data set of this name, or of that of the file's `stem`.
    """
    if not is_there(path):
        name, key = stem if dataset is None else dataset, new_key()
        if (flaw := name_flaw(name)) is not None:  # coins could not be made from it for ever after
            raise ConfigError(f"the name of the data set {flaw}: give it another name")
        made = CoinSecret(name, key, release(key))
        write_coin_secret(path, made)
        return made
    known = read_coin_secret(path)
    if dataset not in (None, known.dataset):
        raise ConfigError(f"{path} is the secret of data set {known.dataset!r}: name a new secret file for another")
    check_same(path, known, release(known.key))
    return known


def check_same(path: Path, secret: CoinSecret, fields: Mapping[str, object]) -> None:
    """Refuse anything but what left under this secret before."""
    if secret.released.keys() != fields.keys():
        raise _damaged(path)
    field = first_change(secret.released, fields)
    if field is not None:
        cure = _CHANGED if field in ("records", "answers") else _COPIES
        raise refusal(secret.dataset, field, secret.released, fields, path, cure)
