"""Both sides' noise: the bound of a sum, once for a question, what is said of it, and what it must cover.

Runs with noise on neighbouring tables: what one side receives tells them apart no further than epsilon.

False alarm 1e-3 for each claim. Power: noise of a third of the scale, hence three times the epsilon, is refuted with a
chance of 0.95 or more, and the number of runs follows from that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import exp, log, log2
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.noise import geometric
from protocols.noise.accounting import Spending, most_changes
from protocols.noise.both import EXACT, BothNoises, KnownSums, OwnNoise, branch_variance, refined, sum_bound
from protocols.noise.geometric import Geometric, OneSided, decays, magnitude
from protocols.randomness import KeyedRandomness
from protocols.simulation.noise import BulkNoise, NoisyRun, SideNoise, grow_with_noise, side_spending
from protocols.simulation.two_party import HoldOut, accuracy, grow_plain
from protocols.tables import ROOT, Attribute, Codes, Expression, Schema, joint_schema
from protocols.terms import ALL, Growth, Window
from tests.support.cases import correlated
from tests.support.examples import few
from tests.support.exponentials import decay_bounds, growth_bounds, law_bounds
from tests.support.privacy_claims import Claim

ALARM = -log(1e-6)


def _tail(terms: list[tuple[Geometric, int]], bound: float) -> float:
    """Return the chance that the sum passes the bound, by convolving the laws."""
    law, reach = np.ones(1), 0
    for each, times in terms:
        weights = np.exp(-np.abs(np.arange(-each.cut, each.cut + 1)) / float(each.scale))
        for _ in range(times):
            law, reach = np.convolve(law, weights / weights.sum()), reach + each.cut
    return float(law[np.abs(np.arange(-reach, reach + 1)) > bound].sum())


def test_a_sum_of_noise_passes_its_bound_no_more_often_than_stated() -> None:
    for terms in [
        [(Geometric(Fraction(5)), 1)],
        [(Geometric(Fraction(5)), 3), (Geometric(Fraction(1, 2)), 4)],
        [(Geometric(Fraction(20)), 4), (Geometric(Fraction(12)), 4)],
    ]:
        bound = sum_bound(terms, ALARM)
        assert _tail(terms, bound) <= exp(-ALARM)
        assert _tail(terms, bound / 2) > 100 * exp(-ALARM)


def test_bounds_stay_within_the_largest_noise() -> None:
    law = Geometric(Fraction(3))
    assert sum_bound([(law, 1)], 1000.0) == law.cut
    assert sum_bound([(law, 0)], ALARM) == sum_bound([], ALARM) == 0
    ours, theirs = Spending(Fraction(1), 6), Spending(Fraction(1), 8)
    noises = BothNoises(OwnNoise(b"s" * 32, b"run", ours), theirs)
    assert (noises.cells.own, noises.cells.theirs) == (ours.cells.cut, theirs.cells.cut)
    assert noises.cells.both == ours.cells.cut + theirs.cells.cut
    assert noises.variance == 2 * (36 + 64)
    assert noises.correct(-3, 50).count == 0
    assert noises.correct(61, 50).count == 50
    assert noises.correct(40, 50).error == 2
    assert EXACT.of_accuracy([]) == EXACT.cells.both == EXACT.accuracy.both == 0
    assert EXACT.correct(7, 50).error == 0


SPENDING = Spending(Fraction(1), 26)
SECRET = b"s" * 32


def _noise(secret: bytes = SECRET, tables: bytes = b"tables", spending: Spending = SPENDING) -> OwnNoise:
    return OwnNoise(secret, tables, spending)


def test_the_same_question_has_the_same_noise_and_anything_else_other_noise() -> None:
    asked = [
        _noise().class_counts(12),
        _noise().cells(ROOT, 0, 12),
        _noise().cells(ROOT, 1, 12),
        _noise().cells(ROOT.child(0, 1), 1, 12),
        _noise().cells(ROOT.child(1, 0), 1, 12),
        _noise().cells(ROOT.child(0, 1).child(1, 0), 2, 12),
        _noise(spending=Spending(Fraction(1, 2), 26)).cells(ROOT, 0, 12),
        _noise(spending=Spending(Fraction(1), 28)).cells(ROOT, 0, 12),
        _noise(tables=b"others").cells(ROOT, 0, 12),
        _noise(secret=b"t" * 32).cells(ROOT, 0, 12),
    ]
    assert len({tuple(each) for each in asked}) == len(asked)
    assert _noise().cells(ROOT, 1, 6) == _noise().cells(ROOT, 1, 6)
    assert _noise().class_counts(3) == _noise().class_counts(3)
    assert _noise().accuracy([(ROOT, b"1")]) == _noise().accuracy([(ROOT, b"1")])
    one, other = (ROOT.child(0, 1).child(1, 0), ROOT.child(1, 0).child(0, 1))
    assert _noise().cells(one, 2, 12) == _noise().cells(other, 2, 12)
    wide = Spending(Fraction(1, 10**6), 26)  # two draws are alike with a chance below 1e-6
    leaves = [(one, b"1"), (ROOT.child(0, 0), b"0")]
    turned = [(ROOT.child(0, 0), b"0"), (other, b"1")]
    assert _noise(spending=wide).accuracy(leaves) == _noise(spending=wide).accuracy(turned)
    # Two levels at epsilon 1 and four at epsilon 2 have one scale; what both ask is answered once.
    assert _noise(spending=Spending(Fraction(2), 52)).cells(ROOT, 0, 12) == _noise().cells(ROOT, 0, 12)
    # At scale 100 two of 40 trees share their noise with a chance of 0.98: all of them only if it is one number.
    wide = Spending(Fraction(1, 100), 26)
    assert len({_noise(spending=wide).accuracy([(ROOT.child(0, k), b"1")]) for k in range(40)}) > 20
    assert repr(_noise()) == "OwnNoise(Spending(epsilon=Fraction(1, 1), changes=26))"


told_numbers = st.lists(st.lists(st.integers(-50, 400), min_size=2, max_size=2), min_size=2, max_size=4)


def test_numbers_without_noise_stay_and_what_was_shown_is_weighted_by_its_worth() -> None:
    tables = [np.array([[5, 0], [7, 9]]), np.array([[1, 2], [3, 4], [8, 3]])]
    sums, made = refined(KnownSums((12.0, 9.0), 0.0), tables, 1e-9)
    assert sums.counts == (12.0, 9.0)
    assert all((a == b).all() for a, b in zip(made, tables, strict=True))
    _, (table,) = refined(KnownSums((100.0, 100.0), 0.0), [[[55, 45], [45, 55]]], 100.0)
    assert table.tolist() == [[50, 50], [50, 50]]
    # Differences of 40, squares of 3,200, of which noise explains nine times a cell's variance, 50.
    _, (table,) = refined(KnownSums((100.0, 100.0), 0.0), [[[90, 10], [10, 90]]], 100.0)
    kept = 40 * (1 - 9 * branch_variance(2, KnownSums((100.0, 100.0), 0.0), 100.0) / 3200)
    assert table.tolist() == [[round(50 + kept), round(50 - kept)], [round(50 - kept), round(50 + kept)]]
    # Told above with variance 4, and by two candidates of two values, each sum with variance 2 times 2.
    sums, _ = refined(KnownSums((10.0, 0.0), 4.0), [[[6, 0], [7, 0]], [[8, 3], [8, 3]]], 2.0)
    assert sums.counts == pytest.approx((13.0, 2.0))
    assert sums.variance == pytest.approx(4 / 3)
    _, (table,) = refined(KnownSums((100.0, 50.0), 0.0), [[[-30, 5], [130, 45]]], 1.0)
    assert table[0].tolist() == [0, 0]
    sums, (table,) = refined(KnownSums((-4.0, -1.0), 0.0), [[[3, 2], [-7, -3]]], 25.0)
    assert sums.counts == (-4.0, -1.0)
    assert not table.any()


@given(told_numbers, told_numbers, st.floats(0.01, 1e5))
def test_what_a_learner_sees_is_whole_and_not_negative_and_no_class_comes_from_nowhere(
    one: list[list[int]], other: list[list[int]], variance: float
) -> None:
    sums, tables = refined(KnownSums((30.0, 60.0), variance), [one, other], variance)
    for table in tables:
        assert (table >= 0).all()
        assert (table == np.rint(table)).all()
    assert sums.variance <= variance


SIZES = {"alice": (2, 3, 2), "bob": (3, 2)}
OWNERS = [("alice",), ("bob",), ("alice", "bob")]


def _schema(owners: tuple[str, ...]) -> Schema:
    attributes = [
        Attribute(party, f"{party[0]}{k}", tuple("uvw"[:size]))
        for party, sizes in SIZES.items()
        for k, size in enumerate(sizes)
    ]
    return joint_schema(attributes, Attribute(owners[0], "class", ("x", "y")), owners)


def _neighbours(schema: Schema, side: str, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Return joint tables that differ in the values of one record on one side."""
    sizes = [column.size for column in schema.columns]
    codes = rng.integers(0, sizes, size=(6, len(sizes))).astype(np.uint8)
    shared = {schema.class_index} if len(schema.class_owners) > 1 else set()
    own = sorted({*schema.held_by(side)} - shared)
    other = codes.copy()
    other[0, own] = rng.integers(0, [sizes[column] for column in own])
    return codes, other


