"""The party's secrets: `secret.key`, from which its coins are made, and a key of each cipher.

All files are readable by their owner alone and are never overwritten: with another `secret.key` the same data set
would be disguised afresh, and the two copies could be averaged (FAULTS B1). Every fault of a file ends in an error that
names the file and the cure, but never a byte of the key (FAULTS 31, 94).
"""

import secrets
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from phe.paillier import generate_paillier_keypair

from party.compute.settings import FULL, SHORT
from party.errors import IdentityError
from party.files import read_bytes, write_new
from protocols.ciphers.curve import ORDER
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.encryption import ShortExponents
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError
from protocols.terms import Cipher

SECRET_FILE = "secret.key"  # noqa: S105  # a file's name
PAILLIER_FILE = "paillier.key"
CURVE_FILE = "curve.key"
KEY_FILES = (SECRET_FILE, PAILLIER_FILE, CURVE_FILE)
SECRET_BYTES = 32

_KINDS = {PAILLIER_FILE: "Paillier key", CURVE_FILE: "key of the curve"}
_PAILLIER_HEADER, _CURVE_HEADER = "cotally-paillier-key/1", "cotally-curve-key/1"
_MOST_BYTES = 1 << 16
_SHORT = ShortExponents()
_CURE = "restore it from a backup, or make a new party with `cotally init`"


def create_keys(folder: Path, bits: int, floor_bits: int = 2048) -> None:
    """Make all secrets in a folder.

    Args:
        folder: An existing folder.
        bits: Length of the Paillier modulus, even.
        floor_bits: The least that the length may be.

    Raises:
        IdentityError: The length is not possible, or a secret already exists: it is left as it is.
    """
    if bits < floor_bits or bits % 2:
        raise IdentityError(f"the key must have an even number of bits, {floor_bits} or more")
    for name in KEY_FILES:
        if (folder / name).exists():
            raise IdentityError(f"{folder / name} exists and is kept: a secret is never overwritten")
    key, x = _generate(bits), 1 + secrets.randbelow(ORDER - 1)
    _write_numbers(folder / PAILLIER_FILE, _PAILLIER_HEADER, {"n": key.p * key.q, "p": key.p, "q": key.q})
    _write_numbers(folder / CURVE_FILE, _CURVE_HEADER, {"point": _point(CurvePrivateKey(x)), "x": x})
    write_secret(folder / SECRET_FILE, secrets.token_bytes(SECRET_BYTES))


def _write_numbers(path: Path, header: str, numbers: Mapping[str, int]) -> None:
    lines = [header, *(f"{name} {number:x}" for name, number in numbers.items())]
    write_secret(path, "".join(f"{line}\n" for line in lines).encode())


def _point(key: CurvePrivateKey) -> int:
    return int.from_bytes(key.public_key.point, "big")


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


def load_keys(folder: Path, floor_bits: int, exponents: str = FULL) -> dict[Cipher, AnyKeyHolder]:
    """Return the holders of the party's keys; only here are the ciphers told apart.

    Args:
        folder: The party's.
        floor_bits: The least strength that a key may have, as `KeyHolder.bits` measures it.
        exponents: One of `party.compute.settings.EXPONENTS`; only Paillier takes notice.

    Raises:
        IdentityError: A key is missing, damaged, of the other cipher, open to others, too short, or its numbers do not
            fit together.
    """
    paillier = PaillierKeyHolder(_load_paillier(folder, floor_bits), _SHORT if exponents == SHORT else None)
    return {Cipher.PAILLIER: paillier, Cipher.CURVE: CurveKeyHolder(_load_curve(folder))}


def _load_curve(folder: Path) -> CurvePrivateKey:
    path = folder / CURVE_FILE
    point, x = _parse(path, _CURVE_HEADER, ("point", "x"))
    try:
        key = CurvePrivateKey(x)
    except InputError as error:
        raise IdentityError(f"{path} cannot be used, {error}: {_CURE}") from None
    if _point(key) != point:
        raise IdentityError(f"{path} is damaged, its number does not give its point: {_CURE}")
    return key


def _load_paillier(folder: Path, floor_bits: int) -> PrivateKey:
    path = folder / PAILLIER_FILE
    n, p, q = _parse(path, _PAILLIER_HEADER, ("n", "p", "q"))
    if min(n, p, q) < 3:
        raise _damaged(path)
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


def _parse(path: Path, header: str, names: Sequence[str]) -> list[int]:
    """Read the numbers of a key, which stand under these names below this header."""
    try:
        first, *lines, end = read_secret(path).decode("ascii").split("\n")
        found, texts = zip(*(line.split(" ") for line in lines), strict=True)
        numbers = [int(text, 16) for text in texts]
    except ValueError:
        raise _damaged(path) from None
    if first != header or found != tuple(names) or end:
        raise _damaged(path)
    return numbers


def _damaged(path: Path) -> IdentityError:
    return IdentityError(f"{path} is empty, cut short or not a {_KINDS[path.name]}: {_CURE}")
