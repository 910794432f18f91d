"""Cells are compared by their content, and numbers tell at once whether a text may be one of them."""

from collections.abc import Sequence

import pytest

from party.data.cells import Cells


@pytest.mark.parametrize("texts", [["a", None, "b"], ["1", None, "2"]])
def test_cells_equal_the_sequences_of_the_same_texts_alone(texts: Sequence[str | None]) -> None:
    cells = Cells.of(texts)
    assert (cells.numbers is None) == ("a" in texts)
    assert cells == texts
    assert cells == Cells.of(texts)
    others: list[object] = [[*texts[:2], "x"], texts[:2], [*texts, None], None, 3]
    assert not any(cells == other for other in others)


def test_a_number_may_be_written_in_several_ways_and_one_that_does_not_occur_in_none() -> None:
    cells = Cells.of(["3", "1.5", None]).numbers
    assert cells is not None
    assert all(map(cells.may_hold, ["3", "3.0", "03", "1.5", "15e-1"]))
    assert not any(map(cells.may_hold, ["2", "-9", "4", "NA", "nan", "inf", ""]))