def _cells(codes: Codes, node: Expression, candidate: int, schema: Schema) -> list[int]:
    rows = codes[node.satisfied_by(codes)]
    keys = rows[:, candidate].astype(int) * schema.classes + rows[:, schema.class_index]
    counts: list[int] = np.bincount(keys, minlength=schema.attributes[candidate].size * schema.classes).tolist()
    return counts


def _asked(schema: Schema, window: Window, depth: int, rng: np.random.Generator) -> list[tuple[Expression, int]]:
    """Return what any tree asks for, split anywhere: nothing that the data say decides it."""
    level, asked = [ROOT], []
    for _ in range(depth):
        below = []
        for node in level:
            left = [c for c in range(len(schema.attributes)) if c not in node.columns]
            counted = rng.permutation(left)[: len(left) if window is ALL else window].tolist()
            asked += [(node, candidate) for candidate in counted]
            chosen = int(rng.choice(counted))
            below += [node.child(chosen, value) for value in range(schema.attributes[chosen].size)]
        level = below
    return asked


def _changes(schema: Schema, side: str, window: Window, depth: int, rng: np.random.Generator) -> int:
    one, other = _neighbours(schema, side, rng)
    changes = sum(
        abs(a - b)
        for node, candidate in _asked(schema, window, depth, rng)
        for a, b in zip(_cells(one, node, candidate, schema), _cells(other, node, candidate, schema), strict=True)
    )
    classes = [np.bincount(codes[:, schema.class_index], minlength=schema.classes) for codes in (one, other)]
    return changes + sum(int(abs(a - b)) for a, b in zip(*classes, strict=True))


