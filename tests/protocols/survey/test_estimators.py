"""Estimators, node by node, against the estimates of single expressions and all outcomes, some answers missing."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer, Query
from protocols.errors import InputError
from protocols.learning.impurity import merit, merit_gradient
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes, logarithm
from protocols.learning.tree import Leaf, Split, Tree
from protocols.privacy.entry import Entry, entry_of
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.role import run_alone
from protocols.simulation.two_party import bulk_draw
from protocols.survey.inference import inference_rules, privacy_after_mining
from protocols.survey.mining import (
    Doubt,
    chance_of_none,
    chi_square_tail,
    estimate_accuracy,
    grow_tree,
    learn_naive_bayes,
    prune_tree,
    split_doubts,
)
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import NO_ANSWER, ROOT, Codes, Expression, Term
from protocols.terms import Growth, Impurity
from tests.support.binomial import ShareTest
from tests.support.cases import correlated
from tests.support.enumeration import disguised_copies, expressions, true_count
from tests.support.examples import few
from tests.support.plain import reference_id3
from tests.support.surveys import (
    HALF,
    RELATED_THETA,
    SIZES,
    designs,
    every_survey,
    sampled,
    schema_for,
    uniform,
    unrelated,
)

CODES = correlated(SIZES, 40, seed=3, flips=0.5)
SCHEMA = schema_for(SIZES)
PATHS = [ROOT, ROOT & Term(0, 1), ROOT & Term(1, 2), ROOT & Term(2, 0) & Term(1, 3), ROOT & Term(1, 0) & Term(0, 0)]
TREE = Tree(SCHEMA, Split((2, 2), 2, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((0, 1), 1), Leaf((0, 0), 0))))))
BAYES = NaiveBayes(
    SCHEMA,
    np.log([0.5, 0.5]),
    tuple(np.log(table) for table in ([[0.7, 0.2], [0.3, 0.8]], [[0.25, 0.25]] * 4, [[0.6, 0.1], [0.4, 0.9]])),
)


def cell_expressions(path: Expression, candidate: int) -> list[list[Expression]]:
    return [[path & Term(candidate, v) & Term(3, c) for c in range(2)] for v in range(SIZES[candidate])]


def test_what_records_add_to_cells_is_what_their_expressions_add() -> None:
    """Sum and variance over the records of `sum_cells weight * f`, from the estimates of single records."""
    for design in designs().values():
        survey = sampled(design, CODES[:12])
        for path in PATHS:
            estimator = survey.estimator()
            estimator.advance([path])
            candidates = sorted(set(range(3)) - path.columns)
            generator = np.random.default_rng(len(path.terms))
            weights = {candidate: generator.normal(size=(SIZES[candidate], 2)) for candidate in candidates}
            expected = np.zeros(len(survey))
            for candidate, weight in weights.items():
                for cells_of_row, row in zip(cell_expressions(path, candidate), weight, strict=True):
                    for expression, factor in zip(cells_of_row, row.tolist(), strict=True):
                        single = (estimate_count(record[None], expression, design).count for record in survey.codes)
                        expected += factor * np.array([float(count) for count in single])
            (found,), every = estimator.samples(path, candidates), np.concatenate([w.ravel() for w in weights.values()])
            assert float(found.sums @ every) == pytest.approx(expected.sum(), abs=1e-9)
            assert float(every @ found.covariance @ every) == pytest.approx(12 * expected.var(ddof=1), abs=1e-9)
            assert found.repeats.sum() <= len(survey) == found.records


def test_nodes_of_one_level_are_answered_together_as_each_alone() -> None:
    survey = sampled(designs()["unrelated, two groups"], CODES)
    estimator = survey.estimator()
    level = [ROOT & Term(0, 0), ROOT & Term(0, 1)]
    queries = [Query(level[0], (1, 2), None), Query(level[1], (2,), None)]
    estimator.advance(level)
    together = estimator.answers(queries)
    for query, answer in zip(queries, together, strict=True):
        (alone,) = estimator.answers([query])
        assert [t.tolist() for t in alone.tables] == [t.tolist() for t in answer.tables]


SMALL = np.array([[0, 2, 1, 1], [1, 3, 0, 1]], dtype=np.uint8)


def test_over_all_outcomes_the_correct_predictions_are_those_on_the_truth() -> None:
    kinds = ("one group", "two groups", "a plain class", "a plain attribute")
    related = ("two groups", "one group", "a plain attribute", "a plain class")
    names = [*(f"unrelated, {kind}" for kind in kinds), *(f"related, {kind}" for kind in related)]
    for name in few([*names, "unrelated, dependent answers"], 4):
        design = designs()[name]
        records = SMALL[:1] if len(design.groups) == 2 and not design.plain else SMALL
        for model in (TREE, BAYES):
            truth = int((model.predict(records) == records[:, -1]).sum())
            mean, mass = 0.0, Fraction(0)
            for survey, chance in every_survey(design, records):
                estimator = survey.estimator()
                mean += float(chance) * float(estimator.repeats @ estimator.correct_factors(model))
                mass += chance
            assert mass == 1
            assert mean == pytest.approx(truth, abs=1e-9)


def test_a_model_that_reads_few_columns_is_tested_however_many_are_hidden() -> None:
    sizes = (2,) * 40
    design = unrelated(sizes, (tuple(range(40)),))
    schema = schema_for(sizes)
    codes = np.zeros((5, 40), dtype=np.uint8)
    few = Tree(schema, Split((1, 1), 7, (Leaf((1, 0), 0), Leaf((0, 1), 1))))
    survey = Responses(schema, codes, design)
    assert (survey.estimator().correct_factors(few) == 2 - 0.5).all()  # ([right] - 1/2 * P(Y right)) / (1/2)
    every = NaiveBayes(schema, np.log([0.5, 0.5]), (np.log(np.full((2, 2), 0.5)),) * 39)
    with pytest.raises(InputError, match="may truly be any of 1,099,511,627,776"):
        survey.estimator().correct_factors(every)


def test_a_model_that_reads_many_columns_is_tested_where_few_coins_hide_them() -> None:
    """One coin moves all columns at once: if it did not, the class is as it was sent and predicted; else the other."""
    sizes = (2,) * 40
    design = RelatedDesign(sizes, (tuple(range(40)),), RELATED_THETA)
    every = NaiveBayes(schema_for(sizes), np.log([0.6, 0.4]), (np.log(np.full((2, 2), 0.5)),) * 39)
    survey = Responses(every.schema, np.zeros((5, 40), dtype=np.uint8), design)
    unmoved, _ = design.guess_weights(0)
    assert survey.estimator().correct_factors(every).tolist() == pytest.approx([float(unmoved)])


MANY = 17
OWN_COINS = tuple((column,) for column in range(MANY))
TWO_A_GROUP = tuple((column, column + 1) for column in range(0, MANY - 1, 2))
LONG = Expression(tuple(Term(column, column % 2) for column in (3, 0, 8, 5, 11, 2, 9, 14, 1, 6)))


@pytest.mark.parametrize("groups", [OWN_COINS, TWO_A_GROUP], ids=["own coins", "two a group"])
@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_a_long_path_through_many_groups_is_estimated_as_its_expressions_are(
    kind: str, groups: tuple[tuple[int, ...], ...]
) -> None:
    sizes = (2,) * MANY
    design: Design = (
        RelatedDesign(sizes, groups, RELATED_THETA) if kind == "related" else unrelated(sizes, groups, RELATED_THETA)
    )
    survey = sampled(design, correlated(sizes, 30, seed=1, flips=0.4))
    estimator = survey.estimator()
    estimator.advance([LONG.parent])
    estimator.advance([LONG])
    (answer,) = estimator.answers([Query(LONG, (4, 7), None)])
    (found,) = estimator.samples(LONG, [4])
    for candidate, table in zip((4, 7), answer.tables, strict=True):
        cells = [[LONG & Term(candidate, v) & Term(MANY - 1, c) for c in range(2)] for v in range(2)]
        expected = [[float(estimate_count(survey.codes, cell, design).count) for cell in row] for row in cells]
        assert np.allclose(table, expected, rtol=1e-9, atol=1e-9)
    first = estimate_count(survey.codes, LONG & Term(4, 0) & Term(MANY - 1, 0), design)
    assert found.sums[0] == pytest.approx(float(first.count))
    assert found.repeats @ found.values[:, 0] ** 2 == pytest.approx(float(first.squares))


@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_a_tree_is_tested_path_by_path_however_many_groups_there_are(kind: str) -> None:
    sizes = (2,) * 40
    groups = tuple((column,) for column in range(40))
    design: Design = RelatedDesign(sizes, groups, RELATED_THETA) if kind == "related" else unrelated(sizes, groups)
    survey = sampled(design, correlated(sizes, 30, seed=2, flips=0.4))
    below = Split((1, 1), 20, (Leaf((1, 0), 0), Leaf((0, 1), 1)))
    tree = Tree(survey.schema, Split((1, 1), 7, (Leaf((1, 0), 0), below)))
    hits = [path & Term(39, label) for path, label in tree.leaves()]
    expected = sum(estimate_count(survey.codes, hit, design).count for hit in hits)
    estimator = survey.estimator()
    assert float(estimator.repeats @ estimator.correct_factors(tree)) == pytest.approx(float(expected))


def ravel(answers: list[Answer]) -> list[object]:
    return [table.tolist() for answer in answers for table in answer.tables]


@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_only_what_must_go_through_all_patterns_is_limited_and_says_so(kind: str) -> None:
    sizes = (2,) * 28
    groups = tuple((column,) for column in range(28))
    design: Design = RelatedDesign(sizes, groups, RELATED_THETA) if kind == "related" else unrelated(sizes, groups)
    survey = sampled(design, np.zeros((2, 28), dtype=np.uint8))
    model = NaiveBayes(survey.schema, np.log([0.5, 0.5]), (np.log(np.full((2, 2), 0.5)),) * 27)
    with pytest.raises(
        InputError, match=r"a model that reads 28 groups at once cannot be tested .* or test it on answers in the clear"
    ):
        survey.estimator().correct_factors(model)


def test_levels_of_many_rows_are_counted_in_blocks_and_too_many_are_refused_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = sampled(designs()["related, two groups"], CODES)
    level = [ROOT & Term(1, value) for value in range(4)]
    queries = [Query(node, (0, 2), None) for node in level]
    whole = survey.estimator()
    whole.advance(level)
    expected = whole.answers(queries)
    monkeypatch.setattr("protocols.counting.guessing.KEPT_ROWS", 1)
    estimator = survey.estimator()
    estimator.advance(level)
    assert ravel(estimator.answers(queries)) == ravel(expected)
    estimator.advance([level[2] & Term(0, 1)])
    below = Query(level[2] & Term(0, 1), (2,), None)
    assert ravel(estimator.answers([below])) == ravel(whole.answers([below]))
    estimator = sampled(unrelated(SIZES, ((0, 1), (2, 3))), CODES).estimator()
    monkeypatch.setattr("protocols.counting.guessing.MAX_ROWS", 2 * len(estimator.repeats))
    with pytest.raises(InputError, match="reads too many groups of several columns at once: put fewer columns into a"):
        estimator.advance([ROOT & Term(0, 1) & Term(2, 1)])


GROUPS = ((0, 3), (1, 2))


def with_gaps(records: int, seed: int = 4) -> Codes:
    codes = correlated(SIZES, records, seed=seed, flips=0.5)
    gaps = np.random.default_rng(seed).random(codes.shape) < 0.15
    codes[gaps] = NO_ANSWER
    return codes


def est_given(codes: Codes, expression: Expression) -> Codes:
    answered: Codes = codes[(codes[:, sorted(expression.columns)] != NO_ANSWER).all(axis=1)]
    return answered


def test_over_all_coins_an_estimate_of_those_who_answered_is_their_count() -> None:
    design = RelatedDesign((2, 3, 2), ((0, 2), (1,)), Fraction(9, 20))
    codes = np.array([[1, 2, NO_ANSWER], [NO_ANSWER, 0, 1]], dtype=np.uint8)
    copies = list(disguised_copies(codes, design))
    for expression in expressions(design.sizes):
        truth = true_count(est_given(codes, expression), expression)
        found = [(estimate_count(est_given(copy, expression), expression, design), chance) for copy, chance in copies]
        assert sum(chance * estimate.count for estimate, chance in found) == truth
        assert {estimate.records for estimate, _ in found} == {len(est_given(codes, expression))}


def test_a_cell_of_a_node_is_estimated_as_its_expression_is_of_those_who_answered_its_columns() -> None:
    for design in designs().values():
        for path, codes in product(PATHS, (CODES, with_gaps(60))):
            survey = sampled(design, codes)
            estimator = survey.estimator()
            estimator.advance([path.parent])
            estimator.advance([path])
            candidates = tuple(sorted(set(range(3)) - path.columns))
            (answer,) = estimator.answers([Query(path, candidates, None)])
            for candidate, table in zip(candidates, answer.tables, strict=True):
                cells = cell_expressions(path, candidate)
                expected = [
                    [float(estimate_count(est_given(survey.codes, e), e, design).count) for e in row] for row in cells
                ]
                assert np.allclose(table, expected, rtol=0, atol=1e-9)
                (found,) = estimator.samples(path, [candidate])
                assert found.sums == pytest.approx(np.ravel(expected), abs=1e-9)


CERTAIN: list[Design] = [RelatedDesign(SIZES, GROUPS, Fraction(1)), unrelated(SIZES, GROUPS, Fraction(1))]


@pytest.mark.parametrize("design", CERTAIN, ids=["related", "unrelated"])
def test_naive_bayes_takes_the_pairs_that_are_given(design: Design) -> None:
    codes = with_gaps(200)
    model = learn_naive_bayes(Responses(schema_for(SIZES), codes, design))
    classes = codes[codes[:, 3] != NO_ANSWER, 3]
    assert np.exp(model.prior) == pytest.approx(np.bincount(classes) / len(classes))
    pairs = est_given(codes, ROOT & Term(1, 0) & Term(3, 0))
    for label in range(2):
        own = pairs[pairs[:, 3] == label, 1]
        assert np.exp(model.conditional[1][:, label]) == pytest.approx(np.bincount(own, minlength=4) / len(own))


@pytest.mark.parametrize("design", CERTAIN, ids=["related", "unrelated"])
def test_a_node_keeps_its_total_however_many_answered_what_it_splits_on(design: Design) -> None:
    codes = with_gaps(200)
    survey = Responses(schema_for(SIZES), codes, design)
    tree = grow_tree(survey)
    assert isinstance(tree.root, Split)
    assert sum(tree.root.counts) == (codes[:, 3] != NO_ANSWER).sum()
    for _, node in tree.walk():
        if isinstance(node, Split):
            assert sum(sum(child.counts) for child in node.children) == pytest.approx(sum(node.counts))
    assert prune_tree(tree, Responses(schema_for(SIZES), with_gaps(200, seed=5), design)).size <= tree.size


def test_no_answer_stays_none_and_an_accuracy_is_of_those_who_answered() -> None:
    for design in designs().values():
        codes = with_gaps(50)
        sent = design.randomize(codes, bulk_draw(np.random.default_rng(0), len(codes)))
        assert ((sent == NO_ANSWER) == (codes == NO_ANSWER)).all()
        assert (sent[:, list(design.plain)] == codes[:, list(design.plain)]).all()
    for design in CERTAIN:
        stump = Tree(schema_for(SIZES), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))
        codes = with_gaps(100)
        whole = est_given(codes, ROOT & Term(0, 0) & Term(3, 0))
        found = estimate_accuracy(stump, Responses(schema_for(SIZES), codes, design))
        assert found.records == len(whole) < 100
        assert found.share == pytest.approx((whole[:, 0] == whole[:, 3]).mean())
    codes = with_gaps(20)
    codes[:, 3] = NO_ANSWER
    with pytest.raises(InputError, match="no record has an answer in all columns that are needed together"):
        grow_tree(Responses(schema_for(SIZES), codes, CERTAIN[0]))


CHI_SQUARE = [
    (2.705543, 1, 0.1), (3.841459, 1, 0.05), (9.210340, 2, 0.01), (7.814728, 3, 0.05), (11.070498, 5, 0.05),
    (18.307038, 10, 0.05), (124.342113, 100, 0.05), (0.0, 7, 1.0), (1106.969, 1000, 0.01),
]  # fmt: skip
"""Pearson's percentage points, as printed."""

