"""The files that `cotally survey new` writes: a design, and the settings of the survey, with every key explained."""

from collections.abc import Sequence
from dataclasses import dataclass

from party.settings.collector import CLOSE, SERVER, STORE, SURVEY
from party.settings.template import key_lines
from party.settings.toml import toml_text
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
    groups = [f'"group {number}" = {_group(each, kind, theta)}' for number, each in enumerate(questions, 1)]
    first = questions[0].name.replace('"', "'")
    return _DESIGN.format(
        kind=kind,
        theta=theta,
        first=first,
        columns="\n".join(columns),
        groups="\n".join(groups),
        personal="".join(_chances(questions) if kind == "unrelated" else ()),
    )


def _group(question: DraftQuestion, kind: str, theta: str) -> str:
    """Return a group of its own, with the theta that gives its answers the odds of two."""
    columns, values, chance = f"[{toml_text(question.name)}]", len(question.values), exact_number(theta)
    if values == 2 or chance is None:
        return columns
    truth, lies = (chance, values - 1) if kind == "related" else (2 * chance, values)
    return f'{{ columns = {columns}, theta = "{truth / (truth + lies * (1 - chance))}" }}'


def _chances(questions: Sequence[DraftQuestion]) -> list[str]:
    lines = []
    for each in questions:
        chances = ", ".join(f"{toml_text(value)} = {toml_text(f'1/{len(each.values)}')}" for value in each.values)
        lines.append(f"{toml_text(each.name)} = {{ {chances} }}")
    return [_PERSONAL.format(chances="\n".join(lines))]


def _domain(question: DraftQuestion) -> str:
    if question.edges:
        return f"bins = [{', '.join(question.edges)}]"
    return f"values = [{', '.join(map(toml_text, question.values))}]"


def draft_survey(title: str, questions: Sequence[DraftQuestion]) -> str:
    """Return a `survey.toml` for it, which proposes another personal question for every column."""
    sections = []
    for number, each in enumerate(questions):
        answers = ", ".join(map(toml_text, each.values))
        sections.append(
            f"[questions.{toml_text(each.name)}]\ntext = {toml_text(each.text)}\nanswers = [{answers}]\n"
            f"# personal = {toml_text(_proposal(number))}\n# personal_answers = [{answers}]"
        )
    return _SURVEY.format(
        title=toml_text(title),
        questions="\n\n".join(sections),
        survey=key_lines({name: SURVEY[name] for name in ("design", "language", "direction")}, SURVEY),
        server=key_lines(SERVER, ("listen", "address", "requests", "submissions")),
        store=key_lines(STORE, STORE),
        close=key_lines(CLOSE, ()),
    )


def _proposal(number: int) -> str:
    """Return a personal question whose answer says nothing about the answers to those of other numbers."""
    more = f"Is the last digit of the phone number of entry {number + 1} among your contacts odd?"
    return _PROPOSALS[number] if number < len(_PROPOSALS) else more
