from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.demo.survey_example import write_example
from party.models.tree_file import tree_from_json, tree_json
from party.show.mining import mined_json, mined_lines
from party.survey import disguise_table, load_survey, read_design
from party.survey.mining import CONFIDENCE, hold_out, mine_bayes, mine_tree
from party.survey.signal import check_signal
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomness import public_order
from protocols.survey.mining import estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree, split_doubts
from protocols.survey.responses import Responses, survey_schema
from tests.party.survey.files import RELATED, UNRELATED, rows, write_design, write_rows

RECORDS = 400
FIFTH = Fraction(1, 5)
NONE = Fraction(0)


def survey(folder: Path, text: str = RELATED) -> Responses:
    questionnaire = read_design(write_design(folder, text))
    disguise_table(write_rows(folder, rows(RECORDS)), questionnaire, folder / "coins").write(folder / "d.csv")
    return load_survey(folder / "d.csv", questionnaire)


def test_parts_are_disjoint_and_follow_the_seed(tmp_path: Path) -> None:
    every = survey(tmp_path)
    parts = hold_out(every, FIFTH, 7, prune=True)
    order = np.array(public_order(7, RECORDS))
    assert parts.test is not None
    assert parts.pruning is not None
    assert np.array_equal(parts.test.codes, every.codes[np.sort(order[:80])])
    assert np.array_equal(parts.pruning.codes, every.codes[np.sort(order[80:160])])
    assert np.array_equal(parts.train.codes, every.codes[np.sort(order[160:])])
    every = survey(tmp_path)
    parts = hold_out(every, NONE, 7, prune=False)
    assert np.array_equal(parts.train.codes, every.codes)
    assert (parts.test, parts.pruning) == (None, None)
    assert mine_tree(parts).accuracy is None


@pytest.mark.parametrize(
    ("records", "test", "prune", "problem"),
    [
        (4, FIFTH, False, "4 records are too few to hold out 1/5 for testing"),
        (4, NONE, True, "4 records are too few"),
        (1, NONE, True, "1 records are too few"),
        (10, Fraction(4, 5), True, "10 records are too few to hold out 4/5 for testing and 1/5 for pruning"),
        (10, Fraction(1), False, "test must be 0 or more and below 1"),
        (10, Fraction(-1, 5), False, "test must be 0 or more and below 1"),
    ],
)
def test_a_part_without_records_is_refused(
    tmp_path: Path, records: int, test: Fraction, prune: bool, problem: str
) -> None:
    every = survey(tmp_path)
    few = Responses(every.schema, every.codes[:records], every.design)
    with pytest.raises(InputError, match=problem):
        hold_out(few, test, 0, prune)


@pytest.mark.parametrize(
    ("theta", "refused"), [(Fraction(528, 1000), True), (Fraction(529, 1000), False), (Fraction(471, 1000), False)]
)
def test_counts_that_are_noise_are_refused(theta: Fraction, *, refused: bool) -> None:
    """By hand: `sqrt(300 theta (1 - theta))/|2 theta - 1|` is 150 at theta = 0.5288 and 0.4712."""
    schema = survey_schema(["a", "c"], [("x", "y"), ("x", "y")])
    made = Responses(schema, np.zeros((300, 2), dtype=np.uint8), RelatedDesign((2, 2), ((1,),), theta))
    if refused:
        with pytest.raises(InputError, match=r"hides column 'c' from so few answers: with 300 .* may be 154\.4"):
            check_signal(made)
    else:
        check_signal(made)


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_a_tree_is_grown_pruned_tested_and_doubted_on_its_own_parts(tmp_path: Path, text: str) -> None:
    parts = hold_out(survey(tmp_path, text), FIFTH, 1, prune=True)
    assert parts.test is not None
    assert parts.pruning is not None
    mined = mine_tree(parts)
    tree = prune_tree(grow_tree(parts.train), parts.pruning)
    assert mined.model == tree
    assert mined.accuracy == estimate_accuracy(tree, parts.test)
    doubts = split_doubts(tree, parts.train)
    assert mined.splits == len(doubts) == sum(isinstance(node, Split) for _, node in tree.walk())
    assert mined.doubtful == {path for path, doubt in doubts.items() if not doubt.is_clear(CONFIDENCE)}
    assert isinstance(mined.model, Tree)
    assert tree_json(tree_from_json(tree_json(mined.model))) == tree_json(mined.model)


