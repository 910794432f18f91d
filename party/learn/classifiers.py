"""Learners on disguised data with scikit-learn's interface (extra `learn`): `fit`, `predict`, pipelines and the rest.

With the design of a `design.toml`, `X` is a DataFrame with its columns, and `y` the class in its texts. With a design
of the core, `X` holds codes by its columns, the class being its last one, disguised or plain. Without a design the data
are taken as they are, and the learners are plain ID3 and plain naive Bayes.

What a model says of new records it says of clear ones: `predict` and `score` take undisguised rows. For disguised test
records there is `estimate_accuracy`, which `score` gives for what looks disguised, and for pruning by them `prune`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from party.learn.labels import Labels, declared_labels, free_labels
from party.models.any_file import Model
from party.settings.survey import Questionnaire
from party.show.tree import tree_lines
from party.survey.signal import SURE, check_origin, clearness
from party.survey.table import read_attributes
from protocols.errors import CotallyError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.survey.doubt import split_doubts
from protocols.survey.mining import Accuracy, estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree
from protocols.survey.responses import Responses, survey_schema
from protocols.tables.schema import MAX_DOMAIN
from protocols.tables.table import NO_ANSWER, Codes

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise ImportError("these learners need scikit-learn: pip install 'cotally[learn]'") from None


class _SurveyClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Turns arrays into surveys and surveys' models into labels."""

    design: Questionnaire | Design | None
    classes: Sequence[Any] | None
    model_: Model
    labels_: Labels

    def __sklearn_tags__(self) -> Any:  # scikit-learn is untyped
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803  # scikit-learn's names
        """Learn from disguised records.

        Args:
            X: Codes, `records x attributes`; with a file's design a DataFrame.
            y: Classes as responded: the design's, in texts or in numbers that read alike, or recoded to 0, 1, ...

        Raises:
            ValueError: The data do not fit the design, or are none.
        """
        codes, target = self._read(X, y, reset=True)
        check_classification_targets(target)
        self.labels_ = self._labels(target, column=hasattr(y, "iloc"))
        self.classes_ = self.labels_.classes
        self.survey_ = self._survey(codes, target)
        with _as_value_error():
            if isinstance(self.design, Questionnaire):
                check_origin(self.survey_.codes, self.design)
            self.model_ = self._learn(self.survey_)
        return self

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Codes, NDArray[Any]]:  # noqa: N803
        """Return the codes of the attributes, and the classes as given."""
        if isinstance(self.design, Questionnaire):
            codes = self._read_frame(X, self.design, reset)
            if _lacks_some(y):
                raise ValueError("y has missing answers: drop these rows")
            target = column_or_1d(y)
            target = np.array(target.tolist()) if target.dtype == object else target
            check_consistent_length(codes, target)
            return codes, target
        matrix, target = validate_data(self, X, y, reset=reset)
        return _codes(matrix), target

    def _read_frame(self, X: Any, questionnaire: Questionnaire, reset: bool) -> Codes:  # noqa: N803
        if not hasattr(X, "columns"):
            raise ValueError("with a survey's design X must be a DataFrame: its columns are found by name")
        with _as_value_error():
            codes = read_attributes(X, questionnaire)
        by_name = {str(column).strip(): column for column in X.columns}
        columns = [by_name[name] for name in questionnaire.names[:-1]]
        validate_data(self, X[columns], reset=reset, skip_check_array=True)
        return codes

    @abstractmethod
    def _learn(self, survey: Responses) -> Model:
        """Learn from disguised records."""

    def _survey(self, codes: Codes, target: NDArray[Any]) -> Responses:
        self.design_ = self._known_design(codes)
        if isinstance(self.design, Questionnaire):
            names, values = list(self.design.names), list(self.design.values[:-1])
        else:
            names = [*map(str, getattr(self, "feature_names_in_", map("x{}".format, range(codes.shape[1])))), "class"]
            values = [tuple(map(str, range(size))) for size in self.design_.sizes[:-1]]
        values.append(self.labels_.names)
        if len(names) != len(values):
            raise ValueError(f"the design has {len(values) - 1} attributes and the class, X has {len(names) - 1}")
        with _as_value_error():
            joint = np.column_stack([codes, self.labels_.codes(target)])
            return self._fitting(Responses(survey_schema(names, values), joint, self.design_))

    def _fitting(self, survey: Responses) -> Responses:
        """Refuse codes outside the domains: only a survey's own design knows answers that are not given."""
        if not isinstance(self.design, Questionnaire):
            survey.design.check_fits(survey.codes)
        return survey

    def _known_design(self, codes: Codes) -> Design:
        classes = len(self.labels_.names)
        if self.design is None:
            return RelatedDesign((*(int(column.max()) + 1 for column in codes.T), classes), (), Fraction(1))
        design = self.design.design if isinstance(self.design, Questionnaire) else self.design
        return replace(design, sizes=(*design.sizes[:-1], classes))

    def _labels(self, target: NDArray[Any], column: bool) -> Labels:
        """Return the classes that the target names."""
        if isinstance(self.design, Questionnaire):
            if self.classes is not None:
                raise ValueError("classes: a survey's design has them already")
            design, known = self.design.design, self.design.values[-1]
            return declared_labels(target, known, design.group_of(len(design.sizes) - 1) is None, column)
        if self.design is None:
            if self.classes is None:
                return free_labels(target)
            return declared_labels(target, list(self.classes), plain=True, column=False)
        size = self.design.sizes[-1]
        labels = list(range(size)) if self.classes is None else list(self.classes)
        if len(labels) != size or len(set(labels)) != size:
            raise ValueError(f"classes must name the {size} classes of the design, each once")
        plain = self.classes is not None and self.design.group_of(len(self.design.sizes) - 1) is None
        return declared_labels(target, labels, plain, column=False)

    def _rows(self, X: ArrayLike) -> Codes:  # noqa: N803
        check_is_fitted(self)
        if isinstance(self.design, Questionnaire):
            codes = self._read_frame(X, self.design, reset=False)
        else:
            codes = _codes(validate_data(self, X, reset=False))
        outside = (codes >= np.array(self.design_.sizes[:-1])) & (codes != NO_ANSWER)
        if self.design is not None and outside.any():
            raise ValueError("X holds a code outside the domains: a value that the design does not have")
        return np.column_stack([codes, np.zeros(len(codes), dtype=np.uint8)])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the class of each undisguised record, as a label of the kind that `fit` was given.

        Without a design, a code that was not learned from gives its row the majority of the node that it reached.
        """
        rows = self._rows(X)
        labels: NDArray[Any] = self.labels_.by_code[self.model_.predict(rows)]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Return the shares of the classes (`records x classes`), in the order of `classes_`."""
        rows = self._rows(X)
        shares: NDArray[np.float64] = self.model_.shares(rows)[:, self.labels_.order]
        return shares

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Return the share of records that are classified rightly.

        Records that look disguised, as those do that cross-validation holds out, are not scored as if they were clear:
        the score then is that of `estimate_accuracy`, and a warning says so; one says so too where it cannot be told.

        Raises:
            ValueError: The records do not fit, or look disguised and have weights.
        """
        check_is_fitted(self)
        if not self.design_.groups:
            return float(super().score(X, y, sample_weight))
        more = self._more(X, y)
        likeness = clearness(self.survey_, more)
        if likeness <= -SURE:
            if sample_weight is not None:
                raise ValueError("these records look disguised: weights are for clear ones; use estimate_accuracy")
            warn("these records look disguised: the score is what estimate_accuracy says", stacklevel=2)
            return self.estimate_accuracy(X, y).share
        if likeness < SURE:
            warn(
                "whether these records are clear or disguised cannot be told: the score takes them as clear; "
                "for disguised ones use estimate_accuracy",
                stacklevel=2,
            )
        right = self.model_.predict(more.codes) == more.codes[:, -1]
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)))

    def estimate_accuracy(self, X: ArrayLike, y: ArrayLike) -> Accuracy:  # noqa: N803
        """Test on disguised records: the share of right predictions on the hidden true ones, with standard error."""
        return estimate_accuracy(self.model_, self._more(X, y))

    def _more(self, X: ArrayLike, y: ArrayLike) -> Responses:  # noqa: N803
        """Return a second survey of the same design."""
        check_is_fitted(self)
        codes, target = self._read(X, y, reset=False)
        joint = np.column_stack([codes, self.labels_.codes(target)])
        with _as_value_error():
            return self._fitting(Responses(self.survey_.schema, joint, self.design_))


class RandomizedID3Classifier(_SurveyClassifier):
    """ID3 on counts estimated from disguised records (Du-Zhan 2003, Multi-group; DESIGN 8).

    Args:
        design: How the records were disguised: as read from a file, or the core's, the class last; None for clear ones.
        classes: The class labels in the order of the design's codes; by default 0, 1, ...
        confidence: Of the test that marks splits whose lead over the runner-up is not clear, in `text`.
    """

    model_: Tree

    def __init__(
        self,
        design: Questionnaire | Design | None = None,
        classes: Sequence[Any] | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.design = design
        self.classes = classes
        self.confidence = confidence

    def _learn(self, survey: Responses) -> Tree:
        return grow_tree(survey)

    def prune(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Cut the tree back by reduced-error pruning on disguised records that did not grow it."""
        self.model_ = prune_tree(self.model_, self._more(X, y))
        return self

    def text(self) -> str:
        """Return the tree as indented text; splits that are not clear end in `party.show.tree.MARK`."""
        check_is_fitted(self)
        doubts = split_doubts(self.model_, self.survey_)
        with _as_value_error():
            unclear = {expression for expression, doubt in doubts.items() if not doubt.is_clear(self.confidence)}
        return "\n".join(tree_lines(self.model_, marked=unclear))


