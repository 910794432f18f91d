"""What is asked of a data set where the tree alone is revealed, and asked again with other tables or orders."""

import re
import shutil
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
from party.records.journal import JOURNAL_FILE
from party.records.ledger import LEDGER_FILE, PeerEntries, PeerName, last_head
from party.records.run_entries import KnownAnswers, RunEntries, recorded_answers
from party.records.tally import Dealings, Revealed, dealings
from party.settings.party import LifeBounds, read_party_config
from party.show.ledger import dealings_lines
from party.transport.channel import PagedChannel
from protocols.errors import DisagreementError, PeerError
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.tree import Split, Tree
from protocols.messages import SignedHead
from protocols.role import Fact, Message, Save
from protocols.secret_tree.bits import Allowance, bits
from protocols.secret_tree.openings import OpenedFact
from protocols.tables import Table
from protocols.terms import Impurity, Leaves, Method
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs
from protocols.two_party.memory import bare_head
from tests.party.records.test_tally import let
from tests.support import sessions as support
from tests.support.parties import Case, make_local, make_terms
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, trained, with_terms

CODES = np.random.default_rng(5).integers(0, 2, (300, 5)).astype(np.uint8)
CODES[:, -1] = np.arange(300) < 9
TERMS = make_terms(method="smc", reveal="tree", max_depth=2, min_leaf=20, test=Fraction(1, 5))
RELEASES_CASE = Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)


def brought(case: Case, party: str) -> PartyInputs:
    return replace(make_local(case, party), limits=USUAL_LIMITS)


def with_a_cell_changed(row: int) -> Case:
    codes = CODES.copy()
    codes[row, 0] ^= 1
    return replace(RELEASES_CASE, codes=codes)


def test_a_class_that_was_found_too_rare_is_not_judged_over_another_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another table of the partner has another split; over many, the word would show single people's classes."""
    monkeypatch.setattr(support, "make_local", brought)
    sessions, fields = Sessions(tmp_path, RELEASES_CASE, ANY_ODDS), []
    for case in (RELEASES_CASE, RELEASES_CASE, with_a_cell_changed(20), with_a_cell_changed(30)):
        sessions.case = case
        fields.append({getattr(end, "field", None) for end in sessions.both_errors()})
    assert fields == [{"class counts"}, {"class counts"}, {"released"}, {"released"}]
    assert any("peer data" in each["fields"] for each in of_kind(contents(sessions, "bob"), "release"))


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
        sessions = Sessions(tmp_path / str(order[0]), replace(RELEASES_CASE, codes=codes), ANY_ODDS)
        trees.append(trained(sessions.run()[0]).outcome.tree)
    assert trees[0] == trees[1]
    assert isinstance(trees[0].root, Split)
    assert trees[0].schema.attributes[trees[0].root.attribute].name == "a0"


def with_other_columns(case: Case, party: str) -> PartyInputs:
    """Return what a partner brings that sends the commitment of its first table with other columns (it deviates)."""
    local = make_local(case, party)
    if party == "bob":
        return local
    codes = case.codes.copy()
    codes[:, :2] = codes[:, 1::-1]  # now the second column says more of the class than the first
    other = make_local(replace(case, codes=codes), party)

    @dataclass(frozen=True)
    class Brought(PartyInputs):
        def digest(self, purpose: bytes) -> bytes:
            return local.digest(purpose)

    return Brought(**{each.name: getattr(other, each.name) for each in fields(PartyInputs)})


CLASSES = CODES.copy()
CLASSES[:, -1] = np.arange(300) % 2
CLASSES[:, 0] = CLASSES[:, -1] ^ (np.arange(300) % 5 == 0)
CLASSES[:, 1] = CLASSES[:, -1] ^ (np.arange(300) % 3 == 0)
FEW_BITS = replace(RELEASES_CASE, codes=CLASSES, terms=replace(TERMS, most_bits=12))
"""log2 5 at the root, 2 in each branch, and a bit for each of four leaves: 11 at most."""


