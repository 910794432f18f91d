"""The pages as bytes: each one file, the same for everybody, that loads nothing and runs no script but its own.

A page's policy names its one script and its one style by their digests, so that nothing that was slipped into it runs;
it lets the script call nobody but the collector, and a form of the main page nobody at all: an answer cannot leave by
accident. The code of a link is not known to who serves the page.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined

from party.errors import ConfigError
from party.settings.collector import CollectorSettings
from party.survey.web import description
from party.survey.web.round_two import test_json
from party.survey.web.store import PublishedModel
from protocols.tables import NO_ANSWER

_COIN, _DIE, _MOST_SLIPS = 2, 6, 60
_RELATED: Final = "related"

Texts = Mapping[str, str]


def check_by_hand(block: description.PageBlock) -> None:
    """Refuse a block that cannot be answered by hand."""
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


def is_by_hand(block: description.PageBlock) -> bool:
    """Return whether a block can be answered by hand."""
    try:
        check_by_hand(block)
    except ConfigError:
        return False
    return True


def block_rules(block: description.PageBlock, texts: Texts) -> list[str]:
    """Return how to toss for a block that can be answered by hand, and what each side says."""
    if block.kind == description.DIRECT or block.kind in description.STATEMENTS:
        return [texts[f"rule_{block.kind}"]]
    if len(block.coin) == 1:
        return [texts["hand_truth"].format(faces=texts["span"].format(first=1, last=1))]
    keys = _SAYS[block.kind if block.kind == _RELATED or block.asks_personal else "drawn"]
    sides = zip(keys, _spans(block.coin, texts), strict=True)
    return [_device(block.coin, texts), *(texts[key].format(faces=span) for key, span in sides if span)]


def question_rules(question: description.PageQuestion, texts: Texts) -> list[str]:
    """Return how to draw a personal answer, where the respondent is to draw it."""
    if not question.drawn:
        return []
    if sum(question.drawn) == 1:  # one answer is certain
        (answer,) = (answer for side, answer in zip(question.drawn, question.answers, strict=True) if side)
        return [texts["again"].format(rule=texts["certain"].format(answer=answer))]
    picks = zip(_spans(question.drawn, texts), question.answers, strict=True)
    rule = [texts["pick"].format(faces=span, answer=answer) for span, answer in picks if span]
    return [texts["again"].format(rule=" ".join([_device(question.drawn, texts), *rule]))]


def both_answers(block: description.PageBlock, question: description.PageQuestion) -> list[str]:
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


@dataclass(frozen=True, repr=False)
class PageFile:
    """A page and the policy that it is served with."""

    body: bytes
    policy: str

    @property
    def digest(self) -> str:
        """SHA-256, by which anybody can check whether the same page was served to others."""
        return sha256(self.body).hexdigest()


def main_page(settings: CollectorSettings) -> PageFile:
    """Return the page that tosses the coins."""
    shown = {name: text for name, text in settings.texts.items() if name.startswith(("sent_", "error_", "sending"))}
    described = description.page_json(settings) | {"texts": shown}
    return _page("page.html", settings, described, ("sampler.js", "link.js", "kept.js", "page.js"))


def has_form(settings: CollectorSettings) -> bool:
    """Return whether the survey can be answered by hand."""
    return all(map(is_by_hand, description.blocks_of(settings)))


def form_page(settings: CollectorSettings) -> PageFile:
    """Return the form for coins, dice and slips of paper."""
    for block in description.blocks_of(settings):
        check_by_hand(block)
    return _page("form.html", settings, None, ())


def test_page(settings: CollectorSettings, published: PublishedModel) -> PageFile:
    """Return the page that tests a model on personal answers."""
    scripts = ("sampler.js", "link.js", "kept.js", "predict.js", "test.js")
    told = {name: text for name, text in settings.texts.items() if name.startswith(("test_", "error_", "sending"))}
    truth = Fraction(published.truth)
    disguised = settings.texts["test_plain" if truth == 1 else "test_disguised"].format(truth=truth)
    label = len(settings.questionnaire.names) - 1  # the class stands last, and all that is tested in its group
    tested = next(
        each for each in description.blocks_of(settings) if label in {question.column for question in each.questions}
    )
    words = {"disguised": disguised, "questions": sorted(tested.questions, key=lambda question: question.column)}
    return _page("test.html", settings, test_json(settings.questionnaire, published) | {"texts": told}, scripts, words)


def reply_page(settings: CollectorSettings, text: str) -> PageFile:
    """Return what the form's sender reads: that it was taken, or why not."""
    return _page("reply.html", settings, None, (), {"text": settings.texts[text]})


def closed_page(settings: CollectorSettings) -> PageFile:
    """Return the page of a survey that is closed: it takes from the browser what that has kept."""
    described = {"survey": description.survey_digest(settings.questionnaire)}
    return _page("reply.html", settings, described, ("kept.js", "closed.js"), {"text": settings.texts["closed"]})


def _page(
    template: str,
    settings: CollectorSettings,
    described: Mapping[str, object] | None,
    scripts: tuple[str, ...],
    more: Mapping[str, object] | None = None,
) -> PageFile:
    style = _file("page.css")
    script = "".join(map(_file, scripts))
    own = {
        "style": style,
        "script": script,
        "json": json.dumps(described or {}, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
    }
    words = {**_words(settings), **own, **(more or {})}
    body = _environment().get_template(template).render(words)
    directives = {
        "default-src": "'none'",
        "style-src": f"'{_hash(style)}'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "form-action": "'none'" if script else "'self'",
    }
    if script:
        directives |= {"script-src": f"'{_hash(script)}'", "connect-src": "'self'"}
    return PageFile(body.encode(), "; ".join(f"{name} {source}" for name, source in directives.items()))


def _words(settings: CollectorSettings) -> dict[str, Any]:
    blocks = description.blocks_of(settings)
    return {
        "title": settings.title,
        "language": settings.language,
        "direction": settings.direction,
        "introduction": settings.introduction,
        "texts": settings.texts,
        "survey": description.survey_digest(settings.questionnaire),
        "no_answer": NO_ANSWER,
        "asks_again": settings.round_two is not None,
        "has_form": all(map(is_by_hand, blocks)),
        "blocks": [_block(block, number, settings.texts) for number, block in enumerate(blocks, 1)],
    }


def _block(block: description.PageBlock, number: int, texts: Mapping[str, str]) -> dict[str, Any]:
    by_hand = is_by_hand(block)
    kind = block.kind if block.kind != "unrelated" or block.asks_personal else "drawn"
    beside = block.kind in description.STATEMENTS
    notes = [texts["note_relation"]] * block.relates + [texts["note_personal"]] * block.asks_personal
    notes += [texts["note_beside"]] * beside
    return {
        "heading": texts["block"].format(number=number),
        "rule": texts[f"rule_{kind}"].format(truth=block.truth),
        "notes": notes,
        "beside": beside,
        "by_hand": [*block_rules(block, texts), *notes] if by_hand else [],
        "questions": [
            vars(question)
            | {
                "by_hand": question_rules(question, texts) if by_hand else [],
                "both_answers": both_answers(block, question),
            }
            for question in block.questions
        ],
    }


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    return Environment(loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined)


def _file(name: str) -> str:
    return files("party.survey.web").joinpath("files", name).read_text("utf-8")
