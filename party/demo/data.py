"""The two tables of a demo: a data set whose columns are dealt to two parties, or two files of the user's."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from party.data import ColumnTreatment, Frame, Notice, distinct_ids, read_frame, taken_notices
from party.data.bins import MEDIAN, number
from party.data.looks import Looks
from party.data.notices import About
from party.datasets.included import load
from party.demo.options import OwnFiles
from party.errors import DataError
from party.names import nearest, printable
from protocols.errors import InputError
from protocols.randomness import public_order
from protocols.two_party.equality import one_spelling, tell_difference

ALICE, BOB = "alice", "bob"
PARTIES = (ALICE, BOB)
ID = "id"

_MANY = 4


@dataclass(frozen=True, repr=False)
class Half:
    """One party's table: columns of text, the class among them if it holds it, and how they become attributes."""

    columns: Mapping[str, Sequence[str | None]]
    treatments: Mapping[str, ColumnTreatment]
    holds_class: bool

    def __repr__(self) -> str:
        return f"<Half of {len(self.columns)} columns>"


@dataclass(frozen=True, repr=False)
class Halves:
    """Both parties' tables over the same records; `notices` say to each party how its file was read."""

    name: str
    class_name: str
    id_column: str
    ids: Sequence[str]
    of: Mapping[str, Half] = field(default_factory=dict)
    notices: tuple[tuple[str, Notice], ...] = ()

    def __repr__(self) -> str:
        return f"<Halves of {self.name}: {len(self.ids)} records>"

    def taken(self, rows: Sequence[int]) -> "Halves":
        """Return these rows."""
        halves = {
            party: replace(half, columns={name: [cells[row] for row in rows] for name, cells in half.columns.items()})
            for party, half in self.of.items()
        }
        return replace(self, ids=[self.ids[row] for row in rows], of=halves)

    def drawn(self, rows: int, seed: int) -> "Halves":
        """Return this many rows, drawn by a seed, in their order."""
        if rows > len(self.ids):
            raise InputError(f"must be 1 to {len(self.ids)}, the number of rows that there are", field="rows")
        return self.taken(sorted(public_order(seed, len(self.ids))[:rows]))


def deal_dataset(name: str, seed: int) -> Halves:
    """Deal the columns of an embedded data set: each party gets half, at random by the seed, and one the class."""
    data = load(name)
    cells = dict(zip(data.columns, zip(*data.rows, strict=True), strict=True))
    others = [column for column in data.columns if column != data.class_name]
    order = public_order(seed, len(others))
    alices = set(order[: (len(others) + 1) // 2])
    owner = PARTIES[public_order(seed, 2)[0]]
    halves = {}
    for party in PARTIES:
        own = [c for i, c in enumerate(others) if (i in alices) == (party == ALICE)]
        treatments = {column: data.treatments[column] for column in own if column in data.treatments}
        own += [data.class_name] * (party == owner)
        halves[party] = Half({column: cells[column] for column in own}, treatments, party == owner)
    return Halves(name, data.class_name, ID, _numbered(len(data.rows)), halves)


def read_own(files: OwnFiles) -> Halves:
    """Read two files of the user's and line them up: by their ids, or by their order if neither has an id column."""
    frames = {ALICE: read_frame(files.alice), BOB: read_frame(files.bob)}
    if all(files.class_name not in frame.columns for frame in frames.values()):
        # NB: no name but one that is like it, since a file without a header has a record there
        near = nearest(files.class_name, [name for frame in frames.values() for name in frame.columns])
        meant = f"; did you mean {near!r}?" if near else ""
        raise InputError(f"neither file has the class column {files.class_name!r}{meant}")
    usual = ID if any(ID in frame.columns for frame in frames.values()) else None
    id_column = usual if files.id_column is None else files.id_column
    if id_column is None:
        ids, rows = _lined_up_by_order(frames)
    else:
        ids, rows = _lined_up_by_ids(frames, id_column)
    special = (id_column, files.class_name)
    names = {party: [n for n in frame.columns if not _identifies(frame, n, special)] for party, frame in frames.items()}
    notices = tuple((party, notice) for party in frames for notice in _notices(frames[party], names[party]))
    for left in names.values():
        left[:] = [name for name in left if name != id_column]
    halves = {party: _own_half(frame, names[party], files.class_name, rows[party]) for party, frame in frames.items()}
    name = printable(f"{files.alice.stem} + {files.bob.stem}")
    return Halves(name, files.class_name, id_column or ID, ids, halves, notices)


def _notices(frame: Frame, kept: Collection[str]) -> Iterator[Notice]:
    yield from frame.notices
    yield from taken_notices([frame.column(name) for name in kept])
    for name in frame.columns:
        if name not in kept:
            yield About.IDENTIFIER(column=name)


def _identifies(frame: Frame, name: str, special: Collection[str | None]) -> bool:
    looks = Looks(frame.column(name))
    return name not in special and looks.kind != "numbers" and looks.nearly_all_differ


def _lined_up_by_order(frames: Mapping[str, Frame]) -> tuple[list[str], dict[str, Sequence[int]]]:
    lengths = [len(frames[party]) for party in PARTIES]
    if lengths[0] != lengths[1]:
        raise DataError(
            f"{lengths[1]} rows, but {frames[ALICE].path} has {lengths[0]}: without an id column rows are "
            "taken in order",
            path=frames[BOB].path,
        )
    return _numbered(lengths[0]), dict.fromkeys(PARTIES, range(lengths[0]))


def _numbered(records: int) -> list[str]:
    """Return ids that sort in the order of the rows.

    >>> _numbered(10)[::9]
    ['01', '10']
    """
    width = len(str(records))
    return [f"{number:0{width}}" for number in range(1, records + 1)]


def _lined_up_by_ids(frames: Mapping[str, Frame], id_column: str) -> tuple[list[str], dict[str, Sequence[int]]]:
    columns = {party: frame.column(id_column) for party, frame in frames.items()}
    numbered = {party: enumerate(distinct_ids(column)) for party, column in columns.items()}
    positions = {party: {text: row for row, text in rows} for party, rows in numbered.items()}
    ids, others = positions[ALICE], positions[BOB]
    if ids.keys() != others.keys():
        alike = sorted(map(one_spelling, ids)) == sorted(map(one_spelling, others))
        there = f"in {frames[ALICE].path}"
        problem = tell_difference(len(others), len(ids), there, alike, "keep the people who are in both files")
        raise DataError(problem, path=frames[BOB].path, column=id_column)
    return list(ids), {party: [positions[party][text] for text in ids] for party in PARTIES}


def _own_half(frame: Frame, names: Sequence[str], class_name: str, rows: Sequence[int]) -> Half:
    texts = {name: frame.column(name).cells for name in names}
    columns = {name: [cells[row] for row in rows] for name, cells in texts.items()}
    treatments = {name: _usual_treatment(cells) for name, cells in columns.items() if name != class_name}
    return Half(columns, treatments, class_name in columns)


def _usual_treatment(cells: Sequence[str | None]) -> ColumnTreatment:
    """Halve numbers at the median of their range, and keep one text apart from the others: always small enough."""
    present = {text for text in cells if text is not None}
    if len(present) > _MANY and all(number(text) is not None for text in present):
        return ColumnTreatment(bins=MEDIAN)
    return ColumnTreatment(max_values=2)
