"""What the page knows of a survey: its blocks, their coins and questions, as plain types for JSON.

`cotally-page/1` holds no chance but as whole numbers. A block's `kind` says what its coin does to its answers:
"related" moves them on by the number of places that the coin shows, "unrelated" sends the personal ones where it shows
1, and "direct" has no coin: nor have two statements of which one says how they go together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from math import lcm
from typing import Final

from party.settings.collector import CollectorSettings
from party.settings.survey import Questionnaire
from protocols.randomized_response.design import Kind
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.randomness import canonical
from protocols.tables import NO_ANSWER

PAGE_FORMAT: Final = "cotally-page/1"
DIRECT: Final = "direct"
STATEMENTS: Final = (Kind.CROSSWISE.value, Kind.TRIANGULAR.value)
"""Blocks of two statements, of which the respondent says only how they go together: the page tosses no coin."""


@dataclass(frozen=True)
class PageQuestion:
    """A column as its respondent meets it; where the page draws the personal answer, `drawn` are whole chances."""

    column: int
    text: str
    answers: tuple[str, ...]
    optional: bool
    personal: str | None
    personal_answers: tuple[str, ...]
    drawn: tuple[int, ...]


@dataclass(frozen=True)
class PageBlock:
    """The columns of a group, or the plain ones: what its coin does (`kind`, whole chances), its questions."""

    name: str
    kind: str
    coin: tuple[int, ...]
    questions: tuple[PageQuestion, ...]
    relates: bool

    @property
    def truth(self) -> Fraction:
        """The chance that its coin shows the truth."""
        return Fraction(self.coin[0], sum(self.coin))

    @property
    def asks_personal(self) -> bool:
        """Whether it has personal questions for its respondent."""
        return self.kind not in STATEMENTS and any(question.personal is not None for question in self.questions)


def survey_digest(questionnaire: Questionnaire) -> str:
    """Return the digest of all that decides what a response means: it goes with each response."""
    pairs = zip(questionnaire.names, questionnaire.values, strict=True)
    columns = [canonical(name.encode(), *(value.encode() for value in values)) for name, values in pairs]
    declared = repr(sorted(questionnaire.design.declaration().items())).encode()
    return sha256(canonical(b"cotally survey", declared, *columns)).hexdigest()


def blocks_of(settings: CollectorSettings) -> tuple[PageBlock, ...]:
    """Return the blocks: those of the design's groups, then what is plain."""
    questionnaire, design = settings.questionnaire, settings.questionnaire.design
    blocks = [
        PageBlock(
            name=name,
            kind=_KIND_ON_PAGE[design.part(k).kind],
            coin=(1,) if design.part(k).kind.value in STATEMENTS else whole_numbers(design.coin_chances(k)),
            questions=tuple(_question(settings, column) for column in design.groups[k]),
            relates=any(design.disclosed_modulus(*pair) > 1 for pair in combinations(design.groups[k], 2)),
        )
        for k, name in enumerate(questionnaire.group_names)
    ]
    if design.plain:
        plain = tuple(_question(settings, column) for column in design.plain)
        blocks.append(PageBlock(DIRECT, DIRECT, (1,), plain, relates=False))
    return tuple(blocks)


_KIND_ON_PAGE: Final = {
    Kind.RELATED: Kind.RELATED.value,
    Kind.UNRELATED: Kind.UNRELATED.value,
    Kind.FORCED: Kind.UNRELATED.value,
    Kind.CROSSWISE: Kind.CROSSWISE.value,
    Kind.TRIANGULAR: Kind.TRIANGULAR.value,
}
"""What a block's coin does; a forced answer is a personal one that the page draws."""


def _question(settings: CollectorSettings, column: int) -> PageQuestion:
    asked, domain = settings.questions[column], settings.questionnaire.domains[column]
    design = settings.questionnaire.design
    group = design.group_of(column)
    part = None if group is None else design.part(group)
    chances = part.personal[column] if isinstance(part, UnrelatedDesign) else ()
    return PageQuestion(
        column=column,
        text=asked.text,
        answers=asked.answers,
        optional=domain.may_be_missing,
        personal=asked.personal,
        personal_answers=asked.personal_answers,
        drawn=whole_numbers(chances) if chances and asked.personal is None else (),
    )


def whole_numbers(chances: Sequence[Fraction]) -> tuple[int, ...]:
    """Return the smallest whole numbers in proportion to chances that add up to 1.

    >>> whole_numbers([Fraction(4, 5), Fraction(1, 10), Fraction(1, 10)])
    (8, 1, 1)
    """
    scale = lcm(*(chance.denominator for chance in chances))
    return tuple(int(chance * scale) for chance in chances)


def page_json(settings: CollectorSettings) -> dict[str, object]:
    """Return what the script of the page reads."""
    return {
        "format": PAGE_FORMAT,
        "survey": survey_digest(settings.questionnaire),
        "columns": [len(values) for values in settings.questionnaire.values],
        "noAnswer": NO_ANSWER,
        "blocks": [
            {
                "kind": DIRECT if block.kind in STATEMENTS else block.kind,
                "coin": list(map(str, block.coin)),
                "questions": [{"column": each.column, "drawn": list(map(str, each.drawn))} for each in block.questions],
            }
            for block in blocks_of(settings)
        ],
    }
