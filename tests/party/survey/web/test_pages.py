"""The pages as files: alike for everybody, loading nothing, and exact in what they say of chances."""

import base64
import re
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.errors import ConfigError
from party.settings.collector import read_collector_settings
from party.settings.page_texts import PAGE_TEXTS
from party.survey.web.connections import CallLimits
from party.survey.web.description import PageBlock, PageQuestion, blocks_of, page_json, survey_digest, whole_numbers
from party.survey.web.pages import block_rules, check_by_hand, form_page, main_page
from party.survey.web.store import CODE_BYTES, code_of, spaced, typed_code
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
