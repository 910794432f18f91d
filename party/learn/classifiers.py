"""Learners on disguised data with scikit-learn's interface (extra `learn`): `fit`, `predict`, pipelines and the rest.

With the design of a `design.toml`, `X` is a DataFrame with its columns, and `y` the class in its texts. With a design
of the core, `X` holds codes by its columns, the class being its last one, disguised or plain. Without a design the data
are taken as they are, and the learners are plain ID3 and plain naive Bayes.

What a model says of new records it says of clear ones: `predict` and `score` take undisguised rows. For disguised test
records there is `estimate_accuracy`, which `score` gives for what looks disguised, and for pruning by them `prune`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from party.learn.sources import Labels, Source, as_value_error, source_of
from party.settings.survey import Questionnaire
from party.show.tree import tree_lines
from party.survey.table import SURE, clearness
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from protocols.randomized_response.design import Design
from protocols.survey.mining import Accuracy, estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree, split_doubts
from protocols.survey.responses import Responses
from protocols.tables import Codes, Schema
from protocols.terms import Growth, Impurity, TermError


class _SurveyClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Turns arrays into surveys and surveys' models into labels."""

    design: Questionnaire | Design | None
    classes: Sequence[Any] | None
    model_: Model
    source_: Source
    labels_: Labels

    def __sklearn_tags__(self) -> Any:  # scikit-learn is untyped
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803  # scikit-learn's names
        """Learn from disguised records.

        Args:
            X: Codes, `records x attributes`; with a file's design a DataFrame.
            y: Classes as responded: the design's, in texts or in numbers that read alike, or recoded to 0, 1, ...
        """
        source = source_of(self.design, self.classes)
        codes, target = source.records(self, X, y, reset=True)
        check_classification_targets(target)
        self.source_ = source
        self.labels_ = source.labels(target, hasattr(y, "iloc"))
        self.classes_ = self.labels_.classes
        self.design_ = self._known_design(codes)
        with as_value_error():
            schema = source.schema(self.labels_.names, self.design_, self)
            self.survey_ = self._responses(schema, codes, target)
            source.check_origin(self.survey_)
            self.model_ = self._learn(self.survey_)
        return self

    @abstractmethod
    def _learn(self, survey: Responses) -> Model:
        """Learn from disguised records."""

    def _known_design(self, codes: Codes) -> Design:
        return self.source_.known_design(codes, len(self.labels_.names))

    def _responses(self, schema: Schema, codes: Codes, target: NDArray[Any]) -> Responses:
        survey = Responses(schema, np.column_stack([codes, self.labels_.codes(target)]), self.design_)
        self.source_.check_answers(survey)
        return survey

    def _rows(self, X: ArrayLike) -> Codes:  # noqa: N803
        """Return undisguised records, with a class that is not read."""
        check_is_fitted(self)
        codes = self.source_.attributes(self, X)
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
        """Return the share of records that are classified correctly.

        Records that look disguised, as those do that cross-validation holds out, are not scored as if they were clear:
        the score then is that of `estimate_accuracy`, and a warning says so; another warns where this is unclear.
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
                "whether these records are clear or disguised does not show: the score takes them as clear;  "
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
        codes, target = self.source_.records(self, X, y, reset=False)
        with as_value_error():
            return self._responses(self.survey_.schema, codes, target)


@dataclass(eq=False, repr=False)
class RandomizedID3Classifier(_SurveyClassifier):
    """ID3 on counts estimated from disguised records (Du-Zhan 2003, Multi-group; DESIGN 8).

    Args:
        design: How the records were disguised: as read from a file, or the core's, the class last; None for clear ones.
        classes: The class labels in the order of the design's codes; by default 0, 1, ...
        confidence: Of the test that marks splits that chance may bring, or their lead, in `text`.
        max_depth: Most splits of a path; None for any.
        min_samples_leaf: Fewest records, as estimated, of a branch that does not take its parent's class.
        criterion: "information_gain", "gain_ratio" or "gini".
    """

    model_: Tree = field(init=False)
    design: Questionnaire | Design | None = None
    classes: Sequence[Any] | None = None
    confidence: float = 0.95
    max_depth: int | None = None
    min_samples_leaf: int = 1
    criterion: str = "information_gain"

    def _learn(self, survey: Responses) -> Tree:
        return grow_tree(survey, self._growth())

    def _growth(self) -> Growth:
        """Return limits and measure under the names that scikit-learn gives them."""
        for name, value in (("max_depth", self.max_depth or 0), ("min_samples_leaf", self.min_samples_leaf)):
            if not isinstance(value, Integral):
                raise InputError("must be an integer", field=name)
        try:
            return Growth(self.max_depth, self.min_samples_leaf, impurity=Impurity(self.criterion))
        except TermError as error:
            name = {"min_leaf": "min_samples_leaf", "impurity": "criterion"}.get(error.field, error.field)
            raise InputError(error.problem, field=name) from None

    def prune(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Cut the tree back by reduced-error pruning on disguised records that did not grow it."""
        self.model_ = prune_tree(self.model_, self._more(X, y))
        return self

    def text(self) -> str:
        """Return the tree as indented text; splits that are not clear end in `party.show.tree.MARK`."""
        check_is_fitted(self)
        doubts = split_doubts(self.model_, self.survey_)
        with as_value_error():
            unclear = {expression for expression, doubt in doubts.items() if not doubt.is_clear(self.confidence)}
        return "\n".join(tree_lines(self.model_, marked=unclear))


@dataclass(eq=False, repr=False)
class RandomizedNaiveBayes(_SurveyClassifier):
    """Naive Bayes on counts estimated from disguised records (Surveys section 3; DESIGN 8).

    Args:
        design: How the records were disguised: as read from a file, or the core's, the class last; None for clear ones.
        classes: The class labels in the order of the design's codes; by default 0, 1, ...
        smoothing: Added to every cell of the estimated counts (Laplace's is 1, the papers' 0).
    """

    model_: NaiveBayes = field(init=False)
    design: Questionnaire | Design | None = None
    classes: Sequence[Any] | None = None
    smoothing: float = 1.0

    def _learn(self, survey: Responses) -> NaiveBayes:
        return learn_naive_bayes(survey, self.smoothing)
