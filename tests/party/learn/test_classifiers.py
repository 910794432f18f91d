"""The learners behind scikit-learn's interface: its own checks, pipelines, clones, and what they learn."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from party.learn.classifiers import RandomizedID3Classifier, RandomizedNaiveBayes
from party.show.tree import MARK
from party.survey import read_design
from protocols.learning.tree import Leaf
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import bulk_draw
from tests.support.surveys import unrelated

SIZES = (2, 3, 2, 2)
DESIGN = RelatedDesign(SIZES, ((0, 3), (1,)), Fraction(4, 5))
BOTH = [RandomizedID3Classifier, RandomizedNaiveBayes]


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
@pytest.mark.parametrize("kind", BOTH)
def test_disguised_records_teach_the_clear_rule(kind: Any, design: Any) -> None:
    model = kind(design=design).fit(*disguised(30_000, design))
    clear, label = rule(2_000, seed=9)
    assert model.score(clear, label) > 0.85
    measured = model.estimate_accuracy(*disguised(30_000, design, seed=5))
    assert abs(measured.share - 0.9) < 5 * measured.standard_error + 0.03
    assert np.allclose(model.predict_proba(clear).sum(axis=1), 1)


def test_a_tree_keeps_to_its_limits_and_pruning_leaves_less() -> None:
    model = RandomizedID3Classifier(design=DESIGN).fit(*disguised(5_000))
    before = model.model_.size
    assert model.prune(*disguised(5_000, seed=3)).model_.size < before
    clear, label = rule(3_000)
    stump = RandomizedID3Classifier(max_depth=1).fit(clear, label).model_
    assert (stump.depth, stump.growth.max_depth) == (1, 1)
    grown = RandomizedID3Classifier(min_samples_leaf=300).fit(clear, label).model_
    leaves = [sum(node.counts) for _, node in grown.walk() if isinstance(node, Leaf)]
    assert min(leaves) >= 300
    assert len(leaves) < len(RandomizedID3Classifier().fit(clear, label).model_.leaves())
    assert RandomizedID3Classifier(criterion="gini").fit(clear, label).model_.growth.impurity == "gini"
    pruned = RandomizedID3Classifier(design=DESIGN, max_depth=2).fit(*disguised(5_000)).prune(*disguised(5_000, seed=3))
    assert pruned.model_.growth.max_depth == 2
    assert "of at most 2" in pruned.text()


def test_the_text_marks_what_is_not_clear() -> None:
    text = RandomizedID3Classifier(design=DESIGN).fit(*disguised(5_000)).text()
    first, *others = text.splitlines()[1:]
    assert first.startswith("x2 ")
    assert not first.endswith(MARK)
    assert any(line.endswith(MARK) for line in others)


def test_without_a_design_naive_bayes_is_scikit_learns() -> None:
    cells, label = rule(500)
    ours = RandomizedNaiveBayes(smoothing=1.0).fit(cells, label).predict_proba(cells)
    theirs = CategoricalNB(alpha=1.0).fit(cells, label).predict_proba(cells)
    assert np.allclose(ours, theirs)


@pytest.mark.parametrize("kind", BOTH)
def test_labels_pass_through_pipelines_clones_and_searches(kind: Any) -> None:
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


@pytest.mark.parametrize("kind", BOTH)
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


def test_what_does_not_fit_the_design_is_a_value_error() -> None:
    for cells, label, text in [
        ([[0, 0, 0], [1, 3, 0]], [0, 1], "a code outside the design's domains"),
        ([[0, 0], [1, 1]], [0, 1], "the design has 3 attributes and the class, X has 2"),
        ([[0, 0, 0], [1, 1, 1]], [0, 2], "not among the 2 known ones"),
        ([[0, 0, 0.5], [1, 1, 1]], [0, 1], "encode labels and bin numbers first"),
        ([[0, 0, 0], [1, 1, 300]], [0, 1], "whole codes from 0 to 255"),
    ]:
        for kind in BOTH:
            with pytest.raises(ValueError, match=text):
                kind(design=DESIGN).fit(cells, label)


def test_columns_of_a_frame_may_be_named_by_numbers(tmp_path: Path) -> None:
    path = tmp_path / "design.toml"
    path.write_text(DESIGN_TOML.replace("age", "0").replace("town", "1"))
    frame = pd.DataFrame({1: ["a", "b", "c"] * 100, 0: ["<= 30", "> 30", "> 30"] * 100})
    answers = ["no", "yes", "yes"] * 100
    model = RandomizedNaiveBayes(design=read_design(path)).fit(frame, answers)
    assert model.predict(frame[[0, 1]]).shape == (300,)
    with pytest.raises(ValueError, match="a survey's design has them already"):
        RandomizedNaiveBayes(design=read_design(path), classes=["yes", "no"]).fit(frame, answers)


def test_limits_and_labels_that_cannot_be_are_refused() -> None:
    for limits, text in (
        ({"max_depth": 0}, "max_depth must be an integer from 1 to 65535"),
        ({"max_depth": 1.5}, "max_depth must be an integer"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer from 1"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be an integer"),
        ({"criterion": "entropy"}, "criterion must be information_gain, gain_ratio or gini"),
        ({"min_samples_leaf": None}, "min_samples_leaf must be an integer"),
    ):
        with pytest.raises(ValueError, match=text):
            RandomizedID3Classifier(**limits).fit(*rule(50))
    for classes in (["a"], ["a", "b", "c"], ["a", "a"]):
        for kind in BOTH:
            with pytest.raises(ValueError, match="classes must name the 2 classes of the design, each once"):
                kind(design=DESIGN, classes=classes).fit([[0, 0, 0], [1, 1, 1]], ["a", "a"])
    model = RandomizedID3Classifier(design=DESIGN, confidence=2).fit(*disguised(500))
    with pytest.raises(ValueError, match="a confidence must lie between 0 and 1"):
        model.text()
    for kind in BOTH:
        model = kind(design=DESIGN).fit(*disguised(500))
        with pytest.raises(ValueError, match="a value that the design does not have"):
            model.predict([[0, 3, 0]])


@pytest.mark.parametrize("kind", BOTH)
def test_a_learner_whose_fit_failed_is_not_fitted(kind: Any) -> None:
    model = kind(design=DESIGN)
    with pytest.raises(ValueError, match="not among the 2 known ones"):
        model.fit([[0, 0, 0], [1, 1, 1]], [0, 2])
    with pytest.raises(NotFittedError):
        model.predict([[0, 0, 0]])
