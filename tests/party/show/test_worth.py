"""A model that is worth no more than a guess is called so, and one that is worth more is not."""

from dataclasses import replace

import numpy as np
import pytest

from party.show.joint_rules import scores_lines, worth_lines
from protocols.learning.naive_bayes import NaiveBayes, beats_when_tested
from protocols.learning.tree import Leaf, Split, Tree
from protocols.secret_tree.held_out import Scores, noise_of_scores
from protocols.terms import HALF
from tests.support.models import small_model
from tests.support.plain import schema_of

POOR = "The model is no better than always guessing the commonest class"
TRAINED = "even on its training records"
ALIKE = "Within its error, the model is no better than always guessing the commonest class."


def tree(*leaves: tuple[int, int], labels: tuple[int, int]) -> Tree:
    counts = [sum(leaf[place] for leaf in leaves) for place in (0, 1)]
    split = Split(tuple(counts), 0, tuple(map(Leaf, leaves, labels)))
    return Tree(replace(small_model().schema, attributes=schema_of([2], 2).attributes), split)


def bayes(*rows: tuple[float, float], prior: tuple[float, float] = (0.75, 0.25)) -> NaiveBayes:
    return NaiveBayes(schema_of([2], 2), np.log(prior), (np.log(rows),))


def test_a_tree_that_is_right_no_more_often_than_its_commonest_class_is_called_so() -> None:
    assert worth_lines(tree((30, 20), (30, 20), labels=(0, 0))) == [f"{POOR}, {TRAINED}.", "Every leaf says bad."]
    assert worth_lines(tree((30, 20), (24, 26), labels=(0, 1))) == [f"{POOR}, {TRAINED}."]
    assert worth_lines(tree((50, 0), (0, 50), labels=(0, 1))) == []


@pytest.mark.parametrize(("correct", "error", "beats"), [(76, 0, False), (79, 0, False), (80, 0, True), (80, 5, False)])
def test_held_out_records_count_by_their_standard_error(correct: float, error: float, beats: bool) -> None:
    """Of 100 records 80 have a standard error of .04 by the sample alone, beside .75 of the commonest class."""
    model = bayes((0.9, 0.1), (0.1, 0.9))
    found = beats_when_tested(model, correct, 100, error)
    assert found is beats
    assert worth_lines(model, found) == ([] if beats else [ALIKE])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            (870, 12, 4, 114),
            "Of those who are bad, the rarest class, the tree finds 0.90; of those whom it calls so, 0.97 are",
        ),
        ((882, 118, -3, 2), "Of those who are bad, the rarest class, the tree finds 0.02"),
        ((990, 8, 1, 1), "Too few held-out records are bad to say how many of them the tree finds"),
        ((500, 100, 100, 300), None),
    ],
)
def test_a_table_of_held_out_records_says_accuracy_and_guess_with_their_error_and_of_a_rare_class_what_is_found(
    cells: tuple[int, ...], said: str | None
) -> None:
    scores = Scores(cells, 1000, noise_of_scores(HALF))
    first, *rest = scores_lines(scores, ("good", "bad"))
    error = f"{scores.correct_error / 1000:.3f}"
    share = f"Accuracy {(cells[0] + cells[3]) / 1000:.3f} on 1,000 held-out records, of which the commonest class has"
    assert first == f"{share} {(cells[0] + cells[2]) / 1000:.3f} (by noise, each with a standard error of {error})"
    assert rest == ([] if said is None else [said])


def test_naive_bayes_that_no_record_can_sway_is_called_so() -> None:
    swayed, unswayed = bayes((0.9, 0.1), (0.1, 0.9)), bayes((0.6, 0.4), (0.4, 0.6))
    assert [swayed.predict(np.array([[v]])).tolist() for v in (0, 1, -1)] == [[0], [1], [0]]
    assert [unswayed.predict(np.array([[v]])).tolist() for v in (0, 1, -1)] == [[0], [0], [0]]
    assert worth_lines(swayed) == []
    assert worth_lines(unswayed) == [
        f"Whatever a record holds, the model says {unswayed.schema.class_attribute.values[0]}."
    ]
