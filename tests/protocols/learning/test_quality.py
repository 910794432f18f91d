"""Figures of a classifier: those of their definitions where cells are exact, and errors that repeated samples have."""

from math import sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.quality import Figure, ScoreTable
from protocols.tables import Floats
from tests.support.examples import few

SCORES = (0.1, 0.2, 0.5, 0.5, 0.8)
LABELS = (0, 0, 0, 1, 1)
CHANCES = np.array([[0.30, 0.03], [0.20, 0.05], [0.08, 0.06], [0.06, 0.06], [0.04, 0.12]])


def people(cells: Floats) -> tuple[list[float], list[int], list[int]]:
    """Return the score, the label and the class of every record of a table."""
    each = [(row, label) for row, label in np.ndindex(*cells.shape) for _ in range(int(cells[row, label]))]
    return [SCORES[row] for row, _ in each], [LABELS[row] for row, _ in each], [label for _, label in each]


def exact(cells: Floats) -> ScoreTable:
    return ScoreTable(cells, LABELS, scores=SCORES)


def value(figure: Figure | None) -> float:
    assert figure is not None
    return figure.value


@pytest.mark.parametrize("swapped", [False, True])
def test_without_noise_the_figures_are_those_of_the_records(*, swapped: bool) -> None:
    """The rarer class is ranked, whichever of the two it is."""
    generator = np.random.default_rng(3)
    for _ in range(6):
        cells = generator.multinomial(300, CHANCES.ravel()).reshape(-1, 2).astype(float)
        if swapped:
            cells = cells[:, ::-1]
        table, (scores, labels, classes) = exact(cells), people(cells)
        assert table.ranked == (0 if swapped else 1)
        positive = np.array(classes) == table.ranked
        ranked = np.array(scores) if table.ranked else 1 - np.array(scores)
        assert table.confusion.tolist() == [
            [sum(said == (label, true) for said in zip(labels, classes, strict=True)) for true in (0, 1)]
            for label in (0, 1)
        ]
        assert table.accuracy().value == pytest.approx(np.mean(np.array(labels) == classes))
        assert table.commonest().value == pytest.approx(1 - np.mean(positive))
        leads = np.round(ranked[positive][:, None] - ranked[~positive], 9)
        assert value(table.auc()) == pytest.approx((np.sign(leads) + 1).mean() / 2)
        least = [2.0, *sorted({*ranked.tolist()}, reverse=True)]
        alarms, found = (np.array([(ranked[own] >= each).mean() for each in least]) for own in (~positive, positive))
        assert value(table.ks()) == pytest.approx(max(0, (found - alarms).max()))
        assert [point.false_alarms for point in table.curve()] == pytest.approx(alarms)
        assert [point.found for point in table.curve()] == pytest.approx(found)
        assert value(table.recall(1)) == pytest.approx(table.confusion[1, 1] / cells[:, 1].sum())
        assert value(table.precision(1)) == pytest.approx(table.confusion[1, 1] / table.confusion[1].sum())
        for each in table.calibration():
            same = [hit for hit, score in zip(positive, ranked, strict=True) if score == pytest.approx(each.score)]
            assert each.records == len(same)
            assert value(each.share) == pytest.approx(np.mean(same))


@pytest.mark.parametrize(("noise", "total"), few([(60.0, 3000), (60.0, None), (0.0, None)], 3))
def test_the_error_of_each_figure_is_the_deviation_that_samples_and_noise_have(noise: float, total: int | None) -> None:
    """Of 600 samples a deviation is known to about 2.9 %, and a mean to 4.1 % of one; 15 % off is five errors."""
    generator = np.random.default_rng(4)
    found: dict[str, list[float]] = {"accuracy": [], "auc": [], "recall": [], "precision": []}
    for _ in range(600):
        cells = generator.multinomial(3000, CHANCES.ravel()).reshape(-1, 2) + generator.normal(0, sqrt(noise), (5, 2))
        table = ScoreTable(cells, LABELS, noise, SCORES, total)
        for name, figure in zip(found, figures(table), strict=True):
            found[name].append(value(figure))
    truth = ScoreTable(3000 * CHANCES, LABELS, noise, SCORES, total)
    for name, figure in zip(found, figures(truth), strict=True):
        assert figure is not None
        assert np.mean(found[name]) == pytest.approx(figure.value, abs=0.2 * figure.error), name
        assert np.std(found[name]) == pytest.approx(figure.error, rel=0.15), name


def figures(table: ScoreTable) -> list[Figure | None]:
    return [table.accuracy(), table.auc(), table.recall(1), table.precision(1)]


def test_what_noise_hides_is_not_given() -> None:
    few = ScoreTable(np.array([[900.0, 3.0], [50.0, 12.0]]), (0, 1), noise=64.0)
    assert few.auc() is None
    assert few.ks() is None
    assert few.curve() == []
    assert few.recall(1) is None
    assert few.precision(1) is not None
    assert exact(np.zeros((5, 2))).accuracy() == Figure(0.0, 1.0)


def test_labels_alone_rank_by_the_label_and_more_classes_have_no_curve() -> None:
    cells = np.array([[40.0, 10.0], [10.0, 20.0]])
    assert value(ScoreTable(cells, (0, 1)).auc()) == pytest.approx((40 / 50 + 20 / 30) / 2)
    three = ScoreTable(np.eye(3) * 10 + 1, (0, 1, 2))
    assert three.auc() is None
    assert three.accuracy().value == pytest.approx(33 / 39)


@pytest.mark.parametrize(("labels", "scores"), [((0,), None), ((0, 2), None), ((0, 1), (0.7, 0.2)), ((0, 1), (0.5,))])
def test_a_table_whose_parts_do_not_fit_is_refused(labels: tuple[int, ...], scores: tuple[float, ...] | None) -> None:
    with pytest.raises(InputError):
        ScoreTable(np.ones((2, 2)), labels, scores=scores)