DOUBT_SIZES = (2, 2, 2)
SCHEMA = schema_for(DOUBT_SIZES)
DOUBT_GROUPS = ((0, 2), (1,))
STUMP = Tree(SCHEMA, Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))

CELLS = st.lists(st.integers(1, 50), min_size=6, max_size=6)


@pytest.mark.parametrize("impurity", Impurity)
@given(cells=CELLS)
def test_the_gradient_is_the_derivative(impurity: Impurity, cells: list[int]) -> None:
    table = np.array(cells, dtype=np.float64).reshape(3, 2)
    gradient = merit_gradient(table, impurity)
    step = 1e-5
    for index in np.ndindex(3, 2):
        moved = table.copy()
        moved[index] += step
        other = table.copy()
        other[index] -= step
        assert gradient[index] == pytest.approx(
            float(merit(moved, impurity) - merit(other, impurity)) / (2 * step), abs=1e-6
        )


@pytest.mark.parametrize("impurity", Impurity)
def test_the_gradient_ends_at_cells_without_a_count(impurity: Impurity) -> None:
    assert merit_gradient([[0.0, 3.0], [-2.0, 4.0]], impurity)[:, 0].tolist() == [0.0, 0.0]
    assert merit_gradient(np.zeros((2, 2)), impurity).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert merit_gradient([[2.0, 3.0], [0.0, 0.0]], impurity)[1].tolist() == [0.0, 0.0]


