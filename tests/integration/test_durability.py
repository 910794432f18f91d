"""What is said to be on the disk is there: a real process is traced, and its disk forgets all that was not synced.

When a call of fsync or fdatasync has returned (ptrace, Linux), the file is safe as it is then; when the file was a
folder, so are the names in it. What the system passes on to the disk, and what that does with it, is not seen.
"""

import ctypes
import os
import platform
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from party.records.journal import open_journal
from party.records.ledger import read_ledger
from party.settings.collector import read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import Reception, code_digest
from protocols.role import Part
from tests.support.collecting import UNRELATED, write_survey_files
from tests.support.examples import few

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


pytestmark = pytest.mark.skipif(not can_trace(), reason="no process may be traced here (ptrace, Linux)")
SECRET = bytes(32)
HEAD = """
    import os, sys
    from pathlib import Path
    folder, loose = Path(sys.argv[1]), sys.argv[2] == "loose"
    def said():
        os.write(1, b".")
"""
LEDGER = """
    from party.files import locked_folder
    from party.records.ledger import open_ledger
    with locked_folder(folder) as held, open_ledger(held, bytes(32)) as ledger:
        if loose:
            ledger._connection.execute("PRAGMA synchronous = OFF")
        for number in range(3):
            ledger.append({"time": "t", "peer": "bob", "fingerprint": "f", "kind": "k", "number": number})
            said()
"""
JOURNAL = """
    from party.records.journal import RunRecord, open_journal
    from protocols.role import Part
    with open_journal(folder, bytes(32)) as journal:
        if loose:
            journal._connection.execute("PRAGMA synchronous = OFF")
        journal.begin(RunRecord("00" * 8, "bob", "f", "d", {"kind": "train"}, "c", True, "t", "t"))
        for number in range(3):
            journal.keep("00" * 8, Part.ANSWERS, number, b"an answer")
            said()
"""
STORE = """
    from party.survey.web.databases import open_store
    with open_store(folder / "answers.sqlite", "5" * 64, make=True) as store:
        if loose:
            store._database._connection.execute("PRAGMA synchronous = OFF")
        for number in range(3):
            store.add_codes([bytes([number]) * 32])
            store.submit(bytes([number]) * 32, b"1", 3)
            said()
"""
FILE = """
    from party.files import write_atomically, write_new
    if loose:
        os.fsync = lambda handle: None
    for number in range(3):
        write_atomically(folder / "model.json", f"{number + 1}")
        write_new(folder / f"{number}.key", b"a key", 0o600)
        said()
"""


def in_ledger(folder: Path) -> int:
    with read_ledger(folder, SECRET) as ledger:
        return len(ledger)


def in_journal(folder: Path) -> int:
    with open_journal(folder, SECRET) as journal:
        return len(list(journal.recall("00" * 8, Part.ANSWERS)))


def in_store(folder: Path) -> int:
    with open_store(folder / "answers.sqlite", "5" * 64) as store:
        return len(store.responses())


def in_files(folder: Path) -> int:
    kept = sum((folder / f"{number}.key").read_bytes() == b"a key" for number in range(3) if _is(folder, number))
    return min(kept, int((folder / "model.json").read_text()))


def _is(folder: Path, number: int) -> bool:
    return (folder / f"{number}.key").exists()


KEPT: dict[str, tuple[str, Callable[[Path], int]]] = {
    "the ledger": (LEDGER, in_ledger),
    "the journal": (JOURNAL, in_journal),
    "the answers of a survey": (STORE, in_store),
    "files": (FILE, in_files),
}


def left(tmp_path: Path, what: str, *, loose: bool) -> list[int]:
    """Return how many things are left on the disk if the power goes when one, two, three are said to be there."""
    script, count = KEPT[what]
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    disk, found = Disk((folder,)), list[int]()

    def said() -> None:
        try:
            found.append(count(disk.after_power_loss(folder, tmp_path / "left")))
        except Exception:  # noqa: BLE001  # nothing that could be read
            found.append(0)

    command = [sys.executable, "-c", textwrap.dedent(HEAD) + textwrap.dedent(script), str(folder)]
    with disk.running([*command, "loose" if loose else "as ever"], said) as code:
        assert code == 0
    return found


@pytest.mark.parametrize("what", few([*KEPT], 2))
def test_what_is_said_to_be_kept_is_there_when_the_power_goes(tmp_path: Path, what: str) -> None:
    assert left(tmp_path, what, loose=False) == [1, 2, 3]


def test_a_code_that_somebody_can_read_counts_whenever_the_power_goes(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    path = write_survey_files(folder, UNRELATED)
    survey = survey_digest(read_collector_settings(path).questionnaire)
    disk, found = Disk((folder,)), list[int]()

    def look() -> None:
        left = disk.after_power_loss(folder, tmp_path / "left")
        if not (left / "links.csv").exists():
            return
        with open_store(left / "answers.sqlite", survey) as store:
            codes = [line.partition("#")[2].partition(",")[0] for line in (left / "links.csv").read_text().split()[1:]]
            found.append(len(codes))
            assert {store.submit(code_digest(code), b"\0", 1) for code in codes} == {Reception.TAKEN}

    words = ["survey", "links", str(path), "--number", "3", "-o", str(folder / "links.csv")]
    command = [sys.executable, "-c", f"from party.cli.main import main; main({words})"]
    with disk.running(command, look, look) as code:
        assert code == 0
    assert found[-1] == 3


@pytest.mark.parametrize("what", few([*KEPT], 2))
def test_where_nobody_asks_the_disk_to_keep_it_it_is_lost(tmp_path: Path, what: str) -> None:
    """The control: with `synchronous = OFF`, or without fsync, the same things look kept and are not."""
    found = left(tmp_path, what, loose=True)
    assert len(found) == 3
    assert max(found) < 3
