"""What a survey's column can hold, and the codes of its cells."""

from decimal import Decimal
from pathlib import Path

from party.data import Column
from party.data.cells import Cells
from party.settings.domains import Domain
from protocols.tables import NO_ANSWER

NAMES = ("no", "yes")
BINS = ("<= 40", "> 40")


def column(*cells: str | None) -> Column:
    return Column("asked", Cells.of(cells), Path("data.csv"), range(2, 2 + len(cells)))


def test_a_cell_has_the_code_of_its_value_or_of_no_answer() -> None:
    for domain, may_be in (
        (Domain(NAMES), True),
        (Domain(NAMES, missing="no"), False),
        (Domain(NAMES, complete=True), False),
    ):
        assert domain.may_be_missing is may_be
    assert list(Domain(NAMES).codes(column("yes", None, "no"))) == [1, NO_ANSWER, 0]
    assert list(Domain(NAMES, missing="yes").codes(column("no", None))) == [0, 1]
    assert list(Domain(BINS, (Decimal(40),)).codes(column("41", "40", "> 40"))) == [1, 0, 1]