def population(records: int, generator: np.random.Generator) -> Codes:
    """The class follows x0 in four of five records, x1 in seven of ten."""
    label = generator.integers(2, size=records)
    first = np.where(generator.random(records) < 0.2, 1 - label, label)
    second = np.where(generator.random(records) < 0.3, 1 - label, label)
    return np.column_stack([first, second, label]).astype(np.uint8)


DESIGNS: list[Design] = [
    RelatedDesign(DOUBT_SIZES, DOUBT_GROUPS, Fraction(4, 5)),
    unrelated(DOUBT_SIZES, DOUBT_GROUPS, Fraction(7, 10)),
]


@pytest.mark.parametrize("design", DESIGNS, ids=["related", "unrelated"])
def test_errors_are_those_of_repeated_surveys(design: Design) -> None:
    """600 surveys, or half: the spread of the lead against the errors told.

    The ratio of a sample variance to the true one has a standard deviation of `sqrt(2/599)` = 0.06, or 0.08: a quarter
    is three of them at least, and the seed is fixed.
    """
    generator = np.random.default_rng(17)
    found = []
    for _ in few(range(600), 2):
        truth = population(4_000, generator)
        survey = Responses(SCHEMA, design.randomize(truth, bulk_draw(generator, len(truth))), design)
        found.append(split_doubts(STUMP, survey)[ROOT])
    leads = np.array([d.lead for d in found])
    assert np.mean([d.lead_error**2 for d in found]) == pytest.approx(leads.var(ddof=1), rel=0.25)


