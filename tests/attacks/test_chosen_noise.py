"""Attacks on noise: ask for the same number until its noise averages out (DESIGN 14, "Noise").

Bob varies every term and the order of his columns. What of this makes no other question is answered with the same
number; the rest spends epsilon, and more than is allowed is refused before anything leaves.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from protocols.noise.accounting import Spending
from protocols.noise.both import OwnNoise
from protocols.tables import ROOT, Table
from protocols.terms import Impurity, Terms
from protocols.two_party.inputs import PartyInputs
from tests.support.curious import Guarded, assert_built, assert_refused, listening
from tests.support.parties import Case, make_local, make_terms

RECORDS = 400
CODES = np.random.default_rng(8).integers(0, [3, 2, 2, 2, 2], (RECORDS, 5)).astype(np.uint8)
TERMS = make_terms(method="smc", noise=Fraction(1), max_depth=1, min_leaf=5)
CASE = Case({"alice": (3,), "bob": (2, 2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)
BOUNDED = 'noise = "1"\nepsilon = "2"'


def other_orders() -> Iterator[PartyInputs]:
    """Yield Bob with his columns in every order."""
    bob = make_local(CASE, "bob")
    *columns, label = bob.table.attributes
    for order in permutations(range(3)):
        table = Table((*(columns[c] for c in order), label), bob.table.codes[:, [*order, 3]])
        yield replace(bob, table=table)


def idle_terms() -> Iterator[Terms]:
    """Yield terms that `smc` does not use, or that only say how a count is made."""
    yield from (replace(TERMS, theta=Fraction(k, 40)) for k in (1, 9, 30))
    yield from (replace(TERMS, omega=omega) for omega in (1, 2))
    yield make_terms(**vars(TERMS) | {"counting": "paillier"})


def told_at_root(node: Guarded, terms: Terms, bob: PartyInputs | None = None) -> tuple[Any, float | None]:
    """Return what is told of Alice's column, by the class, at the root, and how many held-out records are right."""
    with listening() as told:
        ends = node.meet(terms, bob)
    assert_built(ends)
    assert ends[0].result is not None
    return told[ROOT, 0].tolist(), ends[0].result.correct


def test_noise_that_differed_from_run_to_run_would_average_to_the_truth() -> None:
    """Of the one column that a record of Alice's changes, at the root."""
    drawn = [OwnNoise(b"k" * 32, b"run %d" % run, Spending(Fraction(1), 2)).cells(ROOT, 0, 6) for run in range(400)]
    assert np.abs(np.mean(drawn, axis=0)).max() < 3 < np.abs(drawn[0]).max()


def test_a_partner_that_varies_terms_and_order_hears_one_number_and_spends_one_epsilon(tmp_path: Path) -> None:
    node = Guarded(tmp_path, CASE, BOUNDED)
    heard = [told_at_root(node, terms) for terms in (TERMS, *idle_terms())]
    heard += [told_at_root(node, TERMS, bob) for bob in other_orders()]
    assert len(heard) == 13
    assert all(each == heard[0] for each in heard)
    assert node.spent == ["1"]


def test_a_partner_that_varies_what_is_asked_hears_the_same_number_until_its_epsilon_is_spent(tmp_path: Path) -> None:
    node = Guarded(tmp_path, CASE, BOUNDED)
    first = told_at_root(node, TERMS)
    assert told_at_root(node, replace(TERMS, impurity=Impurity.GINI))[0] == first[0]
    for change in ({"min_leaf": 6}, {"max_depth": 2}, {"noise": Fraction(9, 10)}):
        assert_refused(node.meet(replace(TERMS, **change)), "noise")
    assert node.spent == ["1", "1"]
