"""Apriori on recovered supports against its definition, in exact fractions; a party's own sets that differ in few."""

import tracemalloc
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.association.apriori import MinedItemsets, mine_itemsets, usable_size
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
from protocols.association.findings import Exceeding, find_exceeding
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform
from protocols.association.own_sets import TermSet, find_own_sets
from protocols.association.rules import mine_rules, rule_metrics
from protocols.association.sampling import keyed_words, randomize
from protocols.association.support import Support, estimate_support, variance
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.tables import Codes, Expression, Term
from tests.support.examples import at_most, few
from tests.support.transactions import OPERATORS, estimate_covariance, every_form, fractions

UNIVERSE = 8
Itemset = tuple[int, ...]
Found = dict[Itemset, Support]


def plain_design(sizes: Sequence[int], universe: int = UNIVERSE) -> TransactionDesign:
    """Return the design that keeps everything and adds nothing."""
    operators = (SelectASize(m, (*[Fraction(0)] * m, Fraction(1)), Fraction(0)) for m in sizes)
    return TransactionDesign(universe, tuple(operators))


def undisguised(baskets: Sequence[Sequence[int]], universe: int = UNIVERSE) -> tuple[Randomized, TransactionDesign]:
    transactions = Transactions.of(baskets, universe)
    return Randomized(transactions, transactions.sizes), plain_design(sorted(set(map(len, baskets))), universe)


@pytest.fixture(scope="module")
def shop() -> tuple[Randomized, TransactionDesign]:
    """Return 1,500 randomized transactions of 0 to 4 items in which two pairs and a triple stand out."""
    chance = np.random.default_rng(7)
    kinds: tuple[list[int], ...] = ([0, 1, 2], [0, 1], [3, 4], [5], [], [0, 1, 2, 6])
    baskets = [sorted({*kinds[chance.integers(6)], *([7] if chance.random() < 0.1 else [])}) for _ in range(1500)]
    baskets = [basket[:4] for basket in baskets]
    operators = (
        SelectASize(0, fractions("1"), Fraction(1, 10)),
        CutAndPaste(1, 7, Fraction(1, 10)),
        Uniform(2, UNIVERSE, Fraction(1, 5)),
        CutAndPaste(3, 5, Fraction(1, 10)),
        SelectASize(4, fractions("0 1/10 1/5 3/10 2/5"), Fraction(1, 20)),
    )
    design = TransactionDesign(UNIVERSE, operators)
    words = keyed_words(bytes(32), "shop", list(map(str, range(len(baskets)))))
    return randomize(Transactions.of(baskets, UNIVERSE), design, words), design


def cells(randomized: Randomized, first: Itemset, rest: Itemset = ()) -> dict[int, list[list[int]]]:
    found: dict[int, list[list[int]]] = {}
    for size, sent in zip(randomized.sizes.tolist(), randomized.transactions.sets(), strict=True):
        table = found.setdefault(size, [[0] * (len(rest) + 1) for _ in range(len(first) + 1)])
        table[len(sent.intersection(first))][len(sent.intersection(rest))] += 1
    return found


def support(randomized: Randomized, design: TransactionDesign, itemset: Itemset) -> Support:
    return estimate_support(
        design, {size: [row[0] for row in table] for size, table in cells(randomized, itemset).items()}
    )


def by_definition(
    randomized: Randomized, design: TransactionDesign, threshold: Fraction, largest: int
) -> tuple[Found, set[Itemset]]:
    """Return what is kept, with its estimates, and what is output (Review section 3.6), counting for every set."""
    kept_in_all: Found = {}
    candidates: list[Itemset] = [(item,) for item in range(UNIVERSE)]
    for k in range(1, largest + 1):
        every = {itemset: support(randomized, design, itemset) for itemset in candidates}
        kept = {
            itemset: found
            for itemset, found in every.items()
            if float(found.share) >= float(threshold) - found.standard_error
        }
        kept_in_all |= kept
        candidates = [
            itemset
            for itemset in combinations(range(UNIVERSE), k + 1)
            if all(part in kept for part in combinations(itemset, k))
        ]
    return kept_in_all, {itemset for itemset, found in kept_in_all.items() if found.share >= threshold}


