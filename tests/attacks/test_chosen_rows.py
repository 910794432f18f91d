"""A receiver of joint predictions that asks for one person again and again, with other columns of its own."""

from pathlib import Path
from unittest.mock import patch

import pytest

from party.records.predictions import PredictionPages
from protocols.two_party.prediction import Recall
from tests.support.offering import AGES, EXPECTED, TREE, Offering, assert_not_answered


@pytest.fixture(autouse=True)
def _forgetful_bob(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Bob's node answer nothing from memory."""
    recall = PredictionPages.recall

    def forgetting(pages: PredictionPages, people: object) -> Recall:
        found = recall(pages, people)  # type: ignore[arg-type]
        return Recall({}, found.judge) if pages.local.party == "bob" else found

    monkeypatch.setattr(PredictionPages, "recall", forgetting)


def test_answers_about_one_person_and_several_rows_of_the_receiver_read_the_other_sides_columns_and_are_refused(
    tmp_path: Path,
) -> None:
    """Asked with each of his cities, a person's ages are told: where Oslo's answers differ, only age decides."""
    (tmp_path / "open").mkdir()
    pair = Offering(tmp_path / "open")
    with patch.object(PredictionPages, "_judge", lambda pages, asked: None):
        pair.learned()
        pair.cities = dict.fromkeys(pair.cities, "Oslo")
        read = {person: "old" if answer == "no" else "young" for person, answer in pair.learned().items()}
    assert read == AGES
    (tmp_path / "guarded").mkdir()
    pair = Offering(tmp_path / "guarded")
    pair.learned()
    pair.cities = dict.fromkeys(pair.cities, "Oslo")
    ends = pair.play()
    assert_not_answered(ends, "people")
    assert "2 of the 4 rows are of people for whom we have answered by this model before" in str(ends[0])


def test_a_receiver_that_was_cut_off_may_ask_the_same_again_and_the_answerer_may_bring_no_other_row(
    tmp_path: Path,
) -> None:
    pair = Offering(tmp_path)
    assert pair.learned() == pair.learned() == EXPECTED
    assert [len(people) for people in pair.dealings("alice").told.answers.values()] == [4]
    pair.ages["p1"] = "young"
    assert_not_answered(pair.play(), "people")


def test_shares_of_classes_are_told_for_the_same_rows_only(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "probabilities = true")
    assert pair.learned() == pair.learned(probabilities=True) == EXPECTED
    pair.cities["p3"] = "Oslo"
    assert_not_answered(pair.play(probabilities=True), "people")
    assert set(pair.dealings("alice").told.answers) == {(TREE.digest().hex(), shares) for shares in (False, True)}