def test_no_neighbour_changes_more_than_the_accounting_says_and_some_as_much() -> None:
    bounds: list[tuple[Window, int]] = [(ALL, 1), (ALL, 3), (2, 2), (1, 3)]
    for owners, side, (window, depth) in few([*product(OWNERS, ["alice", "bob"], bounds)], 5):
        schema, rng = _schema(owners), np.random.default_rng(len(owners) + depth)
        seen = [_changes(schema, side, window, depth, rng) for _ in range(60)]
        assert max(seen) == most_changes(schema, side, window, depth)


def test_the_scale_is_all_changes_over_epsilon_and_delta_bounds_each() -> None:
    """`changes` times the chance of the noise at one end of its range, computed here with floats, is below delta."""
    for epsilon, changes in [("0.1", 4), ("1", 26), ("1", 140), ("10", 26), ("20", 2)]:
        spending = Spending(Fraction(epsilon), changes)
        for law, times in ((spending.cells, changes), (spending.accuracy, 1)):
            weights = np.exp(-np.abs(np.arange(-law.cut, law.cut + 1)) / float(law.scale))
            assert times * weights[0] / weights.sum() <= spending.delta
    schema = _schema(("bob",))
    assert most_changes(schema, "bob", ALL, 5) == most_changes(schema, "bob", ALL, 99) == 2 * (5 + 4 + 3 + 2 + 1) + 2
    assert most_changes(schema, "alice", ALL, 5) == 2 * (3 + 4 + 3 + 2 + 1)
    spending = Spending(Fraction("0.5"), 26)
    assert spending.cells.scale == 52
    assert spending.accuracy.scale == 2
    assert spending.delta == Fraction(1, 2**41)
    spreads = [Spending(Fraction(epsilon), 26).cells.variance for epsilon in ("0.1", "0.5", "1", "2", "10")]
    assert all(less > more for less, more in pairwise(spreads))


SCALES = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(7, 3)]
Outcome = TypeVar("Outcome")
SMALLEST = Fraction(1, 10**9)


