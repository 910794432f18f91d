"""A survey's table, from a CSV or Parquet file or from a pandas DataFrame, as codes by the columns of the design."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from party.data import Frame, frame_of, read_frame
from party.errors import ConfigError, DataError
from party.settings.survey import Questionnaire
from party.survey.signal import check_origin
from protocols.survey.responses import Responses, survey_schema
from protocols.tables.table import Codes


class DataFrameLike(Protocol):
    """What is used of a pandas DataFrame; pandas itself is not needed."""

    @property
    def columns(self) -> Any:  # an Index
        """Names of the columns."""
        ...

    def __getitem__(self, name: Any, /) -> Any:  # a Series
        """Return a column."""
        ...


_SINGLE = ("float32", "Float32", "float[pyarrow]")

TableSource = Path | str | Frame | DataFrameLike


def as_frame(source: TableSource) -> Frame:
    """Return a table's columns as text.

    Args:
        source: A `.csv` or `.parquet` file, columns that were read, or a DataFrame, whose cells are taken as text and
            whose missing cells are missing.

    Raises:
        DataError: The file cannot be read, or the DataFrame has no records, two columns of one name, or what no file
            can hold.
    """
    if isinstance(source, Path | str):
        return read_frame(source)
    return source if isinstance(source, Frame) else _from_dataframe(source)


def _from_dataframe(source: DataFrameLike) -> Frame:
    labels = list(source.columns)
    path, names = Path("DataFrame"), tuple(map(str, labels))
    if len(set(names)) != len(names):
        raise DataError("two columns have one name", path=path)
    return frame_of(path, names, tuple(_texts(source[label]) for label in labels))


def _texts(series: Any) -> Sequence[str | None]:
    missing = cast("list[bool]", series.isna().tolist())
    values = series.astype(object) if str(series.dtype) == "category" else series
    write = str if str(values.dtype) not in _SINGLE else _single
    texts = (None if absent else write(value) for value, absent in zip(values.tolist(), missing, strict=True))
    return [text or None for text in texts]


def _single(value: float) -> str:
    """Write a number of single precision as short as it is."""
    return str(np.float32(value))


def read_codes(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a table, true or disguised, by the columns of the design.

    Raises:
        DataError: The table cannot be read, lacks a column of the design, or has a cell outside a domain.
    """
    return _coded(source, questionnaire, questionnaire.names)


def read_disguised(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a disguised table; refuse what looks like the true one, or another design's.

    Raises:
        DataError: As for `read_codes`; or a binned column has plain numbers, or the answers do not fit the design.
    """
    frame = as_frame(source)
    codes = read_codes(frame, questionnaire)
    for name, domain in zip(questionnaire.names, questionnaire.domains, strict=True):
        column = frame.column(name, domain.values)
        if domain.edges and not set(column.cells) <= {*domain.values, None}:
            raise column.error("it holds plain numbers, and disguised answers are bins: is this the true table?")
    check_origin(codes, questionnaire)
    return codes


def answers_given(codes: Codes, questionnaire: Questionnaire) -> tuple[tuple[str, int], ...]:
    """Return the columns in which some records have no answer, and how many have one."""
    given = [int(questionnaire.design.answered(codes, [column]).sum()) for column in range(len(questionnaire.names))]
    return tuple((name, count) for name, count in zip(questionnaire.names, given, strict=True) if count < len(codes))


def read_attributes(source: TableSource, questionnaire: Questionnaire) -> Codes:
    """Return the codes of a table by the attributes alone: it may lack the class.

    Raises:
        ConfigError: The design declares no class.
        DataError: As for `read_codes`.
    """
    need_class(questionnaire)
    return _coded(source, questionnaire, questionnaire.names[:-1])


def _coded(source: TableSource, questionnaire: Questionnaire, names: Sequence[str]) -> Codes:
    frame = as_frame(source)
    domains = questionnaire.domains[: len(names)]
    columns = [frame.column(name, domain.values) for name, domain in zip(names, domains, strict=True)]
    return np.column_stack([domain.codes(column) for column, domain in zip(columns, domains, strict=True)])


def load_survey(source: TableSource, questionnaire: Questionnaire) -> Responses:
    """Return disguised records with their design, to be mined.

    Raises:
        ConfigError: The design declares no class, or no other column.
        DataError: As for `read_codes`.
    """
    need_class(questionnaire)
    if len(questionnaire.names) == 1:
        raise ConfigError(f"{questionnaire.path}: columns: there is none beside the class to learn it from")
    return Responses(
        survey_schema(questionnaire.names, questionnaire.values),
        read_disguised(source, questionnaire),
        questionnaire.design,
    )


def need_class(questionnaire: Questionnaire) -> str:
    """Return the class that models predict.

    Raises:
        ConfigError: The design declares none.
    """
    if questionnaire.class_name is None:
        raise ConfigError(
            f"{questionnaire.path} names no class, so there is nothing to predict: write class = "
            f'"{questionnaire.names[-1]}", or another column, into a copy of it and name the copy; shares need no class'
        )
    return questionnaire.class_name
