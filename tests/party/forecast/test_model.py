"""Forecasts: what follows from the sizes is exact, what depends on the tree is stated as a guess."""

import secrets
from dataclasses import replace
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from party.forecast.calibration import Speed, calibrate
from party.forecast.model import NO_LINE, Forecast, Line, Sizes, forecast, likely_counts, most_counts
from party.show.costs import forecast_text, supposed_line
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.port import AnyKeyHolder
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.role import run_alone
from protocols.tables.schema import Attribute, joint_schema
from protocols.terms import ALL, Cipher, Learner, Terms
from tests.support.parties import key_holder, make_terms

KEY = key_holder(0)
CURVE = CurveKeyHolder(CurvePrivateKey(1))
SPEED = Speed(encrypt=1e-3, read=1e-5, add=1e-5, seal=4e-2, decrypt=1e-2)


def sizes(**changes: object) -> Sizes:
    usual: dict[str, object] = {
        "records": 10_000, "sides": ((2,) * 7, (2,) * 7), "class_holder": 0, "classes": 2, "patterns": (4, 4),
        "key": KEY,
    }  # fmt: skip
    return Sizes(**{**usual, **changes})  # type: ignore[arg-type]


def cost(terms: Terms | None = None, splits: int | None = None, line: Line = NO_LINE, **changes: object) -> Forecast:
    return forecast(sizes(**changes), terms or make_terms(omega=3), SPEED, splits, line)


def test_coins_are_encrypted_once_for_each_record_and_lie() -> None:
    one, two = cost(patterns=(2, 4)), cost(patterns=(4, 4))
    assert two.bytes - one.bytes == pytest.approx(2 * 10_000 * KEY.public.ciphertext_bytes)
    assert two.seconds - one.seconds == pytest.approx(2 * 10_000 * 1e-3, rel=0.3)


def test_a_run_without_secure_counts_discloses_and_encrypts_nothing() -> None:
    estimated = cost(make_terms(method="randomized"))
    assert estimated.counts == 2  # of the classes
    assert estimated.bytes < 1e6
    assert estimated.memory < cost().memory


def test_naive_bayes_tested_by_comparisons_costs_a_cell_per_digit_pair_of_classes_and_held_out_record() -> None:
    terms = make_terms(method="smc", learner=Learner.NAIVE_BAYES, test=Fraction(1, 5))
    two, three = cost(terms), cost(terms, classes=3)
    cells, more = 2_000 * 20, 2 * 2_000 * 20  # of one pair; of two pairs more
    length = KEY.public.ciphertext_bytes
    assert three.bytes - two.bytes == pytest.approx((2 * more + 2_000) * length, rel=0.01)
    assert three.seconds - two.seconds == pytest.approx(more * (1e-3 + 2 * 4e-2 + 1e-2), rel=0.05)
    trained_on_as_many = cost(replace(terms, test=Fraction(0)), records=8_000)
    assert two.seconds - trained_on_as_many.seconds > cells * (2 * 4e-2 + 1e-2)


def test_the_most_counts_follow_from_splits_window_and_classes() -> None:
    terms = make_terms(omega=1, test=Fraction(0))
    assert cost(terms, splits=100).counts == 2 + 100 * 1 * 2 * 2  # two of the classes
    assert cost(make_terms(omega=1), splits=100).counts == 2 + 100 * 1 * 2 * 2 + 1  # one more tells the accuracy
    assert cost(terms, splits=100, classes=3).counts == 3 + 100 * 1 * 2 * 3
    limited = make_terms(omega=1, test=Fraction(0), max_depth=3, min_leaf=2)
    assert cost(limited, records=20, sides=((2, 4), (2, 2, 2))).counts == 2 + (1 + 4 + 5) * 4 * 2
    # nodes on each level, of attributes of 4, 2, 2, 2 and 2 values over 20 records
    assert cost(terms, records=20, sides=((2, 4), (2, 2, 2))).counts == 2 + (1 + 4 + 8 + 10 + 10) * 4 * 2
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


@pytest.mark.parametrize(("min_leaf", "told"), [(1, 13_236), (5, 5_236), (50, 944)])
def test_the_likely_counts_are_near_those_of_trees_on_noisy_classes(min_leaf: int, told: int) -> None:
    """Plain ID3 on 4,000 records of adult, 14 columns of two values; at most 88,899, 38,275 and 8,259."""
    terms = make_terms(omega=ALL, test=Fraction(0), min_leaf=min_leaf)
    likely = likely_counts((2,) * 14, 2, 4_000, terms)
    assert 0.7 < likely / told < 1.5
    assert cost(terms, records=4_000).likely_counts == likely < cost(terms, records=4_000).counts
    assert cost(terms, splits=3).likely_counts == cost(terms, splits=3).counts


def test_limits_make_a_run_cheaper() -> None:
    free, shallow, coarse = (cost(make_terms(omega=3, **limits)) for limits in ({}, {"max_depth": 2}, {"min_leaf": 50}))
    for limited in (shallow, coarse):
        assert limited.counts < free.counts
        assert limited.seconds < free.seconds
    assert shallow.round_trips == 13 + 2 + 2 + 1 + 2 * 2 + 1


def test_thousands_of_columns_take_longer_than_ten_and_their_tree_is_still_guessed() -> None:
    few, many = (cost(make_terms(method="randomized"), sides=((2,) * half,) * 2) for half in (5, 1000))
    assert many.seconds - few.seconds > 1990 * 10_000 * 2e-6
    assert 0 < many.likely_counts <= many.counts


