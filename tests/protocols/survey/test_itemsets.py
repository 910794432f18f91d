"""Itemsets over columns of a disguised table: unbiased, with their errors; plain Apriori on what is in the clear."""

from fractions import Fraction
from itertools import combinations, product
from math import inf, log, prod, sqrt

import numpy as np
import pytest

from protocols.counts import Query
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey import itemsets
from protocols.survey.itemsets import column_items, column_rules, estimate_set, mine_columns
from protocols.survey.mining import (
    Accuracy,
    BitDesign,
    accuracy_by_bits,
    estimate_accuracy,
    grow_tree,
    learn_naive_bayes,
    personal_accuracy,
    personal_share,
    prune_tree,
    split_doubts,
)
from protocols.survey.pooled import PooledEstimates, PooledResponses
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import ROOT, Codes, Expression, Floats, Term
from tests.support.enumeration import response_tables, true_count
from tests.support.examples import few

TABLE = np.array([[0, 1, 0], [0, 1, 1], [1, 2, 1]], dtype=np.uint8)
DESIGNS = (
    RelatedDesign((2, 3, 2), ((0,), (1,)), Fraction(4, 5)),
    RelatedDesign((2, 3, 2), ((0, 2),), Fraction(3, 5)),
    UnrelatedDesign((2, 3, 2), ((1,),), Fraction(2, 3), ((), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), ())),
)


def test_over_all_outcomes_a_set_has_the_truth_for_mean_and_its_variance_for_spread() -> None:
    for design in DESIGNS:
        for terms in [(Term(0, 0),), (Term(0, 0), Term(1, 1)), (Term(1, 2), Term(2, 1))]:
            mean = square = told = 0.0
            for table, chance in response_tables(TABLE, design):
                found = estimate_set(table, design, terms)
                assert found is not None
                mean += float(chance) * found.share
                square += float(chance) * found.share**2
                told += float(chance) * found.variance
            assert mean == pytest.approx(true_count(TABLE, Expression(terms)) / 3)
            assert told == pytest.approx(square - mean**2)


def test_a_plain_table_gives_plain_sets_and_rules_with_the_delta_method_s_error() -> None:
    chance = np.random.default_rng(1)
    codes = np.column_stack([chance.integers(size, size=60) for size in (2, 3, 2)]).astype(np.uint8)
    design = RelatedDesign((2, 3, 2), (), Fraction(1))
    mined = mine_columns(codes, design, Fraction(1, 10))
    expected = {
        terms: true_count(codes, Expression(terms)) / 60
        for k in (1, 2, 3)
        for columns in combinations(range(3), k)
        for values in product(*(range(design.sizes[column]) for column in columns))
        if true_count(codes, Expression(terms := tuple(map(Term, columns, values)))) >= 6
    }
    assert {known.terms: known.share for known in mined.sets} == pytest.approx(expected)
    items = column_items(design)
    rules = column_rules(mined)
    assert rules.undefined == 0
    assert len(rules.rules) == sum(2 ** len(terms) - 2 for terms in expected if len(terms) > 1)
    for rule in rules.rules:
        first, both = ([items[item] for item in part] for part in (rule.antecedent, rule.antecedent + rule.consequent))
        share = true_count(codes, Expression(tuple(both))) / true_count(codes, Expression(tuple(first)))
        assert rule.confidence == pytest.approx(share)
        assert rule.confidence_error == pytest.approx(0, abs=1e-6)
    # 40 copies: their deviation is known to 11 %, so half is four of those; an error twice too small is seen.
    codes = np.repeat(TABLE, 300, axis=0)
    design = DESIGNS[0]
    ratios, errors = [], []
    for seed in range(40):
        sent = design.randomize(codes, bulk_draw(np.random.default_rng(seed), len(codes)))
        mined = mine_columns(sent, design, Fraction(1, 4), 2)
        (rule,) = [r for r in column_rules(mined).rules if (r.antecedent, r.consequent) == ((0,), (3,))]
        ratios.append(rule.confidence)
        errors.append(rule.confidence_error)
    assert np.std(ratios) == pytest.approx(np.mean(errors), rel=0.5)
    assert np.mean(ratios) == pytest.approx(1, abs=5 * np.mean(errors) / np.sqrt(40))


def test_answers_not_given_are_left_out_of_the_sets_that_need_them() -> None:
    design = RelatedDesign((2, 2), ((0,),), Fraction(9, 10))
    codes = np.array([[0, 0], [0, 255], [255, 0], [0, 0]], dtype=np.uint8)
    both = estimate_set(codes, design, (Term(0, 0), Term(1, 0)))
    assert both is not None
    assert both.share == pytest.approx(float(prod([Fraction(9, 8)])))  # (1 - 1/10)/(4/5) of the two who gave both
    assert estimate_set(codes[1:3], design, (Term(0, 0), Term(1, 0))) is None


