"""A survey's table, from a CSV or Parquet file or from a data frame, as codes by the columns of the design.

It says too whether disguised answers carry anything, and can have come from their design at all: over the coins the
estimated count of a value lies near a count between none and all records. How far it may stray is known from the design
alone: the largest standard error, `sqrt(n max(s1 - 1, s0))`, of a record's factor.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from party.data import Frame, read_frame
from party.data.cells import Cells
from party.data.frame import Written, finished
from party.data.moments import plain_moment, span_text
from party.errors import ConfigError, DataError
from party.names import printable
from party.settings.survey import Questionnaire
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.moments import count_error, drowns
from protocols.randomized_response.related_question import RelatedDesign
from protocols.survey.mining import learn_naive_bayes
from protocols.survey.pooled import Survey
from protocols.survey.responses import Responses
from protocols.tables import Codes, Expression


class DataFrameLike(Protocol):
    """A data frame of pandas, polars, pyarrow or whatever else narwhals reads."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


TableSource = Path | str | Frame | DataFrameLike


def as_frame(source: TableSource) -> Frame:
    """Return a table's columns as text."""
    if isinstance(source, Path | str):
        return read_frame(source)
    return source if isinstance(source, Frame) else _from_data_frame(source)


def _from_data_frame(source: Any) -> Frame:
    path = Path("DataFrame")
    try:
        import narwhals as nw  # noqa: PLC0415  # of extras
    except ImportError:
        problem = "reading a data frame needs narwhals: pip install '.[pandas]' in cotally's clone"
        raise DataError(problem, path=path) from None
    try:
        frame = nw.from_native(source, eager_only=True)
        names = frame.columns
    except nw.exceptions.DuplicateError:
        raise DataError("two columns have one name: give one another", path=path) from None
    except TypeError:
        problem = "this is no table that is read: give a data frame of pandas, polars or pyarrow, or the path of a file"
        raise DataError(problem, path=path) from None
    if not len(frame):
        raise DataError("there are no records: bring some", path=path)
    columns = list(frame.iter_columns())
    return finished(
        Written(
            path,
            list(map(str, names)),
            [Cells.of(_texts(nw, column)) for column in columns],
            range(1, len(frame) + 1),
            flaws={place: "holds lists or structures" for place, each in enumerate(columns) if each.dtype.is_nested()},
        )
    )


def _texts(nw: Any, column: Any) -> list[str | None]:
    write: Callable[[Any], str] = _written
    if column.dtype == nw.Float32:
        write = _single
    elif column.dtype.is_temporal():
        write = _moment
    missing = column.is_null().to_list()
    return [None if absent else write(cell) or None for cell, absent in zip(column.to_list(), missing, strict=True)]


def _written(value: Any) -> str:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _single(value: float) -> str:
    """Write a number of single precision as short as it is."""
    return str(np.float32(value))


def _moment(value: Any) -> str:
    if not isinstance(value, timedelta):
        return plain_moment(str(value)) or str(value)
    whole = Decimal(value.days * 86_400 + value.seconds)
    return span_text(whole + value.microseconds * Decimal("1e-6") + getattr(value, "nanoseconds", 0) * Decimal("1e-9"))


