"""Rules for a respondent who tosses by hand: a coin, a die, or slips of paper, by which chances are exact."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from party.errors import ConfigError
from party.survey.web.description import DIRECT, STATEMENTS, PageBlock, PageQuestion

_COIN, _DIE, _MOST_SLIPS = 2, 6, 60
_RELATED: Final = "related"

Texts = Mapping[str, str]


def check_by_hand(block: PageBlock) -> None:
    """Refuse a block that cannot be answered by hand.

    Raises:
        ConfigError: It cannot.
    """
    if block.kind == _RELATED and len(block.coin) > _COIN:
        raise ConfigError(
            f"group {block.name!r} moves answers by several places, which only the page can do: for a form by hand use "
            'columns of two values, or kind = "unrelated"'
        )
    sides = [block.coin, *(question.drawn for question in block.questions if question.drawn)]
    if any(_faces(each) is None for each in sides):
        raise ConfigError(
            f"group {block.name!r} has chances that no coin, die or {_MOST_SLIPS} slips of paper have: for a form by "
            "hand, use smaller fractions"
        )


def is_by_hand(block: PageBlock) -> bool:
    """Tell whether a block can be answered by hand."""
    try:
        check_by_hand(block)
    except ConfigError:
        return False
    return True


def block_rules(block: PageBlock, texts: Texts) -> list[str]:
    """Return how to toss for a block that can be answered by hand, and what each side says."""
    if block.kind == DIRECT or block.kind in STATEMENTS:
        return [texts[f"rule_{block.kind}"]]
    if len(block.coin) == 1:
        return [texts["hand_truth"].format(faces=texts["span"].format(first=1, last=1))]
    keys = _SAYS[block.kind if block.kind == _RELATED or block.asks_personal else "drawn"]
    sides = zip(keys, _spans(block.coin, texts), strict=True)
    return [_device(block.coin, texts), *(texts[key].format(faces=span) for key, span in sides if span)]


def question_rules(question: PageQuestion, texts: Texts) -> list[str]:
    """Return how to draw a personal answer, where the respondent is to draw it."""
    if not question.drawn:
        return []
    if sum(question.drawn) == 1:  # one answer is certain
        (answer,) = (answer for side, answer in zip(question.drawn, question.answers, strict=True) if side)
        return [texts["again"].format(rule=texts["certain"].format(answer=answer))]
    picks = zip(_spans(question.drawn, texts), question.answers, strict=True)
    rule = [texts["pick"].format(faces=span, answer=answer) for span, answer in picks if span]
    return [texts["again"].format(rule=" ".join([_device(question.drawn, texts), *rule]))]


def both_answers(block: PageBlock, question: PageQuestion) -> list[str]:
    """Return what stands beside each box: the private answer and, where it has other words, the personal one."""
    if not block.asks_personal or question.personal_answers == question.answers:
        return list(question.answers)
    return [f"{own} / {other}" for own, other in zip(question.answers, question.personal_answers, strict=True)]


_SAYS: Final = {
    _RELATED: ("hand_truth", "hand_opposite"),
    "unrelated": ("hand_private", "hand_personal"),
    "drawn": ("hand_truth", "hand_drawn"),
}
"""The text of each side of a block's coin."""


def _faces(sides: Sequence[int]) -> int | None:
    """Return how many equally likely faces what is tossed has; None if nothing has these chances."""
    total = sum(sides)
    if total in (1, _COIN):
        return _COIN if total == _COIN else 1
    if _DIE % total == 0:
        return _DIE
    return total if total <= _MOST_SLIPS else None


def _device(sides: Sequence[int], texts: Texts) -> str:
    faces = _faces(sides)
    if faces in (_COIN, _DIE):
        return texts["coin" if faces == _COIN else "die"]
    return texts["slips"].format(faces=faces)


def _spans(sides: Sequence[int], texts: Texts) -> list[str]:
    """Return which faces each side has, in words; nothing where it has none.

    >>> _spans([2, 1], {"span": "{first} to {last}"})
    ['1 to 4', '5 to 6']
    """
    faces, total = _faces(sides) or 0, sum(sides)
    if faces == _COIN and list(sides) == [1, 1]:
        return [texts["heads"], texts["tails"]]
    ends = [end * faces // total for end in accumulate(sides)]
    begins = [1, *(end + 1 for end in ends[:-1])]
    return [
        "" if last < first else str(first) if first == last else texts["span"].format(first=first, last=last)
        for first, last in zip(begins, ends, strict=True)
    ]
