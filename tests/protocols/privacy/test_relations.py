"""Relations disclosed with certainty, against what the transition matrix lets anyone infer.

Two truths that can give one response cannot be told apart by it. What every response discloses is which class of
truths, linked in this way over any number of steps, the record is in: no more and no less.
"""

from collections.abc import Sequence
from itertools import combinations

import pytest

from protocols.privacy.relations import Relation, disclosed_columns, relations
from protocols.randomized_response.design import Design, cells
from tests.protocols.privacy.designs import DESIGNS, related
from tests.support.declaration import joint_transition

MORE: dict[str, Design] = {
    **DESIGNS,
    "three sizes": related([2, 3, 6], [[0, 1, 2]], "9/20"),
    "partly common factors": related([4, 6], [[1, 0]], "1/5"),
    "twice three": related([3, 3, 3], [[0, 1, 2]], "1/2"),
    "a lie of three": related([4], [[0]], "0"),
}

Classes = set[frozenset[tuple[int, ...]]]


def told_apart(design: Design, columns: Sequence[int]) -> Classes:
    """Return the classes of truths on these columns that every response tells apart."""
    truths = cells([design.sizes[column] for column in columns])
    classes = {truth: {truth} for truth in truths}
    for row in joint_transition(design, columns):
        together = set().union(*(classes[truth] for truth, chance in zip(truths, row, strict=True) if chance))
        for truth in together:
            classes[truth] = together
    return {frozenset(members) for members in classes.values()}


def declared(design: Design, columns: Sequence[int]) -> Classes:
    """Return the same from what `disclosed_columns` and `relations` say."""
    known = [column for column in columns if column in disclosed_columns(design) or design.group_of(column) is None]
    found = [r for r in relations(design) if {r.first, r.second} <= set(columns)]
    groups: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for truth in cells([design.sizes[column] for column in columns]):
        code = dict(zip(columns, truth, strict=True))
        said = [code[column] for column in known] + [(code[r.first] - code[r.second]) % r.modulus for r in found]
        groups.setdefault(tuple(said), set()).add(truth)
    return {frozenset(members) for members in groups.values()}


@pytest.mark.parametrize("design", MORE.values(), ids=MORE)
def test_relations_are_all_that_every_response_tells_apart(design: Design) -> None:
    every = range(len(design.sizes))
    for columns in [*combinations(every, 1), *combinations(every, 2), *combinations(every, 3)]:
        assert declared(design, columns) == told_apart(design, columns)


def test_of_binary_attributes_the_xor_is_disclosed() -> None:
    assert relations(related([2, 2], [[0, 1]], "9/20")) == (Relation(0, 1, 2, 1, 1),)


def test_of_common_factors_the_difference_modulo_the_greatest_is_disclosed() -> None:
    assert relations(MORE["partly common factors"]) == (Relation(0, 1, 2, 2, 3),)


def test_a_relation_can_be_read_from_its_other_side() -> None:
    assert Relation(0, 1, 2, 2, 3).turned() == Relation(1, 0, 2, 3, 2)


def test_coprime_sizes_and_other_groups_disclose_nothing() -> None:
    assert relations(related([2, 3], [[0, 1]], "9/20")) == ()
    assert relations(related([2, 2], [[0], [1]], "9/20")) == ()


def test_the_unrelated_question_discloses_no_relation() -> None:
    assert relations(DESIGNS["unrelated, one group"]) == ()
    assert disclosed_columns(DESIGNS["unrelated, one group"]) == ()


def test_certain_truths_and_certain_lies_are_disclosed_in_full() -> None:
    assert disclosed_columns(DESIGNS["always the truth"]) == (0, 1)
    assert disclosed_columns(DESIGNS["always the lie"]) == (0, 1)
    assert disclosed_columns(DESIGNS["unrelated, always the truth"]) == (0, 1)
    assert relations(DESIGNS["always the truth"]) == relations(DESIGNS["always the lie"]) == ()


def test_a_column_of_one_value_hides_and_discloses_nothing() -> None:
    assert disclosed_columns(related([1, 2], [[0, 1]], "1")) == (1,)
