"""Forecasts: what follows from the sizes is exact, what depends on the tree is stated as a guess."""

import secrets
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from party.forecast.model import NO_LINE, ByPaillier, ByTransfers, Forecast, Line, Sizes, forecast, guess_rules
from party.forecast.speed import PaillierSpeed, TransferSpeed, calibrate, calibrate_transfers
from party.show.costs import forecast_text, supposed_line
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.role import run_alone
from protocols.tables import Attribute, joint_schema
from protocols.terms import ALL, Impurity, Learner, Method, MiningTerms, Reveal, RuleTerms, Terms
from protocols.two_party.bounds import most_counts, room_for_levels
from tests.support.cases import correlated
from tests.support.examples import few
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.parties import Case, key_holder, make_terms
from tests.support.sessions import Sessions

KEY = key_holder(0)
SPEED = PaillierSpeed(encrypt=1e-3, read=1e-5, add=1e-5, seal=4e-2, decrypt=1e-2)
ENCRYPTING, TRANSFERRING = ByPaillier(KEY, SPEED), ByTransfers(TransferSpeed(transfer=2e-7, bit=1e-9))


def sizes(**changes: object) -> Sizes:
    usual: dict[str, object] = {"records": 10_000, "sides": ((2,) * 7, (2,) * 7), "class_holder": 0, "classes": 2}
    return Sizes(**{**usual, **changes})  # type: ignore[arg-type]


def cost(terms: Terms | None = None, splits: int | None = None, line: Line = NO_LINE, **changes: object) -> Forecast:
    terms = terms or make_terms(omega=3)
    return forecast(sizes(**changes), terms, ENCRYPTING if terms.encrypts else TRANSFERRING, splits, line)


def test_transfers_of_trees_of_adult_are_forecast_within_a_factor_of_two() -> None:
    """What crossed in trees that were counted, of 14 columns of two values."""
    for records, omega, depth, splits, megabytes in [
        (26_049, ALL, None, 1_320, 170), (39_074, ALL, None, 1_347, 169.6), (39_074, 3, None, 1_306, 159.9),
        (39_074, 1, None, 1_011, 92.7), (39_074, ALL, 5, 27, 24.5), (39_074, 3, 5, 26, 12.6),
        (4_000, ALL, None, 672, 10.7), (4_000, 3, 5, 26, 1.1),
    ]:  # fmt: skip
        told = cost(make_terms(omega=omega, max_depth=depth, test=Fraction(0)), splits, records=records)
        others = records * 15 + splits * 56 + 60_000 + 8 * splits * 14 * 4
        assert 0.5 < (told.bytes - others) / (megabytes * 1e6) < 2


def test_noise_is_in_every_count_and_naive_bayes_takes_vectors_of_its_values() -> None:
    """At the root all counts are asked: 28 values of 2 classes, and the chooser has 14 vectors and one for all."""
    told = cost(make_terms(method="smc", learner=Learner.NAIVE_BAYES, test=Fraction(0)))
    chosen, corrected = 4 * 10_000 * 15, 10_000 * 28 * 2 * 14 / 8
    assert told.bytes == pytest.approx(chosen + corrected + 26_000 + 2_500 + 28 * 2 * 8, rel=0.05)
    terms = make_terms(method="smc", learner=Learner.NAIVE_BAYES, test=Fraction(1, 5))
    trained_on_as_many = cost(replace(terms, test=Fraction(0)), records=8_000)
    two = cost(terms).bytes - trained_on_as_many.bytes
    assert two == pytest.approx(2_000 * 24 * 2 * (4 + 1 / 8) + 24 * 2_576, rel=0.05)
    exact, noisy = (cost(make_terms(method="smc", max_depth=3, noise=noise), 7) for noise in (None, Fraction(1)))
    assert noisy.bytes > 2 * exact.bytes
    estimated = cost(make_terms(method="randomized"))
    assert estimated.counts == 0
    assert estimated.bytes < 1e6
    assert estimated.memory < cost().memory


