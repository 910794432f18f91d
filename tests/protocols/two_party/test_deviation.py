"""Whole hybrid runs with a peer that errs or cheats in numbers: plausibility ends them, and never an honest one.

2,000 records: the class equals Bob's column, half of them 1. Alice holds the class and the key (equal costs, first
name). Theta is 9/10, one binary group a side, so a sent column is a sum of coins and every power below is a binomial
tail. Both sides' bounds are about 90 records.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.counting.checks import Plausibility
from protocols.counting.estimated import Estimator
from protocols.errors import DeviationError
from protocols.messages import DisguisedPage, ExactCounts
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.related_question import Coins, RelatedDesign
from protocols.role import Message
from protocols.tables import ROOT, Attribute, joint_schema
from protocols.terms import Terms
from protocols.two_party.inputs import PartyInputs
from tests.support.binomial import lower_tail
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import Case, make_local, make_roles, make_terms, play
from tests.support.views import peer_design, view_of

HALF = 1000
THETA = Fraction(9, 10)
CODES = np.repeat(np.array([[0, 0, 0], [1, 1, 1]], dtype=np.uint8), HALF, axis=0)
CODES[::10, 0] ^= 1  # Alice's column errs in a tenth, so Bob's is the better one
TEXT = "the peer's reply failed a check: the run is over; find the cause before starting another"


def case(counting: str, owners: tuple[str, ...] = ("alice",)) -> Case:
    return Case(
        sizes={"alice": (2,), "bob": (2,)},
        class_owners=owners,
        classes=2,
        codes=CODES,
        groups={"alice": 1, "bob": 1},
        terms=make_terms(theta=THETA, counting=counting, test=Fraction(0)),
    )


WAYS = ["oblivious_transfer", "paillier"]


def alices_bound() -> float:
    """Return how far Alice lets a count of Bob's column and the class lie from her estimate."""
    attributes = [Attribute("alice", "a0", ("v0", "v1")), Attribute("bob", "b0", ("v0", "v1"))]
    schema = joint_schema(attributes, Attribute("alice", "class", ("v0", "v1")), ("alice",))
    seen = view_of(schema, "alice", CODES, peer_design(schema, "alice", ((1,),), THETA))
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


@pytest.mark.parametrize("counting", WAYS)
def test_a_peer_with_another_theta_is_caught_by_who_has_its_copy(counting: str) -> None:
    """1,000 records of class 1 are sent as 1 with chance 7/10; the estimate is then 750, not 1,000.

    A miss needs an estimate above 1,000 less the bound: its chance is below 10^-8.
    """
    missed = 1.0 - lower_tail(HALF, Fraction(7, 10), sent_ones(HALF - alices_bound()) - 1)
    assert missed < 1e-8
    bob = changed_kind(make_local(case(counting), "bob"), WrongTheta)
    alice, other = duel(*make_roles(case(counting), bob=bob))
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


@pytest.mark.parametrize("counting", WAYS)
@pytest.mark.parametrize("sender", ["a", "b"])
def test_a_copy_whose_records_are_in_another_order_than_what_is_counted_ends_the_run(
    counting: str, sender: str
) -> None:
    """Class 1 then gets about half of all ones that were sent, 500 of 1,000; a miss needs `sent_ones(1000 - bound)`.

    There are at most 1,200 such ones, but for a chance of 10^-15; Hoeffding's bound for draws without replacement then
    gives a miss a chance below 10^-30.
    """
    needed = sent_ones(HALF - alices_bound())
    assert lower_tail(2 * HALF, Fraction(1, 2), 2 * HALF - 1200) < 1e-15
    assert np.exp(-2 * (needed - 600) ** 2 / HALF) < 1e-30
    ends = duel(*make_roles(case(counting)), shuffle(sender))
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
    return duel(*make_roles(case(counting, owners=("bob",))), moved(by))


def test_moved_counts_are_caught() -> None:
    """300 of about 900: the estimate is 210 records beyond the bound, 17 standard errors."""
    for counting in WAYS:
        alice, bob = play_cheat(counting, 300)
        assert type(bob.error) is DeviationError
        assert str(bob.error) == TEXT
        assert alice.waits or isinstance(alice.error, DeviationError)
    for counting in WAYS:

        def tamper(who: str, number: int, message: Message) -> Message:
            if who != "a" or not isinstance(message, ExactCounts) or len(message.values) != 8:
                return message
            *rest, b00, b01, b10, b11 = message.values
            return ExactCounts((*rest, b00 - 1, b01, b10 + 1, b11))

        _, bob = duel(*make_roles(case(counting, owners=("bob",))), tamper)
        assert type(bob.error) is DeviationError


def test_honest_runs_end_well() -> None:
    """In each of these 2 runs either side's check may fail falsely once in 10^6."""
    for counting in WAYS:
        for owners in (("alice",), ("bob",)):
            alice, bob = duel(*make_roles(case(counting, owners)), honest)
            assert alice.result
            assert bob.result
            assert alice.result[1] == bob.result[1]
    # 24 runs in all, at most one false alarm in 10^6 a side and run.
    for theta in (Fraction(9, 20), THETA):
        for seed in range(12):
            codes = correlated((2, 3, 2, 2, 3), 120, seed=seed, flips=0.6)
            terms: Terms = make_terms(theta=theta, omega=1 + seed % 3, counting=WAYS[seed % 2])
            each = Case({"alice": (2, 3), "bob": (2, 2)}, ("bob",), 3, codes, {"alice": 2, "bob": 2}, terms)
            a, b = play(each)
            assert a == b
