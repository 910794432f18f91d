"""Round trips and bytes, as forecast and as real sessions take them."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from party.forecast.model import ByTransfers, Sizes, TransferSpeed, forecast
from protocols.terms import ALL, Impurity, Learner, Reveal
from tests.support.cases import correlated
from tests.support.examples import few
from tests.support.parties import Case, make_terms
from tests.support.sessions import Sessions

MEANS = ByTransfers(TransferSpeed(transfer=2e-7, bit=1e-9))
SIZES = Sizes(records=80, sides=((2, 3), (2, 2)), class_holder=1, classes=2)


@pytest.mark.parametrize("pages", [1, 3])
@pytest.mark.parametrize("terms", [
    {"method": "randomized"},
    {"method": "smc", "max_depth": 1},
    {"method": "smc", "learner": Learner.NAIVE_BAYES},
    {"method": "hybrid", "omega": 1, "max_depth": 1},
    {"method": "hybrid", "omega": 1, "max_depth": 1, "test": Fraction(0)},
    {"method": "hybrid", "omega": ALL, "max_depth": 2},
])  # fmt: skip
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
], (100, 900))), 3))  # fmt: skip
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
