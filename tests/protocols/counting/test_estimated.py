"""Estimates by the expanded table against estimates by expression, and the method that uses nothing else."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import log, prod, sqrt

import numpy as np
import pytest

from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import project, project_answers
from protocols.counting.rows import View
from protocols.counts import Answer, Query, positive_part
from protocols.learning.impurity import TIE, merit, noise_merit
from protocols.learning.merit import estimated_merits
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import departures, estimate_count, table_shares
from protocols.randomized_response.mixed import MixedDesign
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.simulation.two_party import bulk_draw
from protocols.survey.mining import grow_tree
from protocols.survey.responses import Responses
from protocols.tables import ROOT, Codes, Expression, Floats, Term
from protocols.terms import Growth, Impurity
from tests.support.binomial import ShareTest
from tests.support.cases import correlated
from tests.support.declaration import pattern_coins, pattern_weights
from tests.support.enumeration import coin_outcomes, response_tables, true_count
from tests.support.examples import few
from tests.support.plain import schema_of
from tests.support.surveys import designs, sampled, schema_for, unrelated
from tests.support.views import peer_design, view_of

SCHEMA = schema_of((2, 3, 2, 3), 2, alice=1)
CODES = correlated((2, 3, 2, 3, 2), 60, seed=8, flips=0.5)
GROUPS = ((1, 3), (2, 4))
EXACT = Fraction(3, 5)
"""At 3/5 the weights of binary and ternary groups are 3, -2 and 2, -1/2: floats hold them exactly."""


def view(theta: Fraction = EXACT, secret: int = 0) -> View:
    return view_of(SCHEMA, "alice", CODES, peer_design(SCHEMA, "alice", GROUPS, theta), secret)


def paths() -> list[Expression]:
    return [
        ROOT, ROOT & Term(0, 1), ROOT & Term(1, 2), ROOT & Term(0, 0) & Term(3, 1), ROOT & Term(2, 1) & Term(1, 0),
        ROOT & Term(3, 0) & Term(1, 0),
    ]  # fmt: skip


def cells(path: Expression, candidate: int) -> list[list[Expression]]:
    size = SCHEMA.attributes[candidate].size
    return [[path & Term(candidate, v) & Term(SCHEMA.class_index, c) for c in range(2)] for v in range(size)]


def test_a_node_is_estimated_as_its_expressions_are() -> None:
    for path in paths():
        seen = view()
        estimator = Estimator(seen)
        estimator.advance([path.parent])
        estimator.advance([path])
        candidates = tuple(a for a in range(4) if a not in path.columns)
        answer = estimator.answers([Query(path, candidates, None)])[0]
        for candidate, table in zip(candidates, answer.tables, strict=True):
            expected = [[estimate_count(seen.codes, e, seen.design) for e in row] for row in cells(path, candidate)]
            assert table.tolist() == [[e.count for e in row] for row in expected]
            assert (estimator.spread(path, candidate).counts == table).all()


def test_live_are_the_records_that_some_coins_would_put_into_the_cell() -> None:
    for path in paths():
        seen = view()
        estimator = Estimator(seen)
        estimator.advance([path])
        guesses = pattern_coins(seen.design)
        for candidate in set(range(4)) - path.columns:
            for expressions, row in zip(cells(path, candidate), estimator.spread(path, candidate).live, strict=True):
                for expression, live in zip(expressions, row, strict=True):
                    possible = np.zeros(len(CODES), dtype=np.bool_)
                    for coins in guesses:
                        each = np.broadcast_to(coins, (len(CODES), len(coins)))
                        possible |= expression.satisfied_by(disguise(seen.codes, each, seen.design))
                    assert live == possible.sum()


TREE = Tree(
    SCHEMA, Split((1, 1), 1, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))), Leaf((0, 1), 1)))
)


def few_views() -> list[tuple[View, Fraction]]:
    """Return Alice's view of two records for every outcome of all coins, with its chance."""
    design = peer_design(SCHEMA, "alice", GROUPS, EXACT)
    codes = np.array([[0, 1, 0, 2, 1], [1, 2, 1, 0, 1]], dtype=np.uint8)
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
    rows, times = np.unique(seen.codes, axis=0, return_counts=True)
    factors = [sum((estimate_count(row[None], hit, seen.design).count for hit in hits), Fraction(0)) for row in rows]
    return sum((n * (f * f - f) for f, n in zip(factors, times.tolist(), strict=True)), Fraction(0))


