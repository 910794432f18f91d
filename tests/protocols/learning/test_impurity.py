"""Entropy, gain and Gini: known values, what they can be, and the same in whole numbers."""

import json
from fractions import Fraction
from itertools import product
from math import ceil, exp, floor, log, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer
from protocols.errors import InputError
from protocols.learning.impurity import TIE, entropy, gain, gini, merit, merit_gradient
from protocols.learning.merit import CANNOT, estimated_merits, merits
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes
from protocols.learning.routes import Contest
from protocols.learning.whole import (
    ERROR,
    GINI_BITS,
    MOST_GINI_RECORDS,
    SCALE_BITS,
    SLOPES,
    Gini,
    entropy_part,
    mixture,
    mixture_bits,
    whole_merit,
)
from protocols.role import run_alone
from protocols.tables import Codes, Rows, Schema
from protocols.terms import TO_THE_END, Growth, Impurity
from tests.support.examples import few
from tests.support.models import bayes_models, bayes_of
from tests.support.plain import FixedTables, schema_of


def test_entropy_of_powers_of_two_is_exact() -> None:
    for counts, bits in [
        ([1, 1], 1.0), ([5, 5, 5, 5], 2.0), ([2, 1, 1], 1.5), ([8, 4, 2, 1, 1], 1.875), ([7, 0], 0.0), ([0, 0], 0.0),
        ([], 0.0), ([3], 0.0),
    ]:  # fmt: skip
        assert entropy(counts) == bits
        assert str(entropy(counts)) != "-0.0"


def test_gain_of_powers_of_two_is_exact() -> None:
    for table, bits in [
        ([[4, 0], [0, 4]], 1.0), ([[2, 2], [2, 2]], 0.0), ([[2, 0], [2, 0]], 0.0), ([[0, 0], [3, 3]], 0.0),
        ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], 1.5), ([[2, 2], [4, 0]], entropy([6, 2]) - 0.5),
        ([[0, 0], [0, 0]], 0.0),
    ]:  # fmt: skip
        assert gain(table) == bits


def rows_of(classes: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, 10**6), min_size=classes, max_size=classes)
    return st.lists(row, min_size=1, max_size=5)


TABLES = st.integers(1, 5).flatmap(rows_of)


@given(TABLES)
def test_a_gain_is_between_zero_and_the_entropy_of_the_class(table: list[list[int]]) -> None:
    """Apart from rounding."""
    assert -TIE < gain(table) < entropy(np.sum(table, axis=0)) + TIE
    assert gain(table) < log2(len(table[0])) + TIE


@given(TABLES)
def test_rescaling_does_not_change_a_gain(table: list[list[int]]) -> None:
    assert gain(np.array(table) * 8.0) == gain(table)


def estimated(table: Any, growth: Growth = TO_THE_END, records: float = 1.0) -> float:
    ((value,),) = estimated_merits([Answer((np.array(table),))], [records], growth)
    return value


def test_gain_ratio_and_decrease_of_ginis_index_of_powers_of_two_are_exact() -> None:
    """An attribute of which one value has all records has a split information of 0, and no ratio."""
    for table, ratio, decrease in [
        ([[4, 0], [0, 4]], 1.0, 0.5), ([[2, 2], [2, 2]], 0.0, 0.0), ([[0, 0], [3, 3]], 0.0, 0.0),
        ([[0, 0], [0, 0]], 0.0, 0.0), ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], 1.0, 0.5),
        ([[2, 0], [0, 2], [2, 0], [0, 2]], 0.5, 0.5),
    ]:  # fmt: skip
        assert merit(table, Impurity.GAIN_RATIO) == ratio
        assert merit(table, Impurity.GINI) == decrease


