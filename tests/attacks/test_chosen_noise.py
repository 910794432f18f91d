"""Attacks on noise: ask for the same number until its noise averages out (DESIGN 14, "Noise").

Bob varies every term and the order of his columns. What of this makes no other question is answered with the same
number; the rest spends epsilon, and more than is allowed is refused before anything leaves.

A collector that publishes a model of its choice for respondents to test (Surveys 3.4): what the bit tells it.

It serves the page, so it may publish whatever it likes; respondents follow the page. Everything is enumerated: no run
of the attack can come out otherwise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.learning.tree import Leaf, Split, Tree
from protocols.noise.accounting import Spending
from protocols.noise.both import OwnNoise
from protocols.survey.personal_test import BitDesign
from protocols.survey.responses import survey_schema
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


YES_NO = ("yes", "no")
SCHEMA = survey_schema(("smokes", "ill"), (YES_NO, YES_NO))
THETA = Fraction(1, 2)
MODEL_RECORDS = [(0, 0), (0, 1), (1, 0), (1, 1)]
SAYS_YES = Tree(SCHEMA, Leaf((1.0, 0.0), 0))
"""It asks for the class: it is right about everybody whose personal answer to it is "yes"."""


def models() -> Iterator[Tree]:
    """Yield every function of the attribute: all that a model can be here."""
    for labels in product(range(2), repeat=2):
        yield Tree(SCHEMA, Split((1.0, 1.0), 0, tuple(Leaf((1.0, 1.0), label) for label in labels)))


def chances(model: Tree, bit: BitDesign, personal: tuple[int, int]) -> Mapping[bool, Fraction]:
    """Return the chance of each bit that a respondent with this personal record sends."""
    found = bool(model.predict(np.array([personal], dtype=np.uint8))[0] == personal[1])
    told = dict(zip((found, not found), bit.coin, strict=False))
    return {said: told.get(said, Fraction(0)) for said in (True, False)}


def certain_truths(model: Tree, bit: BitDesign) -> Fraction:
    """Return the share of respondents of whom response and bit make the private class certain; all else is uniform."""
    joint: dict[tuple[tuple[int, int], bool], dict[int, Fraction]] = {}
    for private, personal in product(MODEL_RECORDS, repeat=2):
        for response, coin in ((private, THETA), (personal, 1 - THETA)):
            for said, chance in chances(model, bit, personal).items():
                classes = joint.setdefault((response, said), {0: Fraction(0), 1: Fraction(0)})
                classes[private[1]] += coin * chance / len(MODEL_RECORDS) ** 2
    return sum((sum(c.values(), Fraction(0)) for c in joint.values() if min(c.values()) == 0), Fraction(0))


def test_a_bit_sent_as_it_is_gives_the_chosen_personal_answer_and_with_it_the_truth_of_a_quarter() -> None:
    """The positive control: of the half that tells the truth, the half whose personal class is another one."""
    plain = BitDesign(Fraction(1))
    for personal in MODEL_RECORDS:
        assert chances(SAYS_YES, plain, personal)[personal[1] == 0] == 1
    assert certain_truths(SAYS_YES, plain) == Fraction(1, 4)


@pytest.mark.parametrize("truth", ["3/4", "9/10"])
def test_under_its_coin_no_model_makes_anything_certain_or_moves_odds_beyond_the_bound(truth: str) -> None:
    bit = BitDesign(Fraction(truth))
    bound = bit.truth / (1 - bit.truth)
    assert exp(bit.loss) == pytest.approx(float(bound))
    worst = Fraction(0)
    for model in models():
        assert certain_truths(model, bit) == 0
        for one, other in product(MODEL_RECORDS, repeat=2):
            ratios = [chances(model, bit, one)[said] / chances(model, bit, other)[said] for said in (True, False)]
            worst = max(worst, *ratios)
    assert worst == bound
