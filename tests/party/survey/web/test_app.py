"""The collector's server, call by call: what it takes, what it refuses, and what it says."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.errors import StoreError
from party.survey.web.databases import SqliteDatabase
from party.survey.web.store import AnswerStore, StoreStatus, SurveyStage
from tests.support.collecting import UNRELATED, Served, add_links, answer_body, form_body, served, write_survey_files


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


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_bytes_that_are_no_answer_are_refused_in_one_line(survey: Served, body: bytes) -> None:
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


@pytest.mark.parametrize(("changes", "status"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_to_this_survey_is_refused(survey: Served, changes: dict[str, object], status: int) -> None:
    (code,) = add_links(survey.store, 1)
    reply = survey.call("POST", "/answer", answer_body(survey.settings, code, "000000", **changes))
    assert reply.status == status
    assert survey.store.responses() == []
    assert survey.faults == []


@pytest.mark.parametrize(
    "changes",
    [{"a0": "2"}, {"a0": "02"}, {"a1": "ff"}, {"a3": "00"}, {"code": "x"}, {"survey": "x"}, {"a0": "²"}],
    ids=str,
)
def test_the_form_refuses_the_same(survey: Served, changes: dict[str, str]) -> None:
    (code,) = add_links(survey.store, 1)
    body = form_body(survey.settings, code, "000000", **changes)
    reply = survey.call("POST", "/form", body, "application/x-www-form-urlencoded")
    assert 400 <= reply.status < 500
    assert survey.store.responses() == []


@given(st.binary(max_size=400))
def test_no_bytes_make_the_server_fail(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    survey = _shared(tmp_path_factory)
    survey.caller = str(len(body))
    for target, kind in (("/answer", "application/json"), ("/form", "application/x-www-form-urlencoded")):
        assert 400 <= survey.call("POST", target, body, kind).status < 500
    assert survey.faults == []


_OPEN: list[Served] = []


def _shared(factory: pytest.TempPathFactory) -> Served:
    if not _OPEN:
        path = write_survey_files(factory.mktemp("shared"), UNRELATED, server="requests = 1000000")
        _OPEN.append(served(path).__enter__())
    return _OPEN[0]


@pytest.mark.parametrize(
    ("method", "target", "kind", "status"),
    [
        ("GET", "/answer", None, 405),
        ("POST", "/", "application/json", 405),
        ("POST", "/test", "application/json", 404),
        ("GET", "/store", None, 404),
        ("GET", "/../answers.sqlite", None, 404),
        ("POST", "/answer", "text/plain", 400),
        ("POST", "/answer", None, 400),
        ("POST", "/form", "multipart/form-data", 400),
    ],
)
def test_other_calls_are_refused(survey: Served, method: str, target: str, kind: str | None, status: int) -> None:
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


def test_what_a_crash_has_cut_short_a_later_look_ends_and_a_store_that_fails_is_told_once(
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


def test_a_store_that_fails_is_told_in_one_line_and_nothing_is_acknowledged(
    survey: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = add_links(survey.store, 1)

    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(AnswerStore, "submit", fail)
    reply = survey.call("POST", "/answer", answer_body(survey.settings, code, "000000"))
    assert (reply.status, json.loads(reply.body)) == (503, {"error": "unavailable"})


def test_a_fault_of_ours_is_told_to_the_collector_and_one_line_to_the_caller(
    survey: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = add_links(survey.store, 1)

    def fail(*_: object) -> None:
        raise KeyError(code)

    monkeypatch.setattr(AnswerStore, "submit", fail)
    reply = survey.call("POST", "/answer", answer_body(survey.settings, code, "000000"))
    assert (reply.status, reply.body) == (500, b'{"error":"unavailable"}')
    assert [type(error) for error in survey.faults] == [KeyError]


def test_every_answer_forbids_frames_foreign_resources_and_keeping(survey: Served) -> None:
    for target in ("/", "/form", "/answer", "/none"):
        headers = survey.call("GET", target).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers
        assert "server" not in headers
