"""The driver of a session opens a job and plays it, whatever kind of job it is."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from party.files import locked_folder
from party.node import session
from party.node.players import Stage
from party.node.session import run_session
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel, Watchers, play
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


def test_the_driver_returns_what_the_player_of_the_job_ends_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strange_player(opening: Opening, stage: Stage) -> tuple[Job, bytes]:
        return play(compare_notes(opening), stage.channel, Watchers(stage.on_progress))

    def take_part(party: str, channel: PagedChannel, job: Job | None) -> Any:
        folder = tmp_path / party
        config = read_party_config(folder / "party.toml", CASE.terms.key_bits)
        with locked_folder(folder) as held, channel:
            return run_session(make_local(CASE, party), config, held, channel, job)

    make_acquaintance(tmp_path, CASE.terms.key_bits)
    monkeypatch.setattr(session, "play_job", strange_player)
    ours, theirs = memory_channels()
    with ThreadPoolExecutor(1) as pool:
        bob = pool.submit(take_part, "bob", theirs, JOB)
        alice = take_part("alice", ours, None)
        reports = [alice, bob.result()]
    first, second = reports
    assert first.ended == second.ended
    assert first.ended[0] == JOB
    assert [set(report.phases) for report in reports] == [{Phase.COPIES}] * 2
    assert first.traffic.bytes_sent == second.traffic.bytes_received > 0
