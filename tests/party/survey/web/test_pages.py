"""The pages as files: alike for everybody, loading nothing, and exact in what they say of chances."""

import base64
import re
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data import read_frame
from party.data.bins import SMALLEST_VALUE
from party.errors import ConfigError, DataError
from party.settings.collector import read_collector_settings
from party.settings.page_texts import PAGE_TEXTS
from party.settings.survey import read_design
from party.survey.table import read_codes
from party.survey.web.connections import CallLimits
from party.survey.web.description import PageBlock, PageQuestion, blocks_of, page_json, survey_digest, whole_numbers
from party.survey.web.drafts import (
    DESIGN_FILE_NAME,
    SETTINGS_FILE,
    pilot_of,
    questions_of_table,
    typed_question,
    write_survey,
)
from party.survey.web.pages import block_rules, check_by_hand, form_page, main_page
from party.survey.web.store import CODE_BYTES, code_of, spaced, typed_code
from protocols.errors import InputError
from protocols.privacy.loss import column_odds
from protocols.tables import NO_ANSWER
from tests.support.collecting import BESIDE, PERSONAL, QUESTIONS, RELATED, STATEMENTS, UNRELATED, write_survey_files

TITLE = "<script>alert(1)</script>"


@pytest.mark.parametrize("design", [RELATED, UNRELATED], ids=["related", "unrelated"])
def test_the_page_is_the_same_whenever_it_is_made_and_loads_nothing(tmp_path: Path, design: str) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, design))
    page = main_page(settings)
    assert page == main_page(settings)
    text = page.body.decode()
    assert not re.search(r"\b(src|action|ping|formaction)=|@import|url\(|://|\bon\w+=", text)
    assert re.findall(r"<(?:script|link|img|iframe|object|embed)\b[^>]*>", text) == [
        '<script type="application/json" id="survey">', "<script>",
    ]  # fmt: skip


