"""Classify the rows of a file that has all columns a model reads.

A column is found by the attribute's name or, where both parties have a column of that name, by `party.name`. A cell
belongs to the value that the owner's treatment would have given it, as far as the model shows that: the same text, the
bin that holds the number, "other" where rare values were merged, and for a missing one what the model says. A cell that
belongs to no value has no branch: its row gets the majority class of the node that it reached; naive Bayes leaves such
a cell out. A line counts them, column by column: a table written in another way than the training data gets
classes all the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from party.data import MISSING, OTHER, Column, Frame, Notice, label_of, spelt_notices, taken_notices
from party.data.bins import number
from party.data.notices import About
from party.data.texts import COMMA, POINT, plain_text
from party.errors import DataError
from party.names import printable
from protocols.errors import InputError
from protocols.learning.model import Model, gives_shares, rarer_class
from protocols.learning.quality import ScoreTable, score_table
from protocols.learning.tree import NO_COUNTS
from protocols.tables import Attribute, Floats, Rows

UNKNOWN = -1
_TWO = 2


@dataclass(frozen=True, repr=False)
class Unknown:
    """Cells of no known value; `alike` look like one, `commas` would be one if this sign began a fraction."""

    column: str
    cells: int
    alike: int
    commas: tuple[int, str]
    rows: int

    def __repr__(self) -> str:
        return f"<Unknown {self.cells} of {self.rows} cells>"


@dataclass(frozen=True)
class RankedBy:
    """By the share of which class rows are ranked (None: the rarer of two), and from which share on they get it."""

    about: str | None = None
    threshold: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Quality:
    """How good the classes of rows are: of `known` rows that have their own, `correct` are right.

    `ranking` is about the ranked class, the second of `against`, where the model has more than two; else it is `table`.
    """

    known: int
    correct: int
    table: ScoreTable
    ranking: ScoreTable
    against: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Predictions:
    """The class of each row, and how good they are where the file has the class column.

    `unknown` names the columns (of those that the model reads, and the class) that have cells of no known value;
    `notices` say how cells were read. `shares` are those of the classes (`rows x classes`): of the training records
    where a row ends in a tree, by naive Bayes of what it takes for their chances; None of a model of classes alone.
    `ranked` is the class that rows are ranked by, if one is.
    """

    target: Attribute
    labels: list[str]
    unknown: tuple[Unknown, ...]
    notices: tuple[Notice, ...] = ()
    shares: Floats | None = None
    ranked: int | None = None
    quality: Quality | None = None

    def __repr__(self) -> str:
        return f"<Predictions of {len(self.labels)} rows>"

    def need_shares(self) -> Floats:
        """Return the shares of the classes, which a model of classes alone does not have."""
        if self.shares is None:
            raise InputError(NO_COUNTS)
        return self.shares

    @property
    def scores(self) -> Floats:
        """The share of the ranked class, row by row."""
        scores: Floats = self.need_shares()[:, self.ranked]
        return scores

    @property
    def ranks(self) -> list[int]:
        """The place of each row by its score, from 1; rows of one score share the first place of these."""
        return [1 + place for place in np.searchsorted(np.sort(-self.scores), -self.scores).tolist()]


def predict_frame(model: Model, frame: Frame, ranking: RankedBy | None = None) -> Predictions:
    """Classify every row of a file; with a ranking, by the threshold that it may have."""
    target = model.schema.class_attribute
    ranked = rarer_class(model) if ranking is None else ranked_class(model, ranking)
    coded = coded_rows(model, frame, model.columns)
    shares = model.shares(coded.codes) if gives_shares(model) else None
    predicted = model.predict(coded.codes)
    if shares is not None and ranked is not None and ranking is not None and ranking.threshold is not None:
        others = np.delete(np.arange(target.size), ranked)
        likeliest = others[shares[:, others].argmax(axis=1)]
        predicted = np.where(shares[:, ranked] >= ranking.threshold, ranked, likeliest)
    found = Predictions(
        target, [target.values[code] for code in predicted], coded.unknown, read_notices(coded.read), shares, ranked
    )
    if target.name not in frame.columns:
        return found
    column = _column(frame, target.name, target)
    own = _coded(column, target)
    given = np.array([text is not None for text in column.cells], dtype=bool)
    unknown = _unknown(column, [text for text in column.cells if text is not None], own[given], target)
    return replace(
        found,
        unknown=(*coded.unknown, *([unknown] if unknown else [])),
        notices=read_notices([*coded.read, column]),
        quality=_quality(found, own, predicted, given) if given.any() else None,
    )


def ranked_class(model: Model, ranking: RankedBy) -> int:
    """Return the class that rows are ranked by."""
    values = model.schema.class_attribute.values
    if not gives_shares(model):
        raise InputError(f"rows cannot be ranked: {NO_COUNTS}")
    found = (
        rarer_class(model)
        if ranking.about is None
        else dict(zip(values, range(len(values)), strict=True)).get(ranking.about)
    )
    if found is None:
        raise InputError(f"must be one of {', '.join(map(printable, values))}", field="ranked")
    return found


def _quality(found: Predictions, own: Rows, predicted: Rows, given: NDArray[np.bool_]) -> Quality:
    has_class, total = given & (own != UNKNOWN), int(given.sum())
    own, said, values = own[has_class], predicted[has_class], found.target.values
    shares = None if found.shares is None else found.shares[has_class]
    second = shares[:, 1] if shares is not None and found.target.size == _TWO else None
    table = replace(score_table(said, own, found.target.size, second, total), about=found.ranked)
    ranking = table
    if shares is not None and found.ranked is not None and second is None:
        one = found.ranked
        is_said, is_own = (said == one).astype(np.intp), (own == one).astype(np.intp)
        ranking = replace(score_table(is_said, is_own, _TWO, shares[:, one], total), about=1)
        values = ("other classes", values[one])
    return Quality(total, int((own == said).sum()), table, ranking, values)


def read_notices(columns: Sequence[Column]) -> tuple[Notice, ...]:
    """Return how cells were read: that values are alike matters to who brings them to a run, not here."""
    spelt = (told for told in spelt_notices(columns) if told.about is not About.SPELLED_ALIKE)
    return (*taken_notices(columns), *spelt)


@dataclass(frozen=True, eq=False, repr=False)
class CodedRows:
    """Rows as codes of a model's attributes, outside of a domain where unknown; `unknown` names such columns."""

    codes: Rows
    unknown: tuple[Unknown, ...]
    read: tuple[Column, ...]


