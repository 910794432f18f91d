"""What the collector keeps, in both databases, and what it forgets when the survey is closed."""

import contextlib
import os
import secrets
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from party.errors import ConfigError, StoreError
from party.survey.web.databases import SqliteDatabase, open_store
from party.survey.web.store import (
    AnswerStore,
    BitCount,
    PublishedModel,
    Reception,
    StoreStatus,
    SurveyStage,
    code_digest,
)
from tests.support.collecting import add_links, everything_in, raw_rows
from tests.support.disks import no_space

SURVEY = "5" * 64


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    if request.param == "sqlite":
        return tmp_path / "answers.sqlite"
    psycopg = pytest.importorskip("psycopg")
    server = request.getfixturevalue("postgres")
    name = f"d{secrets.token_hex(8)}"
    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}{name}"


@pytest.fixture
def store(place: Path | str) -> Iterator[AnswerStore]:
    with open_store(place, SURVEY, make=True) as opened:
        yield opened


def test_a_code_answers_and_its_next_answer_replaces(store: AnswerStore) -> None:
    one, two = map(code_digest, add_links(store, 2))
    assert store.submit(one, b"\0\1", 3) is Reception.TAKEN
    assert store.submit(two, b"\1\1", 3) is Reception.TAKEN
    assert store.submit(one, b"\xff\0", 3) is Reception.TAKEN
    assert store.responses() == [b"\1\1", b"\xff\0"]
    assert store.status() == StoreStatus(2, 2, SurveyStage.OPEN)


def test_unknown_codes_and_too_many_submissions_are_told_apart(store: AnswerStore) -> None:
    (one,) = map(code_digest, add_links(store, 1))
    assert store.submit(one, b"\0", 1) is Reception.TAKEN
    assert store.submit(one, b"\1", 1) is Reception.TOO_OFTEN
    assert store.submit(bytes(32), b"\1", 1) is Reception.UNKNOWN_CODE
    assert store.responses() == [b"\0"]


def test_closing_ends_it_and_keeps_the_answers(store: AnswerStore) -> None:
    one, two = map(code_digest, add_links(store, 2))
    store.submit(one, b"\1", 3)
    store.submit(two, b"\0", 3)
    store.close_survey()
    store.close_survey()
    assert store.submit(one, b"\1", 3) is Reception.CLOSED
    assert store.responses() == [b"\0", b"\1"]
    assert store.status() == StoreStatus(0, 2, SurveyStage.CLOSED)
    with pytest.raises(ConfigError, match="no further links"):
        add_links(store, 1)


MODEL = PublishedModel("a model", "3/4", "1/5", 7)


def test_a_model_is_published_once_and_each_code_that_answered_counts_once(store: AnswerStore) -> None:
    one, two, silent = map(code_digest, add_links(store, 3))
    store.submit(one, b"\1", 3)
    store.submit(two, b"\0", 3)
    assert (store.published(), store.count_bit(one, right=True)) == (None, Reception.CLOSED)
    store.publish(MODEL, store.responses())
    assert store.published() == MODEL
    with pytest.raises(ConfigError, match="published once"):
        store.publish(PublishedModel("another", "1", "1/5", 7), store.responses())
    assert store.submit(one, b"\0", 3) is Reception.CLOSED
    with pytest.raises(ConfigError, match="no further links"):
        add_links(store, 1)
    assert [store.count_bit(one, right=right) for right in (True, False, False)] == [Reception.TAKEN] * 3
    assert store.bits() == BitCount(1, 1)
    assert store.count_bit(two, right=False) is Reception.TAKEN
    assert store.count_bit(silent, right=True) is store.count_bit(bytes(32), right=True) is Reception.UNKNOWN_CODE
    assert store.bits() == BitCount(2, 1)
    assert store.status() == StoreStatus(3, 2, SurveyStage.TESTING)


def test_no_model_is_published_of_which_an_answer_has_come_since_it_was_looked_at(store: AnswerStore) -> None:
    one, two = map(code_digest, add_links(store, 2))
    store.submit(one, b"\1", 3)
    seen = store.responses()
    store.submit(two, b"\0", 3)
    with pytest.raises(ConfigError, match="an answer came at this moment: export the answers"):
        store.publish(MODEL, seen)
    assert store.published() is None
    assert store.submit(two, b"\1", 3) is Reception.TAKEN  # it is as open as before
    store.publish(MODEL, store.responses())
    assert store.published() == MODEL


def test_closing_a_survey_under_test_keeps_counts_and_answers_and_no_code(store: AnswerStore) -> None:
    (one,) = map(code_digest, add_links(store, 1))
    store.submit(one, b"\1", 3)
    store.publish(MODEL, store.responses())
    store.count_bit(one, right=True)
    store.close_survey()
    assert store.count_bit(one, right=True) is Reception.CLOSED
    assert (store.responses(), store.bits()) == ([b"\1"], BitCount(1, 1))
    assert store.status() == StoreStatus(0, 1, SurveyStage.CLOSED)
    with pytest.raises(ConfigError, match="before the survey is closed"):
        store.publish(MODEL, store.responses())


