"""What is asked of a data set where the tree alone is revealed, and asked again with other tables or orders."""

import re
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.errors import PausedError, PeerLostError
from party.node import players
from party.node.check import used_up
from party.node.policy import Account
from party.records.run_entries import KnownAnswers, RunEntries, recorded_answers
from party.records.tally import dealings
from party.settings.party import LifeBounds, read_party_config
from party.show.ledger import dealings_lines
from protocols.errors import DeviationError, DisagreementError
from protocols.learning.tree import Split
from protocols.role import Fact, Save
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.openings import OpenedFact
from protocols.tables import Table
from protocols.terms import Impurity
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs
from tests.party.records.test_tally import let
from tests.support import sessions as support
from tests.support.parties import Case, make_local, make_terms
from tests.support.sessions import ANY_ODDS, Sessions, contents, trained, with_terms

CODES = np.random.default_rng(5).integers(0, 2, (300, 5)).astype(np.uint8)
CODES[:, -1] = np.arange(300) < 9
TERMS = make_terms(method="smc", reveal="tree", max_depth=2, min_leaf=20, test=Fraction(1, 5))
CASE = Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)


def brought(case: Case, party: str) -> PartyInputs:
    return replace(make_local(case, party), limits=USUAL_LIMITS)


def with_a_cell_changed(row: int) -> Case:
    codes = CODES.copy()
    codes[row, 0] ^= 1
    return replace(CASE, codes=codes)


def test_a_class_that_was_found_too_rare_is_not_judged_over_another_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another table of the partner has another split; over many, the word would tell single people's classes."""
    monkeypatch.setattr(support, "make_local", brought)
    sessions, fields = Sessions(tmp_path, CASE, ANY_ODDS), []
    for case in (CASE, CASE, with_a_cell_changed(20), with_a_cell_changed(30)):
        sessions.case = case
        ends = sessions.both_errors()
        assert all(isinstance(end, DisagreementError) for end in ends)
        fields.append({end.field for end in ends if isinstance(end, DisagreementError)})
    assert fields == [{"class counts"}, {"class counts"}, {"released"}, {"released"}]
    released = [each for each in contents(sessions, "bob") if each["kind"] == "release"]
    assert any("peer data" in each["fields"] for each in released)


