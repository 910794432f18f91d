import json
import re
from fractions import Fraction
from math import ceil
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from party.cli import main as cli
from party.demo.survey_example import write_example
from party.models.tree_file import tree_from_json, tree_json
from party.show.mining import finding_lines, mined_json, mined_lines
from party.survey import Questionnaire, disguise_table, load_survey, read_codes, read_design
from party.survey.estimation import (
    EstimateOptions,
    estimate_expression,
    estimated_priors,
    expression_text,
    parse_expression,
)
from party.survey.mining import CONFIDENCE, hold_out, mine_bayes, mine_tree
from party.survey.table import check_signal
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.likelihood import most_likely
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomness import public_order
from protocols.survey.mining import estimate_accuracy, grow_tree, learn_naive_bayes, prune_tree, split_doubts
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import ROOT, Codes, Expression, Term
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, told, write_design, write_rows
from tests.support.examples import few

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


def test_a_part_without_records_is_refused(tmp_path: Path) -> None:
    for records, test, prune, problem in [
        (4, FIFTH, False, "4 records are too few to hold out 1/5 for testing"),
        (4, NONE, True, "4 records are too few"),
        (1, NONE, True, "1 records are too few"),
        (10, Fraction(4, 5), True, "10 records are too few to hold out 4/5 for testing and 1/5 for pruning"),
        (10, Fraction(1), False, "test must be 0 or more and below 1"),
        (10, Fraction(-1, 5), False, "test must be 0 or more and below 1"),
    ]:
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


@pytest.mark.parametrize("text", few([RELATED, UNRELATED], 2))
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
    for seed in range(2):
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


@pytest.mark.parametrize("text", few([RELATED, UNRELATED], 2))
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


@pytest.mark.parametrize("text", few([RELATED, UNRELATED], 2))
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


def disguised(folder: Path, text: str) -> tuple[Questionnaire, Codes]:
    questionnaire = read_design(write_design(folder, text))
    disguise_table(write_rows(folder, rows(RECORDS)), questionnaire, folder / "coins").write(folder / "d.csv")
    return questionnaire, read_codes(folder / "d.csv", questionnaire)


@pytest.mark.parametrize("text", few([RELATED, UNRELATED], 2))
def test_a_finding_is_what_the_estimators_say(tmp_path: Path, text: str) -> None:
    design, codes = disguised(tmp_path, text)
    expression = parse_expression("smoker = yes and drinks = often", design)
    found = estimate_expression(codes, expression, design, EstimateOptions(0.9, likelihood=True))
    estimate = estimate_count(codes, expression, design.design)
    assert found.estimate == estimate
    assert found.interval == estimate.interval(0.9)
    assert found.likely is not None
    assert np.array_equal(found.likely.shares, most_likely(codes, [3, 2], design.design).shares)
    assert dict(found.cells(found.likely))["yes", "often"] == found.likely.shares[0, 1]
    content = found.to_json()
    assert content["expression"] == "smoker = yes and drinks = often"
    assert content["count"] == float(estimate.count)


def test_what_was_not_asked_for_is_not_shown(tmp_path: Path) -> None:
    design, codes = disguised(tmp_path, RELATED)
    found = estimate_expression(codes, parse_expression("smoker = yes", design), design, EstimateOptions())
    assert set(found.to_json()) == {"expression", "answers", "count", "count_error", "share", "share_error", "interval"}
    text = "\n".join(finding_lines(found, EstimateOptions()))
    assert "95% interval" in text
    assert "likely" not in text


def test_estimates_are_shown_as_they_are_below_0_too(tmp_path: Path) -> None:
    questionnaire = read_design(write_design(tmp_path))
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 2, 1]], dtype=np.uint8)
    found = estimate_expression(
        codes, parse_expression("smoker = yes", questionnaire), questionnaire, EstimateOptions()
    )
    assert found.estimate.count < 0
    low, high = found.interval
    assert low < 0
    assert found.to_json()["count"] == float(found.estimate.count)
    assert f"interval {low:.4f} to {high:.4f}" in "\n".join(finding_lines(found, EstimateOptions()))