def test_bits_leave_room_for_as_many_levels_as_their_widest_tree_has() -> None:
    """Of 15 two-valued columns a node costs 4, 3.9, ... bits, a leaf one: 6 for one level, 15.9 for two."""
    terms = make_terms(method="smc", reveal="tree", max_depth=4)
    found = [room_for_levels([2] * 15, 2, 0, replace(terms, most_bits=most)) for most in (5, 6, 15, 16)]
    assert [room and room.levels for room in found] == [0, 1, 1, 2]
    assert {room and room[1:] for room in found} == {(4, 73)}
    enough = [room_for_levels([2] * 15, 2, 0, replace(terms, most_bits=most)) for most in (72, 73)]
    assert [room is None for room in enough] == [False, True]
    assert room_for_levels([2] * 15, 2, 800, replace(terms, most_bits=None)) == found[3]
    assert room_for_levels([2] * 15, 2, 0, replace(terms, reveal=Reveal.COUNTS, most_bits=None)) is None


def test_the_most_counts_follow_from_splits_window_and_classes() -> None:
    terms = make_terms(omega=1, test=Fraction(0))
    assert cost(terms, splits=100).counts == 2 + 100 * 1 * 2 * 2  # two of the classes
    assert cost(make_terms(omega=1), splits=100).counts == 2 + 100 * 1 * 2 * 2 + 1  # one more tells the accuracy
    assert cost(terms, splits=100, classes=3).counts == 3 + 100 * 1 * 2 * 3
    limited = make_terms(omega=1, test=Fraction(0), max_depth=3, min_leaf=2)
    assert cost(limited, records=20, sides=((2, 4), (2, 2, 2))).counts == 2 + (1 + 4 + 5) * 4 * 2
    # nodes on each level, of attributes of 4, 2, 2, 2 and 2 values over 20 records
    assert cost(terms, records=20, sides=((2, 4), (2, 2, 2))).counts == 2 + (1 + 4 + 8 + 10 + 10) * 4 * 2


def test_no_tree_takes_more_counts_than_forecast() -> None:
    for seed in range(20):
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


def test_dot_products_are_forecast_for_the_side_that_encrypts_least() -> None:
    """Two columns of two values make nine conjunctions, however large the tree is."""
    smc = make_terms(method="smc", test=Fraction(0), counting="paillier")
    few = ((2,) * 12, (2, 2))
    cheap = cost(smc, splits=1000, sides=few)
    assert cheap.bytes == cost(smc, splits=1000, sides=few[::-1], class_holder=1).bytes
    assert cheap.bytes < 1.5 * cost(smc, splits=100, sides=few).bytes < cost(smc, splits=100).bytes
    other = cost(smc, splits=100, class_holder=1)
    assert other.bytes == cost(smc, splits=100).bytes < cost(smc, splits=100, classes=12).bytes


def test_larger_runs_cost_more() -> None:
    free, shallow, coarse = (cost(make_terms(omega=3, **limits)) for limits in ({}, {"max_depth": 2}, {"min_leaf": 50}))
    for limited in (shallow, coarse):
        assert limited.counts < free.counts
        assert limited.seconds < free.seconds
    assert shallow.round_trips == 13 + 2 + 2 + 3 + 2 * (1 + 10) + 1
    few, many = (cost(make_terms(method="randomized"), sides=((2,) * half,) * 2) for half in (5, 1000))
    assert many.seconds - few.seconds > 1990 * 10_000 * 2e-6
    narrow, wide = cost(make_terms(omega=1)), cost(make_terms(omega=5))
    assert narrow.counts < wide.counts
    assert narrow.seconds < wide.seconds
    assert cost(splits=10).round_trips < cost(splits=1000).round_trips <= 13 + 2 + 2 + 3 + 14 * (1 + 10) + 1
    assert cost(make_terms(method="smc", counting="paillier")).bytes > 5 * cost(make_terms(method="smc")).bytes


def test_a_forecast_reads_as_one_line_with_what_it_supposes() -> None:
    usual = Forecast(seconds=312.4, bytes=75_432_100, memory=200 << 20, round_trips=32, counts=38_275)
    assert forecast_text(usual) == "about 5 min, 75.4 MB in all, 200 MiB of memory, 32 round trips"
    assert forecast_text(Forecast(9.6, 0, 0, 1, 7)).startswith("about 10 s, 0.0 MB")
    assert forecast_text(Forecast(30_000, 0, 0, 1, 7)).startswith("about 8.3 h, ")
    assert supposed_line(None, None, NO_LINE) == []
    (line,) = supposed_line(10**8, 64, Line(1e8, 0.02))
    assert line == (
        "Supposed: 100,000,000 records like ours; 64 workers at each party, each on a processor like ours; a line of "
        "100 Mb/s; a delay of 20 ms each way"
    )