STUMP_BELOW = Split((1, 1), 1, (Leaf((1, 0), 0), Leaf((0, 1), 1)))


def test_a_lead_is_clear_beyond_its_error() -> None:
    generator = np.random.default_rng(1)
    label = generator.integers(2, size=3_000)
    twin = np.where(generator.random(3_000) < 0.2, 1 - label, label)
    codes = np.column_stack([twin, twin, label]).astype(np.uint8)
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], codes))[ROOT]
    assert doubt.runner_up == 1
    assert not doubt.is_clear(0.999)
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], population(20_000, np.random.default_rng(2))))[ROOT]
    assert doubt.runner_up == 1
    assert doubt.is_clear(0.999)
    for lead, clear in ((1.97, True), (1.95, False), (-3.0, False)):
        assert Doubt(0, 1.0, 0.001, 1, lead, 1.0).is_clear(0.95) is clear
    for chance, clear in ((0.0499, True), (0.0501, False)):
        assert Doubt(0, 1.0, chance, 1, 2.0, 1.0).is_clear(0.95) is clear
        assert Doubt(0, 1.0, chance, None, 1.0, 1.0).is_clear(0.95) is clear
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], np.zeros((1, 3), dtype=np.uint8)))[ROOT]
    assert doubt.lead_error == float("inf")
    assert not doubt.is_clear(0.5)
    deep = Tree(SCHEMA, Split((1, 1), 0, (STUMP_BELOW, Leaf((0, 1), 1))))
    doubts = split_doubts(deep, sampled(DESIGNS[1], population(20_000, np.random.default_rng(3))))
    below = doubts[ROOT & Term(0, 0)]
    assert (below.attribute, below.runner_up) == (1, None)
    assert below.is_clear(0.95)
    few = split_doubts(deep, sampled(DESIGNS[1], population(100, np.random.default_rng(3))))[ROOT & Term(0, 0)]
    assert few.chance > 0.05
    assert not few.is_clear(0.95)


