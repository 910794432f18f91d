"""The chi-square over the root: exact in expectation, silent on the truth, and it sees what no single bound does."""

from fractions import Fraction
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from protocols.counting.checks import Checks, Plausibility
from protocols.counting.chi_square import Misfit, misfit
from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.rows import View
from protocols.counts import Answer, Query
from protocols.errors import DeviationError
from protocols.role import run_alone
from protocols.tables import ROOT, Codes
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

COLUMNS = 16
SCHEMA = schema_of((2,) * COLUMNS, 2, alice=COLUMNS)  # Bob, who judges, holds the class
GROUPS = tuple((column,) for column in range(COLUMNS))
RECORDS = 3000
THETA = Fraction(2, 3)
QUERY = Query(ROOT, tuple(range(COLUMNS)), (1500.0, 1500.0))
RUNS = 20


def joint_table() -> Codes:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, (RECORDS, COLUMNS + 1)).astype(np.uint8)
    codes[:, -1] = np.arange(RECORDS) % 2
    return codes


CODES = joint_table()
TRUE = run_alone(PlaintextEngine(SCHEMA, CODES, CODES[:0]).count([QUERY]))[0]


def view(secret: int) -> View:
    lies = np.random.default_rng(secret).integers(0, 3, (RECORDS, COLUMNS)) == 0
    return view_of(SCHEMA, "bob", CODES, peer_design(SCHEMA, "bob", GROUPS, THETA), lies.astype(np.uint8))


def shifted(by: int) -> Answer:
    """Move records of one class, in every table, so that all sums stay."""
    return Answer(tuple(table + by * np.array([[1, 0], [-1, 0]]) for table in TRUE.tables))


def judge(seen: View, answer: Answer) -> bool:
    counts = [int(count) for table in answer.tables for count in table.ravel()]
    try:
        Checks(SCHEMA, RECORDS, Plausibility(seen, Estimator(seen))).answers([QUERY], counts)
    except DeviationError:
        return False
    return True


def test_small_lies_in_every_table_are_seen_together_where_each_passes_its_own_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """250 of 1,500 records of a class, a third of what a single bound needs for certain.

    Of 20 runs none accuses the truth (10^-6 each), and none misses.
    """
    assert all(judge(view(secret), TRUE) for secret in range(RUNS))
    assert not any(judge(view(secret), shifted(250)) for secret in range(RUNS))
    monkeypatch.setattr("protocols.counting.checks.check_root", lambda *of: None)
    assert sum(judge(view(secret), shifted(250)) for secret in range(RUNS)) > RUNS // 2


@pytest.mark.parametrize(
    ("sizes", "groups", "theta"),
    [
        ((2, 2), ((0,), (1,)), Fraction(9, 20)),
        ((2, 2), ((0, 1),), Fraction(7, 10)),
        ((3, 2), ((0, 1),), Fraction(3, 5)),
        ((3, 3), ((0,), (1,)), Fraction(4, 5)),
    ],
)
def test_over_all_coins_the_mean_square_is_at_most_the_rank(
    sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...], theta: Fraction
) -> None:
    """All coins of two records, weighted by their chances; equal where all groups have two offsets."""
    schema = schema_of(sizes, 2, alice=2)
    codes = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.uint8)
    query = Query(ROOT, (0, 1), (1.0, 1.0))
    truth = run_alone(PlaintextEngine(schema, codes, codes[:0]).count([query]))[0]
    design = peer_design(schema, "bob", groups, theta)
    spans = [range(order) for order in design.orders] * 2
    mean, ranks = 0.0, set()
    for outcome in product(*spans):
        coins = np.array(outcome, dtype=np.uint8).reshape(2, -1)
        chance = np.prod([float(design.coin_chances(k)[s]) for row in coins for k, s in enumerate(row)])
        found = misfit(view_of(schema, "bob", codes, design, coins), query, truth)
        mean += float(chance) * found.square
        ranks.add(found.rank)
        assert sqrt(found.square) <= 2 * len(design.orders) * found.largest + 1e-9
    (rank,) = ranks
    assert rank > 0
    assert mean <= rank + 1e-9
    if set(design.orders) == {2}:
        assert mean == pytest.approx(rank)


def test_the_bound_grows_with_the_alarm_and_is_passed_no_more_often_than_stated() -> None:
    """At rates that can be measured. Klein and Rio bound, so in fact it is far rarer."""
    for alarm in (log(10), log(100)):
        passed = sum(misfit(view(1000 + secret), QUERY, TRUE).excess(alarm) > 0 for secret in range(RUNS))
        assert passed <= RUNS * exp(-alarm)
    assert Misfit(100.0, 4, 0.0).excess(8.0) == pytest.approx(10 - 2 - 4)
    assert Misfit(100.0, 4, 0.0).excess(9.0) < Misfit(100.0, 4, 0.0).excess(8.0)
    assert Misfit(100.0, 4, 0.1).excess(8.0) < Misfit(100.0, 4, 0.0).excess(8.0)
    # Where the class is disguised too, by another coin.
    schema = schema_of((2, 2), 2, alice=1)
    codes = CODES[:, [0, 1, COLUMNS]]
    query = Query(ROOT, (0, 1), (1500.0, 1500.0))
    truth = run_alone(PlaintextEngine(schema, codes, codes[:0]).count([query]))[0]
    design = peer_design(schema, "alice", ((1,), (2,)), THETA)
    seen = view_of(schema, "alice", codes, design)
    assert misfit(seen, query, truth).rank == 2  # of column 0, Alice's own, which touches the coin of the class alone
