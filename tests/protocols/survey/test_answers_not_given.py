"""Answers that are not given: they stay so in the copy, and are left out of the counts that need them alone."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.counts import Query
from protocols.errors import InputError
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
from tests.support.surveys import SIZES, designs, schema_for, unrelated

GROUPS = ((0, 3), (1, 2))
PATHS = [ROOT, ROOT & Term(0, 1), ROOT & Term(2, 0) & Term(1, 3)]


def with_gaps(records: int, seed: int = 4) -> Codes:
    codes = correlated(SIZES, records, seed=seed, flips=0.5)
    gaps = np.random.default_rng(seed).random(codes.shape) < 0.15
    codes[gaps] = NO_ANSWER
    return codes


def given(codes: Codes, expression: Expression) -> Codes:
    answered: Codes = codes[(codes[:, sorted(expression.columns)] != NO_ANSWER).all(axis=1)]
    return answered


def test_over_all_coins_an_estimate_of_those_who_answered_is_their_count() -> None:
    design = RelatedDesign((2, 3, 2), ((0, 2), (1,)), Fraction(9, 20))
    codes = np.array([[1, 2, NO_ANSWER], [NO_ANSWER, 0, 1]], dtype=np.uint8)
    copies = list(disguised_copies(codes, design))
    for expression in expressions(design.sizes):
        truth = true_count(given(codes, expression), expression)
        found = [(estimate_count(given(copy, expression), expression, design), chance) for copy, chance in copies]
        assert sum(chance * estimate.count for estimate, chance in found) == truth
        assert {estimate.records for estimate, _ in found} == {len(given(codes, expression))}


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("design", designs().values(), ids=designs())
def test_a_cell_of_a_node_is_of_those_who_answered_all_of_its_columns(design: Design, path: Expression) -> None:
    codes = with_gaps(60)
    sent = design.randomize(codes, bulk_draw(np.random.default_rng(1), len(codes)))
    estimator = Responses(schema_for(SIZES), sent, design).estimator()
    estimator.advance([path])
    for candidate in set(range(3)) - path.columns:
        (answer,) = estimator.answers([Query(path, (candidate,), None)])
        cells = [[path & Term(candidate, v) & Term(3, c) for c in range(2)] for v in range(SIZES[candidate])]
        expected = [[float(estimate_count(given(sent, e), e, design).count) for e in row] for row in cells]
        assert np.allclose(answer.tables[0], expected, atol=1e-9)
        (found,) = estimator.samples(path, [candidate])
        assert found.sums == pytest.approx(np.ravel(expected), abs=1e-9)


CERTAIN: list[Design] = [RelatedDesign(SIZES, GROUPS, Fraction(1)), unrelated(SIZES, GROUPS, Fraction(1))]


@pytest.mark.parametrize("design", CERTAIN, ids=["related", "unrelated"])
def test_naive_bayes_takes_the_pairs_that_are_given(design: Design) -> None:
    codes = with_gaps(200)
    model = learn_naive_bayes(Responses(schema_for(SIZES), codes, design))
    classes = codes[codes[:, 3] != NO_ANSWER, 3]
    assert np.exp(model.prior) == pytest.approx(np.bincount(classes) / len(classes))
    pairs = given(codes, ROOT & Term(1, 0) & Term(3, 0))
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
        whole = given(codes, ROOT & Term(0, 0) & Term(3, 0))
        found = estimate_accuracy(stump, Responses(schema_for(SIZES), codes, design))
        assert found.records == len(whole) < 100
        assert found.share == pytest.approx((whole[:, 0] == whole[:, 3]).mean())
    codes = with_gaps(20)
    codes[:, 3] = NO_ANSWER
    with pytest.raises(InputError, match="no record has an answer in all columns that are needed together"):
        grow_tree(Responses(schema_for(SIZES), codes, CERTAIN[0]))
