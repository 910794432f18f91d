"""The collector's server, call by call: what it takes, what it refuses, and what it says."""

import base64
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data import read_frame
from party.data.bins import SMALLEST_VALUE
from party.errors import ConfigError, DataError, StoreError
from party.settings.collector import read_collector_settings
from party.settings.collector_template import (
    DESIGN_FILE_NAME,
    SETTINGS_FILE,
    pilot_of,
    questions_of_table,
    typed_question,
    write_survey,
)
from party.settings.page_texts import PAGE_TEXTS
from party.settings.survey import read_design
from party.survey.table import read_codes
from party.survey.web.connections import CallLimits
from party.survey.web.databases import SqliteDatabase
from party.survey.web.description import PageBlock, PageQuestion, blocks_of, page_json, survey_digest, whole_numbers
from party.survey.web.pages import block_rules, check_by_hand, form_page, main_page
from party.survey.web.store import CODE_BYTES, AnswerStore, StoreStatus, SurveyStage, code_of, spaced, typed_code
from protocols.errors import InputError
from protocols.privacy.loss import column_odds
from protocols.tables import NO_ANSWER
from tests.support.collecting import (
    BESIDE,
    PERSONAL,
    QUESTIONS,
    RELATED,
    STATEMENTS,
    UNRELATED,
    Served,
    add_links,
    answer_body,
    form_body,
    served,
    write_survey_files,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_survey_files(tmp_path, UNRELATED, server="submissions = 3")


@pytest.fixture
def survey(path: Path) -> Iterator[Served]:
    with served(path) as open_one:
        yield open_one


def test_a_response_is_kept_and_a_second_one_replaces_it(survey: Served) -> None:
    first, second = add_links(survey.store, 2)
    assert survey.answer(first, "000100") == 200
    assert survey.answer(second, "010201") == 200
    assert survey.answer(first, "ff0201") == 200
    assert survey.store.responses() == [bytes([1, 2, 1]), bytes([255, 2, 1])]
    assert survey.store.status().answered == 2


def test_a_code_answers_as_often_as_the_settings_say_and_no_more(survey: Served) -> None:
    (code,) = add_links(survey.store, 1)
    assert [survey.answer(code, f"0{k % 2}0000") for k in range(4)] == [200, 200, 200, 429]
    assert survey.store.responses() == [bytes([0, 0, 0])]


def test_the_form_takes_what_was_tossed_by_hand_with_the_code_as_it_is_printed(survey: Served) -> None:
    (code,) = add_links(survey.store, 1)
    printed = "-".join(code[k : k + 4] for k in range(0, 24, 4)).lower()
    body = form_body(survey.settings, printed, "010200")
    reply = survey.call("POST", "/form", body, "application/x-www-form-urlencoded")
    assert (reply.status, survey.store.responses()) == (200, [bytes([1, 2, 0])])
    assert b"Your answers have arrived" in reply.body


BAD = {
    "no JSON": b"{",
    "a list": b"[]",
    "thousands of brackets": b"[" * 900,
    "a number of thousands of digits": b"9" * 900,
    "unicode": '{"format": "ü"}'.encode(),
    "half of a surrogate": b'{"format":"cotally-answer/1","survey":"\\ud800","code":"\\ud800","answers":"\\ud800"}',
}


def test_bytes_that_are_no_answer_are_refused_in_one_line(survey: Served) -> None:
    for body in BAD.values():
        reply = survey.call("POST", "/answer", body)
        assert 400 <= reply.status < 500
        assert len(reply.body.splitlines()) == 1
        assert "error" in json.loads(reply.body)


NO_ANSWERS: dict[str, tuple[dict[str, object], int]] = {
    "a column too few": ({"answers": "0001"}, 400),
    "a column too many": ({"answers": "00010000"}, 400),
    "a blank": ({"answers": "00 0100"}, 400),
    "a value outside the domain": ({"answers": "020000"}, 400),
    "no answer where one is needed": ({"answers": "00ff00"}, 400),
    "digits of another script": ({"answers": "\u0660" * 6}, 400),
    "a number": ({"answers": 0}, 400),
    "no answers": ({"answers": None}, 400),
    "another format": ({"format": "cotally-answer/2"}, 400),
    "a field too many": ({"more": "x"}, 400),
    "another design": ({"survey": "0" * 64}, 409),
    "an unknown code": ({"code": "A" * 24}, 403),
    "a short code": ({"code": "A" * 23}, 403),
    "a code of other letters": ({"code": "\u00c4\u00d6\u00dc"}, 403),
    "a statement": ({"code": "'; DROP TABLE links; --"}, 403),
    "a long code": ({"code": "A" * 5000}, 413),
}


def test_what_is_no_answer_to_this_survey_is_refused(survey: Served) -> None:
    for changes, status in NO_ANSWERS.values():
        (code,) = add_links(survey.store, 1)
        reply = survey.call("POST", "/answer", answer_body(survey.settings, code, "000000", **changes))
        assert reply.status == status
        assert survey.store.responses() == []
        assert survey.faults == []


def test_the_form_refuses_the_same(survey: Served) -> None:
    for changes in [{"a0": "2"}, {"a0": "02"}, {"a1": "ff"}, {"a3": "00"}, {"code": "x"}, {"survey": "x"}, {"a0": "²"}]:
        (code,) = add_links(survey.store, 1)
        body = form_body(survey.settings, code, "000000", **changes)
        reply = survey.call("POST", "/form", body, "application/x-www-form-urlencoded")
        assert 400 <= reply.status < 500
        assert survey.store.responses() == []


def test_other_calls_are_refused(survey: Served) -> None:
    for method, target, kind, status in [
        ("GET", "/answer", None, 405),
        ("POST", "/", "application/json", 405),
        ("POST", "/test", "application/json", 404),
        ("GET", "/store", None, 404),
        ("GET", "/../answers.sqlite", None, 404),
        ("POST", "/answer", "text/plain", 400),
        ("POST", "/answer", None, 400),
        ("POST", "/form", "multipart/form-data", 400),
    ]:
        assert survey.call(method, target, b"{}", kind).status == status


def test_a_field_that_comes_twice_or_under_another_name_is_refused(survey: Served) -> None:
    (code,) = add_links(survey.store, 1)
    body = answer_body(survey.settings, code, "000000")[:-1] + b', "answers": "010000"}'
    assert survey.call("POST", "/answer", body).status == 400
    form = form_body(survey.settings, code, "000000") + b"&a0=01"
    assert survey.call("POST", "/form", form, "application/x-www-form-urlencoded").status == 400
    (code,) = add_links(survey.store, 1)
    body = answer_body(survey.settings, code, "000000")
    assert survey.call("POST", "/answer", body, "text/plain").status == 400
    assert survey.store.responses() == []


def test_one_caller_is_slowed_down_and_others_are_not(tmp_path: Path) -> None:
    seconds = [0.0]
    path = write_survey_files(tmp_path, UNRELATED, server="requests = 2")
    with served(path, clock=lambda: seconds[0]) as survey:
        codes = add_links(survey.store, 5)
        assert [survey.answer(code, "000000") for code in codes[:3]] == [200, 200, 429]
        survey.caller = "203.0.113.2"
        assert survey.answer(codes[3], "000000") == 200
        survey.caller, seconds[0] = "203.0.113.1", 31.0
        assert survey.answer(codes[4], "000000") == 200


def test_it_closes_at_its_date(tmp_path: Path) -> None:
    moments = [datetime(2026, 12, 31, 16, 59, tzinfo=UTC)]
    path = write_survey_files(tmp_path, UNRELATED, more="[close]\ndate = 2026-12-31T18:00:00+01:00")
    with served(path, now=lambda: moments[0]) as survey:
        first, second = add_links(survey.store, 2)
        assert survey.answer(first, "000000") == 200
        moments[0] = datetime(2026, 12, 31, 17, 0, tzinfo=UTC)
        assert [survey.answer(second, "000000"), survey.answer(first, "010000")] == [410, 410]
        assert survey.store.status().stage is SurveyStage.CLOSED
        assert survey.store.responses() == [bytes(3)]


def test_it_closes_at_its_date_though_nobody_calls(tmp_path: Path) -> None:
    moments = [datetime(2026, 12, 31, 16, 59, tzinfo=UTC)]
    path = write_survey_files(tmp_path, UNRELATED, more="[close]\ndate = 2026-12-31T18:00:00+01:00")
    with served(path, now=lambda: moments[0]) as survey:
        add_links(survey.store, 2)
        survey.app.look()
        assert survey.store.stage() is SurveyStage.OPEN
        moments[0] = datetime(2026, 12, 31, 17, 0, tzinfo=UTC)
        survey.app.look()
        assert survey.store.status() == StoreStatus(0, 0, SurveyStage.CLOSED)


def test_what_a_crash_has_cut_short_a_later_look_ends_and_a_store_that_fails_is_reported_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise StoreError("the disk is full")

    with served(path, enough=1) as survey:
        (code,) = add_links(survey.store, 1)
        with monkeypatch.context() as full:
            full.setattr(SqliteDatabase, "forget", fail)
            assert survey.answer(code, "000000") == 200
            survey.app.look()
            survey.app.look()
            assert [str(fault) for fault in survey.faults] == ["the disk is full"]
            assert survey.store.stage() is SurveyStage.CUT
        survey.app.look()
        assert survey.store.status() == StoreStatus(0, 1, SurveyStage.CLOSED)


def test_once_it_is_closed_every_page_is_the_one_that_deletes_what_a_browser_has_kept(path: Path) -> None:
    with served(path, enough=1) as survey:
        (code,) = add_links(survey.store, 1)
        first = survey.call("GET", "/").body
        assert survey.answer(code, "000000") == 200
        assert survey.call("GET", "/").body == first
        survey.app.look()
        for _ in range(2):
            closed = survey.call("GET", "/")
            assert b"The survey is closed." in closed.body
            assert b"kept.forget(" in closed.body
            assert b"<form" not in closed.body
            assert closed.body == survey.app.front.body
            assert survey.call("GET", "/form").status == 404
            survey.start_again()


def test_it_closes_with_enough_answers(path: Path) -> None:
    with served(path, enough=2) as survey:
        codes = add_links(survey.store, 3)
        assert [survey.answer(code, "000000") for code in codes] == [200, 200, 410]


@pytest.mark.parametrize(("error", "status"), [(StoreError("the disk is full"), 503), (KeyError("K"), 500)])
def test_of_a_fault_the_caller_hears_one_line_and_the_collector_all_if_it_is_ours(
    survey: Served, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    (code,) = add_links(survey.store, 1)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(AnswerStore, "submit", fail)
    reply = survey.call("POST", "/answer", answer_body(survey.settings, code, "000000"))
    assert (reply.status, reply.body) == (status, b'{"error":"unavailable"}')
    assert survey.faults == [error] * (status == 500)


def test_every_answer_forbids_frames_foreign_resources_and_keeping(survey: Served) -> None:
    for target in ("/", "/form", "/answer", "/none"):
        headers = survey.call("GET", target).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers
        assert "server" not in headers


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


def test_a_forced_answer_is_drawn_or_given(tmp_path: Path) -> None:
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


def test_a_typed_question_has_a_text_and_two_answers_or_more_each_once() -> None:
    for text in [
        "yes, no",
        " = yes, no",
        "Do you smoke? = yes",
        "Do you smoke?",
        "Smoke? = yes,, no",
        "Smoke? = yes, yes",
    ]:
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