LAST = 3
NOTHING: dict[str, tuple[Design, Expression]] = {
    "two values": (RelatedDesign((2,) * 4, ((0,), (1,), (2,), (LAST,)), Fraction(7, 10)), ROOT),
    "eight values": (RelatedDesign((8, 2, 2, 2), ((0,), (1,), (2,), (LAST,)), Fraction(7, 10)), ROOT),
    "one coin with the class": (RelatedDesign((2,) * 4, ((0, LAST), (1,), (2,)), Fraction(7, 10)), ROOT),
    "two splits below": (unrelated((2,) * 4, ((0,), (1,), (2,), (LAST,)), HALF), ROOT & Term(1, 0) & Term(2, 0)),
}


def chances_of(design: Design, path: Expression, surveys: int, follows: float, seed: int) -> list[float]:
    """Return the chance of none of surveys of 800 in which this many records have their class from the first column."""
    chance, found = np.random.default_rng(seed), []
    for _ in range(surveys):
        truth = chance.integers(0, design.sizes, (800, 4)).astype(np.uint8)
        truth[:, LAST] = np.where(chance.random(800) < follows, truth[:, 0] % 2, truth[:, LAST])
        survey = Responses(schema_for(design.sizes), design.randomize(truth, bulk_draw(chance, 800)), design)
        estimator = survey.estimator()
        estimator.advance([path])
        (answer,) = estimator.answers([Query(path, (0,), None)])
        found.append(chance_of_none(estimator.samples(path, [0]), answer.tables[0]))
    return found


def test_noise_alone_is_called_more_than_noise_no_more_often_than_the_level_says() -> None:
    """At a level of 5 %, of 500 surveys: false once in a million, and a test that alarms in 16 % is seen.

    The errors are normal as far as 800 records go, so 6 % is allowed for.
    """
    for design, path in few([*NOTHING.values()], 2):
        test = ShareTest(500, Fraction(6, 100), 1e-6)
        hits = sum(chance <= 0.05 for chance in chances_of(design, path, 500, 0.0, seed=len(path.terms)))
        assert hits <= test.high
        assert test.power(Fraction(16, 100)) > 0.99


def test_of_many_attributes_that_tell_nothing_the_best_is_marked_as_often_as_the_level_says() -> None:
    """400 surveys of ten attributes, or half: the split by the best of them is called clear in 5 % of them at most."""
    sizes, chance, clear = (2,) * 11, np.random.default_rng(9), 0
    schema, design = schema_for(sizes), RelatedDesign(sizes, tuple((c,) for c in range(11)), Fraction(7, 10))
    surveys = few(range(400), 2)
    for _ in surveys:
        truth = chance.integers(0, 2, (600, 11)).astype(np.uint8)
        survey = Responses(schema, design.randomize(truth, bulk_draw(chance, 600)), design)
        tree = grow_tree(survey, Growth(max_depth=1))
        clear += any(doubt.chance <= 0.05 for doubt in split_doubts(tree, survey).values())
    assert clear <= ShareTest(len(surveys), Fraction(5, 100), 1e-6).high


def test_noise_alone_is_seldom_called_more_and_much_is_seen() -> None:
    """Where four in five have their class from it, nine of ten surveys say so at a level of 5 %."""
    hits = sum(chance <= 0.05 for chance in chances_of(*NOTHING["two values"], 200, 0.8, seed=5))
    assert hits >= ShareTest(200, Fraction(9, 10), 1e-6).low
    for statistic, freedom, chance in CHI_SQUARE:
        assert chi_square_tail(statistic, freedom) == pytest.approx(chance, rel=1e-4)


MINED_CODES = correlated(SIZES, 200, seed=5, flips=0.4)


MINED_STUMP = Tree(schema_for((2, 2)), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))


