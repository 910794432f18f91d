"""The passphrase of a sealed folder at a real terminal: asked for, never shown; and the keyring of a desktop itself."""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from party.keys.keystore import SECRET_FILE, load_secret
from party.keys.passphrase import FILE_VARIABLE, asking
from party.keys.sealing import SEALED_FILE
from tests.support.forked import COTALLY, Forked
from tests.support.processes import make_pair

PHRASE = "correct horse battery staple"
OTHER = "another horse battery staple"
SECONDS = 60.0


class Terminal:
    """A command that runs at a terminal of its own, and what is on its screen."""

    def __init__(self, *arguments: str) -> None:
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 400, 0, 0))  # lines are not broken
        environment = {name: value for name, value in os.environ.items() if name != FILE_VARIABLE}
        ends = dict.fromkeys(("stdin", "stdout", "stderr"), self._slave)
        self._process = Forked(arguments, **ends, env=environment)
        self.screen, self._seen = "", 0

    def until(self, words: str) -> None:
        """Read until these words come after those that were waited for before."""
        end = time.monotonic() + SECONDS
        while (found := self.screen.find(words, self._seen)) < 0:
            assert time.monotonic() < end, self.screen
            assert self._read(), self.screen
        self._seen = found + len(words)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def end(self) -> int:
        """Wait for the end, and return the exit code."""
        code = self._process.wait(SECONDS)
        while self._read(wait=0.2):
            pass
        return code

    def _read(self, wait: float = 1.0) -> bool:
        """Read what is there; tell whether the command may still write."""
        if not select.select([self._master], [], [], wait)[0]:
            return self._process.poll() is None
        self.screen += os.read(self._master, 4096).decode()
        return True

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    opened = Terminal(*arguments)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def folder(trusting: Path, tmp_path: Path) -> Path:
    rows = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]
    return make_pair(trusting, tmp_path / "parties", (["a", "class"], rows), (["c"], [[row[0]] for row in rows])).bob


def seal(folder: Path) -> Terminal:
    """Seal a folder, with a slip at the first attempt."""
    with terminal("keys", "seal", str(folder)) as screen:
        screen.until(f"New passphrase for {folder}: ")
        assert not screen.echoes
        screen.type(f"{PHRASE}\n")
        screen.until("Once more: ")
        screen.type(f"{OTHER}\n")
        screen.until("These were not the same")
        screen.until("New passphrase")
        screen.type(f"{PHRASE}\n")
        screen.until("Once more: ")
        assert not screen.echoes
        screen.type(f"{PHRASE}\n")
        screen.until("Sealed: ")
        assert screen.end() == 0
        assert screen.echoes
    assert screen.screen.count("assphrase for") == 2  # once more after the slip, and no third time
    return screen


def test_a_folder_is_sealed_and_opened_by_what_is_typed_and_nothing_of_it_is_shown(folder: Path) -> None:
    secret = load_secret(folder)
    sealed = seal(folder)
    assert not (folder / SECRET_FILE).exists()
    with terminal("keys", "renew", str(folder)) as opened:
        opened.until(f"Passphrase for {folder}: ")
        assert not opened.echoes
        opened.type(f"{PHRASE}\n")
        opened.until("Renewed: ")
        assert opened.end() == 0
        assert opened.echoes
    for screen in (sealed, opened):
        assert PHRASE not in screen.screen
        assert OTHER not in screen.screen
        assert "*" not in screen.screen
    with asking(lambda *_: PHRASE):
        assert load_secret(folder) == secret


@pytest.mark.parametrize(
    ("keys", "code", "said"), [(f"{OTHER}\n", 2, "does not open"), ("\x03", 130, ""), ("\x04", 2, "is sealed")]
)
def test_another_phrase_an_interruption_and_an_end_open_nothing_and_leave_the_terminal_as_it_was(
    folder: Path, keys: str, code: int, said: str
) -> None:
    seal(folder)
    before = (folder / "cert.pem").read_bytes()
    with terminal("keys", "renew", str(folder)) as screen:
        screen.until("Passphrase for ")
        screen.type(keys)
        assert screen.end() == code, screen.screen
        assert screen.echoes
        assert said in screen.screen
        assert "Traceback" not in screen.screen
        assert OTHER not in screen.screen
    assert (folder / "cert.pem").read_bytes() == before
    assert (folder / SEALED_FILE).exists()


NEEDED = ("dbus-run-session", "gnome-keyring-daemon")
MISSING = [name for name in NEEDED if shutil.which(name) is None] + [
    name for name in ("keyring", "secretstorage") if find_spec(name) is None
]
UNLOCKED = 'printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"'
KEPT = """
import keyring, sys
print(keyring.get_password("cotally", sys.argv[1]) is not None)
"""
WHOLE = """
import json, subprocess, sys
from pathlib import Path
folder, kept, *cotally = sys.argv[1:]

def run(*words):
    done = subprocess.run([*cotally, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr

def is_kept(number):
    return subprocess.run([sys.executable, "-c", kept, number], capture_output=True, text=True).stdout == "True\\n"

run("init", "bob", "--dir", folder, "--key-bits", "2048", "--seal", "keyring")
first = json.loads(Path(folder, "sealed.keys").read_text())["id"]
assert is_kept(first)
run("keys", "renew", folder)
run("keys", "unseal", folder)
assert not is_kept(first)
run("keys", "seal", folder, "--by", "keyring")
assert is_kept(json.loads(Path(folder, "sealed.keys").read_text())["id"])
"""
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")


def on_a_bus(home: Path, *words: str, unlocked: bool) -> subprocess.CompletedProcess[str]:
    """Run a command where a keyring of its own can be had."""
    shown = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")}
    backend = {"PYTHON_KEYRING_BACKEND": "keyring.backends.SecretService.Keyring"}
    (home / "run").mkdir(parents=True, exist_ok=True, mode=0o700)
    places = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "XDG_DATA_HOME": str(home / "data")}
    start = ["sh", "-c", UNLOCKED, "sh"] if unlocked else []
    return subprocess.run(
        ["dbus-run-session", "--", *start, *words],
        env={**shown, **backend, **places}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_a_folder_is_sealed_and_opened_by_the_keyring_of_the_desktop_which_then_forgets(tmp_path: Path) -> None:
    folder = tmp_path / "bob"
    done = on_a_bus(tmp_path / "home", sys.executable, "-c", WHOLE, str(folder), KEPT, *COTALLY, unlocked=True)
    assert done.returncode == 0, done.stderr
    locked = on_a_bus(tmp_path / "other", *COTALLY, "keys", "renew", str(folder), unlocked=False)
    (line,) = (each for each in locked.stderr.splitlines() if each.startswith("cotally: "))
    assert locked.returncode == 2
    assert "keyring" in line
    assert (folder / "sealed.keys").exists()
    assert not (folder / "key.pem").exists()