IDLE = {"omega": 2, "key_bits": 512}
ASKED: list[Any] = [
    ({"method": "smc", "omega": 1}, {"method": "hybrid", "omega": 1}, False),
    pytest.param({"method": "randomized"}, {"method": "randomized", **IDLE}, True, marks=pytest.mark.full),
    ({"method": "smc"}, {"method": "smc", "theta": Fraction(2, 3), **IDLE}, True),
]


@pytest.mark.parametrize(("first", "then", "same"), ASKED)
def test_runs_ask_for_the_same_if_no_term_differs_that_the_method_uses(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], *, same: bool
) -> None:
    """Answers on record are no other run's; a repeated run is not one too many, and reveals nothing new."""
    sessions = Sessions(tmp_path, with_terms(FEW_BITS, theta=Fraction(3, 5), **first), ANY_ODDS)
    sessions.run()
    told, other = bits_of(sessions, "bob"), with_terms(sessions.case, **then).terms
    for most in (1,) if same else (1, 2):
        let(sessions, "alice", f"most_runs = {most}")
        ends = sessions.both_errors(other)
        fields = [None if end is None else getattr(end, "field", end) for end in ends]
        assert fields == [None if same or most == 2 else "budget"] * 2
    assert (bits_of(sessions, "bob") == told) == same


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tree]:
    """Return the folder of two parties after one run of few bits, to read or to copy, and their tree."""
    folder = tmp_path_factory.mktemp("once")
    return folder, trained(Sessions(folder, FEW_BITS, ANY_ODDS).run()[0]).outcome.tree


def test_other_columns_under_an_old_commitment_hear_the_old_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: tuple[Path, Tree]
) -> None:
    """The control: where nobody remembers, the same run on other columns opens another tree."""
    folder, tree = once
    recorded = recorded_answers
    for forget in ((), ("alice",), NAMES):
        sessions = Sessions(shutil.copytree(folder, tmp_path / str(len(forget))), FEW_BITS, ANY_ODDS)
        monkeypatch.setattr(support, "make_local", with_other_columns)
        monkeypatch.setattr(
            players,
            "recorded_answers",
            lambda e, p, local, a, forget=forget: (
                KnownAnswers([], [b""] * 9) if local.party in forget else recorded(e, p, local, a)
            ),
        )
        before = bits_of(sessions, "bob")
        again = trained(sessions.run()[0]).outcome.tree
        assert (again.root == tree.root) == (forget != NAMES)
        assert (bits_of(sessions, "bob") == before) == (forget != NAMES)


def test_a_tree_that_a_partner_claims_to_have_heard_is_taken_as_far_as_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: tuple[Path, Tree]
) -> None:
    """It would choose whose nodes are asked next. The control: what was opened here and lost is believed."""
    honest = once[1].root
    assert isinstance(honest, Split)
    claimed = 1 - honest.attribute
    sessions = Sessions(tmp_path, replace(RELEASES_CASE, codes=CLASSES), ANY_ODDS)
    by_party = {"alice": KnownAnswers([np.array([float(claimed)]).tobytes()]), "bob": KnownAnswers([], [])}
    monkeypatch.setattr(players, "recorded_answers", lambda e, p, local, a: by_party[local.party])
    assert [getattr(end, "field", None) for end in sessions.both_errors()] == ["released"] * 2
    by_party["bob"] = KnownAnswers([], [b""])
    root = trained(sessions.run()[1]).outcome.tree.root
    assert isinstance(root, Split)
    assert root.attribute == claimed


def bits_of(sessions: Sessions, party: str) -> Fraction:
    with sessions.ledger(party) as ledger:
        return sum((each.bits for each in dealings(ledger.entries())), start=Fraction(0))


