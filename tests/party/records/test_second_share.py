"""Partners that follow the protocol and choose what they bring: each second choice is refused before answers leave."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.records.ledger import PeerName, read_ledger
from party.records.releases import released
from protocols.messages import DisguisedPage
from protocols.tables import Table
from protocols.terms import Terms
from protocols.two_party.inputs import PartyInputs
from tests.support.cases import correlated
from tests.support.curious import Ends, assert_built, assert_refused, memory_of, take_part
from tests.support.duel import duel
from tests.support.examples import few
from tests.support.parties import Case, make_local, make_terms

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 60, seed=1, flips=0.5),
    groups={"alice": 2, "bob": 2},
    terms=make_terms(),
)
METHODS = ("hybrid", "randomized", "smc")


@dataclass
class Alice:
    """Who remembers. Her peer has forgotten everything each time, so that she alone can refuse."""

    folder: Path
    visits: int = 0

    def meet(self, bob: PartyInputs, terms: Terms, *, opens: bool = False, fingerprint: str = "B0B0") -> Ends:
        self.visits += 1
        theirs = self.folder / f"bob-{self.visits}"
        theirs.mkdir()
        alice = make_local(CASE, "alice")
        with ExitStack() as stack:
            mine = memory_of(stack, alice, self.folder, PeerName(bob.party, fingerprint))
            other = memory_of(stack, bob, theirs, PeerName("alice", "A11CE"))
            return duel(take_part(mine, terms if opens else None), take_part(other, None if opens else terms))


def on_record(alice: Alice) -> dict[str, Any]:
    with read_ledger(alice.folder, make_local(CASE, "alice").secrets.coins) as ledger:
        return released(ledger.entries())


@pytest.fixture
def alice(tmp_path: Path) -> Alice:
    return Alice(tmp_path)


def bob() -> PartyInputs:
    return make_local(CASE, "bob")


def with_class(local: PartyInputs, name: str = "class") -> PartyInputs:
    """Put the class of all but one of the records elsewhere: only that person has the first value."""
    codes = local.table.codes.copy()
    codes[:, -1] = np.arange(len(codes)) > 0
    *others, label = local.table.attributes
    return replace(local, table=Table((*others, replace(label, name=name)), codes))


def with_second_column(local: PartyInputs) -> PartyInputs:
    codes = local.table.codes.copy()
    codes[0, 0] ^= 1
    return replace(local, table=Table(local.table.attributes, codes))


@pytest.mark.parametrize(("method", "opens"), few([*product(METHODS, (True, False))], 3))
class TestASecondChoice:
    """The first run is built; the same again is built; another is refused."""

    @pytest.mark.parametrize(
        ("field", "changes"),
        [("test", {"test": Fraction(13, 60)}), ("seed", {"seed": 2})],
        ids=["one person more", "other people"],
    )
    def test_of_the_split(self, alice: Alice, method: str, opens: bool, field: str, changes: dict[str, Any]) -> None:
        """12 of 60 records are held out, then 13: the difference is one person."""
        for _ in range(2):
            assert_built(alice.meet(bob(), make_terms(method=method), opens=opens))
        assert_refused(alice.meet(bob(), make_terms(method=method, **changes), opens=opens), field)

    def test_of_the_class_column(self, alice: Alice, method: str, opens: bool) -> None:
        assert_built(alice.meet(bob(), make_terms(method=method), opens=opens))
        other = alice.meet(with_class(bob()), make_terms(method=method), opens=opens)
        assert_refused(other, "peer data")
        assert "bob brought other data to our data set" in str(other[0].error)
        named = alice.meet(with_class(bob(), "person"), make_terms(method=method, class_name="person"), opens=opens)
        assert_refused(named, "class")

    def test_of_the_peers_columns(self, alice: Alice, method: str, opens: bool) -> None:
        assert_built(alice.meet(bob(), make_terms(method=method), opens=opens))
        assert_refused(alice.meet(with_second_column(bob()), make_terms(method=method), opens=opens), "peer data")
        first, *rest = bob().table.attributes
        renamed = replace(bob(), table=Table((replace(first, name="new"), *rest), bob().table.codes))
        assert_refused(alice.meet(renamed, make_terms(method=method), opens=opens), "peer columns")

    def test_of_the_peer(self, alice: Alice, method: str, opens: bool) -> None:
        assert_built(alice.meet(bob(), make_terms(method=method), opens=opens))
        other_key = alice.meet(bob(), make_terms(method=method), opens=opens, fingerprint="CAFE")
        assert_refused(other_key, "party")
        carol = replace(bob(), party="carol")
        assert_refused(alice.meet(carol, make_terms(method=method), opens=opens), "party")


@pytest.mark.parametrize("opens", [True, False], ids=["she calls", "she answers"])
def test_a_second_copy_of_the_same_table_is_refused_before_answers_leave(alice: Alice, opens: bool) -> None:
    """Other coins for the same columns: the same commitment, another copy. Ours leaves, the same as before."""
    terms = make_terms(omega=1)
    assert_built(alice.meet(bob(), terms, opens=opens))
    before = on_record(alice)
    ends = alice.meet(replace(bob(), dataset="other coins"), terms, opens=opens)
    assert_refused(ends, "peer copy", sent=(DisguisedPage,))
    assert on_record(alice) == before


def test_another_method_of_the_same_peer_is_no_second_choice(alice: Alice) -> None:
    for method in METHODS:
        assert_built(alice.meet(bob(), make_terms(method=method, omega=1)))
    assert_refused(alice.meet(with_second_column(bob()), make_terms(method="smc")), "peer data")


def test_who_mines_has_released_no_copy(alice: Alice) -> None:
    """Here Bob mines, from the copy of Alice."""
    assert_built(alice.meet(bob(), make_terms(method="randomized")))
    assert {"theta", "groups", "peer data"} <= on_record(alice)["case"].keys()
    assert not {"peer groups", "peer copy"} & on_record(alice)["case"].keys()
    with read_ledger(alice.folder / "bob-1", bob().secrets.coins) as ledger:
        theirs = released(ledger.entries())["case"]
    assert {"peer groups", "peer copy"} <= theirs.keys()
    assert not {"theta", "groups"} & theirs.keys()
