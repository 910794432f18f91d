"""The learners with a design inside scikit-learn's own tools: scorers, meta-estimators, cross-validation, labels."""

import io
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import check_estimator

from party.learn.classifiers import RandomizedID3Classifier, RandomizedNaiveBayes
from party.survey import Questionnaire, read_design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import bulk_draw
from tests.support.examples import few

BOTH = [RandomizedID3Classifier, RandomizedNaiveBayes]
DESIGN = """
theta = "4/5"
class = "ill"
plain = [PLAIN]
[columns.q]
values = ["1", "2", "3"]
[columns.sex]
values = ["m", "f"]
[columns.ill]
values = [VALUES]
[groups]
a = ["q"]
"""


def design_of(folder: Path, *values: str, plain: bool = False) -> Questionnaire:
    """Return a design whose class has these values, in a group or plain."""
    text = DESIGN.replace("VALUES", ", ".join(map('"{}"'.format, values)))
    text = text.replace("PLAIN", '"sex", "ill"' if plain else '"sex"') + ("" if plain else 'b = ["ill"]\n')
    path = folder / "design.toml"
    path.write_text(text)
    return read_design(path)


def answers(
    questionnaire: Questionnaire, records: int = 600, seed: int = 0
) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Return disguised attributes, the disguised class, and the true table: the class follows q in nine of ten."""
    generator = np.random.default_rng(seed)
    classes = questionnaire.design.sizes[-1]
    q, sex = generator.integers(0, 3, records), generator.integers(0, 2, records)
    ill = np.where(generator.random(records) < 0.1, generator.integers(0, classes, records), q % classes)
    true = np.column_stack([q, sex, ill]).astype(np.uint8)
    sent = questionnaire.design.randomize(true, bulk_draw(generator, records))
    columns = list(zip(questionnaire.names, questionnaire.values, strict=True))
    tables = [
        pd.DataFrame({name: np.array(values)[codes[:, c]] for c, (name, values) in enumerate(columns)})
        for codes in (sent, true)
    ]
    target = tables[0].pop("ill")
    return tables[0], target, tables[1]


@pytest.mark.parametrize("kind", BOTH)
def test_classes_are_sorted_and_chances_are_in_their_order(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "low", "high", plain=True)
    cells, label, _ = answers(design)
    model = kind(design).fit(cells, label)
    assert model.classes_.tolist() == ["high", "low"]
    chances = model.predict_proba(cells)
    assert (chances[np.arange(600), chances.argmax(axis=1)] == chances.max(axis=1)).all()
    by_hand = roc_auc_score(label == "high", chances[:, 0])
    assert by_hand > 0.6
    assert roc_auc_score(label == "low", chances[:, 1]) == pytest.approx(by_hand)
    assert get_scorer("roc_auc")(model, cells, label) == pytest.approx(by_hand)
    assert get_scorer("accuracy")(model, cells, label) == (model.predict(cells) == label).mean()
    assert get_scorer("neg_log_loss")(model, cells, label) > -1


@pytest.mark.parametrize("dtype", [str, None, object])
@pytest.mark.parametrize("kind", BOTH)
def test_a_column_of_numbers_is_read_as_text_as_the_other_columns_are(tmp_path: Path, kind: Any, dtype: Any) -> None:
    design = design_of(tmp_path, "0", "1")
    cells, label, _ = answers(design)
    text = cells.assign(ill=label).to_csv(index=False)
    frame = pd.read_csv(io.StringIO(text), dtype=str if dtype is str else None)
    target = frame.pop("ill")
    target = target if dtype is None else target.astype(dtype)
    model = kind(design).fit(frame, target)
    assert model.classes_.tolist() == ["0", "1"]
    assert (model.predict(frame) == target).mean() > 0.5
    assert get_scorer("balanced_accuracy")(model, frame, target if dtype is not object else target.astype(int)) > 0.5


LABELS: dict[str, Any] = {
    "texts": lambda label: label,
    "numbers": lambda label: label.astype(int),
    "numbers in an array": lambda label: label.to_numpy().astype(int),
    "recoded": lambda label: np.unique(label, return_inverse=True)[1],
}
TOOLS: dict[str, Any] = {
    "calibration": lambda model: CalibratedClassifierCV(model, cv=3),
    "calibration, one": lambda model: CalibratedClassifierCV(model, cv=3, ensemble=False),
    "hard voting": lambda model: VotingClassifier([("a", model), ("b", RandomizedNaiveBayes(model.design))]),
    "soft voting": lambda model: VotingClassifier([("a", model)], voting="soft"),
    "stacking": lambda model: StackingClassifier([("a", model)], cv=3),
    "one versus rest": OneVsRestClassifier,
}


@pytest.mark.parametrize(
    ("kind", "tool", "labels", "values"), few([*product(BOTH, TOOLS, LABELS, [("0", "1"), ("2", "1")])], 7)
)
def test_tools_that_wrap_a_classifier_work_with_a_design(
    tmp_path: Path, kind: Any, tool: str, labels: str, values: tuple[str, ...]
) -> None:
    design = design_of(tmp_path, *values)
    cells, label, true = answers(design)
    target = LABELS[labels](label)
    model = TOOLS[tool](kind(design)).fit(cells, target)
    told = LABELS[labels](true.pop("ill"))
    assert (model.predict(true) == told).mean() > 0.75  # 0.95 is the rule's; what is not the class's would have 0.5
    if hasattr(model, "predict_proba"):
        assert roc_auc_score(told == max(told), model.predict_proba(true)[:, 1]) > 0.75


@pytest.mark.parametrize("kind", BOTH)
def test_one_versus_rest_puts_a_plain_class_together_and_refuses_a_disguised_one(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "a", "b", "c", plain=True)
    cells, label, true = answers(design)
    model = OneVsRestClassifier(kind(design)).fit(cells, label)
    assert (model.predict(true) == true["ill"]).mean() > 0.75
    hidden = design_of(tmp_path, "a", "b", "c")
    cells, label, _ = answers(hidden)
    with pytest.raises(ValueError, match="not among the 3 known ones"):
        OneVsRestClassifier(kind(hidden)).fit(cells, label)


@pytest.mark.parametrize("kind", BOTH)
def test_numbers_that_sort_in_another_way_as_texts_are_not_recoded_by_a_guess(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "2", "10", "1")
    cells, label, _ = answers(design)
    with pytest.raises(ValueError, match="sort in another way as texts"):
        kind(design).fit(cells, np.unique(label.astype(int), return_inverse=True)[1])
    assert kind(design).fit(cells, label.to_numpy().astype(int)).classes_.tolist() == [1, 2, 10]


@pytest.mark.parametrize("kind", BOTH)
def test_rows_that_look_disguised_are_scored_as_such_and_clear_ones_as_clear(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "no", "yes")
    model = kind(design).fit(*answers(design, 20_000)[:2])
    cells, label, true = answers(design, 4_000, seed=1)
    told = true.pop("ill")
    assert model.score(true, told) == (model.predict(true) == told).mean()
    with pytest.warns(UserWarning, match="look disguised: the score is what estimate_accuracy says"):
        corrected = model.score(cells, label)
    assert corrected == model.estimate_accuracy(cells, label).share
    assert abs(corrected - 0.95) < 0.1
    assert (model.predict(cells) == label).mean() < 0.8
    with pytest.raises(ValueError, match="weights are for clear ones"):
        model.score(cells, label, np.ones(len(label)))
    with pytest.warns(UserWarning, match="does not show"):
        model.score(true[:2], told[:2])


def test_codes_of_the_test_fold_get_the_majority_and_chances_follow_labels(tmp_path: Path) -> None:
    for kind in BOTH:
        model = kind().fit([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 1, 1, 1])
        assert model.predict([[7, 0], [0, 9]]).tolist() == [1, 0]
        assert model.predict_proba([[7, 9]])[0].tolist() == pytest.approx([0.4, 0.6])
    for case in LABELS.values():
        for kind in BOTH:
            design = design_of(tmp_path, "2", "1")
            cells, label, _ = answers(design)
            target = case(label)
            chances = cross_val_predict(kind(design), cells, target, cv=3, method="predict_proba")
            assert roc_auc_score(target == max(target), chances[:, 1]) > 0.6
            assert cross_val_score(kind(design), cells, target, cv=3, scoring="roc_auc").mean() > 0.6


class _WithDesign:
    """Gives a learner a design for the very table that a check brings: three columns in groups, always true."""

    def _known_design(self, codes: Any) -> RelatedDesign:
        sizes = super()._known_design(codes).sizes  # type: ignore[misc]
        return RelatedDesign(sizes, tuple((column,) for column in range(min(3, len(sizes)))), Fraction(1))


class TreeWithDesign(_WithDesign, RandomizedID3Classifier):
    """A tree."""


class BayesWithDesign(_WithDesign, RandomizedNaiveBayes):
    """Naive Bayes."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", [*BOTH, TreeWithDesign, BayesWithDesign])
def test_scikit_learns_own_checks_pass_with_a_design_and_without(kind: Any) -> None:
    check_estimator(kind())
