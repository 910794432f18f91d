"""Two ledgers, or what both have kept of a run, side by side: who has forgotten is found out by both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.messages import SignedHead
from protocols.role import Part, run_pair
from protocols.two_party.agreement import Objection
from protocols.two_party.memory import (
    NO_HEAD,
    NOTHING_SIGNED,
    Compared,
    HeadSigning,
    LedgerHead,
    OpenRuns,
    Resumed,
    bare_head,
    compare_memories,
    exchange_heads,
    head_statement,
    resume,
)
from tests.support.duel import End, duel

CHAIN = [LedgerHead(n, bytes([n]) * 32) for n in range(6)]
OTHER = [LedgerHead(n, bytes([100 + n]) * 32) for n in range(6)]
CHAIN[0] = OTHER[0] = NO_HEAD


def signing(own: str, peer: str) -> HeadSigning:
    """Let a party sign by its name, and know who has signed."""
    return HeadSigning(
        sign=lambda head: head_statement(own, peer, head),
        is_ours=lambda signed: signed.signature == head_statement(own, peer, bare_head(signed)),
        is_theirs=lambda signed: signed.signature == head_statement(peer, own, bare_head(signed)),
    )


ALICE, BOB = signing("alice", "bob"), signing("bob", "alice")


def meet(
    alice: Sequence[LedgerHead], bob: Sequence[LedgerHead], *, alice_knows: SignedHead, bob_knows: SignedHead
) -> tuple[End[Compared], End[Compared]]:
    """Let two parties compare: each has a chain, and the other's head as it was last shown."""
    return duel(
        compare_memories(alice[-1], alice_knows, alice.__contains__, "bob", ALICE),
        compare_memories(bob[-1], bob_knows, bob.__contains__, "alice", BOB),
    )


@pytest.mark.parametrize("known", range(6))
def test_a_chain_that_has_only_grown_is_accepted(known: int) -> None:
    alice, bob = meet(CHAIN, OTHER, alice_knows=BOB.signed(OTHER[known]), bob_knows=ALICE.signed(CHAIN[known]))
    assert alice.result == Compared(BOB.signed(OTHER[-1]))
    assert bob.result == Compared(ALICE.signed(CHAIN[-1]))


@pytest.mark.parametrize("left", range(1, 4))
def test_a_shorter_chain_is_refused_by_both_and_each_is_told_whose_it_is(left: int) -> None:
    alice, bob = meet(CHAIN[:left], OTHER, alice_knows=BOB.signed(OTHER[5]), bob_knows=ALICE.signed(CHAIN[4]))
    for end in (alice, bob):
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "memory"
    assert "our ledger is not the one that bob was last shown, whose end we have signed" in str(alice.error)
    assert f"alice shows a ledger of {left - 1} entries about us, and had signed one of 4 before" in str(bob.error)


ANY = LedgerHead(9, bytes(32))
UNPROVED = {
    "no signature": SignedHead(9, bytes(32), b""),
    "a signature of its own": BOB.signed(ANY),
    "our signature of another end": SignedHead(9, bytes(32), ALICE.sign(CHAIN[4])),
    "our signature for somebody else": SignedHead(
        9, bytes(32), signing("alice", "carol").sign(LedgerHead(9, bytes(32)))
    ),
}


def test_who_claims_another_end_of_our_ledger_and_has_no_signature_of_ours_is_called_what_it_is() -> None:
    """Our ledger is whole: nobody is advised to put it back, least of all to release the data under another name."""
    for claim in UNPROVED.values():
        alice, bob = meet(CHAIN, OTHER, alice_knows=BOB.signed(OTHER[5]), bob_knows=claim)
        assert type(alice.error) is PeerError
        assert "bob claims that our ledger had another end, and shows nothing that we have signed" in str(alice.error)
        assert "ours is whole, put nothing back" in str(alice.error)
        assert bob.result is None


