"""Several data sets with designs of their own, learned from as one: over all coins, their counts are the true ones."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

from protocols.counts import Query
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey.mining import estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree, split_doubts
from protocols.survey.pooled import PooledEstimates, PooledResponses
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import ROOT, Codes, Floats

YES_NO = ("yes", "no")
SCHEMA = survey_schema(("drinks", "smokes"), (YES_NO, YES_NO))
HALF = Fraction(1, 2)
ONE = RelatedDesign((2, 2), ((0, 1),), Fraction(4, 5))
OTHER = UnrelatedDesign((2, 2), ((0,), (1,)), HALF, ((HALF, HALF), (HALF, HALF)))
DIRECT = RelatedDesign((2, 2), (), Fraction(1))
COPYING = Tree(SCHEMA, Split((1.0, 1.0), 0, (Leaf((1.0, 0.0), 0), Leaf((0.0, 1.0), 1))))
RECORDS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def responses(design: Design, truth: tuple[int, int]) -> dict[tuple[int, int], Fraction]:
    """Return the chance of each response to a true record, group by group."""
    found = {}
    for said in RECORDS:
        chance = Fraction(1)
        for k, group in enumerate(design.groups):
            row, column = (sum(r[c] * 2**n for n, c in enumerate(reversed(group))) for r in (said, truth))
            chance *= design.transition(k, group)[row][column]
        found[said] = chance
    return found


def test_over_all_coins_counts_and_correct_predictions_of_two_files_of_one_design_are_those_on_the_truth() -> None:
    truths = ((0, 0), (1, 0))
    for design in (ONE, OTHER):
        mean, right = np.zeros((2, 2)), 0.0
        for (first, p), (second, q) in product(*(responses(design, truth).items() for truth in truths)):
            parts = [Responses(SCHEMA, np.array([said], dtype=np.uint8), design) for said in (first, second)]
            survey, chance = PooledResponses(tuple(parts)), float(p * q)
            (answer,) = survey.estimator().answers([Query(ROOT, (0,), None)])
            mean += chance * answer.tables[0]
            right += chance * 2 * estimate_accuracy(COPYING, survey).share
        assert mean == pytest.approx(np.array([[1, 0], [1, 0]]))
        assert right == pytest.approx(1)


FINE, COARSE = (RelatedDesign((2, 2), ((0,), (1,)), Fraction(theta)) for theta in ("9/10", "11/20"))


def drawn(chance: np.random.Generator, design: Design, records: int) -> Responses:
    """Draw respondents of whom 3 in 10 drink, and whose class is the same in four of five cases."""
    drinks = (chance.random(records) < 0.3).astype(np.uint8)
    codes = np.column_stack([drinks, drinks ^ (chance.random(records) < 0.2)]).astype(np.uint8)
    return Responses(SCHEMA, design.randomize(codes, bulk_draw(chance, records)), design)


def measured(survey: Responses | PooledResponses) -> Floats:
    """Return what is learned from: class counts, a table, accuracy, all as shares."""
    (answer,) = survey.estimator().answers([Query(ROOT, (0,), None)])
    counts = (*survey.class_counts(), *answer.tables[0].ravel())
    return np.array([*(count / len(survey) for count in counts), estimate_accuracy(COPYING, survey).share])


def test_a_file_that_tells_little_makes_nothing_worse() -> None:
    """Mean squared errors of 300 surveys, of a file at 9/10 and of both with four times as many answers at 11/20.

    Added up without weights, the errors of a table would be four times those of the one file.
    """
    chance = np.random.default_rng(14)
    truth = np.array([0.62, 0.38, 0.56, 0.14, 0.06, 0.24, 0.8])
    alone, both, added = [], [], []
    for _ in range(300):
        fine, coarse = drawn(chance, FINE, 400), drawn(chance, COARSE, 1600)
        pooled = PooledResponses((fine, coarse))
        alone.append(measured(fine) - truth)
        both.append(measured(pooled) - truth)
        (first,), (second,) = (each.estimator().answers([Query(ROOT, (0,), None)]) for each in (fine, coarse))
        added.append((first.tables[0] + second.tables[0]).ravel() / 2000 - truth[2:6])
    own, together, sums = (np.mean(np.square(each), axis=0) for each in (alone, both, added))
    assert (together <= 1.01 * own).all()
    assert (sums > 4 * own[2:6]).all()


def test_a_file_whose_records_count_twice_has_four_times_the_noise() -> None:
    chance = np.random.default_rng(4)
    fine, coarse = drawn(chance, FINE, 200), drawn(chance, COARSE, 300)
    query = Query(ROOT, (0,), None)
    (one,), (other,) = (each.estimator().answers([query])[0].noises for each in (fine, coarse))
    (both,) = PooledEstimates((fine, coarse), np.array([2.0, 0.5])).answers([query])[0].noises
    assert both == pytest.approx(4 * one + other / 4)


def test_the_parts_of_a_tree_are_compared_by_the_same_weights() -> None:
    """Counts of a split are those of its branches, or pruning would subtract estimates of two kinds."""
    chance = np.random.default_rng(16)
    both = PooledResponses((drawn(chance, FINE, 500), drawn(chance, COARSE, 500)))
    estimator = both.comparable(COPYING)
    (whole,) = estimator.answers([Query(ROOT, (0,), None)])
    samples = estimator.correct(COPYING)
    assert sum(float(each.sums[0]) for each in samples) == pytest.approx(float(np.trace(whole.tables[0])))


def parts_of(records: Codes, *designs: Design) -> tuple[Responses, ...]:
    chance = np.random.default_rng(7)
    pieces = np.array_split(records, len(designs))
    return tuple(
        Responses(SCHEMA, design.randomize(piece, bulk_draw(chance, len(piece))), design)
        for piece, design in zip(pieces, designs, strict=True)
    )


def test_without_disguise_two_halves_give_what_the_whole_gives() -> None:
    records = np.array(RECORDS * 3 + [(0, 0), (1, 1), (1, 1)] * 5, dtype=np.uint8)
    whole, halves = Responses(SCHEMA, records, DIRECT), PooledResponses(parts_of(records, DIRECT, DIRECT))
    tree = grow_tree(whole)
    assert grow_tree(halves) == tree
    assert prune_tree(tree, halves) == prune_tree(tree, whole)
    mine, all_of_them = (estimate_accuracy(tree, survey) for survey in (halves, whole))
    assert mine.share == pytest.approx(all_of_them.share)
    assert mine.standard_error == pytest.approx(all_of_them.standard_error, rel=0.15)  # about the mean of each half
    models = (learn_naive_bayes(survey, 1.0).conditional for survey in (halves, whole))
    for one, two in zip(*models, strict=True):
        assert one == pytest.approx(two)
    (ours,), (theirs,) = (split_doubts(tree, survey).values() for survey in (halves, whole))
    assert ours.gain == pytest.approx(theirs.gain)
    assert ours.lead_error == pytest.approx(theirs.lead_error, rel=0.15)


def test_errors_of_accuracies_are_those_of_repeated_surveys() -> None:
    """300 surveys of two files: the mean squared error in standard errors squared lies within 6 deviations of 1."""
    chance, ratios = np.random.default_rng(11), []
    for _ in range(300):
        drinks = chance.integers(0, 2, 400)
        records = np.stack([drinks, drinks ^ (chance.random(400) < 0.2)], axis=1).astype(np.uint8)
        halves = np.array_split(records, 2)
        parts = tuple(
            Responses(SCHEMA, design.randomize(half, bulk_draw(chance, len(half))), design)
            for half, design in zip(halves, (ONE, OTHER), strict=True)
        )
        found = estimate_accuracy(COPYING, PooledResponses(parts))
        ratios.append(((found.share - 0.8) / found.standard_error) ** 2)
    assert abs(np.mean(ratios) - 1) < 6 * sqrt(2 / 300)


def test_files_of_other_columns_are_refused() -> None:
    turned = survey_schema(("drinks", "smokes"), (YES_NO, ("no", "yes")))
    codes = np.zeros((2, 2), dtype=np.uint8)
    for parts in ((), (Responses(SCHEMA, codes, ONE), Responses(turned, codes, ONE))):
        with pytest.raises(InputError, match="all columns, and their values, are the same"):
            PooledResponses(parts)
    chance = np.random.default_rng(15)
    fine, coarse = drawn(chance, FINE, 2000), drawn(chance, COARSE, 2000)
    both = PooledResponses((fine, coarse))
    assert estimate_accuracy(COPYING, both).standard_error < estimate_accuracy(COPYING, fine).standard_error
    (alone,), (together,) = (split_doubts(COPYING, survey).values() for survey in (fine, both))
    assert together.lead_error < 1.001 * alone.lead_error


def test_chances_of_two_files_have_smaller_errors_than_those_of_either() -> None:
    chance = np.random.default_rng(3)
    fine, coarse = drawn(chance, FINE, 400), drawn(chance, COARSE, 400)
    both = learn_naive_bayes(PooledResponses((fine, coarse))).errors
    for alone in (learn_naive_bayes(fine).errors, learn_naive_bayes(coarse).errors):
        assert all((ours < theirs).all() for ours, theirs in zip(both, alone, strict=True))
    same = learn_naive_bayes(PooledResponses((fine,))).errors
    for ours, theirs in zip(same, learn_naive_bayes(fine).errors, strict=True):
        assert ours == pytest.approx(theirs)
