"""The file `survey.toml`: a survey that people answer in their browser, and the collector's server.

What is asked and how it is disguised stands in the `design.toml` that it names; here stand the words, the server, where
answers are kept, and when the survey closes. Every key is checked: the error names file, key and legal range.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from party.names import LOOPBACK, Address
from party.settings.page_texts import read_page_texts
from party.settings.questions import check_known
from party.settings.survey import Questionnaire, need_groups, read_design
from party.settings.toml import BLANKS, LINE, REQUIRED, TEXTS, Declared, Key, Read, Section, address, read_toml
from protocols.errors import InputError
from protocols.kinds import Between, Exact
from protocols.randomized_response.design import Design, Kind
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.survey.mining import BitDesign


@dataclass(frozen=True)
class Population:
    """A plain column, and the shares of its values in the population that records shall stand for."""

    column: int
    shares: tuple[Fraction, ...]


def read_population(section: Section, questionnaire: Questionnaire) -> Population | None:
    """Read `[population.COLUMN]`: the shares of a plain column's values."""
    if not section.names:
        return None
    (name, *others) = section.names
    check_known(section, name, name, questionnaire.names)
    column = questionnaire.names.index(name)
    if others or questionnaire.design.group_of(column) is not None:
        raise section.error(name, "name one column, and one that is sent as it is")
    entry = section.section(name, questionnaire.values[column])
    shares = tuple(entry.exact(value, entry.raw(value)) for value in questionnaire.values[column])
    if min(shares) < 0 or sum(shares) != 1:
        raise section.error(name, f"the shares must be 0 or more and add up to 1, not to {sum(shares)}")
    return Population(column, shares)


_QUESTION = ("text", "answers", "personal", "personal_answers")
POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Question:
    """What a respondent reads of one column.

    `text` is the private question where there is a `personal` one too, or a harmless statement: None where there is
    none, or the page draws its answer. Answers are one per value, in the order of the design.
    """

    text: str
    answers: tuple[str, ...]
    personal: str | None
    personal_answers: tuple[str, ...]


@dataclass(frozen=True)
class ServerSettings:
    """Where the collector listens, and how it is reached.

    Links begin with `address`, which ends in a slash. A certificate is for TLS: None behind a proxy that has one, or on
    this machine alone. The word of `proxies` for who calls is taken. One address may make `requests` a minute, one link
    `submissions`.
    """

    listen: Address
    address: str
    certificate: Path | None
    key: Path | None
    proxies: tuple[str, ...]
    requests: int
    submissions: int


@dataclass(frozen=True)
class ClosingSettings:
    """When the survey closes of itself: at a time, or with as many answers as a half-width of all shares needs."""

    date: datetime | None
    half_width: Fraction | None
    confidence: Fraction


@dataclass(frozen=True, repr=False)
class CollectorSettings:
    """A survey in the browser.

    `language` and `direction` of its texts are as HTML has them. The store is a file, or the URL of a PostgreSQL
    database. Records stand for a `population`, and are all alike if that is None. `round_two` disguises the bit by
    which respondents say whether a model is right about their personal answers; None where they are not asked.
    """

    path: Path
    title: str
    language: str
    direction: str
    introduction: tuple[str, ...]
    questionnaire: Questionnaire
    questions: tuple[Question, ...]
    texts: Mapping[str, str]
    server: ServerSettings
    store: Path | str
    closing: ClosingSettings
    population: Population | None
    round_two: BitDesign | None

    def __repr__(self) -> str:
        return f"<CollectorSettings {self.path}>"


def _read_moment(section: Section, key: str) -> datetime:
    moment = section.raw(key)
    if type(moment) is not datetime or moment.tzinfo is None:
        raise section.error(key, f"must be {_MOMENT}, without quotes")
    return moment


