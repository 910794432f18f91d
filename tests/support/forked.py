"""Processes of the command that begin where all is imported: most of what a short one does is to import.

A process that has the command's modules, and has done nothing, forks once for each that is to run. Such a process is as
real as one that is started, with a file descriptor for each stream, a folder and an environment of its own; it is a
child of the tests' process, which Linux makes the next parent of whatever has lost its own. Elsewhere it is started.
It ends when all is done that was to be done at its end: to take apart what it has imported would copy that first.
"""

import atexit
import ctypes
import fcntl
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from party.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
COTALLY = [sys.executable, "-m", "party.cli.main"]
DIES_AT_OPENINGS = "DIES_AT_OPENINGS"
"""Names the file of what a process has heard; it is killed at each opening that is not there yet."""
_SET_CHILD_SUBREAPER = 36


class Forked(subprocess.Popen[str]):
    """A process of the command with these words; all else as of `subprocess.Popen`."""

    def __init__(self, words: Sequence[str], **how: Any) -> None:
        super().__init__([*COTALLY, *words], text=True, **how)

    def _execute_child(self, args: Sequence[str], *how: Any) -> None:
        if sys.platform != "linux":
            super()._execute_child(args, *how)  # type: ignore[misc]  # it has no public name
            return
        cwd, env = how[4:6]
        read_in, write_in, read_out, write_out, read_err, write_err = how[9:15]
        streams = [own if given == -1 else given for own, given in enumerate((read_in, write_out, write_err))]
        words = list(args[len(COTALLY) :])
        self.pid = _ask(words, os.fspath(cwd or "."), dict(os.environ if env is None else env), streams)
        self._child_created = True
        for ours, theirs in ((write_in, read_in), (read_out, write_out), (read_err, write_err)):
            if ours != -1:
                os.close(theirs)
        if hasattr(self, "_devnull"):
            os.close(self._devnull)


def _ask(words: Sequence[str], folder: str, environment: Mapping[str, str], streams: Sequence[int]) -> int:
    """Let a process begin; return its number."""
    line = _parent(os.getpid())
    asked = json.dumps([words, str(Path.cwd() / folder), dict(environment)]).encode()
    socket.send_fds(line, [len(asked).to_bytes(4)], streams)
    line.sendall(asked)
    return int.from_bytes(_read(line, 4))


@cache
def _parent(own: int) -> socket.socket:
    """Start the process that forks, once for this process, which becomes the parent of all that it makes."""
    del own
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ours, theirs = socket.socketpair()
    words = [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())]
    subprocess.Popen(words, pass_fds=[theirs.fileno()], cwd=ROOT)
    theirs.close()
    return ours


def _read(line: socket.socket, size: int) -> bytes:
    read = line.recv(size, socket.MSG_WAITALL)
    if len(read) < size:
        raise EOFError
    return read


def _serve(line: socket.socket) -> None:
    """Fork whenever asked; return in what is forked."""
    atexit.register(_leave)  # the first, so that it is called after what those that are imported register
    for name in ("pyarrow.compute", "pyarrow.csv", "pyarrow.parquet"):  # what reads a table imports them then
        import_module(name)
    for command in COMMANDS.values():
        import_module(f"party.cli.arguments.{command.arguments}")
        import_module(f"party.cli.{command.work}")
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        head, streams, _, _ = socket.recv_fds(line, 4, 3)
        if not head:
            os._exit(0)
        words, folder, environment = json.loads(_read(line, int.from_bytes(head)))
        read, write = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if not child:
                line.close()
                os.close(read)
                os.close(write)
                _become(words, folder, environment, streams)
            os.write(write, child.to_bytes(4))
            os._exit(0)
        for each in (write, *streams):
            os.close(each)
        os.waitpid(between, 0)  # only then is its child the tests' own
        line.sendall(os.read(read, 4))
        os.close(read)


_codes = [1]  # of an end by an error that nobody has caught


def _leave() -> None:
    """Be no more."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_codes[-1])


def _become(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> NoReturn:
    """Be the command."""
    for own, given in enumerate(streams):
        os.dup2(given, own)
        os.close(given)
    sys.stdin, sys.stdout, sys.stderr = (open(own, "w" if own else "r") for own in range(3))  # noqa: PTH123, SIM115
    sys.stderr.reconfigure(line_buffering=True, errors="backslashreplace")
    if os.isatty(0):  # it is at a terminal of its own, as if somebody had opened that for it
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(folder)
    if heard := environment.pop(DIES_AT_OPENINGS, ""):
        import_module("tests.support.kills").die_at_openings(Path(heard))
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules["__main__"] = sys.modules["party.cli.main"]  # which a worker process imports as its own
    sys.argv = ["cotally", *words]
    try:
        sys.exit(main())
    except SystemExit as end:
        _codes.append(int(str(end.code)))
        raise


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