def test_its_policy_lets_its_own_script_and_style_run_and_no_form(tmp_path: Path) -> None:
    page = main_page(read_collector_settings(write_survey_files(tmp_path, UNRELATED)))
    text = page.body.decode()
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (own,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(sha256(own.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in page.policy
    assert "form-action 'none'" in page.policy
    assert "unsafe" not in page.policy


def test_texts_of_the_settings_are_texts_on_the_page(tmp_path: Path) -> None:
    questions = f'[questions.smokes]\ntext = "{TITLE}"\nanswers = ["</script><b>", "<!--"]'
    settings = read_collector_settings(write_survey_files(tmp_path, UNRELATED, questions))
    for page in (main_page(settings), form_page(settings)):
        assert b"alert(1)</script>" not in page.body
        assert b"&lt;script&gt;alert(1)" in page.body


def test_designs_have_digests_and_coins_of_their_own(tmp_path: Path) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, RELATED))
    design = settings.questionnaire.design
    for number, block in enumerate(blocks_of(settings)):
        assert [Fraction(side, sum(block.coin)) for side in block.coin] == list(design.coin_chances(number))
    assert page_json(settings)["columns"] == [2, 2, 3]
    one = read_collector_settings(write_survey_files(tmp_path / "a", UNRELATED))
    words = read_collector_settings(write_survey_files(tmp_path / "b", UNRELATED, QUESTIONS + PERSONAL))
    other = read_collector_settings(
        write_survey_files(tmp_path / "c", UNRELATED.replace('"1/2"\nplain', '"1/3"\nplain'))
    )
    digests = [survey_digest(each.questionnaire) for each in (one, words, other)]
    assert digests[0] == digests[1] != digests[2]


@given(st.integers(1, 59), st.integers(1, 59))
def test_what_is_tossed_by_hand_has_the_chance_of_the_truth(truth: int, lie: int) -> None:
    """By counting the faces that each rule names."""
    coin = whole_numbers([Fraction(truth, truth + lie), Fraction(lie, truth + lie)])
    block = PageBlock("b", "related", coin, (PageQuestion(0, "?", ("a", "b"), False, None, ("a", "b"), ()),), False)
    try:
        check_by_hand(block)
    except ConfigError:
        assert sum(coin) > 60
        return
    device, *rules = block_rules(block, PAGE_TEXTS)
    faces = [_faces(rule.partition(":")[0]) for rule in rules]
    assert Fraction(faces[0], sum(faces)) == Fraction(truth, truth + lie)
    assert str(sum(faces)) in device or sum(faces) in (2, 6)


def _faces(text: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return 1 if len(numbers) < 2 else numbers[1] - numbers[0] + 1


@given(st.binary(min_size=CODE_BYTES, max_size=CODE_BYTES))
def test_a_code_is_read_as_it_is_printed(secret: bytes) -> None:
    code = code_of(secret)
    assert typed_code(code) == typed_code(spaced(code)) == typed_code(f" {spaced(code).lower()} ") == code


@given(st.text(max_size=40))
def test_other_texts_are_no_codes(text: str) -> None:
    code = typed_code(text)
    assert code is None or re.fullmatch("[A-Z2-7]{24}", code)


def test_a_household_has_one_limit_and_the_memory_of_callers_is_bounded() -> None:
    limits = CallLimits(2, lambda: 0.0)
    calls = [limits.allows(f"2001:db8::{number:x}") for number in range(3)]
    assert calls == [True, True, False]
    for number in range(20_001):
        limits.allows(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert limits.allows("2001:db8::1")  # forgotten


def test_two_statements_are_answered_together_and_no_coin_is_tossed(tmp_path: Path) -> None:
    """By the second value of a crosswise column for "alike", of a triangular one for "at least one"."""
    settings = read_collector_settings(write_survey_files(tmp_path, STATEMENTS, BESIDE))
    described = page_json(settings)["blocks"]
    assert described == [
        {"kind": "direct", "coin": ["1"], "questions": [{"column": column, "drawn": []}]} for column in (0, 1)
    ]
    for page in (main_page(settings), form_page(settings)):
        text = page.body.decode()
        values = [re.findall(rf'name="a{column}" value="(\w+)" required> ([^<]+)<', text) for column in (0, 1)]
        assert [[(int(code), answer) for code, answer in each] for each in values] == [
            [(0, "One is true, and the other is not"), (1, "Both are true, or both are not")],
            [(0, "Neither is true"), (1, "At least one is true")],
        ]
        assert "I smoke." in text
        assert "My mother was born in spring." in text
        assert 'name="p0"' not in text


def test_what_cannot_be_answered_by_hand_is_refused(tmp_path: Path) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, RELATED))
    with pytest.raises(ConfigError, match="only the page can do"):
        form_page(settings)
    assert b'href="form"' not in main_page(settings).body
    with pytest.raises(ConfigError, match="the harmless statement"):
        read_collector_settings(write_survey_files(tmp_path, STATEMENTS, ""))


def test_a_forced_answer_is_drawn_or_told(tmp_path: Path) -> None:
    design = STATEMENTS.replace('kind = "crosswise", prevalence = "1/4"', 'kind = "forced", theta = "3/4"')
    design = design.replace('kind = "triangular", prevalence = "1/4"', 'kind = "forced", theta = "3/4"')
    settings = read_collector_settings(
        write_survey_files(
            tmp_path,
            f'{design}\n[forced]\nsmokes = {{ no = "0", yes = "1" }}\ndrinks = {{ no = "1/2", yes = "1/2" }}',
            "",
        )
    )
    drawn = [question.drawn for block in blocks_of(settings) for question in block.questions]
    assert drawn == [(0, 1), (1, 1)]
    text = form_page(settings).body.decode()
    assert "If drawn: tick yes." in text
    assert "If drawn: Toss a coin. Heads: tick no. Tails: tick yes." in text


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
