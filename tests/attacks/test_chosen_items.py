"""Attacks on association rules by items that the partner chooses.

Two of them differ by a person, or leave one out; or there are as many as records.

Bob follows the protocol. He knows for whom each count with his items stands, and asks what follows of Alice's item.

An answer about a person shows on which side of the other's split that person is (DESIGN 13).

Bob asks about many people, and says of all of them the one value of his own under which the tree splits on Alice's
column: he never needs to know his own columns of them. Or he asks for one person
again and again, with other columns of his own.
"""

from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from party.node.players import Predicted
from party.records.predictions import PredictionEntries
from protocols.learning.model import Model
from protocols.learning.tree import Leaf, Split, Tree
from protocols.role import run_pair
from protocols.tables import Codes, Expression, Term
from protocols.terms import Method, Reveal, RuleTerms
from protocols.two_party.prediction import Recall
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.offering import AGES as FOUR_AGES
from tests.support.offering import CASE, EXPECTED, SCHEMA, TREE, Offering, assert_not_answered, classes
from tests.support.sessions import contents, of_kind

RULES = RuleTerms(Fraction(1, 8), 2, 10_000, absent=("v0",))
HERS = Term(0, 1)


def case_of(hers: NDArray[np.int64], his: NDArray[np.int64], smallest: int) -> RuleCase:
    codes = np.column_stack([hers, his]).astype(np.uint8)
    sizes = {"alice": (2,), "bob": (2,) * his.shape[1]}
    return RuleCase(sizes, codes, rule_terms(RULES, method=Method.SMC, min_leaf=smallest))


def told_of_her_item(case: RuleCase) -> dict[Term, int]:
    """Return the count of Alice's item with each item of Bob's, as far as both are shown it."""
    _, bob = case.play()
    pairs = (each for each in bob.itemsets.kept if len(each.terms) == 2 and HERS in each.terms)
    return {each.terms[1]: int(each.count) for each in pairs}


def has(codes: Codes, term: Term) -> NDArray[np.bool_]:
    return Expression((term,)).satisfied_by(codes)


def test_items_that_differ_by_one_person_read_her_item_and_one_of_them_is_not_used() -> None:
    generator = np.random.default_rng(3)
    hers = (generator.random(80) < 0.5).astype(np.int64)
    first = (generator.random(80) < 0.5).astype(np.int64)
    for person in range(3):
        with_person, without = first.copy(), first.copy()
        with_person[person], without[person] = 1, 0
        his = np.column_stack([with_person, without])
        unlimited = told_of_her_item(case_of(hers, his, 1))
        assert unlimited[Term(1, 1)] - unlimited[Term(2, 1)] == hers[person]
        limited = told_of_her_item(case_of(hers, his, 5))
        assert set(limited) == {Term(1, 1)}


def leaving_out(person: int, people: int, parts: int) -> NDArray[np.int64]:
    """Return this many items, of which each other person has one."""
    order = np.random.default_rng(person).permutation([i for i in range(people) if i != person])
    his = np.zeros((people, parts), dtype=np.int64)
    for item, having in enumerate(np.array_split(order, parts)):
        his[having, item] = 1
    return his


def told_of_the_person(case: RuleCase) -> int | None:
    """Return what all counts of her item, less those with each of his, leave; None where one was not shown."""
    told = told_of_her_item(case)
    if len(told) < len(case.sizes["bob"]):
        return None
    return int(case.codes[:, 0].sum()) - sum(told.values())


def test_two_items_that_leave_one_person_out_read_her_item_and_one_of_them_is_not_used() -> None:
    hers = (np.random.default_rng(3).random(80) < 0.5).astype(np.int64)
    for person in range(3):
        his = leaving_out(person, 80, 2)
        assert told_of_the_person(case_of(hers, his, 1)) == hers[person]
        assert told_of_the_person(case_of(hers, his, 5)) is None


def test_three_items_that_leave_one_person_out_still_read_her_item() -> None:
    hers = (np.random.default_rng(3).random(192) < 0.5).astype(np.int64)
    for person in range(3):
        assert told_of_the_person(case_of(hers, leaving_out(person, 192, 3), 5)) == hers[person]