@pytest.mark.parametrize("impurity", Impurity)
@given(table=TABLES)
def test_no_merit_is_below_nothing_or_above_the_most(impurity: Impurity, table: list[list[int]]) -> None:
    classes = len(table[0])
    most = {Impurity.INFORMATION_GAIN: log2(classes), Impurity.GINI: 1 - 1 / classes, Impurity.GAIN_RATIO: 1.0}
    assert -TIE < merit(table, impurity) < most[impurity] + TIE


def test_small_branches_split_nothing_and_only_attributes_of_average_gain_compete() -> None:
    table = [[4.0, -3.0], [-0.5, 6.0]]
    assert estimated(table, Growth(min_leaf=8), 20.0) == estimated(table) != 0.0
    assert estimated(table, Growth(min_leaf=9), 20.0) == CANNOT
    assert estimated([[4.0, -3.0], [-0.5, 4.0]]) == 1.0
    assert estimated([[-1.0, -3.0], [-0.5, -4.0]]) == 0.0
    # The derivative by a cell of 1e-16 records would be that of a logarithm near 0.
    for impurity in Impurity:
        exact, rounded = [[4.0, 0.0], [2.0, 3.0]], [[4.0, 1e-16], [2.0, 3.0]]
        assert merit_gradient(rounded, impurity).tolist() == merit_gradient(exact, impurity).tolist()
        assert estimated(rounded, Growth(impurity=impurity)) == estimated(exact, Growth(impurity=impurity))
    # The first parts one record of 64 off, whose class is the rare one: little gain, by far the largest ratio.
    narrow, wide = [[1, 0], [31, 32]], [[28, 4], [4, 28]]
    assert merit(narrow, Impurity.GAIN_RATIO) < merit(wide, Impurity.GAIN_RATIO)
    tables = tuple(np.array(table) for table in ([[2, 0], [6, 56]], [[7, 25], [1, 31]], [[6, 20], [2, 36]]))
    ratios = [float(whole_merit(table, Impurity.GAIN_RATIO, 64)) for table in tables]
    growth = Growth(impurity=Impurity.GAIN_RATIO)
    (values,) = merits([Answer(tables)], 64, growth, [1, 1])
    gains = [float(gain(table)) for table in tables]
    mean = sum(gains) / 3
    assert values == [ratio if value >= mean else 0.0 for ratio, value in zip(ratios, gains, strict=True)]
    assert 0.0 in values
    strong, weak = np.array([[4, 0], [0, 28]]), np.array([[16, 2], [14, 0]])
    growth = Growth(min_leaf=5, impurity=Impurity.GAIN_RATIO)
    assert merits([Answer((strong, weak))], 32, growth, [1, 1]) == [
        [CANNOT, float(whole_merit(weak, Impurity.GAIN_RATIO, 32))]
    ]


LEAST_SLOPE = 1480 / 1024  # which all slopes are less


@pytest.mark.parametrize("most", [2**10, 2**16, 2**20, 2**30])
def test_no_number_departs_more_than_its_share(most: int) -> None:
    numbers = np.arange(1, most + 1) if most <= 2**20 else np.random.default_rng(1).integers(1, most, 10**6)
    exact = numbers * np.log2(numbers) - LEAST_SLOPE * numbers
    off = np.abs(entropy_part(numbers) / 2**SCALE_BITS - exact) / numbers
    assert ERROR / 2 < off.max() < ERROR


@pytest.mark.parametrize("classes", [1, 2, 4])
def test_the_least_mixture_has_the_highest_gain_but_for_near_ties(classes: int) -> None:
    rng, records = np.random.default_rng(classes), 2000
    columns = rng.multinomial(records, rng.dirichlet(np.ones(3 * classes)), 50).reshape(-1, 3, classes)
    label_sums = columns.sum(-2)
    mixtures = mixture(columns) / 2**SCALE_BITS
    for table, total, value in zip(columns, label_sums, mixtures, strict=True):
        whole = records * log2(records) - sum(n * log2(n) for n in total.tolist() if n)
        assert value == pytest.approx(whole - records * float(gain(table)), abs=(classes + 1) * ERROR * records)


