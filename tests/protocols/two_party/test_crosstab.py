"""One table of two columns: the plain one, noise of both sides, what each side sees, and a peer that deviates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.jobs import Crosstab, CrosstabTerms
from protocols.messages import (
    ChoicePage,
    CorrectionPage,
    CountShares,
    Greeting,
    HiddenContents,
    JointDigests,
    KeptParts,
    LostAnswers,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.oblivious.numbers import modulus_mask
from protocols.role import Message, Part, Receive, Role, Send, Transcript, nothing, run_pair
from protocols.secret_tree.held_out import noise_of_table, room_for_table
from protocols.tables import Codes
from protocols.two_party.agreement import answer, propose
from protocols.two_party.crosstab import Crossed, agree_on_crosstab, count_crosstab
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.binomial import ShareTest
from tests.support.cases import correlated
from tests.support.duel import duel
from tests.support.examples import at_most
from tests.support.exponentials import law_bounds
from tests.support.parties import Case, make_local, make_terms
from tests.support.simulators import simulate_share

HALF = Fraction(1, 2)
TERMS = CrosstabTerms("a1", "b0", HALF)
Ended = tuple[Crossed, tuple[int, ...]]


@dataclass(frozen=True)
class Known:
    """What a side remembers."""

    answers: tuple[bytes, ...] = ()

    def recall(self, part: Part) -> Iterator[bytes]:
        return iter(self.answers if part is Part.ANSWERS else [b""] if part is Part.OPENED else [])


def case_of(codes: Codes, sizes: tuple[int, int]) -> Case:
    """Return a case whose columns `a1`, of Alice, and `b0`, of Bob, who holds the class, are these."""
    columns = np.column_stack([codes[:, 0] * 0, codes, codes[:, 0] * 0]).astype(np.uint8)
    return Case(
        {"alice": (2, sizes[0]), "bob": (sizes[1],)}, ("bob",), 2, columns, {"alice": 1, "bob": 1}, make_terms()
    )


CASE = case_of(correlated((3, 2), 60, seed=1, flips=0.3), (3, 2))


def side(
    local: PartyInputs, terms: CrosstabTerms | None, peer: str, kept: Known = Known(), judge: Any = nothing
) -> Role[Ended]:
    """Play one party's part of a session; who has terms opens it."""
    opened = (
        propose(local, Crosstab(terms), nothing, peer, b"n" * 32) if terms else answer(local, nothing, peer, b"m" * 32)
    )
    opening = yield from opened
    assert isinstance(opening.job, Crosstab)
    wanted, initiates = opening.job.terms, terms is not None
    agreed = yield from agree_on_crosstab(local, wanted, peer, opening.nonces, initiates=initiates, judge=judge)
    return agreed, (yield from count_crosstab(agreed, kept))


def sides(
    case: Case, terms: CrosstabTerms, initiator: str = "alice", kept: tuple[Known, Known] = (Known(), Known())
) -> tuple[Role[Ended], Role[Ended]]:
    alice, bob = make_local(case, "alice"), make_local(case, "bob")
    return (
        side(alice, terms if initiator == "alice" else None, "bob", kept[0]),
        side(bob, terms if initiator == "bob" else None, "alice", kept[1]),
    )


def tabled(case: Case, terms: CrosstabTerms, initiator: str = "alice") -> list[int]:
    (_, ours), (_, theirs) = run_pair(*sides(case, terms, initiator))
    assert ours == theirs
    return list(ours)


def truth(case: Case, first: int = 1, second: int = 2) -> list[int]:
    """Count by hand."""
    rows, columns = (int(size) for size in (*case.sizes["alice"], *case.sizes["bob"])[first : second + 1])
    pairs = [(int(record[first]), int(record[second])) for record in case.codes]
    return [pairs.count(each) for each in product(range(rows), range(columns))]


@settings(max_examples=at_most(15), deadline=None)
@given(st.data())
def test_an_exact_table_is_the_plain_one_whichever_side_asks(data: st.DataObject) -> None:
    sizes = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    record = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    codes = np.array(data.draw(st.lists(record, min_size=1, max_size=40)), np.uint8)
    case, initiator = case_of(codes, sizes), data.draw(st.sampled_from(["alice", "bob"]))
    columns = ("a1", "b0") if initiator == "alice" else ("b0", "a1")
    assert tabled(case, CrosstabTerms(*columns, None), initiator) == truth(case)