def test_a_partner_that_brings_another_table_to_the_same_run_reads_her_item() -> None:
    """Bob brings the same run once more, under the same commitment, with one person out of his item."""
    generator = np.random.default_rng(3)
    hers, his = (generator.random((80, 1)) < 0.6).astype(np.int64)[:, 0], np.ones((80, 1), dtype=np.int64)
    his[:20] = 0
    person = 30
    other = his.copy()
    other[person] = 0
    first, second = case_of(hers, his, 5), case_of(hers, other, 5)
    before = told_of_her_item(first)[Term(1, 1)]
    _, bob = run_pair(first.role("alice"), second.role("bob"))
    (again,) = (int(each.count) for each in bob.itemsets.kept if len(each.terms) == 2)
    assert before - again == hers[person] == 1


def test_as_many_items_as_people_read_who_has_hers_and_ten_items_read_nobody() -> None:
    generator = np.random.default_rng(7)
    people = 48
    hers = (np.arange(people) % 2).astype(np.int64)
    his = (generator.random((people, 72)) < 0.6).astype(np.int64)

    def certain(case: RuleCase) -> tuple[int, int]:
        """Return of how many people it follows whether they have her item, and from how many counts."""
        told = told_of_her_item(case)
        sets = np.array([has(case.codes, term) for term in told] + [np.ones(people)], dtype=np.float64)
        solved, *_ = np.linalg.lstsq(sets, np.array([*told.values(), hers.sum()], dtype=np.float64), rcond=None)
        known = np.abs(np.linalg.pinv(sets) @ sets - np.eye(people)).sum(axis=1) < 1e-6
        assert (np.round(solved[known]) == hers[known]).all()
        return int(known.sum()), len(told)

    every, asked = certain(case_of(hers, his, 5))
    assert (every, asked > people) == (people, True)
    assert certain(case_of(hers, his[:, :10], 5)) == (0, 10)


PEOPLE, LEAST = 40, 10
NEAR = range(14, 28)
"""Steps of the chain at one of which about half of her forty people, who have her item with chance 1/2, are `LEAST`."""


def chain() -> dict[str, NDArray[np.bool_]]:
    """Return items of the first people in turn, and near the threshold those with one person more, or less."""
    first = {f"s{k:02}": np.arange(PEOPLE) < k for k in range(1, PEOPLE + 1)}
    near = {f"s{k:02}x{person:02}": first[f"s{k:02}"] for k in NEAR for person in range(PEOPLE)}
    return first | {name: each ^ (np.arange(PEOPLE) == int(name[-2:])) for name, each in near.items()}


def reaching(
    hers: NDArray[np.int64], his: dict[str, NDArray[np.bool_]], least: int = LEAST, most_sets: int = 10_000
) -> set[str]:
    """Return which of Bob's items at least this many people have who have hers: all that a run over sets opens."""
    columns = np.column_stack([hers, *his.values()]).astype(np.uint8)
    rules = RuleTerms(Fraction(least, PEOPLE), 2, most_sets, absent=("v0",))
    terms = rule_terms(rules, method=Method.SMC, reveal=Reveal.SETS)
    _, bob = RuleCase({"alice": (2,), "bob": (2,) * len(his)}, columns, terms).play()
    names = dict(zip((f"b{at}" for at in range(len(his))), his, strict=True))
    attributes = bob.itemsets.attributes
    return {names[attributes[each.terms[1].column].name] for each in bob.itemsets.kept}


def searched(hers: NDArray[np.int64], his: dict[str, NDArray[np.bool_]]) -> dict[int, bool]:
    """Return of whom Bob reads whether they have her item, by what of his items and hers is frequent.

    The first step of the chain that is frequent has `LEAST` of her people, the one before one less: so its own person
    has her item, one who added to the step before makes it frequent has, and one who left out of this one does not.
    """
    frequent = reaching(hers, his)
    step = min((k for k in range(1, PEOPLE + 1) if f"s{k:02}" in frequent), default=0)
    if f"s{step - 1:02}" not in his:
        return {}
    known = {step - 1: True}
    for person in range(PEOPLE):
        above, below = f"s{step - 1:02}x{person:02}", f"s{step:02}x{person:02}"
        if person >= step and above in his:
            known[person] = above in frequent
        elif person < step and below in his:
            known[person] = below not in frequent
    return known


