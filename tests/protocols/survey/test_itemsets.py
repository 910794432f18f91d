"""Itemsets over columns of a disguised table: unbiased, with their errors; plain Apriori on what is in the clear."""

from fractions import Fraction
from itertools import combinations, product
from math import inf, log, prod, sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey import itemsets
from protocols.survey.itemsets import column_items, column_rules, estimate_set, mine_columns
from protocols.survey.mining import Accuracy
from protocols.survey.personal_test import BitDesign, accuracy_by_bits, personal_accuracy, personal_share
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import Expression, Term
from tests.support.enumeration import response_tables, true_count

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
    # 60 copies: their deviation is known to 9 %, so half is five of those; an error twice too small is seen.
    codes = np.repeat(TABLE, 700, axis=0)
    design = DESIGNS[0]
    ratios, errors = [], []
    for seed in range(60):
        sent = design.randomize(codes, bulk_draw(np.random.default_rng(seed), len(codes)))
        mined = mine_columns(sent, design, Fraction(1, 4))
        (rule,) = [r for r in column_rules(mined).rules if (r.antecedent, r.consequent) == ((0,), (3,))]
        ratios.append(rule.confidence)
        errors.append(rule.confidence_error)
    assert np.std(ratios) == pytest.approx(np.mean(errors), rel=0.5)
    assert np.mean(ratios) == pytest.approx(1, abs=5 * np.mean(errors) / np.sqrt(60))


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


@pytest.mark.parametrize("truth", ["1", "3/4", "501/1000"])
@pytest.mark.parametrize("found", [(0, 0), (1, 0), (1, 1, 1), (0, 1, 0, 1)])
def test_over_all_coins_the_personal_share_is_the_truth(truth: str, found: tuple[int, ...]) -> None:
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
