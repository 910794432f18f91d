"""Who the records are about, and what was shown of them before, is compared before data leave, in words that fit."""

from dataclasses import replace
from typing import Any

import pytest

from protocols.messages import (
    ClassCounts,
    DisguisedPage,
    Greeting,
    HiddenContents,
    JointDigests,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.two_party.agreement import Agreement, Objection
from protocols.two_party.inputs import PartyInputs
from tests.support.meeting import (
    BOTH_HOLD,
    BROUGHT,
    COPY,
    ONE_HOLDS,
    flip_first_class,
    meet,
    outcome_of,
    with_codes,
)
from tests.support.parties import (
    make_local,
    make_terms,
)

RESPELLED = {
    "case": str.upper,
    "blanks": lambda record: f" {record}\t",
    "leading zeros": lambda record: record,
    "other people": lambda record: f"{record}x",
}


@pytest.mark.parametrize("how", RESPELLED)
def test_the_same_people_in_another_spelling_are_told_from_other_people_on_both_sides(how: str) -> None:
    """Bob's list has another order too, as its spelling sorts otherwise."""
    alice, bob = make_local(BOTH_HOLD, "alice"), make_local(BOTH_HOLD, "bob")
    if how == "leading zeros":
        alice = replace(alice, records=tuple(f"{number:03}" for number in range(20)))
        bob = replace(bob, records=tuple(f"{number}.0" for number in range(20)))
    else:
        bob = replace(bob, records=tuple(sorted(map(RESPELLED[how], bob.records))))
    right, wrong = "of the same people in another spelling: write the ids alike", "of other people"
    if how == "other people":
        right, wrong = wrong, right
    for error in outcome_of(meet(alice=alice, bob=bob))[:2]:
        assert error.field == "record ids"
        assert f"20 records here and at the peer, {right}" in str(error)
        assert wrong not in str(error)


def test_how_many_people_each_side_holds_is_told_on_both() -> None:
    alice, bob, _ = outcome_of(meet(bob=with_codes(make_local(BOTH_HOLD, "bob"), lambda codes: codes[:-1])))
    assert "20 records here, 19 at the peer" in str(alice)
    assert "19 records here, 20 at the peer" in str(bob)


@pytest.mark.parametrize("who", ["alice", "bob"])
@pytest.mark.parametrize("field", BROUGHT)
def test_a_peer_that_brings_another_table_than_before_is_refused_before_data_leave(field: str, who: str) -> None:
    asked: list[Agreement] = []

    def judge(agreed: Agreement) -> Objection:
        asked.append(agreed)
        return Objection(field, "canary: our own business")

    ends = meet(ONE_HOLDS, **{f"{who}_judges": judge})
    alice, bob, kinds = outcome_of(ends)
    assert alice.field == bob.field == field
    assert kinds == {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}
    ours, theirs = (alice, bob) if who == "alice" else (bob, alice)
    assert "canary" in str(ours)
    assert str(theirs) == (
        f"the parties differ on {field!r}: "
        "the peer has met another table of ours in this data set, and answers to both can be subtracted: bring that "
        "one again"
    )
    (agreed,) = asked
    peer = ends.bob if who == "alice" else ends.alice
    assert agreed.commitment == peer.digest(b"commitment")


@pytest.mark.parametrize(("method", "who"), [("hybrid", "alice"), ("hybrid", "bob"), ("randomized", "bob")])
def test_a_peer_that_sends_another_copy_than_before_is_refused_before_gains_leave(method: str, who: str) -> None:
    objecting: dict[str, Any] = {f"{who}_judges_copy": lambda _: Objection(COPY, "canary: our own business")}
    alice, bob, kinds = outcome_of(meet(ONE_HOLDS, terms=make_terms(method=method, omega=1), **objecting))
    assert alice.field == bob.field == COPY
    assert kinds == {
        Greeting,
        Verdict,
        Share,
        TableCommitment,
        HiddenContents,
        JointDigests,
        *({ClassCounts} if method == "hybrid" else ()),
        DisguisedPage,
    }
    assert "canary" in str(alice if who == "alice" else bob)


def test_the_digest_of_a_copy_tells_copies_apart_and_not_the_order_of_columns() -> None:
    def digest_of(bob: PartyInputs, secret: bytes = bytes(32)) -> bytes:
        alice = make_local(ONE_HOLDS, "alice")
        heard: list[bytes] = []
        alice = replace(alice, secrets=replace(alice.secrets, coins=secret))
        ends = meet(ONE_HOLDS, alice=alice, bob=bob, alice_judges_copy=heard.append).play()
        assert all(end.error is None for end in ends), ends
        return heard[0]

    bob = make_local(ONE_HOLDS, "bob")
    assert digest_of(bob) == digest_of(bob)
    assert digest_of(bob) != digest_of(bob, secret=bytes(range(32)))
    assert digest_of(bob) != digest_of(with_codes(bob, flip_first_class))
    assert digest_of(bob) != digest_of(replace(bob, dataset="next year"))
