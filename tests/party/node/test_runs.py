"""Which runs of the journal a session means, and what it makes of an end that is not the run's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from party.errors import PausedError, PeerLostError, RunCancelledError
from party.files import locked_folder
from party.node.runs import SessionRuns
from party.records.entries import PeerPages
from party.records.journal import Journal, cancel_run, open_journal
from party.records.ledger import PeerName, open_ledger
from protocols.jobs import Train
from protocols.role import Phase, Progress
from tests.support.parties import make_terms

SECRET = bytes(range(32))
JOB = Train(make_terms(omega=1))
CONTENTS, NONCES = b"all that must be the same", bytes(32)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SessionRuns]:
    """Return the runs of a session in which one has begun."""
    with (
        locked_folder(tmp_path) as held,
        open_ledger(held, SECRET) as ledger,
        open_journal(tmp_path, SECRET) as journal,
    ):
        begun = in_a_session(journal, PeerPages(ledger, PeerName("bob", "B0B0")))
        begun.enter(JOB, CONTENTS, NONCES)
        yield begun


def in_a_session(journal: Journal, pages: PeerPages) -> SessionRuns:
    return SessionRuns(journal, pages, "visits", initiator=True)


def in_the_next_session(runs: SessionRuns) -> SessionRuns:
    return in_a_session(runs.journal, runs.pages)


def test_a_run_goes_on_with_the_contents_that_it_began_on_alone(runs: SessionRuns) -> None:
    later = in_the_next_session(runs)
    assert later.open_runs(JOB).same.hex() == runs.at_work
    assert later.judge(CONTENTS) is None
    objection = later.judge(b"others")
    assert objection is not None
    assert f"run {runs.at_work} with bob began on other data or settings" in objection.reason


def test_a_job_on_other_terms_is_objected_to_by_the_first_term_that_differs(runs: SessionRuns) -> None:
    other = in_the_next_session(runs).open_runs(Train(replace(JOB.terms, omega=2))).other
    assert other is not None
    assert f"run {runs.at_work} with bob on other terms (omega) has not ended" in other.reason


def test_a_run_that_is_cancelled_in_the_middle_of_a_phase_stops_there(runs: SessionRuns) -> None:
    runs.follow(Progress(Phase.TREE, 1, 2))
    runs.follow(Progress(Phase.TREE, 1, 2))
    cancel_run(runs.journal, str(runs.at_work), runs.pages.date())
    with pytest.raises(RunCancelledError):
        runs.follow(Progress(Phase.TREE, 2, 2))


def test_a_lost_peer_pauses_a_run_that_has_begun_and_no_other(runs: SessionRuns) -> None:
    lost = PeerLostError("bob is gone")
    with pytest.raises(PausedError, match=f"run {runs.at_work} is paused") as paused, runs.watched():
        raise lost
    assert paused.value.__cause__ is lost
    with pytest.raises(PeerLostError) as before_any, in_the_next_session(runs).watched():
        raise lost
    assert before_any.value is lost
    runs.done()
    runs.settled()
    with pytest.raises(PeerLostError) as after_it, runs.watched():
        raise lost
    assert after_it.value is lost