def leaf(label: int) -> Leaf:
    return Leaf((1, 1), label)


def test_leaves_are_estimated_one_by_one_with_their_variance_over_all_coins() -> None:
    """At 3/5 every factor is a multiple of 1/2, so that floats hold the sums exactly."""
    views = few_views()
    assert sum(chance for _, chance in views) == 1
    truth = Fraction(1)  # the tree gets the second record right
    estimates = [Fraction(Estimator(seen).correct(TREE)) for seen, _ in views]
    squares = [squared_factors(seen) for seen, _ in views]
    chances = [chance for _, chance in views]
    assert sum(c * e for c, e in zip(chances, estimates, strict=True)) == truth
    variance = sum(c * (e - truth) ** 2 for c, e in zip(chances, estimates, strict=True))
    assert sum(c * s for c, s in zip(chances, squares, strict=True)) == variance
    for (seen, _), square in zip(views, squares, strict=True):
        assert Estimator(seen).correct_error(TREE) == sqrt(max(Fraction(0), square))
    seen = view()
    hits = [expression & Term(SCHEMA.class_index, label) for expression, label in TREE.leaves()]
    expected = sum(estimate_count(seen.codes, hit, seen.design).count for hit in hits)
    assert Estimator(seen).correct(TREE) == expected
    # One record; the guesses that are hits weigh -3/2, 1 and 1.
    by_first = [Split((3, 3), 1, tuple(map(leaf, values))) for values in ((1, 0, 1), (0, 1, 1))]
    tree = Tree(SCHEMA, Split((6, 6), 2, tuple(by_first)))
    zeros = np.zeros((1, 5), dtype=np.uint8)
    seen = view_of(SCHEMA, "alice", zeros, peer_design(SCHEMA, "alice", GROUPS, EXACT), zeros[:, :2])
    assert squared_factors(seen, tree) == Fraction(-1, 4)
    assert Estimator(seen).correct_error(tree) == 0


def test_weights_are_short_guesses_forgotten_and_with_theta_one_all_is_counted() -> None:
    weights = pattern_weights(view().design)
    assert {weight.denominator for weight in weights} <= {1, 2, 4}
    estimator, part, whole = Estimator(view()), ROOT & Term(1, 2), ROOT & Term(1, 2) & Term(3, 1)
    for path, guessed in ((part, {0, 1}), (whole, {1})):
        estimator.advance([path.parent])
        estimator.advance([path])
        rows, _ = estimator.cells(path, 0)  # the class is of the second group
        assert set(rows.guess) == guessed
    estimator = Estimator(view(Fraction(1)))
    for path in paths():
        estimator.advance([path])
        for candidate in set(range(4)) - path.columns:
            spread = estimator.spread(path, candidate)
            assert spread.counts.tolist() == [[true_count(CODES, e) for e in row] for row in cells(path, candidate)]
    assert Estimator(view(Fraction(1))).correct(TREE) == (TREE.predict(CODES) == CODES[:, -1]).sum()
    assert Estimator(view(Fraction(1))).correct_error(TREE) == 0


def test_projecting_drops_negative_cells_and_keeps_the_total() -> None:
    for estimates, total, projected in [
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
    ]:
        with np.errstate(all="raise"):
            assert project(np.array(estimates), total)[0].tolist() == projected


Table = list[list[Fraction]]
APART = ((0,), (1,))
TWO_COINS = RelatedDesign((2, 2), APART, Fraction(4, 5))
NOISE_EXACT: dict[str, Design] = {
    "two coins": TWO_COINS,
    "three values": RelatedDesign((3, 2), APART, Fraction(3, 5)),
    "four values by odds": RelatedDesign.of_odds((4, 2), APART, Fraction(4, 5)),
    "one coin": RelatedDesign((2, 2), ((0, 1),), Fraction(4, 5)),
    "one coin of two sizes": RelatedDesign((2, 4), ((0, 1),), Fraction(3, 5)),
    "a plain class": RelatedDesign((3, 2), ((0,),), Fraction(4, 5)),
    "unrelated": unrelated((2, 2), ((0, 1),), Fraction(2, 3)),
    "nothing disguised": RelatedDesign((2, 2), (), Fraction(1)),
}


def cells_of(design: Design) -> list[Expression]:
    return [ROOT & Term(0, v) & Term(1, c) for v, c in product(*map(range, design.sizes))]


