"""Attacks by columns that the partner chooses: combinations that name people, columns without end, complements.

Some are refused, some are bounded, and some work, as `README.md` beside this file says of each. What works is tested
too, so that nobody takes a limit for more than it is.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.tables.table import Codes
from protocols.terms import ALL
from tests.support.curious import Guarded, Told, assert_built, assert_refused, listening
from tests.support.parties import Case, make_terms

RNG = np.random.default_rng(2)


def case_of(bobs: Codes, label: NDArray[np.int64], owner: str, alices: Codes | None = None, **terms: object) -> Case:
    """Return the case of these columns and this class, trained on as a whole, by `smc` unless told."""
    mine = np.zeros((len(label), 1)) if alices is None else alices
    sizes = {name: tuple(int(c.max()) + 1 for c in part.T) for name, part in (("alice", mine), ("bob", bobs))}
    usual = {"method": "smc", "omega": ALL, "min_leaf": 5, "test": Fraction(0), "theta": Fraction(2, 3)}
    codes = np.column_stack([mine, bobs, label]).astype(np.uint8)
    return Case(sizes, (owner,), int(label.max()) + 1, codes, {"alice": 1, "bob": 1}, make_terms(**usual | terms))


def bits(records: int, columns: int) -> Codes:
    """Return columns that number the records."""
    return (np.arange(records)[:, None] >> np.arange(columns) & 1).astype(np.uint8)


def people_read(case: Case, told: Told) -> float:
    """Return the share of the people whose class, Alice's, follows for certain from the counts that were told.

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
    solution, _, rank, _ = np.linalg.lstsq(matrix, np.array(sums), rcond=None)
    determined = (np.linalg.svd(matrix)[2][rank:] ** 2).sum(axis=0) < 1e-9
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
    columns = np.random.default_rng(2).integers(0, 2, (240, 24)).astype(np.uint8)
    assert read_by_columns(tmp_path, columns) > 0.6
    assert read_by_columns(tmp_path, columns, omega=3) < 0.2


def test_columns_that_differ_by_a_person_each_read_a_person_each(tmp_path: Path) -> None:
    """Of twelve sets, each of which has one person more than the last, eleven differences name eleven people."""
    chain = np.arange(240)[:, None] < 100 + np.arange(12)
    assert 240 * read_by_columns(tmp_path, chain.astype(np.uint8)) >= 11


def test_two_runs_with_other_limits_tell_the_row_of_the_person_by_whom_their_nodes_differ(tmp_path: Path) -> None:
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
