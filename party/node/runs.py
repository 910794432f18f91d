"""Runs that may go on (DESIGN 12): which of the journal's both parties mean, and what becomes of it in a session.

A run ends when both hold its model, when one side cancels it or finds a deviation, or when the parties find that they
differ. Whatever else ends a session pauses its run: it goes on when both meet again with the same job and data.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from party.closing import beside
from party.errors import (
    PausedError,
    PeerAbortedError,
    PeerCancelledError,
    PeerLostError,
    PeerStoppedError,
    RunCancelledError,
)
from party.records.journal import (
    Journal,
    JournalError,
    KeptRun,
    RunRecord,
    RunState,
    cancelled_here,
    read_journal,
    recorded_runs,
)
from party.records.ledger import PeerEntries, PeerName
from party.records.run_entries import job_content
from protocols.errors import DeviationError, DisagreementError, NotApprovedError, PeerError
from protocols.jobs import Job
from protocols.randomness import keyed_digest
from protocols.role import Kept, Progress, Save
from protocols.two_party.memory import Compared, OpenRuns, run_name
from protocols.two_party.objections import Objection


@dataclass(repr=False)
class SessionRuns:
    """The runs with one peer over one data set, as a session sees them; `asked` is what we propose, if we open it."""

    journal: Journal
    entries: PeerEntries
    dataset: str
    asked: Job | None
    fresh: bool = False
    _before: RunRecord | None = field(default=None, init=False)
    _now: RunRecord | None = field(default=None, init=False)
    _given_up: list[RunRecord] = field(default_factory=list, init=False)

    @property
    def initiator(self) -> bool:
        """Whether we open the session."""
        return self.asked is not None

    def allowed(self) -> None:
        """Note that our job waits for nobody."""
        if self.asked is not None:
            self.journal.forget(_waiting_name(self.entries.peer, self.dataset, self.asked))

    def open_runs(self, job: Job) -> OpenRuns:
        """Return what we show the peer before a job begins."""
        content, same, others = job_content(job), None, []
        for record in self._open():
            if record.job == content:
                same = record
            elif record.job["kind"] == content["kind"] and record.state is RunState.OPEN:
                others.append(record)
        self._before = same
        named = b"" if same is None else bytes.fromhex(same.run)
        return OpenRuns(named, self._objection(others[-1], content) if others else None, self.fresh)

    def compared(self, shown: Compared) -> None:
        """Give up what the peer does not go on with."""
        if not shown.goes_on:
            before, self._before = self._before, None  # NB: at work on none, before it is given up
            if before is not None:
                self._give_up(before)
        if shown.fresh:
            for record in self._open():
                self._give_up(record)

    @property
    def resumed(self) -> RunRecord | None:
        """The run that both go on with, if there is one."""
        return self._before

    @property
    def at_work(self) -> str | None:
        """The run that the session is at, or both have named, by its name."""
        run = self._now or self._before
        return None if run is None else run.run

    def judge(self, contents: bytes) -> Objection | None:
        """Object to going on with a run whose contents were others."""
        if self._before is None or self._before.contents == contents.hex():
            return None
        return Objection(
            "run",
            f"run {self._before.run} with {self.entries.peer.name} began on other data or settings: bring those again, "
            f"or give it up (`cotally cancel PARTY {self._before.run}`)",
        )

    def enter(self, job: Job, contents: bytes, nonces: bytes) -> Kept | None:
        """Begin a run, or go on with the one that both have named and return what was kept of it."""
        if self._before is not None:
            self._now = self.journal.change(self._before.run, self.entries.date())
            return KeptRun(self.journal, self._now.run)
        now, peer = self.entries.date(), self.entries.peer
        begins = RunRecord(
            run_name(nonces).hex(), peer.name, peer.fingerprint, self.dataset, job_content(job), contents.hex(),
            self.initiator, now, now,
        )  # fmt: skip
        self.journal.begin(begins)
        self._now = begins  # NB: not before it is there: who looks for cancelled runs would find none
        return None

    def save(self, item: Save) -> None:
        """Keep what a role wants to be kept."""
        if self._now is not None:
            self.journal.keep(self._now.run, item.part, item.number, item.content)

    def follow(self, progress: Progress) -> None:
        """Note a new phase, and see whether the run was cancelled."""
        if self._now is None:
            return
        if progress.phase.name != self._now.phase:
            self._now = self.journal.change(self._now.run, self.entries.date(), phase=progress.phase.name)
        else:
            self.journal.living(self._now.run)

    def done(self) -> None:
        """Note that both hold the model."""
        self._end(RunState.DONE)

    def settled(self) -> None:
        """Note that the peer has said so: nothing of the run will be needed."""
        if self._now is not None:
            self._now = self.journal.change(self._now.run, self.entries.date(), settled=True)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note how a session ends for its run; in place of what only interrupts one it raises `PausedError`."""
        try:
            yield
        except RunCancelledError:
            raise
        except (DeviationError, PeerAbortedError):
            self._end(RunState.ABORTED)
            raise
        except (DisagreementError, PeerCancelledError) as error:
            self._end(RunState.CANCELLED)
            if self.asked is not None and isinstance(error, NotApprovedError):
                self._note_answer(self.asked, error)
            raise
        except (PeerLostError, PeerStoppedError) as error:
            if self._paused is None:
                raise
            raise PausedError(f"{error}; {self._paused}") from error
        except (KeyboardInterrupt, SystemExit) as end:  # by a signal
            if self._paused is not None:
                end.add_note(str(self._paused))
            raise
        except PeerError:
            self._end(RunState.ABORTED)
            raise

    @property
    def _paused(self) -> PausedError | None:
        """What to say of the run if the session ends now; None if nothing of it waits."""
        run = self._now or self._before
        if run is None or run.settled:
            return None
        return PausedError(f"run {run.run} is paused, and goes on when both start the same again")

    def _open(self) -> list[RunRecord]:
        return [each for each in self.journal.runs() if each.is_open and each.is_with(self.entries.peer, self.dataset)]

    def _objection(self, record: RunRecord, content: dict[str, Any]) -> Objection:
        changed = next((name for name, value in content.items() if record.job.get(name) != value), "terms")
        return Objection(
            "run",
            f"run {record.run} with {record.peer} on other terms ({changed.removesuffix('_name')}) has not ended: "
            f"return to them, or give it up (`cotally cancel PARTY {record.run}`)",
        )

    def _give_up(self, record: RunRecord) -> None:
        state = RunState.CANCELLED if record.state is RunState.OPEN else record.state
        self.journal.change(record.run, self.entries.date(), state=state, settled=True)

    def _note_answer(self, job: Job, answer: NotApprovedError) -> None:
        """Keep that a job of ours waits for people of the peer, and since when; or strike it."""
        name, peer, now = _waiting_name(self.entries.peer, self.dataset, job), self.entries.peer, self.entries.date()
        before = self.journal.find(name)
        if not answer.waits:
            self.journal.forget(name)
        elif answer.by_peer:
            began, state = before.began if before else now, RunState.WAITING
            said = job_content(job)
            self.journal.begin(
                RunRecord(name, peer.name, peer.fingerprint, self.dataset, said, "", True, began, now, state)
            )

    def _end(self, state: RunState) -> None:
        if self._now is not None and self._now.state is RunState.OPEN:
            self._now = self.journal.change(self._now.run, self.entries.date(), state=state)


