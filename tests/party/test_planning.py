"""Forecasts: what follows from the sizes is exact, what depends on the tree is stated as a guess."""

import secrets
from fractions import Fraction

import pytest

from party.planning.calibration import Speed, calibrate
from party.planning.model import Forecast, Sizes, forecast
from protocols.messages import Terms
from tests.support.parties import key_holder, make_terms

SPEED = Speed(encrypt=1e-3, read=1e-5, add=1e-5, seal=4e-2, decrypt=1e-2)


def sizes(**changes: object) -> Sizes:
    usual: dict[str, object] = {
        "records": 10_000, "domains": (2,) * 14, "classes": 2, "patterns": (4, 4), "key_bits": 3072
    }  # fmt: skip
    return Sizes(**{**usual, **changes})  # type: ignore[arg-type]


def cost(terms: Terms | None = None, splits: float | None = None, **changes: object) -> Forecast:
    return forecast(sizes(**changes), terms or make_terms(omega=3), SPEED, splits)


def test_coins_are_encrypted_once_for_each_record_and_lie() -> None:
    one, two = cost(patterns=(2, 4)), cost(patterns=(4, 4))
    assert two.bytes - one.bytes == pytest.approx(2 * 10_000 * 768)
    assert two.seconds - one.seconds == pytest.approx(2 * 10_000 * 1e-3, rel=0.3)


def test_a_run_without_secure_counts_discloses_and_encrypts_nothing() -> None:
    estimated = cost(make_terms(method="randomized"))
    assert estimated.counts == 0
    assert estimated.bytes < 1e6
    assert estimated.memory < cost().memory


def test_counts_follow_from_splits_window_and_classes() -> None:
    terms = make_terms(omega=1, test=Fraction(0))
    assert cost(terms, splits=100).counts == 100 * 1 * 2 * 2
    assert cost(make_terms(omega=1), splits=100).counts == 100 * 1 * 2 * 2 + 1  # one more tells the accuracy
    assert cost(terms, splits=100, classes=3).counts == 100 * 1 * 2 * 3


def test_a_wider_window_and_a_larger_tree_cost_more() -> None:
    narrow, wide = cost(make_terms(omega=1)), cost(make_terms(omega=5))
    assert narrow.counts < wide.counts
    assert narrow.seconds < wide.seconds
    assert cost(splits=10).round_trips < cost(splits=1000).round_trips <= 2 * 14 + 6


def test_dot_products_cost_far_more_than_encrypted_coins() -> None:
    assert cost(make_terms(method="smc")).bytes > 50 * cost(make_terms(omega=0)).bytes


def test_a_forecast_reads_as_one_line_without_false_precision() -> None:
    text = str(Forecast(seconds=312.4, bytes=75_432_100, memory=200 << 20, round_trips=32, counts=12_836))
    assert text == (
        "about 5 min, 75.4 MB in all, 200 MiB of memory, 32 round trips; exact counts disclosed: some 13000"
    )
    assert str(Forecast(9.6, 0, 0, 1, 7)).startswith("about 10 s, 0.0 MB")
    assert str(Forecast(9.6, 0, 0, 1, 7)).endswith("some 7")


def test_the_calibration_measures_every_operation_of_a_key() -> None:
    key = key_holder(0)
    speed = calibrate(key, key.encryption(secrets), 1)
    assert all(0 < seconds < 1 for seconds in vars(speed).values())
    assert speed.add < speed.seal