def kept(mined: MinedItemsets) -> dict[Itemset, tuple[float, float]]:
    return {
        tuple(itemset): (share, variance)
        for level in mined.levels
        for itemset, share, variance in zip(
            level.itemsets.tolist(), level.shares.tolist(), level.variances.tolist(), strict=True
        )
    }


def frequent(mined: MinedItemsets) -> set[Itemset]:
    return {tuple(itemset) for level in mined.frequent() for itemset in level.itemsets.tolist()}


@pytest.mark.parametrize("threshold", ["1/4", "1/12"])
def test_mining_keeps_and_outputs_what_the_definition_does(
    shop: tuple[Randomized, TransactionDesign], threshold: str
) -> None:
    randomized, design = shop
    mined = mine_itemsets(randomized, design, Fraction(threshold))
    expected, output = by_definition(randomized, design, Fraction(threshold), mined.usable)
    found = kept(mined)
    assert set(found) == set(expected)
    assert frequent(mined) == output
    for itemset, (share, spread) in found.items():
        assert share == pytest.approx(float(expected[itemset].share), rel=1e-9, abs=1e-12)
        assert spread == pytest.approx(float(expected[itemset].variance), rel=1e-9, abs=1e-15)


def test_names_order_and_blocks_change_nothing_that_is_found(shop: tuple[Randomized, TransactionDesign]) -> None:
    randomized, design = shop
    name = [3, 6, 1, 7, 0, 2, 5, 4]
    renamed = [[name[item] for item in sent] for sent in randomized.transactions.sets()]
    other = Randomized(Transactions.of(renamed, UNIVERSE), randomized.sizes)
    mined = kept(mine_itemsets(other, design, Fraction(1, 8)))
    for itemset, values in kept(mine_itemsets(randomized, design, Fraction(1, 8))).items():
        assert mined[tuple(sorted(name[item] for item in itemset))] == pytest.approx(values, rel=1e-9)
    randomized, design = shop
    sets, sizes = randomized.transactions.sets(), randomized.sizes
    other = Randomized(Transactions.of(list(sets)[::-1], UNIVERSE), sizes[::-1].copy())
    assert kept(mine_itemsets(other, design, Fraction(1, 8))) == kept(mine_itemsets(randomized, design, Fraction(1, 8)))


