"""Attacks that subtract: over classes, splits, seeds, shares and copies that differ by one person (DESIGN 14).

Each test runs the attack on plain counts first, where it reads what it is after; then against Alice's node.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.messages import DisguisedPage, ExactCounts
from protocols.randomized_response.related_question import disguise
from protocols.tables.table import Codes, Table
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.split import split_records
from tests.support.curious import Guarded, assert_built, assert_refused
from tests.support.parties import Case, make_local, make_terms

WAYS: dict[str, dict[str, Any]] = {
    "hybrid": {"method": "hybrid"},
    "smc": {"method": "smc"},
    "randomized": {"method": "randomized"},
    "tree": {"method": "smc", "reveal": "tree", "max_depth": 2, "min_leaf": 20},
}
RECORDS = 200
RNG = np.random.default_rng(14)
ALICES: Codes = RNG.integers(0, 3, (RECORDS, 2)).astype(np.uint8)
BOBS: Codes = RNG.integers(0, 2, (RECORDS, 1)).astype(np.uint8)


def holding(label: NDArray[np.int64], owner: str = "bob", **terms: object) -> Case:
    """Return the case in which the class is this."""
    return Case(
        sizes={"alice": (3, 3), "bob": (2,)},
        class_owners=(owner,),
        classes=max(2, int(label.max()) + 1),
        codes=np.column_stack([ALICES, BOBS, label]).astype(np.uint8),
        groups={"alice": 2, "bob": 1},
        terms=make_terms(**{"test": Fraction(0), "min_leaf": 5, "omega": 1, "theta": Fraction(11, 20)} | terms),
    )


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


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"tree"}))
def test_classes_that_name_a_part_of_the_people_each_run_are_refused_one_by_one(tmp_path: Path, way: str) -> None:
    """Nineteen people per run, all others in one class: eleven runs read two hundred rows.

    Each is refused for its class. It tells nothing, so it binds the data set to nothing: a class of enough people is
    built with, and from then on the data set knows one table of Bob's. Of a tree alone nobody hears how many have a
    class; what it says of them is as many bits as are shown.
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
    """Her word on classes over many splits would tell each person's; one split's is told, and no other."""
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
def test_two_splits_that_differ_by_one_person_tell_that_row_and_the_second_is_refused(tmp_path: Path, way: str) -> None:
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
def test_an_accuracy_over_one_person_tells_the_class_and_is_refused_for_every_seed(tmp_path: Path, way: str) -> None:
    """Bob knows what the tree says of the one person that is held out: one right or none is Alice's class of it."""
    label = RNG.integers(0, 2, RECORDS)
    node = Guarded(tmp_path, holding(label, "alice"))
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
    alone = holding(label, "alice", method="randomized", theta=Fraction(3, 5))
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
