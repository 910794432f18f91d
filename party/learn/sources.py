"""What a learner's data are read by: a survey's design from its file, a design of the core, or none.

Each kind reads arrays in its own way, has its own names and labels, and knows its own signs of data that do not fit. A
pandas column of answers is read as text, as all other columns are; what is predicted is of the kind that was given.
Tools that wrap a classifier recode the labels first: to 0, 1, ... in sorted order, or one class to 1 and the rest to 0.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from party.data import value_of
from party.data.bins import number
from party.data.frame import plain_name
from party.settings.survey import Questionnaire
from party.survey.table import check_origin, read_attributes
from protocols.errors import CotallyError
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import MAX_DOMAIN, NO_ANSWER, Codes, Schema


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """What a learner calls its classes.

    For each code, `names` has the label's text and `by_code` the label that predictions give; `classes` are sorted, and
    `order` has the codes so.
    """

    names: tuple[str, ...]
    by_code: NDArray[Any]
    classes: NDArray[Any]
    order: NDArray[np.intp]

    def codes(self, target: NDArray[Any]) -> Codes:
        """Return the code of every label."""
        code = {label: position for position, label in enumerate(self.by_code.tolist())}
        text_code = {name: position for position, name in enumerate(self.names)}
        for label in set(target.tolist()) - code.keys():
            text = value_of(self.names, str(label))
            if text is None:
                raise _unknown(self.classes)
            code[label] = text_code[text]
        return np.array([code[label] for label in target.tolist()], dtype=np.uint8)


def free_labels(target: NDArray[Any]) -> Labels:
    """Return the labels that occur, where no design says which there are."""
    found = np.unique(target)
    if len(found) > MAX_DOMAIN:
        raise ValueError(f"Unknown label type: {len(found)} classes are more than {MAX_DOMAIN}")
    return _sorted(tuple(map(str, found.tolist())), found)


def declared_labels(target: NDArray[Any], known: Sequence[Any], plain: bool, column: bool) -> Labels:
    """Return the labels for classes that are declared, in the order of their codes.

    Args:
        target: Labels that were given.
        known: The declared ones: texts of a file's design, or any others.
        plain: Whether the class is sent as it is: then numbers that are no declared labels may stand for classes that
            were put together.
        column: Whether the labels were read beside the other columns, and are texts as those are.
    """
    given = np.unique(target)
    names = tuple(map(str, known))
    position = {label: code for code, label in enumerate(known)}
    matched = [position.get(label, position.get(value_of(names, str(label)))) for label in given.tolist()]
    if None not in matched:
        return _matched(names, known, given, [code for code in matched if code is not None], column)
    if given.dtype.kind in "iu":
        if given.tolist() == list(range(len(known))):
            return _recoded(names, known)
        if plain:
            return free_labels(target)
    raise _unknown(np.asarray(known))


def _matched(
    names: tuple[str, ...], known: Sequence[Any], given: NDArray[Any], codes: Sequence[int], column: bool
) -> Labels:
    numbers = [number(name) for name in names]
    if len(given) == len(known):
        by_code = given[np.argsort(codes)]
    elif given.dtype.kind in "iuf" and None not in numbers:
        by_code = np.array([float(value) for value in numbers if value is not None]).astype(given.dtype)
    else:
        by_code = np.asarray(known)
    labels = _sorted(names, by_code)
    return Labels(names, by_code, np.array(names)[labels.order], labels.order) if column else labels


def _recoded(names: tuple[str, ...], known: Sequence[Any]) -> Labels:
    """Return 0, 1, ... for the labels in sorted order, which must be one order for texts and for numbers."""
    order = np.argsort(np.asarray(known))
    numbers = [value for value in (number(names[code]) for code in order) if value is not None]
    if len(numbers) == len(names) and numbers != sorted(numbers):
        raise ValueError(
            "y was recoded to 0, 1, ...: the classes are numbers that sort in another way as texts; give y as texts"
        )
    return _sorted(names, np.argsort(order))


def _sorted(names: tuple[str, ...], by_code: NDArray[Any]) -> Labels:
    order = np.argsort(by_code, kind="stable")
    return Labels(names, by_code, by_code[order], order)


def _unknown(classes: NDArray[Any]) -> ValueError:
    return ValueError(
        f"y holds a class that is not among the {len(classes)} known ones, such as {classes.tolist()[0]!r}"
    )


@dataclass(frozen=True, eq=False, repr=False)
class _OfQuestionnaire:
    """Data frames by a file's design: columns by name, cells in texts, and answers may be missing."""

    questionnaire: Questionnaire
    classes: Sequence[Any] | None

    def records(self, learner: BaseEstimator, X: Any, y: Any, reset: bool) -> tuple[Codes, NDArray[Any]]:  # noqa: N803
        codes = self.attributes(learner, X, reset=reset)
        if _lacks_some(y):
            raise ValueError("y has missing answers: drop these rows")
        target = column_or_1d(y)
        target = np.array(target.tolist()) if target.dtype == object else target
        check_consistent_length(codes, target)
        return codes, target

    def attributes(self, learner: BaseEstimator, X: Any, *, reset: bool = False) -> Codes:  # noqa: N803
        if not hasattr(X, "columns"):
            raise ValueError("with a survey's design X must be a DataFrame: its columns are found by name")
        with as_value_error():
            codes = read_attributes(X, self.questionnaire)
        frame = nw.from_native(X, eager_only=True)
        place = {plain_name(str(column)): place for place, column in enumerate(frame.columns)}
        used = frame[:, [place[name] for name in self.questionnaire.names[:-1]]].to_native()
        validate_data(learner, used, reset=reset, skip_check_array=True)
        return codes

    def labels(self, target: NDArray[Any], column: bool, /) -> Labels:
        if self.classes is not None:
            raise ValueError("classes: a survey's design has them already")
        plain = _has_plain_class(self.questionnaire.design)
        return declared_labels(target, self.questionnaire.values[-1], plain, column)

    def known_design(self, _codes: Codes, classes: int, /) -> Design:
        design = self.questionnaire.design
        return design.with_sizes((*design.sizes[:-1], classes))

    def schema(self, classes: tuple[str, ...], _design: Design, _learner: BaseEstimator, /) -> Schema:
        return self.questionnaire.schema(classes)

    def check_answers(self, survey: Responses) -> None:
        """Pass: the file's reader distinguishes an answer that is not given from one outside the domain."""

    def check_origin(self, survey: Responses) -> None:
        check_origin(survey.codes, self.questionnaire)


