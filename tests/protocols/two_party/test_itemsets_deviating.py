"""A peer that tells false counts of sets of both, or ends with other itemsets, is found out as soon as it can be."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.errors import DeviationError, InputError
from protocols.messages import ExactCounts, ModelDigest
from protocols.role import Message
from protocols.tables import Attribute, joint_schema
from protocols.terms import Method, RuleTerms
from protocols.two_party.agreement import Agreement
from protocols.two_party.itemsets import FoundTogether, find_itemsets
from tests.support.duel import End, Tamper, duel, honest
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.meeting import on
from tests.support.parties import make_terms

RULES = RuleTerms(Fraction(3, 10), 2, 10, absent=("v0",))
CODES = np.array([[row < 500, 200 <= row < 700] for row in range(1000)], dtype=np.uint8)
CASE = RuleCase({"alice": (2,), "bob": (2,)}, CODES, rule_terms(RULES, theta=Fraction(9, 10)), groups=1)
CLASS = Attribute("bob", "y", ("no", "yes"))
COPIES = CASE.with_terms(method=Method.RANDOMIZED)


def play(case: RuleCase, tamper: Tamper = honest) -> tuple[End[FoundTogether], End[FoundTogether]]:
    return duel(case.role("alice"), case.role("bob"), tamper)


def kinds(end: End[FoundTogether]) -> set[type[Message]]:
    return {type(message) for message in end.sent}


@pytest.mark.parametrize(("false", "seen"), [(1, False), (150, True)])
def test_a_count_of_both_that_the_copy_contradicts_ends_the_run_before_the_results(false: int, seen: bool) -> None:
    """All that is known of subsets allows 300 more; the copy is too noisy to show one more."""

    def changed(told: ExactCounts) -> ExactCounts:
        return ExactCounts(tuple(count + false for count in told.values))

    _, bob = play(CASE, on("a", ExactCounts, changed))
    assert type(bob.error) is DeviationError
    assert (ModelDigest in kinds(bob)) is not seen


def test_another_end_than_ours_is_a_deviation() -> None:
    alice, bob = play(COPIES, on("b", ModelDigest, lambda told: ModelDigest(bytes(len(told.digest)))))
    assert type(alice.error) is DeviationError
    assert bob.result is not None
    local, schema = COPIES.local("alice"), joint_schema(COPIES.attributes, CLASS, ("bob",))
    design = local.bringing(COPIES.terms).design(COPIES.terms.theta, class_is_shared=True)
    with pytest.raises(InputError, match="not of rules"):
        next(find_itemsets(local, Agreement(make_terms(), schema, "bob", design, design)))
