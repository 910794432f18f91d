"""The party's two secrets: `secret.key`, from which its coins are made, and `paillier.key`.

Both files are readable by their owner alone and are never overwritten: with another `secret.key` the same data set
would be disguised afresh, and the two copies could be averaged (FAULTS B1). Every fault of a file ends in an error that
names the file and the cure, but never a byte of the key (FAULTS 31, 94).
"""

import secrets
import stat
from pathlib import Path

from phe.paillier import generate_paillier_keypair

from party.compute.settings import FULL, SHORT
from party.errors import IdentityError
from party.files import read_bytes, write_new
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.encryption import ShortExponents
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError

SECRET_FILE = "secret.key"  # noqa: S105  # a file's name
PAILLIER_FILE = "paillier.key"
SECRET_BYTES = 32

_HEADER = "cotally-paillier-key/1"
_MOST_BYTES = 1 << 16
_SHORT = ShortExponents()
_CURE = "restore it from a backup, or make a new party with `cotally init`"


def create_keys(folder: Path, bits: int, floor_bits: int = 2048) -> None:
    """Make both secrets in a folder.

    Args:
        folder: An existing folder.
        bits: Length of the Paillier modulus, even.
        floor_bits: The least that the length may be.

    Raises:
        IdentityError: The length is not possible, or a secret already exists: it is left as it is.
    """
    if bits < floor_bits or bits % 2:
        raise IdentityError(f"the key must have an even number of bits, {floor_bits} or more")
    for name in (SECRET_FILE, PAILLIER_FILE):
        if (folder / name).exists():
            raise IdentityError(f"{folder / name} exists and is kept: a secret is never overwritten")
    key = _generate(bits)
    lines = [_HEADER, *(f"{name} {value:x}" for name, value in (("n", key.p * key.q), ("p", key.p), ("q", key.q)))]
    write_secret(folder / PAILLIER_FILE, "".join(f"{line}\n" for line in lines).encode())
    write_secret(folder / SECRET_FILE, secrets.token_bytes(SECRET_BYTES))


def _generate(bits: int) -> PrivateKey:
    while True:
        _, key = generate_paillier_keypair(n_length=bits)
        try:
            return PrivateKey(key.p, key.q)
        except InputError:  # the factors happen to be too close
            continue


def write_secret(path: Path, data: bytes) -> None:
    """Make a file that its owner alone can read: whole on the disk before this returns, or not there.

    Raises:
        IdentityError: It exists, and is left as it is; or it cannot be written.
    """
    try:
        write_new(path, data, 0o600)
    except FileExistsError:
        raise IdentityError(f"{path} exists and is kept: a secret is never overwritten") from None
    except OSError as error:
        raise IdentityError(f"{path} cannot be written: {error.strerror or 'output error'}") from None


def load_secret(folder: Path) -> bytes:
    """Return the secret from which the coins are made.

    Raises:
        IdentityError: It is missing, truncated or open to others.
    """
    data = read_secret(folder / SECRET_FILE)
    if len(data) != SECRET_BYTES:
        raise IdentityError(f"{folder / SECRET_FILE} is not {SECRET_BYTES} bytes long: {_CURE}")
    return data


def load_key_holder(folder: Path, floor_bits: int, exponents: str = FULL) -> AnyKeyHolder:
    """Return the holder of the party's key; only here is its cipher known.

    Args:
        folder: The party's.
        floor_bits: The least strength that the key may have, as `KeyHolder.bits` measures it.
        exponents: One of `party.compute.settings.EXPONENTS`.

    Raises:
        IdentityError: The key is missing, damaged, open to others, too short, or its numbers do not fit together.
    """
    return PaillierKeyHolder(_load_private_key(folder, floor_bits), _SHORT if exponents == SHORT else None)


def _load_private_key(folder: Path, floor_bits: int) -> PrivateKey:
    path = folder / PAILLIER_FILE
    n, p, q = _parse(path, read_secret(path))
    if p * q != n:
        raise IdentityError(f"{path} is damaged, its factors do not give its modulus: {_CURE}")
    try:
        key = PrivateKey(p, q)
    except InputError as error:
        raise IdentityError(f"{path} cannot be used, {error}: {_CURE}") from None
    if key.public_key.bits < floor_bits:
        raise IdentityError(
            f"{path} has {key.public_key.bits} bits, this run needs {floor_bits}: "
            "make a party with a longer key, or agree on fewer"
        )
    return key


def read_secret(path: Path, most: int = _MOST_BYTES, cure: str = _CURE) -> bytes:
    """Read a file that only its owner can read.

    Args:
        path: The file.
        most: The most bytes that it may have.
        cure: What to do where it cannot be read.

    Raises:
        IdentityError: It is missing, too large, unreadable or open to others.
    """
    try:
        data = read_bytes(path, most)
    except InputError as error:
        raise IdentityError(f"{error}: {cure}") from None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise IdentityError(f"{path} is open to other users: run `chmod 600 {path}`")
    return data


def _parse(path: Path, data: bytes) -> tuple[int, int, int]:
    damaged = IdentityError(f"{path} is empty, cut short or not a Paillier key: {_CURE}")
    try:
        header, *lines, end = data.decode("ascii").split("\n")
        names, values = zip(*(line.split(" ") for line in lines), strict=True)
        n, p, q = (int(value, 16) for value in values)
    except ValueError:
        raise damaged from None
    if header != _HEADER or names != ("n", "p", "q") or end or min(n, p, q) < 3:
        raise damaged
    return n, p, q
