"""Whether somebody cancels the run that a process waits in or for: it ends at once, and not at its next step."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from party.records.entries import job_content
from party.records.journal import JournalError, RunRecord, cancelled_here, read_journal, recorded_runs
from protocols.jobs import Job

CANCEL_LOOK_SECONDS: Final = 0.5


@contextmanager
def heeding_cancels(
    folder: Path, secret: bytes, at_work: Callable[[], str | None], interrupt: Callable[[Exception], None]
) -> Iterator[None]:
    """Look, twice a second, whether the run that a session is at was cancelled, and interrupt the session if so.

    A fault of the looking interrupts it too.

    Args:
        folder: Ours.
        secret: Of the journal.
        at_work: Tells the run that the session is at, if any.
        interrupt: Called once, by another thread.
    """
    over = threading.Event()
    thread = threading.Thread(
        target=_look, args=(folder, secret, at_work, interrupt, over), name="cancels", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _look(
    folder: Path,
    secret: bytes,
    at_work: Callable[[], str | None],
    interrupt: Callable[[Exception], None],
    over: threading.Event,
) -> None:
    try:
        with read_journal(folder, secret) as journal:
            while not over.wait(CANCEL_LOOK_SECONDS):
                if (run := at_work()) is not None:
                    journal.check_not_cancelled(run)
    except JournalError:
        pass  # who plays the run reads the same journal, and says what is wrong with it
    except Exception as error:  # noqa: BLE001  # a cancellation, or else nobody would look any more
        interrupt(error)


@dataclass(frozen=True)
class AwaitedRuns:
    """The runs that a process which calls its peer may be about to go on with.

    Args:
        folder: Ours.
        secret: Of the journal.
        job: What is proposed to the peer.
    """

    folder: Path
    secret: bytes = field(repr=False)
    job: Job
    _open: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_open", frozenset(each.run for each in self._runs() if each.is_open))

    def check(self) -> None:
        """Make sure that none of them was cancelled since.

        Raises:
            RunCancelledError: One was.
        """
        for each in self._runs():
            if each.run in self._open and not each.is_open:
                raise cancelled_here(each.run)

    def _runs(self) -> list[RunRecord]:
        content = job_content(self.job)
        return [each for each in recorded_runs(self.folder, self.secret) if each.job == content]