def test_another_order_of_the_same_columns_is_the_same_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two columns of equal worth the same one splits, whichever comes first in the file."""
    codes = CODES.copy()
    codes[:, 1] = codes[:, 0]
    codes[:, -1] = codes[:, 0] ^ (np.arange(300) % 4 == 0)
    trees = []
    for order in ([0, 1], [1, 0]):

        def ordered(case: Case, party: str, order: list[int] = order) -> PartyInputs:
            local = make_local(case, party)
            if party == "bob":
                return local
            attributes = tuple(local.table.attributes[column] for column in order)
            return replace(local, table=Table(attributes, np.ascontiguousarray(local.table.codes[:, order])))

        monkeypatch.setattr(support, "make_local", ordered)
        sessions = Sessions(tmp_path / str(order[0]), replace(CASE, codes=codes), ANY_ODDS)
        trees.append(trained(sessions.run()[0]).outcome.tree)
    assert trees[0] == trees[1]
    assert isinstance(trees[0].root, Split)
    assert trees[0].schema.attributes[trees[0].root.attribute].name == "a0"


class OtherColumns:
    """A partner that sends the commitment of its first table, and brings other columns each time (it deviates)."""

    def __init__(self, sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sessions, self.number = sessions, 0
        monkeypatch.setattr(support, "make_local", self._brought)

    def _brought(self, case: Case, party: str) -> PartyInputs:
        local = make_local(case, party)
        if party == "bob":
            return local
        other, number = make_local(self._case, party), self.number

        @dataclass(frozen=True)
        class Brought(PartyInputs):
            def digest(self, purpose: bytes) -> bytes:
                return local.digest(purpose) if number else super().digest(purpose)

        return Brought(**{each.name: getattr(other, each.name) for each in fields(PartyInputs)})

    @property
    def _case(self) -> Case:
        """The first column says more of the class than the second, and then the other way round."""
        codes = CLASSES.copy()
        codes[:, :2] = codes[:, 1::-1] if self.number else codes[:, :2]
        return replace(CASE, codes=codes)

    def tree(self) -> Split:
        """Run, and return the root of the tree that both end with."""
        root = trained(self.sessions.run()[0]).outcome.tree.root
        assert isinstance(root, Split)
        self.number += 1
        return root


CLASSES = CODES.copy()
CLASSES[:, -1] = np.arange(300) % 2
CLASSES[:, 0] = CLASSES[:, -1] ^ (np.arange(300) % 5 == 0)
CLASSES[:, 1] = CLASSES[:, -1] ^ (np.arange(300) % 3 == 0)
FEW_BITS = replace(CASE, codes=CLASSES, terms=replace(TERMS, most_bits=12))
"""log2 5 at the root, 2 in each branch, and a bit for each of four leaves: 11 at most."""


IDLE = {"key_bits": 512, "counting": "paillier"}
ASKED = [
    ({"method": "smc", "omega": 1}, {"method": "hybrid", "omega": 1}, False),
    ({"method": "hybrid", "omega": 1}, {"method": "smc"}, False),
    ({"method": "randomized"}, {"method": "smc"}, False),
    ({"method": "randomized"}, {"method": "randomized", "omega": 2, **IDLE}, True),
    ({"method": "smc"}, {"method": "smc", "omega": 2, "theta": Fraction(2, 3), "key_bits": 512}, True),
]


@pytest.mark.parametrize(("first", "then", "same"), ASKED)
def test_runs_ask_for_the_same_if_no_term_differs_that_the_method_uses(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], *, same: bool
) -> None:
    """Answers on record are no other run's; a repeated run is not one too many, and reveals nothing new."""
    sessions = Sessions(tmp_path, with_terms(FEW_BITS, theta=Fraction(3, 5), **first), ANY_ODDS)
    sessions.run()
    told, other = bits_of(sessions, "bob"), with_terms(sessions.case, **then).terms
    for most in (1, 2):
        let(sessions, "alice", f"most_runs = {most}")
        ends = sessions.both_errors(other)
        fields = [None if end is None else getattr(end, "field", end) for end in ends]
        assert fields == [None if same or most == 2 else "budget"] * 2
    assert (bits_of(sessions, "bob") == told) == same


@pytest.mark.parametrize("forgets", ["nobody", "the partner", "both"])
def test_other_columns_under_an_old_commitment_hear_the_old_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgets: str
) -> None:
    """The control: where nobody remembers, the same run on other columns opens another tree."""
    sessions = Sessions(tmp_path, replace(CASE, codes=CLASSES), ANY_ODDS)
    partner = OtherColumns(sessions, monkeypatch)
    first, recorded = partner.tree(), recorded_answers
    before = bits_of(sessions, "bob")
    if forgets != "nobody":
        alice = {"alice"} if forgets == "the partner" else {"alice", "bob"}
        monkeypatch.setattr(
            players,
            "recorded_answers",
            lambda e, p, local, a: KnownAnswers([], [b""] * 9) if local.party in alice else recorded(e, p, local, a),
        )
    again = partner.tree()
    assert (first == again) == (forgets != "both")
    assert (bits_of(sessions, "bob") == before) == (forgets != "both")