def coded_rows(model: Model, frame: Frame, columns: Iterable[int]) -> CodedRows:
    """Read these columns of a model, as indices into its attributes, from a file."""
    attributes = model.schema.base.attributes
    codes = np.full((len(frame), len(attributes)), UNKNOWN, dtype=np.int16)
    read, unknown = [], []
    for index in sorted(model.schema.base_columns(columns)):
        column = _column(frame, column_of(frame, attributes, index), attributes[index])
        codes[:, index] = _coded(column, attributes[index])
        read.append(column)
        unknown.append(_unknown(column, column.cells, codes[:, index], attributes[index]))
    return CodedRows(model.schema.recode(codes), tuple(filter(None, unknown)), tuple(read))


def column_of(frame: Frame, attributes: tuple[Attribute, ...], index: int) -> str:
    """Return the column of the file that holds this attribute."""
    attribute = attributes[index]
    full = f"{attribute.party}.{attribute.name}"
    if full in frame.columns:
        if any(other.name == full for other in attributes):
            raise DataError(f"{full!r} is a column's own name and one in full: rename it in the data", path=frame.path)
        return full
    if sum(other.name == attribute.name for other in attributes) > 1:
        raise DataError(f"both parties have a column {attribute.name!r}: name it {full!r}", path=frame.path)
    several = len({other.party for other in attributes}) > 1
    frame.need(attribute.name, attribute.party if several else None)
    return attribute.name


def _column(frame: Frame, name: str, attribute: Attribute) -> Column:
    """Return the column; a value of the model is one, whatever marks a missing cell elsewhere."""
    return frame.column(name, set(attribute.values) - {OTHER, MISSING}, attribute.missing.marks)


def _coded(column: Column, attribute: Attribute) -> NDArray[np.int16]:
    code = {value: position for position, value in enumerate(attribute.values)}
    labels = {text: label_of(attribute.values, text, attribute.missing.value) for text in set(column.cells)}
    codes = {text: UNKNOWN if label is None else code[label] for text, label in labels.items()}
    return np.fromiter(map(codes.__getitem__, column.cells), np.int16, len(column.cells))


def _unknown(
    column: Column, cells: Iterable[str | None], codes: NDArray[np.int16], attribute: Attribute
) -> Unknown | None:
    """Count the cells without a code, and those that another decimal sign would give one; None if there are none."""
    each = Counter(zip(cells, codes.tolist(), strict=True))
    tally = {text: times for (text, code), times in each.items() if code == UNKNOWN}
    other = attribute.values.index(OTHER) if OTHER in attribute.values else UNKNOWN
    unsure = {text: times for (text, code), times in each.items() if text and code in (UNKNOWN, other)}
    commas = max((_with_sign(unsure, attribute, sign), sign) for sign in (POINT, COMMA))
    if not tally and not commas[0]:
        return None
    looks = {_look(value) for value in attribute.values}
    alike = sum(times for text, times in tally.items() if text is not None and _look(text) in looks)
    return Unknown(column.name, sum(tally.values()), alike, commas, len(codes))


def _with_sign(tally: Mapping[str, int], attribute: Attribute, sign: str) -> int:
    """Count the cells that would be a value if this sign were declared to begin a fraction."""
    read = {text: plain_text(text, sign) for text in tally}
    changed = (text for text, plain in read.items() if plain != text)
    return sum(tally[text] for text in changed if label_of(attribute.values, read[text]) not in (None, OTHER))


def _look(text: str) -> object:
    """Return what two texts have in common that a reader would take for one value."""
    bare = text.strip().casefold()
    value = number(bare)
    return bare if value is None else value
