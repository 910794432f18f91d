"""Which comparisons of whole lists count as guesses, and for whom: what a ledger has of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from party.files import locked_folder
from party.records.comparisons import Comparisons, comparisons_of
from party.records.ledger import Ledger, PeerEntries, PeerName, open_ledger
from protocols.facts import ComparedFact
from protocols.jobs import Align
from protocols.two_party.equality import CLASSES, IDS, SPELLINGS
from protocols.two_party.inputs import PartyInputs
from tests.support.parties import make_local
from tests.support.sessions import CASE

LOCAL = make_local(CASE, "alice")
BOB = PeerName("bob", "B0B0")
NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with locked_folder(tmp_path) as held, open_ledger(held, LOCAL.secrets.coins) as opened:
        yield opened


def session(ledger: Ledger, at: datetime = NOON, peer: PeerName = BOB, local: PartyInputs = LOCAL) -> Comparisons:
    return comparisons_of(PeerEntries(ledger, peer, lambda: at), local)


def compared(ledger: Ledger, what: str, content: bytes, *, same: bool = False, settled: bool = False) -> None:
    """Put a comparison on record, in a session of its own."""
    found = session(ledger)
    found.note(ComparedFact(what, content, None))
    if same:
        found.note(ComparedFact(what, content, True))
    if settled:
        found.settle()


def test_four_that_were_refused_close_the_next_session_for_two_seconds_and_no_other_peer_or_data_set(
    ledger: Ledger,
) -> None:
    for number in range(4):
        assert session(ledger).judge_job(Align()) is None
        compared(ledger, IDS, b"%d" % number)
    for waited, closed in ((0, True), (1, True), (2, False), (-1, False)):
        objection = session(ledger, NOON + timedelta(seconds=waited)).judge_job(Align())
        assert (objection is not None) == closed, waited
    assert session(ledger, peer=PeerName("carol", "CA201")).judge_job(Align()) is None
    assert session(ledger, local=replaced("another")).judge_job(Align()) is None


def replaced(dataset: str) -> PartyInputs:
    return PartyInputs(**{**vars(LOCAL), "dataset": dataset})


def test_what_a_session_has_compared_does_not_close_that_session(ledger: Ledger) -> None:
    found = session(ledger)
    for number in range(9):
        found.note(ComparedFact(IDS, b"%d" % number, None))
    assert found.judge_job(Align()) is None
    assert len(session(ledger).refused) == 9


def test_what_both_are_known_to_have_is_no_guess_and_is_written_once(ledger: Ledger) -> None:
    compared(ledger, IDS, b"list")
    compared(ledger, IDS, b"list", same=True)
    assert session(ledger).refused == ()
    entries = len(ledger)
    compared(ledger, IDS, b"list", same=True)
    assert len(ledger) == entries == 3
    compared(ledger, CLASSES, b"list")
    assert len(session(ledger).refused) == 1


def test_an_alignment_settles_what_its_own_session_compared_and_nothing_before(ledger: Ledger) -> None:
    for number in range(2):
        compared(ledger, IDS, b"%d" % number)
    compared(ledger, IDS, b"1", settled=True)
    compared(ledger, SPELLINGS, b"lists", settled=True)
    assert len(session(ledger).refused) == 2
    compared(ledger, CLASSES, b"column", settled=True)
    assert len(session(ledger).refused) == 3
