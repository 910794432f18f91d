"""The two processes of a demo, each of which is started in the folder of its party and knows nothing else."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from party.closing import Closing
from party.demo.options import PartyFailedError
from party.show.progress import Failure, Ready, Step, parse_line

OnStep = Callable[[Step], None]

_START_SECONDS = 60
_END_SECONDS = 10


def free_port() -> int:
    """Return a port of this machine that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PartyProcess(Closing):
    """One party's process, made by `started`. As a context manager it ends with it."""

    def __init__(self, party: str, log: Path, process: subprocess.Popen[str]) -> None:
        self.party, self._log, self._process = party, log, process
        self._error = ""

    @classmethod
    def started(cls, party: str, folder: Path, *arguments: str) -> Self:
        """Start a command of `cotally` that shows progress, in the party's folder: it reports by JSON lines."""
        process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-P", "-m", "party.cli.leashed", *arguments, "--progress", "json"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        return cls(party, folder / "log.txt", process)

    def close(self) -> None:
        """End the process, by force if it does not end by itself."""
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def error(self) -> str:
        """The last error that the process reported since this was last cleared."""
        return self._error

    def clear_error(self) -> None:
        """Forget earlier errors."""
        self._error = ""

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        return self._process.wait()

    def events(self) -> Iterator[Step | Ready | Failure]:
        """Yield what the process reports; what it says for people goes to its log."""
        assert self._process.stderr is not None  # noqa: S101  # it was asked for
        with self._log.open("a", encoding="utf-8") as log, self._process.stderr as stream:
            for line in stream:
                event = parse_line(line)
                if event is None:
                    log.write(line)
                    log.flush()
                    continue
                if isinstance(event, Failure):
                    self._error = event.text
                yield event


class Server(PartyProcess):
    """A party that serves until it is stopped. Entering its context waits until it listens.

    Raises:
        PartyFailedError: It does not come to listen.
    """

    def __init__(self, party: str, log: Path, process: subprocess.Popen[str]) -> None:
        super().__init__(party, log, process)
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        for event in self.events():
            if isinstance(event, Ready):
                self._ready.set()
        self._ready.set()  # it has ended: nobody need wait any longer

    def __enter__(self) -> Self:
        self._reader.start()
        if not self._ready.wait(_START_SECONDS) or not self._reader.is_alive():
            self.close()
            raise PartyFailedError(self.party, self.error, self.code)
        return self

    def close(self) -> None:
        """End the process and its reader."""
        super().close()
        self._reader.join(_END_SECONDS)


def train(folder: Path, party: str, arguments: tuple[str, ...], server: Server, on_progress: OnStep) -> None:
    """Run one `cotally train` to its end.

    Raises:
        PartyFailedError: It failed, or the server did.
    """
    server.clear_error()
    with PartyProcess.started(party, folder, "train", *arguments) as process:
        for event in process.events():
            if isinstance(event, Step):
                on_progress(event)
        code = process.wait()
    if code == 0:
        return
    if server.code is not None:
        raise PartyFailedError(server.party, server.error, server.code)
    also = f"; {server.party}: {server.error}" if server.error and server.error != process.error else ""
    raise PartyFailedError(party, process.error + also, code)