def departure(adds: list[Fraction], design: Design, shares: list[Fraction], classes: list[Fraction]) -> list[Fraction]:
    """Return what one record's additions depart by, cell by cell, by the definition."""
    values, labels = design.sizes
    cell = {(v, c): adds[v * labels + c] for v, c in product(range(values), range(labels))}
    row = [sum((cell[v, c] for c in range(labels)), Fraction(0)) for v in range(values)]
    column = [sum((cell[v, c] for v in range(values)), Fraction(0)) for c in range(labels)]
    return [
        cell[v, c] - row[v] * classes[c] - column[c] * shares[v] + sum(row) * shares[v] * classes[c] for v, c in cell
    ]


def every_outcome(design: Design, truth: Codes) -> Iterator[tuple[Fraction, Table, Table]]:
    """Yield what coins can make of records: the chance, how far each departs by the true shares, what each adds."""
    found = [
        [Fraction(int((truth[:, c] == v).sum()), len(truth)) for v in range(s)] for c, s in enumerate(design.sizes)
    ]
    for table, chance in response_tables(truth, design):
        adds = [[estimate_count(row[None], cell, design).count for cell in cells_of(design)] for row in table]
        yield chance, [departure(each, design, *found) for each in adds], adds


def test_over_all_coins_squares_less_those_of_the_truth_have_the_variance_of_each_cells_departure_for_mean() -> None:
    """With the true shares, record by record: `sum r^2` less the same of what the estimated cells would add."""
    for design in few([*NOISE_EXACT.values()], 2):
        truth = np.array([[0, 0], [design.sizes[0] - 1, 1]], dtype=np.uint8)
        shares, classes = (
            [Fraction(int((truth[:, c] == v).sum()), 2) for v in range(design.sizes[c])] for c in range(2)
        )
        own = [
            departure([Fraction(k == place) for k in range(prod(design.sizes))], design, shares, classes)
            for place in range(prod(design.sizes))
        ]
        mean = square = told = np.full(prod(design.sizes), Fraction(0))
        for chance, apart, adds in every_outcome(design, truth):
            sums = np.sum(np.array(apart, dtype=object), axis=0)
            cells = np.sum(np.array(adds, dtype=object), axis=0)
            mean, square = mean + chance * sums, square + chance * sums**2
            told = told + chance * (np.sum(np.array(apart, dtype=object) ** 2, axis=0) - cells @ np.array(own) ** 2)
        assert told.tolist() == (square - mean**2).tolist()


def test_where_all_values_are_as_common_the_noise_is_that_of_the_closed_form() -> None:
    """One record of each cell, with a coin per column: `(v - 1)(c - 1)(1/(k^2 l^2) - 1)`, k and l the contrasts."""
    for sizes, theta in few([((4, 3), "2/3"), ((8, 2), "2/3"), ((2, 2), "4/5"), ((3, 2), "3/5")], 2):
        design = RelatedDesign.of_odds(sizes, APART, Fraction(theta))
        shares, classes = ([Fraction(1, size)] * size for size in sizes)
        total = Fraction(0)
        for cell in product(*map(range, sizes)):
            one = np.array([cell], dtype=np.uint8)
            for table, chance in response_tables(one, design):
                adds = [estimate_count(table, each, design).count for each in cells_of(design)]
                total += chance * sum(r**2 for r in departure(adds, design, shares, classes))
            own = [Fraction(cell == other) for other in product(*map(range, sizes))]
            total -= sum(r**2 for r in departure(own, design, shares, classes))
        contrast = prod(design.contrast(k) for k in range(2))
        values, labels = sizes
        assert total == (values - 1) * (labels - 1) * (1 / contrast**2 - 1)  # each cell is expected to hold one record


PATHS = (ROOT, ROOT & Term(0, 1), ROOT & Term(1, 2) & Term(0, 0))


