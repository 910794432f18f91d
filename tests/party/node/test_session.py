"""The driver of a session opens a job and plays it, whatever kind of job it is."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from party.errors import PausedError, PeerLostError, RunCancelledError
from party.files import locked_folder
from party.keys.identity import CERTIFICATE_FILE, KEY_FILE, make_identity
from party.node import session
from party.node.players import Session
from party.node.runs import SessionRuns
from party.node.session import Report, run_session
from party.records.journal import Journal, cancel_run, open_journal
from party.records.ledger import PeerEntries, PeerName, open_ledger, read_ledger
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel, Watchers, play
from protocols.errors import PeerError
from protocols.jobs import Job, Train
from protocols.messages import ModelDigest
from protocols.randomness import keyed_digest
from protocols.role import Phase, Progress, Role, exchange
from protocols.terms import Method
from protocols.two_party.agreement import Opening
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.parties import Case, make_local, make_terms
from tests.support.sessions import make_acquaintance

CASE = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 60),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(method=Method.SMC),
)
JOB = Train(CASE.terms)


def compare_notes(opening: Opening) -> Role[tuple[Job, bytes]]:
    """Play a kind of job that nobody knows: exchange one message."""
    yield Progress(Phase.COPIES, 1, 1)
    theirs = yield from exchange(ModelDigest(keyed_digest(opening.nonces)))
    return opening.job, theirs.digest


def strange_player(opening: Opening, session: Session) -> tuple[Job, bytes]:
    return play(compare_notes(opening), session.channel, Watchers(session.host.on_progress))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_acquaintance(tmp_path, CASE.terms.key_bits)
    monkeypatch.setattr(session, "play_job", strange_player)
    return tmp_path


def play_both(folder: Path) -> tuple[Future[Report], Future[Report]]:
    """Play a session, and return how it ended for Alice and for Bob, who opens it."""

    def take_part(party: str, channel: PagedChannel, job: Job | None) -> Report:
        config = read_party_config(folder / party / "party.toml", CASE.terms.key_bits)
        with locked_folder(folder / party) as held, channel:
            return run_session(make_local(CASE, party), config, held, channel, job)

    ours, theirs = memory_channels()
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(take_part, "alice", ours, None), pool.submit(take_part, "bob", theirs, JOB)


def test_the_driver_returns_what_the_player_of_the_job_ends_with(folder: Path) -> None:
    first, second = (end.result() for end in play_both(folder))
    ended: Any = first.ended
    assert ended == second.ended
    assert ended[0] == JOB
    assert [set(report.phases) for report in (first, second)] == [{Phase.COPIES}] * 2
    assert first.traffic.bytes_sent == second.traffic.bytes_received > 0


def test_the_end_of_a_ledger_that_another_key_has_signed_is_refused_and_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recording(opening: Opening, session: Session) -> tuple[Job, bytes]:
        session.memory.note_peer(opening.job)  # of an empty ledger nothing is signed
        return strange_player(opening, session)

    monkeypatch.setattr(session, "play_job", recording)
    another = make_identity("bob", ["localhost"])
    (folder / "bob" / KEY_FILE).write_bytes(another.key_pem)
    (folder / "bob" / CERTIFICATE_FILE).write_bytes(another.pem)
    alice, _ = play_both(folder)
    with pytest.raises(PeerError, match="bob has not signed the end of its ledger with the key that we trust"):
        alice.result()
    with read_ledger(folder / "alice", make_local(CASE, "alice").secrets.coins) as ledger:
        assert not [entry for entry in ledger.entries() if entry.content.get("signature")]


SECRET = bytes(range(32))
RUNS_JOB = Train(make_terms(omega=1))
CONTENTS, NONCES = b"all that must be the same", bytes(32)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SessionRuns]:
    """Return the runs of a session in which one has begun."""
    with (
        locked_folder(tmp_path) as held,
        open_ledger(held, SECRET) as ledger,
        open_journal(tmp_path, SECRET) as journal,
    ):
        begun = in_a_session(journal, PeerEntries(ledger, PeerName("bob", "B0B0")))
        begun.enter(RUNS_JOB, CONTENTS, NONCES)
        yield begun


def in_a_session(journal: Journal, pages: PeerEntries) -> SessionRuns:
    return SessionRuns(journal, pages, "visits", initiator=True)


def in_the_next_session(runs: SessionRuns) -> SessionRuns:
    return in_a_session(runs.journal, runs.pages)


def test_a_run_goes_on_with_the_contents_that_it_began_on_alone(runs: SessionRuns) -> None:
    later = in_the_next_session(runs)
    assert later.open_runs(RUNS_JOB).same.hex() == runs.at_work
    assert later.judge(CONTENTS) is None
    objection = later.judge(b"others")
    assert objection is not None
    assert f"run {runs.at_work} with bob began on other data or settings" in objection.reason


def test_a_job_on_other_terms_is_objected_to_by_the_first_term_that_differs(runs: SessionRuns) -> None:
    other = in_the_next_session(runs).open_runs(Train(replace(RUNS_JOB.terms, omega=2))).other
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
