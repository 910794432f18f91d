"""A party's secrets in one file that opens by a passphrase alone: what lies on the disk, or in a backup, is no key.

`sealed.keys` takes the place of `key.pem`, `secret.key` and `paillier.key`: their content, encrypted by
ChaCha20-Poly1305 (RFC 8439) under a key that scrypt (RFC 7914) makes of the passphrase. The store of factors is sealed
under `secret.key` in any case. A folder that holds a secret both ways, as after a crash, is refused until one is gone;
so is one with what a killed process has left of writing one.

To unseal, `sealed.keys` becomes `unsealed.keys` when all secrets are in files of their own, and goes when the keyring
has forgotten its passphrase: what is killed in between, the next `keys unseal` or `seal` finishes.
"""

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from party.errors import IdentityError
from party.files import is_there, sync_folder, unfinished
from party.keys.passphrase import (
    CURE,
    PassphraseSource,
    asking,
    forget_passphrase,
    passphrase_of,
    read_secret,
    write_secret,
)

SEALED_FILE: Final = "sealed.keys"
UNSEALED_FILE: Final = "unsealed.keys"
SECRET_FILES: Final = ("key.pem", "secret.key", "paillier.key")
FORMAT: Final = "cotally-sealed/1"
_COST: Final = 1 << 17  # of scrypt, with r = 8 and p = 1: 128 MiB for each guess
_ID_BYTES, _SALT_BYTES, _NONCE_BYTES = 16, 16, 12


def read_party_secret(folder: Path, name: str) -> bytes:
    """Return the content of one of a party's secrets, sealed or not."""
    sealed, plain = folder / SEALED_FILE, folder / name
    if not is_there(sealed):
        return read_secret(plain)
    for beside in [plain] if is_there(plain) else unfinished(plain):
        raise IdentityError(f"{beside} lies beside sealed.keys: run `cotally keys seal {folder}` again, or `unseal`")
    return _opened_once(sealed, _state(sealed))[name]


def write_sealed(folder: Path, files: Mapping[str, bytes], source: PassphraseSource, called: Path) -> str:
    """Make the sealed file of a folder, and return its passphrase, which is asked for under the name `called`."""
    number = os.urandom(_ID_BYTES)
    phrase = source.new(called, number.hex())
    write_secret(folder / SEALED_FILE, sealed_bytes(files, phrase, source.name, number))
    return phrase


def seal_keys(folder: Path, source: PassphraseSource) -> None:
    """Seal a folder's secrets: none is deleted before all of them are in the sealed file, on the disk."""
    _forget(folder)
    plain, left = [name for name in SECRET_FILES if is_there(folder / name)], _left_over(folder)
    files = {name: read_secret(folder / name) for name in plain}
    if not is_there(folder / SEALED_FILE):
        if len(plain) != len(SECRET_FILES):
            raise IdentityError(f"{folder} is no party's folder, or lacks some of {', '.join(SECRET_FILES)}: {CURE}")
        phrase = write_sealed(folder, files, source, folder)
        with asking(lambda *_: phrase):  # who has typed it twice is not asked once more, to see whether it opens
            _check_same(folder, files)
    elif not plain and not left:
        raise IdentityError(f"{folder} is sealed already: for another passphrase, unseal it first")
    else:
        _check_same(folder, files)
    for path in [*(folder / name for name in plain), *left]:
        path.unlink()


def unseal_keys(folder: Path) -> None:
    """Put a folder's secrets back into files of their own; a keyring forgets the passphrase, so copies stay closed."""
    path = folder / SEALED_FILE
    if not is_there(path):
        if not _forget(folder):
            raise IdentityError(f"{folder} is not sealed: seal it by `cotally keys seal`")
        return
    files = _opened_once(path, _state(path))
    _check_same(folder, {name: read_secret(folder / name) for name in files if is_there(folder / name)})
    for name, data in files.items():
        if not is_there(folder / name):
            write_secret(folder / name, data)
    for left in _left_over(folder):
        left.unlink()
    _forget(folder)
    path.rename(folder / UNSEALED_FILE)
    sync_folder(folder)
    _forget(folder)


def _forget(folder: Path) -> bool:
    """Let the keyring forget the passphrase of what was unsealed, and return whether there was any."""
    path = folder / UNSEALED_FILE
    if not is_there(path):
        return False
    head = read_sealed(path).head
    forget_passphrase(folder, head["by"], head["id"])
    path.unlink()
    return True


def _left_over(folder: Path) -> list[Path]:
    """Return what killed processes have left of writing secrets in the clear."""
    return [left for name in SECRET_FILES for left in unfinished(folder / name)]


def sealed_bytes(files: Mapping[str, bytes], phrase: str, by: str, number: bytes) -> bytes:
    """Return what a sealed file holds."""
    salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
    head = {"format": FORMAT, "by": by, "id": number.hex(), "salt": salt.hex(), "nonce": nonce.hex()}
    content = json.dumps({name: base64.b64encode(data).decode() for name, data in files.items()}).encode()
    closed = ChaCha20Poly1305(_key(phrase, salt)).encrypt(nonce, content, _bound(head))
    return (json.dumps({**head, "content": base64.b64encode(closed).decode()}, indent=1) + "\n").encode()


@dataclass(frozen=True, repr=False)
class Sealed:
    """A sealed file, still closed."""

    head: Mapping[str, str]
    salt: bytes
    nonce: bytes
    closed: bytes


def read_sealed(path: Path) -> Sealed:
    """Read a sealed file."""
    try:
        fields = json.loads(read_secret(path))
        head = {name: str(fields[name]) for name in ("format", "by", "id", "salt", "nonce")}
        closed = base64.b64decode(fields["content"], validate=True)
        sealed = Sealed(head, bytes.fromhex(head["salt"]), bytes.fromhex(head["nonce"]), closed)
        legal = head["format"] == FORMAT and len(sealed.salt) == _SALT_BYTES and len(sealed.nonce) == _NONCE_BYTES
    except (ValueError, KeyError, TypeError, RecursionError):
        legal = False
    if not legal:
        raise IdentityError(f"{path} is damaged, or no file of sealed keys: {CURE}")
    return sealed


@lru_cache(maxsize=4)
def _opened_once(path: Path, state: tuple[int, ...]) -> Mapping[str, bytes]:
    """Open a sealed file, as it was at this moment; a process asks for its passphrase once."""
    del state
    sealed = read_sealed(path)
    phrase = passphrase_of(path.parent, sealed.head["by"], sealed.head["id"])
    cipher = ChaCha20Poly1305(_key(phrase, sealed.salt))
    try:
        content = json.loads(cipher.decrypt(sealed.nonce, sealed.closed, _bound(sealed.head)))
    except InvalidTag:
        raise IdentityError(f"{path} does not open: the passphrase is another, or the file was changed") from None
    return {name: base64.b64decode(content[name]) for name in SECRET_FILES}


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode


def _key(phrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(phrase.encode())


def _bound(head: Mapping[str, str]) -> bytes:
    return json.dumps(head, sort_keys=True).encode()


def _check_same(folder: Path, files: Mapping[str, bytes]) -> None:
    """Refuse to lose a secret that differs from the sealed one."""
    path = folder / SEALED_FILE
    kept = _opened_once(path, _state(path))
    for name, data in files.items():
        if data != kept[name]:
            raise IdentityError(f"{folder / name} is not what {SEALED_FILE} holds: move one of them away")
