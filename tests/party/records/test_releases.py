"""One data set leaves in one disguise and one split: the same again is accepted, anything else is refused by name."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.errors import ConfigError
from party.files import locked_folder
from party.node.check import past_before
from party.records.json_codec import to_json
from party.records.ledger import LEDGER_FILE, LedgerError, PeerEntries, PeerName, open_ledger, read_ledger
from party.records.ledger_entries import NamedClass, NamedColumn, RunEntry
from party.records.releases import (
    Earlier,
    Memory,
    Release,
    Spend,
    check_release,
    first_change,
    record_release,
    refusal,
    release_of,
    release_text,
    released,
    released_before,
)
from protocols.errors import DisagreementError
from protocols.jobs import Train
from protocols.messages import ClassCounts, DisguisedPage, ExactCounts, PackedCounts
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Table
from protocols.terms import NO_CLASS, Impurity, Method, Splits, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from tests.support.cases import correlated
from tests.support.curious import memory_of, take_part
from tests.support.duel import End, duel
from tests.support.parties import Case, make_local, make_terms
from tests.support.plain import schema_of

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 20, seed=1),
    groups={"alice": 2, "bob": 2},
    terms=make_terms(),
)
ALICE = ("alice", "0123 ABCD")
ALWAYS = {"party", "class", "columns", "records", "seed", "test"}
METHODS = {"hybrid": ALWAYS | {"theta", "groups"}, "randomized": ALWAYS | {"theta", "groups"}, "smc": ALWAYS}
CURES = {
    "party": "two peers together would learn more",
    "class": "return to the first",
    "records": "bring the earlier table again (records of which nothing was ever released",
    "columns": "would undo the first: return to it",
    "theta": "would undo the first: return to it",
    "groups": 'would undo the first: return to it (groups = [["b0", "b1"], ["class"]])',
    "seed": "show single records: return to the first",
    "test": "show single records: return to the first",
}


SHOWN = {
    ("class", "label"): ("class class", ", not with label"),
    ("theta", "11/20"): ("theta 9/20", ", not with 11/20"),
    ("seed", "2"): ("seed 1", ", not with 2"),
    ("test", "1/4"): ("test 1/5", ", not with 1/4"),
}
"""Terms are told, as they were and as they are; of data only that they are others."""
WAS = {"groups": 'groups = [["b0", "b1"], ["class"]]'}
"""What can be put back into the settings is told so that it can."""


def test_rules_after_a_tree_are_shown_as_a_run_without_a_class() -> None:
    error = refusal("members", "class", {"class": "outcome"}, {"class": NO_CLASS}, Path("ledger.sqlite"), "return")
    assert "with class outcome before (ledger.sqlite), not with none (association rules); return" in str(error)
    assert [release_text(value) for value in ("outcome", NO_CLASS)] == ["outcome", "none (association rules)"]


@pytest.fixture
def bob() -> PartyInputs:
    return make_local(CASE, "bob")


def renamed(local: PartyInputs) -> PartyInputs:
    first, *rest = local.table.attributes
    return replace(local, table=Table((replace(first, name="new"), *rest), local.table.codes))


def relabelled(local: PartyInputs) -> PartyInputs:
    first, *rest = local.table.attributes
    return replace(local, table=Table((replace(first, values=first.values[::-1]), *rest), local.table.codes))


def one_cell_changed(local: PartyInputs) -> PartyInputs:
    codes = local.table.codes.copy()
    codes[-1, -1] ^= 1
    return replace(local, table=Table(local.table.attributes, codes))


def other_people(local: PartyInputs) -> PartyInputs:
    return replace(local, records=(*local.records[:-1], "somebody else"))


def ids_cut_elsewhere(local: PartyInputs) -> PartyInputs:
    """The same letters in another order of commas."""
    first, second, *rest = local.records
    return replace(local, records=(first + second[:1], second[1:], *rest))


CHANGES: list[tuple[str, Callable[[PartyInputs], PartyInputs], dict[str, Any]]] = [
    ("party", lambda local: local, {"peer": ("carol", ALICE[1])}),
    ("party", lambda local: local, {"peer": (ALICE[0], "0123 ABCE")}),
    ("class", lambda local: local, {"class_name": "label"}),
    ("columns", renamed, {}),
    ("columns", relabelled, {}),
    ("theta", lambda local: local, {"theta": Fraction(11, 20)}),
    ("groups", lambda local: replace(local, groups=local.groups[:1]), {}),
    ("groups", lambda local: replace(local, groups=((0, 1, 2),)), {}),
    ("groups", lambda local: replace(local, groups=((0,), (1,), (2,))), {}),
    ("records", one_cell_changed, {}),
    ("records", other_people, {}),
    ("records", ids_cut_elsewhere, {}),
    ("seed", lambda local: local, {"seed": 2}),
    ("test", lambda local: local, {"test": Fraction(1, 4)}),
]
"""The field, and how data, peer or terms change in it."""


def release(local: PartyInputs, peer: tuple[str, str] = ALICE, **terms: Any) -> Release:
    return release_of(local, Train(make_terms(**terms)), peer)


def note(folder: Path, noted: Release) -> None:
    with locked_folder(folder) as held, open_ledger(held, noted.key) as ledger:
        record_release(PeerEntries(ledger, PeerName(*ALICE)), noted)


def noted(folder: Path) -> dict[str, Any]:
    if not (folder / LEDGER_FILE).exists():
        return {}
    with read_ledger(folder, make_local(CASE, "bob").secrets.coins) as ledger:
        return released(ledger.entries())


def entries(folder: Path) -> int:
    with read_ledger(folder, make_local(CASE, "bob").secrets.coins) as ledger:
        return len(ledger)


def changed_field(folder: Path, release: Release) -> str | None:
    return first_change(noted(folder).get(release.dataset, {}), release.fields)


@pytest.mark.parametrize("method", METHODS)
def test_a_release_that_differs_in_a_field_that_left_is_refused_with_its_cure(
    tmp_path: Path, bob: PartyInputs, method: str
) -> None:
    note(tmp_path, release(bob, method=method))
    for field, change, terms in CHANGES:
        other = release(change(bob), method=method, **terms)
        if field not in METHODS[method]:
            note(tmp_path, other)
            continue
        assert changed_field(tmp_path, other) == field
        for refuse in (check_release, note):
            with pytest.raises(ConfigError) as error:
                refuse(tmp_path, other)
            asked = str(terms.get(field, terms.get("class_name")))
            was, now = SHOWN.get((field, asked), (WAS.get(field, f"other {field}"), ""))
            told = f"data set 'case' has been released with {was} before ({tmp_path / LEDGER_FILE}){now}; "
            assert told in str(error.value)
            cure = "the file or [columns] changed" if change is relabelled else CURES[field]
            assert cure in str(error.value)
    assert entries(tmp_path) == 1


def test_every_field_that_is_noted_has_a_change_and_a_cure(bob: PartyInputs) -> None:
    fields = set().union(*(release(bob, method=method).fields for method in METHODS))
    assert fields == {field for field, _, _ in CHANGES} == set(CURES)


def test_of_several_differences_the_copy_is_named_before_the_data_and_the_split(
    tmp_path: Path, bob: PartyInputs
) -> None:
    note(tmp_path, release(bob))
    everything: dict[str, Any] = {"theta": Fraction(11, 20), "seed": 2}
    assert changed_field(tmp_path, release(renamed(one_cell_changed(bob)), **everything)) == "columns"
    assert changed_field(tmp_path, release(one_cell_changed(bob), **everything)) == "theta"
    assert changed_field(tmp_path, release(one_cell_changed(bob), seed=2)) == "records"


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({"method": "randomized"}, {}, {"theta": "9/20"}),
        ({"method": "smc", "theta": Fraction(3, 4)}, {}, {"seed": 1, "test": "1/5"}),
        ({"method": "randomized"}, {"method": "smc"}, {"theta": "9/20"}),
    ],
)
def test_a_later_method_adds_its_fields_and_keeps_the_others(
    tmp_path: Path, bob: PartyInputs, first: dict[str, Any], second: dict[str, Any], kept: dict[str, Any]
) -> None:
    note(tmp_path, release(bob, **first))
    note(tmp_path, release(bob, **second))
    entry = noted(tmp_path)["case"]
    assert entry.keys() == METHODS["hybrid"]
    assert (entry["theta"], entry["seed"], entry["test"]) == ("9/20", 1, "1/5")
    assert kept.items() <= entry.items()
    for changes, field in (
        ({"theta": Fraction(11, 20)}, "theta"),
        ({"seed": 3}, "seed"),
        ({"test": Fraction(0)}, "test"),
    ):
        assert changed_field(tmp_path, release(bob, **changes)) == field


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_lets_out_is_noted_and_no_more_and_the_same_again_changes_nothing(
    tmp_path: Path, bob: PartyInputs, method: str
) -> None:
    note(tmp_path, release(bob, method=method))
    assert noted(tmp_path).keys() == {"case"}
    assert noted(tmp_path)["case"].keys() == METHODS[method]
    again = release(make_local(CASE, "bob"), method=method)
    assert changed_field(tmp_path, again) is None
    check_release(tmp_path, again)
    note(tmp_path, again)
    assert entries(tmp_path) == 1


def test_a_method_does_not_care_for_what_it_does_not_let_out(tmp_path: Path, bob: PartyInputs) -> None:
    note(tmp_path, release(bob))
    note(tmp_path, release(bob, method="randomized", omega=2, key_bits=128))
    note(tmp_path, release(bob, method="smc", theta=Fraction(1, 2)))
    note(tmp_path, release(bob, omega=3, counting="paillier", key_bits=128))
    assert entries(tmp_path) == 1


def test_each_data_set_has_an_entry_of_its_own(tmp_path: Path, bob: PartyInputs) -> None:
    note(tmp_path, release(bob))
    other = replace(one_cell_changed(bob), dataset="next year")
    note(tmp_path, release(other, theta=Fraction(11, 20), seed=2))
    assert {name: entry["theta"] for name, entry in noted(tmp_path).items()} == {"case": "9/20", "next year": "11/20"}
    assert changed_field(tmp_path, release(bob)) is None


def test_the_same_table_or_columns_under_a_new_name_are_noticed_whatever_their_disguise(
    tmp_path: Path, bob: PartyInputs
) -> None:
    assert released_before(tmp_path, bob) == []
    note(tmp_path, release(bob))
    assert released_before(tmp_path, bob) == []  # no new name
    assert released_before(tmp_path, replace(bob, dataset="again")) == [Earlier("case")]
    assert released_before(tmp_path, replace(bob, dataset="again", groups=bob.groups[:1])) == [Earlier("case")]
    names = tuple(sorted(column.name for column in bob.table.attributes))
    later = replace(one_cell_changed(bob), dataset="next month")
    assert released_before(tmp_path, later) == [Earlier("case", names)]
    first, *others = bob.table.attributes
    renamed = Table((replace(first, name="new"), *others), bob.table.codes)
    some = released_before(tmp_path, replace(later, table=renamed))
    assert some == [Earlier("case", tuple(sorted(column.name for column in others)))]
    none_alike = Table(tuple(replace(each, name=f"new {each.name}") for each in bob.table.attributes), bob.table.codes)
    assert released_before(tmp_path, replace(later, table=none_alike)) == []
    note(tmp_path, release(replace(bob, dataset="again")))
    assert released_before(tmp_path, replace(bob, dataset="again")) == []  # it has been told


def test_a_table_that_is_refused_now_is_known_without_a_job(tmp_path: Path, bob: PartyInputs) -> None:
    assert past_before(bob, tmp_path).changed is None
    note(tmp_path, release(bob))
    assert past_before(bob, tmp_path).changed is None
    assert "bring the earlier table again" in str(past_before(one_cell_changed(bob), tmp_path).changed)
    assert "the file or [columns] changed" in str(past_before(relabelled(bob), tmp_path).changed)


def test_what_was_revealed_under_another_name_is_shown_beside_what_was_under_this(
    tmp_path: Path, bob: PartyInputs
) -> None:
    note(tmp_path, release(bob))
    again = replace(one_cell_changed(bob), dataset="again")
    for _ in range(2):  # before the new name has a release, and after
        told = past_before(again, tmp_path)
        ((other, apart),) = told.others
        assert other.dataset == "case"
        assert apart.release["theta"] == "9/20"
        note(tmp_path, release(again))
    third = replace(one_cell_changed(bob), dataset="third")
    assert [each.dataset for each, _ in past_before(third, tmp_path).others] == ["case", "again"]
    assert [each.dataset for each, _ in past_before(bob, tmp_path).others] == ["again"]
    new = Table(tuple(replace(each, name=f"new {each.name}") for each in bob.table.attributes), bob.table.codes)
    assert past_before(replace(again, dataset="third", table=new), tmp_path).others == ()


def test_without_a_record_nothing_is_changed_and_looking_writes_none(tmp_path: Path, bob: PartyInputs) -> None:
    assert changed_field(tmp_path, release(bob)) is None
    check_release(tmp_path, release(bob))
    assert not list(tmp_path.iterdir())


def test_the_digest_of_the_data_shows_nothing_without_the_coins(bob: PartyInputs) -> None:
    """Who reads the record alone cannot try data against it."""
    stranger = replace(bob, secrets=replace(bob.secrets, coins=bytes(range(32))))
    assert release(bob).fields["records"] != release(stranger).fields["records"]
    assert release(bob) == release(make_local(CASE, "bob"))


def test_the_order_of_columns_and_groups_is_no_other_release(tmp_path: Path, bob: PartyInputs) -> None:
    """The copy is the same, column for column."""
    note(tmp_path, release(bob))
    one, two, label = bob.table.attributes
    turned = Table((two, one, label), np.ascontiguousarray(bob.table.codes[:, [1, 0, 2]]))
    place = {0: 1, 1: 0, 2: 2}
    groups = tuple(tuple(place[column] for column in group[::-1]) for group in bob.groups[::-1])
    assert changed_field(tmp_path, release(replace(bob, table=turned, groups=groups))) is None
    assert changed_field(tmp_path, release(replace(bob, table=turned, groups=((0, 2), (1,))))) == "groups"


def test_an_altered_or_shortened_record_is_not_obeyed(tmp_path: Path, bob: PartyInputs) -> None:
    """How a ledger is found damaged has tests of its own."""
    note(tmp_path, release(bob))
    with sqlite3.connect(tmp_path / LEDGER_FILE) as connection:
        connection.execute("UPDATE entries SET content = replace(content, '9/20', '11/20')")
    connection.close()
    for look in (check_release, note):
        with pytest.raises(LedgerError, match="entry 1 was altered, dropped or put elsewhere: restore"):
            look(tmp_path, release(bob, theta=Fraction(11, 20)))


DESIGN = RelatedDesign((), (), Fraction(1))
AGREED = Agreement(CASE.terms, schema_of((2, 3, 2, 2), 2, alice=2), "bob", DESIGN, DESIGN, b"to the first table")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    local = make_local(CASE, "alice")
    with locked_folder(tmp_path) as held, open_ledger(held, local.secrets.coins) as ledger:
        yield Memory(local, PeerEntries(ledger, PeerName("bob", "B0B0")))


@pytest.mark.parametrize(
    ("field", "was"),
    [("theta", "theta 9/20"), ("released", "other records"), ("released", "other columns"), ("released", "groups")],
)
def test_a_job_that_would_let_out_something_else_than_before_is_objected_to(
    memory: Memory, field: str, was: str
) -> None:
    """Of our table the peer hears that alone: its own columns are not at fault."""
    assert memory.judge_job(Train(CASE.terms)) is None
    memory.note(AGREED)
    assert memory.judge_job(Train(CASE.terms)) is None
    local, terms = memory.local, CASE.terms
    first, *rest = local.table.attributes
    changed = {
        "theta 9/20": (local, replace(terms, theta=Fraction(11, 20))),
        "other records": (replace(local, table=Table((first, *rest), np.zeros_like(local.table.codes))), terms),
        "other columns": (replace(local, table=Table((replace(first, name="x"), *rest), local.table.codes)), terms),
        "groups": (replace(local, groups=()), terms),
    }
    objection = replace(memory, local=changed[was][0]).judge_job(Train(changed[was][1]))
    assert objection is not None
    assert objection.field == field
    assert f"our data set 'case' has been released with {was}" in objection.reason


SPENDING_CASE = Case(
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
            alice, bob = (make_local(SPENDING_CASE, name) for name in ("alice", "bob"))
            mine = memory_of(stack, alice, self.folder, PeerName("bob", "B0B0"), self.budget)
            other = memory_of(stack, bob, theirs, PeerName("alice", "A11CE"))
            return duel(take_part(mine, None), take_part(other, terms))

    @property
    def spent(self) -> list[str]:
        with read_ledger(self.folder, make_local(SPENDING_CASE, "alice").secrets.coins) as ledger:
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
    _assert_refused(free.meet(_terms("1")), "answers without noise about this one were given before")


def test_a_budget_is_spent_to_the_last_and_not_beyond() -> None:
    for spent, epsilon, fits in [
        ({}, "2", True),
        ({}, "9/4", False),
        ({"a": "1", "b": "1/2"}, "1/2", True),
        ({"a": "1", "b": "1/2"}, "3/4", False),
    ]:
        assert (Spend("c", Fraction(epsilon)).refusal(spent, Fraction(2)) is None) == fits


def test_with_two_way_splits_another_order_of_the_same_values_is_another_release() -> None:
    """Cuts follow from the order; a run on all values of a column does not look at it."""
    two_way = replace(CASE.terms, method=Method.SMC, splits=Splits.TWO_WAY)
    local = make_local(CASE, "bob")
    first, *others = local.table.attributes
    ordered = replace(local, table=Table((replace(first, ordered=2), *others), local.table.codes))
    without, other = (release_of(each, Train(two_way), ALICE).fields for each in (local, ordered))
    assert (without["order"], other["order"]) == ([], [["b0", 2]])
    assert first_change(without, other) == "order"
    assert first_change(without | {"peer order": []}, other | {"order": [], "peer order": [["a0", 2]]}) == "peer order"
    by_values = (
        release_of(each, Train(replace(two_way, splits=Splits.VALUES)), ALICE).fields for each in (local, ordered)
    )
    assert first_change(*by_values) is None


def test_what_competes_in_a_run_of_two_way_splits_follows_from_the_columns_in_its_ledger() -> None:
    columns = (
        NamedColumn("a.age", ("<= 20", "(20, 40]", "> 40"), ordered=3),
        NamedColumn("b.job", ("clerk", "cook", "smith")),
    )
    terms = to_json(replace(CASE.terms, method=Method.SMC, splits=Splits.TWO_WAY))
    run = RunEntry("d", "1", terms, 5, (b"", b""), NamedClass((), ()), columns)
    names = ["a.age <= 20", "a.age <= 40", "b.job = clerk", "b.job = cook", "b.job = smith"]
    assert run.candidates == [(name, 2) for name in names]
    by_values = replace(run, terms={name: value for name, value in terms.items() if name != "splits"})
    assert by_values.candidates == [("a.age", 3), ("b.job", 3)]
    assert by_values.reveal_key != run.reveal_key