def test_pruning_leaves_no_split_whose_leaves_all_say_one_class(tmp_path: Path) -> None:
    data, design_path = write_example(tmp_path / "survey")
    questionnaire = read_design(design_path)
    disguise_table(data, questionnaire, tmp_path / "coins").write(tmp_path / "d.csv")
    every = load_survey(tmp_path / "d.csv", questionnaire)
    sizes = set()
    for seed in range(6):
        tree = mine_tree(hold_out(every, FIFTH, seed, prune=True)).model
        assert isinstance(tree, Tree)
        said = {path: {node.label} for path, node in tree.walk() if isinstance(node, Leaf)}
        for path, node in sorted(tree.walk(), key=lambda pair: -len(pair[0].terms)):
            if isinstance(node, Split):
                said[path] = set().union(*(said[path.child(node.attribute, v)] for v in range(len(node.children))))
                assert len(said[path]) > 1
        sizes.add(tree.size)
    assert max(sizes) > 1  # some split is left to look at


ILL = """
theta = "3/5"
class = "ill"
plain = ["ill"]
[columns.a]
values = ["x", "y", "z"]
[columns.b]
values = ["x", "y", "z"]
[columns.ill]
values = ["yes", "no"]
[groups]
g1 = ["a"]
g2 = ["b"]
"""


def test_a_plain_class_is_the_prior_and_the_root_as_it_was_counted(tmp_path: Path) -> None:
    """6 of 60 are ill, and nothing else is known: the prior is 1/10 whatever the disguised columns say."""
    questionnaire = read_design(write_design(tmp_path, ILL))
    lines = [f"{'xyz'[i * i % 3]},{'xyz'[i // 2 % 3]},{'yes' if i < 6 else 'no'}" for i in range(60)]
    every = load_survey(write_rows(tmp_path, lines, header="a,b,ill"), questionnaire)
    parts = hold_out(every, NONE, 0, prune=False)
    bayes, tree = mine_bayes(parts, 0.0).model, mine_tree(parts).model
    assert not isinstance(bayes, Tree)
    assert np.exp(bayes.prior) == pytest.approx([0.1, 0.9], rel=1e-12)
    assert isinstance(tree, Tree)
    assert tree.root.counts == (6.0, 54.0)


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_naive_bayes_is_learned_from_its_part_and_tested_as_it_is_written(tmp_path: Path, text: str) -> None:
    parts = hold_out(survey(tmp_path, text), FIFTH, 1, prune=False)
    assert parts.test is not None
    mined = mine_bayes(parts, 1.0)
    learned = learn_naive_bayes(parts.train, 1.0)
    assert not isinstance(mined.model, Tree)
    np.testing.assert_allclose(mined.model.prior, learned.prior, rtol=1e-10)
    for ours, theirs in zip(mined.model.conditional, learned.conditional, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)
    assert mined.accuracy == estimate_accuracy(mined.model, parts.test)
    assert (mined.doubtful, mined.splits) == (frozenset(), 0)


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_beside_an_accuracy_stands_that_of_the_commonest_class(tmp_path: Path, text: str) -> None:
    parts = hold_out(survey(tmp_path, text), FIFTH, 0, False)
    assert parts.test is not None
    expected = estimate_accuracy(Tree(parts.train.schema, Leaf((0.0, 1.0), 1)), parts.test)
    for mined in (mine_tree(parts), mine_bayes(parts, 1.0)):
        assert mined.guess == expected  # two thirds do not smoke
        lead = mined.accuracy.share - expected.share if mined.accuracy else 0
        assert mined.beats_guessing is (mined.accuracy is not None and lead > mined.accuracy.standard_error)
        line = "Within its error, the model is no better than always guessing the commonest class."
        assert (
            line in mined_lines(mined, parts, read_design(tmp_path / "design.toml"), None)
        ) is not mined.beats_guessing
        assert mined_json(mined, parts, None)["beats_guessing"] is mined.beats_guessing
