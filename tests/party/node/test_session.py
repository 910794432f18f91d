"""The driver of a session opens a job and plays it, whatever kind of job it is."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from party.files import locked_folder
from party.keys.identity import CERTIFICATE_FILE, KEY_FILE, make_identity
from party.node import session
from party.node.players import Session
from party.node.session import Report, run_session
from party.records.ledger import read_ledger
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