def _waiting_name(peer: PeerName, dataset: str, job: Job) -> str:
    """Return what a job is called before it has begun: the same each time."""
    said = json.dumps([peer.name, peer.fingerprint, dataset, job_content(job)])
    return keyed_digest(b"", b"waiting", said.encode()).hex()[:16]


CANCEL_LOOK_SECONDS: Final = 0.5


@contextmanager
def heeding_cancels(
    folder: Path, secret: bytes, at_work: Callable[[], str | None], interrupt: Callable[[Exception], None]
) -> Iterator[None]:
    """Look, twice a second, in another thread, whether a session's run was cancelled; that, or a fault, ends it."""
    over = threading.Event()

    def look() -> None:
        try:
            with read_journal(folder, secret) as journal:
                while not over.wait(CANCEL_LOOK_SECONDS):
                    if (run := at_work()) is not None:
                        journal.living(run)
        except JournalError:
            pass  # who plays the run reads the same journal, and says what is wrong with it
        except Exception as error:  # noqa: BLE001  # a cancellation, or else nobody would look any more
            interrupt(error)

    with beside(threading.Thread(target=look, name="cancels", daemon=True), over):
        yield


def awaited_runs(folder: Path, secret: bytes, job: Job) -> Callable[[], None]:
    """Return a check that nobody has cancelled a run of this job that is open now, for who waits for the peer."""
    content = job_content(job)

    def are_open() -> dict[str, bool]:
        return {each.run: each.is_open for each in recorded_runs(folder, secret) if each.job == content}

    before = are_open()

    def check() -> None:
        for run, is_open in are_open().items():
            if before.get(run) and not is_open:
                raise cancelled_here(run)

    return check
