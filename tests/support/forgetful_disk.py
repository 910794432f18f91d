"""A disk that forgets whatever nobody has asked it to keep, made of the system calls of a real process.

A child is traced (ptrace, Linux). When one of its calls of fsync or fdatasync has returned, the file is safe as it is
then; when the file was a folder, so are the names in it. `after_power_loss` lays out what would be left of the disk at
the moment when the child says something: at best, for a real one may lose more. What the system passes on to the disk,
and what that does with it, is not seen.
"""

import ctypes
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_SYSCALL, _SET_OPTIONS, _GET_SYSCALL_INFO = 24, 0x4200, 0x420E
_OPTIONS = 0x1 | 0x100000  # stops of system calls are told apart; the child ends with us
_ENTRY, _EXIT = 1, 2
_TRACED = "import ctypes, os, sys; ctypes.CDLL(None).ptrace(0, 0, None, None); os.execv(sys.argv[1], sys.argv[1:])"
_CALLS = {"x86_64": {"write": 1, "fsync": 74, "fdatasync": 75}, "aarch64": {"write": 64, "fsync": 82, "fdatasync": 83}}


class _Info(ctypes.Structure):
    _fields_ = [
        ("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32), ("ip", ctypes.c_uint64),
        ("sp", ctypes.c_uint64), ("first", ctypes.c_int64), ("arguments", ctypes.c_uint64 * 6),
    ]  # fmt: skip


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _ptrace(request: int, pid: int, address: int, data: object) -> int:
    libc = _libc()
    libc.ptrace.restype = ctypes.c_long
    return int(libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(address), data))


@cache
def can_trace() -> bool:
    """Tell whether a process may trace its child here."""
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        return False
    said: list[Path] = []
    with Disk().running([sys.executable, "-c", "import os; os.write(1, b'.')"], lambda: said.append(Path())) as code:
        return code == 0 and bool(said)


@dataclass
class Disk:
    """What is safe of some folders: which file each name leads to, and what each file holds, by its number."""

    folders: tuple[Path, ...] = ()
    _names: dict[Path, dict[str, int]] = field(default_factory=dict, init=False)
    _files: dict[int, bytes] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for folder in self.folders:
            self._keep(folder)
            for path in folder.iterdir():
                self._keep(path)

    def _keep(self, path: Path) -> None:
        if path in self.folders:
            self._names[path] = {each.name: each.stat().st_ino for each in path.iterdir() if each.is_file()}
        elif path.is_file():
            self._files[path.stat().st_ino] = path.read_bytes()

    def after_power_loss(self, folder: Path, place: Path) -> Path:
        """Lay out what would be left of a folder."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        for name, number in self._names[folder].items():
            (place / name).touch(0o600)
            (place / name).write_bytes(self._files.get(number, b""))
        return place

    @contextmanager
    def running(
        self, command: Sequence[str], said: Callable[[], None], synced: Callable[[], None] = lambda: None
    ) -> Iterator[int]:
        """Run a child to its end and return its exit code.

        `said` is called whenever it writes to its output, `synced` whenever more is safe.
        """
        calls = {number: name for name, number in _CALLS[platform.machine()].items()}
        child = subprocess.Popen([sys.executable, "-c", _TRACED, *command], stdout=subprocess.DEVNULL)
        try:
            yield self._trace(child.pid, calls, said, synced)
        finally:
            child.returncode = 0  # it was waited for here

    def _trace(self, pid: int, calls: dict[int, str], said: Callable[[], None], synced: Callable[[], None]) -> int:
        call, arguments, started, passed = "", (0, 0), False, 0
        while True:
            _, status = os.waitpid(pid, 0)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                return os.waitstatus_to_exitcode(status)
            stopped = os.WSTOPSIG(status)
            if not started:
                started = _ptrace(_SET_OPTIONS, pid, 0, ctypes.c_void_p(_OPTIONS)) == 0
            elif stopped == signal.SIGTRAP | 0x80:
                info = _Info()
                _ptrace(_GET_SYSCALL_INFO, pid, ctypes.sizeof(info), ctypes.byref(info))
                if info.op == _ENTRY:
                    call, arguments = calls.get(info.first, ""), (info.arguments[0], info.arguments[1])
                    if call == "write" and arguments[0] == 1:
                        said()
                elif info.op == _EXIT and call in ("fsync", "fdatasync") and info.first == 0:
                    self._keep(Path(f"/proc/{pid}/fd/{arguments[0]}").readlink())
                    synced()
            else:
                passed = 0 if stopped == signal.SIGTRAP else stopped
            _ptrace(_SYSCALL, pid, 0, ctypes.c_void_p(passed))
            passed = 0
