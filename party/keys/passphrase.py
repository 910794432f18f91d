"""Where the passphrase of a sealed folder comes from: a file, the terminal, or the system's keyring.

A file serves nodes that start unattended: `COTALLY_PASSPHRASE_FILE` names it, or systemd hands it over as the
credential `cotally.passphrase`. The environment itself holds no passphrase: whatever a process starts inherits it. Who
asks at the terminal is for the command line to say (`asking`).
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from party.errors import IdentityError
from party.files import is_there, read_bytes, write_new
from protocols.errors import InputError

_MOST_BYTES = 1 << 16
CURE = "restore it from a backup, or make a new party with `cotally init`"


def write_secret(path: Path, data: bytes) -> None:
    """Make a file that its owner alone can read: whole on the disk before this returns, or not there."""
    try:
        write_new(path, data, 0o600)
    except FileExistsError:
        raise IdentityError(f"{path} exists and is kept: a secret is never overwritten") from None
    except OSError as error:
        raise IdentityError(
            f"{path} cannot be written: {error.strerror or 'output error'}; choose another place"
        ) from None


def read_secret(path: Path, most: int = _MOST_BYTES, cure: str = CURE) -> bytes:
    """Read a file that only its owner can read."""
    try:
        data = read_bytes(path, most)
    except InputError as error:
        raise IdentityError(f"{error}: {cure}") from None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise IdentityError(f"{path} is open to other users: run `chmod 600 {path}`")
    return data


FILE_VARIABLE: Final = "COTALLY_PASSPHRASE_FILE"
CREDENTIAL: Final = "cotally.passphrase"
SHORTEST: Final = 12
_NAMES_IT: Final = f"{FILE_VARIABLE} must name a file with the passphrase"
_SERVICE: Final = "cotally"
_KEYRING_BYTES: Final = 32
_UNLOCK: Final = "start and unlock it, as by logging in to a desktop, and try again"

Ask = Callable[[Path, bool], str | None]
"""Asks for a folder's passphrase, for a new one twice; returns None where nobody can be asked."""


_ASK: ContextVar[Ask] = ContextVar("_ASK", default=lambda *_: None)  # of a process that has no terminal


@contextmanager
def asking(ask: Ask) -> Iterator[None]:
    """Let passphrases be asked for so, within a `with` block."""
    token = _ASK.set(ask)
    try:
        yield
    finally:
        _ASK.reset(token)


@dataclass(frozen=True)
class PassphraseSource:
    """A place that gives a passphrase to a folder that is sealed under an id; a sealed file has its `name`."""

    name: str
    new: Callable[[Path, str], str]
    get: Callable[[Path, str], str]
    forget: Callable[[Path, str], None]


def passphrase_of(folder: Path, by: str, number: str) -> str:
    """Return the passphrase of a sealed folder."""
    if by not in SOURCES:
        raise IdentityError(
            f"{folder} is sealed in a way that this release does not know: use the release that sealed it"
        )
    return SOURCES[by].get(folder, number)


def forget_passphrase(folder: Path, by: str, number: str) -> None:
    """Let the place of a passphrase forget it, once nothing is sealed by it."""
    SOURCES[by].forget(folder, number)


def _typed(folder: Path, new: bool) -> str:
    given = os.environ.get(FILE_VARIABLE)
    credential = Path(os.environ.get("CREDENTIALS_DIRECTORY", "/nowhere")) / CREDENTIAL
    file = Path(given) if given else credential if is_there(credential) else None
    try:
        phrase = _ASK.get()(folder, new) if file is None else read_secret(file, cure=_NAMES_IT).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise IdentityError(f"{file} holds no passphrase: it must be text in UTF-8") from None
    if phrase is None:
        why = f"to seal {folder} takes a new passphrase" if new else f"{folder} is sealed"
        raise IdentityError(f"{why}: run this at a terminal, or let {FILE_VARIABLE} name a file with the passphrase")
    if new and len(phrase) < SHORTEST:
        raise IdentityError(f"a passphrase must have {SHORTEST} characters or more")
    return phrase


@contextmanager
def _keyring(problem: str, cure: str = _UNLOCK) -> Iterator[Any]:
    """Yield the system's keyring; whatever it refuses is this problem."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        raise IdentityError("the system's keyring needs more: pip install '.[keyring]' in cotally's clone") from None
    try:
        yield keyring
    except (keyring.errors.KeyringError, RuntimeError) as error:
        raise IdentityError(f"{problem} ({type(error).__name__}): {cure}") from None


def _new_in_keyring(folder: Path, number: str) -> str:
    phrase = secrets.token_hex(_KEYRING_BYTES)
    with _keyring(f"{folder} cannot be sealed by the system's keyring") as keyring:
        keyring.set_password(_SERVICE, number, phrase)
    return phrase


def _from_keyring(folder: Path, number: str) -> str:
    with _keyring(f"the system's keyring does not open {folder}") as keyring:
        phrase = keyring.get_password(_SERVICE, number)
    if phrase is None:
        raise IdentityError(f"{folder} is sealed by a keyring that is not this one: open it where it was sealed")
    return str(phrase)


def _remove_from_keyring(folder: Path, number: str) -> None:
    cure = f"unlock that and run `cotally keys unseal {folder}` again, or delete unsealed.keys if that keyring is gone"
    with _keyring(f"{folder} is unsealed, but its passphrase stays in the system's keyring", cure) as keyring:
        if keyring.get_password(_SERVICE, number) is not None:
            keyring.delete_password(_SERVICE, number)


_PASSPHRASE: Final = PassphraseSource(
    "passphrase", lambda folder, _: _typed(folder, new=True), lambda f, _: _typed(f, new=False), lambda *_: None
)
_KEYRING: Final = PassphraseSource("keyring", _new_in_keyring, _from_keyring, _remove_from_keyring)
SOURCES: Final = {source.name: source for source in (_PASSPHRASE, _KEYRING)}
