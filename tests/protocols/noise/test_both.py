"""Both sides' noise: the bound of a sum, once for a question, what is told of it, and what it must cover."""

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.noise.accounting import Spending, most_changes
from protocols.noise.both import EXACT, BothNoises, KnownSums, OwnNoise, branch_variance, refined, sum_bound
from protocols.noise.geometric import Geometric
from protocols.tables import ROOT, Attribute, Codes, Expression, Schema, joint_schema
from protocols.terms import ALL, Window

ALARM = -log(1e-6)


def _tail(terms: list[tuple[Geometric, int]], bound: float) -> float:
    """Return the chance that the sum passes the bound, by convolving the laws."""
    law, reach = np.ones(1), 0
    for each, times in terms:
        weights = np.exp(-np.abs(np.arange(-each.cut, each.cut + 1)) / float(each.scale))
        for _ in range(times):
            law, reach = np.convolve(law, weights / weights.sum()), reach + each.cut
    return float(law[np.abs(np.arange(-reach, reach + 1)) > bound].sum())


@pytest.mark.parametrize(
    "terms",
    [
        [(Geometric(Fraction(5)), 1)],
        [(Geometric(Fraction(5)), 3), (Geometric(Fraction(1, 2)), 4)],
        [(Geometric(Fraction(20)), 4), (Geometric(Fraction(12)), 4)],
    ],
    ids=["one", "unlike", "many"],
)
def test_a_sum_of_noise_passes_its_bound_no_more_often_than_told(terms: list[tuple[Geometric, int]]) -> None:
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


def test_anything_else_that_is_asked_has_other_noise() -> None:
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


def test_the_same_question_has_the_same_noise() -> None:
    assert _noise().cells(ROOT, 1, 6) == _noise().cells(ROOT, 1, 6)
    assert _noise().class_counts(3) == _noise().class_counts(3)
    assert _noise().accuracy([(ROOT, b"1")]) == _noise().accuracy([(ROOT, b"1")])
    one, other = (ROOT.child(0, 1).child(1, 0), ROOT.child(1, 0).child(0, 1))
    assert _noise().cells(one, 2, 12) == _noise().cells(other, 2, 12)
    wide = Spending(Fraction(1, 10**6), 26)  # two draws are alike with a chance below 1e-6
    leaves = [(one, b"1"), (ROOT.child(0, 0), b"0")]
    turned = [(ROOT.child(0, 0), b"0"), (other, b"1")]
    assert _noise(spending=wide).accuracy(leaves) == _noise(spending=wide).accuracy(turned)
    # Two levels at epsilon 1 and four at epsilon 2 have one scale; what both ask is told once.
    assert _noise(spending=Spending(Fraction(2), 52)).cells(ROOT, 0, 12) == _noise().cells(ROOT, 0, 12)
    # At scale 100 two of 40 trees share their noise with a chance of 0.98: all of them only if it is one number.
    wide = Spending(Fraction(1, 100), 26)
    assert len({_noise(spending=wide).accuracy([(ROOT.child(0, k), b"1")]) for k in range(40)}) > 20
    assert repr(_noise()) == "OwnNoise(Spending(epsilon=Fraction(1, 1), changes=26))"


told_numbers = st.lists(st.lists(st.integers(-50, 400), min_size=2, max_size=2), min_size=2, max_size=4)


def test_numbers_without_noise_stay_as_they_are() -> None:
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


def test_what_was_told_is_weighted_by_its_worth() -> None:
    """Told above with variance 4, and by two candidates of two values, each sum with variance 2 times 2."""
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


@pytest.mark.parametrize("owners", OWNERS, ids="+".join)
@pytest.mark.parametrize("side", ["alice", "bob"])
@pytest.mark.parametrize(("window", "depth"), [(ALL, 1), (ALL, 3), (2, 2), (1, 3)])
def test_no_neighbour_changes_more_than_the_accounting_says_and_some_as_much(
    owners: tuple[str, ...], side: str, window: Window, depth: int
) -> None:
    schema, rng = _schema(owners), np.random.default_rng(len(owners) + depth)
    seen = [_changes(schema, side, window, depth, rng) for _ in range(200)]
    assert max(seen) == most_changes(schema, side, window, depth)


def test_delta_bounds_what_each_change_adds_at_the_ends_of_its_range() -> None:
    """`changes` times the chance of the noise at one end of its range, computed here with floats, is below delta."""
    for epsilon, changes in [("0.1", 4), ("1", 26), ("1", 140), ("10", 26), ("20", 2)]:
        spending = Spending(Fraction(epsilon), changes)
        for law, times in ((spending.cells, changes), (spending.accuracy, 1)):
            weights = np.exp(-np.abs(np.arange(-law.cut, law.cut + 1)) / float(law.scale))
            assert times * weights[0] / weights.sum() <= spending.delta


def test_the_scale_is_all_changes_over_epsilon() -> None:
    schema = _schema(("bob",))
    assert most_changes(schema, "bob", ALL, 5) == most_changes(schema, "bob", ALL, 99) == 2 * (5 + 4 + 3 + 2 + 1) + 2
    assert most_changes(schema, "alice", ALL, 5) == 2 * (3 + 4 + 3 + 2 + 1)
    spending = Spending(Fraction("0.5"), 26)
    assert spending.cells.scale == 52
    assert spending.accuracy.scale == 2
    assert spending.delta == Fraction(1, 2**41)
    spreads = [Spending(Fraction(epsilon), 26).cells.variance for epsilon in ("0.1", "0.5", "1", "2", "10")]
    assert all(less > more for less, more in pairwise(spreads))
