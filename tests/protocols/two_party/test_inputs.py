"""What a party brings: what fits together, what is sent, what a repr shows, and what digests show."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import DisagreementError, InputError, PeerError
from protocols.messages import HiddenContents, MemoryHeads, SharedColumn, SignedHead
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import disguise, keyed_draw
from protocols.role import Role, run_pair
from protocols.tables import Table
from protocols.two_party import inputs
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import (
    NO_HEAD,
    NOTHING_SIGNED,
    Compared,
    HeadSigning,
    LedgerHead,
    OpenRuns,
    bare_head,
    compare_memories,
    exchange_heads,
    head_statement,
)
from protocols.two_party.objections import Objection
from tests.support.binomial import ShareTest
from tests.support.cases import correlated
from tests.support.duel import End, duel
from tests.support.meeting import BOTH_HOLD, ONE_HOLDS, flip_first_class, rename, with_attributes, with_codes
from tests.support.parties import Case, make_local, make_terms, whole

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2,)},
    class_owners=("alice",),
    classes=2,
    codes=correlated((2, 3, 2, 2), 6),
    groups={"alice": 2, "bob": 1},
    terms=make_terms(),
)
ALICE, BOB = make_local(CASE, "alice"), make_local(CASE, "bob")
THETA = Fraction(9, 20)


def test_inputs_that_do_not_fit_are_refused() -> None:
    for records in ((), ("r0",), tuple(f"r{i}" for i in range(7))):
        with pytest.raises(InputError, match="needs records, and one id for each"):
            replace(ALICE, records=records)
    with pytest.raises(InputError, match="needs records"):
        replace(ALICE, table=ALICE.table.rows([]), records=())
    for groups in (((3,),), ((0,), (-1,))):
        with pytest.raises(InputError, match="unknown column: columns are 0 to 2"):
            replace(ALICE, groups=groups)


FOUR = replace(
    CASE, sizes={"alice": (2, 4), "bob": (2,)}, codes=correlated((2, 4, 2, 2), 40_000), groups={"alice": 1, "bob": 1}
)


def test_a_group_of_four_offsets_tells_the_truth_with_the_odds_of_theta_against_any_one_lie() -> None:
    """DESIGN 14: nine to eleven. A column of two values is in between. False alarms 1e-8, power over 1 - 1e-9."""
    local = make_local(FOUR, "alice")
    design = local.design(THETA, class_is_shared=True)
    assert design.orders == (4,)
    sent = disguise(local.table.codes[:, :2], local.coins(design), design)
    true = (sent == local.table.codes[:, :2]).sum(axis=0).tolist()
    two, four = (ShareTest(len(sent), chance, 1e-8) for chance in (Fraction(10, 21), Fraction(3, 14)))
    assert two.power(Fraction(19, 30)) > 1 - 1e-9
    assert four.power(THETA) > 1 - 1e-9
    assert two.accepts(true[0])
    assert four.accepts(true[1])


def sent_by(local: PartyInputs, class_is_shared: bool = False) -> dict[str, bytes]:
    """Return the disguised copy, column by column."""
    design = local.design(Fraction(2, 3), class_is_shared)
    copy = disguise(local.table.codes[:, : len(design.sizes)], local.coins(design), design)
    names = [attribute.name for attribute in local.table.attributes]
    return {name: copy[:, column].tobytes() for column, name in enumerate(names[: len(design.sizes)])}


MIXED = replace(CASE, sizes={"alice": (2, 3, 2, 4), "bob": (2,)}, codes=correlated((2, 3, 2, 4, 2, 3), 300), classes=3)
GROUPED = replace(make_local(MIXED, "alice"), groups=((0, 4), (1, 3), (2,)))
"""The class of three values makes a group of six offsets of a column of two."""


@pytest.mark.parametrize("class_is_shared", [False, True])
def test_the_copy_of_a_column_is_the_same_whatever_the_order_of_groups_and_columns(class_is_shared: bool) -> None:
    expected = sent_by(GROUPED, class_is_shared)
    regrouped = replace(GROUPED, groups=((2,), (3, 1), (4, 0)))
    assert sent_by(regrouped, class_is_shared) == expected
    order = [3, 0, 2, 1, 4]
    place = {old: new for new, old in enumerate(order)}
    attributes = tuple(GROUPED.table.attributes[column] for column in order)
    turned = Table(attributes, np.ascontiguousarray(GROUPED.table.codes[:, order]))
    groups = tuple(tuple(place[column] for column in group) for group in regrouped.groups)
    assert sent_by(replace(regrouped, table=turned, groups=groups), class_is_shared) == expected


def test_coins_go_with_the_record_and_copies_of_columns_with_the_set_of_their_group() -> None:
    design = ALICE.design(THETA, class_is_shared=False)
    assert (ALICE.coins(design) == ALICE.coins(design)).all()
    other = replace(ALICE, dataset="another")
    assert other.coins(design).shape == (6, 2)
    order = [3, 0, 5, 1, 4, 2]
    moved = replace(ALICE, table=ALICE.table.rows(order), records=tuple(ALICE.records[row] for row in order))
    design = ALICE.design(THETA, class_is_shared=False)
    assert (moved.coins(design) == ALICE.coins(design)[order]).all()
    assert (ALICE.coins(design) != ALICE.coins(design)[order]).any()
    whole, part = sent_by(GROUPED), sent_by(GROUPED, class_is_shared=True)
    assert whole.keys() - part.keys() == {"class"}
    assert part == {name: copy for name, copy in whole.items() if name != "class"}
    alone = replace(GROUPED, groups=((1, 3), (2,), (0,), (4,)))
    assert sent_by(alone, class_is_shared=True) == {k: v for k, v in sent_by(alone).items() if k != "class"}
    # Of 300 records some differ: all alike has a chance below 10^-70.
    other = replace(GROUPED, groups=((0, 2, 4), (1, 3)))
    assert sent_by(other)["a0"] != sent_by(GROUPED)["a0"]
    assert sent_by(replace(GROUPED, dataset="next year"))["a0"] != sent_by(GROUPED)["a0"]


def test_what_is_sent_is_without_a_class_that_both_hold() -> None:
    assert [a.name for a in ALICE.attributes] == ["a0", "a1"]
    assert [a.name for a in BOB.attributes] == ["b0"]
    assert BOB.class_attribute is None
    assert ALICE.class_attribute is not None
    assert ALICE.class_attribute.name == "class"
    assert ALICE.sent_columns(class_is_shared=False) == (0, 1, 2)
    assert ALICE.sent_columns(class_is_shared=True) == (0, 1)
    assert BOB.sent_columns(class_is_shared=False) == BOB.sent_columns(class_is_shared=True) == (0,)
    local = replace(ALICE, groups=((0, 2), (1,)))
    assert local.design(THETA, class_is_shared=True).groups == ((0,), (1,))
    assert local.design(THETA, class_is_shared=False).groups == ((0, 2), (1,))
    assert local.design(THETA, class_is_shared=False).sizes == (2, 3, 2)
    share = ALICE.share()
    assert share.records == 6
    assert share.attributes == (SharedColumn("a0", ("v0", "v1")), SharedColumn("a1", ("v0", "v1", "v2")))
    assert share.class_values == ("v0", "v1")
    assert share.groups == ALICE.groups
    assert BOB.share().class_values is None


def test_the_coins_of_a_run_are_tossed_once_however_often_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tossed: list[str] = []

    def counted(secret: bytes, dataset: str, records: Sequence[str]) -> Draw:
        tossed.append(dataset)
        return keyed_draw(secret, dataset, records)

    local = make_local(CASE, "alice")
    monkeypatch.setattr(inputs, "keyed_draw", counted)
    whole, part = (local.design(THETA, class_is_shared=shared) for shared in (False, True))
    local.disclosed(whole)
    local.coins(part)
    assert len(tossed) == 1
    other = local.coins(local.design(Fraction(2, 3), class_is_shared=False))
    assert len(tossed) == 2
    assert other.shape == local.coins(whole).shape


def test_no_repr_shows_content_and_a_commitment_shows_nothing_without_the_secret() -> None:
    for text in (repr(ALICE), repr(ALICE.secrets), repr(ALICE.table), str(ALICE)):
        assert "r0" not in text
        assert "v0" not in text
        assert len(text) < 200
    local = make_local(CASE, "alice")
    first = {purpose: local.digest(purpose) for purpose in (b"one", b"other")}
    assert len(set(first.values())) == 2
    assert {purpose: local.digest(purpose) for purpose in first} == first
    assert {purpose: replace(local, records=local.records[::-1]).digest(purpose) for purpose in first} != first
    bob = make_local(BOTH_HOLD, "bob")
    commitment = bob.digest(b"commitment")
    assert commitment == make_local(BOTH_HOLD, "bob").digest(b"commitment") != bob.digest(b"contents")
    assert commitment == replace(bob, dataset="next year").digest(b"commitment")
    turned = Table(bob.table.attributes[::-1], np.ascontiguousarray(bob.table.codes[:, ::-1]))
    assert commitment == replace(bob, table=turned).digest(b"commitment")
    stranger = replace(bob, secrets=replace(bob.secrets, coins=bytes(range(32))))
    others = [
        stranger,
        with_codes(bob, flip_first_class),
        with_attributes(bob, rename("label")),
        with_attributes(bob, lambda a: (*a[:-1], replace(a[-1], values=a[-1].values[::-1]))),
        replace(bob, records=tuple(f"q{i}" for i in range(20))),
    ]
    assert len({commitment, *(other.digest(b"commitment") for other in others)}) == 1 + len(others)


def compared(roles: tuple[Role[Any], Role[Any]]) -> list[list[bytes]]:
    """Return the points by which each side lets the other compare what it holds."""
    return [[m.points for m in end.sent if isinstance(m, HiddenContents)] for end in duel(*roles)]


def test_the_class_is_compared_where_both_hold_it_and_looks_otherwise_in_another_session() -> None:
    for case, times in ((BOTH_HOLD, 2), (ONE_HOLDS, 1)):
        roles = (whole(make_local(case, "alice"), make_terms(), "bob"), whole(make_local(case, "bob"), None, "alice"))
        assert [[len(points) for points in end] for end in compared(roles)] == 2 * [[66, 33][:times]]
    shown: set[bytes] = set()
    for alice_nonce, bob_nonce in ((b"a" * 32, b"b" * 32), (b"a" * 32, b"c" * 32), (b"d" * 32, b"b" * 32)):
        roles = (
            whole(make_local(BOTH_HOLD, "alice"), make_terms(), "bob", nonce=alice_nonce),
            whole(make_local(BOTH_HOLD, "bob"), None, "alice", nonce=bob_nonce),
        )
        for points in compared(roles):
            shown.update(each[start : start + 33] for each in points for start in range(0, len(each), 33))
    assert len(shown) == 3 * 2 * 3


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


MEMORY_ALICE, MEMORY_BOB = signing("alice", "bob"), signing("bob", "alice")


def meet(
    alice: Sequence[LedgerHead], bob: Sequence[LedgerHead], *, alice_knows: SignedHead, bob_knows: SignedHead
) -> tuple[End[Compared], End[Compared]]:
    """Let two parties compare: each has a chain, and the other's head as it was last shown."""
    return duel(
        compare_memories(alice[-1], alice_knows, alice.__contains__, "bob", MEMORY_ALICE),
        compare_memories(bob[-1], bob_knows, bob.__contains__, "alice", MEMORY_BOB),
    )


