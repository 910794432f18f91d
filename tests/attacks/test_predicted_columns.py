"""An answer about a person shows on which side of the other's split that person is (DESIGN 13).

Bob asks about many people, and says of all of them the one value of his own under which the tree splits on Alice's
column: he never needs to know his own columns of them. Or he asks for one person
again and again, with other columns of his own.
"""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from party.node.players import Predicted
from party.records.predictions import PredictionEntries
from protocols.learning.naive_bayes import Model
from protocols.learning.tree import Leaf, Split, Tree
from protocols.two_party.prediction import Recall
from tests.support.offering import AGES as FOUR_AGES
from tests.support.offering import CASE, EXPECTED, SCHEMA, TREE, Offering, assert_not_answered, classes
from tests.support.sessions import contents, of_kind

PEOPLE = 400
AGES = dict(
    zip(
        (f"n{number:03}" for number in range(PEOPLE)),
        np.where(np.random.default_rng(6).random(PEOPLE) < 0.32, "old", "young").tolist(),
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
    told = asking(tmp_path, f"most_predictions = {PEOPLE}", AGES).learned()
    read = {person: "old" if label == "no" else "young" for person, label in told.items()}
    assert sum(read[person] == age for person, age in AGES.items()) == PEOPLE
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
    assert len(pair.learned()) == PEOPLE


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
    assert len(classes(bob)) == PEOPLE


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
    """Asked with each of his cities, a person's ages are told: where Oslo's answers differ, only age decides."""
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
def test_shares_of_classes_are_told_for_the_same_rows_only(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "probabilities = true")
    assert pair.learned() == pair.learned(probabilities=True) == EXPECTED
    pair.cities["p3"] = "Oslo"
    assert_not_answered(pair.play(probabilities=True), "people")
    assert set(pair.dealings("alice").told.answers) == {(TREE.digest(), shares) for shares in (False, True)}
