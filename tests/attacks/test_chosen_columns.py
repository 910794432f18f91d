"""Attacks by columns, classes and runs that the partner chooses, on exact counts: what names people, what subtracts.

Some are refused, some are bounded, and some work, as `README.md` beside this file says of each. What works is tested
too, so that nobody takes a limit for more than it is. What is refused is counted in the open first.
"""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.messages import DisguisedPage, ExactCounts
from protocols.randomized_response.related_question import disguise
from protocols.role import Transcript
from protocols.tables import Codes, Table
from protocols.terms import ALL, Learner
from protocols.two_party.inputs import PartyInputs, split_records
from tests.support.curious import Guarded, Told, assert_built, assert_refused, listening
from tests.support.examples import few
from tests.support.parties import Case, make_local, make_terms, play

RNG = np.random.default_rng(2)


def case_of(bobs: Codes, label: NDArray[np.int64], owner: str, alices: Codes | None = None, **terms: object) -> Case:
    """Return the case of these columns and this class, trained on as a whole, by `smc` unless terms say otherwise."""
    mine = np.zeros((len(label), 1)) if alices is None else alices
    sizes = {name: tuple(int(c.max()) + 1 for c in part.T) for name, part in (("alice", mine), ("bob", bobs))}
    usual = {"method": "smc", "omega": ALL, "min_leaf": 5, "test": Fraction(0), "theta": Fraction(2, 3)}
    codes = np.column_stack([mine, bobs, label]).astype(np.uint8)
    return Case(
        sizes, (owner,), int(label.max()) + 1, codes, {"alice": mine.shape[1], "bob": 1}, make_terms(**usual | terms)
    )


def bits(records: int, columns: int) -> Codes:
    """Return columns that number the records."""
    return (np.arange(records)[:, None] >> np.arange(columns) & 1).astype(np.uint8)


def people_read(case: Case, told: Told) -> float:
    """Return the share of the people whose class, Alice's, follows for certain from the counts that were shown.

    Bob writes each count as a sum over people whom he knows. What follows is what the equations determine, and
    everybody in a set that has all of its people in one class.
    """
    first, label = len(case.sizes["alice"]), case.codes[:, -1]
    sets, sums = [], []
    for (node, candidate), table in told.items():
        if candidate >= first and all(column >= first for column in node.columns) and table.shape[1] == 2:
            here = node.satisfied_by(case.codes)
            sets += [here & (case.codes[:, candidate] == value) for value in range(len(table))]
            sums += table[:, 1].tolist()
    matrix = np.array(sets, dtype=np.float64)
    gram = matrix.T @ matrix
    solved = np.linalg.pinv(gram, rcond=1e-9, hermitian=True)
    solution, determined = solved @ matrix.T @ sums, 1 - np.diag(solved @ gram) < 1e-6
    assert ((solution > 0.5) == (label == 1))[determined].all()
    pure = [people for people, ones in zip(sets, sums, strict=True) if ones in (0, people.sum())]
    return float(np.any([determined, *pure], axis=0).mean())


@pytest.mark.parametrize("method", ["hybrid", "smc", "randomized"])
def test_columns_whose_combinations_name_people_need_a_tree_without_limits_which_is_refused(
    tmp_path: Path, method: str
) -> None:
    case = case_of(bits(64, 6), RNG.permutation(64) % 2, "alice", method=method, min_leaf=1)
    if method == "smc":
        (tmp_path / "free").mkdir()
        with listening() as told:
            assert_built(Guarded(tmp_path / "free", case, agree="min_leaf = 1").meet(case.terms))
        assert people_read(case, told) > 0.7
    for opens in (True, False):
        assert_refused(Guarded(tmp_path, case, visits=10 + opens).meet(case.terms, opens=opens), "min_leaf")
    deep = replace(case.terms, min_leaf=5)
    assert_refused(Guarded(tmp_path, case, "max_depth = 3", visits=20).meet(deep), "max_depth")


def test_limits_alone_let_such_columns_name_few(tmp_path: Path) -> None:
    """Six columns that number 64 people, leaves of five or more: the class of a few follows, who fill a cell."""
    case = case_of(bits(64, 6), RNG.permutation(64) % 2, "alice")
    with listening() as told:
        assert_built(Guarded(tmp_path, case).meet(case.terms))
    assert people_read(case, told) < 0.3