def test_a_chain_that_has_only_grown_is_accepted() -> None:
    for known in range(6):
        alice, bob = meet(
            CHAIN, OTHER, alice_knows=MEMORY_BOB.signed(OTHER[known]), bob_knows=MEMORY_ALICE.signed(CHAIN[known])
        )
        assert alice.result == Compared(MEMORY_BOB.signed(OTHER[-1]))
        assert bob.result == Compared(MEMORY_ALICE.signed(CHAIN[-1]))


@pytest.mark.parametrize("left", range(1, 4))
def test_a_shorter_chain_is_refused_by_both_and_each_reads_whose_it_is(left: int) -> None:
    alice, bob = meet(
        CHAIN[:left], OTHER, alice_knows=MEMORY_BOB.signed(OTHER[5]), bob_knows=MEMORY_ALICE.signed(CHAIN[4])
    )
    for end in (alice, bob):
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "memory"
    assert "our ledger is not the one that bob was last shown, whose end we have signed" in str(alice.error)
    assert f"alice shows a ledger of {left - 1} entries about us, and had shown one of 4 before" in str(bob.error)


ANY = LedgerHead(9, bytes(32))
UNPROVED = {
    "no signature": SignedHead(9, bytes(32), b"\0"),  # an empty one is not read
    "a signature of its own": MEMORY_BOB.signed(ANY),
    "our signature of another end": SignedHead(9, bytes(32), MEMORY_ALICE.sign(CHAIN[4])),
    "our signature for somebody else": SignedHead(
        9, bytes(32), signing("alice", "carol").sign(LedgerHead(9, bytes(32)))
    ),
}


