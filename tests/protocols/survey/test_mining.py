"""What is learned of a survey: trees, doubts of splits, naive Bayes and accuracies, with their errors."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Query
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
from protocols.tables import ROOT, Codes, Expression, Term
from protocols.terms import Growth, Impurity
from tests.protocols.survey.test_estimators import CERTAIN
from tests.support.binomial import ShareTest
from tests.support.cases import correlated
from tests.support.examples import few
from tests.support.plain import reference_id3
from tests.support.surveys import HALF, SIZES, designs, every_survey, sampled, schema_for, uniform, unrelated

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


@pytest.mark.parametrize("design", few(DESIGNS, 2), ids=repr)
def test_errors_are_those_of_repeated_surveys(design: Design) -> None:
    """600 surveys, or a third: the spread of the lead against its stated errors.

    The ratio of a sample variance to the true one has a standard deviation of `sqrt(2/599)` = 0.06, or 0.1: three
    tenths are three of them at least, and the seed is fixed.
    """
    generator = np.random.default_rng(17)
    found = []
    for _ in few(range(600), 3):
        truth = population(2_000, generator)
        survey = Responses(SCHEMA, design.randomize(truth, bulk_draw(generator, len(truth))), design)
        found.append(split_doubts(STUMP, survey)[ROOT])
    leads = np.array([d.lead for d in found])
    assert np.mean([d.lead_error**2 for d in found]) == pytest.approx(leads.var(ddof=1), rel=0.3)


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
    """At a level of 5 %, of 200 surveys: false once in a thousand, and a test that alarms in 20 % is seen.

    The errors are normal as far as 800 records go, so 6 % is allowed for.
    """
    test = ShareTest(200, Fraction(6, 100), 1e-3)
    assert test.power(Fraction(20, 100)) > 0.99
    for design, path in few([*NOTHING.values()], 2):
        hits = sum(chance <= 0.05 for chance in chances_of(design, path, 200, 0.0, seed=len(path.terms)))
        assert hits <= test.high


def test_of_many_attributes_that_tell_nothing_the_best_is_marked_as_often_as_the_level_says() -> None:
    """400 surveys of ten attributes, or 40: the split by the best of them is called clear in 5 % of them at most.

    Were it judged as if it were the only one, it would be called so in 40 %.
    """
    sizes, chance, clear = (2,) * 11, np.random.default_rng(9), 0
    schema, design = schema_for(sizes), RelatedDesign(sizes, tuple((c,) for c in range(11)), Fraction(7, 10))
    surveys = few(range(400), 10)
    for _ in surveys:
        truth = chance.integers(0, 2, (600, 11)).astype(np.uint8)
        survey = Responses(schema, design.randomize(truth, bulk_draw(chance, 600)), design)
        tree = grow_tree(survey, Growth(max_depth=1))
        clear += any(doubt.chance <= 0.05 for doubt in split_doubts(tree, survey).values())
    test = ShareTest(len(surveys), Fraction(5, 100), 1e-3)
    assert test.power(Fraction(40, 100)) > 0.99
    assert clear <= test.high


def test_noise_alone_is_seldom_called_more_and_much_is_seen() -> None:
    """Where four in five have their class from it, nine of ten surveys say so at a level of 5 %."""
    hits = sum(chance <= 0.05 for chance in chances_of(*NOTHING["two values"], 80, 0.8, seed=5))
    assert hits >= ShareTest(80, Fraction(9, 10), 1e-6).low
    for statistic, freedom, chance in CHI_SQUARE:
        assert chi_square_tail(statistic, freedom) == pytest.approx(chance, rel=1e-4)


MINED_CODES = correlated(SIZES, 200, seed=5, flips=0.4)


MINED_STUMP = Tree(schema_for((2, 2)), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))


@pytest.mark.parametrize("kind", few(["related", "unrelated"], 2))
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


@pytest.mark.parametrize("design", few(DISGUISED_CLASS, 2), ids=repr)
def test_the_prior_is_the_unbiased_estimate_and_projected_only_where_that_has_less_than_nobody(design: Design) -> None:
    """Over all outcomes: the mean of the estimate is the truth, exactly; prior and root are it wherever they can be."""
    codes = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    classes = range(design.sizes[-1])
    mean = [Fraction(0) for _ in classes]
    projected = 0
    every = list(every_survey(design, codes))
    learned = {id(survey) for survey, _ in few(every, 9)}
    for survey, chance in every:
        counts = [estimate_count(survey.codes, Expression().child(1, c), design).count for c in classes]
        mean = [total + chance * count for total, count in zip(mean, counts, strict=True)]
        negative = min(counts) < 0
        projected += negative
        positive = [max(count, Fraction(0)) for count in counts]
        own = counts if not negative else [3 * count / sum(positive) for count in positive]
        assert survey.class_counts() == tuple(map(float, own))
        if id(survey) in learned:
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
    for name, kind in few([*product(["one group", "two groups", "a plain class"], ["unrelated", "related"])], 3):
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
    names = ["related, two groups", "unrelated, a plain class", "unrelated, dependent answers"]
    for name, smoothing in few([*product(names, [0.0, 2.0])], 3):
        design = designs()[name]
        survey = sampled(design, MINED_CODES[:30])
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
    """Respondents drawn from one population 100 times, 500 at a time; an error of 100 spreads is good to 7 %."""
    design = unrelated((2, 2), ((0,), (1,)), Fraction(3, 4))
    population = np.array([[0, 0]] * 4 + [[1, 0]] * 2 + [[0, 1]] + [[1, 1]] * 3, dtype=np.uint8)
    generator = np.random.default_rng(5)
    models = [
        learn_naive_bayes(sampled(design, population[generator.integers(0, 10, 500)], seed=seed)) for seed in range(100)
    ]
    for found, said in (
        ([np.exp(model.prior) for model in models], [model.errors[0] for model in models]),
        ([np.exp(model.conditional[0]) for model in models], [model.errors[1] for model in models]),
    ):
        assert np.std(found, axis=0) == pytest.approx(np.mean(said, axis=0), rel=0.2)
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
