"""A new party's folder: identity, keys and settings, all of them or nothing."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from party.errors import IdentityError
from party.files import write_atomically, write_new
from party.keys.identity import CERTIFICATE_FILE, KEY_FILE, Identity, make_identity
from party.keys.keystore import make_keys
from party.keys.passphrase import PassphraseSource, write_secret
from party.keys.sealing import SEALED_FILE, SECRET_FILES, write_sealed
from protocols.errors import InputError
from protocols.terms import KEY_BITS, KEY_FLOOR

_FILES = (CERTIFICATE_FILE, SEALED_FILE, *SECRET_FILES)


def create_party(
    folder: Path,
    name: str,
    hosts: Sequence[str],
    key_bits: int,
    settings: Mapping[str, str],
    floor_bits: int = KEY_FLOOR,
    sealed_by: PassphraseSource | None = None,
) -> Identity:
    """Make identity, keys and settings in a folder: all of them, or nothing.

    It is reached under these `hosts`, DNS names or IP addresses. `settings` are the content of its files by their
    names. Its secrets are `sealed_by` a passphrase from there, or written in the clear.
    """
    if not floor_bits <= key_bits <= KEY_BITS.high:
        raise IdentityError(f"the key must have {floor_bits} to {KEY_BITS.high} bits")
    try:
        existed = folder.exists()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            _check_free(folder, settings)
            identity = make_identity(name, hosts)
            secrets = {KEY_FILE: identity.key_pem, **make_keys(key_bits, floor_bits)}
            with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as temporary:
                staged = Path(temporary)
                write_new(staged / CERTIFICATE_FILE, identity.pem, 0o644)
                if sealed_by is not None:
                    write_sealed(staged, secrets, sealed_by, folder)
                for each, data in secrets.items() if sealed_by is None else ():
                    write_secret(staged / each, data)
                for each, content in settings.items():
                    write_atomically(staged / each, content)
                for path in staged.iterdir():
                    path.rename(folder / path.name)
        except BaseException:
            if not existed:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or 'output error'}; choose another") from None
    return identity


def _check_free(folder: Path, settings: Mapping[str, str]) -> None:
    for path in (folder / name for name in (*_FILES, *settings)):
        if path.exists():
            raise IdentityError(f"{path} exists and is kept: choose another folder")
