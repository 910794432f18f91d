"""A party's share of the joint table (DESIGN 3): records sorted by id, so that both sides agree on their order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from party.data.bins import ColumnTreatment
from party.data.columns import EVERY_OTHER, Classes, TreatedColumn, treat
from party.data.form import USUAL, Form
from party.data.frame import Frame, spelt_notices, taken_notices
from party.data.ids import IdColumns, one_column, read_people, spelled_apart
from party.data.item_rows import frequent_items
from party.data.looks import Looks, automatic, check_no_identifier, marker_like, remark
from party.data.notices import About, Notice
from party.data.query import TableQuery
from party.data.reader import read_frame
from party.data.texts import MISSING_MARKERS, plain_text
from party.errors import ConfigError, DataError
from protocols.tables import Attribute, MissingCells, Table


@dataclass(frozen=True, eq=False, repr=False)
class DataShare:
    """What one party holds: attributes in file order, and a table of their codes, last those of the class if held."""

    ids: list[str]
    attributes: tuple[Attribute, ...]
    table: Table
    class_attribute: Attribute | None
    notices: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        held = "the class" if self.class_attribute else "no class"
        return f"<DataShare {len(self)} records, {len(self.attributes)} attributes, {held}>"


def read_share(
    source: Path | str | TableQuery,
    party: str,
    id_column: str | IdColumns,
    class_name: str | None = None,
    treatments: Mapping[str, ColumnTreatment] | None = None,
    ignore: Sequence[str] = (),
    form: Form = USUAL,
) -> DataShare:
    """Read a party's file, treat its columns and sort its records by id, which is no attribute.

    Of the treatments "*" stands for every other attribute, which otherwise keeps its texts. Columns of numbers that are
    not named are binned, unless they are so few that they may be codes. A class that is not named must have no missing
    cell, and its smallest value is that of "*". Ids are taken as they are, whatever marks a missing cell elsewhere.
    """
    given = treatments or {}
    who = one_column(id_column) if isinstance(id_column, str) else id_column
    frame = read_frame(source, form)
    if who.items is not None:
        smallest = given.get(EVERY_OTHER, ColumnTreatment()).smallest_value
        frame, ignore = frequent_items(frame, who, ignore, smallest), ()
    plans = _plans(frame, who.names, class_name, given, ignore)
    people = read_people(frame, who).sorted()
    frame = frame.only(sorted(people.rows)) if len(people.rows) < len(frame) else frame
    looked = {name: Looks(frame.column(name, plan.not_missing)) for name, plan in plans.items()}
    listed = {*given, class_name}
    chosen = {name: plan if name in listed else automatic(looked[name], plan) for name, plan in plans.items()}
    check_no_identifier([(looked[name], plan) for name, plan in chosen.items() if name != class_name])
    if class_name is not None:
        check_no_identifier([(looked[class_name], chosen[class_name])], "predict another column")

    folded = [name for name in plans if name != class_name and _is_folded(looked[name], chosen[name])]
    if len(folded) == len(plans):
        raise DataError("too few records differ in each column: lower smallest_value, or bring more", path=frame.path)
    both = _treated(looked, chosen, plans, class_name, folded)
    apart = [] if isinstance(id_column, str) else spelled_apart(people.ids, who.form)
    ids = spelt_notices([frame.ids(name) for name in who.names])
    columns = [looks.column for looks in looked.values()]
    few = [About.FOLDED(column=name) for name in folded]
    became = [About.TREATED(column=name, remarks=said) for name, (_, said) in both.items() if said]
    treated = {name: column for name, (column, _) in both.items()}
    notices = (*frame.notices, *few, *ids, *apart, *taken_notices(columns), *spelt_notices(columns), *became)
    notices = (*notices, *_class_told(treated, class_name))
    marks = {name: _marks(form, plan) for name, plan in plans.items()}
    attributes = tuple(
        Attribute(party, name, column.values, MissingCells(column.missing_label, marks[name]), column.ordered)
        for name, column in treated.items()
    )
    order = np.argsort(np.argsort(people.rows))
    table = Table(attributes, np.column_stack([column.codes for column in treated.values()])[order])
    if class_name is None:
        return DataShare(people.ids, attributes, table, None, notices)
    return DataShare(people.ids, attributes[:-1], table, attributes[-1], notices)


def _is_folded(looks: Looks, treatment: ColumnTreatment) -> bool:
    """Return whether too few records differ from all others: the column's name alone may show whose they are."""
    cells = looks.cells
    commonest: int = max([cells.missing, *cells.records.tolist()])
    return 0 < len(cells) - commonest < treatment.smallest_value


