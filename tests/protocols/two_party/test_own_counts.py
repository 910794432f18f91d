"""What a peer tells of sets of items is believed only if a party that counts them can tell it."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import pytest

from protocols.errors import DeviationError, PeerError
from protocols.messages import ExactCounts, ModelDigest, SetCounts
from protocols.role import Receive, Role, Send
from protocols.tables.schema import Attribute, joint_schema
from protocols.terms import EVERYONE, Cipher, Method
from protocols.two_party.power import least_seen
from tests.protocols.two_party.test_itemsets import RULES, table
from tests.support.joint_itemsets import RuleCase, rule_terms

CASE = RuleCase(table(200).sizes, table(200).codes, rule_terms(RULES, min_leaf=5))
EXACT = CASE.with_terms(method=Method.SMC, cipher=Cipher.CURVE, rules=replace(RULES, max_len=2))

Change = Callable[[Any], object]


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


def test_what_is_not_changed_is_believed() -> None:
    with pytest.raises(StopIteration):
        play_against(lambda told: told)


@pytest.mark.parametrize(
    "change",
    [
        lambda told: SetCounts((0, *told.items[1:]), told.sizes, told.counts),
        lambda told: SetCounts((99, *told.items[1:]), told.sizes, told.counts),
        lambda told: SetCounts(told.items, told.sizes, (201, *told.counts[1:])),
        lambda told: SetCounts(told.items, told.sizes, (3, *told.counts[1:])),
        lambda told: SetCounts(told.items, told.sizes, (198, *told.counts[1:])),
        lambda told: SetCounts(told.items, told.sizes, (*told.counts[:-1], max(told.counts))),
        lambda told: SetCounts(told.items[::-1], told.sizes[::-1], told.counts[::-1]),
        lambda told: SetCounts((*told.items, told.items[0]), (*told.sizes, 1), (*told.counts, told.counts[0])),
        lambda told: SetCounts(told.items, told.sizes[:-1], told.counts[:-1]),
    ],
    ids=["ours", "unknown", "too many", "too rare", "few without", "more than a subset", "order", "twice", "short"],
)
def test_what_no_party_can_have_found_ends_the_run(change: Callable[[SetCounts], SetCounts]) -> None:
    with pytest.raises(PeerError, match="cannot be true"):
        play_against(change)


def test_counts_of_own_sets_that_the_copy_contradicts_end_the_run() -> None:
    large, rules = table(2000), replace(RULES, max_len=1)
    case = RuleCase(large.sizes, large.codes, rule_terms(rules, cipher=Cipher.CURVE))

    def halved(told: SetCounts) -> SetCounts:
        return SetCounts(told.items, told.sizes, tuple(max(count // 2, 500) for count in told.counts))

    assert not ends_at_the_digests(halved, case, "bob", SetCounts)
    slip = lambda told: SetCounts(told.items, told.sizes, tuple(count - 1 for count in told.counts))  # noqa: E731
    assert ends_at_the_digests(slip, case, "bob", SetCounts)  # the copy is too noisy to see it


def test_counts_of_own_sets_that_are_wrong_by_what_both_screens_say_are_seen() -> None:
    large = table(6000)
    case = RuleCase(large.sizes, large.codes, rule_terms(replace(RULES, max_len=1), cipher=Cipher.CURVE))
    local = case.local("bob").bringing(case.terms)
    schema = joint_schema(case.attributes, Attribute("alice", EVERYONE, (EVERYONE,)), ("alice", "bob"))
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


@pytest.mark.parametrize("wrong", [lambda count: count + 200, lambda count: count - 200], ids=["many", "few"])
def test_counts_of_both_that_those_of_subsets_contradict_end_the_run(wrong: Callable[[int], int]) -> None:
    def changed(told: ExactCounts) -> ExactCounts:
        return ExactCounts(tuple(min(max(wrong(count), 0), 200) for count in told.values))

    assert not ends_at_the_digests(changed, EXACT, "alice", ExactCounts)
    slip = lambda told: ExactCounts(tuple(count - 1 for count in told.values))  # noqa: E731
    assert ends_at_the_digests(slip, EXACT, "alice", ExactCounts)
