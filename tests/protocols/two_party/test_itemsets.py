"""Itemsets of two parties: when all is settled, those of plain Apriori on the joined table, whatever counts them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.messages import DisguisedPage, PackedCounts, SetCounts
from protocols.role import Transcript
from protocols.terms import Counting, Method, RuleTerms
from protocols.two_party.itemsets import FoundTogether
from tests.support.examples import at_most
from tests.support.joint_itemsets import RuleCase, plain_apriori, rule_terms

RULES = RuleTerms(Fraction(1, 4), 4, 10_000)


@st.composite
def cases(draw: st.DrawFn) -> RuleCase:
    """Draw a small joint table and a threshold."""
    sizes = {party: tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))) for party in ("alice", "bob")}
    records = draw(st.integers(1, 24))
    columns = [draw(st.lists(st.integers(0, size - 1), min_size=records, max_size=records)) for size in
               (*sizes["alice"], *sizes["bob"])]  # fmt: skip
    absent = tuple(draw(st.sets(st.sampled_from(["v0", "v1"]), max_size=1)))
    support = draw(st.fractions(Fraction(1, 20), 1, max_denominator=20))
    rules = RuleTerms(support, draw(st.integers(1, 4)), 10_000, absent)
    return RuleCase(sizes, np.array(columns, dtype=np.uint8).T.copy(), rule_terms(rules, method=Method.SMC))


def counts_of(found: JointItemsets) -> dict[TermSet, int]:
    return {each.terms: int(each.count) for each in found.frequent}


@pytest.mark.parametrize("counting", Counting)
@settings(max_examples=at_most(12))
@given(case=cases())
def test_all_counted_exactly_they_are_those_of_plain_apriori(counting: Counting, case: RuleCase) -> None:
    alice, bob = case.with_terms(counting=counting).play()
    assert counts_of(alice.itemsets) == plain_apriori(case)
    assert all(each.settled for each in alice.itemsets.kept)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.itemsets.undecided == 0


def table(records: int = 400) -> RuleCase:
    """Return a table in which Bob's columns follow Alice's, in part."""
    generator = np.random.default_rng(5)
    first = generator.integers(0, 2, (records, 3))
    second = np.where(generator.random((records, 3)) < 0.85, first, 1 - first)
    codes = np.concatenate([first, second], axis=1).astype(np.uint8)
    return RuleCase({"alice": (2, 2, 2), "bob": (2, 2, 2)}, codes, rule_terms(RULES))


@pytest.mark.parametrize("counting", Counting)
def test_whatever_is_settled_has_the_count_of_the_joined_table(counting: Counting) -> None:
    case = table(150).with_terms(counting=counting)
    alice, bob = case.play()
    plain = plain_apriori(case)
    settled = {each.terms: int(each.count) for each in alice.itemsets.kept if each.settled}
    assert settled
    assert settled == {terms: plain[terms] for terms in settled}
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.key == bob.key
    assert (alice.key is not None) == (counting is Counting.PAILLIER)


def test_copies_settle_what_they_tell_clearly_and_budgets_the_rest() -> None:
    case = table(4000).with_terms(theta=Fraction(19, 20), rules=replace(RULES, min_support=Fraction(2, 5)))
    found, _ = case.play()
    plain = plain_apriori(case)
    assert set(counts_of(found.itemsets)) == set(plain)
    exact, _ = case.with_terms(method=Method.SMC).play()
    assert found.counted < exact.counted
    left = [each for each in found.itemsets.frequent if not each.settled]
    assert left
    for each in left:
        assert abs(float(each.count) - plain[each.terms]) < 6 * each.error
    case = table(4000).with_terms(method=Method.RANDOMIZED, theta=Fraction(19, 20))
    crossed = Transcript()
    alice, bob = case.play(crossed)
    assert not any(each.settled for each in alice.itemsets.kept)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    kinds = {type(message) for message in crossed.sent_by_a + crossed.sent_by_b}
    assert DisguisedPage in kinds
    assert not kinds & {SetCounts, PackedCounts}
    for method in (Method.HYBRID, Method.SMC):
        for most in (18, 20):
            case = table().with_terms(method=method, rules=replace(RULES, most_sets=most, max_len=2))
            without, _ = case.with_terms(rules=replace(RULES, most_sets=10_000, max_len=2)).play()
            found, _ = case.play()
            assert without.counted > most
            assert found.counted == most
            assert (found.itemsets.undecided > 0) == (method == Method.SMC)
    found, _ = table(4000).with_terms(rules=replace(RULES, most_sets=18, max_len=2)).play()
    left = [each for each in found.itemsets.kept if not each.settled]
    assert left
    assert all(float(each.count) >= found.itemsets.least - each.error for each in left)


def rule_of(found: FoundTogether) -> dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[float, float]]:
    return {(r.antecedent, r.consequent): (r.confidence, r.confidence_error) for r in found.itemsets.rules().rules}


def test_rules_of_settled_sets_have_their_confidence_and_no_error() -> None:
    case = table(150).with_terms(method=Method.SMC)
    found, _ = case.play()
    first, second = case.codes[:, 0] == 0, case.codes[:, 3] == 0
    confidence, error = rule_of(found)[(0,), (6,)]
    assert confidence == pytest.approx((first & second).sum() / first.sum())
    assert error == 0


def test_the_error_of_a_rule_of_estimates_bounds_that_of_repeated_runs() -> None:
    """Over other coins: the spread of the confidence of one rule, of 40 disguises of one table."""
    case = table(1000).with_terms(method=Method.RANDOMIZED, theta=Fraction(19, 20))
    seen = []
    for number in range(40):
        codes = case.codes
        other = replace(case, codes=codes)
        found = play_with_secret(other, number)
        seen.append(rule_of(found)[(0,), (6,)])
    spread = float(np.std([confidence for confidence, _ in seen]))
    assert spread < 1.5 * float(np.mean([error for _, error in seen]))


def play_with_secret(case: RuleCase, number: int) -> FoundTogether:
    class _Case(RuleCase):
        def local(self, party: str):  # type: ignore[no-untyped-def]
            local = super().local(party)
            return replace(local, secrets=replace(local.secrets, coins=bytes([number, party == "bob"]) * 16))

    return _Case(case.sizes, case.codes, case.terms, case.groups).play()[0]