def _class_told(treated: Mapping[str, TreatedColumn], class_name: str | None) -> Iterator[Notice]:
    """Yield each column that gives away the class of every record: before a run, where all of it is here."""
    if class_name is None or len(treated[class_name].values) < 2:
        return
    classes, size = treated[class_name].codes.astype(np.int64), len(treated[class_name].values)
    for name, column in treated.items():
        pairs = np.unique(column.codes.astype(np.int64) * size + classes)
        if name != class_name and len(np.unique(pairs // size)) == len(pairs):
            yield About.CLASS_GIVEN(column=name)


def _marks(form: Form, plan: ColumnTreatment) -> tuple[str, ...] | None:
    if form.missing is None and not plan.not_missing:
        return None
    kept = set(map(plain_text, plan.not_missing))
    plain = map(plain_text, MISSING_MARKERS if form.missing is None else form.missing)
    return tuple(dict.fromkeys(text for text in plain if text and text not in kept))


def _treated(
    looked: Mapping[str, Looks],
    treatments: Mapping[str, ColumnTreatment],
    given: Mapping[str, ColumnTreatment],
    class_name: str | None,
    left_out: Sequence[str],
) -> dict[str, tuple[TreatedColumn, tuple[Notice, ...]]]:
    """Treat columns that do not identify records, by the class where that is asked; and say what to know of each."""

    def made(name: str, classes: Classes = None) -> tuple[TreatedColumn, tuple[Notice, ...]]:
        looks, treatment = looked[name], treatments[name]
        treated = treat(looks.column, treatment, classes)
        if name == class_name and treated.absorbed:
            held = zip(looks.cells.texts, looks.cells.records.tolist(), strict=True)
            rare = [f"{text!r} ({records})" for text, records in held if records < treatment.smallest_value]
            raise looks.column.error(
                f"leave out the records whose class fewer than {treatment.smallest_value} records have, or give the "
                f"class other values: {', '.join(rare[:3]) or 'these'} are too few to be sent or merged"
            )
        said = (remark(looks, treatment, given[name]), marker_like(looks, treatment))
        by_class = [About.BY_CLASS()] if treatment.by_class else []
        return treated, (*(each for each in said if each is not None), *treated.remarks, *by_class)

    label = {} if class_name is None else {class_name: made(class_name)}
    classes = next((column.codes for column, _ in label.values()), None)
    return {name: label.get(name) or made(name, classes) for name in given if name not in left_out}


def _plans(
    frame: Frame,
    id_columns: Sequence[str],
    class_name: str | None,
    treatments: Mapping[str, ColumnTreatment],
    ignore: Sequence[str],
) -> dict[str, ColumnTreatment]:
    """Return the treatment of every attribute in file order and, last, of the class."""
    special = [*id_columns, *ignore, *([] if class_name is None else [class_name])]
    for name in (*special, *(treatments.keys() - {EVERY_OTHER})):
        frame.need(name)
    if len(set(special)) != len(special):
        raise ConfigError("one column is named twice among the id, the class and the columns to ignore: name each once")
    others = treatments.get(EVERY_OTHER, ColumnTreatment())
    plans = {name: treatments.get(name, others) for name in frame.columns if name not in special}
    if class_name is not None:
        usual = ColumnTreatment(missing="refuse", smallest_value=others.smallest_value)
        plans[class_name] = treatments.get(class_name, usual)
    if not plans:
        raise DataError("no column is left but the id: list fewer under ignore", path=frame.path)
    return plans
