"""What a peer tells of sets of items is believed only if a party that counts them can tell it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pytest

from protocols.association.own_sets import OwnSets
from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.messages import ExactCounts, ModelDigest, SetCounts, Verdict
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Receive, Role, Send
from protocols.tables import Attribute, joint_schema
from protocols.terms import NO_CLASS, Method, RuleTerms
from protocols.two_party.agreement import Agreement
from protocols.two_party.itemsets import OwnCounts
from protocols.two_party.power import least_seen
from tests.protocols.two_party.test_itemsets import RULES, table
from tests.support.duel import duel, replay
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.plain import schema_of

CASE = RuleCase(table(200).sizes, table(200).codes, rule_terms(RULES, min_leaf=5))
EXACT = CASE.with_terms(method=Method.SMC, rules=replace(RULES, max_len=2))

Change = Callable[[Any], object]


SCHEMA = schema_of((2, 2, 3, 2), 1, alice=2)  # items 4 to 6 are of Bob's first column, 7 and 8 of his second
DESIGN = RelatedDesign((), (), Fraction(1))
TELLING = RuleTerms(Fraction(1, 4), 2, 4)
CODES = np.array([[row % 2, row % 4 == 0, 0, 0] for row in range(20)], dtype=np.uint8)


def heard(items: tuple[int, ...], sizes: tuple[int, ...], counts: tuple[int, ...], **terms: Any) -> Any:
    """Return the counts that Alice believes of what Bob tells of 20 records, or the kind of error with which she ends.

    A set is frequent with five of them; three set two sets apart.
    """
    rules = replace(TELLING, **terms)
    alice = OwnCounts("alice", Agreement(rule_terms(rules, min_leaf=3), SCHEMA, "bob", DESIGN, DESIGN), rules, CODES)
    end = replay(alice.share(OwnSets((), 0, complete=True)), [Verdict(""), SetCounts(items, sizes, counts)])
    return type(end.error) if end.error else tuple(alice.counts(end.result or ()).values())


@pytest.mark.parametrize(
    "told",
    [
        ((4, 5, 7, 4, 7), (1, 1, 1, 2), (8, 8, 12, 8)),
        ((7,), (1,), (20,)),
        ((4, 7, 4, 7), (1, 1, 2), (8, 12, 5)),
        ((), (), ()),
    ],
    ids=["all of a part", "all records", "three apart", "none"],
)
def test_what_a_party_can_have_found_is_believed(told: tuple[tuple[int, ...], ...]) -> None:
    assert heard(*told) == told[2]


IMPOSSIBLE: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "ours": ({}, (0,), (1,), (8,)),
    "an item that there is not": ({}, (9,), (1,), (8,)),
    "an item that is absent": ({"absent": ("v2",)}, (6,), (1,), (8,)),
    "more than all records": ({}, (4,), (1,), (21,)),
    "too rare": ({}, (4,), (1,), (4,)),
    "all but a few": ({}, (4,), (1,), (18,)),
    "more than a part": ({}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 9)),
    "all but a few of a part": ({}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 6)),
    "a set before its parts": ({}, (4, 7, 4, 7), (2, 1, 1), (8, 8, 12)),
    "items out of order": ({}, (4, 7, 7, 4), (1, 1, 2), (8, 12, 8)),
    "two values of a column": ({}, (4, 5, 4, 5), (1, 1, 2), (8, 8, 5)),
    "twice": ({}, (4, 4), (1, 1), (8, 8)),
    "no items": ({}, (), (0,), (8,)),
    "too many items": ({"max_len": 1}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 8)),
    "too many sets": ({"most_sets": 1}, (4, 7), (1, 1), (8, 12)),
    "sets without counts": ({}, (7,), (1,), ()),
    "items of no set": ({}, (4, 5), (1,), (8,)),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_no_party_can_have_found_is_the_peers_fault(case: str) -> None:
    terms, *told = IMPOSSIBLE[case]
    assert heard(*told, **terms) is PeerError


@pytest.mark.parametrize("most", [1, 2])
def test_who_has_more_sets_than_agreed_tells_none(most: int) -> None:
    """Alice has two of one item each, as many as make a set."""
    case = RuleCase({"alice": (2,), "bob": (2,)}, CODES[:, :2], rule_terms(RuleTerms(Fraction(1, 4), 1, most)))
    end = duel(case.role("alice"), case.role("bob"))[0]
    assert isinstance(end.error, DisagreementError) is (most == 1)
    assert any(isinstance(message, SetCounts) for message in end.sent) is (most > 1)


def play_against(
    change: Change, case: RuleCase = CASE, sender: str = "bob", kind: type = SetCounts, crossed: set[type] | None = None
) -> None:
    """Play both, with messages of one kind of one side changed on their way; `crossed` gets the other's kinds."""
    roles: dict[str, Role[object]] = {name: case.role(name) for name in ("alice", "bob")}
    inbox: dict[str, list[object]] = {"alice": [], "bob": []}
    waiting = dict.fromkeys(roles, False)
    while True:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            while not waiting[name] or inbox[name]:
                effect = roles[name].send(inbox[name].pop(0) if waiting[name] else None)
                waiting[name] = isinstance(effect, Receive)
                if isinstance(effect, Send):
                    told = effect.message
                    if crossed is not None and name != sender:
                        crossed.add(type(told))
                    inbox[other].append(change(told) if name == sender and isinstance(told, kind) else told)