def test_who_ends_each_run_at_an_opening_is_refused_when_the_bits_are_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears our share, and says that it has heard nothing: each opening is booked before, and counts again."""
    sessions = Sessions(tmp_path, FEW_BITS, ANY_ODDS + "most_bits = 14\n")
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
    assert 0 < before <= 14
    assert len(kept) > 1
    assert "most_bits allows 14 over the life of a data set of 300 records: " in str(ends[0])
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
        ("most_columns = 2", None),
        ("most_bits = 11", "the job asks for most_bits = 12, our [agree] most_bits does not allow it: use 11 or"),
        ("most_bits = 5", "allows 5 over the life of a data set of 300 records: 0 revealed before and at most 6 for"),
        ("most_columns = 1", "the peer brings 2 columns, our [agree] most_columns allows 1 "),
        ("most_values = 1", "has 2 values, our [agree] most_values allows 1 "),
    ],
)
def test_a_tree_of_too_many_bits_or_a_peer_with_too_much_is_refused_on_both_sides_before_anything_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str | None
) -> None:
    key, _, most = line.partition(" = ")
    terms = replace(TERMS, most_bits=None if line == "most_bits = 5" else 12)

    def limited(case: Case, party: str) -> PartyInputs:
        local = make_local(case, party)
        bounds = {"most_columns": 2, "most_values": 2} | ({} if key == "most_bits" else {key: int(most)})
        bounds = bounds if party == "alice" else {}
        return replace(local, limits=replace(local.limits, **bounds))

    monkeypatch.setattr(support, "make_local", limited)
    sessions = Sessions(tmp_path, replace(RELEASES_CASE, codes=CLASSES, terms=terms), ANY_ODDS)
    let(sessions, "alice", line if key == "most_bits" else "most_bits = 12")
    ends = sessions.both_errors()
    if said is None:
        assert ends == [None, None]
        return
    assert {getattr(end, "field", None) for end in ends} == {key}
    assert said in str(ends[0])
    assert f"its [agree] {key}" in str(ends[1])
    assert {each["kind"] for each in contents(sessions, "bob")} <= {"columns", "head", "comparison"}
    if key == "most_bits":
        found = re.search(r"(?:use|write) (?:most_bits = )?(\d+) ", str(ends[0]))
        assert found
        assert sessions.both_errors(replace(terms, most_bits=int(found[1]))) == [None, None]  # as the line says


def asking(model: bytes, *, probabilities: bool = False) -> PredictionTerms:
    return PredictionTerms(model, Receiver.BOTH, probabilities)


def test_an_answer_with_the_shares_of_a_leaf_is_of_the_bits_of_both(tmp_path: Path) -> None:
    """A partner whose column tells leaves apart would read four values of ours for each bit that is on record."""
    shares = replace(FEW_BITS.terms, min_leaf=100, leaves=Leaves.TENTHS, most_bits=None, test=Fraction(0))
    sessions = Sessions(tmp_path, replace(FEW_BITS, terms=shares), ANY_ODDS)
    model = trained(sessions.run()[0]).outcome.model.digest()
    with sessions.ledger("alice") as ledger:
        account = Account(sessions.local("alice"), LifeBounds(most_bits=1000), ledger)
        left = [account.answers_left(asking(model, probabilities=each)) for each in (False, True)]
    assert left[0] is not None
    assert left[1] == floor((1000 - bits_of(sessions, "alice")) / (bits(2) + bits(11)))
    assert left[0] == floor(1000 - bits_of(sessions, "alice"))


def test_answers_by_a_tree_alone_are_of_the_same_bits_and_those_by_counts_are_not(once: tuple[Path, Tree]) -> None:
    sessions, model = Sessions(once[0], FEW_BITS), once[1].digest()
    with sessions.ledger("alice") as ledger:
        spent = bits_of(sessions, "alice")
        for most in (5, 12, 20, None):
            account = Account(sessions.local("alice"), LifeBounds(most_bits=most), ledger)
            assert account.answers_left(asking(model)) == (None if most is None else floor(most - spent))
            assert account.answers_left(asking(bytes(32))) is None
    assert 0 < spent <= 11


def test_answers_by_a_noisy_tree_are_of_bits_too_and_the_tree_itself_is_not(tmp_path: Path) -> None:
    noisy = replace(FEW_BITS.terms, min_leaf=1, most_bits=None, impurity=Impurity.GINI, noise=Fraction(1))
    sessions = Sessions(tmp_path, replace(FEW_BITS, terms=noisy), ANY_ODDS + "epsilon = 2\n")
    model = trained(sessions.run()[0]).outcome.model.digest()
    with sessions.ledger("alice") as ledger:
        assert Account(sessions.local("alice"), LifeBounds(most_bits=7), ledger).answers_left(asking(model)) == 7
    assert bits_of(sessions, "alice") == 0


def test_a_job_whose_bits_are_not_left_is_refused_before_anybody_is_called(
    tmp_path: Path, once: tuple[Path, Tree]
) -> None:
    shutil.copytree(once[0], tmp_path, dirs_exist_ok=True)
    sessions = Sessions(tmp_path, FEW_BITS)
    let(sessions, "alice", "most_bits = 12")
    config = read_party_config(tmp_path / "alice" / "party.toml", FEW_BITS.terms.key_bits)
    local = sessions.local("alice")
    assert used_up(local, config, FEW_BITS.terms, 12) is None
    flaw = used_up(local, config, replace(FEW_BITS.terms, min_leaf=FEW_BITS.terms.min_leaf + 1), 12)
    assert "most_bits allows 12 over the life of a data set of 300 records: " in str(flaw)


def test_a_mined_tree_is_of_its_bits_once_at_who_mines(tmp_path: Path) -> None:
    """Its receiver tells no more of its columns than its copy."""
    terms = make_terms(method="randomized", reveal="tree", max_depth=2, theta=Fraction(4, 5), most_bits=12)
    sessions = Sessions(tmp_path, replace(RELEASES_CASE, codes=CLASSES, terms=terms), ANY_ODDS)
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


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Sessions:
    """Return two parties after one run: read only."""
    sessions = Sessions(tmp_path_factory.mktemp("hybrid"), CASE, ANY_ODDS)
    sessions.run()
    return sessions


def test_what_one_side_has_sent_the_other_has_learned(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    for one, other in ((alice, bob), (bob, alice)):
        told = [entry["counts"] for entry in of_kind(one, "class counts") if entry["way"] == "told"]
        assert told == [entry["counts"] for entry in of_kind(other, "class counts") if entry["way"] == "learned"]


def test_every_window_is_on_record_at_both_before_and_after_it_is_opened(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    ways = [[entry["way"] for entry in of_kind(one, "windows")] for one in (alice, bob)]
    assert ways[0] == ways[1] == ["told", "both"] * (len(ways[0]) // 2) != []
    known = [[entry["nodes"] for entry in of_kind(one, "windows") if entry["way"] == "both"] for one in (alice, bob)]
    assert known[0] == known[1]
    counted = [node for entry in of_kind(alice, "counts") if entry["way"] == "both" for node in entry["nodes"]]
    tables = {str(node["path"]): list(node["counts"]) for node in counted}
    assert all(tables[str(node["path"])] == node["window"] for level in known[0] for node in level)


def test_every_exact_count_is_on_record_at_both_with_its_node_and_attribute(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    known = [[entry["nodes"] for entry in of_kind(one, "counts") if entry["way"] != "told"] for one in (alice, bob)]
    assert known[0] == known[1] != []
    root = known[0][0][0]
    assert root["path"] == []
    ((name, table),) = root["counts"].items()
    assert name.split(".")[0] in NAMES
    assert sum(map(sum, table)) == sum(of_kind(alice, "class counts")[0]["counts"])
    ways = {tuple(entry["way"] for entry in of_kind(one, "counts"))[:2] for one in (alice, bob)}
    assert ways == {("both", "both"), ("told", "learned")}


def test_a_copy_is_on_record_with_its_design_and_all_that_it_reveals_for_certain(hybrid: Sessions) -> None:
    told, learned = of_kind(contents(hybrid, "bob"), "copy")
    assert (told["way"], learned["way"]) == ("told", "learned")
    assert told["theta"] == learned["theta"] == "7/10"
    assert sorted(name for group in told["groups"] for name in group) == ["b0", "b1", "class"]
    assert learned["groups"] == [["a0", "a1"]]
    assert learned["relations"] == []  # two and three values have no common divisor
    pairs = {frozenset(group) for group in told["groups"] if len(group) == 2}
    assert {frozenset((first, second)) for first, second, _ in told["relations"]} == pairs
    assert told["odds"]["b0"] == "7/3"


def test_both_end_with_the_others_signed_head_and_the_model(hybrid: Sessions) -> None:
    for name, other in (NAMES, NAMES[::-1]):
        entries = contents(hybrid, name)
        assert entries[-1]["kind"] == "head"
        assert entries[-1]["signature"]
        with hybrid.ledger(other) as theirs, hybrid.ledger(name) as ours:
            shown = last_head(ours.entries(), PeerName(other, ""))
            assert theirs.holds(PeerName(name, ""), bare_head(shown))
            assert shown.entries == len(theirs) - 1  # all but the head that it was given
    models = [of_kind(contents(hybrid, name), "model")[0]["digest"] for name in NAMES]
    assert models[0] == models[1]


USUAL_ENTRIES = {"columns", "comparison", "run", "release", "model", "head"}


def test_the_same_run_again_ends_alike_and_its_counts_stand_in_the_ledger_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.SMC), ANY_ODDS)
    first, second = trained(sessions.run()[0]).outcome, trained(sessions.run()[0]).outcome
    assert second == first
    with sessions.ledger("alice") as ledger:
        (dealt,) = dealings(ledger.entries())
    assert Revealed.of(dealt.told).counts == first.smc_computations + 1  # Bob's class counts
    assert {entry["kind"] for entry in contents(sessions, "alice")} == USUAL_ENTRIES | {
        "class counts",
        "counts",
        "accuracy",
    }


def test_what_a_peer_is_sent_before_it_disagrees_is_on_record(tmp_path: Path) -> None:
    """Names of values depend on the records, and leave before it is known whether both agree."""
    sessions = Disagreeing(tmp_path, CASE, ANY_ODDS)
    for _ in range(2):
        assert [getattr(error, "field", "") for error in sessions.both_errors()] == ["record ids"] * 2
    (named,) = of_kind(contents(sessions, "alice"), "columns")
    table = sessions.local("alice").table
    assert named["columns"] == [{"column": each.name, "values": list(each.values)} for each in table.attributes]
    assert (named["records"], named["class values"]) == (len(table), None)
    (told,) = dealings_of(sessions, "alice")
    assert "the names of 2 columns (a0, a1) and of their 5 values, as" in "\n".join(dealings_lines(told, full=False))
    sessions.differ = False
    sessions.run()
    assert [len(of_kind(contents(sessions, name), "columns")) for name in NAMES] == [1, 1]


@dataclass
class Disagreeing(Sessions):
    """Bob brings another person than Alice does, until he does no more."""

    differ: bool = True

    def local(self, party: str) -> PartyInputs:
        local = super().local(party)
        if party == "alice" or not self.differ:
            return local
        return replace(local, records=(*local.records[:-1], "somebody else"))


def dealings_of(sessions: Sessions, party: str) -> list[Dealings]:
    with sessions.ledger(party) as ledger:
        return dealings(ledger.entries())


def copied(sessions: Sessions, party: str, name: str) -> Path:
    """Keep a party's ledger as it is now."""
    return Path(shutil.copy(sessions.folder / party / LEDGER_FILE, sessions.folder / name))