def test_a_chain_of_own_items_reads_everybody_of_sets_alone_and_ten_items_nobody() -> None:
    """No count is shown, and each answer is a bit; a guess of the commonest is right of half of the people.

    Ten items are every fourth step: one of these is the first that is frequent, too, and four people stay in doubt.
    """
    hers = np.random.default_rng(4).permutation(np.arange(PEOPLE) % 2).astype(np.int64)
    known = searched(hers, chain())
    assert len(known) == PEOPLE
    assert all(hers[person] == has for person, has in known.items())
    assert np.bincount(hers).max() == PEOPLE / 2
    steps = {name: each for name, each in chain().items() if len(name) == 3}
    assert len(searched(hers, steps)) == 1
    assert searched(hers, {name: each for name, each in steps.items() if int(name[1:]) % 4 == 0}) == {}


def test_a_threshold_that_is_bisected_over_runs_reads_everybody_beside_one_item_and_one_run_mostly_nobody() -> None:
    """Bob has an item of 20 people, and 19 items of one person more: he bisects how many of the 20 have hers.

    Six runs, of 120 answers, read 19 people; four sets a run let three be asked about. One run alone reads them where
    its threshold is next to the count by chance: in a sixth of all tables.
    """
    order = np.random.default_rng(5).permutation(PEOPLE)
    base = np.isin(np.arange(PEOPLE), order[:20])
    his = {"base": base} | {f"x{person:02}": base | (np.arange(PEOPLE) == person) for person in order[20:39]}
    hers = np.random.default_rng(4).permutation(np.arange(PEOPLE) % 2).astype(np.int64)

    def read(most_sets: int) -> tuple[dict[int, bool], int]:
        low, high, runs = 0, 21, 1
        while high - low > 1:
            middle, runs = (low + high) // 2, runs + 1
            low, high = (middle, high) if "base" in reaching(hers, his, middle, most_sets) else (low, middle)
        found = reaching(hers, his, low + 1, most_sets)
        return {int(name[1:]): name in found for name in list(his)[1:most_sets]}, runs

    for most_sets, people in ((20, 19), (4, 3)):
        known, runs = read(most_sets)
        assert len(known) == people
        assert all(hers[person] == has for person, has in known.items())
        assert runs <= 6
    assert hers[base].sum() != 9
    assert reaching(hers, his, 10) in (set(), set(his))
    lucky = [np.random.default_rng(seed).permutation(np.arange(PEOPLE) % 2)[base].sum() == 9 for seed in range(400)]
    assert 0.1 < np.mean(lucky) < 0.25


PREDICTED_PEOPLE = 400
AGES = dict(
    zip(
        (f"n{number:03}" for number in range(PREDICTED_PEOPLE)),
        np.where(np.random.default_rng(6).random(PREDICTED_PEOPLE) < 0.32, "old", "young").tolist(),
        strict=True,
    )
)
TELLING = Tree(SCHEMA, Split((9, 6), 1, (Split((5, 3), 0, (Leaf((4, 0), 0), Leaf((1, 3), 1))), *[Leaf((2, 1), 0)] * 2)))
"""Splits on Alice's age where Bob's city is Oslo."""
TRAINED = [f"r{number}" for number in range(len(CASE.codes))]


def asking(folder: Path, agree: str, people: dict[str, str]) -> Offering:
    """Return two folders in which Bob says of everybody that the city is Oslo."""
    models: dict[str, Model] = {"alice": TELLING, "bob": TELLING}
    return Offering(folder, agree, dict(people), dict.fromkeys(people, "Oslo"), models)


def test_one_value_of_ones_own_reads_the_other_sides_column_of_everybody_where_the_owner_allows_it(
    tmp_path: Path,
) -> None:
    told = asking(tmp_path, f"most_predictions = {PREDICTED_PEOPLE}", AGES).learned()
    read = {person: "old" if label == "no" else "young" for person, label in told.items()}
    assert sum(read[person] == age for person, age in AGES.items()) == PREDICTED_PEOPLE
    assert max(list(AGES.values()).count(age) for age in ("old", "young")) == 271  # by guessing the commonest


@pytest.mark.parametrize("agree", ["most_predictions = 0", 'epsilon = "1"\nmost_predictions = "any"'])
def test_nobody_is_answered_for_where_the_owner_has_not_allowed_it_or_keeps_an_epsilon(
    tmp_path: Path, agree: str
) -> None:
    pair = asking(tmp_path, agree, AGES)
    assert_not_answered(pair.play(), "predictions")
    assert of_kind(contents(pair.sessions, "alice"), "prediction") == []