class RandomizedNaiveBayes(_SurveyClassifier):
    """Naive Bayes on counts estimated from disguised records (Surveys section 3; DESIGN 8).

    Args:
        design: How the records were disguised: as read from a file, or the core's, the class last; None for clear ones.
        classes: The class labels in the order of the design's codes; by default 0, 1, ...
        smoothing: Added to every cell of the estimated counts (Laplace's is 1, the papers' 0).
    """

    model_: NaiveBayes

    def __init__(
        self,
        design: Questionnaire | Design | None = None,
        classes: Sequence[Any] | None = None,
        smoothing: float = 1.0,
    ) -> None:
        self.design = design
        self.classes = classes
        self.smoothing = smoothing

    def _learn(self, survey: Responses) -> NaiveBayes:
        return learn_naive_bayes(survey, self.smoothing)


def _lacks_some(y: Any) -> bool:
    """Tell whether an answer is missing, as a data frame or plain Python writes that."""
    if hasattr(y, "isna"):
        return bool(y.isna().to_numpy().any())
    return any(value is None or value != value for value in np.asarray(y, dtype=object).ravel())  # noqa: PLR0124


def _codes(matrix: NDArray[Any]) -> Codes:
    """Return integer codes; refuse what is none."""
    if (matrix < 0).any():
        raise ValueError("Negative values in data: X must hold codes 0, 1, ...")
    if (matrix != np.floor(matrix)).any() or (matrix >= MAX_DOMAIN).any():
        raise ValueError(f"X must hold whole codes from 0 to {MAX_DOMAIN - 1}: encode labels and bin numbers first")
    return np.ascontiguousarray(matrix, dtype=np.uint8)


@contextmanager
def _as_value_error() -> Iterator[None]:
    """Turn our errors into scikit-learn's kind."""
    try:
        yield
    except CotallyError as error:
        raise ValueError(str(error)) from None