@pytest.mark.parametrize(("records", "off"), [(300, 2e-5), (2**18, 2e-5), (2**20, 5e-4), (MOST_GINI_RECORDS, 4e-3)])
def test_no_inverse_is_above_the_exact_one_and_few_are_much_below(records: int, off: float) -> None:
    law, sizes = Gini(records), np.arange(1, records + 1, 1 + records // 2**20)
    products = law.inverse(sizes) * sizes
    one = 1 << 2 * law.top + law.slope_bits
    assert products.max() < one
    assert off / 2 < 1 - products.min() / one < off
    assert law.inverse(0) == 0


@pytest.mark.parametrize("classes", [2, 3])
def test_gini_in_whole_numbers_is_that_of_fractions_but_for_what_is_dropped(classes: int) -> None:
    law = Gini(600, classes)
    for table in np.random.default_rng(classes).integers(0, 40, (200, 4, classes)).tolist():
        exact = sum(_gini_of(row) for row in table)
        line = [Fraction(int(law.inverse(sum(row))), 1 << 2 * law.top + law.slope_bits) for row in table]
        value = sum(_gini_of(row) * sum(row) * each for row, each in zip(table, line, strict=True))
        whole = int(law.mixture(table))
        assert whole == floor(value * 2**GINI_BITS)
        assert exact * (1 - Fraction(2, 10**5)) - Fraction(1, 2**GINI_BITS) < Fraction(whole, 2**GINI_BITS) <= exact
        assert float(exact) == pytest.approx(sum(sum(row) * float(gini(row)) for row in table) / 2)


def _gini_of(row: list[int]) -> Fraction:
    """Half of what Gini's index is worth: pairs of records of two classes, over how many records there are."""
    pairs = sum(a * b for at, a in enumerate(row) for b in row[:at])
    return Fraction(pairs, max(1, sum(row)))


def test_the_range_of_change_bounds_what_a_record_moves() -> None:
    """Before a sum's last bits are dropped; what they do then is bounded by whole units, and reached by none here."""
    for records in (1, 2, 7, 40, 300):
        law = Gini(records)
        inverse = law.inverse(np.arange(records + 1)).tolist()
        changes = [
            (x + 1) * (n - x) * inverse[n + 1] - x * (n - x) * inverse[n] for n in range(records) for x in range(n + 1)
        ]
        unit = 1 << law.dropped
        assert law.change * 2**GINI_BITS == ceil(Fraction(max(changes), unit)) - floor(Fraction(min(changes), unit))
    # From every small table of two branches, from any cell to any other.
    law = Gini(12)
    tables = list(product(range(5), repeat=4))
    worth = dict(zip(tables, law.mixture(np.array(tables).reshape(-1, 2, 2)).tolist(), strict=True))
    largest = 0
    for cells in product(range(4), repeat=4):
        for origin, target in product(range(4), repeat=2):
            if cells[origin]:
                moved = tuple(n - (at == origin) + (at == target) for at, n in enumerate(cells))
                largest = max(largest, abs(worth[moved] - worth[cells]))
    assert largest <= law.change * 2**GINI_BITS
    assert largest > 2**GINI_BITS / 2
    for records in few([2**19, 26049, MOST_GINI_RECORDS], 3):
        law = Gini(records)
        assert Fraction(999, 1000) < law.change <= Fraction(9, 8)
        if records <= 2**19:
            assert law.change <= 1 + Fraction(1, 2**GINI_BITS)


def test_numbers_fit_at_the_extremes() -> None:
    values = entropy_part([0, 1, 2, 4]) / 2**SCALE_BITS
    for value, wanted in zip(values, (0, 0 - LEAST_SLOPE, 2 - 2 * LEAST_SLOPE, 8 - 4 * LEAST_SLOPE), strict=True):
        assert value == pytest.approx(wanted, abs=4 * ERROR)
    assert entropy_part(0) == 0
    assert (int(SLOPES.min()), int(SLOPES.max())) == (0, 1020)
    for classes in (1, 2, 5):
        even = np.full((1, classes), 7)
        pure = np.diag(np.full(classes, 7))
        most = int(mixture(even) - mixture(pure))
        assert abs(most) < 2 ** (mixture_bits(7 * classes, classes) - 1)
    # Of equal classes in one branch, and in several that halve it again and again.
    for records in (2**18, 2**19 - 1, 2**20 + 1, 2**21 - 1, MOST_GINI_RECORDS):
        for classes in (2, 20):
            law = Gini(records, classes)
            even = np.full((20, classes), 0)
            left = records
            for row in even:
                row[:] = (left + 1) // 2 // classes
                left -= int(row.sum())
            for table in (even, even.sum(0, keepdims=True)):
                exact = sum(_gini_of(row) for row in table.tolist())
                assert float(exact) * 0.99 < float(law.mixture(table)) / 2**GINI_BITS <= float(exact)
    with pytest.raises(InputError, match="4,194,303 records at most"):
        Gini(MOST_GINI_RECORDS + 1)


TENNIS = json.loads((Path(__file__).parents[2] / "vectors/play_tennis.json").read_text("utf-8"))


def fitted(schema: Schema, codes: Codes, smoothing: float = 0.0) -> NaiveBayes:
    return run_alone(fit_naive_bayes(schema, PlaintextEngine(schema, codes, codes[:0]), smoothing))


def tennis() -> tuple[Schema, Codes]:
    domains = [*TENNIS["attributes"].values(), TENNIS["classes"]]
    codes = [[domain.index(v) for domain, v in zip(domains, record, strict=True)] for record in TENNIS["records"]]
    return schema_of([len(domain) for domain in domains[:-1]], 2), np.array(codes, dtype=np.uint8)


BAYES_TABLES = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, (3, 2, 2), size=(12, 3)).astype(np.uint8)
)