def test_what_is_opened_again_is_the_same_survey_or_refused(place: Path | str, store: AnswerStore) -> None:
    (one,) = map(code_digest, add_links(store, 1))
    store.submit(one, b"\1", 3)
    with open_store(place, SURVEY) as again:
        assert again.responses() == [b"\1"]
    with pytest.raises(ConfigError, match="another design"):
        open_store(place, "6" * 64)


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    open_store(path, SURVEY, make=True).close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE survey SET version = version + 1")
    with pytest.raises(ConfigError, match="is a store of another release of cotally: install that one"):
        open_store(path, SURVEY, older=True)


def test_a_store_is_made_with_the_first_links_alone(place: Path | str) -> None:
    with pytest.raises(ConfigError, match="make it, with the first links"):
        open_store(place, SURVEY)


def test_a_closed_file_holds_no_digest_and_nothing_of_the_order_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with open_store(path, SURVEY, make=True) as store:
        digests = [code_digest(code) for code in add_links(store, 50)]
        for number, digest in enumerate(digests):
            store.submit(digest, bytes([number % 3, 49 - number]), 3)
        assert all(digest in everything_in(path) for digest in digests)
        store.close_survey()
        assert not any(digest in everything_in(path) for digest in digests)
    rows = raw_rows(path, "SELECT response FROM responses ORDER BY rowid")
    assert rows == sorted(rows)


def killed_while_closing(path: Path) -> None:
    """Close a survey in a process that is killed when answers are cut from codes, before anything is overwritten."""
    process = os.fork()
    if not process:
        with patch.object(SqliteDatabase, "forget", lambda _: os.kill(os.getpid(), signal.SIGKILL)):
            open_store(path, SURVEY).close_survey()
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def test_a_closing_that_was_killed_is_no_closing_until_what_the_file_held_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with open_store(path, SURVEY, make=True) as server:
        digests = [code_digest(code) for code in add_links(server, 300)]
        for digest in digests:
            server.submit(digest, secrets.token_bytes(4), 3)
        killed_while_closing(path)
        assert all(digest in everything_in(path) for digest in digests)
        assert server.status() == StoreStatus(0, 300, SurveyStage.CUT)
        assert server.submit(digests[0], b"\1", 3) is Reception.CLOSED
        with open_store(path, SURVEY) as again:
            again.close_survey()
        assert server.stage() is SurveyStage.CLOSED
        assert not any(digest in everything_in(path) for digest in digests)
        assert len(server.responses()) == 300


def test_a_file_that_another_process_reads_is_not_reported_as_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "answers.sqlite"
    with open_store(path, SURVEY, make=True) as store:
        (digest,) = map(code_digest, add_links(store, 1))
        monkeypatch.setattr("party.survey.web.databases._SECONDS_TO_WAIT", 0.1)
        with open_store(path, SURVEY) as closing, contextlib.closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM links").fetchall()
            with pytest.raises(StoreError, match="is read by another process"):
                closing.close_survey()
            assert store.stage() is SurveyStage.CUT
            assert digest in everything_in(path)
            reader.rollback()
            closing.close_survey()
        assert store.stage() is SurveyStage.CLOSED
        assert digest not in everything_in(path)


def test_an_open_file_holds_responses_and_digests_and_no_time_and_no_address(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with open_store(path, SURVEY, make=True) as store:
        store.submit(code_digest(add_links(store, 1)[0]), b"\1", 3)
    tables = dict(raw_rows(path, "SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    assert tables.keys() == {"survey", "links", "model", "responses"}
    columns = [name for table in sorted(tables) for _, name, *_ in raw_rows(path, f"PRAGMA table_info({table})")]
    of_model = ["one", "content", "truth", "test", "seed", "bits", "says_right"]
    links = ["code", "response", "submissions", "tested"]
    assert columns == [*links, *of_model, "response", "one", "version", "survey", "stage"]


@pytest.mark.parametrize("content", [b"", b"no database" * 1000], ids=["empty", "text"])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises((ConfigError, StoreError)):
        open_store(path, SURVEY, make=True)


def test_a_store_that_others_can_read_a_link_and_a_folder_are_refused(tmp_path: Path) -> None:
    path, link = tmp_path / "answers.sqlite", tmp_path / "link"
    open_store(path, SURVEY, make=True).close()
    link.symlink_to(path)
    folder = tmp_path / "folder"
    folder.mkdir(0o700)
    for place in (link, folder):
        with pytest.raises(ConfigError, match="0600"):
            open_store(place, SURVEY)
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="0600"):
        open_store(path, SURVEY)


def test_a_database_of_another_program_is_refused_as_it_is(tmp_path: Path) -> None:
    """Even one whose tables have the names of ours."""
    path = tmp_path / "answers.sqlite"
    open_store(path, SURVEY, make=True).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")
    with pytest.raises(ConfigError, match="is no store of answers"):
        open_store(path, SURVEY)


def test_a_disk_without_space_is_named_and_what_was_kept_is_there_again_with_it(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with open_store(path, SURVEY, make=True) as store:
        (digest,) = map(code_digest, add_links(store, 1))
        with no_space(), pytest.raises(StoreError, match=r"cannot be used: (disk I/O error|database or disk is full)"):
            store.submit(digest, b"\1" * 5000, 3)
        assert store.submit(digest, b"\1", 3) is Reception.TAKEN
        assert store.responses() == [b"\1"]


def test_a_database_that_cannot_be_reached_is_one_line_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/none", SURVEY)
    assert "secret" not in str(caught.value)
