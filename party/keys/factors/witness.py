"""The witness of a store: what the store must look like, in memory that no backup or disk snapshot holds.

It is a small file in `/dev/shm`, one for each party's key, gone when the machine stops, and the lock of the store. It
is authenticated, and bound to this start of the machine.
"""

import fcntl
import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from party.errors import FactorsError
from party.keys.factors.seal import BOTTOM, ID_BYTES, TAG_BYTES
from protocols.randomness import keyed_digest

MEMORY = Path("/dev/shm")  # noqa: S108  # memory is what is wanted
_MOUNTS = Path("/proc/self/mounts")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

_CLOCK_STEP = 5.0  # seconds that the clock may be off after a pause of the machine
_PAUSE = 0.01
_DIGEST_BYTES = 32
_MARK = struct.Struct(f">{ID_BYTES}sQQQQ{TAG_BYTES}s")
_PLACE = struct.Struct(">36sd")


@dataclass(frozen=True)
class Machine:
    """What tells one start of a machine from another.

    Args:
        memory: A folder that is kept in memory only.
        boot: The id that the system drew when it started.
        clock: Time of day less time since the start; it changes only when the clock is set.
    """

    memory: Path
    boot: str
    clock: float

    @classmethod
    def here(cls) -> "Machine":
        """Describe this machine, now.

        Raises:
            FactorsError: It has no folder in memory, or does not tell its starts apart.
        """
        try:
            mounts = [line.split()[1:3] for line in _MOUNTS.read_text().splitlines()]
            boot = _BOOT_ID.read_text().strip()
        except OSError:
            mounts, boot = [], ""
        if [str(MEMORY), "tmpfs"] not in mounts or len(boot) != 36:
            raise FactorsError(f"factors can be kept on Linux only, with {MEMORY} in memory (tmpfs)")
        return cls(MEMORY, boot, time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


@dataclass(frozen=True)
class Mark:
    """What a store must look like.

    Args:
        store: Its id.
        device: The device of its file.
        inode: The file's number there.
        count: How many blocks may be used.
        most: How many the file may hold; more than `count` while blocks are added or taken, or after a crash at that
            point.
        top: Tag of the topmost block that may be used.
    """

    store: bytes = bytes(ID_BYTES)
    device: int = 0
    inode: int = 0
    count: int = 0
    most: int = 0
    top: bytes = BOTTOM

    def until(self, after: "Mark") -> "Mark":
        """Return the mark while the file changes to what it will be after: the lower of both may be used."""
        low = min(self, after, key=lambda mark: mark.count)
        return replace(low, most=max(self.count, after.count))

    def settled(self) -> "Mark":
        """Return the mark when the file holds exactly what may be used."""
        return replace(self, most=self.count)


class Witness:
    """The mark of one party's store on this machine.

    Args:
        machine: This start of this machine.
        key: Authenticates the mark; its name is derived from it too.
    """

    def __init__(self, machine: Machine, key: bytes) -> None:
        self._key, self._machine = key, machine
        self.path = machine.memory / f"cotally-{os.geteuid()}-{keyed_digest(key, b'name').hex()[:32]}"

    @contextmanager
    def locked(self, patience: float) -> Iterator["LockedWitness | None"]:
        """Hold the lock; yield None if it cannot be had within `patience` seconds.

        Raises:
            FactorsError: The file cannot be used.
        """
        handle = self._open()
        try:
            yield LockedWitness(handle, self._key, self._machine) if self._lock(handle, patience) else None
        finally:
            os.close(handle)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise FactorsError(f"{self.path} cannot be opened: {error.strerror}") from None
        status = os.fstat(handle)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077 or not stat.S_ISREG(status.st_mode):
            os.close(handle)
            raise FactorsError(f"{self.path} belongs or is open to another user: remove it")
        return handle

    def _lock(self, handle: int, patience: float) -> bool:
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(_PAUSE)
            except OSError as error:
                raise FactorsError(f"{self.path} cannot be locked: {error.strerror}") from None
            else:
                return True


class LockedWitness:
    """A witness whose lock is held."""

    def __init__(self, handle: int, key: bytes, machine: Machine) -> None:
        self._handle, self._key = handle, key
        self._boot, self._clock = machine.boot.encode(), machine.clock

    def read(self) -> Mark | None:
        """Return the mark, or None: there is none from this start of the machine, or the clock has been set."""
        data = os.pread(self._handle, _PLACE.size + _MARK.size + _DIGEST_BYTES, 0)
        body, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
        if digest != keyed_digest(self._key, b"mark", body):
            return None
        boot, clock = _PLACE.unpack_from(body)
        if boot != self._boot or abs(clock - self._clock) > _CLOCK_STEP:
            return None
        return Mark(*_MARK.unpack_from(body, _PLACE.size))

    def write(self, mark: Mark) -> None:
        """Replace the mark. NB: one write within one page of memory, so a killed process has made all of it or none.

        Raises:
            FactorsError: There is no memory left for it.
        """
        fields = (mark.store, mark.device, mark.inode, mark.count, mark.most, mark.top)
        body = _PLACE.pack(self._boot, self._clock) + _MARK.pack(*fields)
        data = body + keyed_digest(self._key, b"mark", body)
        try:
            written = os.pwrite(self._handle, data, 0)
        except OSError as error:
            raise FactorsError(f"{MEMORY} cannot be written: {error.strerror}") from None
        if written != len(data):
            raise FactorsError(f"{MEMORY} cannot be written: it is full")
