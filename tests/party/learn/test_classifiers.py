"""The learners behind scikit-learn's interface: its own checks and tools, labels, and what they learn."""

import io
import sys
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import cotally
import numpy as np
import pandas as pd
import pytest

from party.show.tree import MARK
from party.survey import Questionnaire, read_design
from protocols.learning.tree import Leaf
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import bulk_draw
from tests.support.examples import few
from tests.support.surveys import unrelated

SIZES = (2, 3, 2, 2)
DESIGN = RelatedDesign(SIZES, ((0, 3), (1,)), Fraction(4, 5))
BOTH = ["RandomizedID3Classifier", "RandomizedNaiveBayes"]


@pytest.fixture(params=BOTH)
def kind(request: pytest.FixtureRequest) -> Any:
    """Return a learner; scikit-learn takes long to load, so nothing here loads it before it is used."""
    return getattr(cotally, request.param)


def rule(records: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return clear records whose class is the last attribute in nine of ten."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(0, SIZES[:-1], size=(records, 3))
    return cells, np.where(generator.random(records) < 0.1, 1 - cells[:, 2], cells[:, 2])


def disguised(records: int, design: Any = DESIGN, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    cells, label = rule(records, seed)
    joint = np.column_stack([cells, label]).astype(np.uint8)
    sent = design.randomize(joint, bulk_draw(np.random.default_rng(seed + 1), records))
    return sent[:, :-1], sent[:, -1]


@pytest.mark.parametrize("design", [DESIGN, unrelated(SIZES, ((0, 1), (2, 3)))], ids=["related", "unrelated"])
def test_disguised_records_teach_the_clear_rule(kind: Any, design: Any) -> None:
    model = kind(design=design).fit(*disguised(10_000, design))
    clear, label = rule(2_000, seed=9)
    assert model.score(clear, label) > 0.85
    measured = model.estimate_accuracy(*disguised(10_000, design, seed=5))
    assert abs(measured.share - 0.9) < 5 * measured.standard_error + 0.03
    assert np.allclose(model.predict_proba(clear).sum(axis=1), 1)


def test_a_tree_keeps_to_its_limits_and_pruning_leaves_less() -> None:
    model = cotally.RandomizedID3Classifier(design=DESIGN).fit(*disguised(5_000))
    before = model.model_.size
    assert model.prune(*disguised(5_000, seed=3)).model_.size < before
    clear, label = rule(3_000)
    stump = cotally.RandomizedID3Classifier(max_depth=1).fit(clear, label).model_
    assert (stump.depth, stump.growth.max_depth) == (1, 1)
    grown = cotally.RandomizedID3Classifier(min_samples_leaf=300).fit(clear, label).model_
    leaves = [sum(node.counts) for _, node in grown.walk() if isinstance(node, Leaf)]
    assert min(leaves) >= 300
    assert len(leaves) < len(cotally.RandomizedID3Classifier().fit(clear, label).model_.leaves())
    assert cotally.RandomizedID3Classifier(criterion="gini").fit(clear, label).model_.growth.impurity == "gini"
    pruned = (
        cotally.RandomizedID3Classifier(design=DESIGN, max_depth=2)
        .fit(*disguised(5_000))
        .prune(*disguised(5_000, seed=3))
    )
    assert pruned.model_.growth.max_depth == 2
    assert "of at most 2" in pruned.text()


def test_the_text_marks_what_is_not_clear() -> None:
    text = cotally.RandomizedID3Classifier(design=DESIGN).fit(*disguised(5_000)).text()
    first, *others = text.splitlines()[1:]
    assert first.startswith("x2 ")
    assert not first.endswith(MARK)
    assert any(line.endswith(MARK) for line in others)


def test_without_a_design_naive_bayes_is_scikit_learns() -> None:
    cells, label = rule(500)
    ours = cotally.RandomizedNaiveBayes(smoothing=1.0).fit(cells, label).predict_proba(cells)
    theirs = import_module("sklearn.naive_bayes").CategoricalNB(alpha=1.0).fit(cells, label).predict_proba(cells)
    assert np.allclose(ours, theirs)


def test_labels_pass_through_pipelines_clones_and_searches(kind: Any) -> None:
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    cells, label = rule(300)
    frame = pd.DataFrame({f"c{i}": np.array(["low", "mid", "top"])[column] for i, column in enumerate(cells.T)})
    answers = np.array(["no", "yes"])[label]
    categories = [["low", "mid", "top"][:size] for size in SIZES[:-1]]
    learner = kind(design=RelatedDesign(SIZES, (), Fraction(1)), classes=["no", "yes"])
    pipeline = make_pipeline(OrdinalEncoder(categories=categories), learner)
    assert set(clone(pipeline).fit(frame, answers).predict(frame)) == {"no", "yes"}
    assert cross_val_score(pipeline, frame, answers, cv=3).mean() > 0.8
    search = GridSearchCV(kind(), {"design": [None, RelatedDesign(SIZES, (), Fraction(1))]}, cv=2)
    assert search.fit(cells, label).best_score_ > 0.8


DESIGN_TOML = """
theta = "4/5"
class = "bought"
[columns.age]
bins = [30]
[columns.town]
values = ["a", "b", "c"]
[columns.bought]
values = ["no", "yes"]
[groups]
first = ["age", "bought"]
second = ["town"]
"""


def test_a_frame_of_labels_is_read_by_the_design_of_a_file(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.toml"
    path.write_text(DESIGN_TOML)
    questionnaire = read_design(path)
    generator = np.random.default_rng(3)
    ages, towns = generator.integers(2, size=20_000), generator.integers(3, size=20_000)
    bought = np.where(generator.random(20_000) < 0.1, 1 - ages, ages)
    true = np.column_stack([ages, towns, bought]).astype(np.uint8)
    sent = questionnaire.design.randomize(true, bulk_draw(generator, len(true)))
    frame = pd.DataFrame(
        {name: np.array(questionnaire.values[c])[sent[:, c]] for c, name in enumerate(questionnaire.names)}
    )
    model = kind(design=questionnaire).fit(frame[["town", "age"]], frame["bought"])
    clear = pd.DataFrame({"age": [20, 40], "town": ["a", "c"]})[["town", "age"]]
    assert model.predict(clear).tolist() == ["no", "yes"]
    assert model.estimate_accuracy(frame[["town", "age"]], frame["bought"]).share == pytest.approx(0.9, abs=0.05)
    with pytest.raises(ValueError, match="none of the declared values"):
        model.predict(clear.assign(town="z"))
    with pytest.raises(ValueError, match="X must be a DataFrame"):
        kind(design=questionnaire).fit([[0, 0]], ["no"])
    gaps = frame["bought"].where(frame.index % 7 > 0)
    for y in (gaps, gaps.astype("string"), gaps.astype("category"), gaps.tolist(), gaps.to_numpy(dtype=object)):
        with pytest.raises(ValueError, match=r"^y has missing answers: drop these rows$"):
            kind(design=questionnaire).fit(frame[["town", "age"]], y)
        with pytest.raises(ValueError, match=r"^y has missing answers: drop these rows$"):
            model.estimate_accuracy(frame[["town", "age"]], y)
    answered = frame[gaps.notna()]
    assert kind(design=questionnaire).fit(answered[["town", "age"]], answered["bought"]).classes_.tolist() == [
        "no",
        "yes",
    ]


def test_what_does_not_fit_the_design_is_a_value_error(kind: Any) -> None:
    for cells, label, text in [
        ([[0, 0, 0], [1, 3, 0]], [0, 1], "a code outside the design's domains"),
        ([[0, 0], [1, 1]], [0, 1], "the design has 3 attributes and the class, X has 2"),
        ([[0, 0, 0], [1, 1, 1]], [0, 2], "not among the 2 known ones"),
        ([[0, 0, 0.5], [1, 1, 1]], [0, 1], "encode labels and bin numbers first"),
        ([[0, 0, 0], [1, 1, 300]], [0, 1], "whole codes from 0 to 255"),
    ]:
        with pytest.raises(ValueError, match=text):
            kind(design=DESIGN).fit(cells, label)


def test_columns_of_a_frame_may_be_named_by_numbers(tmp_path: Path) -> None:
    path = tmp_path / "design.toml"
    path.write_text(DESIGN_TOML.replace("age", "0").replace("town", "1"))
    frame = pd.DataFrame({1: ["a", "b", "c"] * 100, 0: ["<= 30", "> 30", "> 30"] * 100})
    answers = ["no", "yes", "yes"] * 100
    model = cotally.RandomizedNaiveBayes(design=read_design(path)).fit(frame, answers)
    assert model.predict(frame[[0, 1]]).shape == (300,)
    with pytest.raises(ValueError, match="a survey's design has them already"):
        cotally.RandomizedNaiveBayes(design=read_design(path), classes=["yes", "no"]).fit(frame, answers)


def test_limits_and_labels_that_cannot_be_are_refused(kind: Any) -> None:
    for limits, text in (
        ({"max_depth": 0}, "max_depth must be an integer from 1 to 65535"),
        ({"max_depth": 1.5}, "max_depth must be an integer"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer from 1"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be an integer"),
        ({"criterion": "entropy"}, "criterion must be information_gain, gain_ratio or gini"),
        ({"min_samples_leaf": None}, "min_samples_leaf must be an integer"),
    ):
        with pytest.raises(ValueError, match=text):
            cotally.RandomizedID3Classifier(**limits).fit(*rule(50))
    for classes in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(ValueError, match="classes must name the 2 classes of the design, each once"):
            kind(design=DESIGN, classes=classes).fit([[0, 0, 0], [1, 1, 1]], ["a", "a"])
    model = cotally.RandomizedID3Classifier(design=DESIGN, confidence=2).fit(*disguised(500))
    with pytest.raises(ValueError, match="a confidence must lie between 0 and 1"):
        model.text()
    model = kind(design=DESIGN).fit(*disguised(500))
    with pytest.raises(ValueError, match="a value that the design does not have"):
        model.predict([[0, 3, 0]])


def test_a_learner_whose_fit_failed_is_not_fitted(kind: Any) -> None:
    model = kind(design=DESIGN)
    with pytest.raises(ValueError, match="not among the 2 known ones"):
        model.fit([[0, 0, 0], [1, 1, 1]], [0, 2])
    with pytest.raises(import_module("sklearn.exceptions").NotFittedError):
        model.predict([[0, 0, 0]])


ILL = """
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
    text = ILL.replace("VALUES", ", ".join(map('"{}"'.format, values)))
    text = text.replace("PLAIN", '"sex", "ill"' if plain else '"sex"') + ("" if plain else 'b = ["ill"]\n')
    path = folder / "design.toml"
    path.write_text(text)
    return read_design(path)


def ill_answers(
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


def test_classes_are_sorted_and_chances_are_in_their_order(tmp_path: Path, kind: Any) -> None:
    from sklearn.metrics import get_scorer, roc_auc_score

    design = design_of(tmp_path, "low", "high", plain=True)
    cells, label, _ = ill_answers(design)
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


def test_a_column_of_numbers_is_read_as_text_as_the_other_columns_are(tmp_path: Path, kind: Any) -> None:
    for dtype in [str, None, object]:
        design = design_of(tmp_path, "0", "1")
        cells, label, _ = ill_answers(design)
        text = cells.assign(ill=label).to_csv(index=False)
        frame = pd.read_csv(io.StringIO(text), dtype=str if dtype is str else None)
        target = frame.pop("ill")
        target = target if dtype is None else target.astype(dtype)
        model = kind(design).fit(frame, target)
        assert model.classes_.tolist() == ["0", "1"]
        assert (model.predict(frame) == target).mean() > 0.5
        scorer = import_module("sklearn.metrics").get_scorer("balanced_accuracy")
        assert scorer(model, frame, target if dtype is not object else target.astype(int)) > 0.5


LABELS: dict[str, Any] = {
    "texts": lambda label: label,
    "numbers": lambda label: label.astype(int),
    "numbers in an array": lambda label: label.to_numpy().astype(int),
    "recoded": lambda label: np.unique(label, return_inverse=True)[1],
}
TOOLS: dict[str, Any] = {
    "calibration": lambda model: tool("calibration.CalibratedClassifierCV", model, cv=3),
    "calibration, one": lambda model: tool("calibration.CalibratedClassifierCV", model, cv=3, ensemble=False),
    "hard voting": lambda model: tool("ensemble.VotingClassifier", [("a", model), ("b", bayes(model.design))]),
    "soft voting": lambda model: tool("ensemble.VotingClassifier", [("a", model)], voting="soft"),
    "stacking": lambda model: tool("ensemble.StackingClassifier", [("a", model)], cv=3),
    "one versus rest": lambda model: tool("multiclass.OneVsRestClassifier", model),
}


def tool(name: str, *model: Any, **how: Any) -> Any:
    part, _, name = name.partition(".")
    return getattr(import_module(f"sklearn.{part}"), name)(*model, **how)


def bayes(design: Questionnaire) -> Any:
    return cotally.RandomizedNaiveBayes(design)


@pytest.mark.parametrize(
    ("kind", "around", "labels", "values"),
    few([*product(BOTH, TOOLS, LABELS, [("0", "1"), ("2", "1")])], 13),
    indirect=["kind"],
)
def test_tools_that_wrap_a_classifier_work_with_a_design(
    tmp_path: Path, kind: Any, around: str, labels: str, values: tuple[str, ...]
) -> None:
    design = design_of(tmp_path, *values)
    cells, label, true = ill_answers(design)
    target = LABELS[labels](label)
    model = TOOLS[around](kind(design)).fit(cells, target)
    told = LABELS[labels](true.pop("ill"))
    assert (model.predict(true) == told).mean() > 0.75  # 0.95 is the rule's; what is not the class's would have 0.5
    if hasattr(model, "predict_proba"):
        roc_auc_score = import_module("sklearn.metrics").roc_auc_score
        assert roc_auc_score(told == max(told), model.predict_proba(true)[:, 1]) > 0.75


def test_one_versus_rest_puts_a_plain_class_together_and_refuses_a_disguised_one(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "a", "b", "c", plain=True)
    cells, label, true = ill_answers(design)
    model = TOOLS["one versus rest"](kind(design)).fit(cells, label)
    assert (model.predict(true) == true["ill"]).mean() > 0.75
    hidden = design_of(tmp_path, "a", "b", "c")
    cells, label, _ = ill_answers(hidden)
    with pytest.raises(ValueError, match="not among the 3 known ones"):
        TOOLS["one versus rest"](kind(hidden)).fit(cells, label)


def test_numbers_that_sort_in_another_way_as_texts_are_not_recoded_by_a_guess(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "2", "10", "1")
    cells, label, _ = ill_answers(design)
    with pytest.raises(ValueError, match="sort in another way as texts"):
        kind(design).fit(cells, np.unique(label.astype(int), return_inverse=True)[1])
    assert kind(design).fit(cells, label.to_numpy().astype(int)).classes_.tolist() == [1, 2, 10]


def test_rows_that_look_disguised_are_scored_as_such_and_clear_ones_as_clear(tmp_path: Path, kind: Any) -> None:
    design = design_of(tmp_path, "no", "yes")
    model = kind(design).fit(*ill_answers(design, 20_000)[:2])
    cells, label, true = ill_answers(design, 4_000, seed=1)
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


def test_codes_of_the_test_fold_get_the_majority_and_chances_follow_labels(tmp_path: Path, kind: Any) -> None:
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import cross_val_predict, cross_val_score

    model = kind().fit([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 1, 1, 1])
    assert model.predict([[7, 0], [0, 9]]).tolist() == [1, 0]
    assert model.predict_proba([[7, 9]])[0].tolist() == pytest.approx([0.4, 0.6])
    for case in few(list(LABELS.values()), 2):
        design = design_of(tmp_path, "2", "1")
        cells, label, _ = ill_answers(design)
        target = case(label)
        chances = cross_val_predict(kind(design), cells, target, cv=3, method="predict_proba")
        assert roc_auc_score(target == max(target), chances[:, 1]) > 0.6
        assert cross_val_score(kind(design), cells, target, cv=3, scoring="roc_auc").mean() > 0.6


class WithDesign:
    """Gives a learner a design for the very table that a check brings: three columns in groups, always true."""

    def _known_design(self, codes: Any) -> RelatedDesign:
        sizes = super()._known_design(codes).sizes  # type: ignore[misc]
        return RelatedDesign(sizes, tuple((column,) for column in range(min(3, len(sizes)))), Fraction(1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("with_design", few([True, False], 2))
def test_scikit_learns_own_checks_pass_with_a_design_and_without(
    kind: Any, monkeypatch: pytest.MonkeyPatch, *, with_design: bool
) -> None:
    if with_design:  # the checks pickle it: it has a name in this module
        kind = type("Checked", (WithDesign, kind), {"__module__": __name__})
        monkeypatch.setattr(sys.modules[__name__], "Checked", kind, raising=False)
    import_module("sklearn.utils.estimator_checks").check_estimator(kind())