@pytest.mark.parametrize("opened", [False, True])
def test_a_tree_that_a_partner_claims_to_have_heard_is_taken_as_far_as_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opened: bool
) -> None:
    """It would choose whose nodes are asked next. The control: what was opened here and lost is believed."""
    sessions = Sessions(tmp_path, replace(CASE, codes=CLASSES), ANY_ODDS)
    honest = trained(sessions.run()[0]).outcome.tree.root
    assert isinstance(honest, Split)
    claimed = 1 - honest.attribute
    other = Sessions(tmp_path / "other", sessions.case, ANY_ODDS)
    by_party = {"alice": KnownAnswers([np.array([float(claimed)]).tobytes()]), "bob": KnownAnswers([], [b""] * opened)}
    monkeypatch.setattr(players, "recorded_answers", lambda e, p, local, a: by_party[local.party])
    if not opened:
        assert any(isinstance(end, DeviationError) for end in other.both_errors())
        return
    root = trained(other.run()[1]).outcome.tree.root
    assert isinstance(root, Split)
    assert root.attribute == claimed


def bits_of(sessions: Sessions, party: str) -> Fraction:
    with sessions.ledger(party) as ledger:
        return sum((each.bits for each in dealings(ledger.entries())), start=Fraction(0))


def test_whoever_ends_each_run_at_an_opening_is_refused_when_the_bits_are_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears our share, and says that it has heard nothing: each opening is booked before, and counts again."""
    sessions = Sessions(tmp_path, FEW_BITS, ANY_ODDS + "most_bits = 20\n")
    keep, kept = RunEntries.note, []

    def note(pages: RunEntries, fact: Fact) -> None:
        if isinstance(fact, OpenedFact) and fact.values is not None:
            kept.append(fact)
            raise PeerLostError("the line has ended")
        keep(pages, fact)

    monkeypatch.setattr(RunEntries, "note", note)
    ends: list[BaseException | None] = []
    while not any(isinstance(end, DisagreementError) for end in ends):
        before = bits_of(sessions, "bob") if ends else Fraction(0)
        ends = sessions.both_errors()
        assert len(kept) < 100
    assert {getattr(end, "field", None) for end in ends} == {"most_bits"}
    assert 0 < before <= 20
    assert "most_bits allows 20 over the life of a data set of 300 records: " in str(ends[0])
    monkeypatch.setattr(RunEntries, "note", keep)
    for party in ("alice", "bob"):
        let(sessions, party, "most_bits = 200")
    sessions.run()


def test_a_level_that_was_opened_and_is_not_on_record_is_opened_again_only_where_its_bits_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, keep = Sessions(tmp_path, FEW_BITS, ANY_ODDS + "most_bits = 12\n"), RunEntries.keep

    def forget(pages: RunEntries, item: Save) -> None:
        if item.number == 2:
            raise PeerLostError("the line has ended")
        keep(pages, item)

    monkeypatch.setattr(RunEntries, "keep", forget)
    assert all(isinstance(end, PausedError) for end in sessions.both_errors())
    monkeypatch.setattr(RunEntries, "keep", keep)
    assert {getattr(end, "field", None) for end in sessions.both_errors()} == {"most_bits"}
    once = bits_of(sessions, "bob")
    assert 8 < once <= 12
    for party in ("alice", "bob"):
        let(sessions, party, "most_bits = 16")
    sessions.run()
    assert 12 < bits_of(sessions, "bob") <= 16


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("most_bits = 12", None),
        (
            "most_bits = 11",
            "the job asks for most_bits = 12, our [agree] most_bits does not allow it: write 11 or",
        ),
        ("most_bits = 5", "allows 5 over the life of a data set of 300 records: 0 revealed before and at most 6 for"),
        ("most_columns = 2", None),
        ("most_columns = 1", "the peer brings 2 columns, our [agree] most_columns allows 1 where"),
        ("most_values = 2", None),
        ("most_values = 1", "a column of the peer has 2 values, our [agree] most_values allows 1 where"),
    ],
)
def test_a_tree_of_too_many_bits_or_a_peer_with_too_much_is_refused_on_both_sides_before_anything_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str | None
) -> None:
    key, _, most = line.partition(" = ")
    terms = replace(TERMS, most_bits=None if line == "most_bits = 5" else 12)

    def limited(case: Case, party: str) -> PartyInputs:
        local = make_local(case, party)
        bounds = {key: int(most)} if party == "alice" and key != "most_bits" else {}
        return replace(local, limits=replace(local.limits, **bounds))

    monkeypatch.setattr(support, "make_local", limited)
    sessions = Sessions(tmp_path, replace(CASE, codes=CLASSES, terms=terms), ANY_ODDS)
    if key == "most_bits":
        let(sessions, "alice", line)
    ends = sessions.both_errors()
    if said is None:
        assert ends == [None, None]
        return
    assert {getattr(end, "field", None) for end in ends} == {key}
    assert said in str(ends[0])
    assert f"its [agree] {key}" in str(ends[1])
    assert {each["kind"] for each in contents(sessions, "bob")} <= {"columns", "head", "comparison"}
    if key == "most_bits":
        found = re.search(r"write (?:most_bits = )?(\d+) ", str(ends[0]))
        assert found
        assert sessions.both_errors(replace(terms, most_bits=int(found[1]))) == [None, None]  # as the line says


def test_answers_by_a_tree_alone_are_of_the_same_bits_and_those_by_counts_are_not(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, FEW_BITS, ANY_ODDS)
    model = trained(sessions.run()[0]).outcome.model.digest()
    with sessions.ledger("alice") as ledger:
        spent = bits_of(sessions, "alice")
        for most in (5, 12, 20, None):
            account = Account(sessions.local("alice"), LifeBounds(most_bits=most), ledger)
            assert account.answers_left(model) == (None if most is None else floor(most - spent))
            assert account.answers_left(bytes(32)) is None
    assert 0 < spent <= 11


def test_answers_by_a_noisy_tree_are_of_bits_too_and_the_tree_itself_is_not(tmp_path: Path) -> None:
    noisy = replace(FEW_BITS.terms, min_leaf=1, most_bits=None, impurity=Impurity.GINI, noise=Fraction(1))
    sessions = Sessions(tmp_path, replace(FEW_BITS, terms=noisy), ANY_ODDS + "epsilon = 2\n")
    model = trained(sessions.run()[0]).outcome.model.digest()
    with sessions.ledger("alice") as ledger:
        assert Account(sessions.local("alice"), LifeBounds(most_bits=7), ledger).answers_left(model) == 7
    assert bits_of(sessions, "alice") == 0


def test_a_job_whose_bits_are_not_left_is_refused_before_anybody_is_called(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, FEW_BITS, ANY_ODDS + "most_bits = 12\n")
    sessions.run()
    config = read_party_config(tmp_path / "alice" / "party.toml", FEW_BITS.terms.key_bits)
    local = sessions.local("alice")
    assert used_up(local, config, FEW_BITS.terms, 12) is None
    flaw = used_up(local, config, replace(FEW_BITS.terms, min_leaf=FEW_BITS.terms.min_leaf + 1), 12)
    assert "most_bits allows 12 over the life of a data set of 300 records: " in str(flaw)


def test_a_mined_tree_is_of_its_bits_once_at_who_mines(tmp_path: Path) -> None:
    """Its receiver tells no more of its columns than its copy."""
    terms = make_terms(method="randomized", reveal="tree", max_depth=2, theta=Fraction(4, 5), most_bits=12)
    sessions = Sessions(tmp_path, replace(CASE, codes=CLASSES, terms=terms), ANY_ODDS)
    sessions.run()
    tree = trained(sessions.run()[1]).outcome.tree
    told = Allowance(tree.schema, 2, most=Fraction(12)).spent(tree)
    assert 1 < told <= 12
    assert [bits_of(sessions, party) for party in ("alice", "bob")] == [0, told]
    with sessions.ledger("bob") as ledger:
        lines = [line for each in dealings(ledger.entries()) for line in dealings_lines(each, full=False)]
    assert f"    at most {ceil(told)} bits of trees alone" in lines
    let(sessions, "bob", "most_bits = 12")
    sessions.case = replace(sessions.case, terms=replace(terms, max_depth=1))
    ends = sessions.both_errors()
    assert {getattr(end, "field", None) for end in ends} == {"most_bits"}
