"""Naive Bayes: the textbook's worked example, smoothing, chances of 0, and a contest of both sides' numbers."""

import json
from fractions import Fraction
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.contest import Contest
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes
from protocols.role import run_alone
from protocols.tables import Codes, Rows, Schema
from tests.support.models import bayes_models, bayes_of
from tests.support.plain import FixedTables, schema_of

TENNIS = json.loads((Path(__file__).parents[2] / "vectors/play_tennis.json").read_text("utf-8"))


def fitted(schema: Schema, codes: Codes, smoothing: float = 0.0) -> NaiveBayes:
    return run_alone(fit_naive_bayes(schema, PlaintextEngine(schema, codes, codes[:0]), smoothing))


def tennis() -> tuple[Schema, Codes]:
    domains = [*TENNIS["attributes"].values(), TENNIS["classes"]]
    codes = [[domain.index(v) for domain, v in zip(domains, record, strict=True)] for record in TENNIS["records"]]
    return schema_of([len(domain) for domain in domains[:-1]], 2), np.array(codes, dtype=np.uint8)


TABLES = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, (3, 2, 2), size=(12, 3)).astype(np.uint8)
)


@given(TABLES, st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2)]))
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


def rows_of(data: st.DataObject, model: NaiveBayes) -> Rows:
    """Draw rows, cells of no value among them."""
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    return np.array(data.draw(st.lists(row, min_size=1, max_size=8)), dtype=np.int16)


@given(bayes_models(), st.data())
def test_numbers_of_both_sides_compare_as_scores_do_each_from_its_own_columns(
    model: NaiveBayes, data: st.DataObject
) -> None:
    codes = rows_of(data, model)
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