@pytest.mark.parametrize(("party", "back_to"), [("alice", "an older backup"), ("bob", "nothing")])
def test_a_party_that_has_forgotten_is_refused_by_both_before_anything_leaves(
    tmp_path: Path, party: str, back_to: str
) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    backup = copied(sessions, party, "backup")
    sessions.run()
    if back_to == "an older backup":
        shutil.copy(backup, sessions.folder / party / LEDGER_FILE)
    else:
        for file in (LEDGER_FILE, JOURNAL_FILE):
            (sessions.folder / party / file).unlink()
    other = NAMES[party == NAMES[0]]
    runs = len(of_kind(contents(sessions, other), "run"))
    errors = dict(zip(NAMES, sessions.both_errors(), strict=True))
    assert all(isinstance(error, DisagreementError) and error.field == "memory" for error in errors.values())
    assert "our ledger is not the one that" in str(errors[party])
    assert f"{party} shows a ledger of" in str(errors[other])
    assert len(of_kind(contents(sessions, other), "run")) == runs == 2


@pytest.mark.parametrize("party", NAMES)
def test_a_peer_that_lies_about_our_ledger_is_told_apart_from_a_ledger_that_was_restored(
    tmp_path: Path, party: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that our ledger has led further than it did, with a signature: of its own, for it has none of ours."""
    sessions, other = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS), NAMES[party == NAMES[0]]
    sessions.run()
    before = len(contents(sessions, party))
    known = PeerEntries.known

    def lying(pages: PeerEntries) -> SignedHead:
        shown = known(pages)
        return shown if pages.peer.name == other else replace(shown, entries=shown.entries + 1)

    with monkeypatch.context() as patched:
        patched.setattr(PeerEntries, "known", lying)
        errors = dict(zip(NAMES, sessions.both_errors(), strict=True))
    assert type(errors[party]) is PeerError
    assert str(errors[party]).startswith(f"{other} claims that our ledger had another end, and shows nothing that we")
    assert "put nothing back" in str(errors[party])
    assert len(contents(sessions, party)) == before
    sessions.run()  # nothing was lost


def test_the_latest_backup_put_back_is_no_loss(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    assert {entry["kind"] for entry in contents(sessions, "alice")} == USUAL_ENTRIES | {"mined tree", "copy"}
    backup = copied(sessions, "bob", "backup")
    (sessions.folder / "bob" / LEDGER_FILE).unlink()
    shutil.copy(backup, sessions.folder / "bob" / LEDGER_FILE)
    sessions.run()
    for name, other in (NAMES, NAMES[::-1]):
        entries = contents(sessions, name)
        first, second = of_kind(entries, "model")
        assert first["digest"] == second["digest"]
        assert len(of_kind(entries, "run")) == 2
        assert len(of_kind(entries, "release")) == len({str(each["fields"]) for each in of_kind(entries, "release")})
        assert len({each["digest"] for each in of_kind(entries, "copy") if each["way"] == "told"}) <= 1
        with sessions.ledger(name) as ours, sessions.ledger(other) as theirs:
            assert theirs.holds(PeerName(name, ""), bare_head(last_head(ours.entries(), PeerName(other, ""))))


def test_a_run_that_ended_early_is_remembered_up_to_its_end(tmp_path: Path) -> None:
    """The second run shows heads and ends when the class is found too small: putting back the first is noticed."""
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    backup = copied(sessions, "bob", "backup")
    errors = sessions.both_errors(with_terms(CASE, method=Method.RANDOMIZED, seed=2).terms)
    assert all(isinstance(error, DisagreementError) and error.field == "seed" for error in errors)
    shutil.copy(backup, sessions.folder / "bob" / LEDGER_FILE)
    sessions.run()


TELLING = {
    "ClassCounts": "class counts", "DisguisedPage": "copy", "OpenedPage": "windows", "CountShares": "counts",
    "ExactCounts": "counts", "ModelDigest": "model",
}  # fmt: skip


def test_what_is_about_to_leave_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender's files are copied as they are at this moment: a process that is killed then leaves the same."""
    sessions, send = Sessions(tmp_path / "run", CASE, ANY_ODDS), PagedChannel.send

    def copied_before(channel: Any, message: Message) -> None:
        kind, own = type(message).__name__, channel._own
        left = tmp_path / f"{kind} {own}"
        if kind in TELLING and not left.exists():
            (left / "alice").mkdir(parents=True)  # its folder is there, as for all sessions
            shutil.copytree(sessions.folder / own, left / own, dirs_exist_ok=True)
        send(channel, message)

    monkeypatch.setattr(PagedChannel, "send", copied_before)
    sessions.run()
    copies = [path.name.split() for path in tmp_path.glob("* *")]
    assert {kind for kind, _ in copies} == set(TELLING)
    for kind, own in copies:
        entries = of_kind(contents(Sessions(tmp_path / f"{kind} {own}", CASE), own), TELLING[kind])
        assert [entry for entry in entries if entry.get("way") in ("told", "both")], (kind, own)
