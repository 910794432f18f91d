"""Cells are compared by their content, and numbers among them can be made empty."""

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


def test_numbers_that_stand_for_nothing_become_empty_cells() -> None:
    cells = Cells.of(["3", "1.5", None]).numbers
    assert cells is not None
    assert list(cells.without([3.0, 9.0])) == [None, "1.5", None]
    assert cells.without([9.0]) is cells
