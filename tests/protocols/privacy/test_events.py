"""Margins: declared chances against the written-out transition matrix, counts against their definition."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.privacy.events import (
    MAX_MARGIN_CELLS,
    MAX_PAIRS,
    Margin,
    joint_columns,
    margins,
    told_chance,
    untested_pairs,
)
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.related_question import RelatedDesign
from tests.protocols.privacy.designs import DESIGNS, related
from tests.support.declaration import joint_transition


def records_of(design: Design) -> list[tuple[int, ...]]:
    return [tuple(0 for _ in design.sizes), tuple(size - 1 for size in design.sizes)]


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_every_margin_is_the_declared_distribution_of_its_events(design: Design) -> None:
    for margin in margins(design, records_of(design)):
        assert sum(margin.chances) == 1
        columns = sorted(set(margin.columns)) if margin.told else margin.columns
        every = cells([design.sizes[column] for column in columns])
        truth = dict(zip(margin.columns, margin.truth, strict=True))
        position = every.index(tuple(truth[column] for column in columns))
        declared = [row[position] for row in joint_transition(design, columns)]
        if not margin.told:
            assert margin.chances == tuple(declared)
            continue
        if margin.serial:
            told = declared[position]
            assert margin.chances == ((1 - told) ** 2, (1 - told) * told, told * (1 - told), told**2)
            continue
        found = dict.fromkeys(cells((2, 2)), Fraction(0))
        for cell, chance in zip(every, declared, strict=True):
            response = dict(zip(columns, cell, strict=True))
            found[tuple(int(response[c] == truth[c]) for c in margin.columns)] += chance
        assert margin.chances == tuple(found.values())


def test_every_column_pair_small_group_and_pair_of_groups_has_a_margin() -> None:
    design = related([2, 3, 2, 2, 5], [[0, 2, 3], [1]], "9/20")
    found = [(margin.columns, margin.told, margin.serial) for margin in margins(design, [(0,) * 5])]
    assert found == [
        *(((column,), False, False) for column in range(5)),
        ((0, 2), False, False),
        ((0, 3), False, False),
        ((2, 3), False, False),
        ((0, 2, 3), False, False),
        ((0, 1), True, False),
        ((0, 0), True, True),
        ((1, 1), True, True),
    ]


def test_a_truth_that_two_records_share_is_one_margin() -> None:
    design = related([2, 2], [[0], [1]], "9/20")
    once, twice = (list(margins(design, records)) for records in ([(0, 0)], [(0, 0), (0, 0)]))
    assert once == twice
    assert [m.truth for m in margins(design, [(0, 0), (0, 1)]) if m.columns == (0,)] == [(0,)]


def test_cells_are_counted_with_the_last_column_fastest() -> None:
    margin = Margin((2, 0), (0, 0), (2, 3), (Fraction(1, 6),) * 6)
    responses = np.array([[2, 9, 1], [0, 9, 1], [2, 9, 0], [2, 9, 1]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [0, 0, 1, 1, 0, 2]


def test_truths_are_counted_together() -> None:
    margin = Margin((0, 1), (1, 0), (2, 2), (Fraction(1, 4),) * 4, told=True)
    responses = np.array([[1, 0], [1, 2], [0, 0], [2, 1], [1, 0]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [1, 1, 1, 2]


def test_two_records_are_one_trial_of_a_serial_margin_and_an_odd_one_is_left_out() -> None:
    margin = Margin((0, 0), (1, 1), (2, 2), (Fraction(1, 4),) * 4, told=True, serial=True)
    responses = np.array([[1], [1], [1], [0], [0], [0], [1], [1], [1]], dtype=np.uint8)
    assert margin.observed(responses).tolist() == [1, 0, 1, 2]


def test_sets_of_too_many_cells_are_not_counted_but_told() -> None:
    design = related([16, 16, 32, 2], [[0, 1, 2, 3]], "9/20")
    assert MAX_MARGIN_CELLS == 16 * 16
    assert joint_columns(design, design.groups[0]) == [(0, 1), (0, 3), (1, 3), (2, 3)]
    assert untested_pairs(design) == ((0, 2), (1, 2))


def test_the_chance_of_a_true_response_is_on_the_diagonal() -> None:
    assert told_chance(DESIGNS["unrelated, mixed"], 1, 2) == Fraction(9, 10) + Fraction(1, 30)
    assert told_chance(DESIGNS["partial disguise"], 1, 2) == 1


def test_of_a_wide_group_each_column_is_counted_with_the_first() -> None:
    for columns in (20, 40, 2 * MAX_PAIRS):
        group = tuple(range(columns))
        design = RelatedDesign((2,) * columns, (group,), Fraction(7, 10))
        pairs = [each for each in joint_columns(design, group) if len(each) == 2]
        assert {(0, column) for column in group[1:]} <= set(pairs)
        assert len(pairs) == min(columns * (columns - 1) // 2, max(MAX_PAIRS, columns - 1))
        assert len(pairs) + len(untested_pairs(design)) == columns * (columns - 1) // 2
