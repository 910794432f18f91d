"""Estimates by the expanded table against estimates by expression, and the method that uses nothing else."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from protocols.counting.engine import Query
from protocols.counting.estimated import Estimator, MeanEstimates, project
from protocols.counting.view import View
from protocols.errors import PeerError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import EstimatedCounts
from protocols.randomized_response.design import disguise
from protocols.randomized_response.estimate import estimate_count
from protocols.role import Role, Send, receive, run_pair
from protocols.tables.expression import ROOT, Expression, Term
from tests.support.cases import correlated
from tests.support.enumeration import true_count
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


def test_the_weights_of_the_exact_theta_are_short_binary_fractions() -> None:
    weights = view().design.pattern_weights()
    assert {weight.denominator for weight in weights} <= {1, 2, 4}


@pytest.mark.parametrize("path", paths(), ids=str)
def test_a_node_is_estimated_as_its_expressions_are(path: Expression) -> None:
    seen = view()
    estimator, design = Estimator(seen), joint_design(seen)
    estimator.advance([path.parent])
    estimator.advance([path])
    candidates = tuple(a for a in range(4) if a not in path.columns)
    answer = estimator.answer(Query(path, candidates, None))
    for candidate, table in zip(candidates, answer.tables, strict=True):
        expected = [[estimate_count(seen.codes, e, design) for e in row] for row in cells(path, candidate)]
        assert table.tolist() == [[e.count for e in row] for row in expected]
        spread = estimator.spread(path, candidate)
        assert (spread.counts == table).all()
        assert spread.variances.tolist() == [[e.variance for e in row] for row in expected]


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


def test_with_theta_one_a_node_is_counted() -> None:
    estimator = Estimator(view(Fraction(1)))
    for path in paths():
        estimator.advance([path])
        for candidate in set(range(4)) - path.columns:
            spread = estimator.spread(path, candidate)
            assert spread.counts.tolist() == [[true_count(CODES, e) for e in row] for row in cells(path, candidate)]
            assert not spread.variances.any()


TREE = Tree(
    SCHEMA, Split((1, 1), 1, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))), Leaf((0, 1), 1)))
)


def test_correct_predictions_are_estimated_leaf_by_leaf() -> None:
    seen = view()
    hits = [expression & Term(SCHEMA.class_index, label) for expression, label in TREE.leaves()]
    expected = sum(estimate_count(seen.codes, hit, joint_design(seen)).count for hit in hits)
    assert Estimator(seen).correct(TREE) == expected


def test_correct_predictions_are_counted_with_theta_one() -> None:
    assert Estimator(view(Fraction(1))).correct(TREE) == (TREE.predict(CODES) == CODES[:, -1]).sum()


@pytest.mark.parametrize(
    ("estimates", "total", "projected"),
    [
        ([[2.0, -1.0], [2.0, 0.0]], 8, [[4.0, 0.0], [4.0, 0.0]]),
        ([[1.0, 3.0]], 4, [[1.0, 3.0]]),
        ([[-1.0, -2.0]], 5, [[0.0, 0.0]]),
        ([[0.0, 0.0]], 5, [[0.0, 0.0]]),
        ([[1.0, 1.0]], 0, [[0.0, 0.0]]),
    ],
)
def test_projecting_drops_negative_cells_and_keeps_the_total(
    estimates: list[list[float]], total: float, projected: list[list[float]]
) -> None:
    assert project(np.array(estimates), total).tolist() == projected


def mean_engine(seen: View, test: View | None = None) -> MeanEstimates:
    return MeanEstimates(Estimator(seen), None if test is None else Estimator(test), len(seen))


def bob_view(theta: Fraction = EXACT) -> View:
    return view_of(SCHEMA, "bob", CODES, peer_design(SCHEMA, "bob", ((0,),), theta), 1)


def test_randomized_counts_are_the_projected_means_of_both_sides() -> None:
    queries = [Query(ROOT, (0, 2), None), Query(ROOT & Term(1, 1), (3,), (4.0, 7.0))]
    ours, theirs = run_pair(mean_engine(view()).count(queries), mean_engine(bob_view()).count(queries))
    one, other = Estimator(view()), Estimator(bob_view())
    for query, a, b in zip(queries, ours, theirs, strict=True):
        means = [(x + y) / 2 for x, y in zip(one.answer(query).tables, other.answer(query).tables, strict=True)]
        total = 60 if query.class_counts is None else 11
        for x, y, mean in zip(a.tables, b.tables, means, strict=True):
            assert x.tolist() == y.tolist() == project(mean, total).tolist()


def test_the_randomized_accuracy_is_the_mean_of_both_sides() -> None:
    engines = mean_engine(view(), view()), mean_engine(bob_view(), bob_view())
    ours, theirs = run_pair(engines[0].count_correct(TREE), engines[1].count_correct(TREE))
    assert ours == theirs == (Estimator(view()).correct(TREE) + Estimator(bob_view()).correct(TREE)) / 2


def test_without_test_records_the_randomized_accuracy_is_zero() -> None:
    ours, theirs = run_pair(mean_engine(view()).count_correct(TREE), mean_engine(bob_view()).count_correct(TREE))
    assert ours == theirs == 0


def sends(values: Sequence[float]) -> Role[None]:
    yield Send(EstimatedCounts(tuple(values)))
    yield from receive(EstimatedCounts)


@pytest.mark.parametrize("values", [[0.0] * 3, [0.0] * 5, [], [0.0, nan, 0.0, 0.0], [inf, 0.0, 0.0, 0.0]])
def test_estimates_that_do_not_fit_are_the_peers_fault(values: list[float]) -> None:
    with pytest.raises(PeerError, match="estimated counts do not fit"):
        run_pair(mean_engine(view()).count([Query(ROOT, (0,), None)]), sends(values))