@dataclass
class _Script:
    """Chance that follows a script and then takes 0; what it was asked for is the script of its siblings.

    `mass` is at most the chance of what has been drawn.
    """

    script: tuple[int, ...]
    mass: Fraction = Fraction(1)
    taken: list[tuple[int, int]] = field(default_factory=list)

    def randbelow(self, bound: int, /) -> int:
        return self._follow([Fraction(1, bound)] * bound)

    def decays(self, numerator: int, denominator: int) -> bool:
        low, high = decay_bounds(Fraction(numerator, denominator))
        return bool(self._follow([low, 1 - high]) == 0)

    def _follow(self, chances: Sequence[Fraction]) -> int:
        value = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((value, len(chances)))
        self.mass *= chances[value]
        if self.mass < SMALLEST:
            raise _TooUnlikelyError
        return value


class _TooUnlikelyError(Exception):
    """A branch that is left out: its chance is part of what is missing."""


def _enumerated(draw: Callable[[_Script], Outcome]) -> tuple[dict[Outcome, Fraction], Fraction]:
    """Return what every outcome's chance is at least, over all that chance may do, and how much is missing."""
    chances: dict[Outcome, Fraction] = {}
    script: tuple[int, ...] | None = ()
    while script is not None:
        chance = _Script(script)
        try:
            outcome = draw(chance)
            chances[outcome] = chances.get(outcome, Fraction(0)) + chance.mass
        except _TooUnlikelyError:
            pass
        taken = chance.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        script = (*(value for value, _ in taken[:-1]), taken[-1][0] + 1) if taken else None
    return chances, 1 - sum(chances.values(), start=Fraction(0))


@cache
def _accepted(law: Geometric) -> tuple[dict[int, Fraction], Fraction]:
    """Return the chance of every value given that an attempt gives one, at least, and how much may be missing."""
    chances, missing = _enumerated(law.attempt)
    again = chances.pop(None)
    values = {value: chance / (1 - again) for value, chance in chances.items() if value is not None}
    return values, missing / (1 - again - missing)


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a whole draw toss coins of bounded chances: a coin by itself has a test of its own."""
    monkeypatch.setattr(geometric, "decays", lambda numerator, denominator, s: s.decays(numerator, denominator))


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (2, 3), (1, 1)])
def test_a_coin_that_decays_shows_true_with_the_chance_of_the_exponential(numerator: int, denominator: int) -> None:
    chances, missing = _enumerated(lambda chance: decays(numerator, denominator, chance))
    low, high = decay_bounds(Fraction(numerator, denominator))
    assert missing < Fraction(1, 100)
    assert chances[True] <= high
    assert chances[True] + missing >= low


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_outcome_of_the_sampler_has_the_chance_that_its_law_gives_it(scale: Fraction) -> None:
    law = Geometric(scale)
    chances, missing = _accepted(law)
    assert missing < Fraction(1, 10**5)
    for z, (low, high) in law_bounds(law).items():
        assert chances.get(z, 0) <= high
        assert chances.get(z, 0) + missing >= low
    assert max(map(abs, chances)) <= law.cut


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_magnitude_falls_by_the_exponential_of_the_scale(scale: Fraction) -> None:
    """`P(k) = p^k (1 - p)`: what one-sided noise is before its cut."""
    chances, missing = _enumerated(lambda chance: magnitude(scale, chance))
    again = chances.pop(None, Fraction(0))
    missing /= 1 - again - missing
    low, high = decay_bounds(1 / scale)
    for size in range(6):
        seen = chances[size] / (1 - again)
        assert seen <= high**size * (1 - low)
        assert seen + missing >= low**size * (1 - high)


def test_one_sided_noise_is_never_negative_and_never_beyond_its_cut() -> None:
    law = OneSided(Fraction(1, 9), 0)
    drawn = {law.draw(KeyedRandomness(b"k" * 32, b"%d" % k)) for k in range(300)}
    assert min(drawn) == 0
    assert max(drawn) <= law.cut == Geometric(law.scale).cut
    assert OneSided(law.scale, 7).cut == law.cut + 7


@pytest.mark.usefixtures("coins")
def test_the_enumeration_would_see_a_sampler_of_half_the_scale() -> None:
    chances, _ = _accepted(Geometric(Fraction(1)))
    assert chances[0] > law_bounds(Geometric(Fraction(2)))[0][1]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_variance_is_that_of_the_formula(scale: Fraction) -> None:
    law = Geometric(scale)
    low, high = (sum(z**2 * pair[side] for z, pair in law_bounds(law).items()) for side in (0, 1))
    assert float(low) == pytest.approx(law.variance, rel=1e-8)
    assert float(high) == pytest.approx(law.variance, rel=1e-8)


@pytest.mark.parametrize("scale", [4, 200])
def test_the_entropy_is_that_of_the_chances_and_near_that_of_the_exponential_law(scale: int) -> None:
    decay, z = exp(-1 / scale), np.arange(-scale * 40, scale * 40 + 1)
    chances = (1 - decay) / (1 + decay) * decay ** np.abs(z)
    assert Geometric(Fraction(scale)).entropy == pytest.approx(-(chances * np.log2(chances)).sum(), rel=1e-9)
    assert Geometric(Fraction(scale)).entropy == pytest.approx(log2(2 * exp(1) * scale), abs=0.01)


def _delta(law: Geometric, epsilon: Fraction) -> Fraction:
    """Bound by how much any event's chance can pass `exp(epsilon)` times that of a count larger by 1."""
    chances, (growth, _) = law_bounds(law), growth_bounds(epsilon)
    nothing = (Fraction(0), Fraction(0))
    excess = (high - growth * chances.get(z - 1, nothing)[0] for z, (_, high) in chances.items())
    return sum((each for each in excess if each > 0), start=Fraction(0))


