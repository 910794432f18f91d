"""The party's secrets: `secret.key`, from which its coins are made, and the key of counts.

All files are readable by their owner alone and are never overwritten: with another `secret.key` the same data set
would be disguised afresh, and the two copies could be averaged (FAULTS B1). Every fault of a file ends in an error that
names the file and the cure, but never a byte of the key (FAULTS 31, 94).
"""

import secrets
from pathlib import Path

from phe.paillier import generate_paillier_keypair

from party.errors import IdentityError
from party.keys.passphrase import CURE
from party.keys.sealing import read_party_secret
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError

SECRET_FILE = "secret.key"  # noqa: S105  # a file's name
PAILLIER_FILE = "paillier.key"
SECRET_BYTES = 32

_HEADER = "cotally-paillier-key/1"
_NAMES = ["n", "p", "q"]


def make_keys(bits: int, floor_bits: int = 2048) -> dict[str, bytes]:
    """Draw all secrets; return the content of their files."""
    if bits < floor_bits or bits % 2:
        raise IdentityError(f"the key must have an even number of bits, {floor_bits} or more")
    key = _generate(bits)
    return {
        PAILLIER_FILE: "\n".join([_HEADER, f"n {key.p * key.q:x}", f"p {key.p:x}", f"q {key.q:x}", ""]).encode(),
        SECRET_FILE: secrets.token_bytes(SECRET_BYTES),
    }


def _generate(bits: int) -> PrivateKey:
    while True:
        _, key = generate_paillier_keypair(n_length=bits)
        try:
            return PrivateKey(key.p, key.q)
        except InputError:  # the factors happen to be too close
            continue


def load_secret(folder: Path) -> bytes:
    """Return the secret from which the coins are made."""
    data = read_party_secret(folder, SECRET_FILE)
    if len(data) != SECRET_BYTES:
        raise IdentityError(f"{folder / SECRET_FILE} is not {SECRET_BYTES} bytes long: {CURE}")
    return data


def load_key(folder: Path, floor_bits: int) -> AnyKeyHolder:
    """Return the holder of the party's key, as strong as the floor; only here is it known of which cipher it is."""
    path = folder / PAILLIER_FILE
    n, p, q = _parse(path)
    if min(n, p, q) < 3:
        raise _damaged(path)
    if p * q != n:
        raise IdentityError(f"{path} is damaged, its factors do not give its modulus: {CURE}")
    try:
        key = PrivateKey(p, q)
    except InputError as error:
        raise IdentityError(f"{path} cannot be used, {error}: {CURE}") from None
    if key.public_key.bits < floor_bits:
        raise IdentityError(
            f"{path} has {key.public_key.bits} bits, this run needs {floor_bits}: "
            "make a party with a longer key, or agree on fewer"
        )
    return PaillierKeyHolder(key)


def _parse(path: Path) -> list[int]:
    """Read the numbers of a key, which stand under their names below the header."""
    try:
        first, *lines, end = read_party_secret(path.parent, path.name).decode("ascii").split("\n")
        found, texts = zip(*(line.split(" ") for line in lines), strict=True)
        numbers = [int(text, 16) for text in texts]
    except ValueError:
        raise _damaged(path) from None
    if first != _HEADER or list(found) != _NAMES or end:
        raise _damaged(path)
    return numbers


def _damaged(path: Path) -> IdentityError:
    return IdentityError(f"{path} is empty, cut short or not a Paillier key: {CURE}")