def test_a_line_that_cannot_be_is_refused() -> None:
    for rate, delay in [(0.0, 0.0), (-1.0, 0.0), (nan, 0.0), (1e8, -0.1), (1e8, nan), (1e8, inf)]:
        with pytest.raises(InputError, match=r"megabits must be more than 0|delay must be 0 or more"):
            Line(rate, delay)


@pytest.mark.parametrize(
    "terms",
    [{"omega": 3}, {"method": "smc", "reveal": "tree", "max_depth": 4}, {"reveal": "tree", "max_depth": 4, "omega": 3}],
    ids=["counts", "a tree alone", "with windows"],
)
def test_a_line_adds_its_delay_for_each_round_trip_and_what_bytes_take(terms: dict[str, object]) -> None:
    made = make_terms(**terms)
    near = cost(made, records=10**6)
    far = cost(made, records=10**6, line=Line(delay=0.02))
    assert (far.bytes, far.round_trips) == (near.bytes, near.round_trips)
    assert far.seconds - near.seconds == pytest.approx(0.04 * near.round_trips)
    slow, slower = (cost(made, records=10**6, line=Line(rate)).seconds for rate in (1e5, 5e4))
    assert slower - slow == pytest.approx(8 * near.bytes / 1e5)
    assert cost(made, records=10**6, line=Line(1e12)).seconds == pytest.approx(near.seconds, rel=0.01)


def test_workers_share_encryption_and_on_a_slow_line_sending_goes_on_beside_it() -> None:
    smc = make_terms(method="smc", counting="paillier")
    near, slow, fast = (cost(smc, 10, line).seconds for line in (NO_LINE, Line(1e5), Line(1e9)))
    assert fast == pytest.approx(near, rel=0.01)
    assert slow > 2 * near
    two, many = SPEED.with_workers(2), SPEED.with_workers(64)
    assert (two.encrypt, many.encrypt) == (SPEED.encrypt / 2, SPEED.encrypt / 64)
    assert many.with_workers(1) == SPEED
    smc = make_terms(method="smc", counting="paillier")
    alone, shared = (forecast(sizes(), smc, ByPaillier(KEY, speed), 10).seconds for speed in (SPEED, many))
    assert shared < alone / 5


def test_the_calibration_measures_every_operation_of_a_key() -> None:
    speed = calibrate(KEY, KEY.encryption(secrets), 1)
    assert all(0 < seconds < 1 for name, seconds in vars(speed).items() if name != "workers")
    assert speed.add < speed.seal


def test_the_calibration_of_transfers_measures_both() -> None:
    speed = calibrate_transfers()
    assert 0 < speed.bit < speed.transfer < 1e-4


def case(terms: MiningTerms, records: int = 600) -> RuleCase:
    """Return two independent halves of like columns, each with a chain of dependence in it."""
    generator = np.random.default_rng(3)
    halves = []
    for _ in range(2):
        first = generator.random((records, 1)) < 0.6
        rest = np.where(generator.random((records, 2)) < 0.8, first, generator.random((records, 2)) < 0.5)
        halves.append(np.hstack([first, rest]))
    return RuleCase({"alice": (2, 2, 2), "bob": (2, 2, 2)}, np.hstack(halves).astype(np.uint8), terms)


def test_it_is_near_to_what_a_run_with_such_a_peer_reveals() -> None:
    for terms in [
        rule_terms(RuleTerms(Fraction(1, 5), 3, 10_000), method=Method.SMC),
        rule_terms(RuleTerms(Fraction(1, 5), 3, 10_000), theta=Fraction(4, 5)),
        rule_terms(RuleTerms(Fraction(1, 4), 3, 60), theta=Fraction(3, 5)),
    ]:
        made = case(terms)
        run, _ = made.play()
        guess = guess_rules(made.local("alice"), terms)
        assert run.own / 1.25 <= guess.own <= run.own * 1.25
        assert run.counted / 1.6 <= guess.both <= run.counted * 1.6
        assert guess.counts <= terms.rules.most_counts