def read_codes(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a table, true or disguised, by the columns of the design."""
    return _coded(source, questionnaire, questionnaire.names)


def read_disguised(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a disguised table; refuse what looks like the true one, or another design's."""
    frame = as_frame(source)
    codes = read_codes(frame, questionnaire)
    for name, domain in zip(questionnaire.names, questionnaire.domains, strict=True):
        column = frame.column(name, domain.values)
        if domain.edges and not set(column.cells) <= {*domain.values, None}:
            raise column.error("it holds plain numbers, and disguised answers are bins: is this the true table?")
    check_origin(codes, questionnaire)
    return codes


def answer_cells(codes: Codes, questionnaire: Questionnaire) -> tuple[Sequence[str | None], ...]:
    """Return answers as text, column by column; None where none was given."""
    return tuple(
        [values[code] if code < len(values) else None for code in column.tolist()]
        for values, column in zip(questionnaire.values, codes.T, strict=True)
    )


def answers_given(codes: Codes, questionnaire: Questionnaire) -> tuple[tuple[str, int], ...]:
    """Return the columns in which some records have no answer, and how many have one."""
    given = [int(questionnaire.design.answered(codes, [column]).sum()) for column in range(len(questionnaire.names))]
    return tuple((name, count) for name, count in zip(questionnaire.names, given, strict=True) if count < len(codes))


def read_attributes(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a table by the attributes alone: it may lack the class."""
    need_class(questionnaire)
    return _coded(source, questionnaire, questionnaire.names[:-1])


def _coded(source: TableSource, questionnaire: Questionnaire, names: Sequence[str]) -> Codes:
    frame = as_frame(source)
    domains = questionnaire.domains[: len(names)]
    columns = [frame.column(name, domain.values) for name, domain in zip(names, domains, strict=True)]
    return np.column_stack([domain.codes(column) for column, domain in zip(columns, domains, strict=True)])


def load_survey(source: TableSource, questionnaire: Questionnaire) -> Responses:
    """Return disguised records with their design, to be mined."""
    need_class(questionnaire)
    if len(questionnaire.names) == 1:
        raise ConfigError(f"{questionnaire.path}: columns: there is none beside the class to learn it from")
    return Responses(questionnaire.schema(), read_disguised(source, questionnaire), questionnaire.design)


def need_class(questionnaire: Questionnaire) -> str:
    """Return the class that models predict."""
    if questionnaire.class_name is None:
        raise ConfigError(
            f"{questionnaire.path} names no class, so there is nothing to predict: write class = "
            f'"{questionnaire.names[-1]}", or another column, into a copy of it and name the copy; shares need no class'
        )
    return questionnaire.class_name


SURE = 2.0  # standard errors by which rows must look clear or disguised to be taken as that
IMPOSSIBLE_ERRORS = 6  # standard errors beyond what can be: by chance once in 10^9 values


def check_signal(survey: Survey) -> None:
    """Refuse records whose counts the coins hide altogether (FAULTS B6): theta is too near a guess."""
    for part in (survey,) if isinstance(survey, Responses) else survey.parts:
        for group, column, _, records, error in _count_errors(part.design, part.codes):
            if drowns(error, records):
                hidden = f"theta = {part.design.truth(group)} hides column {part.schema.columns[column].name!r}"
                few = f"with {records} to learn from, the standard error of a count may be {error:.1f}"
                raise InputError(f"{hidden} from so few answers: {few}; collect more")


def check_origin(codes: Codes, questionnaire: Questionnaire) -> None:
    """Refuse answers that this design cannot well have disguised: a value's estimated count is no count."""
    for _, column, part, records, error in _count_errors(questionnaire.design, codes):
        answers = codes[questionnaire.design.answered(codes, [column])]
        count = estimate_count(answers, part, questionnaire.design).count
        if not -IMPOSSIBLE_ERRORS * error <= count <= records + IMPOSSIBLE_ERRORS * error:
            value = questionnaire.values[column][part.terms[0].value]
            raise DataError(
                f"the estimated count of {printable(value)!r} is {float(count):,.0f} of {records:,}, which this "
                "design cannot produce: check that the table is the disguised one and the design the one used "
                "to make it",
                path=questionnaire.path,
                column=questionnaire.names[column],
            )


def clearness(learned: Responses, rows: Responses) -> float:
    """Return whether rows are likelier clear (above 0) or disguised, in standard errors, by naive Bayes of both."""
    rows = rows.answered([rows.schema.class_index])
    size = learned.design.sizes
    sent = Responses(learned.schema, learned.codes, RelatedDesign(size, (), Fraction(1)))
    label = rows.codes[:, -1]
    every = np.arange(len(label), dtype=np.intp)
    clear, disguised = (
        _with_every_class(learn_naive_bayes(each, 1.0), len(learned)).scores(rows.codes)[every, label]
        for each in (learned, sent)
    )
    ratios = clear - disguised
    spread = float(ratios.std()) * sqrt(len(ratios))
    return float(ratios.sum()) / spread if spread > 0 else 0.0


def _with_every_class(model: NaiveBayes, records: int) -> NaiveBayes:
    """Return the model with a chance for the classes that nobody is estimated to have."""
    prior = np.exp(model.prior) * records + 1
    return replace(model, prior=np.log(prior / prior.sum()))


def _count_errors(design: Design, codes: Codes) -> Iterator[tuple[int, int, Expression, int, float]]:
    """Yield every value of every disguised column with its group, answers and the largest error of its count."""
    for group, columns in enumerate(design.groups):
        for column in columns:
            records = int(design.answered(codes, [column]).sum())
            for value in range(design.sizes[column]):
                part = Expression().child(column, value)
                yield group, column, part, records, count_error(design.moments(group, part), records)