_MOMENT = "a time with its zone, such as 2026-12-31T18:00:00+01:00"
_ENDS = (Fraction(0), Fraction(1))
_USUAL = Address("127.0.0.1", 8080)
SURVEY: Final[Declared] = {
    "title": Key(LINE, REQUIRED, "what the page is called"),
    "design": Key(LINE, "design.toml", "the questions' values, their groups and theta"),
    "language": Key(LINE, "en", "of the page, as browsers name it"),
    "direction": Key(Read(lambda top, key: top.choice(key, ("ltr", "rtl")), 'must be "ltr" or "rtl"'), "ltr",
        'of the writing: "rtl" for right to left'),
    "introduction": Key(Read(lambda top, key: top.text(key, "", controls=BLANKS), "text"), "", "what the page "
        "says before its questions"),
}  # fmt: skip
SERVER: Final[Declared] = {
    "listen": Key(address(lowest_port=0), _USUAL, 'with certificate and key, or behind a proxy, "0.0.0.0:8443"',
        f'"{_USUAL}"'),
    "address": Key(LINE, None, "what links begin with: where respondents find the page", f'"http://{_USUAL}/"'),
    "certificate": Key(LINE, None, "TLS by this file and key, in PEM", '"cert.pem"'),
    "key": Key(LINE, None, "the key of this certificate, in PEM", '"key.pem"'),
    "proxy": Key(TEXTS, (), "proxies that do TLS: they are believed about who calls", '["127.0.0.1"]'),
    "requests": Key(Between(1, 10**6), 60, "most submissions a minute from one address"),
    "submissions": Key(Between(1, 1000), 20, "most submissions by one link; each replaces the one before"),
}  # fmt: skip
STORE: Final[Declared] = {
    "place": Key(LINE, "answers.sqlite", 'where answers are kept: a file, or '
        '"postgresql://user@host/database", password in PGPASSWORD'),
}  # fmt: skip
CLOSE: Final[Declared] = {
    "date": Key(Read(_read_moment, _MOMENT), None, "no answer is taken after this time", "2026-12-31T18:00:00+01:00"),
    "half_width": Key(Exact(*_ENDS, 'must lie between 0 and 1, such as "1/20"', opens=_ENDS), None, "close once there "
        "are enough answers for intervals of this half-width", '"1/20"'),
    "confidence": Key(Exact(*_ENDS, 'must lie between 0 and 1, such as "19/20"', opens=_ENDS), Fraction(19, 20),
        "how sure these intervals are"),
}  # fmt: skip
_TABLES = ("server", "store", "close", "questions", "texts", "population", "round_two")


def read_collector_settings(path: Path | str) -> CollectorSettings:
    """Read a `survey.toml` and the design that it names."""
    top = read_toml(Path(path), (*SURVEY, *_TABLES))
    folder, words = top.path.parent, top.values(SURVEY)
    questionnaire = read_design(folder / words["design"])
    need_groups(questionnaire)
    texts = read_page_texts(top.section("texts", None))
    questions = _questions(top.section("questions", None), questionnaire, texts)
    closing = ClosingSettings(**top.section("close", CLOSE).values(CLOSE))
    (place,) = top.section("store", STORE).values(STORE).values()
    return CollectorSettings(
        path=top.path,
        title=words["title"],
        language=words["language"],
        direction=words["direction"],
        introduction=tuple(part.strip() for part in words["introduction"].split("\n\n") if part.strip()),
        questionnaire=questionnaire,
        questions=questions,
        texts=texts,
        server=_server(top.section("server", SERVER), folder),
        store=place if place.startswith(POSTGRES) else folder / place,
        closing=closing,
        population=read_population(top.section("population", None), questionnaire),
        round_two=_round_two(top, questionnaire, questions, closing) if "round_two" in top.names else None,
    )


_STATEMENTS = {Kind.CROSSWISE: ("different", "same"), Kind.TRIANGULAR: ("neither", "at_least_one")}
"""What is answered of two statements: the texts of the column's first and of its second value."""


def _questions(section: Section, questionnaire: Questionnaire, texts: Mapping[str, str]) -> tuple[Question, ...]:
    for name in section.names:
        check_known(section, name, name, questionnaire.names)
    questions = tuple(_question(section, questionnaire, column, texts) for column in range(len(questionnaire.names)))
    for columns in questionnaire.design.groups:
        bare = [column for column in columns if questions[column].personal is None]
        if not bare:
            continue
        if len(bare) < len(columns):
            name = questionnaire.names[bare[0]]
            raise section.error(name, "needs a personal question, as others of its group have one, or none of them")
        if _declared_with(questionnaire.design, columns[0]):
            raise section.error(questionnaire.names[bare[0]], "needs a personal question: the design has joint for it")
    _check_personal(section, questionnaire, questions)
    return questions


def _declared_with(design: Design, column: int) -> tuple[int, ...]:
    """Return the columns whose personal answers the design declares jointly with this one's, itself among them."""
    group = design.group_of(column)
    part = None if group is None else design.part(group)
    joint = part.joint_cells(column) if isinstance(part, UnrelatedDesign) else []
    return tuple(joint[0][0]) if joint else ()