@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_over_all_samples_and_coins_the_squared_error_of_an_accuracy_is_its_variance(kind: str) -> None:
    """Three respondents from a population of two, each alike likely: every sample, every outcome, exactly weighed."""
    sizes, groups = (2, 2), ((0, 1),)
    design: Design = (
        RelatedDesign(sizes, groups, Fraction(3, 4)) if kind == "related" else unrelated(sizes, groups, Fraction(1, 4))
    )
    population = np.array([[1, 1], [0, 1]], dtype=np.uint8)
    mean = square = variance = 0.0
    for index in np.ndindex(2, 2, 2):
        for survey, chance in every_survey(design, population[list(index)]):
            found = estimate_accuracy(MINED_STUMP, survey)
            weight = float(chance) / 8
            mean += weight * found.share
            square += weight * (found.share - 0.5) ** 2
            variance += weight * found.standard_error**2
    assert mean == pytest.approx(0.5, abs=1e-12)
    assert variance == pytest.approx(square, rel=1e-9)


PLAIN_CLASS: list[Design] = [
    RelatedDesign((2, 3, 2), ((0,), (1,)), Fraction(3, 5)),
    unrelated((2, 2, 2), ((0, 1),), Fraction(2, 5)),
]


DISGUISED_CLASS: list[Design] = [
    RelatedDesign((2, 3), ((0,), (1,)), Fraction(3, 5)),
    unrelated((2, 2), ((0,), (1,)), Fraction(2, 3)),
]


@pytest.mark.parametrize("design", DISGUISED_CLASS, ids=["two groups", "unrelated"])
def test_the_prior_is_the_unbiased_estimate_and_projected_only_where_that_has_less_than_nobody(design: Design) -> None:
    """Over all outcomes: the mean of the estimate is the truth, exactly; prior and root are it wherever they can be."""
    codes = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    classes = range(design.sizes[-1])
    mean = [Fraction(0) for _ in classes]
    projected = 0
    for survey, chance in every_survey(design, codes):
        counts = [estimate_count(survey.codes, Expression().child(1, c), design).count for c in classes]
        mean = [total + chance * count for total, count in zip(mean, counts, strict=True)]
        negative = min(counts) < 0
        projected += negative
        positive = [max(count, Fraction(0)) for count in counts]
        own = counts if not negative else [3 * count / sum(positive) for count in positive]
        assert survey.class_counts() == tuple(map(float, own))
        assert np.exp(learn_naive_bayes(survey).prior) == pytest.approx([float(count) / 3 for count in own])
        assert grow_tree(survey).root.counts == tuple(map(float, own))
    assert mean == [(codes[:, 1] == c).sum() for c in classes]
    assert projected


def test_an_accuracy_is_counted_with_the_error_of_a_sample() -> None:
    for design in CERTAIN:
        survey = sampled(design, MINED_CODES)
        tree = grow_tree(sampled(design, MINED_CODES[:50]))
        share = float((tree.predict(MINED_CODES) == MINED_CODES[:, -1]).mean())
        measured = estimate_accuracy(tree, survey)
        assert measured.share == pytest.approx(share)
        assert measured.standard_error == pytest.approx((share * (1 - share) / 199) ** 0.5)
    assert estimate_accuracy(
        MINED_STUMP, sampled(unrelated((2, 2), ((0, 1),)), MINED_CODES[:1, [0, 3]])
    ).standard_error == float("inf")
    for design in PLAIN_CLASS:
        codes = np.array([[0, 1, 0], [1, 1, 1], [1, 0, 1]], dtype=np.uint8)
        for survey, _ in few([*every_survey(design, codes)], 6):
            assert survey.class_counts() == (1.0, 2.0)
            assert np.exp(learn_naive_bayes(survey).prior) == pytest.approx([1 / 3, 2 / 3], rel=1e-15)
            assert grow_tree(survey).root.counts == (1.0, 2.0)


def test_many_disguised_records_give_the_tree_and_the_classes_of_the_clear_ones() -> None:
    """60,000 records of a rule with wide margins: the first split and the predictions are those of the truth."""
    for name, kind in product(["one group", "two groups", "a plain class"], ["unrelated", "related"]):
        generator = np.random.default_rng(11)
        cells = generator.integers(0, SIZES[:-1], size=(60_000, 3))
        label = np.where(generator.random(60_000) < 0.1, 1 - cells[:, 2], cells[:, 2])
        codes = np.column_stack([cells, label]).astype(np.uint8)
        survey = sampled(designs()[f"{kind}, {name}"], codes, seed=1)
        tree, model = grow_tree(survey), learn_naive_bayes(survey)
        assert isinstance(tree.root, Split)
        assert tree.root.attribute == 2
        fresh = codes[:1000]
        assert (model.predict(fresh) == fresh[:, 2]).all()
        held_out = sampled(designs()[f"{kind}, {name}"], codes, seed=2)
        pruned = prune_tree(tree, held_out)
        assert pruned.size <= tree.size
        assert (pruned.predict(fresh) == fresh[:, 2]).mean() > 0.99
        measured = estimate_accuracy(pruned, held_out)
        assert abs(measured.share - 0.9) < 6 * measured.standard_error  # false alarm below 10^-6 by the normal tail