def test_copies_alone_reveal_no_count_and_more_records_leave_less_in_doubt() -> None:
    rules = RuleTerms(Fraction(1, 5), 3, 100)
    terms = rule_terms(rules, method=Method.RANDOMIZED)
    assert guess_rules(case(terms).local("alice"), terms).both == 0
    rules = RuleTerms(Fraction(1, 5), 3, 10_000)
    terms = rule_terms(rules, theta=Fraction(2, 3))
    local = case(terms).local("alice")
    assert guess_rules(local, terms, 100_000).both < guess_rules(local, terms).both
    rules = RuleTerms(Fraction(1, 100), 3, 4)
    terms = rule_terms(rules)
    with pytest.raises(InputError, match="more than most_sets = 4 sets"):
        guess_rules(case(terms).local("alice"), terms)


MEANS = ByTransfers(TransferSpeed(transfer=2e-7, bit=1e-9))
SIZES = Sizes(records=80, sides=((2, 3), (2, 2)), class_holder=1, classes=2)


@pytest.mark.parametrize(("terms", "pages"), few(list(product([
    {"method": "randomized"},
    {"method": "smc", "max_depth": 1},
    {"method": "smc", "learner": Learner.NAIVE_BAYES},
    {"method": "hybrid", "omega": 1, "max_depth": 1},
    {"method": "hybrid", "omega": 1, "max_depth": 1, "test": Fraction(0)},
    {"method": "hybrid", "omega": ALL, "max_depth": 2},
], (1, 3))), 5))  # fmt: skip
def test_a_session_takes_the_round_trips_that_were_forecast(
    terms: dict[str, object], pages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one: who sends first at a step waits once less."""
    for module in ("party.forecast.model", "protocols.two_party.copies"):
        monkeypatch.setattr(f"{module}.PAGE_RECORDS", 80 // pages)
    case = Case(
        sizes={"alice": (2, 3), "bob": (2, 2)},
        class_owners=("bob",),
        classes=2,
        codes=correlated((2, 3, 2, 2, 2), 80, seed=1, flips=0.5),
        groups={"alice": 1, "bob": 2},
        terms=make_terms(theta=Fraction(7, 10), **terms),
    )
    told = forecast(SIZES, case.terms, MEANS).round_trips
    taken = [report.traffic.round_trips for report in Sessions(tmp_path, case, 'odds = "any"\n').run()]
    assert min(taken) - 1 <= told <= max(taken) + 1


@pytest.mark.parametrize(("terms", "records"), few(list(product([
    {"method": "randomized"},
    {"method": "smc", "max_depth": 2},
    {"method": "smc", "max_depth": 3},
    {"method": "smc", "max_depth": 3, "noise": Fraction(20)},
    {"method": "smc", "learner": Learner.NAIVE_BAYES},
    {"method": "hybrid", "omega": 1, "max_depth": 5, "min_leaf": 2},
    {"method": "hybrid", "omega": 3, "max_depth": 5, "min_leaf": 2},
    {"method": "smc", "max_depth": 3, "min_leaf": 5, "reveal": Reveal.TREE},
    {"method": "hybrid", "omega": 3, "max_depth": 3, "min_leaf": 5, "reveal": Reveal.TREE},
    {"method": "smc", "max_depth": 3, "reveal": Reveal.TREE, "impurity": Impurity.GINI, "noise": Fraction(20)},
], (100, 900))), 7))  # fmt: skip
def test_a_session_sends_half_to_twice_the_bytes_that_were_forecast(
    terms: dict[str, object], records: int, tmp_path: Path
) -> None:
    sides = ((2,) * 14, (2,) * 15)
    case = Case(
        sizes=dict(zip(("alice", "bob"), sides, strict=True)),
        class_owners=("bob",),
        classes=2,
        codes=correlated((2,) * 30, records, seed=2, flips=0.6),
        groups={"alice": 14, "bob": 16},
        terms=make_terms(theta=Fraction(2, 3), **terms),
    )
    told = forecast(Sizes(records, sides, class_holder=1, classes=2), case.terms, MEANS)
    report = Sessions(tmp_path, case, 'odds = "any"\n').run()[0].traffic
    assert 1 / 2 <= told.bytes / (report.bytes_sent + report.bytes_received) <= 2
    least, most = (0.9, 1.2) if case.terms.opens_tree else (1 / 2, 2)  # trips are most of the time over a far line
    assert least <= told.round_trips / report.round_trips <= most