@given(BAYES_TABLES, st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2)]))
def test_scores_are_the_products_of_the_shares(codes: Codes, smoothing: Fraction) -> None:
    schema = schema_of((3, 2), 2)
    model = fitted(schema, codes, float(smoothing))
    rows = codes.tolist()
    for row in rows:
        for c in range(2):
            inside = [r for r in rows if r[-1] == c]
            expected = Fraction(len(inside), len(rows))
            for column, size in enumerate((3, 2)):
                equal = sum(r[column] == row[column] for r in inside)
                total = len(inside) + size * smoothing
                expected *= (equal + smoothing) / total if total else Fraction(1, size)
            score = model.scores(np.array([row], dtype=np.uint8))[0, c]
            assert score == pytest.approx(log(expected)) if expected else np.isneginf(score)


def test_smoothing_that_hides_counts_and_nothing_to_learn_from_are_refused() -> None:
    for smoothing in (-0.1, float("inf"), float("nan")):
        with pytest.raises(InputError, match="smoothing must be 0 or more"):
            fitted(*tennis(), smoothing)
    with pytest.raises(InputError, match="smoothing must be below"):
        fitted(*tennis(), 1e308)
    engine = FixedTables({0: np.zeros((2, 2))})
    with pytest.raises(InputError, match="no record is left to learn from"):
        run_alone(fit_naive_bayes(schema_of((2,), 2), engine))


