"""Questions of a new survey: which texts and columns make one, and that no file is put in the place of another."""

from pathlib import Path

import pytest

from party.data import read_frame
from party.data.bins import SMALLEST_VALUE
from party.errors import DataError
from party.settings.survey import read_design
from party.survey.table import read_codes
from party.survey.web.drafts import (
    DESIGN_FILE_NAME,
    SETTINGS_FILE,
    pilot_of,
    questions_of_table,
    typed_question,
    write_survey,
)
from protocols.errors import InputError
from protocols.privacy.loss import column_odds
from protocols.tables import NO_ANSWER


@pytest.mark.parametrize(
    "text", ["yes, no", " = yes, no", "Do you smoke? = yes", "Do you smoke?", "Smoke? = yes,, no", "Smoke? = yes, yes"]
)
def test_a_typed_question_has_a_text_and_two_answers_or_more_each_once(text: str) -> None:
    assert typed_question("1 + 1 = 2? = yes, no", 3).values == ("yes", "no")
    with pytest.raises(InputError, match="question 3 must be a text, = and two answers or more"):
        typed_question(text, 3)


@pytest.mark.parametrize("cells", [[f"town {k}" for k in range(13)], ["?"], ["7", *(f"{k}th" for k in range(12))]])
def test_a_column_of_many_texts_or_of_nothing_makes_no_question(tmp_path: Path, cells: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,x", *(f"{k},{cell}" for k, cell in enumerate(cells))]) + "\n")
    with pytest.raises(DataError, match="column 'x': it has"):
        questions_of_table(read_frame(path), ["x"])


def test_answers_of_a_question_show_no_number_of_the_pilots_people_to_those_who_are_asked(tmp_path: Path) -> None:
    """The quartiles themselves are each one person's number."""
    path = tmp_path / "t.csv"
    numbers = [100_003 + 17 * k for k in range(200)]
    path.write_text("\n".join(["id,x", *(f"{k},{number}" for k, number in enumerate(numbers))]) + "\n")
    (question,) = questions_of_table(read_frame(path), ["x"])
    edges = [int(edge) for edge in question.edges]
    quartiles = [numbers[50], numbers[100], numbers[150]]
    assert len(edges) == 3
    assert not {*edges} & {*numbers}
    assert all(abs(edge - quartile) < 17 * SMALLEST_VALUE + 17 for edge, quartile in zip(edges, quartiles, strict=True))


@pytest.mark.parametrize(
    ("kind", "theta", "odds"),
    [("related", "2/3", 2), ("related", "0.8", 4), ("unrelated", "1/3", 2), ("unrelated", "1/2", 3)],
)
def test_each_question_of_a_new_survey_has_its_coin_and_any_number_of_answers_the_odds_of_two(
    tmp_path: Path, kind: str, theta: str, odds: int
) -> None:
    questions = [typed_question("Smoke? = yes, no", 1), typed_question("How often? = never, monthly, weekly, daily", 2)]
    write_survey(tmp_path, "Habits", questions, kind, theta)
    design = read_design(tmp_path / DESIGN_FILE_NAME).design
    assert design.groups == ((0,), (1,))
    assert [column_odds(design, column).strength for column in (0, 1)] == [odds, odds]


@pytest.mark.parametrize("there", [SETTINGS_FILE, DESIGN_FILE_NAME])
def test_a_new_survey_is_never_written_over_what_is_there(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(InputError, match=f"{there} exists and is kept"):
        write_survey(tmp_path, "Habits", [typed_question("Smoke? = yes, no", 1)], "related", "4/5")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


def test_a_text_that_few_of_a_pilot_gave_is_named_to_nobody(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cells = ["yes"] * 30 + ["no"] * 20 + ["only with Ms Q"] * 2 + ["?"]
    path.write_text("\n".join(["id,x", *(f"{k},{cell}" for k, cell in enumerate(cells))]) + "\n")
    frame = read_frame(path)
    questions = questions_of_table(frame, ["x"])
    assert [question.values for question in questions] == [("no", "yes", "other")]
    write_survey(tmp_path / "new", "Habits", questions, "related", "2/3")
    assert "Ms Q" not in "".join(file.read_text() for file in (tmp_path / "new").iterdir())
    codes = read_codes(pilot_of(frame, questions), read_design(tmp_path / "new" / DESIGN_FILE_NAME))
    assert codes.ravel().tolist() == [1] * 30 + [0] * 20 + [2] * 2 + [NO_ANSWER]
    path = tmp_path / "t.csv"
    path.write_text("id,x\n1,yes\n2,no\n3,no\n")
    with pytest.raises(DataError, match=r"column 'x': fewer than 10 rows hold each value: name the answers yourself"):
        questions_of_table(read_frame(path), ["x"])