def read_by_columns(folder: Path, columns: Codes, **terms: Any) -> float:
    """Return the share of classes that Bob reads by these columns, at nodes of five people or more."""
    case = case_of(columns, np.random.default_rng(3).permutation(len(columns)) % 2, "alice", method="hybrid", **terms)
    with listening() as told:
        assert_built(Guarded(folder, case, visits=len(list(folder.iterdir()))).meet(case.terms))
    return people_read(case, told)


def test_24_columns_read_most_classes_where_all_are_counted_and_few_with_a_window_of_three(tmp_path: Path) -> None:
    """At a node of twenty people, the counts of 24 columns at random are 24 equations."""
    columns = np.random.default_rng(2).integers(0, 2, (100, 24)).astype(np.uint8)
    assert read_by_columns(tmp_path, columns) > 0.6
    assert read_by_columns(tmp_path, columns, omega=3) < 0.25


def test_columns_that_differ_by_a_person_each_read_a_person_each(tmp_path: Path) -> None:
    """Of twelve sets, each of which has one person more than the last, eleven differences name eleven people."""
    chain = np.arange(240)[:, None] < 100 + np.arange(12)
    assert 240 * read_by_columns(tmp_path, chain.astype(np.uint8)) >= 11


def test_two_runs_with_other_limits_show_the_row_of_the_person_by_whom_their_nodes_differ(tmp_path: Path) -> None:
    """The better column parts fifty people, the next best one more: the second run's limit rules the first out."""
    label = np.r_[np.zeros(40), np.ones(11), np.zeros(80), np.ones(109)].astype(int)
    people = np.arange(240)
    alices = RNG.integers(0, 3, (240, 2)).astype(np.uint8)
    bobs = np.stack([people < 50, people < 51], axis=1).astype(np.uint8)
    case = case_of(bobs, label, "bob", alices)
    node, rest = Guarded(tmp_path, case), []
    for min_leaf, split in ((5, 2), (51, 3)):
        with listening() as told:
            assert_built(node.meet(replace(case.terms, min_leaf=min_leaf)))
        rest.append({c: t for (n, c), t in told.items() if [(t.column, t.value) for t in n.terms] == [(split, 0)]})
    for column in range(2):
        person = rest[0][column] - rest[1][column]
        assert person.sum() == 1
        assert person[alices[50, column], label[50]] == 1


def guessed_rightly(records: int, columns: int) -> float:
    """Return of how many records Bob guesses the class by the counts of naive Bayes of columns drawn at random.

    Each of these is one equation.
    """
    codes, sent = np.random.default_rng(records + columns).integers(0, 2, (records, columns + 1)), Transcript()
    own, label = codes[:, :-1].astype(float), codes[:, -1]
    play(case_of(codes[:, :-1].astype(np.uint8), label, "alice", learner=Learner.NAIVE_BAYES), sent)
    (told,) = (m.values for m in (*sent.sent_by_a, *sent.sent_by_b) if isinstance(m, ExactCounts))
    ones = np.array(told).reshape(-1, 2)[-2 * columns :].reshape(columns, 2, 2)[:, 1, 1]
    guess = label.mean() + np.linalg.pinv(own.T - own.mean()) @ (ones - own.sum(axis=0) * label.mean())
    return float(((guess > 0.5) == label).mean())


def test_as_many_columns_as_records_read_every_class_and_a_tenth_as_many_a_little_of_each() -> None:
    """Of 600 records, guesses by 63 columns are right for two in three."""
    assert guessed_rightly(60, 60) > 0.95
    assert 0.55 < guessed_rightly(600, 63) < 0.72


WAYS: dict[str, dict[str, Any]] = {
    "hybrid": {"method": "hybrid"},
    "smc": {"method": "smc"},
    "randomized": {"method": "randomized"},
    "tree": {"method": "smc", "reveal": "tree", "max_depth": 2, "min_leaf": 20, "most_bits": 4},
}
RECORDS = 200
ALICES: Codes = np.random.default_rng(14).integers(0, 3, (RECORDS, 2)).astype(np.uint8)
BOBS: Codes = np.random.default_rng(15).integers(0, 2, (RECORDS, 1)).astype(np.uint8)


def holding(label: NDArray[np.int64], owner: str = "bob", **terms: object) -> Case:
    """Return the case in which the class is this."""
    return case_of(BOBS, label, owner, ALICES, **{"omega": 1, "theta": Fraction(11, 20)} | terms)


