"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path

from protocols.errors import InputError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file by a finished one: a reader, or a crash, sees the old or the new, never a part.

    Raises:
        InputError: The file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        _replace(path, data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or 'output error'}") from None


def _replace(path: Path, data: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(21, "it is a folder")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_usual_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _usual_mode(path: Path) -> int:
    """Return the mode that the file has, or that a plainly created one would have."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def read_bytes(path: Path, most: int) -> bytes:
    """Read a whole plain file of at most `most` bytes.

    Raises:
        InputError: It is absent, unreadable, no plain file, or larger.
    """
    try:
        if not path.is_file():
            raise InputError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        if path.stat().st_size > most:
            raise InputError(f"{path} has more than {most} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or 'input error'}") from None


def check_writable(path: Path) -> None:
    """Make sure, before long work, that `write_atomically` will be able to write there.

    Raises:
        InputError: The path is a folder, or its folder does not exist or cannot be written to.
    """
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        problem = "cannot be written to" if path.parent.exists() else "does not exist"
        raise InputError(f"{path} cannot be written: the folder {path.parent} {problem}")
