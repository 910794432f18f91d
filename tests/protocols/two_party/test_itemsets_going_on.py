"""A search for itemsets that was cut off goes on: what both have kept is not told again, and the end is the same."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from protocols.errors import DeviationError
from protocols.messages import CiphertextPage, DisguisedPage, ExactCounts, SetCounts
from protocols.role import Part, Receive, Save, Send
from protocols.terms import Method
from protocols.two_party.itemsets import FoundTogether
from tests.protocols.two_party.test_itemsets import RULES, table
from tests.support.joint_itemsets import RuleCase, rule_terms

CASE = RuleCase(table(150).sizes, table(150).codes, rule_terms(RULES))


class Store:
    """Keeps what a role saves, as the journal does."""

    def __init__(self) -> None:
        self.parts: dict[Part, dict[int, bytes]] = {}

    def save(self, item: Save) -> None:
        self.parts.setdefault(item.part, {})[item.number] = item.content

    def recall(self, part: Part) -> Iterator[bytes]:
        yield from (content for _, content in sorted(self.parts.get(part, {}).items()))


def play(
    stores: dict[str, Store], most: int, *, goes_on: bool, case: RuleCase = CASE
) -> tuple[dict[str, FoundTogether], Counter[type]]:
    """Play until both have ended, or Bob has kept this many answers; return results and what crossed."""
    roles = {name: case.role(name, stores[name] if goes_on else None) for name in stores}
    inbox: dict[str, list[Any]] = {name: [] for name in stores}
    waiting, ended, crossed = dict.fromkeys(stores, False), dict[str, FoundTogether](), Counter[type]()
    while len(ended) < 2:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            while name not in ended and (not waiting[name] or inbox[name]):
                try:
                    effect = roles[name].send(inbox[name].pop(0) if waiting[name] else None)
                except StopIteration as stop:
                    ended[name] = stop.value
                    break
                waiting[name] = isinstance(effect, Receive)
                if isinstance(effect, Save):
                    stores[name].save(effect)
                if isinstance(effect, Send):
                    crossed[type(effect.message)] += 1
                    inbox[other].append(effect.message)
                if len(stores["bob"].parts.get(Part.ANSWERS, {})) >= most:
                    return ended, crossed
    return ended, crossed


def test_a_search_that_was_cut_off_goes_on_unless_its_answers_are_none() -> None:
    whole, everything = play({"alice": Store(), "bob": Store()}, 99, goes_on=False)
    stores = {"alice": Store(), "bob": Store()}
    cut, _ = play(stores, 3, goes_on=False)  # records, own sets, the first sets of both
    assert cut == {}
    ended, crossed = play(stores, 99, goes_on=True)
    assert {each.itemsets.digest() for each in ended.values()} == {whole["bob"].itemsets.digest()}
    assert (crossed[SetCounts], crossed[DisguisedPage], crossed[CiphertextPage]) == (0, 0, 0)
    assert 0 < crossed[ExactCounts] < everything[ExactCounts]
    # Both have the same ones, or they would ask again.
    case = CASE.with_terms(method=Method.SMC, rules=replace(RULES, max_len=2))
    stores = {"alice": Store(), "bob": Store()}
    assert play(stores, 99, goes_on=False, case=case)[0]
    assert play(stores, 99, goes_on=True, case=case)[0]
    for store in stores.values():
        store.parts[Part.ANSWERS][2] += bytes(8)
    with pytest.raises(DeviationError):
        play(stores, 99, goes_on=True, case=case)
