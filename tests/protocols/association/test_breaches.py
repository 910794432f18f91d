"""Beliefs that shown itemsets lead to, their worst case, and the smallest rho that keeps a level."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest

from protocols.association.breaches import (
    absent_belief,
    breach_bound,
    likelihood_ratio,
    posterior,
    size_beliefs,
    smallest_rho,
    worst_breach,
    worst_shares,
)
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform
from protocols.association.support import variance
from protocols.errors import InputError
from tests.support.transactions import OPERATORS, every_form, fractions, label

SIGMAS = fractions("1/20 1/100 1/200")
HALF = Fraction(1, 2)

TABLE = {
    1: ("47/1000", 1, 0.4966, [0.0008]),
    2: ("92/1000", 2, 0.4982, [0.0013]),
    3: ("153/1000", 3, 0.4995, [0.0018, 0.0005]),
    4: ("146/1000", 3, 0.4983, [0.0019, 0.0006]),
    5: ("138/1000", 3, 0.4971, [0.0021, 0.0007]),
    6: ("128/1000", 3, 0.4985, [0.0022, 0.0007]),
    7: ("117/1000", 3, 0.4961, [0.0024, 0.0009]),
    8: ("102/1000", 3, 0.4967, [0.0025, 0.0012]),
    9: ("90/1000", 3, 0.4994, [0.0027, 0.0014]),
    10: ("81/1000", 3, 0.4988, [0.0028, 0.0018]),
}
"""By size: the smallest rho, the itemset's size that binds, its posterior, errors of sets of 1 and of 3 items."""


@pytest.mark.parametrize("m", TABLE)
def test_the_smallest_rho_of_each_size_is_the_known_one(m: int) -> None:
    rho, binding, level, errors = TABLE[m]
    found = smallest_rho(lambda rho: CutAndPaste(m, 7, rho), SIGMAS, HALF)
    worst = worst_breach(CutAndPaste(m, 7, found), SIGMAS)
    assert (found, worst.items, round(float(worst.level), 4)) == (Fraction(rho), binding, level)
    assert worst_breach(CutAndPaste(m, 7, found - Fraction(1, 1000)), SIGMAS).level > HALF
    told = [
        sqrt(variance(CutAndPaste(m, 7, found), worst_shares(SIGMAS[:k]), 10**5)) for k in ((1, 3) if m > 2 else (1,))
    ]
    assert [round(error, 4) for error in told] == errors


def test_a_belief_is_what_bayes_says_of_any_distribution_of_transactions() -> None:
    """By brute force over all 20 transactions of 3 of 6 items, each with another chance."""
    for operator in [
        CutAndPaste(3, 2, Fraction(1, 5)),
        SelectASize(3, fractions("1/4 1/4 0 1/2"), Fraction(1, 3)),
        Uniform(3, 6, Fraction(2, 3)),
    ]:
        for itemset in [(0,), (0, 3), (1, 2, 5), (0, 1, 2, 3)]:
            prior = {t: Fraction(number, 210) for number, t in enumerate(combinations(range(6), 3), 1)}
            forms = {t: every_form(operator, t, 6) for t in prior}
            shown = {t: sum(p for sent, p in forms[t].items() if sent.issuperset(itemset)) for t in prior}
            every = sum(prior[t] * shown[t] for t in prior)
            for item in itemset:
                share = [
                    sum(p for t, p in prior.items() if len(set(t) & set(itemset)) == held)
                    for held in range(len(itemset) + 1)
                ]
                own = [
                    sum(p for t, p in prior.items() if len(set(t) & set(itemset)) == held and item in t)
                    for held in range(len(itemset) + 1)
                ]
                expected = sum(prior[t] * shown[t] for t in prior if item in t) / every if every else None
                found = posterior(operator, list(map(Fraction, share)), list(map(Fraction, own)))
                assert found == expected