def test_who_was_trained_on_is_answered_for_by_nobody_and_the_refusal_names_nobody(tmp_path: Path) -> None:
    pair = asking(tmp_path, 'most_predictions = "any"', AGES | dict.fromkeys(TRAINED[:3], "old"))
    ends = pair.play()
    assert_not_answered(ends, "trained on")
    assert "3 of the 403 rows are of people who were trained on" in str(ends[0])
    assert not any(person in str(end) for end in ends for person in (*TRAINED[:3], "n000"))
    assert of_kind(contents(pair.sessions, "alice"), "prediction") == []
    for person in TRAINED[:3]:
        del pair.ages[person], pair.cities[person]
    assert len(pair.learned()) == PREDICTED_PEOPLE


def test_where_it_cannot_be_said_who_was_trained_on_nobody_is_answered_for(tmp_path: Path) -> None:
    """Another table, or a model of no run: people of the one that made it would pass for others."""
    pair = asking(tmp_path, 'most_predictions = "any"', AGES)
    pair.models = {party: Tree(SCHEMA, TELLING.root.children[0]) for party in pair.models}  # type: ignore[union-attr]
    ends = pair.play()
    assert_not_answered(ends, "model")
    assert "nobody can say who was trained on" in str(ends[0])


def test_who_only_answers_to_itself_needs_no_leave(tmp_path: Path) -> None:
    """The bound is that of the side that answers."""
    pair = asking(tmp_path, 'most_predictions = "any"', AGES)
    settings = tmp_path / "bob" / "party.toml"
    settings.write_text(settings.read_text().replace('most_predictions = "any"', "most_predictions = 0"))
    _, bob = pair.play()
    assert isinstance(bob, Predicted)
    assert len(classes(bob)) == PREDICTED_PEOPLE


@pytest.fixture
def _forgetful_bob(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Bob's node answer nothing from memory."""
    recall = PredictionEntries.recall

    def forgetting(pages: PredictionEntries, people: object) -> Recall:
        found = recall(pages, people)  # type: ignore[arg-type]
        return Recall({}, found.judge) if pages.local.party == "bob" else found

    monkeypatch.setattr(PredictionEntries, "recall", forgetting)


@pytest.mark.usefixtures("_forgetful_bob")
def test_answers_about_one_person_and_several_rows_of_the_receiver_read_the_other_sides_columns_and_are_refused(
    tmp_path: Path,
) -> None:
    """Asked with each of his cities, a person's ages are shown: where Oslo's answers differ, only age decides."""
    (tmp_path / "open").mkdir()
    pair = Offering(tmp_path / "open")
    with patch.object(PredictionEntries, "_judge", lambda pages, asked: None):
        pair.learned()
        pair.cities = dict.fromkeys(pair.cities, "Oslo")
        read = {person: "old" if answer == "no" else "young" for person, answer in pair.learned().items()}
    assert read == FOUR_AGES
    (tmp_path / "guarded").mkdir()
    pair = Offering(tmp_path / "guarded")
    pair.learned()
    pair.cities = dict.fromkeys(pair.cities, "Oslo")
    ends = pair.play()
    assert_not_answered(ends, "people")
    assert "2 of the 4 rows are of people for whom we have answered by this model before" in str(ends[0])


@pytest.mark.usefixtures("_forgetful_bob")
def test_a_receiver_that_was_cut_off_may_ask_the_same_again_and_the_answerer_may_bring_no_other_row(
    tmp_path: Path,
) -> None:
    pair = Offering(tmp_path)
    assert pair.learned() == pair.learned() == EXPECTED
    assert [len(people) for people in pair.dealings("alice").told.answers.values()] == [4]
    pair.ages["p1"] = "young"
    assert_not_answered(pair.play(), "people")


@pytest.mark.usefixtures("_forgetful_bob")
def test_shares_of_classes_are_sent_for_the_same_rows_only(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "probabilities = true")
    assert pair.learned() == pair.learned(probabilities=True) == EXPECTED
    pair.cities["p3"] = "Oslo"
    assert_not_answered(pair.play(probabilities=True), "people")
    assert set(pair.dealings("alice").told.answers) == {(TREE.digest(), shares) for shares in (False, True)}