def test_who_claims_another_end_of_our_ledger_and_has_no_signature_of_ours_is_called_what_it_is() -> None:
    """Our ledger is whole: nobody is advised to put it back, least of all to release the data under another name."""
    for claim in UNPROVED.values():
        alice, bob = meet(CHAIN, OTHER, alice_knows=MEMORY_BOB.signed(OTHER[5]), bob_knows=claim)
        assert type(alice.error) is PeerError
        assert "bob claims that our ledger had another end, and shows nothing that we have signed" in str(alice.error)
        assert "ours is whole, put nothing back" in str(alice.error)
        assert bob.result is None


def test_another_chain_or_an_end_unsigned_is_refused() -> None:
    alice, bob = meet(
        [*CHAIN[:3], *OTHER[3:]],
        OTHER,
        alice_knows=MEMORY_BOB.signed(OTHER[5]),
        bob_knows=MEMORY_ALICE.signed(CHAIN[4]),
    )
    assert isinstance(alice.error, DisagreementError)
    assert "our ledger is not the one" in str(alice.error)
    assert isinstance(bob.error, DisagreementError)
    alice, bob = duel(
        compare_memories(OTHER[4], NOTHING_SIGNED, lambda head: True, "bob", MEMORY_ALICE),
        compare_memories(NO_HEAD, MEMORY_ALICE.signed(CHAIN[4]), lambda head: True, "alice", MEMORY_BOB),
    )
    assert isinstance(alice.error, DisagreementError)
    assert isinstance(bob.error, DisagreementError)
    assert bob.error.field == "memory"
    alice, _ = duel(
        compare_memories(CHAIN[5], NOTHING_SIGNED, CHAIN.__contains__, "bob", MEMORY_ALICE),
        compare_memories(OTHER[5], NOTHING_SIGNED, OTHER.__contains__, "alice", signing("carol", "alice")),
    )
    assert "bob has not signed the end of its ledger with the key that we trust" in str(alice.error)


