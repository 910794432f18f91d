"""Files that their owner alone can read: written whole and never over another, refused where others can read them."""

import stat
from pathlib import Path

from party.errors import IdentityError
from party.files import read_bytes, write_new
from protocols.errors import InputError

_MOST_BYTES = 1 << 16
CURE = "restore it from a backup, or make a new party with `cotally init`"


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


def read_secret(path: Path, most: int = _MOST_BYTES, cure: str = CURE) -> bytes:
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