@pytest.mark.parametrize("blocks", ["apriori._BLOCK_CELLS", "apriori._BITMAP_CELLS", "rules._BLOCK_CELLS"])
def test_blocks_do_not_change_what_is_found(
    shop: tuple[Randomized, TransactionDesign], blocks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = mine_itemsets(*shop, Fraction(1, 12))
    expected, rules = kept(mined), mine_rules(mined)
    monkeypatch.setattr(f"protocols.association.{blocks}", 100)
    mined = mine_itemsets(*shop, Fraction(1, 12))
    assert list(kept(mined)) == list(expected)
    assert list(kept(mined).values()) == [pytest.approx(values) for values in expected.values()]
    assert len(mine_rules(mined).rules) == len(rules.rules)


baskets_of_any_kind = st.lists(st.sets(st.integers(0, UNIVERSE - 1), max_size=5).map(sorted), min_size=1, max_size=20)


@settings(max_examples=at_most(25), deadline=None)
@given(baskets=baskets_of_any_kind, hits=st.integers(1, 20))
def test_undisguised_transactions_give_plain_frequent_itemsets(baskets: list[list[int]], hits: int) -> None:
    threshold = Fraction(min(hits, len(baskets)), len(baskets))
    expected = {
        itemset
        for k in range(1, UNIVERSE + 1)
        for itemset in combinations(range(UNIVERSE), k)
        if sum(set(itemset) <= set(basket) for basket in baskets) >= threshold * len(baskets)
    }
    mined = mine_itemsets(*undisguised(baskets), threshold)
    assert frequent(mined) == expected
    assert all(variance == pytest.approx(0, abs=1e-12) for _, variance in kept(mined).values())


def test_rules_are_those_of_the_definition_with_the_delta_method_s_error(
    shop: tuple[Randomized, TransactionDesign],
) -> None:
    randomized, design = shop
    mined = mine_itemsets(randomized, design, Fraction(1, 8))
    found = {(rule.antecedent, rule.consequent): rule for rule in mine_rules(mined).rules}
    expected = 0
    for union in (itemset for itemset in frequent(mined) if len(itemset) > 1):
        whole = support(randomized, design, union)
        for first in (part for k in range(1, len(union)) for part in combinations(union, k)):
            rest = tuple(item for item in union if item not in first)
            inner = support(randomized, design, first)
            covariance = estimate_covariance(design, cells(randomized, first, rest), whole)
            ratio = whole.share / inner.share
            variance = (whole.variance - 2 * ratio * covariance + ratio**2 * inner.variance) / inner.share**2
            rule = found[first, rest]
            assert rule.confidence == pytest.approx(float(ratio))
            assert rule.confidence_error == pytest.approx(float(max(variance, Fraction(0))) ** 0.5)
            others = float(support(randomized, design, rest).share)
            assert rule.supports == pytest.approx((float(whole.share), float(inner.share), others))
            assert rule.support_error == pytest.approx(whole.standard_error)
            expected += 1
    assert len(found) == expected > 5


@settings(max_examples=at_most(10), deadline=None)
@given(baskets=baskets_of_any_kind)
def test_rules_of_undisguised_transactions_are_exact(baskets: list[list[int]]) -> None:
    for rule in mine_rules(mine_itemsets(*undisguised(baskets), Fraction(1, 5))).rules:
        both = {*rule.antecedent, *rule.consequent}
        holders = [set(basket) for basket in baskets if set(rule.antecedent) <= set(basket)]
        assert rule.confidence == pytest.approx(sum(both <= basket for basket in holders) / len(holders))
        assert rule.confidence_error == pytest.approx(0, abs=1e-6)


def test_a_rule_whose_antecedent_is_estimated_as_0_or_less_is_counted_and_left_out() -> None:
    """Two transactions that hide most: the pair comes out above the threshold, one of its items below 0."""
    operator = CutAndPaste(2, 3, Fraction(1, 4))
    sent = Transactions.of([[0, 1]] * 6000 + [[1]] * 4000, 3)
    mined = mine_itemsets(Randomized(sent, np.full(10_000, 2)), TransactionDesign(3, (operator,)), Fraction(1, 20))
    lattice = mined.lattice
    lattice.levels[0].shares[0] = -0.5
    found = mine_rules(MinedItemsets(mined.threshold, lattice, mined.usable, cut_short=False))
    assert found.undefined == 1
    assert [rule.antecedent for rule in found.rules] == [(1,)]


def test_measures_have_mlxtends_values_or_none() -> None:
    """From its documentation of the measures, by hand: supports 2/5, 1/2, 3/5."""
    found = rule_metrics(*(np.array([share], dtype=np.float64) for share in (0.4, 0.5, 0.6)))
    expected = {
        "antecedent support": 0.5, "consequent support": 0.6, "support": 0.4, "confidence": 0.8,
        "lift": 4 / 3, "representativity": 1, "leverage": 0.1, "conviction": 2, "zhangs_metric": 0.5,
        "jaccard": 4 / 7, "certainty": 0.5, "kulczynski": (0.8 + 2 / 3) / 2,
    }  # fmt: skip
    assert {name: value[0] for name, value in found.items()} == pytest.approx(expected)
    with np.errstate(all="raise"):
        sure = rule_metrics(*(np.array([share]) for share in (1.0, 1.0, 1.0)))
        none = rule_metrics(*(np.array([share]) for share in (0.0, 0.5, 0.0)))
    assert (sure["conviction"][0], sure["certainty"][0], sure["zhangs_metric"][0]) == (np.inf, 0, 0)
    assert np.isnan(none["lift"][0])


METRICS = tuple(rule_metrics(*np.array([[0.5], [0.5], [0.5]])))


def test_thresholds_are_reached_exactly(shop: tuple[Randomized, TransactionDesign]) -> None:
    mined = mine_rules(mine_itemsets(*shop, Fraction(1, 8)))
    for metric in METRICS:
        for place, rule in few(list(enumerate(mined.rules)), 9):
            exact = rule_metrics(*np.array([mined.exact(rule)], dtype=object).T)[metric][0]
            if isinstance(exact, Fraction):
                assert mined.reached(metric, exact)[place]
                assert not mined.reached(metric, exact + Fraction(1, 10**30))[place]
    for itemset in few([*frequent(mine_itemsets(*shop, Fraction(1, 8)))], 9):
        share = support(*shop, itemset).share
        assert itemset in frequent(mine_itemsets(*shop, share))
        assert itemset not in frequent(mine_itemsets(*shop, share + Fraction(1, 10**30)))


def test_what_cannot_be_mined_is_refused_and_too_many_candidates_are(
    shop: tuple[Randomized, TransactionDesign], monkeypatch: pytest.MonkeyPatch
) -> None:
    for threshold in (Fraction(0), Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(InputError, match="min_support must be above 0 and at most 1"):
            mine_itemsets(*shop, threshold)
    _, design = shop
    with pytest.raises(InputError, match="no transactions to mine"):
        mine_itemsets(Randomized(Transactions.of([], UNIVERSE), np.zeros(0, dtype=np.int64)), design, Fraction(1, 2))
    with pytest.raises(InputError, match="the design has 8 items, the transactions 9"):
        mine_itemsets(Randomized(Transactions.of([[]], 9), np.array([0])), design, Fraction(1, 2))
    with pytest.raises(InputError, match="no parameters for transactions of size 5"):
        mine_itemsets(Randomized(Transactions.of([[]], UNIVERSE), np.array([5])), design, Fraction(1, 2))
    design = TransactionDesign(6, (CutAndPaste(4, 2, Fraction(1, 5)),))
    sent = Randomized(Transactions.of([[0, 1, 2]] * 500, 6), np.full(500, 4))
    with pytest.raises(InputError, match=r"max_len is 3, but supports of this many .* sets of up to 2 items can"):
        mine_itemsets(sent, design, Fraction(1, 2), 3)
    with pytest.raises(InputError, match="max_len must be 1 or more"):
        mine_itemsets(sent, design, Fraction(1, 2), 0)
    few = Randomized(Transactions.of([[0, 1, 2]], 6), np.full(1, 4))
    with pytest.raises(InputError, match="none can"):
        mine_itemsets(few, design, Fraction(1, 100), 1)
    untold = mine_itemsets(few, design, Fraction(1, 100))
    assert (untold.levels, untold.usable, untold.cut_short) == ((), 0, True)
    mined = mine_itemsets(sent, design, Fraction(1, 2))
    assert (mined.usable, mined.cut_short) == (2, True)
    assert not mine_itemsets(sent, design, Fraction(1, 2), 2).cut_short
    operator = CutAndPaste(4, 3, Fraction(1, 5))
    design = TransactionDesign(6, (operator,))
    for k in (1, 2, 3):
        share = next(s for s in range(1, 100) if usable_size(design, {4: 100}, Fraction(s, 100)) >= k)
        for near, able in ((share - 1, False), (share, True)):
            partial = [1 - Fraction(near, 100), *[Fraction(0)] * (k - 1), Fraction(near, 100)]
            assert (variance(operator, partial, 100) < Fraction(near, 100) ** 2) == able
    assert usable_size(design, {4: 10**6}, Fraction(5, 100)) == 3
    monkeypatch.setattr("protocols.association.apriori.MAX_CANDIDATES", 8)
    with pytest.raises(InputError, match="candidates of 2 items, more than 8: raise min_support"):
        mine_itemsets(*shop, Fraction(1, 12))


def test_nothing_above_the_threshold_is_an_empty_result_and_baskets_of_two_hundred_are_mined(
    shop: tuple[Randomized, TransactionDesign],
) -> None:
    mined = mine_itemsets(*shop, Fraction(1))
    assert (frequent(mined), mined.levels, mined.cut_short) == (set(), (), False)
    assert (mine_rules(mined).rules, mine_rules(mined).undefined) == ((), 0)
    empty = mine_itemsets(*undisguised([[], []]), Fraction(1, 2))
    assert (empty.levels, empty.usable, empty.cut_short) == ((), 0, False)
    assert {(0, 1, 2), (0, 1), (3, 4)} <= frequent(mine_itemsets(*shop, Fraction(1, 8)))
    told: list[tuple[int, int, int]] = []
    mine_itemsets(*shop, Fraction(1, 8), None, lambda *step: told.append(step))
    assert told[0] == (1, UNIVERSE, UNIVERSE)
    assert all(done <= total for _, done, total in told)
    operator = CutAndPaste(200, 7, Fraction(1, 20))
    design = TransactionDesign(400, (operator,))
    words = keyed_words(bytes(32), "large", list(map(str, range(300))))
    sent = randomize(Transactions.of([range(200)] * 300, 400), design, words)
    mined = mine_itemsets(sent, design, Fraction(9, 10), 1)
    assert mined.lattice.transactions == 300


ASSUMPTIONS_UNIVERSE = 6
BASKETS = st.lists(st.sets(st.integers(0, ASSUMPTIONS_UNIVERSE - 1), max_size=4), min_size=1, max_size=8)
SUPPORTS = st.lists(st.sampled_from([Fraction(n, 8) for n in range(9)]), min_size=1, max_size=3)


def counted(baskets: list[set[int]], supports: list[Fraction]) -> dict[tuple[int, ...], float]:
    """Return every set that exceeds, and how many times the assumed support its largest share is."""
    found: dict[tuple[int, ...], float] = {}
    for size in {len(basket) for basket in baskets}:
        same = [basket for basket in baskets if len(basket) == size]
        for k, support in enumerate(supports, start=1):
            expected, spread = len(same) * float(support), sqrt(len(same) * float(support * (1 - support)))
            for items in combinations(range(ASSUMPTIONS_UNIVERSE), k):
                holders = sum(basket.issuperset(items) for basket in same)
                if holders >= 10 and holders > expected + 3 * spread:
                    excess = holders / len(same) / float(support) if support else float("inf")
                    found[items] = max(found.get(items, 0), excess)
    return found


@settings(max_examples=at_most(60))
@given(BASKETS, SUPPORTS, st.integers(1, 60))
def test_every_set_that_exceeds_is_found_and_no_other(
    kinds: list[set[int]], supports: list[Fraction], times: int
) -> None:
    baskets = kinds * times
    found = find_exceeding(Transactions.of(baskets, ASSUMPTIONS_UNIVERSE), supports)
    assert {each.items: each.excess for each in found} == counted(baskets, supports)
    assert [each.excess for each in found] == sorted((each.excess for each in found), reverse=True)


def test_every_set_that_exceeds_is_found_and_no_other_and_none_where_nothing_is_assumed() -> None:
    baskets = [{0, 1}] * 50 + [{2, 3}] * 50 + [{0}] * 9
    found = find_exceeding(Transactions.of(baskets, 4), [Fraction(1, 2), Fraction(1, 10)])
    assert found[0] == Exceeding((0, 1), 2, 50, 100, Fraction(1, 10))
    assert [each.items for each in found] == [(0, 1), (2, 3)]
    assert find_exceeding(Transactions.of([{0}] * 100, 1), []) == ()
    assert find_exceeding(Transactions.of([], 1), [Fraction(1, 10)]) == ()


def brute_force(codes: Codes, items: list[Term], least: int, smallest: int, max_len: int) -> dict[TermSet, int]:
    """Return the sets that are used, every two compared record by record."""
    used: dict[TermSet, NDArray[np.bool_]] = {}
    for length in range(1, max_len + 1):
        for terms in combinations(items, length):
            parts = combinations(terms, length - 1) if length > 1 else ()
            if len({term.column for term in terms}) < length or not all(part in used for part in parts):
                continue
            having = Expression(terms).satisfied_by(codes)
            others = [np.zeros(len(codes), dtype=np.bool_), *used.values()]
            apart = [int((having != each).sum()) for other in others for each in (other, ~other)]
            if having.sum() >= least and all(number == 0 or number >= smallest for number in apart):
                used[terms] = having
    return {terms: int(having.sum()) for terms, having in used.items()}


@st.composite
def tables(draw: st.DrawFn) -> Codes:
    row = st.lists(st.integers(0, 2), min_size=3, max_size=3)
    rows = draw(st.lists(row, min_size=1, max_size=24))
    return np.array(rows, dtype=np.uint8)


@given(codes=tables(), least=st.integers(1, 4), smallest=st.integers(2, 6))
def test_no_two_of_the_sets_that_are_used_differ_in_few_records_nor_do_their_complements(
    codes: Codes, least: int, smallest: int
) -> None:
    items = [Term(column, value) for column in range(codes.shape[1]) for value in range(3)]
    found = find_own_sets(codes, items, least, (3, smallest), 10_000)
    assert {each.terms: each.count for each in found.sets} == brute_force(codes, items, least, smallest, 3)
    assert found.complete


def test_candidates_are_looked_at_one_by_one_and_never_held_all_together() -> None:
    codes = np.ones((80_000, 200), dtype=np.uint8)
    items = [Term(column, 1) for column in range(200)]
    tracemalloc.start()
    try:
        found = find_own_sets(codes, items, 1, (2, 1), 250)  # of 19,900 pairs, 10 kB each
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(found.sets), found.complete) == (250, False)
    assert peak < 50e6


SIGMAS = fractions("1/20 1/100 1/200")
HALF = Fraction(1, 2)

TABLE = {
    1: ("47/1000", 1, 0.4966, [0.0008]), 2: ("92/1000", 2, 0.4982, [0.0013]),
    3: ("153/1000", 3, 0.4995, [0.0018, 0.0005]), 4: ("146/1000", 3, 0.4983, [0.0019, 0.0006]),
    5: ("138/1000", 3, 0.4971, [0.0021, 0.0007]), 6: ("128/1000", 3, 0.4985, [0.0022, 0.0007]),
    7: ("117/1000", 3, 0.4961, [0.0024, 0.0009]), 8: ("102/1000", 3, 0.4967, [0.0025, 0.0012]),
    9: ("90/1000", 3, 0.4994, [0.0027, 0.0014]), 10: ("81/1000", 3, 0.4988, [0.0028, 0.0018]),
}  # fmt: skip
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


def test_an_absent_item_and_a_size_show_what_bayes_says() -> None:
    """All transactions of the size are equally likely, so each item has the support `m/n`."""
    for operator, universe in ((operator, universe) for operator, universe in OPERATORS if operator.size):
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


def test_the_largest_ratio_is_that_of_all_responses_to_all_transactions() -> None:
    for operator, universe in OPERATORS:
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
