"""Files that are either whole or not there."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from protocols.errors import InputError

PRIVATE_FILES = ("*.key", "*.keys", "key.pem", "*.store", "*.sqlite", "*.sqlite-wal", "alignments.json")
"""Names of the files in a party's folder that are its owner's alone."""
OLD_RECORD = "releases.json"
"""What 0.1 kept of releases, in the place of a ledger."""
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)  # what file systems without hard links say, such as FAT
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file by a finished one: a reader, or a crash, sees the old one or the new one, never a part."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with _finished(path, data, _usual_mode(path)) as temporary:
            temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or 'output error'}") from None


def write_new(path: Path, data: bytes, mode: int) -> None:
    """Make a new file, whole and on the disk, or raise `OSError`; one that exists is left as it is."""
    with new_file(path, data, mode):
        pass


@contextmanager
def new_file(path: Path, data: bytes, mode: int) -> Iterator[None]:
    """Make a new file, as `write_new`, that gets its name when the context ends well; until then it has another."""
    with _finished(path, data, mode) as temporary:
        yield
        try:
            path.hardlink_to(temporary)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            path.touch(mode, exist_ok=False)
            temporary.replace(path)


@contextmanager
def _finished(path: Path, data: bytes, mode: int) -> Iterator[Path]:
    """Yield a file beside `path` that holds the data, to be renamed; then make sure that the disk has the name too."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_unfinished_prefix(path))
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _unfinished_prefix(path: Path) -> str:
    return f".{path.name[:40]}."


def unfinished(path: Path) -> list[Path]:
    """Return what processes that were killed have left of writing a file: others beside it, whole or in part."""
    return [each for each in path.parent.iterdir() if each.name.startswith(_unfinished_prefix(path))]


def sync_folder(folder: Path) -> None:
    """Make sure that the disk has the names of a folder's files, where it can be asked to."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _usual_mode(path: Path) -> int:
    """Return the mode that the file has, or that a new one would get by default."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def read_bytes(path: Path, most: int) -> bytes:
    """Read a whole regular file of at most `most` bytes."""
    try:
        if not path.is_file():
            raise InputError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        if path.stat().st_size > most:
            raise InputError(f"{path} has more than {most} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or 'input error'}") from None


def check_writable(path: Path) -> None:
    """Make sure, before long work, that `write_atomically` will be able to write there."""
    try:
        if path.is_dir():
            raise InputError(f"{path} cannot be written: it is a folder")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} cannot be written: it is not a regular file")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            problem = "cannot be written to" if path.parent.exists() else "does not exist: make it first"
            raise InputError(f"{path} cannot be written: the folder {path.parent} {problem}")
        path.exists()  # an error for a name that is too long
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or 'output error'}") from None


def check_target(path: Path, reads: Iterable[Path]) -> None:
    """Make sure, before long work, that an output can be written and destroys nothing that is read for it."""
    check_writable(path)
    if resolved(path) in map(resolved, reads):
        raise InputError(f"{path} is read by this command: write to another file")


def kept_apart(path: Path, is_same: Callable[[Path], bool] = lambda _: False) -> Path:
    """Return where an output may go: the first of `model.json`, `model-2.json`, ... that is free, or the same."""
    candidate, number = path, 1
    while is_there(candidate) and not is_same(candidate):
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def is_there(path: Path) -> bool:
    """Return whether there is a file or folder."""
    try:
        return path.exists()
    except OSError as error:
        raise InputError(f"{path} cannot be used: {error.strerror or 'input error'}") from None


def resolved(path: Path) -> Path:
    """Return the path without links and dots: two such paths are equal if the files are the same."""
    try:
        with suppress(FileNotFoundError):
            path.stat()
        return path.resolve()
    except OSError as error:
        raise InputError(f"{path} cannot be used: {error.strerror or 'input error'}") from None


def check_own_folder(folder: Path) -> None:
    """Refuse a folder that others can write to: they could put other settings, keys or certificates there."""
    try:
        status = folder.stat()
    except OSError as error:
        raise InputError(f"{folder} cannot be used: {error.strerror or 'input error'}") from None
    if status.st_mode & 0o022:
        raise InputError(f"others can write to {folder}: take that from them (`chmod go-w {folder}`)")
    if status.st_uid not in (0, os.geteuid()):
        raise InputError(f"{folder} belongs to another user, who can change what is in it: use a folder of your own")


def check_party_folder(folder: Path, *, older: bool = False) -> None:
    """Refuse a party's folder that others can write to, and one in which they can read what is its owner's alone.

    One of 0.1 is refused too, unless `older`: what it released stands where nobody would look for it here.
    """
    check_own_folder(folder)
    if not older and (folder / OLD_RECORD).exists():
        raise InputError(f"{folder} is of cotally 0.1: run `cotally upgrade {folder}`")
    for path in sorted(path for pattern in PRIVATE_FILES for path in folder.glob(pattern)):
        with suppress(FileNotFoundError):  # another process may have removed it
            if path.stat().st_mode & 0o077:
                raise InputError(f"{path} is open to other users: run `chmod 600 {path}`")


@dataclass(frozen=True)
class FolderLock:
    """Proof that no other process works in a folder. Made by `locked_folder` alone."""

    _path: Path
    _handle: int

    @property
    def folder(self) -> Path:
        """The folder, as long as its path leads to what is held."""
        with suppress(OSError):
            if os.path.samestat(os.fstat(self._handle), self._path.stat()):
                return self._path
        raise InputError(f"{self._path} was moved or replaced while `cotally` works in it: start again")


def is_locked(folder: Path) -> bool:
    """Return whether a process works in a folder."""
    try:
        handle = _opened_folder(folder)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


@contextmanager
def locked_folder(folder: Path) -> Iterator[FolderLock]:
    """Hold a folder for as long as the context lasts; the system lets go of it when the process dies.

    What is locked is the folder itself: a file in it could be deleted, and the folder be taken twice.
    """
    try:
        handle = _opened_folder(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise InputError(
                f"another `cotally` process is working in {folder}: wait until it ends, or end it"
            ) from None
        raise InputError(
            f"{folder} cannot be locked ({error.strerror}): use a folder on a disk of this machine"
        ) from None
    try:
        yield FolderLock(folder, handle)
    finally:
        os.close(handle)


def _opened_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
