"""A small model's file, and a database server."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.models.any_file import write_model
from tests.support.models import small_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(tmp_path / "model.json", small_model())
    return tmp_path / "model.json"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server of its own; skipped where there is none."""
    programs = [shutil.which(name) for name in ("initdb", "pg_ctl")]
    if None in programs:
        pytest.skip("no PostgreSQL on this machine")
    data = Path(tempfile.mkdtemp())  # a short path for its socket, that others may enter where it runs as nobody
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    as_other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    if as_other:
        shutil.chown(data, "nobody", "nogroup")  # PostgreSQL does not run as root
    try:
        _run([*as_other, str(programs[0]), "-D", f"{data}/d", "-A", "trust", "-U", "cotally", "--no-sync"], data)
        options = f"-p {port} -k {data} -c listen_addresses=127.0.0.1"
        _run([*as_other, str(programs[1]), "-D", f"{data}/d", "-o", options, "-w", "-l", f"{data}/log", "start"], data)
        try:
            yield f"postgresql://cotally@127.0.0.1:{port}/"
        finally:
            _run([*as_other, str(programs[1]), "-D", f"{data}/d", "-m", "immediate", "stop"], data)
    finally:
        shutil.rmtree(data)


def _run(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