@pytest.mark.parametrize("text", few([RELATED, UNRELATED], 2))
def test_priors_are_exact_distributions_projected_from_the_estimates(tmp_path: Path, text: str) -> None:
    design, codes = disguised(tmp_path, text)
    few = codes[:3]
    for chosen in (codes, few):
        priors = estimated_priors(chosen, design)
        for column, prior in enumerate(priors):
            assert prior is not None
            counts = [
                estimate_count(chosen, ROOT.child(column, value), design.design).count for value in range(len(prior))
            ]
            assert sum(prior) == 1
            assert sum(counts) == len(chosen)
            positive = sum((count for count in counts if count > 0), Fraction(0))
            assert prior == tuple(max(count, Fraction(0)) / positive for count in counts)
    assert any(0 in prior for prior in estimated_priors(few, design) if prior is not None)


@pytest.fixture(scope="module")
def questionnaire(tmp_path_factory: pytest.TempPathFactory) -> Questionnaire:
    text = swap(RELATED, '["f", "m"]', r"""["f", "m", "and", "it's", 'a "b"', "it's \"b\"", "\"", "''"]""")
    return read_design(write_design(tmp_path_factory.mktemp("design"), text))


def test_a_text_stands_for_its_terms(questionnaire: Questionnaire) -> None:
    for text, terms in [
        ("smoker = yes", [(3, 0)]),
        ("smoker=no", [(3, 1)]),
        ("  smoker =  'yes'  ", [(3, 0)]),
        ('smoker = yes and age = "> 60"', [(3, 0), (1, 2)]),
        ("drinks = 'now and then' and smoker = no and sex = f", [(2, 2), (3, 1), (0, 0)]),
        ('"smoker"="yes"', [(3, 0)]),
        ("sex = and and smoker = no", [(0, 2), (3, 1)]),
        ("sex = and", [(0, 2)]),
        ('sex = "it\'s"', [(0, 3)]),
        ("sex = 'a \"b\"'", [(0, 4)]),
        ('sex = "a ""b"""', [(0, 4)]),
        ("sex = 'it''s'", [(0, 3)]),
        ('sex = "it\'s ""b"""', [(0, 5)]),
        ("sex = 'it''s \"b\"' and smoker = yes", [(0, 5), (3, 0)]),
        ('sex = """"', [(0, 6)]),
        ("sex = \"''\"", [(0, 7)]),
        ("sex = ''''''", [(0, 7)]),
    ]:
        found = parse_expression(text, questionnaire)
        assert found == Expression(tuple(Term(column, value) for column, value in terms))
        assert parse_expression(expression_text(found, questionnaire), questionnaire) == found


def test_what_is_no_expression_is_refused_with_a_way_out(questionnaire: Questionnaire) -> None:
    for text, problem in [
        ("", "is no expression: write it as in: smoker = yes"),
        ("smoker", "is no expression"),
        ("smoker = ", "is no expression"),
        ("smoker = yes or sex = f", r'age = "> 40"; only "and" is known$'),
        ("= yes", "is no expression"),
        ("smoker = yes and", "is no expression"),
        ("smoker = yes and ", "is no expression"),
        ("and smoker = yes", "is no expression"),
        ("smoker = yes age = x", "is no expression"),
        ("smoker == yes", "is no expression"),
        ('smoker = "yes', "is no expression"),
        ('smoker = "yes""', "is no expression"),
        ('smoker = "yes"" and sex = "f"', "is no expression"),
        ("age = > 60", "is no expression"),
        ('smoker = "yes"and sex = f', "is no expression"),
        ("smokes = yes", "the design has no column 'smokes'; did you mean 'smoker'"),
        ("height = tall", "the design has no column 'height'; known: sex, age, drinks, smoker"),
        ("drinks = ofen", "column 'drinks' has no value 'ofen'; did you mean 'often'"),
        ("smoker = maybe", "column 'smoker' has no value 'maybe'; known: yes, no"),
        ("smoker = yes and smoker = no", "names a column twice"),
    ]:
        with pytest.raises(InputError, match=problem):
            parse_expression(text, questionnaire)


DESIGN = swap(RELATED, 'missing = "refuse"\n', "")


def rows_with_gaps() -> list[str]:
    """Return 100 records; 34 of them say whether they smoke."""
    drinks = ["never", "often", "now and then"]
    smokes = ["yes", "NA", ""]
    return [f"p{i},{20 + 7 * i % 60},{'fm'[i % 2]},{drinks[i % 3]},{smokes[i % 3]}" for i in range(100)]