def test_a_wider_window_and_a_larger_tree_cost_more() -> None:
    narrow, wide = cost(make_terms(omega=1)), cost(make_terms(omega=5))
    assert narrow.counts < wide.counts
    assert narrow.seconds < wide.seconds
    assert cost(splits=10).round_trips < cost(splits=1000).round_trips <= 13 + 2 + 2 + 1 + 2 * 14 + 1


@pytest.mark.parametrize("key", [KEY, CURVE])
def test_dot_products_are_forecast_for_the_side_that_encrypts_least(key: AnyKeyHolder) -> None:
    """Two columns of two values make nine conjunctions, however large the tree is."""
    smc = make_terms(method="smc", test=Fraction(0))
    few = ((2,) * 12, (2, 2))
    cheap = cost(smc, splits=1000, sides=few, key=key)
    assert cheap.bytes == cost(smc, splits=1000, sides=few[::-1], class_holder=1, key=key).bytes
    assert cheap.bytes < 1.5 * cost(smc, splits=100, sides=few, key=key).bytes < cost(smc, splits=100, key=key).bytes
    other = cost(smc, splits=100, class_holder=1, key=key)
    assert other.bytes == cost(smc, splits=100, key=key).bytes < cost(smc, splits=100, classes=12, key=key).bytes


def test_dot_products_on_the_curve_are_forecast_column_by_column() -> None:
    """Of 14 columns 9.2 are left at a mean node, half of them encrypted: 10 values, and one vector more."""
    smc = make_terms(method="smc", test=Fraction(0), max_depth=8)
    vectors = 0.4 * 100 * 10_000
    for key, columns in ((KEY, 2), (CURVE, 11)):
        sent = cost(smc, splits=100, key=key).bytes / key.public.ciphertext_bytes
        assert columns * vectors == pytest.approx(sent, rel=0.02)


def test_dot_products_cost_far_more_than_encrypted_coins() -> None:
    assert cost(make_terms(method="smc")).bytes > 50 * cost(make_terms(omega=ALL)).bytes


def test_a_forecast_reads_as_one_line_without_false_precision() -> None:
    usual = Forecast(
        seconds=312.4, bytes=75_432_100, memory=200 << 20, round_trips=32, counts=38_275, likely_counts=10_483
    )
    assert forecast_text(usual) == "about 5 min, 75.4 MB in all, 200 MiB of memory, 32 round trips"
    assert forecast_text(Forecast(9.6, 0, 0, 1, 7, 7)).startswith("about 10 s, 0.0 MB")
    assert forecast_text(Forecast(30_000, 0, 0, 1, 7, 7)).startswith("about 8.3 h, ")


def test_a_forecast_says_what_it_supposes_in_place_of_ours() -> None:
    assert supposed_line(None, None, NO_LINE) == []
    (line,) = supposed_line(10**8, 64, Line(1e8, 0.02))
    assert line == (
        "Supposed: 100,000,000 records like ours; 64 workers at each party, each on a processor like ours; a line of "
        "100 Mb/s; a delay of 20 ms each way"
    )


@pytest.mark.parametrize(("rate", "delay"), [(0.0, 0.0), (-1.0, 0.0), (nan, 0.0), (1e8, -0.1), (1e8, nan), (1e8, inf)])
def test_a_line_that_cannot_be_is_refused(rate: float, delay: float) -> None:
    with pytest.raises(InputError, match="line"):
        Line(rate, delay)


def test_a_line_adds_its_delay_for_each_round_trip_and_what_bytes_take() -> None:
    """On a slow line sending takes longer than encrypting, which goes on beside it; on a fast one it costs nothing."""
    near = cost(records=10**6)
    assert cost(records=10**6, line=Line(delay=0.02)).seconds - near.seconds == pytest.approx(0.04 * near.round_trips)
    slow, slower = (cost(records=10**6, line=Line(rate)).seconds for rate in (1e5, 5e4))
    assert slower - slow == pytest.approx(8 * near.bytes / 1e5)
    assert cost(records=10**6, line=Line(1e12)).seconds == pytest.approx(near.seconds, rel=0.01)


def test_workers_share_encryption_but_not_what_one_process_does() -> None:
    two, many = SPEED.with_workers(2), SPEED.with_workers(64)
    assert (two.encrypt, many.encrypt) == (SPEED.encrypt / 2, SPEED.encrypt / 64)
    assert many.with_workers(1) == SPEED
    alone, shared = (forecast(sizes(records=10**7), make_terms(omega=3), speed).seconds for speed in (SPEED, many))
    assert shared < alone / 10
    assert shared > 10**7 * (3 * (SPEED.read + 2 * SPEED.add) + 4e-5)  # reading, adding and our own work stay


@pytest.mark.parametrize(("records", "megabytes", "mebibytes", "trips"), [
    (10**4, 1.20, 198, 31), (10**5, 8.19, 282, 37), (10**6, 77.5, 678, 92),
])  # fmt: skip
def test_forecasts_of_large_runs_hold(records: int, megabytes: float, mebibytes: float, trips: int) -> None:
    """Beside runs of `scripts/benchmarks/growth.py --cipher curve --only-records`."""
    terms = make_terms(omega=3, cipher=Cipher.CURVE)
    told = forecast(sizes(records=records, sides=((2,) * 5, (2,) * 5), patterns=(2, 2), key=CURVE), terms, SPEED)
    assert told.bytes == pytest.approx(megabytes * 1e6, rel=0.1)
    assert told.memory == pytest.approx(mebibytes * 2**20, rel=0.3)
    assert told.round_trips == pytest.approx(trips, abs=6)


def test_the_calibration_measures_every_operation_of_a_key() -> None:
    speed = calibrate(KEY, KEY.encryption(secrets), 1)
    assert all(0 < seconds < 1 for name, seconds in vars(speed).items() if name != "workers")
    assert speed.add < speed.seal