def test_the_noise_of_an_answer_is_that_of_its_records_whatever_shares_a_coin() -> None:
    for path, design in product(PATHS, designs().values()):
        survey = sampled(design, np.random.default_rng(3).integers(0, design.sizes, (60, 4)).astype(np.uint8))
        estimator = survey.estimator()
        estimator.advance([path])
        for candidate in sorted({0, 1, 2} - path.columns):
            (answer,) = estimator.answers([Query(path, (candidate,), None)])
            (samples,) = estimator.samples(path, [candidate])
            (shares,), (classes,) = table_shares([answer.tables[0]])
            shape = answer.tables[0].shape
            apart = departures(samples.values.reshape(-1, *shape), shares, classes)
            own = departures(np.eye(prod(shape)).reshape(-1, *shape), shares, classes)
            expected = np.einsum("i,ivc->vc", samples.repeats, apart**2)
            expected = expected - np.einsum("i,ivc->vc", answer.tables[0].ravel(), own**2)
            assert np.allclose(answer.noises[0], expected, rtol=1e-9, atol=1e-9)


def test_two_parties_have_the_same_noise_as_a_collector() -> None:
    for name, path in product([name for name in designs() if name.startswith("related")], PATHS):
        design = designs()[name]
        assert isinstance(design, RelatedDesign)
        survey = sampled(design, np.random.default_rng(4).integers(0, design.sizes, (80, 4)).astype(np.uint8))
        ours, theirs = Estimator(View(survey.schema, survey.codes, design)), survey.estimator()
        query = Query(path, tuple(sorted({0, 1, 2} - path.columns)), None)
        for one, other in zip(ours.answers([query])[0].noises, theirs.answers([query])[0].noises, strict=True):
            assert np.allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("total", [30, 60, 90])
def test_a_table_that_is_fitted_to_another_total_has_the_noise_of_its_merit_as_before(total: int) -> None:
    """What is a variance grows with the square: no gain, and nothing that noise adds to it, depends on the total."""
    table, noise = np.array([[20.0, 4.0], [-3.0, 6.0]]), np.array([[3.0, 2.0], [5.0, 1.0]])
    query = Query(ROOT, (0,), (float(total), 0.0))
    (fitted,) = project_answers([query], [Answer((table,), (noise,))])
    assert fitted.tables[0].sum() == pytest.approx(total)
    before = noise_merit(positive_part(table)[None], noise[None], Impurity.INFORMATION_GAIN)
    after = noise_merit(np.array(fitted.tables), np.array(fitted.noises), Impurity.INFORMATION_GAIN)
    assert after == pytest.approx(before)
    assert before > 0


def outcomes(design: RelatedDesign, of_each: int) -> tuple[Floats, Floats]:
    """Return every sent table of this many records of each of four cells, and its chance: exact up to rounding.

    A record of a cell sends each cell with its chance; so the chances of tables are the coefficients of a product of
    polynomials, which is a product of their transforms.
    """
    chances = np.kron(*(np.array(design.transition(k, (k,)), dtype=float) for k in range(2)))
    number = 4 * of_each + 1
    roots = np.exp(-2j * np.pi * np.arange(number) / number)
    x, y, z = np.meshgrid(roots, roots, roots, indexing="ij")
    powers = [(column[0] + column[1] * x + column[2] * y + column[3] * z) ** of_each for column in chances.T]
    weights = np.fft.ifftn(np.prod(powers, axis=0)).real
    counts = np.indices((number,) * 3).reshape(3, -1).T
    tables = np.column_stack([number - 1 - counts.sum(axis=1), counts]).reshape(-1, 2, 2)
    possible = tables[:, 0, 0] >= 0
    return tables[possible].astype(np.float64), weights.ravel()[possible]


def test_over_all_outcomes_a_column_that_says_nothing_has_hardly_any_gain_when_its_noise_is_taken_off() -> None:
    """Of 40 and 60 records the second order is not all, and what is negative counts as nothing."""
    for theta, of_each, left in [("9/10", 10, 0.06), ("4/5", 15, 0.12)]:
        design = RelatedDesign((2, 2), APART, Fraction(theta))
        undo = [np.linalg.inv(np.array(design.transition(k, (k,)), dtype=float)) for k in range(2)]
        sent, weights = outcomes(design, of_each)
        assert weights.sum() == pytest.approx(1)
        tables = np.einsum("va,nab,cb->nvc", undo[0], sent, undo[1])
        shares, classes = table_shares(tables)
        left_side = (undo[0].T - shares[:, None, :]) ** 2
        right_side = (undo[1].T - classes[:, None, :]) ** 2
        noises = np.einsum("nav,nab,nbc->nvc", left_side, sent, right_side)
        own = [(np.eye(2) - each[:, None, :]) ** 2 for each in (shares, classes)]
        noises -= np.einsum("nav,nab,nbc->nvc", own[0], tables, own[1])
        positive = np.maximum(tables, 0)
        for impurity in (Impurity.INFORMATION_GAIN, Impurity.GINI):
            gained = float(weights @ merit(positive, impurity))
            rest = float(weights @ (merit(positive, impurity) - noise_merit(positive, noises, impurity)))
            assert gained > 0.01
            assert abs(rest) < left * gained


