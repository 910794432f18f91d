"""A run for rules on one table counts what two parties would, and finds what they would."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.errors import InputError
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.joint_rules import SIDES, JointTable
from protocols.tables import Attribute
from protocols.terms import RuleTerms
from tests.protocols.two_party.test_itemsets import cases, table
from tests.support.examples import at_most
from tests.support.joint_itemsets import RuleCase, plain_apriori


def joint(case: RuleCase) -> JointTable:
    alice, bob = ([each for each in case.attributes if each.party == party] for party in SIDES)
    return JointTable.of(alice, bob, case.codes)


def counts_of(found: JointItemsets) -> dict[TermSet, int]:
    return {each.terms: int(each.count) for each in found.frequent}


@settings(max_examples=at_most(8))
@given(case=cases())
def test_without_copies_it_tells_and_finds_what_a_run_does(case: RuleCase) -> None:
    assert case.terms.rules is not None
    run, _ = case.play()
    found = joint(case).find(case.terms.rules, case.terms.min_leaf, None)
    assert counts_of(found.itemsets) == counts_of(run.itemsets) == plain_apriori(case)
    assert (found.own, found.counted) == (run.told, run.counted)


def test_copies_that_tell_all_leave_nothing_to_count_and_weak_ones_most() -> None:
    case = table(2000)
    rules = RuleTerms(Fraction(1, 4), 3, 10_000)
    every = joint(case).find(rules, 1, None).counted
    counted = []
    for theta in ("1", "9/10", "3/5"):
        design = RelatedDesign.of_odds((2, 2, 2), ((0,), (1, 2)), Fraction(theta))
        copies = joint(case).copies(dict.fromkeys(SIDES, design), np.random.default_rng(1))
        found = joint(case).find(rules, 1, copies)
        assert {terms for terms, _ in counts_of(found.itemsets).items()} == plain_apriori(
            RuleCase(case.sizes, case.codes, case.with_terms(rules=rules).terms)
        ).keys()
        counted.append(found.counted)
    assert counted[0] == 0
    assert 0 < counted[1] < counted[2] <= every


def test_more_sets_of_one_party_than_are_agreed_are_refused() -> None:
    attributes = [Attribute("", name, ("0", "1")) for name in "ab"]
    made = JointTable.of(attributes, attributes, np.zeros((10, 4), dtype=np.uint8))
    with pytest.raises(InputError, match="more than most_sets = 2 sets of one party's items are frequent"):
        made.find(RuleTerms(Fraction(1, 2), 2, 2), 1, None)


def test_no_estimate_is_taken_for_frequent_whose_error_is_as_large_as_the_threshold() -> None:
    """Of some hundred sets a few are estimated at several times what there is."""
    generator = np.random.default_rng(2)
    attributes = [Attribute("", f"i{number}", ("0", "1")) for number in range(16)]
    codes = (generator.random((600, 32)) < 0.3).astype(np.uint8)
    made = JointTable.of(attributes, attributes, codes)
    design = RelatedDesign.of_odds((2,) * 16, (tuple(range(8)), tuple(range(8, 16))), Fraction(2, 3))
    copies = made.copies(dict.fromkeys(SIDES, design), generator)
    found = made.find(RuleTerms(Fraction(1, 20), 4, 0, ("0",)), 1, copies, 5000).itemsets
    assert found.undecided > 0
    assert all(0 < each.error < found.least for each in found.kept if not each.settled)
