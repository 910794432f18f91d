"""A peer may send anything: an honest side then ends with `PeerError`, or finishes as it would have.

One message of a recorded honest run is changed, dropped, doubled or moved, and the honest side is played against the
record. Nothing but `PeerError` may come out of it, and a model only if it is the right one.

Whole hybrid runs with a peer that errs or cheats in numbers: plausibility ends them, and never an honest one.

2,000 records: the class equals Bob's column, half of them 1. Alice holds the class and the key (equal costs, first
name). Theta is 9/10, one binary group a side, so a sent column is a sum of coins and every power below is a binomial
tail. Both sides' bounds are about 90 records.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocols.counting.checks import Checks, Plausibility
from protocols.counting.estimated import Estimator
from protocols.counting.rows import View
from protocols.counts import Query
from protocols.errors import DeviationError, PeerError
from protocols.jobs import NO_JOB, Job, Train, Unusable
from protocols.learning.tree import Tree
from protocols.messages import DisguisedPage, ExactCounts, ModelDigest, SharedColumn, Verdict
from protocols.randomized_response.related_question import Coins, RelatedDesign, keyed_draw
from protocols.role import Message, Role, Transcript, run_pair
from protocols.tables import ROOT, Attribute, joint_schema
from protocols.terms import ALL
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.power import least_seen, least_seen_together
from protocols.two_party.training import Outcome
from tests.protocols.ciphers.paillier.chance import Chance
from tests.support.binomial import lower_tail
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest, replay
from tests.support.examples import at_most, few
from tests.support.parties import Case, changed_job, make_local, make_roles, make_terms
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

WAYS: Mapping[str, dict[str, Any]] = {
    "hybrid": {"omega": 2},
    "hybrid by dot products": {"omega": 1, "counting": "paillier"},
    "hybrid, all": {},
    "smc": {"method": "smc"},
    "smc by dot products": {"method": "smc", "counting": "paillier"},
    "randomized": {"method": "randomized"},
}
NONCE = b"n" * 32


def both_roles(way: str, initiator: str) -> tuple[Role[tuple[Agreement, Outcome]], Role[tuple[Agreement, Outcome]]]:
    """Return both parts, with the same chance every time: what was recorded answers it."""
    each = Case(
        sizes={"alice": (2, 3), "bob": (2, 2)},
        class_owners=("alice", "bob") if way == "hybrid, all" else ("bob",),
        classes=2,
        codes=correlated((2, 3, 2, 2, 2), 14, seed=4, flips=0.5),
        groups={"alice": 2, "bob": 1},
        terms=make_terms(theta=Fraction(9, 10), **WAYS[way]),
        initiator=initiator,
    )
    locals_ = [make_local(each, party) for party in ("alice", "bob")]
    alice, bob = (
        replace(local, secrets=replace(local.secrets, randomness=Chance(seed))) for seed, local in enumerate(locals_)
    )
    return make_roles(each, alice, bob, nonce=NONCE)


@cache
def recorded(way: str, initiator: str) -> tuple[Transcript, Tree]:
    transcript = Transcript()
    (_, outcome), _ = run_pair(*both_roles(way, initiator), transcript)
    return transcript, outcome.tree


def peer_messages(way: str, initiator: str, side: int) -> tuple[Message, ...]:
    transcript, _ = recorded(way, initiator)
    return tuple(transcript.sent_by_b if side == 0 else transcript.sent_by_a)


NUMBERS = st.one_of(st.sampled_from([0, 1, -1, 14, 2**32 - 1, 2**63, 2**64 - 1, 10**18]), st.integers(-(2**64), 2**64))
REALS = st.one_of(st.sampled_from([0.0, -1.0, 1e308, -1e308, inf, -inf, nan, 5e-324]), st.floats())
FRACTIONS = st.one_of(
    st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(1), Fraction(-1), Fraction(10**17, 10**18 - 1)]),
    st.fractions(0, 1, max_denominator=10**18 - 1),
)
LABELS = st.text(max_size=4)


TEXTS = st.one_of(LABELS, st.sampled_from(["smc", "hybrid", "randomized", "dot_product", "alice", "bob"]))


@st.composite
def changed_value(draw: st.DrawFn, value: Any) -> Any:
    """Draw something else of the same type: truncated, extended, or at random."""
    by_type: dict[type, Callable[[], st.SearchStrategy[Any]]] = {
        Train: lambda: changed_jobs(value),
        Fraction: lambda: FRACTIONS,
        int: lambda: NUMBERS,
        float: lambda: REALS,
        str: lambda: TEXTS,
        type(None): lambda: st.lists(LABELS, max_size=3).map(tuple),
        bytes: lambda: changed_bytes(value),
        tuple: lambda: changed_tuple(value),
        SharedColumn: lambda: changed_fields(value),
    }
    return draw(by_type[type(value)]())


@st.composite
def changed_bytes(draw: st.DrawFn, value: bytes) -> bytes:
    how = draw(st.sampled_from(["cut", "longer", "other bytes", "one byte", "none"]))
    place = draw(st.integers(0, max(len(value) - 1, 0)))
    byte = draw(st.binary(min_size=1, max_size=1))
    size = min(len(value), 400)
    return {
        "cut": value[:place],
        "longer": value + draw(st.binary(min_size=1, max_size=70)),
        "other bytes": draw(st.binary(min_size=size, max_size=size)) + byte * (len(value) - size),
        "one byte": value[:place] + byte + value[place + 1 :],
        "none": b"",
    }[how]


@st.composite
def changed_tuple(draw: st.DrawFn, value: tuple[Any, ...]) -> tuple[Any, ...]:
    is_attribute = len(value) == 2 and isinstance(value[0], str)  # name and values: always a pair
    how = draw(st.sampled_from(["one element"] if is_attribute else ["cut", "longer", "one element", "none"]))
    place = draw(st.integers(0, max(len(value) - 1, 0)))
    if how == "cut" or not value:
        return value[:place]
    if how == "longer":
        return value + value[-1:]
    if how == "none":
        return ()
    return (*value[:place], draw(changed_value(value[place])), *value[place + 1 :])


@st.composite
def changed_jobs(draw: st.DrawFn, job: Train) -> Job | Unusable:
    name = draw(st.sampled_from([field.name for field in fields(job.terms)]))
    value = getattr(job.terms, name)
    plain = str(value) if isinstance(value, StrEnum) else 0 if value is ALL else value
    return draw(st.just(NO_JOB) | changed_value(plain).map(lambda other: changed_job(job, **{name: other})))


@st.composite
def changed_fields(draw: st.DrawFn, thing: Any) -> Any:
    name = draw(st.sampled_from([field.name for field in fields(thing)]))
    return replace(thing, **{name: draw(changed_value(getattr(thing, name)))})


@st.composite
def attacks(draw: st.DrawFn) -> tuple[str, str, int, list[Message]]:
    """Draw a run, the honest side of it, and what the other side says."""
    way, initiator = draw(st.sampled_from(list(WAYS))), draw(st.sampled_from(["alice", "bob"]))
    side = draw(st.integers(0, 1))
    messages = list(peer_messages(way, initiator, side))
    place = draw(st.integers(0, len(messages) - 1))
    how = draw(st.sampled_from(["change", "change", "change", "other kind", "drop", "double", "swap", "end"]))
    if how == "change":
        messages[place] = draw(changed_fields(messages[place]))
    elif how == "other kind":
        pool = [m for each in WAYS for s in (0, 1) for m in peer_messages(each, initiator, s)]
        messages[place] = draw(st.sampled_from(pool))
    elif how == "double":
        messages.insert(place, messages[place])
    elif how == "swap":
        messages[place : place + 2] = messages[place : place + 2][::-1]
    else:
        messages[place:] = messages[place + 1 :] if how == "drop" else []
    return way, initiator, side, messages


def assert_ends_well(way: str, initiator: str, side: int, messages: list[Message]) -> None:
    role = both_roles(way, initiator)[side]
    end = replay(role, messages)
    if end.error is not None:
        assert isinstance(end.error, PeerError), repr(end.error)
    elif end.result is not None:
        assert end.result[1].tree == recorded(way, initiator)[1]


@settings(max_examples=at_most(120), suppress_health_check=[HealthCheck.too_slow])
@given(attacks())
def test_whatever_the_peer_sends_ends_in_peer_error_or_the_right_model(
    attack: tuple[str, str, int, list[Message]],
) -> None:
    assert_ends_well(*attack)


@pytest.mark.parametrize(("initiator", "side", "way"), few(list(product(["alice", "bob"], [0, 1], WAYS)), 11))
def test_the_record_leads_to_the_model_and_at_every_step_another_kind_of_message_is_refused(
    way: str, side: int, initiator: str
) -> None:
    messages = peer_messages(way, initiator, side)
    end = replay(both_roles(way, initiator)[side], messages)
    assert end.result is not None
    assert end.result[1].tree == recorded(way, initiator)[1]
    wrong: list[Message] = [ModelDigest(bytes(32)), Verdict("")]
    for place, message in few(list(enumerate(messages)), 4):
        other = next(w for w in wrong if type(w) is not type(message))
        end = replay(both_roles(way, initiator)[side], (*messages[:place], other, *messages[place + 1 :]))
        assert type(end.error) is PeerError
        assert str(end.error) == f"expected {type(message).__name__} from the peer, got {type(other).__name__}"


def test_a_peer_that_stops_leaves_the_honest_side_waiting() -> None:
    for way, side in few([*product(WAYS, [0, 1])], 5):
        messages = peer_messages(way, "alice", side)
        for place in few(range(len(messages)), 16):
            assert replay(both_roles(way, "alice")[side], messages[:place]).waits


SCHEMA = schema_of((2, 2), 2, alice=1)
RECORDS = 4000
CODES = np.repeat(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=np.uint8), RECORDS // 4, axis=0)
QUERY = Query(ROOT, (1,), (2000.0, 2000.0))


@pytest.mark.parametrize("groups", [((1,),), ((1,), (2,))], ids=["one group", "two groups"])
def test_a_count_that_is_as_wrong_as_is_stated_is_seen_and_a_true_one_is_not(
    groups: tuple[tuple[int, ...], ...],
) -> None:
    """Of 5 runs none gives a false alarm (a chance of 10^-6 each), and none misses (the same)."""
    design = peer_design(SCHEMA, "alice", groups, Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, len(groups))
    assert least is not None
    wrong = int(least) + 1
    assert wrong < 1000
    for secret in range(5):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000, 1000, 1000, 1000])
        with pytest.raises(DeviationError):
            checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])


def test_what_is_stated_is_no_looser_than_it_must_be() -> None:
    """The figure is no looser than it must be: at a quarter of it nothing is seen."""
    design = peer_design(SCHEMA, "alice", ((1,),), Fraction(9, 10))
    least = least_seen(design, SCHEMA, RECORDS, 1)
    assert least is not None
    wrong = int(least / 4)
    for secret in range(5):
        seen = view_of(SCHEMA, "alice", CODES, design, secret)
        checks = Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen)))
        assert checks.answers([QUERY], [1000 + wrong, 1000, 1000 - wrong, 1000])
    near = RelatedDesign.of_odds((2, 2), ((0,), (1,)), Fraction(9, 20))
    assert least_seen(near, SCHEMA, 1000, 1) is None
    assert least_seen(near, SCHEMA, 10**6, 3) is None
    assert least_seen(RelatedDesign.of_odds((2, 2), (), Fraction(9, 20)), SCHEMA, 10**6, 1) is None
    one, two = (least_seen(near, SCHEMA, 10**6, groups) for groups in (1, 2))
    assert one is not None
    assert two is not None
    assert one < two


WIDE = schema_of((2,) * 12, 2, alice=12)  # Bob, who judges, holds the class
MANY = 4000
EVEN = np.random.default_rng(5).integers(0, 2, (MANY, 13)).astype(np.uint8)
EACH = tuple((column,) for column in range(12))


@cache
def wide_view(secret: int) -> View:
    return view_of(WIDE, "bob", EVEN, peer_design(WIDE, "bob", EACH, Fraction(9, 10)), secret)


def seen_together(wrong: int, secret: int) -> bool:
    """Tell every count of the root wrong by this many, with all sums as they are."""
    classes = np.bincount(EVEN[:, 12], minlength=2)
    query = Query(ROOT, tuple(range(12)), tuple(map(float, classes)))
    lie = wrong * np.array([[1, -1], [-1, 1]])
    tables = [
        np.histogram2d(EVEN[:, column], EVEN[:, 12], bins=(2, 2))[0].astype(int) + lie for column in query.candidates
    ]
    seen = wide_view(secret)
    try:
        Checks(WIDE, MANY, Plausibility(seen, Estimator(seen))).answers(
            [query], [int(count) for table in tables for count in table.ravel()]
        )
    except DeviationError:
        return True
    return False


def test_counts_that_are_all_as_wrong_as_is_stated_are_seen_together_where_no_single_one_is() -> None:
    """Of 2 runs none gives a false alarm and none misses (a chance of 10^-6 each); a quarter of it is never seen."""
    design = peer_design(WIDE, "bob", EACH, Fraction(9, 10))
    together, single = least_seen_together(design, WIDE, "bob", MANY, 12), least_seen(design, WIDE, MANY, 1)
    assert together is not None
    assert single is not None
    wrong = int(together.wrong) + 1
    assert together.columns == 12
    assert wrong < single
    assert all(seen_together(wrong, secret) for secret in range(2))
    assert not any(seen_together(told, secret) for told in (0, wrong // 4) for secret in range(2))


def test_more_columns_show_smaller_lies_and_what_cannot_be_is_not_claimed() -> None:
    design = peer_design(WIDE, "bob", EACH, Fraction(9, 10))
    least = [least_seen_together(design, WIDE, "bob", MANY, window) for window in (3, 12)]
    assert least[0] is not None
    assert least[1] is not None
    assert least[1].wrong < least[0].wrong
    assert least_seen_together(design, WIDE, "bob", 40, 12) is None
    assert least_seen_together(design, WIDE, "alice", MANY, 12) is None  # the peer has no column but the class


HALF = 1000
THETA = Fraction(9, 10)
MOVED_CODES = np.repeat(np.array([[0, 0, 0], [1, 1, 1]], dtype=np.uint8), HALF, axis=0)
MOVED_CODES[::10, 0] ^= 1  # Alice's column errs in a tenth, so Bob's is the better one
TEXT = "the peer's reply failed a check: the run is over; find the cause before starting another"


def moved_case(counting: str, owners: tuple[str, ...] = ("alice",)) -> Case:
    return Case(
        sizes={"alice": (2,), "bob": (2,)},
        class_owners=owners,
        classes=2,
        codes=MOVED_CODES,
        groups={"alice": 1, "bob": 1},
        terms=make_terms(theta=THETA, counting=counting, test=Fraction(0)),
    )


MOVED_WAYS = ["oblivious_transfer", "paillier"]


def alices_bound() -> float:
    """Return how far Alice lets a count of Bob's column and the class lie from her estimate."""
    attributes = [Attribute("alice", "a0", ("v0", "v1")), Attribute("bob", "b0", ("v0", "v1"))]
    schema = joint_schema(attributes, Attribute("alice", "class", ("v0", "v1")), ("alice",))
    seen = view_of(schema, "alice", MOVED_CODES, peer_design(schema, "alice", ((1,),), THETA))
    return Plausibility(seen, Estimator(seen))._bound(ROOT, 1, HALF)