def test_no_branch_brings_more_noise_than_there_is_to_gain_in_it() -> None:
    table, noise = np.array([[90.0, 30.0], [1.0, 0.5]]), np.full((2, 2), 40.0)
    whole = float(merit([[91.0, 0.0], [0.0, 30.5]], Impurity.INFORMATION_GAIN))
    brought = float(noise_merit(table, noise, Impurity.INFORMATION_GAIN))
    small = 40 / 121.5 * (1 / 91 + 1 / 30.5) * 121.5 / (2 * log(2)) / 120
    assert brought == pytest.approx(small + 1.5 / 121.5 * whole)
    ratio = float(noise_merit(table, noise, Impurity.GAIN_RATIO))
    assert ratio == pytest.approx(brought / merit_divisor(table))


def merit_divisor(table: Floats) -> float:
    return float(merit(table, Impurity.INFORMATION_GAIN) / merit(table, Impurity.GAIN_RATIO))


@pytest.mark.parametrize("impurity", Impurity)
def test_what_is_not_estimated_has_no_noise_and_a_plain_table_is_split_as_ever(impurity: Impurity) -> None:
    """By the exclusive or no column alone has a gain; plain ID3 splits all the same."""
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 5, dtype=np.uint8)
    plain = Responses(schema_for((2, 2, 2)), codes, RelatedDesign((2, 2, 2), (), Fraction(1)))
    assert grow_tree(plain, Growth(impurity=impurity)).depth == 2
    (answer,) = plain.estimator().answers([Query(ROOT, (0, 1), None)])
    assert max(float(np.abs(noise).max()) for noise in answer.noises) < TIE


THREE = (8, 2, 2)
NOISE = MixedDesign.of(
    THREE, [RelatedDesign(THREE, ((k,),), Fraction(theta)) for k, theta in enumerate(("19/40", "7/10", "7/10"))]
)
"""A coin of its own for each column, all of contrast 2/5."""


def noisy_survey(chance: np.random.Generator) -> Responses:
    """Return 2,000 answers: a column of eight values that says nothing, and one of two with a gain of .063."""
    label = chance.integers(0, 2, 2000)
    tells = np.where(chance.random(2000) < 0.353, 1 - label, label)
    truth = np.column_stack([chance.integers(0, 8, 2000), tells, label]).astype(np.uint8)
    return Responses(schema_for((8, 2, 2)), NOISE.randomize(truth, bulk_draw(chance, 2000)), NOISE)


def roots(surveys: int) -> list[int]:
    """Count the surveys whose tree has the right root, with what noise adds to gains and without."""
    chance, found = np.random.default_rng(63), [0, 0]
    for _ in range(surveys):
        answers = noisy_survey(chance).estimator().answers([Query(ROOT, (0, 1), None)])
        for way, each in enumerate(([Answer(answer.tables) for answer in answers], answers)):
            (values,) = estimated_merits(each, [2000.0], Growth())
            found[way] += values[1] > values[0]
    return found


def test_a_column_that_says_nothing_is_no_longer_the_root_and_the_tree_of_noise_stays_small() -> None:
    """A third of surveys had the right root; with the noise taken off, three quarters: both far from one half."""
    test = ShareTest(200, Fraction(1, 2), 1e-4)
    with_noise, without = roots(200)
    assert with_noise < test.low
    assert without > test.high
    # Of a table in which nothing says anything: what splits it are gains beyond the mean of noise, a half at most.
    chance = np.random.default_rng(8)
    design = RelatedDesign((2, 2, 2, 2), tuple((c,) for c in range(4)), Fraction(2, 3))
    sizes = []
    for _ in range(8):
        truth = chance.integers(0, 2, (1000, 4)).astype(np.uint8)
        survey = Responses(schema_for((2,) * 4), design.randomize(truth, bulk_draw(chance, 1000)), design)
        sizes.append(grow_tree(survey).size)
    assert np.mean(sizes) < 8  # of 15, which each had
