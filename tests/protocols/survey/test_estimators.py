"""Estimators, node by node, against the estimates of single expressions and all outcomes, some answers missing."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from protocols.counts import Answer, Query
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey.mining import estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree
from protocols.survey.responses import Responses
from protocols.tables import NO_ANSWER, ROOT, Codes, Expression, Term
from tests.support.cases import correlated
from tests.support.enumeration import disguised_copies, expressions, true_count
from tests.support.examples import few
from tests.support.surveys import RELATED_THETA, SIZES, designs, every_survey, sampled, schema_for, unrelated

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
    for design in few([*designs().values()], 4):
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
    for name in few([*names, "unrelated, dependent answers"], 5):
        design = designs()[name]
        records = SMALL if design.plain else SMALL[:1]
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
    monkeypatch.setattr("protocols.counting.estimated_questions.KEPT_ROWS", 1)
    estimator = survey.estimator()
    estimator.advance(level)
    assert ravel(estimator.answers(queries)) == ravel(expected)
    estimator.advance([level[2] & Term(0, 1)])
    below = Query(level[2] & Term(0, 1), (2,), None)
    assert ravel(estimator.answers([below])) == ravel(whole.answers([below]))
    estimator = sampled(unrelated(SIZES, ((0, 1), (2, 3))), CODES).estimator()
    monkeypatch.setattr("protocols.counting.estimated_questions.MAX_ROWS", 2 * len(estimator.repeats))
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
    for design in few([*designs().values()], 2):
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
