"""Runs with noise on neighbouring tables: what one side receives tells them apart no further than epsilon.

False alarm 1e-6 for each claim. Power: noise of half the scale, hence twice the epsilon, is refuted with a chance of
0.99 or more, and the number of runs follows from that.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import exp
from typing import Any

import numpy as np
import pytest

from protocols.noise.accounting import Spending
from protocols.noise.both import OwnNoise
from protocols.simulation.noise import BulkNoise, NoisyRun, SideNoise, grow_with_noise, side_spending
from protocols.simulation.two_party import HoldOut, accuracy, grow_plain
from protocols.tables import Attribute, Expression, joint_schema
from protocols.terms import Growth
from tests.support.cases import correlated
from tests.support.privacy_claims import Claim

EPSILON = Fraction(2)
CLAIM = Claim(float(EPSILON), float(EPSILON) / 2**40, alarm=1e-6)
AUDITED = [("alice", 1)]
Place = tuple[Expression, int] | None
SCHEMA = joint_schema(
    [Attribute("alice", "a", ("u", "v")), Attribute("bob", "b", ("u", "v"))],
    Attribute("bob", "class", ("x", "y")),
    ["bob"],
)
CODES = correlated([2, 2, 2], 60)


def _neighbour(side: str) -> HoldOut:
    """Change all values of the first training record on a side."""
    train = CODES[20:].copy()
    columns = list(SCHEMA.held_by(side))
    train[0, columns] = 1 - train[0, columns]
    return HoldOut(SCHEMA, train, CODES[:20])


TABLE = HoldOut(SCHEMA, CODES[20:], CODES[:20])


class _Receiver:
    """The other side: it knows its own noise, the same in all runs, and which of two neighbours it may be facing."""

    def __init__(self, side: str, depth: int) -> None:
        self.side, self.party = side, "alice" if side == "bob" else "bob"
        self.noise = _Remembered(OwnNoise(b"r" * 32, b"audit", side_spending(SCHEMA, EPSILON, depth)[self.party]))
        self._true: dict[tuple[Place, bool], Any] = {}

    def true(self, place: Place, changed: bool) -> Any:
        """Return the counts of a place on the table, or on its neighbour."""
        if (place, changed) not in self._true:
            train = (_neighbour(self.side) if changed else TABLE).train
            rows = train if place is None else train[place[0].satisfied_by(train)]
            keys = rows[:, SCHEMA.class_index].astype(int) + (0 if place is None else 2 * rows[:, place[1]].astype(int))
            self._true[place, changed] = np.bincount(keys, minlength=2 if place is None else 4)
        return self._true[place, changed]

    def believes(self, run: NoisyRun) -> bool:
        """Tell whether every received number that differs between the neighbours is on the table's side."""
        seen: dict[Place, Any] = {
            place: table.ravel() - self.noise.cells(*place, table.size) for place, table in run.cells.items()
        }
        if self.side in SCHEMA.class_owners:
            seen[None] = np.array(run.class_counts)
        return all(
            ((told - self.true(place, False)) * (self.true(place, False) - self.true(place, True)) >= 0).all()
            for place, told in seen.items()
        )


class _Remembered:
    """Noise that is drawn once for whatever is asked."""

    def __init__(self, noise: OwnNoise) -> None:
        self.spending = noise.spending
        self.cells, self.class_counts = cache(noise.cells), cache(noise.class_counts)
        self.accuracy = noise.accuracy


def _hits(data: HoldOut, receiver: _Receiver, spending: Spending, depth: int, runs: range) -> int:
    """Count the runs after which the receiver believes in the table; noise is drawn as under another secret each."""
    growth = Growth(max_depth=depth, noise=EPSILON)
    hits = 0
    for number in runs:
        drawn: SideNoise = OwnNoise(b"%032d" % number, b"audit", spending)
        run = grow_with_noise(data, {receiver.side: drawn, receiver.party: receiver.noise}, growth)
        hits += receiver.believes(run)
    return hits


def _chances(changes: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Return the chance of that event where all changes are asked for, on the table and on its neighbour."""
    decay = exp(-1 / scale)
    return Fraction((1 / (1 + decay)) ** changes), Fraction((decay / (1 + decay)) ** changes)


def _audit(side: str, depth: int, part: Fraction) -> tuple[int, int, int]:
    """Return the number of runs, and the hits on the table and on the neighbour, with noise of a part of its scale."""
    spending = side_spending(SCHEMA, EPSILON, depth)[side]
    runs = CLAIM.runs_needed(*_chances(spending.changes, spending.cells.scale / 2), miss=1e-2)
    drawn, receiver = replace(spending, epsilon=spending.epsilon / part), _Receiver(side, depth)
    on_table = _hits(TABLE, receiver, drawn, depth, range(runs))
    return runs, on_table, _hits(_neighbour(side), receiver, drawn, depth, range(runs, 2 * runs))


@pytest.mark.parametrize("part", [Fraction(1), Fraction(1, 2)], ids=["as declared", "half"])
@pytest.mark.parametrize(("side", "depth"), AUDITED)
def test_a_whole_run_tells_neighbours_apart_no_further_than_epsilon_and_half_the_noise_is_caught(
    side: str, depth: int, part: Fraction
) -> None:
    runs, hits, others = _audit(side, depth, part)
    assert CLAIM.refuted(hits, others, runs) == (part < 1)
    assert hits > 2 * others  # they are told apart, as far as epsilon lets them


def test_little_noise_leaves_plain_id3_and_much_less_of_it_less() -> None:
    """At scale 0.02 or less a number is changed with a chance below 1e-20."""
    split = HoldOut(SCHEMA, CODES, CODES)
    rng = np.random.default_rng(0)
    growth = Growth(max_depth=2, noise=Fraction(1000))
    sides = {side: BulkNoise(rng, spent) for side, spent in side_spending(SCHEMA, Fraction(1000), 2).items()}
    run = grow_with_noise(split, sides, growth)
    plain = grow_plain(split, Growth(max_depth=2)).tree
    assert run.tree.root == plain.root
    assert run.correct == round(accuracy(plain, split) * len(CODES))


def test_noise_in_bulk_has_the_variance_of_the_law() -> None:
    """Six standard errors of a variance of 20,000 draws: false alarm below 1e-8; half the scale is 75 of them away."""
    spending = Spending(Fraction(1), 10)
    drawn = np.array(BulkNoise(np.random.default_rng(1), spending).class_counts(20_000), dtype=float)
    assert drawn.var() == pytest.approx(spending.cells.variance, rel=6 * (5 / 20_000) ** 0.5)
    assert abs(drawn.mean()) < 6 * (spending.cells.variance / 20_000) ** 0.5