def test_one_class_gives_a_single_leaf() -> None:
    codes = MINED_CODES.copy()
    codes[:, -1] = 0
    sizes = (2, 4, 2, 1)
    tree = grow_tree(sampled(RelatedDesign(sizes, ((0, 1), (2,)), Fraction(3, 4)), codes))
    assert isinstance(tree.root, Leaf)
    assert tree.root.counts == (200.0,)


def test_a_constant_attribute_is_never_worth_a_split_before_others() -> None:
    sizes = (1, 2, 2)
    codes = np.column_stack([np.zeros(200), MINED_CODES[:, 3], MINED_CODES[:, 3]]).astype(np.uint8)
    tree = grow_tree(sampled(RelatedDesign(sizes, ((0, 1), (2,)), Fraction(9, 10)), codes))
    assert isinstance(tree.root, Split)
    assert tree.root.attribute == 1


def test_a_class_in_which_the_estimates_leave_nobody_is_no_error() -> None:
    """Every response says class 0: the estimate of class 0 is above all records, that of class 1 below 0."""
    design = unrelated((2, 2), ((0, 1),), Fraction(1, 4))
    survey = Responses(schema_for((2, 2)), np.zeros((4, 2), dtype=np.uint8), design)
    model = learn_naive_bayes(survey)
    assert np.isneginf(model.prior[1])
    assert model.predict(np.array([[0, 0], [1, 0]], dtype=np.uint8)).tolist() == [0, 0]
    assert np.isfinite(model.shares(np.array([[1, 0]], dtype=np.uint8))).all()


def test_what_does_not_fit_is_refused() -> None:
    for codes, sizes, text in [
        (np.zeros((0, 4)), SIZES, "there are no records to learn from"),
        (np.zeros((3, 4)), (2, 2, 2, 2), "the design is for columns of"),
        (np.zeros((3, 3)), SIZES, "the design has 4 columns, the table 3"),
        (np.full((3, 4), 3), SIZES, "a code outside the design's domains"),
    ]:
        with pytest.raises(InputError, match=text):
            Responses(schema_for(SIZES), codes.astype(np.uint8), RelatedDesign(sizes, (), Fraction(1)))


def test_with_theta_one_or_zero_nothing_is_lost_and_surveys_need_attributes() -> None:
    for design in CERTAIN:
        survey = sampled(design, MINED_CODES)
        assert grow_tree(survey).root == reference_id3(MINED_CODES.tolist(), SIZES[:-1], 2)
    survey = sampled(RelatedDesign((2, 2, 2), ((0, 1, 2),), Fraction(0)), MINED_CODES[:, [0, 2, 3]])
    assert grow_tree(survey).root == reference_id3(MINED_CODES[:, [0, 2, 3]].tolist(), (2, 2), 2)
    for design in CERTAIN:
        for smoothing in (0.0, 1.0):
            model = learn_naive_bayes(sampled(design, MINED_CODES), smoothing)
            engine = PlaintextEngine(schema_for(SIZES), MINED_CODES, MINED_CODES[:0])
            plain = run_alone(fit_naive_bayes(schema_for(SIZES), engine, smoothing))
            assert np.allclose(model.prior, plain.prior)
            for ours, theirs in zip(model.conditional, plain.conditional, strict=True):
                assert np.allclose(np.exp(ours), np.exp(theirs))
    with pytest.raises(InputError, match="attribute to split on"):
        survey_schema(["class"], [("a", "b")])
    survey = sampled(designs()["related, one group"], MINED_CODES)
    assert repr(survey) == "<Responses 200 x 4>"
    sizes, groups = (2, 2), ((0, 1),)
    skewed = (uniform(sizes, groups)[0], (Fraction(9, 10), Fraction(1, 10)))
    design = UnrelatedDesign(sizes, groups, Fraction(1, 2), skewed)
    truth = np.tile(np.array([[0, 0], [1, 1], [1, 1], [1, 1]], dtype=np.uint8), (5000, 1))
    model = learn_naive_bayes(sampled(design, truth))
    assert np.exp(model.prior) == pytest.approx([0.25, 0.75], abs=0.05)


def test_chances_have_the_errors_of_what_records_add_to_them() -> None:
    """To `P(v | c)` a record adds `(f_vc - P(v | c) f_c)/N_c`, by the estimates of single records."""
    for name, smoothing in product(
        ["related, two groups", "unrelated, a plain class", "unrelated, dependent answers"], [0.0, 2.0]
    ):
        design = designs()[name]
        survey = sampled(design, MINED_CODES[:60])
        model, classes = learn_naive_bayes(survey, smoothing), survey.class_counts()
        assert len(model.errors) == 1 + len(SIZES[:-1])
        for label, estimate in enumerate(survey.class_estimates()):
            assert model.errors[0][label] == pytest.approx(estimate.proportion_error, rel=1e-9)
            for column, size in enumerate(SIZES[:-1]):
                cells = [Expression((Term(column, value), Term(len(SIZES) - 1, label))) for value in range(size)]
                added = np.array(
                    [[float(estimate_count(row[None], cell, design).count) for cell in cells] for row in survey.codes]
                )
                total = np.maximum(added.sum(axis=0), 0).sum()
                shares = np.maximum(added.sum(axis=0), 0) / total
                apart = (added - added.sum(axis=1, keepdims=True) * shares) / total
                shrunk = classes[label] / (classes[label] + smoothing * size)
                expected = shrunk * np.sqrt(len(survey) * apart.var(axis=0, ddof=1))
                assert model.errors[1 + column][:, label] == pytest.approx(expected, rel=1e-9)