def test_what_is_exactly_at_a_threshold_reaches_it_and_what_is_below_it_by_however_little_does_not() -> None:
    design = DESIGNS[0]
    codes = design.randomize(np.repeat(TABLE, 100, axis=0), bulk_draw(np.random.default_rng(5), 300))
    least = Fraction(1, 10**30)
    mined = mine_columns(codes, design, Fraction(1, 10))
    for known in (each for each in mined.sets if len(each.terms) == 1):  # of more, a subset may be below
        assert known in mine_columns(codes, design, known.share).sets
        assert known not in mine_columns(codes, design, known.share + least).sets
    rules = column_rules(mined)
    for place, rule in enumerate(rules.rules):
        both, first, _ = rules.exact(rule)
        assert rules.reached("confidence", both / first)[place]
        assert not rules.reached("confidence", both / first + least)[place]


def test_arguments_out_of_range_no_records_and_too_many_candidates_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for support, longest, problem in (
        (Fraction(0), None, "min_support must be above 0"),
        (Fraction(2), None, "min_support must be above 0"),
        (Fraction(1, 2), 0, "max_len must be 1 or more"),
    ):
        with pytest.raises(InputError, match=problem):
            mine_columns(TABLE, DESIGNS[0], support, longest)
    design = RelatedDesign((2, 2), ((0,), (1,)), Fraction(11, 20))
    codes = np.zeros((50, 2), dtype=np.uint8)
    mined = mine_columns(codes, design, Fraction(1, 10))
    assert (mined.sets, mined.noisy) == ((), 4)
    assert column_rules(mined).rules == ()
    with pytest.raises(InputError, match="no records to mine"):
        mine_columns(TABLE[:0], DESIGNS[0], Fraction(1, 2))
    monkeypatch.setattr(itemsets, "MAX_CANDIDATE_SETS", 6)
    with pytest.raises(InputError, match="7 candidates of one size"):
        mine_columns(TABLE, DESIGNS[0], Fraction(1, 2))


YES_NO = ("yes", "no")
SCHEMA = survey_schema(("smokes", "coughs"), (YES_NO, YES_NO))
HALF = Fraction(1, 2)
DESIGN = UnrelatedDesign((2, 2), ((0, 1),), Fraction(2, 3), ((HALF, HALF), (HALF, HALF)))
COPYING = Tree(SCHEMA, Split((2.0, 2.0), 0, (Leaf((2.0, 0.0), 0), Leaf((0.0, 2.0), 1))))


def right(record: tuple[int, int]) -> int:
    return int(record[0] == record[1])


def test_over_all_coins_the_personal_share_is_the_truth() -> None:
    for truth, found in product(["1", "3/4", "501/1000"], [(0, 0), (1, 0), (1, 1, 1), (0, 1, 0, 1)]):
        design, mean = BitDesign(Fraction(truth)), Fraction(0)
        for coins in product(range(len(design.coin)), repeat=len(found)):
            chance = prod((design.coin[coin] for coin in coins), start=Fraction(1))
            said = sum(bit if coin == 0 else 1 - bit for bit, coin in zip(found, coins, strict=True))
            mean += chance * personal_share(said, len(found), design)
        assert mean == Fraction(sum(found), len(found))


@pytest.mark.parametrize("truth", ["1", "3/4"])
def test_over_all_samples_and_coins_the_squared_error_is_the_variance(truth: str) -> None:
    """Four respondents of a population of whom 3/10 have records that the model is right about."""
    design, share = BitDesign(Fraction(truth)), Fraction(3, 10)
    says = share * design.truth + (1 - share) * (1 - design.truth)
    spread = told = Fraction(0)
    for said in range(5):
        chance = Fraction([1, 4, 6, 4, 1][said]) * says**said * (1 - says) ** (4 - said)
        spread += chance * (personal_share(said, 4, design) - share) ** 2
        told += chance * Fraction(personal_accuracy(said, 4, design).standard_error ** 2)
    assert float(told) == pytest.approx(float(spread), rel=1e-9)


TRUE = {(0, 0): Fraction(1, 2), (0, 1): Fraction(1, 4), (1, 1): Fraction(1, 4)}
"""Private records: the model is right about 3/4."""
PERSONAL = {(0, 0): Fraction(1, 2), (1, 0): Fraction(1, 2)}
"""Personal records, whose columns are *not* independent of each other, as no declared product says."""