@dataclass(frozen=True, eq=False, repr=False)
class _OfCodes:
    """Matrices of codes, none of them missing."""

    def records(self, learner: BaseEstimator, X: Any, y: Any, reset: bool) -> tuple[Codes, NDArray[Any]]:  # noqa: N803
        matrix, target = validate_data(learner, X, y, reset=reset)
        return _codes(matrix), target

    def attributes(self, learner: BaseEstimator, X: Any) -> Codes:  # noqa: N803
        return _codes(validate_data(learner, X, reset=False))

    def schema(self, classes: tuple[str, ...], design: Design, learner: BaseEstimator, /) -> Schema:
        names = getattr(learner, "feature_names_in_", [f"x{place}" for place in range(learner.n_features_in_)])
        values = [tuple(map(str, range(size))) for size in design.sizes[:-1]]
        if len(names) != len(values):
            raise ValueError(f"the design has {len(values)} attributes and the class, X has {len(names)}")
        return survey_schema([*map(str, names), "class"], [*values, classes])

    def check_answers(self, survey: Responses) -> None:
        survey.design.check_fits(survey.codes)

    def check_origin(self, survey: Responses) -> None:
        """Pass: codes are taken as the caller's word."""


@dataclass(frozen=True, eq=False, repr=False)
class _OfDesign(_OfCodes):
    """Codes by a design of the core."""

    design: Design
    classes: Sequence[Any] | None

    def attributes(self, learner: BaseEstimator, X: Any) -> Codes:  # noqa: N803
        codes = super().attributes(learner, X)
        outside = (codes >= np.array(self.design.sizes[:-1])) & (codes != NO_ANSWER)
        if outside.any():
            raise ValueError("X holds a code outside the domains: a value that the design does not have")
        return codes

    def labels(self, target: NDArray[Any], _column: bool, /) -> Labels:
        size = self.design.sizes[-1]
        labels = list(range(size)) if self.classes is None else list(self.classes)
        if len(labels) != size or len(set(labels)) != size:
            raise ValueError(f"classes must name the {size} classes of the design, each once")
        plain = self.classes is not None and _has_plain_class(self.design)
        return declared_labels(target, labels, plain, column=False)

    def known_design(self, _codes: Codes, classes: int, /) -> Design:
        return self.design.with_sizes((*self.design.sizes[:-1], classes))


@dataclass(frozen=True, eq=False, repr=False)
class _Plain(_OfCodes):
    """Codes as they are: the domains are what the records to learn from hold."""

    classes: Sequence[Any] | None

    def labels(self, target: NDArray[Any], _column: bool, /) -> Labels:
        if self.classes is None:
            return free_labels(target)
        return declared_labels(target, list(self.classes), plain=True, column=False)

    def known_design(self, codes: Codes, classes: int, /) -> Design:
        return RelatedDesign((*(int(column.max()) + 1 for column in codes.T), classes), (), Fraction(1))


Source = _OfQuestionnaire | _OfDesign | _Plain
"""Reads a learner's data, and says what is known of them beforehand; data that do not fit raise ValueError.

Methods that take the learner have scikit-learn note the columns in it when `reset`, else hold them against these.
"""


def source_of(design: Questionnaire | Design | None, classes: Sequence[Any] | None) -> Source:
    """Return what reads the data of a learner with these parameters."""
    if design is None:
        return _Plain(classes)
    return _OfQuestionnaire(design, classes) if isinstance(design, Questionnaire) else _OfDesign(design, classes)


def _has_plain_class(design: Design) -> bool:
    return design.group_of(len(design.sizes) - 1) is None


def _lacks_some(y: Any) -> bool:
    """Return whether an answer is missing, as a data frame or plain Python writes that."""
    series = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return bool(series.is_null().any())
    return any(value is None or value != value for value in np.asarray(y, dtype=object).ravel())  # noqa: PLR0124


def _codes(matrix: NDArray[Any]) -> Codes:
    """Return integer codes; refuse anything else."""
    if (matrix < 0).any():
        raise ValueError("Negative values in data: X must hold codes 0, 1, ...")
    if (matrix != np.floor(matrix)).any() or (matrix >= MAX_DOMAIN).any():
        raise ValueError(f"X must hold whole codes from 0 to {MAX_DOMAIN - 1}: encode labels and bin numbers first")
    return np.ascontiguousarray(matrix, dtype=np.uint8)


@contextmanager
def as_value_error() -> Iterator[None]:
    """Turn our errors into scikit-learn's kind."""
    try:
        yield
    except CotallyError as error:
        raise ValueError(str(error)) from None