def test_noise_of_both_sides_is_that_of_the_question_whichever_side_asks_and_whatever_other_columns_hold() -> None:
    (alice, told), (bob, _) = run_pair(*sides(CASE, TERMS))
    assert list(told) == (np.array(truth(CASE)) + alice.noise() + bob.noise()).tolist()
    assert tabled(CASE, CrosstabTerms("b0", "a1", HALF), "bob") == list(told)
    others = CASE.codes.copy()
    others[:, [0, 3]] = 1
    assert tabled(replace(CASE, codes=others), TERMS) == list(told)
    changed = CASE.codes.copy()
    changed[0, 1] = (changed[0, 1] + 1) % 3
    different = [
        sides(replace(CASE, codes=changed), TERMS),
        sides(CASE, replace(TERMS, noise=Fraction(1))),
        sides(CASE, CrosstabTerms("a0", "b0", HALF)),
        sides(CASE, CrosstabTerms("a1", "class", HALF)),
    ]
    for each in different:
        (a, _), (b, _) = run_pair(*each)
        assert a.question != alice.question
        assert b.question != bob.question
        assert a.noise()[:4] != alice.noise()[:4]
        assert b.noise()[:4] != bob.noise()[:4]


def test_noise_of_a_cell_is_two_sided_geometric_of_scale_two_by_epsilon_and_of_no_other() -> None:
    """All cells of 600 owners; a false alarm in 10**9 runs, twice or half the scale are seen but for one in 10**6."""
    (agreed, _), _ = run_pair(*sides(CASE, TERMS))
    law, drawn = noise_of_table(HALF), list[int]()
    for owner in range(600):
        secrets = replace(agreed.local.secrets, coins=owner.to_bytes(32, "big"))
        drawn += replace(agreed, local=replace(agreed.local, secrets=secrets)).noise()
    assert law.scale == 4
    for reach in (0, 3, 8):
        shares = [
            sum((bounds[z][0] for z in range(-reach, reach + 1)), start=Fraction(0)).limit_denominator(10**6)
            for bounds in (law_bounds(each) for each in (law, noise_of_table(2 * HALF), noise_of_table(HALF / 2)))
        ]
        test = ShareTest(len(drawn), shares[0], 1e-9)
        assert min(map(test.power, shares[1:])) > 1 - 1e-6
        assert test.accepts(sum(abs(noise) <= reach for noise in drawn))
    assert abs(sum(drawn)) < 7 * (law.variance * len(drawn)) ** 0.5


@pytest.mark.parametrize("noise", [None, HALF], ids=["exact", "noise"])
@pytest.mark.parametrize("ours", ["a", "b"])
def test_either_side_sees_what_a_simulator_makes_of_the_table_alone(ours: str, noise: Fraction | None) -> None:
    """The simulator has the table, the terms and the names, and of the other side's column nothing but zeros.

    Kinds and lengths of all messages are the same, and bits of masked ones half ones (10**-9).
    """
    terms, real = replace(TERMS, noise=noise), Transcript()
    (agreed, table), _ = run_pair(*sides(CASE, terms), real)
    room = 0 if agreed.law is None else room_for_table(agreed.law)
    most = modulus_mask((len(CASE.codes) + room).bit_length())
    blind, place, said = CASE.codes.copy(), "ab".index(ours), list[Message]()
    blind[:, [2, 3] if ours == "a" else [0, 1]] = 0
    honest, blinded = sides(CASE, terms), sides(replace(CASE, codes=blind), terms)
    seeing = simulating(honest[place], table, most, said)
    alice, bob = duel(seeing, blinded[1]) if ours == "a" else duel(blinded[0], seeing)
    ended = (alice, bob)[place].result
    assert ended is not None
    assert ended[1] == table
    heard = real.sent_by_b if ours == "a" else real.sent_by_a
    assert [(type(each), _size(each)) for each in said] == [(type(each), _size(each)) for each in heard]
    for sent in (said, heard):
        pages = (each.corrections for each in sent if isinstance(each, CorrectionPage))
        choices = (each.matrix for each in sent if isinstance(each, ChoicePage))
        masked = b"".join([*pages, *choices])
        assert masked
        assert off(bits_of(masked, 8)) == []


def simulating(role: Role[Ended], table: tuple[int, ...], most: np.uint64, said: list[Message]) -> Role[Ended]:
    """Play a role against one whose share of the table is put right, and keep what it hears."""
    answer, own = None, CountShares(())
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            return cast("Ended", stop.value)
        if isinstance(effect, Send) and isinstance(effect.message, CountShares):
            own = effect.message
        answer = yield effect
        if isinstance(effect, Receive):
            answer = simulate_share(own, table, most) if isinstance(answer, CountShares) else answer
            said.append(answer)


