"""The two processes of a demo: each is one `Party` in its own folder and knows nothing else."""

import signal
import socket
import threading
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from party.closing import Closing
from party.compute.pool import SPAWN, end_with_parent
from party.demo.options import PartyFailedError
from party.errors import exit_code
from party.node.players import OnProgress
from party.programs.party import Party
from party.records.run_file import TrainReport
from party.show.log import incident
from protocols.errors import CotallyError
from protocols.role import Progress

_END_SECONDS = 10.0
_OTHER_SECONDS = 1.0  # in which the other side may say why it failed too


def free_port() -> int:
    """Return a port of this machine that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PartyProcess(Closing):
    """One party's process. It serves, or trains where it is given a job, and ends with this context or our process."""

    def __init__(self, folder: Path) -> None:
        self.party = folder.name
        self.line, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_work, args=(theirs, folder))
        self._process.start()
        theirs.close()
        self.pid = self._process.pid or 0

    def close(self) -> None:
        """End the process, by force if it does not end by itself."""
        self._process.terminate()
        self._process.join(_END_SECONDS)
        self._process.kill()
        self._process.join()
        self.line.close()

    def begin(self, model: str, job: str | None = None) -> None:
        """Let it take part in one run: the peer's, or its own by this job."""
        with suppress(OSError):  # it has ended, and `told` says why
            self.line.send((model, job))

    def told(self) -> Progress | TrainReport | PartyFailedError:
        """Wait for the next that it tells: how far the run is, and how that ended."""
        try:
            told: Progress | TrainReport | tuple[str, int] = self.line.recv()
        except (EOFError, OSError):
            self._process.join(_END_SECONDS)
            told = "ended without a word", self._process.exitcode or 1
        return PartyFailedError(self.party, *told) if isinstance(told, tuple) else told


def run_together(
    server: PartyProcess, trainer: PartyProcess, job: str, model: str, on_progress: OnProgress
) -> TrainReport:
    """Let both sides make one run, and return the trainer's report."""
    server.begin(model)
    trainer.begin(model, job)
    waiting = [trainer, server]
    failed: dict[PartyProcess, PartyFailedError] = {}
    reports: dict[PartyProcess, TrainReport] = {}
    while waiting and (ready := wait([side.line for side in waiting], _OTHER_SECONDS if failed else None)):
        for side in [each for each in waiting if each.line in ready]:
            match told := side.told():
                case Progress():
                    if side is trainer:
                        on_progress(told)
                    continue
                case TrainReport():
                    reports[side] = told
                case PartyFailedError():
                    failed[side] = told
            waiting.remove(side)
    if failed:
        first, *others = (failed[side] for side in (trainer, server) if side in failed)
        raise PartyFailedError(first.party, "; ".join([first.problem, *map(str, others)]), first.code)
    return reports[trainer]


def _work(line: "Connection[Any, Any]", folder: Path) -> None:
    """Be the party of this folder: take part in one run after another, until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # our parent's to deal with
    threading.Thread(target=end_with_parent, name="leash", daemon=True).start()
    try:
        with suppress(EOFError), ExitStack() as stack:
            party = Party(folder, workers=None, on_progress=line.send)
            listening = stack.enter_context(party.listening()) if party.config.node.listen else None
            while True:
                model, job = line.recv()
                if listening is not None:
                    run = listening.answer(folder / model)
                else:
                    run = party.train(folder / job, folder / model)
                line.send(run.report)
    except CotallyError as error:
        line.send((str(error), exit_code(error)))
    except Exception as error:  # noqa: BLE001  # the last frame of this process
        line.send((incident(error), 1))
