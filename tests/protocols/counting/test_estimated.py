"""Estimates by the expanded table against estimates by expression, and the method that uses nothing else."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import project
from protocols.counting.rows import View
from protocols.counts import Query
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import disguise
from protocols.tables import ROOT, Expression, Term
from tests.support.cases import correlated
from tests.support.declaration import pattern_weights
from tests.support.enumeration import coin_outcomes, true_count
from tests.support.plain import schema_of
from tests.support.views import joint_design, peer_design, view_of

SCHEMA = schema_of((2, 3, 2, 3), 2, alice=1)
CODES = correlated((2, 3, 2, 3, 2), 60, seed=8, flips=0.5)
GROUPS = ((1, 3), (2, 4))
EXACT = Fraction(3, 5)
"""At 3/5 the weights of binary and ternary groups are 3, -2 and 2, -1/2: floats hold them exactly."""


def view(theta: Fraction = EXACT, secret: int = 0) -> View:
    return view_of(SCHEMA, "alice", CODES, peer_design(SCHEMA, "alice", GROUPS, theta), secret)


def paths() -> list[Expression]:
    return [
        ROOT,
        ROOT & Term(0, 1),
        ROOT & Term(1, 2),
        ROOT & Term(0, 0) & Term(3, 1),
        ROOT & Term(2, 1) & Term(1, 0),
        ROOT & Term(3, 0) & Term(1, 0),
    ]


def cells(path: Expression, candidate: int) -> list[list[Expression]]:
    size = SCHEMA.attributes[candidate].size
    return [[path & Term(candidate, v) & Term(SCHEMA.class_index, c) for c in range(2)] for v in range(size)]


@pytest.mark.parametrize("path", paths(), ids=str)
def test_a_node_is_estimated_as_its_expressions_are(path: Expression) -> None:
    seen = view()
    estimator, design = Estimator(seen), joint_design(seen)
    estimator.advance([path.parent])
    estimator.advance([path])
    candidates = tuple(a for a in range(4) if a not in path.columns)
    answer = estimator.answers([Query(path, candidates, None)])[0]
    for candidate, table in zip(candidates, answer.tables, strict=True):
        expected = [[estimate_count(seen.codes, e, design) for e in row] for row in cells(path, candidate)]
        assert table.tolist() == [[e.count for e in row] for row in expected]
        assert (estimator.spread(path, candidate).counts == table).all()


def test_weights_of_the_exact_theta_are_short_and_guesses_forgotten_in_time() -> None:
    weights = pattern_weights(view().design)
    assert {weight.denominator for weight in weights} <= {1, 2, 4}
    estimator, part, whole = Estimator(view()), ROOT & Term(1, 2), ROOT & Term(1, 2) & Term(3, 1)
    for path, guessed in ((part, {0, 1}), (whole, {1})):
        estimator.advance([path.parent])
        estimator.advance([path])
        rows, _ = estimator.cells(path, 0)  # the class is of the second group
        assert set(rows.guess) == guessed


@pytest.mark.parametrize("path", paths(), ids=str)
def test_live_are_the_records_that_some_coins_would_put_into_the_cell(path: Expression) -> None:
    seen = view()
    estimator = Estimator(seen)
    estimator.advance([path])
    guesses = joint_design(seen).pattern_coins()
    for candidate in set(range(4)) - path.columns:
        for expressions, row in zip(cells(path, candidate), estimator.spread(path, candidate).live, strict=True):
            for expression, live in zip(expressions, row, strict=True):
                possible = np.zeros(len(CODES), dtype=np.bool_)
                for coins in guesses:
                    each = np.broadcast_to(coins, (len(CODES), len(coins)))
                    possible |= expression.satisfied_by(disguise(seen.codes, each, joint_design(seen)))
                assert live == possible.sum()


TREE = Tree(
    SCHEMA, Split((1, 1), 1, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))), Leaf((0, 1), 1)))
)


@pytest.mark.parametrize(("limit", "of"), [("MAX_PATTERNS", 1), ("MAX_LISTED", len(np.unique(CODES, axis=0)))])
def test_a_model_without_leaves_is_tested_on_what_can_be_listed(
    limit: str, of: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its two groups move by three offsets and by two, in six ways together."""
    model = NaiveBayes(SCHEMA, np.zeros(2), tuple(np.zeros((a.size, 2)) for a in SCHEMA.attributes))
    estimator = Estimator(view(Fraction(1)))
    monkeypatch.setattr(f"protocols.counting.estimated.{limit}", 6 * of)
    assert estimator.correct(model) == true_count(CODES, ROOT & Term(SCHEMA.class_index, 0))
    monkeypatch.setattr(f"protocols.counting.estimated.{limit}", 6 * of - 1)
    with pytest.raises(InputError, match="reads 2 groups at once, 6 coin patterns of each"):
        estimator.correct(model)