def _size(message: Message) -> list[int]:
    return [len(value) if isinstance(value, bytes | tuple) else 0 for value in vars(message).values()]


def test_a_table_that_one_side_remembers_is_sent_and_not_opened_and_one_that_cannot_be_is_refused() -> None:
    (_, found), (bobs, _) = run_pair(*sides(CASE, TERMS))
    table = list(found)
    assert bobs.adds_up(tuple(table))
    assert not bobs.adds_up((table[0] - 10**6, table[1], table[2] + 10**6, *table[3:]))  # his own column adds up
    kept = Known((np.array(table, np.float64).tobytes(),))
    for known in ((kept, kept), (kept, Known()), (Known(), kept)):
        transcript = Transcript()
        (_, ours), (_, theirs) = run_pair(*sides(CASE, TERMS, kept=known), transcript)
        assert list(ours) == list(theirs) == table
        kinds = {type(each) for each in (*transcript.sent_by_a, *transcript.sent_by_b)}
        usual = {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests, KeptParts}
        assert kinds - usual <= {LostAnswers}
    for wrong in (table[:-1], [*table[:-1], 10**6], [-(10**6), *table[1:]]):
        claimed = Known((np.array(wrong, np.float64).tobytes(),))
        with pytest.raises(DeviationError):
            run_pair(*sides(CASE, TERMS, kept=(claimed, Known())))


def shares(change: Callable[[CountShares], CountShares]) -> Callable[[Message], Message]:
    return lambda message: change(message) if isinstance(message, CountShares) else message


def named(**changes: Any) -> Callable[[Message], Message]:
    return lambda message: replace(message, **changes) if isinstance(message, Share) else message


def column(**changes: Any) -> Callable[[Message], Message]:
    def change(message: Message) -> Message:
        if not isinstance(message, Share):
            return message
        return replace(message, attributes=tuple(replace(each, **changes) for each in message.attributes))

    return change


def job(message: Message) -> Message:
    return replace(message, job=Crosstab(replace(TERMS, responder="b1"))) if isinstance(message, Greeting) else message


@pytest.mark.parametrize(
    ("change", "error", "reason"),
    [
        (job, DisagreementError, "responder"),
        (column(name="b1"), DisagreementError, "'columns'"),
        (named(attributes=()), DisagreementError, "'columns'"),
        (named(class_values=("n", "y")), DisagreementError, "'columns'"),
        (named(groups=((0,),)), DisagreementError, "'columns'"),
        (column(values=()), DisagreementError, "'columns'"),
        (column(values=("v", "v")), DisagreementError, "'columns'"),
        (shares(lambda own: CountShares(own.shares[:-1])), PeerError, "of other counts"),
        (shares(lambda own: CountShares((1 << 40, *own.shares[1:]))), PeerError, "of other counts"),
        (shares(lambda own: CountShares(((own.shares[0] + 1) % 64, *own.shares[1:]))), DeviationError, ""),
    ],
)
def test_a_peer_that_brings_or_sends_something_else_gets_no_table(
    change: Callable[[Message], Message], error: type[Exception], reason: str
) -> None:
    alice, _ = duel(*sides(CASE, replace(TERMS, noise=None)), lambda who, _, each: change(each) if who == "b" else each)
    assert type(alice.error) is error
    assert reason in str(alice.error)


def test_what_one_side_objects_to_when_both_have_named_their_columns_is_refused_on_both() -> None:
    objecting = side(make_local(CASE, "bob"), None, "alice", judge=lambda _: Objection("budget", "too much"))
    ends = duel(side(make_local(CASE, "alice"), TERMS, "bob"), objecting)
    assert [str(end.error).split(":")[0] for end in ends] == ["the parties differ on 'budget'"] * 2
    assert not any(isinstance(each, KeptParts) for end in ends for each in end.sent)


def test_a_column_of_more_values_than_either_side_takes_is_refused_on_both() -> None:
    limited = replace(make_local(CASE, "bob"), limits=replace(make_local(CASE, "bob").limits, most_values=2))
    ends = duel(side(make_local(CASE, "alice"), TERMS, "bob"), side(limited, None, "alice"))
    assert [type(end.error) for end in ends] == [DisagreementError] * 2
    assert "a column of ours has more values" in str(ends[0].error)
    assert "has 3 values, our [agree] most_values allows 2" in str(ends[1].error)
