"""What runs with noise spend of a data set is put on record, adds up, and is refused above what its owner allows."""

from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.records.ledger import PeerName, read_ledger
from party.records.releases import Spend, released
from protocols.errors import DisagreementError
from protocols.messages import ClassCounts, DisguisedPage, ExactCounts, PackedCounts
from protocols.terms import Impurity, Terms
from tests.support.cases import correlated
from tests.support.curious import memory_of, take_part
from tests.support.duel import End, duel
from tests.support.parties import Case, make_local, make_terms

CASE = Case(
    sizes={"alice": (2, 2), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated([2, 2, 2, 2], 80),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)


def _terms(noise: str | None, **changes: Any) -> Terms:
    return make_terms(**{"method": "smc", "max_depth": 1, "noise": noise and Fraction(noise)} | changes)


class _Owner:
    """Alice, who remembers and has a budget; her peer has neither."""

    def __init__(self, folder: Path, budget: str | None = None) -> None:
        self.folder, self.visits = folder, 0
        self.budget = None if budget is None else Fraction(budget)

    def meet(self, terms: Terms) -> tuple[End[Any], End[Any]]:
        self.visits += 1
        theirs = self.folder / f"bob-{self.visits}"
        theirs.mkdir()
        with ExitStack() as stack:
            alice, bob = (make_local(CASE, name) for name in ("alice", "bob"))
            mine = memory_of(stack, alice, self.folder, PeerName("bob", "B0B0"), self.budget)
            other = memory_of(stack, bob, theirs, PeerName("alice", "A11CE"))
            return duel(take_part(mine, None), take_part(other, terms))

    @property
    def spent(self) -> list[str]:
        with read_ledger(self.folder, make_local(CASE, "alice").secrets.coins) as ledger:
            (known,) = released(ledger.entries()).values()
        spent: Any = known["spent"]
        return sorted(spent.values())


def _assert_refused(ends: tuple[End[Any], End[Any]], words: str) -> None:
    assert all(isinstance(end.error, DisagreementError) and end.error.field == "noise" for end in ends), ends
    assert words in str(ends[0].error)
    assert not any(
        isinstance(message, ClassCounts | DisguisedPage | ExactCounts | PackedCounts)
        for end in ends
        for message in end.sent
    )


def test_the_same_run_again_spends_nothing_and_another_one_adds_to_it(tmp_path: Path) -> None:
    alice = _Owner(tmp_path, budget="3.5")
    for terms in (_terms("1"), _terms("1"), _terms("5/2")):
        assert all(end.error is None for end in alice.meet(terms))
    assert alice.spent == ["1", "5/2"]
    assert all(end.error is None for end in alice.meet(_terms("1")))


def test_a_tree_spends_what_it_takes_or_what_its_held_out_table_does(tmp_path: Path) -> None:
    alice, tree = _Owner(tmp_path), {"reveal": "tree", "impurity": Impurity.GINI}
    for noise in ("1", "1/4", "1"):
        assert all(end.error is None for end in alice.meet(_terms(noise, **tree)))
    assert alice.spent == ["1", "1/2"]


def test_a_run_above_the_budget_is_refused_on_both_sides_with_the_arithmetic(tmp_path: Path) -> None:
    alice = _Owner(tmp_path, budget="2.5")
    alice.meet(_terms("1"))
    _assert_refused(
        alice.meet(_terms("2")),
        "our [agree] epsilon allows 2.5 over the life of a data set: 1 spent before (by 1) and 2 for this run make 3;",
    )
    assert alice.spent == ["1"]


def test_with_a_budget_counts_without_noise_are_refused_and_never_forgotten(tmp_path: Path) -> None:
    _assert_refused(_Owner(tmp_path, budget="100").meet(_terms(None)), "answers without noise are asked for")
    free = _Owner(tmp_path / "free")
    free.folder.mkdir()
    assert all(end.error is None for end in free.meet(_terms(None)))
    free.budget = Fraction(100)
    _assert_refused(free.meet(_terms("1")), "answers without noise of this one have been told before")


def test_without_a_budget_what_is_spent_is_on_record_all_the_same(tmp_path: Path) -> None:
    alice = _Owner(tmp_path)
    for noise in ("1", "2"):
        assert all(end.error is None for end in alice.meet(_terms(noise)))
    assert alice.spent == ["1", "2"]


@pytest.mark.parametrize(
    ("spent", "epsilon", "fits"),
    [
        ({}, "2", True),
        ({}, "9/4", False),
        ({"a": "1", "b": "1/2"}, "1/2", True),
        ({"a": "1", "b": "1/2"}, "3/4", False),
    ],
)
def test_a_budget_is_spent_to_the_last_and_not_beyond(spent: dict[str, str], epsilon: str, fits: bool) -> None:
    assert (Spend("c", Fraction(epsilon)).refusal(spent, Fraction(2)) is None) == fits