def sent_ones(estimate: float) -> int:
    """Return how many of `HALF` records must be sent as 1 for this estimate: `N* = (k - n(1-theta))/(2 theta - 1)`."""
    return int(float(2 * THETA - 1) * estimate + float(HALF * (1 - THETA)))


class WrongTheta(PartyInputs):
    """Draws its coins with another theta than it says."""

    def coins(self, design: RelatedDesign) -> Coins:
        return replace(design, theta=Fraction(7, 10)).coins(keyed_draw(self.secrets.coins, self.dataset, self.records))


def changed_kind(local: PartyInputs, kind: type[PartyInputs]) -> PartyInputs:
    return kind(**{name: getattr(local, name) for name in local.__dataclass_fields__})


@pytest.mark.parametrize("counting", MOVED_WAYS)
def test_a_peer_with_another_theta_is_caught_by_who_has_its_copy(counting: str) -> None:
    """1,000 records of class 1 are sent as 1 with chance 7/10; the estimate is then 750, not 1,000.

    A miss needs an estimate above 1,000 less the bound: its chance is below 10^-8.
    """
    missed = 1.0 - lower_tail(HALF, Fraction(7, 10), sent_ones(HALF - alices_bound()) - 1)
    assert missed < 1e-8
    bob = changed_kind(make_local(moved_case(counting), "bob"), WrongTheta)
    alice, other = duel(*make_roles(moved_case(counting), bob=bob))
    assert type(alice.error) is DeviationError
    assert str(alice.error) == TEXT
    assert not any(isinstance(message, ExactCounts) for message in alice.sent)
    assert other.waits