def few_views() -> list[tuple[View, Fraction]]:
    """Return Alice's view of three records, two of them equal, for every outcome of all coins, with its chance."""
    design = peer_design(SCHEMA, "alice", GROUPS, EXACT)
    codes = np.array([[0, 1, 0, 2, 1], [1, 2, 1, 0, 1], [1, 2, 1, 0, 1]], dtype=np.uint8)
    views = []
    for outcome in product(coin_outcomes(design), repeat=len(codes)):
        coins = np.array([coin for coin, _ in outcome], dtype=np.uint8)
        chance = Fraction(1)
        for _, each in outcome:
            chance *= each
        views.append((view_of(SCHEMA, "alice", codes, design, coins), chance))
    return views


def squared_factors(seen: View, tree: Tree = TREE) -> Fraction:
    """Return `sum f_i^2 - f_i` over the records of `correct`, from the estimates of single records."""
    hits = [expression & Term(SCHEMA.class_index, label) for expression, label in tree.leaves()]
    design = joint_design(seen)
    factors = [sum((estimate_count(row[None], hit, design).count for hit in hits), Fraction(0)) for row in seen.codes]
    return sum((f * f - f for f in factors), Fraction(0))


def test_over_all_coins_the_squared_error_of_the_correct_predictions_is_their_variance() -> None:
    """At 3/5 every factor is a multiple of 1/2, so that floats hold the sums exactly."""
    views = few_views()
    assert sum(chance for _, chance in views) == 1
    truth = Fraction(2)  # of the three records the tree gets the last two right
    estimates = [Fraction(Estimator(seen).correct(TREE)) for seen, _ in views]
    squares = [squared_factors(seen) for seen, _ in views]
    chances = [chance for _, chance in views]
    assert sum(c * e for c, e in zip(chances, estimates, strict=True)) == truth
    variance = sum(c * (e - truth) ** 2 for c, e in zip(chances, estimates, strict=True))
    assert sum(c * s for c, s in zip(chances, squares, strict=True)) == variance
    for (seen, _), square in zip(views, squares, strict=True):
        assert Estimator(seen).correct_error(TREE) == sqrt(max(Fraction(0), square))


def leaf(label: int) -> Leaf:
    return Leaf((1, 1), label)


def test_leaves_are_estimated_one_by_one_and_no_variance_is_below_zero() -> None:
    seen = view()
    hits = [expression & Term(SCHEMA.class_index, label) for expression, label in TREE.leaves()]
    expected = sum(estimate_count(seen.codes, hit, joint_design(seen)).count for hit in hits)
    assert Estimator(seen).correct(TREE) == expected
    # One record; the guesses that are hits weigh -3/2, 1 and 1.
    by_first = [Split((3, 3), 1, tuple(map(leaf, values))) for values in ((1, 0, 1), (0, 1, 1))]
    tree = Tree(SCHEMA, Split((6, 6), 2, tuple(by_first)))
    zeros = np.zeros((1, 5), dtype=np.uint8)
    seen = view_of(SCHEMA, "alice", zeros, peer_design(SCHEMA, "alice", GROUPS, EXACT), zeros[:, :2])
    assert squared_factors(seen, tree) == Fraction(-1, 4)
    assert Estimator(seen).correct_error(tree) == 0


def test_with_theta_one_all_is_counted() -> None:
    estimator = Estimator(view(Fraction(1)))
    for path in paths():
        estimator.advance([path])
        for candidate in set(range(4)) - path.columns:
            spread = estimator.spread(path, candidate)
            assert spread.counts.tolist() == [[true_count(CODES, e) for e in row] for row in cells(path, candidate)]
    assert Estimator(view(Fraction(1))).correct(TREE) == (TREE.predict(CODES) == CODES[:, -1]).sum()
    assert Estimator(view(Fraction(1))).correct_error(TREE) == 0


@pytest.mark.parametrize(
    ("estimates", "total", "projected"),
    [
        ([[2.0, -1.0], [2.0, 0.0]], 8, [[4.0, 0.0], [4.0, 0.0]]),
        ([[1.0, 3.0]], 4, [[1.0, 3.0]]),
        ([[-1.0, -2.0]], 5, [[0.0, 0.0]]),
        ([[0.0, 0.0]], 5, [[0.0, 0.0]]),
        ([[1.0, 1.0]], 0, [[0.0, 0.0]]),
        ([[5e-324, 0.0]], 5, [[0.0, 0.0]]),
        ([[1e-310, 1e-310], [-1.0, 0.0]], 5, [[0.0, 0.0], [0.0, 0.0]]),
        ([[2.0**-20, 0.0]], 5, [[5.0, 0.0]]),
        ([[4.0, 2.0**-50], [2.0**-52, 4.0]], 8, [[4.0, 0.0], [0.0, 4.0]]),  # rounding is no record
        ([[2.0**20, 2.0**-14]], 2**20, [[2.0**20, 0.0]]),
    ],
)
def test_projecting_drops_negative_cells_and_keeps_the_total(
    estimates: list[list[float]], total: float, projected: list[list[float]]
) -> None:
    with np.errstate(all="raise"):
        assert project(np.array(estimates), total)[0].tolist() == projected
