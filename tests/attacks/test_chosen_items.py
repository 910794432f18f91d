"""Attacks on association rules by items that the partner chooses.

Two of them differ by a person, or leave one out; or there are as many as records.

Bob follows the protocol. He knows for whom each count with his items stands, and asks what follows of Alice's item.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.role import run_pair
from protocols.rule_terms import RuleTerms
from protocols.tables.expression import Expression, Term
from protocols.tables.table import Codes
from protocols.terms import Method
from tests.support.joint_itemsets import RuleCase, rule_terms

RULES = RuleTerms(Fraction(1, 8), 2, 10_000, absent=("v0",))
HERS = Term(0, 1)


def case_of(hers: NDArray[np.int64], his: NDArray[np.int64], smallest: int) -> RuleCase:
    codes = np.column_stack([hers, his]).astype(np.uint8)
    sizes = {"alice": (2,), "bob": (2,) * his.shape[1]}
    return RuleCase(sizes, codes, rule_terms(RULES, method=Method.SMC, min_leaf=smallest))


def told_of_her_item(case: RuleCase) -> dict[Term, int]:
    """Return the count of Alice's item with each item of Bob's, as far as both are told it."""
    _, bob = case.play()
    pairs = (each for each in bob.itemsets.kept if len(each.terms) == 2 and HERS in each.terms)
    return {each.terms[1]: int(each.count) for each in pairs}


def has(codes: Codes, term: Term) -> NDArray[np.bool_]:
    return Expression((term,)).satisfied_by(codes)


def test_items_that_differ_by_one_person_read_her_item_and_one_of_them_is_not_used() -> None:
    generator = np.random.default_rng(3)
    hers = (generator.random(80) < 0.5).astype(np.int64)
    first = (generator.random(80) < 0.5).astype(np.int64)
    for person in range(3):
        with_person, without = first.copy(), first.copy()
        with_person[person], without[person] = 1, 0
        his = np.column_stack([with_person, without])
        unlimited = told_of_her_item(case_of(hers, his, 1))
        assert unlimited[Term(1, 1)] - unlimited[Term(2, 1)] == hers[person]
        limited = told_of_her_item(case_of(hers, his, 5))
        assert set(limited) == {Term(1, 1)}


def leaving_out(person: int, people: int, parts: int) -> NDArray[np.int64]:
    """Return so many items, of which each other person has one."""
    order = np.random.default_rng(person).permutation([i for i in range(people) if i != person])
    his = np.zeros((people, parts), dtype=np.int64)
    for item, having in enumerate(np.array_split(order, parts)):
        his[having, item] = 1
    return his


def told_of_the_person(case: RuleCase) -> int | None:
    """Return what all counts of her item, less those with each of his, leave; None where one was not told."""
    told = told_of_her_item(case)
    if len(told) < len(case.sizes["bob"]):
        return None
    return int(case.codes[:, 0].sum()) - sum(told.values())


def test_two_items_that_leave_one_person_out_read_her_item_and_one_of_them_is_not_used() -> None:
    hers = (np.random.default_rng(3).random(80) < 0.5).astype(np.int64)
    for person in range(3):
        his = leaving_out(person, 80, 2)
        assert told_of_the_person(case_of(hers, his, 1)) == hers[person]
        assert told_of_the_person(case_of(hers, his, 5)) is None


def test_three_items_that_leave_one_person_out_still_read_her_item() -> None:
    hers = (np.random.default_rng(3).random(192) < 0.5).astype(np.int64)
    for person in range(3):
        assert told_of_the_person(case_of(hers, leaving_out(person, 192, 3), 5)) == hers[person]


def test_a_partner_that_brings_another_table_to_the_same_run_reads_her_item() -> None:
    """Bob brings the same run once more, under the same commitment, with one person out of his item."""
    generator = np.random.default_rng(3)
    hers, his = (generator.random((80, 1)) < 0.6).astype(np.int64)[:, 0], np.ones((80, 1), dtype=np.int64)
    his[:20] = 0
    person = 30
    other = his.copy()
    other[person] = 0
    first, second = case_of(hers, his, 5), case_of(hers, other, 5)
    before = told_of_her_item(first)[Term(1, 1)]
    _, bob = run_pair(first.role("alice"), second.role("bob"))
    (again,) = (int(each.count) for each in bob.itemsets.kept if len(each.terms) == 2)
    assert before - again == hers[person] == 1


def test_as_many_items_as_people_read_who_has_hers_and_ten_items_read_nobody() -> None:
    generator = np.random.default_rng(7)
    people = 48
    hers = (np.arange(people) % 2).astype(np.int64)
    his = (generator.random((people, 72)) < 0.6).astype(np.int64)

    def certain(case: RuleCase) -> tuple[int, int]:
        """Return of how many people it follows whether they have her item, and from how many counts."""
        told = told_of_her_item(case)
        sets = np.array([has(case.codes, term) for term in told] + [np.ones(people)], dtype=np.float64)
        solved, *_ = np.linalg.lstsq(sets, np.array([*told.values(), hers.sum()], dtype=np.float64), rcond=None)
        known = np.abs(np.linalg.pinv(sets) @ sets - np.eye(people)).sum(axis=1) < 1e-6
        assert (np.round(solved[known]) == hers[known]).all()
        return int(known.sum()), len(told)

    every, asked = certain(case_of(hers, his, 5))
    assert (every, asked > people) == (people, True)
    assert certain(case_of(hers, his[:, :10], 5)) == (0, 10)