@pytest.fixture
def gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A folder with a design, data and the disguised copy; what `disguise` said."""
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path, DESIGN)
    write_rows(tmp_path, rows_with_gaps())
    capsys.readouterr()
    assert cli.main(["disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins"]) == 0
    return capsys.readouterr().out


def test_the_copy_shows_who_gave_no_answer_and_it_is_said(gaps: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "smoker: 34 of 100 gave an answer\n" in gaps
    assert "The copy shows in the clear who gave no answer" in gaps
    cells = [line.rsplit(",", 1)[1] for line in Path("d.csv").read_text().splitlines()[1:]]
    assert [cell == "" for cell in cells] == [i % 3 != 0 for i in range(100)]
    assert "A missing answer is seen as missing" in told(capsys, "privacy", "design.toml")


@pytest.mark.usefixtures("gaps")
def test_an_estimate_is_of_those_who_answered(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("estimate", "d.csv", "design.toml", "smoker = yes", "drinks = never")
    text = told(capsys, *asked)
    assert "smoker = yes\n  34 of 100 gave an answer; the figures are of these\n" in text
    assert text.count("gave an answer") == 1
    content = json.loads(told(capsys, *asked, "--json"))
    first, second = content["estimates"]
    assert (first["answers"], second["answers"], content["records"]) == (34, 100, 100)
    assert first["count"] == pytest.approx(34 * first["share"])


@pytest.mark.usefixtures("gaps")
def test_likelihoods_models_and_accuracies_are_of_those_who_answered(capsys: pytest.CaptureFixture[str]) -> None:
    """Gaps in columns that nobody asks about are no fault of the table."""
    text = told(capsys, "estimate", "d.csv", "design.toml", "drinks = never", "smoker = yes", "--likelihood")
    assert "most likely distribution of drinks" in text
    assert "most likely distribution of smoker" in text
    for learner in ("tree", "bayes"):
        assert "smoker: 34 of 100 gave an answer" in told(capsys, "mine", learner, "d.csv", "design.toml")
    text = told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/2")
    found = re.findall(r"(\d+) held-out records are too few.*; (\d+) more lack an answer", text)[0]
    answered, lacking = map(int, found)
    assert answered + lacking == 50
    assert lacking > 20


SIZE_DESIGN = """
theta = "4/5"
class = "smoker"
plain = ["sex"]
[columns.sex]
values = ["f", "m"]
[columns.smoker]
values = ["no", "yes"]
[groups]
only = ["smoker"]
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    path = tmp_path / "design.toml"
    path.write_text(SIZE_DESIGN)
    return str(path)


def warner(share: Fraction, width: Fraction) -> int:
    """Warner 1965: the variance of one answer is P(1 - P) + theta(1 - theta)/(2 theta - 1)^2."""
    variance = share * (1 - share) + Fraction(4, 25) / Fraction(9, 25)
    return ceil(NormalDist().inv_cdf(0.975) ** 2 * float(variance / width**2))


@pytest.mark.parametrize(
    ("options", "share"),
    [((), Fraction(1, 2)), (("--share", "1/2"), Fraction(1, 2)), (("--share", "0.1"), Fraction(1, 10))],
)
def test_one_question_needs_what_warner_says(
    design: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], share: Fraction
) -> None:
    assert cli.main(["size", design, "--expression", "smoker = yes", "--half-width", "1/50", *options]) == 0
    needed = f"{warner(share, Fraction(1, 50))} respondents are enough for +- 0.02 at 95%"
    assert capsys.readouterr().out == f"{needed} for the share of smoker = yes\n"


def test_models_need_every_cell_at_once(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["size", design, "--half-width", "0.02", "--depth", "1"]) == 0
    bayes, tree = capsys.readouterr().out.splitlines()
    assert bayes.endswith("for naive Bayes, all 6 shares that it looks at")
    assert tree.endswith("for a tree of depth 1, all 6 shares that it looks at")
    assert int(bayes.split()[0]) > warner(Fraction(1, 2), Fraction(1, 50))


def test_without_a_class_the_share_of_any_answer_is_planned_for(
    design: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(design).write_text(SIZE_DESIGN.replace('class = "smoker"\n', ""))
    assert cli.main(["size", design, "--half-width", "0.02"]) == 0
    first, next_step = capsys.readouterr().out.splitlines()
    needed = warner(Fraction(1, 2), Fraction(1, 50))
    assert first == f"{needed} respondents are enough for +- 0.02 at 95% for the share of any answer"
    assert next_step.startswith("For several answers together give --expression")
    assert cli.main(["size", design, "--half-width", "0.02", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["enough"]
    assert (told["for"], told["respondents"]) == ("any answer", needed)
