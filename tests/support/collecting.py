"""Surveys in the browser: settings, stores, an application called without sockets, and a server in its own process."""

import json
import re
import secrets
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio
from starlette.types import ASGIApp, Message

from party.settings.collector import CollectorSettings, read_collector_settings
from party.survey.web.app import CollectorApp, CollectorSurvey
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import CODE_BYTES, AnswerStore, code_digest, code_of
from tests.support.processes import start

UNRELATED = """
kind = "unrelated"
theta = "1/2"
plain = ["sex"]
[columns]
smokes = { values = ["yes", "no"] }
income = { values = ["low", "middle", "high"], missing = "refuse" }
sex = { values = ["f", "m"], missing = "refuse" }
[groups]
habits = ["smokes"]
money = ["income"]
[personal]
smokes = { yes = "1/2", no = "1/2" }
income = { low = "1/3", middle = "1/3", high = "1/3" }
"""
RELATED = """
kind = "related"
theta = "4/5"
[columns]
smokes = { values = ["yes", "no"], missing = "refuse" }
drinks = { values = ["yes", "no"], missing = "refuse" }
income = { values = ["low", "middle", "high"], missing = "refuse" }
[groups]
habits = ["smokes", "drinks"]
money = ["income"]
"""
TESTABLE = """
class = "smokes"
kind = "unrelated"
theta = "2/3"
personal = "uniform"
[columns]
smokes = { values = ["yes", "no"], missing = "refuse" }
drinks = { values = ["yes", "no"], missing = "refuse" }
[groups]
habits = ["smokes", "drinks"]
"""
"""A design whose model can be tested on personal answers; the class stands last."""
ROUND_TWO = """
[questions.smokes]
text = "Do you smoke?"
personal = "Were you born in January to June?"
[questions.drinks]
text = "Do you drink?"
personal = "Is your house number odd?"
[round_two]
truth = "3/4"
"""
STATEMENTS = """
[columns]
smokes = { values = ["no", "yes"], missing = "refuse" }
drinks = { values = ["no", "yes"], missing = "refuse" }
[groups]
habits = { kind = "crosswise", prevalence = "1/4", columns = ["smokes"] }
drinks = { kind = "triangular", prevalence = "1/4", columns = ["drinks"] }
"""
BESIDE = """
[questions.smokes]
text = "I smoke."
personal = "My mother was born in spring."
[questions.drinks]
text = "I drink."
personal = "My father was born in spring."
"""
QUESTIONS = """
[questions.smokes]
text = "Do you smoke?"
answers = ["Yes", "No"]
"""
PERSONAL = """
personal = "Were you born in January to June?"
personal_answers = ["Yes, I was", "No, I was not"]
"""


BROWSER_DESIGNS = {"related": (RELATED, QUESTIONS), "unrelated": (UNRELATED, QUESTIONS + PERSONAL)}


def write_survey_files(folder: Path, design: str, questions: str = QUESTIONS, server: str = "", more: str = "") -> Path:
    """Write a design and settings; the server listens on any port of this machine."""
    folder.mkdir(exist_ok=True)
    (folder / "design.toml").write_text(design)
    path = folder / "survey.toml"
    path.write_text(
        f'title = "A survey"\n[server]\nlisten = "127.0.0.1:0"\naddress = "http://127.0.0.1/"\n{server}\n'
        f"{questions}\n{more}"
    )
    return path


def add_links(store: AnswerStore, number: int) -> list[str]:
    """Let some new codes answer."""
    codes = [code_of(secrets.token_bytes(CODE_BYTES)) for _ in range(number)]
    store.add_codes(map(code_digest, codes))
    return codes


def survey_with_links(folder: Path, kind: str, links: int) -> tuple[Path, list[str]]:
    """Make a survey of one of `BROWSER_DESIGNS` for browsers that call often, and its store; return codes too."""
    path = write_survey_files(folder, *BROWSER_DESIGNS[kind], server="requests = 100000")
    settings = read_collector_settings(path)
    with open_store(settings.store, survey_digest(settings.questionnaire), make=True) as store:
        return path, add_links(store, links)


def answer_body(settings: CollectorSettings, code: str, answers: str, /, **changes: object) -> bytes:
    """Return what the page sends; a change of None leaves a field out."""
    content = {
        "format": "cotally-answer/1",
        "survey": survey_digest(settings.questionnaire),
        "code": code,
        "answers": answers,
        **changes,
    }
    return json.dumps({name: value for name, value in content.items() if value is not None}).encode()


def form_body(settings: CollectorSettings, code: str, answers: str, /, **changes: str) -> bytes:
    """Return what the form without a script sends."""
    pairs = {f"a{column}": answers[2 * column : 2 * column + 2] for column in range(len(answers) // 2)}
    content = {"survey": survey_digest(settings.questionnaire), "code": code, **pairs, **changes}
    return urlencode(content).encode()


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Served:
    """A survey in this process."""

    settings: CollectorSettings
    store: AnswerStore
    app: CollectorApp
    faults: list[Exception] = field(default_factory=list)
    caller: str = "203.0.113.1"

    def call(self, method: str, path: str, body: bytes = b"", kind: str | None = "application/json") -> Reply:
        """Call the application as a server does."""
        headers = [] if kind is None else [(b"content-type", kind.encode())]
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": headers, "client": (self.caller, 1), "server": ("127.0.0.1", 80), "scheme": "http",
            "http_version": "1.1", "root_path": "",
        }  # fmt: skip
        return anyio.run(_called, self.app, scope, body)

    def start_again(self) -> None:
        """Make the application again, as a server that was stopped and started does."""
        self.app = CollectorApp(CollectorSurvey(self.settings, self.store, None, lambda: 0.0, fault=self.faults.append))

    def answer(self, code: str, answers: str) -> int:
        return self.call("POST", "/answer", answer_body(self.settings, code, answers)).status


async def _called(app: ASGIApp, scope: dict[str, Any], body: bytes) -> Reply:
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    got: list[Message] = []

    async def receive() -> Message:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        got.append(message)

    await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in got[0]["headers"]}
    return Reply(got[0]["status"], headers, b"".join(part.get("body", b"") for part in got[1:]))


@contextmanager
def served(
    path: Path,
    enough: int | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    now: Callable[[], datetime] = lambda: datetime(2026, 1, 1, tzinfo=UTC),
) -> Iterator[Served]:
    """Open a survey with a new store, and its application."""
    settings = read_collector_settings(path)
    faults: list[Exception] = []
    with open_store(settings.store, survey_digest(settings.questionnaire), make=True) as store:
        survey = CollectorSurvey(settings, store, enough, clock, now, faults.append)
        yield Served(settings, store, CollectorApp(survey), faults)


@contextmanager
def collector(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `cotally survey serve` in a process of its own; yield it, and its host and port."""
    with _ready(["survey", "serve", str(path)], r"listens on (\S+);") as served_at:
        yield served_at


@contextmanager
def live_results(path: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `cotally survey results --serve` in a process of its own; yield it, and where its page is."""
    with _ready(["survey", "results", str(path), "--serve", *words], r"Results are at (\S+)") as served_at:
        yield served_at


@contextmanager
def _ready(words: list[str], pattern: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a process that says where it serves, and end it."""
    process = start(*words)
    try:
        assert process.stderr is not None
        told = process.stderr.readline()
        found = re.search(pattern, told)
        assert found, told + process.stderr.read()
        yield process, found[1]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def everything_in(path: Path) -> bytes:
    """Return the bytes of a store's file and of what stands beside it."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def raw_rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Read a store's file beside the product."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()
