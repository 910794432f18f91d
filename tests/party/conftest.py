"""A small model's file, a database server, and what is measured and looked at once for all tests."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from party.forecast.model import Means, measure
from party.models.any_file import write_model
from protocols.ciphers.paillier.arithmetic import is_prime
from protocols.terms import Terms
from tests.support.models import small_model


@pytest.fixture(scope="session", autouse=True)
def _measured_once() -> Iterator[None]:
    """Take a third of a second for each cipher, not for each job, and look once at each prime of the keys."""
    known: dict[tuple[bool, int], Means] = {}

    def measured(terms: Terms, local: Any, *by: Any) -> Means:
        kind = terms.encrypts, local.secrets.key.bits
        if kind not in known:
            known[kind] = measure(terms, local, *by)
        return known[kind]

    with ExitStack() as stack:
        stack.enter_context(patch("protocols.ciphers.paillier.keys.is_prime", cache(is_prime)))
        for place in ("node.approval", "cli.oversight", "cli.train"):
            stack.enter_context(patch(f"party.{place}.measure", measured))
        yield


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