def test_over_all_outcomes_of_two_people_the_accuracy_is_the_private_one_and_its_error_no_less_than_it_is() -> None:
    """Everybody answers and returns a bit: what both share only makes the estimate better than it says."""
    people = [
        (chance * other * coin * bit, response, right(personal) if true_bit else 1 - right(personal))
        for private, chance in TRUE.items()
        for personal, other in PERSONAL.items()
        for response, coin in ((private, DESIGN.theta), (personal, 1 - DESIGN.theta))
        for true_bit, bit in ((True, Fraction(3, 4)), (False, Fraction(1, 4)))
    ]
    design, mean, square, told = BitDesign(Fraction(3, 4)), 0.0, 0.0, 0.0
    for pair in product(people, repeat=2):
        chance = float(pair[0][0] * pair[1][0])
        codes = np.array([response for _, response, _ in pair], dtype=np.uint8)
        personal = personal_accuracy(sum(bit for *_, bit in pair), 2, design)
        found = accuracy_by_bits(COPYING, Responses(SCHEMA, codes, DESIGN), personal)
        mean, square = mean + chance * found.share, square + chance * found.share**2
        told += chance * found.standard_error**2
    assert mean == pytest.approx(0.75)
    shared = 2 * (1 / 3) * (1 / 3) * float(HALF * HALF) / 2 / (2 / 3) ** 2
    assert told - (square - mean**2) == pytest.approx(shared)


def test_the_accuracy_of_bits_is_the_papers_formula_and_a_bit_of_one_has_no_error() -> None:
    """Of 6 responses 4 are right: `(4/6 - 1/3 * 1/2)/(2/3) = 3/4`."""
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.uint8)
    personal = Accuracy(0.5, 0.06, 100)
    found = accuracy_by_bits(COPYING, Responses(SCHEMA, codes, DESIGN), personal)
    assert found.share == pytest.approx(0.75)
    own = sqrt(4 / 6 * 2 / 6 / 5)
    assert found.standard_error == pytest.approx(sqrt(own**2 + 0.02**2) / (2 / 3))
    assert personal_accuracy(1, 1, BitDesign(Fraction(1))) == Accuracy(1.0, inf, 1)
    with pytest.raises(InputError, match="nobody"):
        personal_accuracy(0, 0, BitDesign(Fraction(1)))
    one = Responses(SCHEMA, np.zeros((1, 2), dtype=np.uint8), DESIGN)
    assert accuracy_by_bits(COPYING, one, Accuracy(0.5, 0.1, 9)).standard_error == inf
    for truth in ("1/2", "1/4", "0", "3/2", "500000001/1000000001"):
        with pytest.raises(InputError, match="above 1/2"):
            BitDesign(Fraction(truth))
    assert BitDesign(Fraction(3, 4)).loss == pytest.approx(log(3))
    assert BitDesign(Fraction(1)).loss == inf


def test_what_is_not_one_group_of_unrelated_questions_is_refused() -> None:
    for design in [
        RelatedDesign((2, 2), ((0, 1),), Fraction(2, 3)),
        UnrelatedDesign((2, 2), ((0,), (1,)), Fraction(2, 3), ((HALF, HALF), (HALF, HALF))),
        UnrelatedDesign((2, 2), ((1,),), Fraction(2, 3), ((), (HALF, HALF))),
    ]:
        survey = Responses(SCHEMA, np.zeros((3, 2), dtype=np.uint8), design)
        with pytest.raises(InputError, match="one group of unrelated questions"):
            accuracy_by_bits(COPYING, survey, Accuracy(0.5, 0.1, 9))


POOLED_SCHEMA = survey_schema(("drinks", "smokes"), (YES_NO, YES_NO))
ONE = RelatedDesign((2, 2), ((0, 1),), Fraction(4, 5))
OTHER = UnrelatedDesign((2, 2), ((0,), (1,)), HALF, ((HALF, HALF), (HALF, HALF)))
DIRECT = RelatedDesign((2, 2), (), Fraction(1))
POOLED_COPYING = Tree(POOLED_SCHEMA, Split((1.0, 1.0), 0, (Leaf((1.0, 0.0), 0), Leaf((0.0, 1.0), 1))))
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
            parts = [Responses(POOLED_SCHEMA, np.array([said], dtype=np.uint8), design) for said in (first, second)]
            survey, chance = PooledResponses(tuple(parts)), float(p * q)
            (answer,) = survey.estimator().answers([Query(ROOT, (0,), None)])
            mean += chance * answer.tables[0]
            right += chance * 2 * estimate_accuracy(POOLED_COPYING, survey).share
        assert mean == pytest.approx(np.array([[1, 0], [1, 0]]))
        assert right == pytest.approx(1)


