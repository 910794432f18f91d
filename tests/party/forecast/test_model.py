"""Forecasts: what follows from the sizes is exact, what depends on the tree is stated as a guess."""

import secrets
from fractions import Fraction

import numpy as np
import pytest

from party.forecast.calibration import Speed, calibrate
from party.forecast.model import Forecast, Sizes, forecast, most_counts
from party.show.costs import forecast_text
from protocols.counting.plaintext import PlaintextEngine
from protocols.learning.id3 import HybridId3
from protocols.role import run_alone
from protocols.tables.schema import Attribute, joint_schema
from protocols.terms import ALL, Terms
from tests.support.parties import key_holder, make_terms

KEY = key_holder(0)
SPEED = Speed(encrypt=1e-3, read=1e-5, add=1e-5, seal=4e-2, decrypt=1e-2)


def sizes(**changes: object) -> Sizes:
    usual: dict[str, object] = {
        "records": 10_000, "domains": (2,) * 14, "classes": 2, "patterns": (4, 4), "key": KEY
    }  # fmt: skip
    return Sizes(**{**usual, **changes})  # type: ignore[arg-type]


def cost(terms: Terms | None = None, splits: int | None = None, **changes: object) -> Forecast:
    return forecast(sizes(**changes), terms or make_terms(omega=3), SPEED, splits)


def test_coins_are_encrypted_once_for_each_record_and_lie() -> None:
    one, two = cost(patterns=(2, 4)), cost(patterns=(4, 4))
    assert two.bytes - one.bytes == pytest.approx(2 * 10_000 * KEY.public.ciphertext_bytes)
    assert two.seconds - one.seconds == pytest.approx(2 * 10_000 * 1e-3, rel=0.3)


def test_a_run_without_secure_counts_discloses_and_encrypts_nothing() -> None:
    estimated = cost(make_terms(method="randomized"))
    assert estimated.counts == 2  # of the classes
    assert estimated.bytes < 1e6
    assert estimated.memory < cost().memory


def test_the_most_counts_follow_from_splits_window_and_classes() -> None:
    terms = make_terms(omega=1, test=Fraction(0))
    assert cost(terms, splits=100).counts == 2 + 100 * 1 * 2 * 2  # two of the classes
    assert cost(make_terms(omega=1), splits=100).counts == 2 + 100 * 1 * 2 * 2 + 1  # one more tells the accuracy
    assert cost(terms, splits=100, classes=3).counts == 3 + 100 * 1 * 2 * 3
    limited = make_terms(omega=1, test=Fraction(0), max_depth=3, min_leaf=2)
    assert cost(limited, records=20, domains=(2, 4, 2, 2, 2)).counts == 2 + (1 + 4 + 5) * 4 * 2
    # nodes on each level, of attributes of 4, 2, 2, 2 and 2 values over 20 records
    assert cost(terms, records=20, domains=(2, 4, 2, 2, 2)).counts == 2 + (1 + 4 + 8 + 10 + 10) * 4 * 2
    assert cost(make_terms(method="randomized")).counts == 2


@pytest.mark.parametrize("seed", range(20))
def test_no_tree_takes_more_counts_than_forecast(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes, records = draw.integers(2, 5, 5).tolist(), int(draw.integers(2, 200))
    attributes = [Attribute("bob", f"a{k}", tuple(map(str, range(size)))) for k, size in enumerate(sizes)]
    schema = joint_schema(attributes, Attribute("bob", "class", ("n", "y")), ["bob"])
    codes = np.column_stack([draw.integers(0, size, records) for size in [*sizes, 2]]).astype(np.uint8)
    engine = PlaintextEngine(schema, codes, codes[:0])
    for limits in ({}, {"max_depth": 2}, {"min_leaf": 3}):
        terms = make_terms(omega=ALL, test=Fraction(0), **limits)
        learner = HybridId3(schema, engine.class_counts, ALL, engine, growth=terms.growth)
        asked = run_alone(learner.build()).computations
        assert asked <= most_counts(sizes, 2, records, terms)


def test_limits_make_a_run_cheaper() -> None:
    free, shallow, coarse = (cost(make_terms(omega=3, **limits)) for limits in ({}, {"max_depth": 2}, {"min_leaf": 50}))
    for limited in (shallow, coarse):
        assert limited.counts < free.counts
        assert limited.seconds < free.seconds
    assert shallow.round_trips == 7 + 3 + 2 * 2


def test_a_wider_window_and_a_larger_tree_cost_more() -> None:
    narrow, wide = cost(make_terms(omega=1)), cost(make_terms(omega=5))
    assert narrow.counts < wide.counts
    assert narrow.seconds < wide.seconds
    assert cost(splits=10).round_trips < cost(splits=1000).round_trips <= 2 * 14 + 10


def test_dot_products_cost_far_more_than_encrypted_coins() -> None:
    assert cost(make_terms(method="smc")).bytes > 50 * cost(make_terms(omega=ALL)).bytes


def test_a_forecast_reads_as_one_line_without_false_precision() -> None:
    text = forecast_text(Forecast(seconds=312.4, bytes=75_432_100, memory=200 << 20, round_trips=32, counts=12_836))
    assert text == ("about 5 min, 75.4 MB in all, 200 MiB of memory, 32 round trips; exact counts told: at most 12,836")
    assert forecast_text(Forecast(9.6, 0, 0, 1, 7)).startswith("about 10 s, 0.0 MB")
    assert forecast_text(Forecast(9.6, 0, 0, 1, 7)).endswith("at most 7")


def test_the_calibration_measures_every_operation_of_a_key() -> None:
    speed = calibrate(KEY, KEY.encryption(secrets), 1)
    assert all(0 < seconds < 1 for seconds in vars(speed).values())
    assert speed.add < speed.seal
