import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from party.names import printable
from party.show.joint_rules import scores_lines, worth_lines
from party.show.prediction import other_model_lines
from party.show.tree import MARK, PureLeaves, counts_line, pure_leaves, pure_lines, to_dot, tree_lines
from protocols.learning.naive_bayes import NaiveBayes, beats_when_tested
from protocols.learning.tree import Leaf, Split, Tree
from protocols.secret_tree.held_out import Scores, noise_of_scores
from protocols.tables import ROOT, Attribute, Schema
from protocols.terms import HALF, Growth, Impurity
from tests.support.models import chain, models, small_model
from tests.support.parties import make_terms
from tests.support.plain import schema_of


def test_the_text_shows_values_counts_and_classes() -> None:
    assert (
        "\n".join(tree_lines(small_model()))
        == """\
outcome [bad, good]: 9 nodes, depth 2
alice.age [7 9]
├─ <= 40: city [5 3]
│  ├─ Bergen: → bad [5 0]
│  ├─ Oslo: → good [0 3]
│  └─ other: → bad [0 0]
├─ > 40: bob.age [1 6]
│  ├─ no: → bad [1 0]
│  └─ yes: → good [0 6]
└─ missing: → bad [1 0]"""
    )


def test_the_limits_that_a_tree_was_grown_under_stand_over_it() -> None:
    limited = replace(small_model(), growth=Growth(3, 5))
    assert next(tree_lines(limited)).endswith(
        "9 nodes, depth 2 of at most 3, branches of fewer than 5 records are leaves of their parent's class"
    )
    noisy = replace(limited, growth=Growth(3, 5, noise=Fraction(1)))
    assert next(tree_lines(noisy)).endswith(
        "branches of fewer than 5 records as counted with noise are leaves of their parent's class"
    )
    assert next(tree_lines(replace(limited, growth=Growth(3, impurity=Impurity.GINI)))).endswith(
        "depth 2 of at most 3, by gini"
    )


def test_counts_of_branches_that_may_not_add_up_are_said_to_be_such() -> None:
    """The control is a tree of exact counts, which do add up."""
    tree = small_model()
    assert isinstance(tree.root, Split)
    assert "add up" not in counts_line(tree)
    assert "They have noise: the class counts of branches may not add" in counts_line(
        replace(tree, growth=Growth(3, noise=Fraction(1)))
    )
    apart = replace(tree, root=replace(tree.root, counts=(188.0, 44.0)))
    assert "They are estimates: the class counts of branches may not add up" in counts_line(apart)


def test_pure_leaves_are_counted_with_their_people_and_only_where_counts_are_exact() -> None:
    found = pure_leaves(small_model(), make_terms(method="smc"))
    assert found == PureLeaves(leaves=5, of=6, records=5 + 3 + 1 + 6 + 1, fewest=1)
    assert pure_lines(found)[0].startswith(
        "5 of 6 leaves hold training records of one class alone, 16 in all, 1 in the"
    )
    for terms in (make_terms(method="smc", noise=Fraction(1), max_depth=3), make_terms(method="randomized")):
        assert pure_leaves(small_model(), terms) is None
    mixed = replace(small_model(), root=Leaf((3.0, 4.0), 1))
    assert pure_lines(pure_leaves(mixed, make_terms(method="smc"))) == []


def test_deeper_levels_can_be_left_out_and_are_marked() -> None:
    assert list(tree_lines(small_model(), levels=1))[1:] == [
        "alice.age [7 9]",
        "├─ <= 40: city [5 3] …",
        "├─ > 40: bob.age [1 6] …",
        "└─ missing: → bad [1 0]",
    ]


def test_marked_splits_and_no_others_end_in_the_mark() -> None:
    marked = {ROOT, ROOT.child(0, 1)}
    lines = list(tree_lines(small_model(), marked=marked))
    assert [line for line in lines if line.endswith(MARK)] == [
        f"alice.age [7 9] {MARK}",
        f"├─ > 40: bob.age [1 6] {MARK}",
    ]
    assert [line.removesuffix(f" {MARK}") for line in lines] == list(tree_lines(small_model()))


@given(models())
def test_the_text_has_a_line_a_node_after_its_title(tree: Tree) -> None:
    lines = list(tree_lines(tree))
    assert len(lines) == tree.size + 1
    assert all(line.isprintable() for line in lines)


@given(models())
def test_the_drawing_has_a_node_and_an_edge_for_each(tree: Tree) -> None:
    lines = to_dot(tree).splitlines()
    assert sum("[shape=" in line for line in lines) == tree.size
    assert sum(line.startswith("  n") and " -> " in line.split("[")[0] for line in lines) == tree.size - 1


def test_a_value_cannot_steer_a_terminal_or_break_out_of_the_drawing() -> None:
    schema = Schema((Attribute("bob", 'a"\\', ("0",)),), Attribute("", "c", ("\x1b[2J", "\u202e")), ())
    tree = Tree(schema, Leaf((1.25, 0), 0))
    assert list(tree_lines(tree))[1] == r"→ \x1b[2J [1.2 0]"
    assert 'label="\\\\x1b[2J\\n1.2 0"' in to_dot(tree)
    assert printable("\u202ea\n") == r"\u202ea\n"


def test_a_long_chain_is_no_trouble() -> None:
    assert len(list(tree_lines(chain(1500)))) == 3002
    assert to_dot(chain(1500)).count("shape=box") == 1501


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_reads_the_drawing() -> None:
    subprocess.run(["dot", "-Tsvg"], input=to_dot(small_model()).encode(), check=True, capture_output=True)


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


def test_a_model_beside_an_earlier_one_is_told_how_predictions_get_it() -> None:
    offered = Path("alice/model.json")
    assert other_model_lines(offered, offered) == []
    (line,) = other_model_lines(Path("alice/model-2.json"), offered)
    assert line == 'Joint predictions use alice/model.json: for this one say [predict] model = "model-2.json"'
