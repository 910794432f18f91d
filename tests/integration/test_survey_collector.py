"""The collector's server as a process: many respondents at once, killed in the middle, hostile bytes on its port."""

import http.client
import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from party.settings.collector import CollectorSettings, read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import AnswerStore, code_digest
from tests.support.collecting import (
    ROUND_TWO,
    TESTABLE,
    UNRELATED,
    add_links,
    answer_body,
    collector,
    live_results,
    write_survey_files,
)
from tests.support.processes import assert_one_line, cotally, cotally_here, wait_for

RESPONDENTS = 200
LOAD = [f"{k % 2:02x}{k % 3:02x}{k // 6 % 2:02x}" for k in range(RESPONDENTS)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_survey_files(tmp_path, UNRELATED, server="requests = 1000000")


def store_of(settings: CollectorSettings, *, make: bool = False) -> AnswerStore:
    return open_store(settings.store, survey_digest(settings.questionnaire), make=make)


def made(path: Path, number: int) -> tuple[CollectorSettings, list[str]]:
    settings = read_collector_settings(path)
    with store_of(settings, make=True) as store:
        return settings, add_links(store, number)


def post(address: str, body: bytes) -> int:
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    try:
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_no_answer_of_many_respondents_is_lost_or_doubled(path: Path) -> None:
    """The short form of `scripts/benchmarks/survey_load.py`: each answers twice, and the second answer counts."""
    settings, codes = made(path, RESPONDENTS)
    bodies = [answer_body(settings, code, "000000") for code in codes]
    bodies += [answer_body(settings, code, answers) for code, answers in zip(codes, LOAD, strict=True)]
    with collector(path) as (_, address), ThreadPoolExecutor(16) as pool:
        first = list(pool.map(lambda body: post(address, body), bodies[:RESPONDENTS]))
        second = list(pool.map(lambda body: post(address, body), bodies[RESPONDENTS:]))
    assert set(first + second) == {200}
    with store_of(settings) as store:
        assert store.responses() == sorted(map(bytes.fromhex, LOAD))


def test_a_server_that_is_killed_has_lost_nothing_that_it_acknowledged(path: Path) -> None:
    settings, codes = made(path, RESPONDENTS)
    bodies = {code: answer_body(settings, code, answers) for code, answers in zip(codes, LOAD, strict=True)}
    acknowledged: set[str] = set()

    def send(code: str) -> None:
        try:
            if post(address, bodies[code]) == 200:
                acknowledged.add(code)
        except (OSError, http.client.HTTPException):
            return
        if len(acknowledged) == RESPONDENTS // 4:
            process.kill()

    with collector(path) as (process, address), ThreadPoolExecutor(8) as pool:
        list(pool.map(send, codes))
        assert process.wait() == -9
    assert RESPONDENTS // 4 <= len(acknowledged) < RESPONDENTS
    with store_of(settings) as store:
        kept = store.responses()
    answers = dict(zip(codes, LOAD, strict=True))
    missing = sorted(bytes.fromhex(answers[code]) for code in acknowledged)
    for response in kept:
        if response in missing:
            missing.remove(response)
    assert missing == []
    with collector(path) as (_, address):
        for code in codes:
            assert post(address, bodies[code]) == 200
    with store_of(settings) as store:
        assert store.responses() == sorted(map(bytes.fromhex, LOAD))


HOSTILE = {
    "nothing": b"",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00" * 20,
    "a long line": b"GET /" + b"a" * 100_000,
    "a length that is a lie": b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n{",
    "two lengths": b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a chunk without end": b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nfffff\r\n" + b"x" * 70_000,
    "bytes in a path": b"GET /\xff\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
}


def test_hostile_bytes_on_its_port_leave_it_serving_and_silent(path: Path) -> None:
    settings, (code,) = made(path, 1)
    with collector(path) as (process, address):
        host, _, port = address.rpartition(":")
        for data in HOSTILE.values():
            with socket.create_connection((host, int(port)), timeout=10) as line:
                line.sendall(data)
                line.shutdown(socket.SHUT_WR)
                reply = line.recv(100)
                assert reply == b"" or reply.startswith(b"HTTP/1.1 4")
        assert post(address, answer_body(settings, code, "000000")) == 200
        process.terminate()
        assert process.wait() in (0, 143)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_links_and_their_codes_are_for_their_owner_alone_and_codes_are_not_in_the_store(path: Path) -> None:
    links = path.parent / "links.csv"
    done = cotally_here("survey", "links", path, "--number", "3", "-o", links)
    assert done.code == 0, done.err
    rows = [line.split(",") for line in links.read_text().splitlines()[1:]]
    assert all(row[0] == f"http://127.0.0.1/#{row[1].replace('-', '')}" for row in rows)
    assert links.stat().st_mode & 0o777 == 0o600
    store = path.parent / "answers.sqlite"
    assert store.stat().st_mode & 0o777 == 0o600
    assert not any(row[1].replace("-", "").encode() in store.read_bytes() for row in rows)
    again = cotally_here("survey", "links", path, "--number", "3", "-o", links)
    assert (again.code, again.err.count("\n")) == (2, 1)


def test_answers_go_from_the_store_to_an_estimate(path: Path) -> None:
    settings, codes = made(path, 30)
    with store_of(settings) as store:
        for code, answers in zip(codes, LOAD, strict=False):
            store.submit(code_digest(code), bytes.fromhex(answers), 20)
    assert "30 answers, 30 links" in cotally_here("survey", "status", path).out
    table, design = path.parent / "x.csv", path.parent / "design.toml"
    before = cotally_here("survey", "export", path, "-o", table)
    assert before.code == 0, before.err
    text = table.read_text()
    assert cotally_here("survey", "close", path).code == 0
    assert_one_line(cotally_here("survey", "export", path, "-o", table), 2, "x.csv is there already")
    table.write_text("earlier")
    assert cotally_here("survey", "export", path, "-o", table, "--overwrite").code == 0
    assert table.read_text() == text
    told = cotally("estimate", str(table), str(design), "smokes = yes")
    assert told.code == 0, told.err
    assert cotally_here("survey", "links", path, "--number", "1", "-o", path.parent / "l.csv").code == 2


def test_where_the_servers_libraries_are_missing_one_line_names_the_extra(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "party.survey.web.server", raising=False)
    monkeypatch.delattr("party.survey.web.server", raising=False)
    made(path, 1)
    done = cotally_here("survey", "serve", path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install '.[collect]'" in done.err


def test_a_port_that_another_program_has_is_named_with_what_to_set(path: Path) -> None:
    made(path, 1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        path.write_text(path.read_text().replace('listen = "127.0.0.1:0"', f'listen = "{address}"'))
        done = cotally_here("survey", "serve", path)
    why = f"cannot listen on {address}: Address already in use: choose another by listen under [server]"
    assert (done.code, done.err) == (2, f"cotally: {why}\n")


def test_settings_and_design_are_written_from_a_table_and_from_questions_and_can_be_served(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("smokes,age\n" + "".join(f"{'yes' if k % 3 else 'no'},{k}\n" for k in range(18, 60)))
    made_of_table = cotally_here("survey", "new", tmp_path / "one", "--table", table)
    assert made_of_table.code == 0, made_of_table.err
    words = ["--question", "Do you smoke? = yes, no", "--kind", "unrelated", "--theta", "1/2"]
    made_of_words = cotally_here("survey", "new", tmp_path / "two", *words)
    assert made_of_words.code == 0, made_of_words.err
    for name in ("one", "two"):
        path = tmp_path / name / "survey.toml"
        assert cotally_here("survey", "page", path, "-o", tmp_path / name).code == 0
        assert json.loads(_json_of(tmp_path / name / "page.html"))["format"] == "cotally-page/1"
    assert (tmp_path / "two" / "form.html").exists()
    again = cotally_here("survey", "new", tmp_path / "two", *words)
    assert (again.code, again.err.count("\n")) == (2, 1)


def _json_of(path: Path) -> str:
    return path.read_text().partition('id="survey">')[2].partition("</script>")[0]


def got(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_who_makes_the_pages_from_the_settings_has_the_bytes_that_are_served(path: Path) -> None:
    made(path, 1)
    assert cotally_here("survey", "page", path, "-o", path.parent).code == 0
    with collector(path) as (_, address):
        for target, name in (("", "page.html"), ("form", "form.html")):
            assert got(f"http://{address}/{target}") == (200, (path.parent / name).read_text())


def test_results_come_as_answers_do_behind_a_secret_address_on_this_machine(path: Path) -> None:
    settings, codes = made(path, 3)
    with collector(path) as (_, public), live_results(path, "--every", "7", "--cross", "smokes", "sex") as (_, address):
        assert address.startswith("http://127.0.0.1:")
        status, before = got(address)
        assert (status, before.count("0 of 0 gave an answer")) == (200, 4)
        assert '<meta http-equiv="refresh" content="7">' in before
        assert "<script" not in before
        for code in codes:
            assert post(public, answer_body(settings, code, "000000")) == 200
        assert got(address)[1].count("3 of 3 gave an answer") == 4
        origin, _, token = address.rpartition("/")
        for other in ("", token[:-1], f"{token}x", "A" * len(token), f"{token}/{token}"):
            assert got(f"{origin}/{other}")[0] == 404
        for hidden in (token, "results", f"results/{token}"):
            assert got(f"http://{public}/{hidden}")[0] == 404


def test_results_that_cannot_be_served_are_one_line(path: Path) -> None:
    made(path, 1)
    for words in (("--every", "0"), ("--cross", "smokes", "sax")):
        ended = cotally_here("survey", "results", path, "--serve", *words)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_a_server_that_runs_turns_to_the_page_of_a_published_model_and_each_screen_tells_that_page_s_digest(
    tmp_path: Path,
) -> None:
    path = write_survey_files(tmp_path / "s", TESTABLE, ROUND_TWO)
    table, model = path.parent / "x.csv", path.parent / "tree.json"
    settings, codes = made(path, 61)
    with store_of(settings) as store:
        for number, code in enumerate(codes[1:]):
            store.submit(code_digest(code), bytes([number % 2] * 2), 9)
    with collector(path) as (process, address):
        first = got(f"http://{address}/")[1]
        assert cotally_here("survey", "export", path, "-o", table).code == 0
        assert cotally_here("mine", "tree", table, path.parent / "design.toml", "--test", "1/5", "-o", model).code == 0
        published = cotally_here("survey", "publish", path, model, table, "--test", "1/5")
        assert published.code == 0, published.err
        wait_for(lambda: got(f"http://{address}/")[1] != first)
        second = got(f"http://{address}/")[1]
        assert got(f"http://{address}/form")[0] == 404
        turned = told_at_end(process)
    with collector(path) as (process, address):
        assert got(f"http://{address}/")[1] == second
        again = told_at_end(process)
    assert "cotally-test/1" in second
    digests = [sha256(page.encode()).hexdigest() for page in (first, second)]
    assert [digest in turned for digest in digests] == [True, True]
    assert [digest in published.out for digest in digests] == [False, True]
    assert [digest in again for digest in digests] == [False, True]


def told_at_end(process: subprocess.Popen[str]) -> str:
    """End a server and return what it has told since it was ready."""
    process.terminate()
    assert process.stderr is not None
    return process.stderr.read()
