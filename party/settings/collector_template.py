"""The files that `cotally survey new` writes: a design, and the settings of the survey, with every key explained.

Its questions are of the columns of a table, or as they are typed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from party.data import Frame
from party.data.bins import SMALLEST_VALUE, bin_labels, edges_of, number
from party.data.cells import Cells
from party.data.columns import OTHER
from party.data.numbers import SortedNumbers
from party.errors import DataError
from party.files import is_there, write_atomically
from party.settings.collector import CLOSE, SERVER, STORE, SURVEY, read_collector_settings
from party.settings.template import key_lines
from party.settings.toml import toml_text
from protocols.errors import InputError
from protocols.kinds import exact_number

_DESIGN = """\
# What the survey asks and how answers are disguised. Once there are answers, it must stay as it is.
kind = "{kind}"     # "related": a group is sent as it is, or moved on by a number of places; "unrelated": or
                     # the answers to personal questions are sent, whose distribution you must know
theta = "{theta}"          # chance of the truth of two answers, exact; `cotally privacy` shows what it discloses
# class = "{first}"       # column that `cotally mine` predicts, if there is one
plain = []           # columns that are not sensitive, sent as they are
# odds = 2           # refuse stronger odds of an answer to 1, and questions that share a coin

# The values of every column. missing = "left out": no answer may be given, which is seen; "refuse": one must be.
[columns]
{columns}

# Each question has a coin of its own, and answers of any number the same odds against any one other. Columns of a group
# share one coin: of such answers a collector reads many whole, as `cotally privacy` shows.
[groups]
{groups}
{personal}"""

_PERSONAL = """
# The chance of each personal answer. "uniform", above [columns], is for all at once.
[personal]
{chances}
"""

_SURVEY = """\
# A survey that people answer in their browser. Its coins are tossed there; this server gets disguised answers alone.
title = {title}
{survey}
# Paragraphs, with an empty line between them. Say who asks, and what for.
introduction = \"\"\"
\"\"\"

[server]
{server}

[store]
{store}

# When the survey closes of itself: codes are then cut from answers, for good. `cotally survey close` does it too.
[close]
{close}

# What respondents read. answers: one per value, in the order of the design.
# For the unrelated question, a personal one too, which you cannot look up; where there is none, the page draws.
# Ask another personal question with each: one answer must not say anything about another.
# The form for a coin, a die or slips of paper needs chances that these have, and two values where a group lies.
{questions}

# For `cotally survey results`: the shares that the values of one plain column have in the population. Each record then
# stands for its part of it.
# [population.sex]
# f = "51/100"
# m = "49/100"

# For `cotally survey publish`: respondents are asked once more whether a model that was mined is right about their
# answers to the personal questions, which they give once more. They return one bit, true with this chance, else turned.
# [round_two]
# truth = "3/4"