def test_the_worked_example_comes_out_as_printed_with_class_counts_that_are_known_as_the_prior() -> None:
    """By hand: class counts 6 and 2; of class 0 two thirds hold value 0, of class 1 nobody: 4 and 2, 0 and 2."""
    engine = FixedTables({0: np.array([[2.0, 0.0], [1.0, 5.0]])})
    model = run_alone(fit_naive_bayes(schema_of((2,), 2), engine, 1.0, (6.0, 2.0)))
    assert np.exp(model.prior) == pytest.approx([0.75, 0.25])
    assert np.exp(model.conditional[0]) == pytest.approx(np.array([[5 / 8, 1 / 4], [3 / 8, 3 / 4]]))
    # T. Mitchell, Machine Learning (1997), section 6.9.1: sunny, cool, high, strong: .0053 for yes, .0206 for no.
    model = fitted(*tennis())
    day = np.array([[0, 2, 0, 1, 0]], dtype=np.uint8)
    no, yes = (exp(score) for score in model.scores(day)[0])
    assert (round(yes, 4), round(no, 4)) == (0.0053, 0.0206)
    assert model.predict(day).tolist() == [0]
    assert model.shares(day)[0].round(4).tolist() == [0.7954, 0.2046]
    schema = schema_of([2, 3], 2)
    told = np.array([[0, 0, 0], [1, 1, 1], [0, 2, 1], [1, 0, 0]], dtype=np.uint8)
    assert fitted(schema, told).telling == 1
    assert fitted(schema, told, smoothing=1.0).telling is None
    assert fitted(schema, np.append(told, [[0, 0, 1]], axis=0).astype(np.uint8)).telling is None
    assert fitted(schema, told[[0, 3]]).telling is None
    codes = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 1]], dtype=np.uint8)
    model = fitted(schema_of((2, 2), 2), codes)
    impossible = np.array([[1, 1, 0]], dtype=np.uint8)
    assert model.predict(impossible).tolist() == [0]
    assert model.shares(impossible)[0] == pytest.approx([2 / 3, 1 / 3])
    codes = np.array([[0, 0], [0, 1]], dtype=np.uint8)
    assert fitted(schema_of((2,), 2), codes, 1.0).predict(codes).tolist() == [0, 0]
    assert fitted(*tennis()).columns == {0, 1, 2, 3}


ELSEWHERE = -9


def bayes_rows_of(data: st.DataObject, model: NaiveBayes) -> Rows:
    """Draw rows, cells of no value among them."""
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    return np.array(data.draw(st.lists(row, min_size=1, max_size=8)), dtype=np.int16)


@given(bayes_models(), st.data())
def test_numbers_of_both_sides_compare_as_scores_do_each_from_its_own_columns(
    model: NaiveBayes, data: st.DataObject
) -> None:
    codes = bayes_rows_of(data, model)
    contest = Contest(model, "alice")
    own = np.array([attribute.party == "alice" for attribute in model.schema.attributes])
    asked = contest.numbers(np.where(own, codes, ELSEWHERE))
    answered = contest.thresholds(np.where(own, ELSEWHERE, codes))
    for numbers in (asked, answered):
        assert ((numbers >= 0) & (numbers < 1 << contest.width)).all()
    beaten = np.zeros((len(codes), len(contest.classes)), dtype=bool)
    for pair in range(contest.pairs):
        first, second = [(i, j) for i in range(len(contest.classes)) for j in range(i + 1, len(contest.classes))][pair]
        second_wins = asked[:, pair] < answered[:, pair]
        assert (second_wins == ~(asked[:, pair] > answered[:, pair] - 1)).all()
        beaten[:, first] |= second_wins
        beaten[:, second] |= ~second_wins
    assert (beaten.sum(axis=1) == len(contest.classes) - 1).all()
    assert contest.classes[beaten.argmin(axis=1)].tolist() == model.predict(codes).tolist()


def test_a_model_that_calls_a_value_impossible_is_compared_by_nobody(three_classes: NaiveBayes) -> None:
    table = three_classes.conditional[0].copy()
    table[0, 0] = -np.inf
    impossible = NaiveBayes(three_classes.schema, three_classes.prior, (table, *three_classes.conditional[1:]))
    with pytest.raises(InputError, match="impossible"):
        Contest(impossible, "alice")


@pytest.fixture
def three_classes() -> NaiveBayes:
    return bayes_of((2, 3), 3, seed=1)