def _check_personal(section: Section, questionnaire: Questionnaire, questions: tuple[Question, ...]) -> None:
    """Refuse a personal question or statement that stands twice: estimates take personal answers as independent.

    In other groups it is no better: of the answers there both can be personal too, and are then equal. Where the design
    declares how the answers go together it is allowed.
    """
    asked: dict[str, int] = {}
    for column, question in enumerate(questions):
        if question.personal is None:
            continue
        first = asked.setdefault(" ".join(question.personal.split()).casefold(), column)
        if first not in (column, *_declared_with(questionnaire.design, column)):
            raise section.section(questionnaire.names[column], _QUESTION).error(
                "personal",
                f"is asked with {questionnaire.names[first]!r} too, and equal answers make joint estimates wrong: "
                "ask another",
            )


def _question(section: Section, questionnaire: Questionnaire, column: int, texts: Mapping[str, str]) -> Question:
    name, values = questionnaire.names[column], questionnaire.values[column]
    entry = section.section(name, _QUESTION)
    personal = entry.text("personal", None, controls=BLANKS)
    group = questionnaire.design.group_of(column)
    kind = None if group is None else questionnaire.design.part(group).kind
    if kind in _STATEMENTS and personal is None:
        raise entry.error("personal", "is missing: the harmless statement beside the one that is asked about")
    if personal is not None and kind is not Kind.UNRELATED and kind not in _STATEMENTS:
        raise entry.error("personal", "only the unrelated question has personal ones, and not for columns in plain")
    if "personal_answers" in entry.names and (personal is None or kind in _STATEMENTS):
        raise entry.error(
            "personal_answers", "there is no personal question that they could answer: add personal, or take them out"
        )
    usual = tuple(texts[key] for key in _STATEMENTS[kind]) if kind in _STATEMENTS else values
    return Question(
        text=entry.text("text", name, controls=BLANKS),
        answers=_answers(entry, "answers", usual),
        personal=personal,
        personal_answers=_answers(entry, "personal_answers", values),
    )


def _answers(entry: Section, key: str, values: tuple[str, ...]) -> tuple[str, ...]:
    answers = entry.texts(key, values)
    if len(answers) != len(values) or not all(answer.strip() for answer in answers):
        raise entry.error(key, f"must be {len(values)} texts, one per value, in the order of the design")
    return answers


def _server(section: Section, folder: Path) -> ServerSettings:
    values = section.values(SERVER)
    listen, certificate, key, proxies = (values[name] for name in ("listen", "certificate", "key", "proxy"))
    if (certificate is None) != (key is None):
        raise section.error("certificate", "give certificate and key, or neither")
    if certificate is None and not proxies and listen.host not in LOOPBACK:
        raise section.error(
            "listen", "without TLS answers would cross in the clear: give certificate and key, or name the proxy"
        )
    return ServerSettings(
        listen=listen,
        address=_public(section, listen, certificate is not None),
        certificate=None if certificate is None else folder / certificate,
        key=None if key is None else folder / key,
        proxies=proxies,
        requests=values["requests"],
        submissions=values["submissions"],
    )


def _public(section: Section, listen: Address, has_tls: bool) -> str:
    text = section.text("address", f"http{'s' if has_tls else ''}://{listen}/")
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment
        fits = fits and (parts.scheme == "https" or parts.hostname in LOOPBACK)
    except ValueError:
        fits = False
    if not fits or any(c.isspace() for c in text):
        raise section.error("address", 'must be where respondents find it, such as "https://survey.example.org/"')
    return text if text.endswith("/") else f"{text}/"


def _round_two(
    top: Section, questionnaire: Questionnaire, questions: tuple[Question, ...], closing: ClosingSettings
) -> BitDesign:
    section = top.section("round_two", ("truth",))
    design, label = questionnaire.design, len(questionnaire.names) - 1
    group = design.group_of(label)
    if questionnaire.class_name is None or group is None or questions[label].personal is None:
        cure = "set class in the design, and personal and personal_answers under [questions] here"
        raise top.error("round_two", f"needs a class that has a personal question: {cure}")
    if design.part(group).kind is not Kind.UNRELATED or len(design.groups[group]) < 2:
        raise top.error("round_two", "needs other columns in the class's group, and unrelated questions")
    if closing.half_width is not None:
        raise top.error("round_two", "needs links that last: leave [close] half_width out, or set a date")
    try:
        return BitDesign(section.exact("truth", section.raw("truth", "3/4")))
    except InputError as error:
        raise section.error("truth", error.problem) from None