def test_worst_shares_are_symmetric_and_exceed_the_review_s_where_the_other_item_never_comes_alone() -> None:
    """All sets of one size of four items have one support: taken from the shares by counting."""
    shares = fractions("1/2 1/5 3/20 1/10 1/20")
    sigmas = []
    for j in range(1, 5):
        # a transaction that holds l of four items holds a given j of them in this part of its forms
        part = {
            held: Fraction(len(list(combinations(range(held), j))), len(list(combinations(range(4), j))))
            for held in range(5)
        }
        sigmas.append(sum((share * part[held] for held, share in enumerate(shares)), Fraction(0)))
    assert worst_shares(sigmas) == shares
    # An attack: supports of 5 % and 1 %, the second item only with the first, and the smallest rho of baskets of 2.
    operator = CutAndPaste(2, 7, Fraction(92, 1000))
    shares, own = fractions("95/100 4/100 1/100"), fractions("0 4/100 1/100")
    found = posterior(operator, shares, own)
    assert worst_breach(operator, SIGMAS).level <= HALF
    assert found is not None
    assert found > Fraction(57, 100)
    assert breach_bound(operator, SIGMAS[:2]).level == found


def allowed(shares: list[Fraction], sigmas: tuple[Fraction, ...]) -> bool:
    return all(
        sum(share for pattern, share in zip(PATTERNS, shares, strict=True) if all(pattern[i] for i in part)) <= sigma
        for k, sigma in enumerate(sigmas, 1)
        for part in combinations(range(3), k)
    )


PATTERNS = list(product((0, 1), repeat=3))


@pytest.mark.parametrize(
    "operator",
    [
        CutAndPaste(4, 7, Fraction(1, 10)),
        SelectASize(3, fractions("1/4 1/4 0 1/2"), Fraction(1, 3)),
        Uniform(3, 6, Fraction(2, 3)),
        Uniform(4, 40, Fraction(9, 10)),
    ],
)
def test_no_distribution_with_such_supports_exceeds_the_bound(operator: Operator) -> None:
    """Of which of three items a transaction holds: distributions drawn, where supports are allowed, and the extreme."""
    chance = np.random.default_rng(11)
    sigmas = fractions("1/5 1/10 1/20")
    bound, highest, seen = breach_bound(operator, sigmas).level, Fraction(0), 0
    drawn = [[int(x) for x in chance.integers(0, (60, 10, 10, 5, 10, 5, 5, 5))] for _ in range(400)]
    extreme = [800, 0, 0, 0, 50, 50, 50, 50]
    for weights in (*drawn, extreme):
        shares = [Fraction(weight, max(sum(weights), 1)) for weight in weights]
        if not allowed(shares, sigmas):
            continue
        seen += 1
        held = [sum(pattern) for pattern in PATTERNS]
        whole = [sum((s for s, h in zip(shares, held, strict=True) if h == number), Fraction(0)) for number in range(4)]
        own = [
            sum((s for s, p in zip(shares, PATTERNS, strict=True) if sum(p) == number and p[0]), Fraction(0))
            for number in range(4)
        ]
        highest = max(highest, posterior(operator, whole, own) or Fraction(0))
    assert seen > 10
    assert highest <= bound
    if not isinstance(operator, Uniform):
        assert highest == bound


FILLED = [(operator, universe) for operator, universe in OPERATORS if operator.size]


@pytest.mark.parametrize(("operator", "universe"), FILLED, ids=label)
def test_an_absent_item_and_a_size_tell_what_bayes_says(operator: Operator, universe: int) -> None:
    """All transactions of the size are equally likely, so each item has the support `m/n`."""
    every = list(combinations(range(universe), operator.size))
    support = Fraction(operator.size, universe)
    forms = [(t, sent, p / len(every)) for t in every for sent, p in every_form(operator, t, universe).items()]
    hidden = sum(p for _, sent, p in forms if 0 not in sent)
    own = sum(p for t, sent, p in forms if 0 not in sent and 0 in t)
    assert absent_belief(operator, support) == (own / hidden if hidden else None)
    told = {belief.shown: belief for belief in size_beliefs(operator, support, universe)}
    for z in range(universe + 1):
        here = [(t, sent, p) for t, sent, p in forms if len(sent) == z]
        shown = sum(p for _, sent, p in here if 0 in sent)
        if not shown:
            assert z not in told
            continue
        assert told[z].chance == float(sum(p for *_, p in here))
        assert told[z].belief == float(sum(p for t, sent, p in here if 0 in sent and 0 in t) / shown)


