"""Before any data leaves, both sides compare everything; a difference ends both with the name of the same field."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import DisagreementError, InputError, PeerError
from protocols.messages import ClassCounts, ClassDigest, DisguisedPage, Greeting, Share, TableCommitment, Verdict
from protocols.role import Message, Transcript, run_pair
from protocols.tables.schema import Attribute
from protocols.tables.table import Table
from protocols.terms import NO_JOB, Method, Terms
from protocols.two_party import agreement
from protocols.two_party.agreement import FIELDS, Agreement, Judge, Objection, Policy, accept_any
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.training import CopyJudge, Outcome, accept_copy
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import (
    TEST_BITS,
    Case,
    agree_to_all,
    changed_job,
    labels,
    make_local,
    make_terms,
    whole,
)

BOTH_HOLD = Case(
    sizes={"alice": (2, 3), "bob": (2,)},
    class_owners=("alice", "bob"),
    classes=2,
    codes=correlated((2, 3, 2, 2), 20, seed=1),
    groups={"alice": 2, "bob": 1},
    terms=make_terms(),
)
ONE_HOLDS = replace(BOTH_HOLD, class_owners=("bob",))


@dataclass
class Meeting:
    """Two parties, Alice proposing, with whatever is wrong with them."""

    alice: PartyInputs
    bob: PartyInputs
    terms: Terms = field(default_factory=make_terms)
    alice_agrees: Policy = agree_to_all
    bob_agrees: Policy = agree_to_all
    tamper: Tamper = honest
    alice_expects: str = "bob"
    bob_expects: str = "alice"
    alice_judges: Judge = accept_any
    bob_judges: Judge = accept_any
    alice_judges_copy: CopyJudge = accept_copy
    bob_judges_copy: CopyJudge = accept_copy

    def play(self) -> tuple[End[tuple[Agreement, Outcome]], End[tuple[Agreement, Outcome]]]:
        return duel(
            whole(self.alice, self.terms, self.alice_expects, self.alice_agrees, None, *self.judges("alice")),
            whole(self.bob, None, self.bob_expects, self.bob_agrees, None, *self.judges("bob")),
            self.tamper,
        )

    def judges(self, party: str) -> tuple[Judge, CopyJudge]:
        if party == "alice":
            return self.alice_judges, self.alice_judges_copy
        return self.bob_judges, self.bob_judges_copy


def meet(case: Case = BOTH_HOLD, **changes: Any) -> Meeting:
    return replace(Meeting(make_local(case, "alice"), make_local(case, "bob")), **changes)


def on(sender: str, kind: type[Message], change: Callable[[Any], Message]) -> Tamper:
    """Change every message of this kind from this side on its way."""
    return lambda who, number, message: change(message) if who == sender and isinstance(message, kind) else message


def with_terms(**changes: Any) -> Callable[[Greeting], Greeting]:
    return lambda greeting: replace(greeting, job=changed_job(greeting.job, **changes))


def with_codes(local: PartyInputs, change: Callable[[Any], Any]) -> PartyInputs:
    table = Table(local.table.attributes, change(local.table.codes.copy()))
    records = local.records[: len(table)]
    return replace(local, table=table, records=records)


def with_attributes(
    local: PartyInputs, change: Callable[[tuple[Attribute, ...]], tuple[Attribute, ...]]
) -> PartyInputs:
    return replace(local, table=Table(change(local.table.attributes), local.table.codes))


def flip_first_class(codes: Any) -> Any:
    codes[0, -1] ^= 1
    return codes


def wide(party: str, sizes: tuple[int, ...]) -> PartyInputs:
    """Return a party of many groups, one per column."""
    case = replace(
        ONE_HOLDS,
        sizes={"alice": sizes if party == "alice" else (2,), "bob": sizes if party == "bob" else (2,)},
        codes=np.zeros((20, len(sizes) + 2), dtype=np.uint8),
        groups={"alice": 20, "bob": 20},
    )
    return make_local(case, party)


def rename(name: str) -> Callable[[tuple[Attribute, ...]], tuple[Attribute, ...]]:
    return lambda attributes: (*attributes[:-1], replace(attributes[-1], name=name))


def without_attributes(party: str) -> PartyInputs:
    case = replace(BOTH_HOLD, sizes={"alice": (), "bob": ()}, codes=np.zeros((20, 1), dtype=np.uint8))
    return make_local(case, party)


OTHER_TERMS: dict[str, dict[str, Any]] = {
    "method": {"method": "smc"},
    "theta": {"theta": Fraction(9, 10)},
    "omega": {"omega": 2},
    "engine": {"engine": "dot_product"},
    "class": {"class_name": "label"},
    "seed": {"seed": 2},
    "test": {"test": Fraction(1, 3)},
    "key_bits": {"key_bits": 128},
    "rank": {"rank": "copies"},
    "cipher": {"cipher": "curve"},
}
IMPOSSIBLE_TERMS: list[tuple[str, dict[str, Any]]] = [
    ("method", {"method": "guess"}),
    ("theta", {"theta": Fraction(0)}),
    ("theta", {"theta": Fraction(1)}),
    ("theta", {"theta": Fraction(-1, 2)}),
    ("theta", {"theta": Fraction(1, 2)}),
    ("theta", {"theta": Fraction(1, 10**18)}),
    ("omega", {"omega": -1}),
    ("omega", {"omega": 0}),
    ("omega", {"omega": 65536}),
    ("engine", {"engine": "abacus"}),
    ("cipher", {"cipher": "rot13"}),
    ("class", {"class_name": ""}),
    ("class", {"class_name": "x" * 1025}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 2**63}),
    ("test", {"test": Fraction(1)}),
    ("test", {"test": Fraction(-1, 5)}),
    ("key_bits", {"key_bits": 0}),
    ("key_bits", {"key_bits": 16385}),
    ("rank", {"rank": "luck"}),
]


def object_to(name: str) -> Policy:
    return lambda job: Objection(name, "canary: our own business")


def first_terms() -> list[tuple[str, Meeting]]:
    meetings: list[tuple[str, Meeting]] = []
    for name, changes in OTHER_TERMS.items():
        meetings += [
            (f"{name}: the responder objects", meet(bob_agrees=object_to(name))),
            (f"{name}: the initiator objects", meet(alice_agrees=object_to(name))),
            (f"{name}: another answer", meet(tamper=on("b", Greeting, with_terms(**changes)))),
            (f"{name}: another proposal arrives", meet(tamper=on("a", Greeting, with_terms(**changes)))),
        ]
    for name, changes in IMPOSSIBLE_TERMS:
        meetings.append((f"{name}: impossible {changes}", meet(tamper=on("a", Greeting, with_terms(**changes)))))
    return meetings


AT_ONCE: list[tuple[str, Meeting]] = [
    ("version: the responder's", meet(tamper=on("b", Greeting, lambda m: replace(m, version="cotally/2")))),
    ("version: the initiator's", meet(tamper=on("a", Greeting, lambda m: replace(m, version="cotally/0")))),
    ("party: the responder's", meet(tamper=on("b", Greeting, lambda m: replace(m, party="mallory")))),
    ("party: the initiator's", meet(tamper=on("a", Greeting, lambda m: replace(m, party="mallory")))),
    ("party: a mirror", meet(alice_expects="alice", tamper=on("b", Greeting, lambda m: replace(m, party="alice")))),
    *first_terms(),
    ("job: the answer has none", meet(tamper=on("b", Greeting, lambda m: replace(m, job=NO_JOB)))),
    ("job: the proposal has none", meet(tamper=on("a", Greeting, lambda m: replace(m, job=NO_JOB)))),
    (
        "class: the initiator's column has another name",
        meet(alice=with_attributes(make_local(BOTH_HOLD, "alice"), rename("label"))),
    ),
    (
        "class: the responder's column has another name",
        meet(bob=with_attributes(make_local(BOTH_HOLD, "bob"), rename("label"))),
    ),
    ("key_bits: the keys are smaller", meet(terms=make_terms(key_bits=TEST_BITS + 1))),
]

AFTER_THE_SHARES: list[tuple[str, Meeting]] = [
    ("records: fewer", meet(bob=with_codes(make_local(BOTH_HOLD, "bob"), lambda codes: codes[:-1]))),
    (
        "record ids: others",
        meet(bob=replace(make_local(BOTH_HOLD, "bob"), records=tuple(f"canary{i}" for i in range(20)))),
    ),
    (
        "record ids: another order",
        meet(bob=replace(make_local(BOTH_HOLD, "bob"), records=make_local(BOTH_HOLD, "bob").records[::-1])),
    ),
    (
        "class values: another order",
        meet(
            bob=with_attributes(
                make_local(BOTH_HOLD, "bob"), lambda a: (*a[:-1], replace(a[-1], values=a[-1].values[::-1]))
            )
        ),
    ),
    ("class values: none at all", meet(tamper=on("b", Share, lambda m: replace(m, class_values=())))),
    ("class column: a record differs", meet(alice=with_codes(make_local(BOTH_HOLD, "alice"), flip_first_class))),
    ("class: nobody holds it", meet(replace(BOTH_HOLD, class_owners=()))),
    (
        "columns: a name twice",
        meet(alice=with_attributes(make_local(BOTH_HOLD, "alice"), lambda a: (a[0], replace(a[1], name="a0"), a[2]))),
    ),
    (
        "columns: too many values",
        meet(tamper=on("b", Share, lambda m: replace(m, attributes=(("b0", labels(257)),)))),
    ),
    ("columns: none", Meeting(without_attributes("alice"), without_attributes("bob"))),
    ("theta: too fine to compute with", meet(terms=make_terms(theta=Fraction(10**17, 10**18 - 1)))),
    ("theta: too low for the peer's group alone", meet(terms=make_terms(theta=Fraction(1, 4)))),
    ("groups: a column twice", meet(tamper=on("b", Share, lambda m: replace(m, groups=((0,), (0,)))))),
    ("groups: a column below zero", meet(tamper=on("b", Share, lambda m: replace(m, groups=((-1,),))))),
    (
        "groups: coins too many to encrypt",
        Meeting(wide("alice", (2,) * 9), wide("bob", (2,) * 9)),
    ),
]


def outcome_of(meeting: Meeting) -> tuple[DisagreementError, DisagreementError, set[type[Message]]]:
    alice, bob = meeting.play()
    assert isinstance(alice.error, DisagreementError), alice
    assert isinstance(bob.error, DisagreementError), bob
    return alice.error, bob.error, {type(message) for message in (*alice.sent, *bob.sent)}


@pytest.mark.parametrize(("case", "meeting"), AT_ONCE, ids=[name for name, _ in AT_ONCE])
def test_a_difference_in_greeting_or_terms_ends_both_sides_before_a_name_leaves(case: str, meeting: Meeting) -> None:
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
    assert kinds == {Greeting, Verdict}


@pytest.mark.parametrize(("case", "meeting"), AFTER_THE_SHARES, ids=[name for name, _ in AFTER_THE_SHARES])
def test_a_difference_in_the_shares_ends_both_sides_before_data_leave(case: str, meeting: Meeting) -> None:
    """A share that only one side sees changed is no more than what a hostile peer sends: both end all the same."""
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
    assert kinds == {Greeting, Verdict, Share, TableCommitment} | (
        {ClassDigest} if alice.field == "class column" else set()
    )
    assert "canary" not in f"{alice} {bob}"


def test_every_field_has_a_case() -> None:
    told = {name.split(":")[0] for name, _ in (*AT_ONCE, *AFTER_THE_SHARES)}
    assert told | {*BROUGHT, COPY} == set(FIELDS) - {"class counts"}


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


BROUGHT, COPY = ("peer columns", "peer groups", "peer data"), "peer copy"


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
    assert kinds == {Greeting, Verdict, Share, TableCommitment}
    ours, theirs = (alice, bob) if who == "alice" else (bob, alice)
    assert "canary" in str(ours)
    assert str(theirs) == (
        f"the parties differ on {field!r}: "
        "the peer has met another table of ours in this data set: bring that one again, or both name a new [data] "
        "dataset, knowing that answers to both can be subtracted"
    )
    (agreed,) = asked
    peer = ends.bob if who == "alice" else ends.alice
    assert agreed.commitment == peer.digest(b"commitment")


@pytest.mark.parametrize("who", ["alice", "bob"])
@pytest.mark.parametrize("method", ["hybrid", "randomized"])
def test_a_peer_that_sends_another_copy_than_before_is_refused_before_gains_leave(method: str, who: str) -> None:
    objecting: dict[str, Any] = {f"{who}_judges_copy": lambda _: Objection(COPY, "canary: our own business")}
    alice, bob, kinds = outcome_of(meet(ONE_HOLDS, terms=make_terms(method=method, omega=1), **objecting))
    assert alice.field == bob.field == COPY
    assert kinds == {Greeting, Verdict, Share, TableCommitment, ClassCounts, DisguisedPage}
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


def test_a_commitment_is_the_same_for_the_same_table_and_tells_nothing_without_the_secret() -> None:
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


def test_only_the_side_that_objects_knows_why() -> None:
    alice, bob, _ = outcome_of(meet(bob_agrees=object_to("seed")))
    assert "canary" in str(bob)
    assert str(alice) == "the parties differ on 'seed': the peer does not agree: its screen says why"


def test_of_two_differences_both_name_the_first() -> None:
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("seed"), bob_agrees=object_to("omega")))
    assert alice.field == bob.field == "omega"
    assert "canary" not in str(alice)
    assert "canary" in str(bob)
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("theta"), bob_agrees=object_to("theta")))
    assert str(alice) == str(bob)


def test_a_field_that_nobody_compares_counts_as_another_version() -> None:
    alice, bob = meet(tamper=on("b", Verdict, lambda m: Verdict("colour"))).play()
    assert isinstance(alice.error, DisagreementError)
    assert alice.error.field == "version"
    assert "colour" not in str(alice.error)
    assert bob.error is None


def test_an_objection_to_an_unknown_field_is_refused_at_once() -> None:
    with pytest.raises(InputError, match=r"the parties compare version, party, .*, and not 'colour'"):
        Objection("colour", "we like blue")


@pytest.mark.parametrize("case", [BOTH_HOLD, ONE_HOLDS, replace(BOTH_HOLD, class_owners=("alice",))])
def test_those_who_agree_know_the_same(case: Case) -> None:
    alice, bob = meet(case).play()
    assert alice.result
    assert bob.result
    (a, _), (b, _) = alice.result, bob.result
    assert (a.terms, a.schema) == (b.terms, b.schema)
    assert (a.own_design, a.peer_design) == (b.peer_design, b.own_design)
    assert (a.peer, b.peer) == ("bob", "alice")
    shared = len(case.class_owners) > 1
    assert len(a.own_design.sizes) == 2 + ("alice" in case.class_owners and not shared)
    assert len(b.own_design.sizes) == 1 + ("bob" in case.class_owners and not shared)


@pytest.mark.parametrize("terms", [{"engine": "dot_product"}, {"method": "smc"}, {"method": "randomized"}])
def test_many_coins_matter_only_where_they_are_encrypted(terms: dict[str, Any]) -> None:
    meeting = Meeting(wide("alice", (2,) * 9), wide("bob", (2,) * 9), make_terms(**terms))
    assert all(end.error is None for end in meeting.play())


IN_NO_DISGUISE: dict[str, tuple[Callable[[Terms], Meeting], Terms, str]] = {
    "theta is too low": (lambda terms: meet(terms=terms), make_terms(theta=Fraction(1, 4)), "theta"),
    "too many offsets": (
        lambda terms: Meeting(wide("alice", (67,)), wide("bob", (2,)), terms),
        make_terms(engine="dot_product"),
        "groups",
    ),
    "too many patterns": (
        lambda terms: Meeting(wide("alice", (2,) * 9), wide("bob", (2,) * 9), terms),
        make_terms(),
        "groups",
    ),
}


@pytest.mark.parametrize("case", IN_NO_DISGUISE)
def test_what_spoils_a_disguise_does_not_matter_to_smc(case: str) -> None:
    make, terms, name = IN_NO_DISGUISE[case]
    alice, bob, _ = outcome_of(make(terms))
    assert alice.field == bob.field == name
    ends = make(replace(terms, method=Method.SMC)).play()
    for end in ends:
        assert end.error is None
        assert end.result is not None
        assert end.result[0].own_design.patterns == end.result[0].peer_design.patterns == 1


@pytest.mark.parametrize("sizes", [((2, 2, 2), (2,)), ((2,), (2, 2, 2))])
def test_more_rows_than_memory_holds_are_refused_by_both_sides(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """20 records; three or four groups of two offsets, as Bob holds the class in one of its own."""
    rows = 20 * 2 ** max(len(sizes[0]), len(sizes[1]) + 1)
    meeting = Meeting(wide("alice", sizes[0]), wide("bob", sizes[1]), make_terms())
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", rows)
    assert all(end.error is None for end in meeting.play())
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", rows - 1)
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == "groups"
    assert f"records times coin patterns are {rows}, more than {rows - 1}" in str(alice)
    assert f"records times coin patterns are {rows}, more than {rows - 1}" in str(bob)
    assert kinds == {Greeting, Verdict, Share, TableCommitment}


@pytest.mark.parametrize("terms", [make_terms(engine="dot_product"), make_terms(method="randomized")], ids=str)
def test_patterns_that_nobody_lists_are_no_limit(terms: Terms) -> None:
    ends = Meeting(wide("alice", (2,)), wide("bob", (2,) * 17), terms).play()
    assert [end.error for end in ends] == [None, None]


def test_rows_that_are_never_expanded_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", 1)
    assert all(end.error is None for end in meet(terms=make_terms(method="smc")).play())


def test_a_peer_that_speaks_out_of_turn_is_refused() -> None:
    alice, _ = meet(tamper=on("b", Verdict, lambda m: Share(0, (), None, (), b"", b""))).play()
    assert type(alice.error) is PeerError


def test_digests_are_keyed_by_both_nonces_and_show_equality_only() -> None:
    alice, bob = make_local(BOTH_HOLD, "alice"), make_local(BOTH_HOLD, "bob")
    one, other = alice.share(b"nonces"), bob.share(b"nonces")
    assert one.records_digest == other.records_digest != alice.share(b"others").records_digest
    assert alice.class_digest(b"nonces") == bob.class_digest(b"nonces") != alice.class_digest(b"others")
    assert one.records_digest != alice.class_digest(b"nonces")
    assert one.spelling_digest == other.spelling_digest != alice.share(b"others").spelling_digest
    assert one.spelling_digest != one.records_digest


def test_a_digest_of_the_class_crosses_only_where_both_hold_it() -> None:
    for case, digests in ((BOTH_HOLD, 1), (ONE_HOLDS, 0)):
        sent = Transcript()
        roles = (
            whole(make_local(case, "alice"), make_terms(), "bob"),
            whole(make_local(case, "bob"), None, "alice"),
        )
        run_pair(*roles, sent)
        for messages in (sent.sent_by_a, sent.sent_by_b):
            assert sum(isinstance(message, ClassDigest) for message in messages) == digests


def test_both_nonces_go_into_the_digests_in_the_order_of_speaking() -> None:
    shares: list[list[Share]] = []
    for alice_nonce, bob_nonce in ((b"a" * 32, b"b" * 32), (b"a" * 32, b"c" * 32), (b"d" * 32, b"b" * 32)):
        roles = (
            whole(make_local(BOTH_HOLD, "alice"), make_terms(), "bob", nonce=alice_nonce),
            whole(make_local(BOTH_HOLD, "bob"), None, "alice", nonce=bob_nonce),
        )
        ends = duel(*roles)
        shares.append([m for end in ends for m in end.sent if isinstance(m, Share)])
        assert [m.nonce for end in ends for m in end.sent if isinstance(m, Greeting)] == [alice_nonce, bob_nonce]
    assert all(a.records_digest == b.records_digest for a, b in shares)
    assert len({a.records_digest for a, _ in shares}) == 3