def shuffle(sender: str) -> Tamper:
    """Deliver this side's copy with its records in another order than it encrypts or selects them."""

    def tamper(who: str, number: int, message: Message) -> Message:
        if who != sender or not isinstance(message, DisguisedPage):
            return message
        rows = np.frombuffer(message.codes, dtype=np.uint8).reshape(2 * HALF, -1)
        return DisguisedPage(rows[np.random.default_rng(1).permutation(2 * HALF)].tobytes())

    return tamper


def test_a_copy_whose_records_are_in_another_order_than_what_is_counted_ends_the_run() -> None:
    """Class 1 then gets about half of all ones that were sent, 500 of 1,000; a miss needs `sent_ones(1000 - bound)`.

    There are at most 1,200 such ones, but for a chance of 10^-15; Hoeffding's bound for draws without replacement then
    gives a miss a chance below 10^-30.
    """
    needed = sent_ones(HALF - alices_bound())
    assert lower_tail(2 * HALF, Fraction(1, 2), 2 * HALF - 1200) < 1e-15
    assert np.exp(-2 * (needed - 600) ** 2 / HALF) < 1e-30
    for counting, sender in few([*product(MOVED_WAYS, ["a", "b"])], 3):
        ends = duel(*make_roles(moved_case(counting)), shuffle(sender))
        assert [str(end.error) for end in ends if type(end.error) is DeviationError] == [TEXT]
        assert [end.result for end in ends] == [None, None]


