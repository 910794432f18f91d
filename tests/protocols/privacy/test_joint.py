"""What all responses of a group say of one attribute, against the joint table of the whole record."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest

from protocols.errors import InputError
from protocols.privacy.beliefs import breach
from protocols.privacy.entry import MatrixRow, entry_of
from protocols.privacy.joint import MAX_ENTRY_CELLS, entry_in_group, is_small
from protocols.randomized_response.design import Design, cells
from tests.protocols.privacy.designs import DESIGNS, related, shares, skewed
from tests.support.declaration import joint_transition


def by_enumeration(design: Design, column: int, priors: list[MatrixRow]) -> dict[tuple[tuple[int, ...], int], Fraction]:
    """Return the joint chance of every response of the column's group and every value, over all whole records."""
    group = next(group for group in design.groups if column in group)
    everything = range(len(design.sizes))
    matrix = joint_transition(design, everything)
    records = cells(design.sizes)
    chances: dict[tuple[tuple[int, ...], int], Fraction] = {}
    for (r, response), (t, truth) in product(enumerate(records), repeat=2):
        place = tuple(response[own] for own in group), truth[column]
        share = prod((priors[c][truth[c]] for c in everything), start=matrix[r][t])
        chances[place] = chances.get(place, Fraction(0)) + share
    return chances


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_it_is_the_margin_of_the_whole_record(design: Design) -> None:
    priors = [skewed(size) for size in design.sizes]
    for group in design.groups:
        for column in group:
            entry = entry_in_group(design, column, priors)
            expected = by_enumeration(design, column, priors)
            responses = cells([design.sizes[own] for own in group])
            for row, response in zip(entry.joint, responses, strict=True):
                assert row == tuple(expected[response, value] for value in range(design.sizes[column]))


def test_of_a_group_of_one_it_is_the_entry_itself() -> None:
    design = DESIGNS["Warner"]
    assert entry_in_group(design, 0, [skewed(2)]) == entry_of(design, 0, skewed(2))


def test_an_attribute_that_is_known_gives_the_others_away() -> None:
    design = related([2, 2], [[0, 1]], "9/20")
    priors = [shares("1/2 1/2"), shares("1 0")]
    assert breach(entry_in_group(design, 0, priors)).level == 1
    assert breach(entry_of(design, 0, priors[0])).level == Fraction(11, 20)


def test_a_group_of_many_cells_is_refused() -> None:
    largest, larger = related([2] * 8, [range(8)], "9/20"), related([2] * 9, [range(9)], "9/20")
    assert MAX_ENTRY_CELLS == 2**8
    assert is_small(largest, 7)
    assert not is_small(larger, 0)
    with pytest.raises(InputError, match="column 0 is plain, or its group has more than 256 joint cells"):
        entry_in_group(larger, 0, [skewed(2)] * 9)


def test_a_plain_column_has_no_group_to_read() -> None:
    design = DESIGNS["partial disguise"]
    assert not is_small(design, 1)
    with pytest.raises(InputError, match="column 1 is plain"):
        entry_in_group(design, 1, [skewed(size) for size in design.sizes])


@pytest.mark.parametrize(
    ("priors", "text"),
    [
        ([skewed(2)], "every column needs a prior, with a chance for each of its values"),
        ([skewed(2), skewed(3)], "every column needs a prior, with a chance for each of its values"),
        ([skewed(2), shares("1/2 1/4")], "the prior of column 1 must add up to 1 exactly, not 3/4"),
    ],
)
def test_every_prior_is_checked(priors: list[MatrixRow], text: str) -> None:
    with pytest.raises(InputError, match=text):
        entry_in_group(related([2, 2], [[0, 1]], "9/20"), 0, priors)


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(InputError, match="there is no column 1"):
        entry_in_group(DESIGNS["Warner"], 1, [skewed(2)])