def test_chances_spread_as_far_as_their_errors_say_which_are_unknown_of_one_record() -> None:
    """Respondents drawn from one population 300 times, 500 at a time; an error of 300 spreads is good to 4 %."""
    design = unrelated((2, 2), ((0,), (1,)), Fraction(3, 4))
    population = np.array([[0, 0]] * 4 + [[1, 0]] * 2 + [[0, 1]] + [[1, 1]] * 3, dtype=np.uint8)
    generator = np.random.default_rng(5)
    models = [
        learn_naive_bayes(sampled(design, population[generator.integers(0, 10, 500)], seed=seed)) for seed in range(300)
    ]
    for found, said in (
        ([np.exp(model.prior) for model in models], [model.errors[0] for model in models]),
        ([np.exp(model.conditional[0]) for model in models], [model.errors[1] for model in models]),
    ):
        assert np.std(found, axis=0) == pytest.approx(np.mean(said, axis=0), rel=0.15)
    design = unrelated((2, 2), ((0,),))
    alone = Responses(schema_for((2, 2)), np.array([[0, 1]], dtype=np.uint8), design)
    assert all(np.isinf(each).all() for each in learn_naive_bayes(alone).errors)
    several = Responses(schema_for((2, 2)), np.array([[0, 1], [1, 1], [0, 1]], dtype=np.uint8), design)
    prior, table = learn_naive_bayes(several).errors
    assert prior.tolist() == [0, 0]
    assert np.isinf(table).tolist() == [[True, False], [True, False]]


MINED_SCHEMA = survey_schema(("drinks", "smokes"), (("yes", "no"), ("yes", "no")))
MINED_TREE = Tree(MINED_SCHEMA, Split((5.0, 5.0), 0, (Leaf((4.0, 1.0), 0), Leaf((2.0, 3.0), 1))))
DESIGN = RelatedDesign((2, 2), ((0,), (1,)), Fraction(4, 5))


def class_entry() -> Entry:
    return entry_of(DESIGN, 1)


def test_rules_have_chances_of_paths_and_preconditions_the_share_that_they_get_right() -> None:
    ((first, second),) = inference_rules(MINED_TREE)
    assert (first.label, first.precondition, first.confidence) == (0, Fraction(1, 2), Fraction(4, 5))
    assert (second.label, second.precondition, second.confidence) == (1, Fraction(1, 2), Fraction(3, 5))
    schema = survey_schema(("a", "b", "c"), (("0", "1"),) * 3)
    useless, telling = np.full((2, 2), 0.5), np.array([[0.75, 0.25], [0.25, 0.75]])
    half = logarithm(np.array([0.5, 0.5]))
    model = NaiveBayes(schema, half, (logarithm(useless), logarithm(telling)))
    entry = entry_of(RelatedDesign((2, 2, 2), ((2,),), Fraction(4, 5)), 2)
    found = privacy_after_mining(inference_rules(model), entry)
    assert float(found.right) == pytest.approx(0.75)
    assert float(found.known) == pytest.approx(8 / 25 - 0.75)
    assert found.rules == 4
    # `PSE(PRE) = 2 * 1/2 * 8/25` of a coin of 4/5 and equal classes; `REC = 1/2 * 4/5 + 1/2 * 3/5`.
    found = privacy_after_mining(inference_rules(MINED_TREE), class_entry())
    assert (found.before, found.right, found.rules) == (Fraction(8, 25), Fraction(7, 10), 2)
    assert found.known == Fraction(8, 25) - Fraction(7, 10)
    assert (found.commonest, found.unknown) == (Fraction(1, 2), None)
    # 3 of 4 and 1 of 2 responses fit the rules, and a response is true with the chance 4/5.
    codes = np.array([[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    found = privacy_after_mining(inference_rules(MINED_TREE), class_entry(), codes)
    assert found.unknown == Fraction(8, 25) - Fraction(4, 5) * (Fraction(3, 4) + Fraction(1, 2))
    assert privacy_after_mining(inference_rules(MINED_TREE), class_entry(), codes[:0]).unknown is None
    empty = Tree(MINED_SCHEMA, Split((5.0, 5.0), 0, (Leaf((5.0, 5.0), 0), Leaf((0.0, 0.0), 0))))
    assert [len(rules) for rules in inference_rules(empty)] == [1]
    with pytest.raises(InputError, match="at least one recoverability"):
        privacy_after_mining(inference_rules(Tree(MINED_SCHEMA, Leaf((0.0, 0.0), 0))), class_entry())
