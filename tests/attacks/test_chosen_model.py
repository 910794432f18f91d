"""A collector that publishes a model of its choice for respondents to test (Surveys 3.4): what the bit tells it.

It serves the page, so it may publish whatever it likes; respondents follow the page. Everything is enumerated: no run
of the attack can come out otherwise.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from protocols.learning.tree import Leaf, Split, Tree
from protocols.survey.personal_test import BitDesign
from protocols.survey.responses import survey_schema

YES_NO = ("yes", "no")
SCHEMA = survey_schema(("smokes", "ill"), (YES_NO, YES_NO))
THETA = Fraction(1, 2)
RECORDS = [(0, 0), (0, 1), (1, 0), (1, 1)]
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
    for private, personal in product(RECORDS, repeat=2):
        for response, coin in ((private, THETA), (personal, 1 - THETA)):
            for said, chance in chances(model, bit, personal).items():
                classes = joint.setdefault((response, said), {0: Fraction(0), 1: Fraction(0)})
                classes[private[1]] += coin * chance / len(RECORDS) ** 2
    return sum((sum(c.values(), Fraction(0)) for c in joint.values() if min(c.values()) == 0), Fraction(0))


def test_a_bit_sent_as_it_is_gives_the_chosen_personal_answer_and_with_it_the_truth_of_a_quarter() -> None:
    """The positive control: of the half that tells the truth, the half whose personal class is another one."""
    plain = BitDesign(Fraction(1))
    for personal in RECORDS:
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
        for one, other in product(RECORDS, repeat=2):
            ratios = [chances(model, bit, one)[said] / chances(model, bit, other)[said] for said in (True, False)]
            worst = max(worst, *ratios)
    assert worst == bound
