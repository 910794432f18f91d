"""What a peer tells of its own sets is believed only if a party that finds its own sets can tell it."""

from collections.abc import Callable

import pytest

from protocols.errors import PeerError
from protocols.messages import SetCounts
from protocols.role import Receive, Role, Send
from tests.protocols.two_party.test_itemsets import RULES, table
from tests.support.joint_itemsets import RuleCase, rule_terms

CASE = RuleCase(table(200).sizes, table(200).codes, rule_terms(RULES, min_leaf=5))


def play_against(change: Callable[[SetCounts], SetCounts]) -> None:
    """Play both, with what Bob tells changed on its way."""
    roles: dict[str, Role[object]] = {name: CASE.role(name) for name in ("alice", "bob")}
    inbox: dict[str, list[object]] = {"alice": [], "bob": []}
    waiting = dict.fromkeys(roles, False)
    while True:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            while not waiting[name] or inbox[name]:
                effect = roles[name].send(inbox[name].pop(0) if waiting[name] else None)
                waiting[name] = isinstance(effect, Receive)
                if isinstance(effect, Send):
                    told = effect.message
                    changed = change(told) if name == "bob" and isinstance(told, SetCounts) else told
                    inbox[other].append(changed)


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