def test_noise_is_cut_where_its_chance_is_below_two_to_the_minus_forty() -> None:
    for scale in [*SCALES, Fraction(40), Fraction(1, 9)]:
        cut = Geometric(scale).cut
        assert decay_bounds(cut / scale)[1] <= Fraction(1, 2**40)
        assert decay_bounds((cut - 2) / scale)[0] > Fraction(1, 2**40)


def test_a_cell_is_as_private_as_its_scale() -> None:
    for scale in (*SCALES, Fraction(40)):
        assert _delta(Geometric(scale), 1 / scale) <= 1 / scale / 2**40
    assert _delta(Geometric(Fraction(1, 2)), Fraction(1)) > Fraction(1, 2)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), 0.5])
def test_a_scale_that_is_no_fraction_above_zero_is_refused(scale: Fraction) -> None:
    with pytest.raises(InputError, match="scale of noise"):
        Geometric(scale)


EPSILON = Fraction(2)
CLAIM = Claim(float(EPSILON), float(EPSILON) / 2**40, alarm=1e-3)
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
    runs = CLAIM.runs_needed(*_chances(spending.changes, spending.cells.scale / 3), miss=0.05)
    drawn, receiver = replace(spending, epsilon=spending.epsilon / part), _Receiver(side, depth)
    on_table = _hits(TABLE, receiver, drawn, depth, range(runs))
    return runs, on_table, _hits(_neighbour(side), receiver, drawn, depth, range(runs, 2 * runs))


def test_a_whole_run_tells_neighbours_apart_no_further_than_epsilon_and_a_third_of_the_noise_is_caught() -> None:
    for part in (Fraction(1), Fraction(1, 3)):
        runs, hits, others = _audit("alice", 1, part)
        assert CLAIM.refuted(hits, others, runs) == (part < 1)
        assert hits > 2 * others  # they are told apart, as far as epsilon lets them


def test_little_noise_leaves_plain_id3_and_noise_in_bulk_has_the_variance_of_the_law() -> None:
    """At scale 0.02 or less a number is changed with a chance below 1e-20."""
    split = HoldOut(SCHEMA, CODES, CODES)
    rng = np.random.default_rng(0)
    growth = Growth(max_depth=2, noise=Fraction(1000))
    sides = {side: BulkNoise(rng, spent) for side, spent in side_spending(SCHEMA, Fraction(1000), 2).items()}
    run = grow_with_noise(split, sides, growth)
    plain = grow_plain(split, Growth(max_depth=2)).tree
    assert run.tree.root == plain.root
    assert run.correct == round(accuracy(plain, split) * len(CODES))
    # Six standard errors of a variance of 20,000 draws: false alarm below 1e-8; half the scale is 75 of them away.
    spending = Spending(Fraction(1), 10)
    drawn = np.array(BulkNoise(np.random.default_rng(1), spending).class_counts(20_000), dtype=float)
    assert drawn.var() == pytest.approx(spending.cells.variance, rel=6 * (5 / 20_000) ** 0.5)
    assert abs(drawn.mean()) < 6 * (spending.cells.variance / 20_000) ** 0.5
