"""The keyring of a desktop itself: sealed by it, opened by it, forgotten by it (GNOME's, over a bus of its own)."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.forked import COTALLY

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