FINE, COARSE = (RelatedDesign((2, 2), ((0,), (1,)), Fraction(theta)) for theta in ("9/10", "11/20"))


def drawn(chance: np.random.Generator, design: Design, records: int) -> Responses:
    """Draw respondents of whom 3 in 10 drink, and whose class is the same in four of five cases."""
    drinks = (chance.random(records) < 0.3).astype(np.uint8)
    codes = np.column_stack([drinks, drinks ^ (chance.random(records) < 0.2)]).astype(np.uint8)
    return Responses(POOLED_SCHEMA, design.randomize(codes, bulk_draw(chance, records)), design)


def measured(survey: Responses | PooledResponses) -> Floats:
    """Return what is learned from: class counts, a table, accuracy, all as shares."""
    (answer,) = survey.estimator().answers([Query(ROOT, (0,), None)])
    counts = (*survey.class_counts(), *answer.tables[0].ravel())
    return np.array([*(count / len(survey) for count in counts), estimate_accuracy(POOLED_COPYING, survey).share])


def test_a_file_that_says_little_makes_nothing_worse() -> None:
    """Mean squared errors of 300 surveys, or a sixth, of a file at 9/10 and of both with four times as many at 11/20.

    Added up without weights, the errors of a table would be four times those of the one file.
    """
    chance = np.random.default_rng(14)
    truth = np.array([0.62, 0.38, 0.56, 0.14, 0.06, 0.24, 0.8])
    alone, both, added = [], [], []
    for _ in few(range(300), 6):
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
    estimator = both.comparable(POOLED_COPYING)
    (whole,) = estimator.answers([Query(ROOT, (0,), None)])
    samples = estimator.correct(POOLED_COPYING)
    assert sum(float(each.sums[0]) for each in samples) == pytest.approx(float(np.trace(whole.tables[0])))


def parts_of(records: Codes, *designs: Design) -> tuple[Responses, ...]:
    chance = np.random.default_rng(7)
    pieces = np.array_split(records, len(designs))
    return tuple(
        Responses(POOLED_SCHEMA, design.randomize(piece, bulk_draw(chance, len(piece))), design)
        for piece, design in zip(pieces, designs, strict=True)
    )


def test_without_disguise_two_halves_give_what_the_whole_gives() -> None:
    records = np.array(RECORDS * 3 + [(0, 0), (1, 1), (1, 1)] * 5, dtype=np.uint8)
    whole, halves = Responses(POOLED_SCHEMA, records, DIRECT), PooledResponses(parts_of(records, DIRECT, DIRECT))
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
    """200 surveys of two files: the mean squared error in standard errors squared lies within 6 deviations of 1."""
    chance, ratios = np.random.default_rng(11), []
    for _ in range(200):
        drinks = chance.integers(0, 2, 400)
        records = np.stack([drinks, drinks ^ (chance.random(400) < 0.2)], axis=1).astype(np.uint8)
        halves = np.array_split(records, 2)
        parts = tuple(
            Responses(POOLED_SCHEMA, design.randomize(half, bulk_draw(chance, len(half))), design)
            for half, design in zip(halves, (ONE, OTHER), strict=True)
        )
        found = estimate_accuracy(POOLED_COPYING, PooledResponses(parts))
        ratios.append(((found.share - 0.8) / found.standard_error) ** 2)
    assert abs(np.mean(ratios) - 1) < 6 * sqrt(2 / 200)


def test_files_of_other_columns_are_refused() -> None:
    turned = survey_schema(("drinks", "smokes"), (YES_NO, ("no", "yes")))
    codes = np.zeros((2, 2), dtype=np.uint8)
    for parts in ((), (Responses(POOLED_SCHEMA, codes, ONE), Responses(turned, codes, ONE))):
        with pytest.raises(InputError, match="all columns, and their values, are the same"):
            PooledResponses(parts)
    chance = np.random.default_rng(15)
    fine, coarse = drawn(chance, FINE, 2000), drawn(chance, COARSE, 2000)
    both = PooledResponses((fine, coarse))
    assert (
        estimate_accuracy(POOLED_COPYING, both).standard_error < estimate_accuracy(POOLED_COPYING, fine).standard_error
    )
    (alone,), (together,) = (split_doubts(POOLED_COPYING, survey).values() for survey in (fine, both))
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