@pytest.mark.parametrize(("left", "refused"), [(5, False), (4, False), (3, True), (0, True)])
def test_an_end_that_was_shown_unsigned_holds_its_owner_and_is_shown_to_nobody(left: int, refused: bool) -> None:
    unsigned = SignedHead(OTHER[4].entries, OTHER[4].digest, b"")  # as 0.2.0 kept some
    alice, bob = meet(CHAIN, OTHER[: left + 1], alice_knows=unsigned, bob_knows=NOTHING_SIGNED)
    for end in (alice, bob):
        assert refused == (isinstance(end.error, DisagreementError) and end.error.field == "memory")
        assert refused or end.result is not None
    (shown,) = (sent for sent in alice.sent if isinstance(sent, MemoryHeads))
    assert (shown.known_entries, shown.known_signature) == (0, b"")


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_on_other_terms_is_ended_first_unless_one_side_begins_again(fresh: bool) -> None:
    runs = OpenRuns(other=Objection("run", "a run on other terms has not ended"))
    alice, bob = duel(
        compare_memories(NO_HEAD, NOTHING_SIGNED, lambda head: True, "bob", MEMORY_ALICE, runs),
        compare_memories(NO_HEAD, NOTHING_SIGNED, lambda head: True, "alice", MEMORY_BOB, OpenRuns(fresh=fresh)),
    )
    for end in (alice, bob):
        assert (end.result is not None and end.result.fresh) == fresh
        assert fresh or (isinstance(end.error, DisagreementError) and end.error.field == "run")


@pytest.mark.parametrize("known", [MEMORY_BOB.signed(OTHER[4]), MEMORY_BOB.signed(CHAIN[3])])
def test_a_head_that_falls_short_of_what_was_shown_is_not_kept(known: SignedHead) -> None:
    alice, _ = duel(
        exchange_heads(CHAIN[2], known, "bob", MEMORY_ALICE),
        exchange_heads(OTHER[3], NOTHING_SIGNED, "alice", MEMORY_BOB),
    )
    assert "bob shows an older end of its ledger than it has shown before" in str(alice.error)


def test_heads_are_signed_for_both_parties() -> None:
    alice, bob = run_pair(
        exchange_heads(CHAIN[2], MEMORY_BOB.signed(OTHER[3]), "bob", MEMORY_ALICE),
        exchange_heads(OTHER[3], NOTHING_SIGNED, "alice", MEMORY_BOB),
    )
    assert (alice, bob) == (MEMORY_BOB.signed(OTHER[3]), MEMORY_ALICE.signed(CHAIN[2]))
    usual = ("alice", "bob", CHAIN[2])
    others = [("bob", "alice", CHAIN[2]), ("alice", "bob", CHAIN[3]), ("alice", "bob", OTHER[2])]
    assert len({head_statement(*each) for each in (usual, *others)}) == 4