def test_another_chain_or_an_end_unsigned_is_refused() -> None:
    alice, bob = meet(
        [*CHAIN[:3], *OTHER[3:]], OTHER, alice_knows=BOB.signed(OTHER[5]), bob_knows=ALICE.signed(CHAIN[4])
    )
    assert isinstance(alice.error, DisagreementError)
    assert "our ledger is not the one" in str(alice.error)
    assert isinstance(bob.error, DisagreementError)
    alice, bob = duel(
        compare_memories(OTHER[4], NOTHING_SIGNED, lambda head: True, "bob", ALICE),
        compare_memories(NO_HEAD, ALICE.signed(CHAIN[4]), lambda head: True, "alice", BOB),
    )
    assert isinstance(alice.error, DisagreementError)
    assert isinstance(bob.error, DisagreementError)
    assert bob.error.field == "memory"
    alice, _ = duel(
        compare_memories(CHAIN[5], NOTHING_SIGNED, CHAIN.__contains__, "bob", ALICE),
        compare_memories(OTHER[5], NOTHING_SIGNED, OTHER.__contains__, "alice", signing("carol", "alice")),
    )
    assert "bob has not signed the end of its ledger with the key that we trust" in str(alice.error)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_on_other_terms_is_ended_first_unless_one_side_begins_again(fresh: bool) -> None:
    runs = OpenRuns(other=Objection("run", "a run on other terms has not ended"))
    alice, bob = duel(
        compare_memories(NO_HEAD, NOTHING_SIGNED, lambda head: True, "bob", ALICE, runs),
        compare_memories(NO_HEAD, NOTHING_SIGNED, lambda head: True, "alice", BOB, OpenRuns(fresh=fresh)),
    )
    for end in (alice, bob):
        assert (end.result is not None and end.result.fresh) == fresh
        assert fresh or (isinstance(end.error, DisagreementError) and end.error.field == "run")


@pytest.mark.parametrize("known", [BOB.signed(OTHER[4]), BOB.signed(CHAIN[3])])
def test_a_head_that_falls_short_of_what_was_shown_is_not_kept(known: SignedHead) -> None:
    alice, _ = duel(
        exchange_heads(CHAIN[2], known, "bob", ALICE), exchange_heads(OTHER[3], NOTHING_SIGNED, "alice", BOB)
    )
    assert "bob shows an older end of its ledger than it has shown before" in str(alice.error)


def test_heads_are_signed_for_both_parties() -> None:
    alice, bob = run_pair(
        exchange_heads(CHAIN[2], BOB.signed(OTHER[3]), "bob", ALICE),
        exchange_heads(OTHER[3], NOTHING_SIGNED, "alice", BOB),
    )
    assert (alice, bob) == (BOB.signed(OTHER[3]), ALICE.signed(CHAIN[2]))
    usual = ("alice", "bob", CHAIN[2])
    others = [("bob", "alice", CHAIN[2]), ("alice", "bob", CHAIN[3]), ("alice", "bob", OTHER[2])]
    assert len({head_statement(*each) for each in (usual, *others)}) == 4


FIRST, SECOND, THIRD = (bytes([number]) * 8 for number in range(3))


@dataclass(frozen=True)
class Remembered:
    """Has kept these answers of a run, and nothing else."""

    answers: tuple[bytes, ...]

    def recall(self, part: Part) -> Iterator[bytes]:
        yield from self.answers if part is Part.ANSWERS else ()


def both(*answers: tuple[bytes, ...]) -> tuple[End[Resumed], End[Resumed]]:
    alice, bob = (resume(Remembered(each), b"nonces") for each in answers)
    return duel(alice, bob)


def test_what_both_remember_is_recalled() -> None:
    for hers in ((), (FIRST,), (FIRST, SECOND)):
        for end in both(hers, (FIRST, SECOND)):
            assert end.error is None
            assert end.result is not None
            recalled = [end.result.answers.recalled() for _ in range(3)]
            assert sum(each is not None for each in recalled) == len(hers)
    alice, bob = both((FIRST, SECOND), (FIRST, THIRD))
    assert type(alice.error) is type(bob.error) is DeviationError
    longer, _ = both((FIRST, SECOND), (THIRD,))
    assert type(longer.error) is DeviationError
