"""What names tell: which values of a column are named shows how many hold them, before any count and any noise.

A value is named to the peer where `smallest_value` people or more hold it (DESIGN 3). One who knows all of its other
holders learns from the name alone whether one more person is among them. Noise does not cover names, and a
peer that chooses the list of people needs to know no more than `smallest_value - 1` holders.
An edge of bins is a name as well: where nobody but one person lies in a gap, it must not follow that person.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.data import ColumnTreatment, read_share
from party.data.bins import SMALLEST_VALUE
from protocols.messages import Share
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs
from tests.support.curious import Guarded, assert_built
from tests.support.parties import Case, make_local, make_terms

RECORDS = 200
TERMS = make_terms(method="smc", noise=Fraction(1), max_depth=1, min_leaf=5, test=Fraction(0))
CODES = np.random.default_rng(3).integers(0, [2, 2, 2], (RECORDS, 3)).astype(np.uint8)
CASE = Case({"alice": (2,), "bob": (2,)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)
ANN = 17


@dataclass
class Reading(Guarded):
    """Alice's node with a column of her file, in which the value "rare" has these holders."""

    holders: frozenset[int] = frozenset()

    @property
    def alice(self) -> PartyInputs:
        path = self.folder / "data.csv"
        cells = ["rare" if row in self.holders else "xy"[row % 2] for row in range(RECORDS)]
        path.write_text("id,illness\n" + "".join(f"{row:04},{cell}\n" for row, cell in enumerate(cells)))
        table = read_share(path, "alice", "id", None, {"*": ColumnTreatment()}).table
        return replace(make_local(self.case, "alice"), table=table, groups=((0,),), limits=USUAL_LIMITS)


def names_tell(folder: Path, known: int, *, ann: bool) -> bool:
    """Let Bob, who knows this many holders besides Ann, run a job with noise; return whether the value is named."""
    folder.mkdir()
    others = [row for row in range(100, 100 + known) if row != ANN]
    node = Reading(folder, CASE, holders=frozenset([*others, ANN] if ann else others))
    ends = node.meet(TERMS)
    assert_built(ends)
    (share,) = (message for message in ends[0].sent if isinstance(message, Share))
    (values,) = (column.values for column in share.attributes)
    return "rare" in values


def test_the_name_of_a_value_tells_of_one_person_to_who_knows_the_nine_others_whatever_the_noise(
    tmp_path: Path,
) -> None:
    """Both are certain; counts with this noise move the odds between the two tables by a factor of e at most."""
    assert names_tell(tmp_path / "ill", SMALLEST_VALUE - 1, ann=True)
    assert not names_tell(tmp_path / "well", SMALLEST_VALUE - 1, ann=False)


@pytest.mark.parametrize("known", [SMALLEST_VALUE - 2, SMALLEST_VALUE])
def test_to_who_knows_one_holder_less_or_more_the_names_are_the_same(tmp_path: Path, known: int) -> None:
    """The control: only where she makes the difference is there one."""
    told = [names_tell(tmp_path / str(ann), known, ann=ann) for ann in (False, True)]
    assert told == [known >= SMALLEST_VALUE] * 2


def shares_of_lists(folder: Path, *, whole: bool) -> set[Share]:
    """Return what is named of twenty lists of ten people who have one cell: by a file of all, or of these ten alone."""
    path, case = folder / "data.csv", make_local(CASE, "alice")
    told = set[Share]()
    for first in (ten + cell for ten in range(0, RECORDS, 20) for cell in range(2)):
        picked = range(first, first + 20, 2)
        rows = "".join(f"{row:04},{'xy'[row % 2]},{row}\n" for row in (range(RECORDS) if whole else picked))
        path.write_text(f"id,illness,age\n{rows}")
        share = read_share(path, "alice", "id", None, {"age": ColumnTreatment(bins="quantiles:2")})
        brings = replace(case, table=share.table, records=tuple(share.ids), groups=())
        told.add(brings.bringing_people([f"{row:04}" for row in picked]).share())
    return told


def test_of_ten_people_whom_the_partner_lists_the_names_say_nothing(tmp_path: Path) -> None:
    """The control: if names followed from who is common, they would name the one cell that all ten have."""
    assert len(shares_of_lists(tmp_path, whole=True)) == 1
    assert len(shares_of_lists(tmp_path, whole=False)) >= 2


def bins_tell(folder: Path, bins: str, crowds: tuple[str, str], cell: str, smallest: int) -> tuple[str, ...]:
    """Return the names of bins that a file of two crowds gets, with one person between them who has this cell."""
    path = folder / "data.csv"
    cells = [crowds[0]] * 100 + [cell] + [crowds[1]] * 100
    path.write_text("id,value\n" + "".join(f"{row:04},{text}\n" for row, text in enumerate(cells)))
    treatment = ColumnTreatment(bins=bins, smallest_value=smallest)
    (column,) = read_share(path, "alice", "id", None, {"value": treatment}).attributes
    return column.values


@pytest.mark.parametrize(
    ("bins", "crowds", "one"),
    [
        ("year", ("1950-05-01", "1970-05-01"), ("1955-02-03", "1960-02-03", "1964-02-03")),
        ("month", ("2024-01-31", "2024-12-01"), ("2024-03-05", "2024-06-05", "2024-11-05")),
        ("quantiles:2", ("1.25", "9.5"), ("3.1", "4.7", "7.7")),
    ],
)
def test_edges_of_bins_do_not_follow_the_one_person_between_two_crowds(
    tmp_path: Path, bins: str, crowds: tuple[str, str], one: tuple[str, ...]
) -> None:
    """The control: where no person is hidden by others (`smallest_value = 1`) each cell has edges of its own."""
    told, exact = (
        [bins_tell(tmp_path, bins, crowds, cell, smallest) for cell in one] for smallest in (SMALLEST_VALUE, 1)
    )
    assert len(told[0]) == 2
    assert len(set(told)) == 1
    assert len(set(exact)) == len(one)