def test_what_is_not_changed_is_believed_and_what_cannot_be_ends_the_run() -> None:
    with pytest.raises(StopIteration):
        play_against(lambda told: told)
    with pytest.raises(PeerError, match="cannot be true"):
        play_against(lambda told: SetCounts(told.items, told.sizes, (201, *told.counts[1:])))


def test_counts_of_own_sets_that_the_copy_contradicts_end_the_run() -> None:
    large, rules = table(2000), replace(RULES, max_len=1)
    case = RuleCase(large.sizes, large.codes, rule_terms(rules))

    def halved(told: SetCounts) -> SetCounts:
        return SetCounts(told.items, told.sizes, tuple(max(count // 2, 500) for count in told.counts))

    assert not ends_at_the_digests(halved, case, "bob", SetCounts)
    slip = lambda told: SetCounts(told.items, told.sizes, tuple(count - 1 for count in told.counts))  # noqa: E731
    assert ends_at_the_digests(slip, case, "bob", SetCounts)  # the copy is too noisy to see it


def test_counts_of_own_sets_that_are_wrong_by_what_both_screens_say_are_seen() -> None:
    large = table(6000)
    case = RuleCase(large.sizes, large.codes, rule_terms(replace(RULES, max_len=1)))
    local = case.local("bob").bringing(case.terms)
    schema = joint_schema(case.attributes, Attribute("alice", NO_CLASS, (NO_CLASS,)), ("alice", "bob"))
    least = least_seen(local.design(case.terms.theta, class_is_shared=True), schema, 6000, 1)
    assert least is not None
    assert 500 < least < 1000

    def fewer(told: SetCounts) -> SetCounts:
        return SetCounts(told.items, told.sizes, (told.counts[0] - ceil(least), *told.counts[1:]))

    assert not ends_at_the_digests(fewer, case, "bob", SetCounts)


def ends_at_the_digests(change: Change, case: RuleCase, sender: str, kind: type) -> bool:
    """Tell whether false counts are seen only by the results, which differ, and not before."""
    crossed = set[type]()
    with pytest.raises(DeviationError):
        play_against(change, case, sender, kind, crossed)
    return ModelDigest in crossed


def test_counts_of_both_that_those_of_subsets_contradict_end_the_run() -> None:
    more = lambda told: ExactCounts(tuple(min(count + 200, 200) for count in told.values))  # noqa: E731
    assert not ends_at_the_digests(more, EXACT, "alice", ExactCounts)
    slip = lambda told: ExactCounts(tuple(count - 1 for count in told.values))  # noqa: E731
    assert ends_at_the_digests(slip, EXACT, "alice", ExactCounts)