def counts(rows: Codes, label: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Return the exact counts of both of Alice's columns at the root: columns x values x classes."""
    table = np.zeros((2, 3, classes), dtype=np.int64)
    for column in range(2):
        np.add.at(table[column], (rows[:, column], label), 1)
    return table


def bob_with(label: NDArray[np.int64], name: str = "class") -> PartyInputs:
    """Return Bob with another class of his."""
    local = make_local(holding(label), "bob")
    *others, old = local.table.attributes
    return replace(local, table=Table((*others, replace(old, name=name)), local.table.codes))


@pytest.mark.parametrize("way", WAYS)
def test_a_class_that_names_people_reads_every_row_and_is_refused(tmp_path: Path, way: str) -> None:
    everyone = np.arange(RECORDS)
    read = counts(ALICES, everyone, RECORDS).argmax(axis=1).T
    assert (read == ALICES).all()
    case = holding(everyone, **WAYS[way])
    assert_refused(Guarded(tmp_path, case).meet(case.terms), "class values")


@pytest.mark.parametrize("way", few(sorted(WAYS.keys() - {"tree", "randomized"}), 2))
def test_classes_that_name_a_part_of_the_people_each_run_are_refused_one_by_one(tmp_path: Path, way: str) -> None:
    """Nineteen people per run, all others in one class: eleven runs read two hundred rows.

    Each is refused for its class. It shows nothing, so it binds the data set to nothing: a class of enough people is
    built with, and from then on the data set knows one table of Bob's. Of a tree alone, and of one that is mined,
    nobody hears how many have a class; what it says of them is as many bits as are shown.
    """
    node, read = Guarded(tmp_path, holding(np.arange(RECORDS) % 20)), np.zeros_like(ALICES)
    for start in range(0, RECORDS, 19):
        named = np.arange(start, min(start + 19, RECORDS))
        label = np.full(RECORDS, 19)
        label[named] = np.arange(len(named))
        read[named] = counts(ALICES, label, 20).argmax(axis=1).T[: len(named)]
        case = holding(label, **WAYS[way])
        assert_refused(node.meet(case.terms, make_local(case, "bob")), "class counts")
    assert (read == ALICES).all()
    assert not node.released
    case = holding(np.arange(RECORDS) % 2, **WAYS[way])
    assert_built(node.meet(case.terms, make_local(case, "bob")))
    other = holding(np.arange(RECORDS) // 2 % 2, **WAYS[way])
    assert_refused(node.meet(other.terms, make_local(other, "bob")), "peer data")


def test_a_class_that_its_holder_refuses_is_on_record_with_its_split_and_may_be_merged(tmp_path: Path) -> None:
    """Her word on classes over many splits would show each person's; one split's is sent, and no other."""
    rare = holding(np.minimum(np.arange(RECORDS) // 5, 2), "alice")
    node = Guarded(tmp_path, rare, 'odds = "any"')
    assert_refused(node.meet(rare.terms), "class counts")
    assert node.released.keys() - {"spent"} == {"party", "class", "seed", "test"}
    assert_refused(node.meet(replace(rare.terms, seed=2)), "seed")
    merged = holding(np.minimum(np.arange(RECORDS) // 10, 1), "alice")
    assert_built(Guarded(tmp_path, merged, 'odds = "any"', visits=2).meet(merged.terms))


@pytest.mark.parametrize("opens", [True, False], ids=["she calls", "she answers"])
@pytest.mark.parametrize("way", WAYS)
def test_two_classes_of_two_values_single_a_person_out_and_the_second_is_refused(
    tmp_path: Path, way: str, opens: bool
) -> None:
    """Twelve people have the first class; with one of them left out, eleven: large enough, both of them."""
    twelve, eleven = (np.isin(np.arange(RECORDS), np.arange(size)).astype(np.int64) for size in (12, 11))
    difference = counts(ALICES, twelve, 2)[:, :, 1] - counts(ALICES, eleven, 2)[:, :, 1]
    assert (difference.argmax(axis=1) == ALICES[11]).all()
    assert difference.sum() == 2
    case = holding(twelve, **WAYS[way])
    node = Guarded(tmp_path, case)
    assert_built(node.meet(case.terms, opens=opens))
    assert_refused(node.meet(case.terms, bob_with(eleven), opens=opens), "peer data")
    named = replace(case.terms, class_name="other")
    assert_refused(node.meet(named, bob_with(eleven, "other"), opens=opens), "class")


@pytest.mark.parametrize("way", WAYS)
def test_two_splits_that_differ_by_one_person_show_that_row_and_the_second_is_refused(tmp_path: Path, way: str) -> None:
    label = np.arange(RECORDS) % 2
    shares = Fraction(40, RECORDS), Fraction(41, RECORDS)
    many, fewer = (split_records(1, RECORDS, share)[0] for share in shares)
    (person,) = set(many) - set(fewer)
    difference = counts(ALICES[many], label[many], 2) - counts(ALICES[fewer], label[fewer], 2)
    assert (difference.sum(axis=2).argmax(axis=1) == ALICES[person]).all()
    assert difference.sum() == 2
    case = holding(label, **WAYS[way], test=shares[0])
    node = Guarded(tmp_path, case)
    assert_built(node.meet(case.terms))
    assert_refused(node.meet(replace(case.terms, test=shares[1])), "test")
    assert_refused(node.meet(replace(case.terms, seed=2)), "seed")


@pytest.mark.parametrize("way", WAYS)
def test_an_accuracy_over_one_person_shows_the_class_and_is_refused_for_every_seed(tmp_path: Path, way: str) -> None:
    """Bob knows what the tree says of the one person that is held out: one right or none is Alice's class of it."""
    label = RNG.integers(0, 2, RECORDS)
    node = Guarded(tmp_path, holding(label, "alice"), agree='odds = "any"')
    for seed in range(5):
        case = holding(label, "alice", **WAYS[way], seed=seed, test=Fraction(1, RECORDS))
        (person,) = split_records(seed, RECORDS, case.terms.test)[1]
        predicted = 0
        correct = int(label[person] == predicted)
        assert (predicted if correct else 1 - predicted) == label[person]
        ends = node.meet(case.terms)
        assert_refused(ends, "test")
        assert not any(isinstance(message, ExactCounts) for end in ends for message in end.sent)


def test_copies_with_coins_of_their_own_average_out_and_a_class_held_by_both_brings_no_second_copy(
    tmp_path: Path,
) -> None:
    """Bob claims the class that Alice holds, so that it need not be sent; her columns have the coins they had."""
    label = RNG.integers(0, 3, RECORDS)
    alone = holding(label, "alice", method="hybrid", omega=1, theta=Fraction(3, 5))
    alice = make_local(alone, "alice")
    design = alice.design(alone.terms.theta, class_is_shared=False)
    others = [replace(alice, dataset=f"copy {number}") for number in range(201)]
    copies = [disguise(alice.table.codes, other.coins(design), design) for other in others]
    commonest = np.array([[np.bincount(cell, minlength=3).argmax() for cell in row] for row in np.stack(copies, -1)])
    assert (commonest == alice.table.codes).mean() > 0.97
    assert (copies[0] == alice.table.codes).mean() < 0.5
    both = replace(alone, class_owners=("alice", "bob"))
    pages = []
    for name, case in (("first", alone), ("second", both)):
        folder = tmp_path / name
        folder.mkdir()
        ends = Guarded(folder, case, 'odds = "any"').meet(case.terms)
        assert_built(ends)
        (page,) = [message.codes for message in ends[0].sent if isinstance(message, DisguisedPage)]
        pages.append(np.frombuffer(page, dtype=np.uint8).reshape(RECORDS, -1))
    assert (pages[0][:, :2] == pages[1]).all()
    node = Guarded(tmp_path / "first", alone, 'odds = "any"', visits=1)
    assert_refused(node.meet(both.terms, make_local(both, "bob")), "peer data")


def mined_by_her_column(held: int, min_leaf: int) -> bool:
    """Return whether the tree that Alice mines splits by her column, which holds this many people."""
    people, own = np.arange(RECORDS), np.random.default_rng(10).integers(0, 2, (RECORDS, 2)).astype(np.uint8)
    label = np.where(people < held, people % 20 == 0, people % 2)
    terms = {"method": "randomized", "min_leaf": min_leaf, "max_depth": 1, "reveal": "tree"}
    return play(case_of(own, label, "alice", (people < held)[:, None].astype(np.uint8), **terms))[0].tree.columns == {0}


def test_each_run_with_another_limit_shows_by_one_bit_how_many_records_a_branch_of_a_mined_tree_has() -> None:
    """Eight runs read the number among as many; `[agree] most_runs` is 1."""
    for held in (37, 39):
        assert [limit for limit in range(34, 42) if mined_by_her_column(held, limit)] == list(range(34, held + 1))


def test_every_attack_of_these_is_on_the_page() -> None:
    page, source = (Path(__file__).with_name(name).read_text("utf-8") for name in ("README.md", Path(__file__).name))
    works = {name for name in re.findall(r"def (test_\w+)\(", source) if "_show" in name or "_read" in name}
    assert len(works) > 3
    assert works - set(re.findall(r"`(test_\w+)`", page)) == set()