# Every other text of the page may be replaced: `cotally survey texts` prints them all.
[texts]
# send = "Send"
"""


_PROPOSALS = (
    "Were you born in January to June?",
    "Is your house number odd?",
    "Is the last digit of your phone number odd?",
    "Was your mother born in January to June?",
    "Was your father born in January to June?",
    "Was your best friend born on an odd day of the month?",
)


@dataclass(frozen=True)
class DraftQuestion:
    """A column of a new survey; `edges` of its bins, if it has some, are numbers in text."""

    name: str
    text: str
    values: tuple[str, ...]
    edges: tuple[str, ...] = ()


def draft_design(questions: Sequence[DraftQuestion], kind: str, theta: str) -> str:
    """Return a `design.toml` in which every column has a coin of its own; theta is the chance of two answers."""
    columns = [f"{toml_text(each.name)} = {{ {_domain(each)} }}" for each in questions]
    groups = [f'"group {place}" = {_group(each, kind, theta)}' for place, each in enumerate(questions, 1)]
    first = questions[0].name.replace('"', "'")
    return _DESIGN.format(
        kind=kind,
        theta=theta,
        first=first,
        columns="\n".join(columns),
        groups="\n".join(groups),
        personal=_PERSONAL.format(chances="\n".join(map(_chances, questions))) if kind == "unrelated" else "",
    )


def _group(question: DraftQuestion, kind: str, theta: str) -> str:
    """Return a group of its own, with the theta that gives its answers the odds of two."""
    columns, values, chance = f"[{toml_text(question.name)}]", len(question.values), exact_number(theta)
    if values == 2 or chance is None:
        return columns
    truth, lies = (chance, values - 1) if kind == "related" else (2 * chance, values)
    return f'{{ columns = {columns}, theta = "{truth / (truth + lies * (1 - chance))}" }}'


def _chances(question: DraftQuestion) -> str:
    chance = toml_text(f"1/{len(question.values)}")
    chances = ", ".join(f"{toml_text(value)} = {chance}" for value in question.values)
    return f"{toml_text(question.name)} = {{ {chances} }}"


def _domain(question: DraftQuestion) -> str:
    if question.edges:
        return f"bins = [{', '.join(question.edges)}]"
    return f"values = [{', '.join(map(toml_text, question.values))}]"


def draft_survey(title: str, questions: Sequence[DraftQuestion]) -> str:
    """Return a `survey.toml` for it, which proposes another personal question for every column."""
    sections = []
    for place, each in enumerate(questions):
        answers = ", ".join(map(toml_text, each.values))
        sections.append(
            f"[questions.{toml_text(each.name)}]\ntext = {toml_text(each.text)}\nanswers = [{answers}]\n"
            f"# personal = {toml_text(_proposal(place))}\n# personal_answers = [{answers}]"
        )
    return _SURVEY.format(
        title=toml_text(title),
        questions="\n\n".join(sections),
        survey=key_lines({name: SURVEY[name] for name in ("design", "language", "direction")}, SURVEY),
        server=key_lines(SERVER, ("listen", "address", "requests", "submissions")),
        store=key_lines(STORE, STORE),
        close=key_lines(CLOSE, ()),
    )


def _proposal(place: int) -> str:
    """Return a personal question whose answer says nothing about the answers to those of other numbers."""
    more = f"Is the last digit of the phone number of entry {place + 1} among your contacts odd?"
    return _PROPOSALS[place] if place < len(_PROPOSALS) else more


SETTINGS_FILE, DESIGN_FILE_NAME = "survey.toml", "design.toml"
_MOST_VALUES = 12


def questions_of_table(frame: Frame, names: Sequence[str] = ()) -> list[DraftQuestion]:
    """Return a question per column: its values, or rounded quartiles of many numbers; what few hold is "other"."""
    return [_question_of_column(frame, name) for name in names or frame.columns]


def _question_of_column(frame: Frame, name: str) -> DraftQuestion:
    frame.need(name)
    cells = [cell for cell in frame.column(name).cells if cell is not None]
    values = sorted(set(cells))
    numbers = [number(value) for value in values]
    known = [each for each in numbers if each is not None]
    if 2 <= len(values) <= _MOST_VALUES:
        by_number = len(known) == len(values)
        order = [value for _, value in sorted(zip(known, values, strict=True))] if by_number else values
        named = [value for value in order if cells.count(value) >= SMALLEST_VALUE and value != OTHER]
        if not named:
            cure = "name the answers yourself, or bring a larger pilot"
            raise DataError(f"fewer than {SMALLEST_VALUE} rows hold each value: {cure}", path=frame.path, column=name)
        return DraftQuestion(name, f"{name}?", (*named, *([OTHER] if len(named) < len(order) else [])))
    if len(known) < len(values) or not values:
        raise DataError(
            f"it has {len(values)} values, and a question 2 to {_MOST_VALUES}: leave it out, or merge values",
            path=frame.path,
            column=name,
        )
    held = SortedNumbers.of(Counter(each for each in map(number, cells) if each is not None))
    edges = edges_of("quantiles:4", held, SMALLEST_VALUE)
    return DraftQuestion(name, f"{name}?", bin_labels(edges), tuple(f"{edge:f}" for edge in edges))


def pilot_of(frame: Frame, questions: Sequence[DraftQuestion]) -> Frame:
    """Return the table with "other" in place of the texts that its questions do not name."""
    cells = dict(zip(frame.columns, frame.cells, strict=True))
    for each in questions:
        if each.values[-1] == OTHER:
            named = {None, *each.values}
            texts = frame.column(each.name, each.values).cells
            cells[each.name] = Cells.of(text if text in named else OTHER for text in texts)
    return replace(frame, cells=tuple(cells.values()))


def typed_question(text: str, position: int) -> DraftQuestion:
    """Read a question as it is typed: `Do you smoke? = yes, no`."""
    question, _, listed = text.rpartition("=")
    answers = tuple(answer.strip() for answer in listed.split(","))
    if not question.strip() or len(answers) < 2 or not all(answers) or len(set(answers)) < len(answers):
        raise InputError(f"question {position} must be a text, = and two answers or more: 'Do you smoke? = yes, no'")
    return DraftQuestion(f"q{position}", question.strip(), answers)


def write_survey(folder: Path, title: str, questions: Sequence[DraftQuestion], kind: str, theta: str) -> None:
    """Write settings and design into a folder, which is made if it is not there, and read them back."""
    contents = {DESIGN_FILE_NAME: draft_design(questions, kind, theta), SETTINGS_FILE: draft_survey(title, questions)}
    for name in contents:
        if is_there(folder / name):
            raise InputError(f"{folder / name} exists and is kept: choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or 'output error'}") from None
    try:
        for name, content in contents.items():
            write_atomically(folder / name, content)
        read_collector_settings(folder / SETTINGS_FILE)
    except InputError:
        for name in contents:
            (folder / name).unlink(missing_ok=True)
        raise