@pytest.mark.parametrize(("operator", "universe"), OPERATORS, ids=label)
def test_the_largest_ratio_is_that_of_all_responses_to_all_transactions(operator: Operator, universe: int) -> None:
    forms = [every_form(operator, t, universe) for t in combinations(range(universe), operator.size)]
    responses = {sent for form in forms for sent in form}
    chances = [[form.get(sent, Fraction(0)) for form in forms] for sent in responses]
    finite = all(all(row) for row in chances)
    assert likelihood_ratio(operator, universe) == (max(max(row) / min(row) for row in chances) if finite else None)


def test_beliefs_fall_as_rho_grows_and_need_no_noise_where_nothing_is_frequent() -> None:
    assert smallest_rho(lambda rho: CutAndPaste(2, 1, rho), fractions("0 0"), HALF) == 0
    hidden = SelectASize(1, fractions("1 0"), Fraction(0))
    assert worst_breach(hidden, SIGMAS).level == 0
    # What halving rests on; where it failed, the level would still be kept.
    for sigmas in ("1/20 1/100 1/200", "1/5 1/10 1/20", "1/100 1/1000 1/2000"):
        for m in (1, 3, 7, 10):
            levels = [worst_breach(CutAndPaste(m, 7, Fraction(rho, 20)), fractions(sigmas)).level for rho in range(20)]
            assert levels == sorted(levels, reverse=True)
    operator = CutAndPaste(10, 7, Fraction(81, 1000))
    assert likelihood_ratio(operator, 1000) == likelihood_ratio(operator, 20)
    beliefs = size_beliefs(operator, Fraction(1, 20), 870)
    assert sum(belief.chance for belief in beliefs) == pytest.approx(1)
    assert beliefs[0].belief > beliefs[-1].belief


def test_bounds_that_are_no_bounds_are_refused() -> None:
    for sigmas in ("1/2 0 1/10", "3/5 1/10", "1/20 1/10"):
        with pytest.raises(InputError, match="no transactions have the supports"):
            worst_breach(CutAndPaste(3, 7, Fraction(1, 10)), fractions(sigmas))
    for sigmas in ("", "3/2", "-1/10"):
        with pytest.raises(InputError, match="each between 0 and 1"):
            worst_breach(CutAndPaste(3, 7, Fraction(1, 10)), fractions(sigmas))
    with pytest.raises(InputError, match="each between 0 and 1"):
        breach_bound(CutAndPaste(3, 7, Fraction(1, 10)), ())
    with pytest.raises(InputError, match=r"no rho up to 999/1000 keeps beliefs at 1/2"):
        smallest_rho(lambda rho: CutAndPaste(1, 7, rho), fractions("9/10"), HALF)
    for level in (Fraction(0), Fraction(1), Fraction(-1, 2)):
        with pytest.raises(InputError, match="level must lie strictly between"):
            smallest_rho(lambda rho: CutAndPaste(1, 7, rho), SIGMAS, level)
    with pytest.raises(InputError, match="resolution must be 2 or more"):
        smallest_rho(lambda rho: CutAndPaste(1, 7, rho), SIGMAS, HALF, resolution=1)
    operator = CutAndPaste(2, 1, Fraction(1, 5))
    with pytest.raises(InputError, match="shares with the item"):
        posterior(operator, fractions("1/2 1/2"), fractions("0 3/4"))
    with pytest.raises(InputError, match="shares with the item"):
        posterior(operator, fractions("1/2 1/2"), fractions("0"))
    with pytest.raises(InputError, match="support must be between 0 and 1"):
        absent_belief(CutAndPaste(1, 1, Fraction(1, 5)), Fraction(3, 2))
    with pytest.raises(InputError, match="empty transactions hold no item"):
        size_beliefs(SelectASize(0, fractions("1"), Fraction(1, 5)), Fraction(1, 2), 3)
