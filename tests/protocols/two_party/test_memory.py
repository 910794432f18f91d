"""Two ledgers side by side: who has forgotten is found out by both, and whoever only grew goes on."""

from collections.abc import Sequence

import pytest

from protocols.errors import DisagreementError
from protocols.messages import SignedHead
from protocols.role import run_pair
from protocols.two_party.agreement import Objection
from protocols.two_party.memory import (
    NO_HEAD,
    Compared,
    LedgerHead,
    OpenRuns,
    compare_memories,
    exchange_heads,
    head_statement,
)
from tests.support.duel import End, duel

CHAIN = [LedgerHead(n, bytes([n]) * 32) for n in range(6)]
OTHER = [LedgerHead(n, bytes([100 + n]) * 32) for n in range(6)]
CHAIN[0] = OTHER[0] = NO_HEAD


def meet(
    alice: Sequence[LedgerHead], bob: Sequence[LedgerHead], *, alice_knows: LedgerHead, bob_knows: LedgerHead
) -> tuple[End[Compared], End[Compared]]:
    """Let two parties compare: each has a chain, and the other's head as it was last shown."""
    return duel(
        compare_memories(alice[-1], alice_knows, alice.__contains__, "bob"),
        compare_memories(bob[-1], bob_knows, bob.__contains__, "alice"),
    )


@pytest.mark.parametrize("known", range(6))
def test_a_chain_that_has_only_grown_is_accepted(known: int) -> None:
    alice, bob = meet(CHAIN, OTHER, alice_knows=OTHER[known], bob_knows=CHAIN[known])
    assert alice.result == Compared(OTHER[-1])
    assert bob.result == Compared(CHAIN[-1])


@pytest.mark.parametrize("left", range(1, 4))
def test_a_shorter_chain_is_refused_by_both_and_each_is_told_whose_it_is(left: int) -> None:
    alice, bob = meet(CHAIN[:left], OTHER, alice_knows=OTHER[5], bob_knows=CHAIN[4])
    for end in (alice, bob):
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "memory"
    assert "our ledger is not the one that bob was last shown" in str(alice.error)
    assert f"alice shows a ledger of {left - 1} entries about us, and had 4 before" in str(bob.error)


def test_a_chain_rewritten_since_is_refused_even_if_it_has_grown() -> None:
    alice, bob = meet([*CHAIN[:3], *OTHER[3:]], OTHER, alice_knows=OTHER[5], bob_knows=CHAIN[4])
    assert isinstance(alice.error, DisagreementError)
    assert "our ledger is not the one" in str(alice.error)
    assert isinstance(bob.error, DisagreementError)


def test_another_end_at_the_same_length_is_refused_even_if_its_owner_says_nothing() -> None:
    forgotten = compare_memories(OTHER[4], NO_HEAD, lambda head: True, "bob")
    alice, bob = duel(forgotten, compare_memories(NO_HEAD, CHAIN[4], lambda head: True, "alice"))
    assert isinstance(alice.error, DisagreementError)
    assert isinstance(bob.error, DisagreementError)
    assert bob.error.field == "memory"


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_on_other_terms_is_ended_first_unless_one_side_begins_anew(fresh: bool) -> None:
    runs = OpenRuns(other=Objection("run", "a run on other terms has not ended"))
    alice, bob = duel(
        compare_memories(NO_HEAD, NO_HEAD, lambda head: True, "bob", runs),
        compare_memories(NO_HEAD, NO_HEAD, lambda head: True, "alice", OpenRuns(fresh=fresh)),
    )
    for end in (alice, bob):
        assert (end.result is not None and end.result.fresh) == fresh
        assert fresh or (isinstance(end.error, DisagreementError) and end.error.field == "run")


def test_heads_are_handed_over_as_they_were_signed() -> None:
    alice, bob = run_pair(exchange_heads(CHAIN[2], b"A"), exchange_heads(OTHER[3], b"B"))
    assert alice == SignedHead(3, OTHER[3].digest, b"B")
    assert bob == SignedHead(2, CHAIN[2].digest, b"A")


def test_what_is_signed_names_both_parties_the_run_and_the_head() -> None:
    usual = ("alice", "bob", b"nonces", CHAIN[2])
    others = [("bob", "alice", *usual[2:]), (*usual[:2], b"other", CHAIN[2]), (*usual[:3], CHAIN[3])]
    assert len({head_statement(*each) for each in (usual, *others)}) == 4
