"""`survey.toml`: every key is checked, and every wrong one named."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.collector import CollectorSettings, read_collector_settings
from party.settings.collector_template import DraftQuestion, draft_design, draft_survey
from tests.support.collecting import PERSONAL, QUESTIONS, RELATED, ROUND_TWO, STATEMENTS, TESTABLE, UNRELATED


def read(folder: Path, text: str, design: str = UNRELATED) -> CollectorSettings:
    (folder / "design.toml").write_text(design)
    (folder / "survey.toml").write_text(text)
    return read_collector_settings(folder / "survey.toml")


def test_a_title_is_enough_and_what_is_given_is_used(tmp_path: Path) -> None:
    settings = read(tmp_path, 'title = "A survey"')
    assert settings.server.address == "http://127.0.0.1:8080/"
    assert settings.store == tmp_path / "answers.sqlite"
    assert [question.text for question in settings.questions] == ["smokes", "income", "sex"]
    assert settings.questions[1].answers == ("low", "middle", "high")
    text = (
        'title = "T"\nlanguage = "de"\nintroduction = "One.\\n\\nTwo."\n[close]\nhalf_width = "1/20"\n'
        '[server]\naddress = "https://x.example"\nproxy = ["10.0.0.1"]\nlisten = "0.0.0.0:80"\n'
        f'[texts]\nsend = "Absenden"\n{QUESTIONS}{PERSONAL}'
    )
    settings = read(tmp_path, text)
    assert settings.introduction == ("One.", "Two.")
    assert settings.server.address == "https://x.example/"
    assert settings.closing.half_width == Fraction(1, 20)
    assert settings.texts["send"] == "Absenden"
    assert settings.questions[0].personal == "Were you born in January to June?"


def test_personal_questions_are_asked_of_all_columns_of_a_group_or_of_none(tmp_path: Path) -> None:
    design = UNRELATED.replace('habits = ["smokes"]\nmoney = ["income"]', 'habits = ["smokes", "income"]')
    with pytest.raises(ConfigError, match="needs a personal question"):
        read(tmp_path, f'title = "T"\n{QUESTIONS}{PERSONAL}', design)
    with pytest.raises(ConfigError, match="only the unrelated question"):
        read(tmp_path, f'title = "T"\n{QUESTIONS}{PERSONAL}', RELATED)


ONE_BLOCK = TESTABLE.replace('class = "smokes"', "")
TWO_BLOCKS = ONE_BLOCK.replace('habits = ["smokes", "drinks"]', 'habits = ["smokes"]\nevenings = ["drinks"]')


@pytest.mark.parametrize("design", [ONE_BLOCK, TWO_BLOCKS, STATEMENTS], ids=["one group", "two groups", "statements"])
@pytest.mark.parametrize("again", ["Born in June?", "born  in\\tJune? "])
def test_the_same_personal_question_twice_is_refused(tmp_path: Path, design: str, again: str) -> None:
    """Its answers would be equal, which estimates of both columns together take as independent."""

    def asked(second: str) -> str:
        return (
            f'title = "T"\n[questions.smokes]\npersonal = "Born in June?"\n[questions.drinks]\npersonal = "{second}"\n'
        )

    with pytest.raises(
        ConfigError, match=r"\[questions.drinks\] personal: is asked with 'smokes' too, .*: ask another"
    ):
        read(tmp_path, asked(again), design)
    assert read(tmp_path, asked("Born in July?"), design).questions[1].personal == "Born in July?"


def test_the_same_personal_question_twice_is_fine_where_the_design_says_how_its_answers_go_together(
    tmp_path: Path,
) -> None:
    joint = '{ columns = ["smokes", "drinks"], joint = ["1/2", "0", "0", "1/2"] }'
    design = ONE_BLOCK.replace('personal = "uniform"', "").replace('["smokes", "drinks"]', joint)
    again = (
        'title = "T"\n[questions.smokes]\npersonal = "Born in June?"\n[questions.drinks]\npersonal = "Born in June?"'
    )
    assert {question.personal for question in read(tmp_path, again, design).questions} == {"Born in June?"}
    with pytest.raises(ConfigError, match=r"smokes: needs a personal question: the design has joint for it"):
        read(tmp_path, 'title = "T"', design)


def test_a_new_survey_proposes_another_personal_question_for_every_column(tmp_path: Path) -> None:
    columns = [DraftQuestion(f"q{number}", "?", ("yes", "no")) for number in range(20)]
    proposed = draft_survey("T", columns).replace("# personal", "personal")
    settings = read(tmp_path, proposed, draft_design(columns, "unrelated", "1/2"))
    assert len({question.personal for question in settings.questions}) == 20


NOT_TESTABLE = {
    "no class": (TESTABLE.replace('class = "smokes"', ""), ROUND_TWO, "needs a class"),
    "drawn by the page": (TESTABLE, "[round_two]", "has a personal question: set class in the design, and personal"),
    "no class, of two groups": (UNRELATED, QUESTIONS + PERSONAL + "[round_two]", "needs a class"),
    "alone": (f'class = "smokes"\n{UNRELATED}', QUESTIONS + PERSONAL + "[round_two]", "other columns in the class's"),
    "a coin that tells nothing": (TESTABLE, ROUND_TWO.replace("3/4", "1/2"), "[round_two] truth: must be above 1/2"),
    "closing by answers": (TESTABLE, f'{ROUND_TWO}\n[close]\nhalf_width = "1/20"', "needs links that last"),
}


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="personal: is missing: the harmless statement"):
        read(tmp_path, 'title = "T"', STATEMENTS)
    for design, questions, problem in NOT_TESTABLE.values():
        with pytest.raises(ConfigError, match=re.escape(problem)):
            read(tmp_path, f'title = "T"\n{questions}', design)
