"""Tables of two columns between real folders: what is on record, what they spend, and what a party refuses."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.errors import PeerLostError
from party.node.players import Tabulated
from party.node.policy import MOST_OPENINGS
from party.records.releases import released, spent_of
from party.records.tally import dealings
from protocols.errors import DisagreementError
from protocols.jobs import Crosstab, CrosstabTerms
from protocols.messages import CountShares
from protocols.role import Message
from tests.support.sessions import ANY_ODDS, CASE, Sessions, contents, of_kind, with_terms

HALF = Fraction(1, 2)
BOUNDED = 'epsilon = "1"\n'


def asks(own: str = "b0", theirs: str = "a0", noise: Fraction | None = HALF) -> Crosstab:
    return Crosstab(CrosstabTerms(own, theirs, noise))


def cells(sessions: Sessions, job: Crosstab) -> tuple[int, ...]:
    alice, bob = (report.ended for report in sessions.run(job))
    assert isinstance(alice, Tabulated)
    assert isinstance(bob, Tabulated)
    assert alice.cells == bob.cells
    return bob.cells


def tables(sessions: Sessions, party: str) -> list[dict[str, Any]]:
    return of_kind(contents(sessions, party), "crosstab")


def spent(sessions: Sessions, party: str) -> list[str]:
    with sessions.ledger(party) as ledger:
        return [*spent_of(released(ledger.entries())["case"]).values()]


def test_a_table_is_noted_before_it_is_opened_and_then_remembered_where_either_side_has_lost_it(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, BOUNDED)
    first = cells(sessions, asks())
    assert cells(sessions, asks()) == first
    for party in ("alice", "bob"):
        assert [each["counts"] for each in tables(sessions, party)] == [None, list(first)]
        assert spent(sessions, party) == ["1/2"]
    other = cells(sessions, asks("class"))
    assert other != first
    for party in ("alice", "bob"):
        assert spent(sessions, party) == ["1/2", "1/2"]
        with sessions.ledger(party) as ledger:
            (told,) = dealings(ledger.entries())
        assert told.epsilons == [HALF, HALF]
        assert (told.revealed.counts, told.telling) == (0, set())
    for job in (asks("b1"), asks(noise=Fraction(1, 4))):
        with pytest.raises(DisagreementError, match="1 spent before"):
            sessions.run(job)
    assert cells(sessions, asks("class")) == other


def test_a_table_of_other_cells_is_another_question_with_noise_and_refused_when_exact_ones_were_revealed(
    tmp_path: Path,
) -> None:
    codes = CASE.codes.copy()
    codes[:, 0] ^= 1
    noisy = Sessions(tmp_path / "noisy", CASE, BOUNDED)
    before = cells(noisy, asks())
    changed = replace(noisy, case=replace(CASE, codes=codes))
    assert cells(changed, asks()) != before
    assert spent(changed, "alice") == ["1/2", "1/2"]
    exact = Sessions(tmp_path / "exact", CASE)
    truth = np.histogram2d(CASE.codes[:, 0], CASE.codes[:, 2], bins=2)[0].astype(int).reshape(-1).tolist()
    assert list(cells(exact, asks(noise=None))) == truth
    assert spent(exact, "alice") == [""]
    with pytest.raises(DisagreementError, match="our data set 'case' has been released with other records before"):
        replace(exact, case=replace(CASE, codes=codes)).run(asks(noise=None))


@pytest.mark.parametrize(
    ("agree", "job", "alice", "bob"),
    [
        (BOUNDED, asks("no"), "the peer does not take our column", "we have no column 'no' to count by"),
        (BOUNDED, asks(theirs="no"), "we have no column 'no' to count by", "the peer has no such column"),
        ('epsilon = "0.25"\n', asks(), "ask for noise of 0.25 or less", "ask for noise of 0.25 or less"),
        ('epsilon = "2"\nnoise = "1"\n', asks(noise=None), "asks for exact counts, our", "ask for noise of 1 or less"),
        (
            'epsilon = "2"\n[columns."b0"]\nbins = "class"\n',
            asks("b0", "a1"),
            "or has cut a column by its class",
            "b0 follow from the class without any",
        ),
        ("most_counts = 5\n", asks("b0", "a1", None), "0 revealed before and at most 6 for", "table of fewer values"),
    ],
)
def test_a_table_is_refused_by_who_does_not_agree(
    tmp_path: Path, agree: str, job: Crosstab, alice: str, bob: str
) -> None:
    errors = Sessions(tmp_path, CASE, agree).both_errors(job)
    for error, reason in zip(errors, (alice, bob), strict=True):
        assert isinstance(error, DisagreementError)
        assert reason in str(error)


def test_an_exact_table_needs_leave_and_counts_as_a_run_and_one_with_noise_needs_an_epsilon(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, f"most_runs = 1\nmost_counts = 20\n{ANY_ODDS}")
    cells(sessions, asks(noise=None))
    cells(sessions, asks(noise=None))
    with pytest.raises(DisagreementError, match="most_runs allows 1 over the life of a data set: 1 on other"):
        sessions.run(asks("b1", noise=None))
    with pytest.raises(DisagreementError, match="most_runs allows 1"):
        sessions.run(with_terms(CASE, max_depth=1).terms)
    with pytest.raises(DisagreementError, match="our \\[agree\\] epsilon is"):
        sessions.run(asks("b1"))  # by an epsilon of 1000 it would be exact, and no run
    with sessions.ledger("alice") as ledger:
        (told,) = dealings(ledger.entries())
    assert told.revealed.counts == 4
    for party in ("alice", "bob"):
        settings = tmp_path / party / "party.toml"
        settings.write_text(settings.read_text().replace("exact_counts = true", "exact_counts = false"))
    with pytest.raises(DisagreementError, match="ask for noise, or allow"):
        sessions.run(asks("b1", noise=None))


def test_a_table_that_a_side_cuts_off_is_opened_three_times_with_the_same_noise_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Sessions(tmp_path, CASE, BOUNDED)
    take_part = Sessions._take_part

    def cut(self: Sessions, party: str, channel: Any, job: Any) -> Any:
        if party == "bob":
            deliver = channel.send

            def send(message: Message) -> None:
                if isinstance(message, CountShares):
                    raise PeerLostError("cut off")
                deliver(message)

            channel.send = send
        return take_part(self, party, channel, job)

    monkeypatch.setattr(Sessions, "_take_part", cut)
    for _ in range(MOST_OPENINGS - 1):
        sessions.both_errors(asks("class"))
    monkeypatch.undo()
    assert len({cells(sessions, asks("class")) for _ in range(3)}) == 1  # the last one that may be, and then remembered
    monkeypatch.setattr(Sessions, "_take_part", cut)
    for _ in range(MOST_OPENINGS):
        errors = sessions.both_errors(asks())
        assert not any(isinstance(error, DisagreementError) for error in errors)
    with pytest.raises(DisagreementError, match="stopped 3 times while opening the same answer"):
        sessions.run(asks())
    assert [each["counts"] for each in tables(sessions, "alice")[MOST_OPENINGS + 1 :]] == [None] * MOST_OPENINGS
    assert spent(sessions, "alice") == ["1/2", "1/2"]
