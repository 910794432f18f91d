"""Strangers at a node's port: whatever they send, the node says nothing of it in words that are not its own."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.processes import finish, make_pair, serving

ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]
GARBAGE = (b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n", os.urandom(2000), b"\x16\x03\x01\x02\x00\x01", b"")


def knock(address: str) -> None:
    """Send what is no TLS, then begin TLS without a certificate."""
    host, port = address.rsplit(":", 1)
    for data in GARBAGE:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 5) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            line.recv(100)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with (
        contextlib.suppress(OSError),
        socket.create_connection((host, int(port)), 5) as line,
        context.wrap_socket(line) as secure,
    ):
        secure.recv(100)


@pytest.mark.parametrize("verbosity", ["", "INFO"])
def test_handshakes_of_strangers_print_nothing_of_grpcs(
    trusting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbosity: str
) -> None:
    """Anybody who asks for gRPC's own lines by its variable has them: they are there to be kept back.

    The variable is read when gRPC is loaded, so this process is one of its own.
    """

    def started(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "party.cli.main", *arguments]
        return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    monkeypatch.setattr(processes, "start", started)
    if verbosity:
        monkeypatch.setenv("GRPC_VERBOSITY", verbosity)
    else:
        monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    pair = make_pair(trusting, tmp_path / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))
    with serving(pair, "--progress", "none") as alice:
        knock(pair.listening)
        assert alice.poll() is None
        alice.terminate()
        told = finish(alice)
    assert told.code == 0
    assert bool(re.search(r"handshak|SSL|\.cc:\d+", told.err, re.IGNORECASE)) is bool(verbosity), told.err