def moved(by: int) -> Tamper:
    """Move records between the values of Alice's column in the first batch; sums and ranges stay."""

    def tamper(who: str, number: int, message: Message) -> Message:
        if who != "a" or not isinstance(message, ExactCounts) or len(message.values) != 8:
            return message
        a00, a01, a10, a11, *rest = message.values
        return ExactCounts((a00, a01 + by, a10, a11 - by, *rest))

    return tamper


def play_cheat(counting: str, by: int) -> tuple[End[Any], End[Any]]:
    """Bob holds the class and judges what Alice says of her own column."""
    return duel(*make_roles(moved_case(counting, owners=("bob",))), moved(by))


def test_moved_counts_are_caught() -> None:
    """300 of about 900: the estimate is 210 records beyond the bound, 17 standard errors."""
    for counting in MOVED_WAYS:
        alice, bob = play_cheat(counting, 300)
        assert type(bob.error) is DeviationError
        assert str(bob.error) == TEXT
        assert alice.waits or isinstance(alice.error, DeviationError)

    def tamper(who: str, number: int, message: Message) -> Message:
        if who != "a" or not isinstance(message, ExactCounts) or len(message.values) != 8:
            return message
        *rest, b00, b01, b10, b11 = message.values
        return ExactCounts((*rest, b00 - 1, b01, b10 + 1, b11))

    _, bob = duel(*make_roles(moved_case(MOVED_WAYS[0], owners=("bob",))), tamper)
    assert type(bob.error) is DeviationError


def test_honest_runs_end_well() -> None:
    """In each of these 2 runs either side's check may fail falsely once in 10^6."""
    for counting, owners in zip(MOVED_WAYS, (("alice",), ("bob",)), strict=True):
        alice, bob = duel(*make_roles(moved_case(counting, owners)), honest)
        assert alice.result
        assert bob.result
        assert alice.result[1] == bob.result[1]
