"""The pages as bytes: each one file, the same for everybody, that loads nothing and runs no script but its own.

A page's policy names its one script and its one style by their digests, so that nothing that was slipped into it runs;
it lets the script call nobody but the collector, and a form of the main page nobody at all: an answer cannot leave by
accident. The code of a link is not known to who serves the page.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from party.settings.collector import CollectorSettings
from party.survey.web.by_hand import block_rules, both_answers, check_by_hand, is_by_hand, question_rules
from party.survey.web.description import STATEMENTS, PageBlock, blocks_of, page_json, survey_digest
from party.survey.web.round_two import test_json
from party.survey.web.store import PublishedModel
from protocols.tables.table import NO_ANSWER


@dataclass(frozen=True, repr=False)
class PageFile:
    """A page and the policy that it is served with."""

    body: bytes
    policy: str

    @property
    def digest(self) -> str:
        """SHA-256, by which anybody can tell whether the same page was served to others."""
        return sha256(self.body).hexdigest()


def main_page(settings: CollectorSettings) -> PageFile:
    """Return the page that tosses the coins."""
    described = page_json(settings) | {"texts": _told(settings)}
    return _page("page.html", settings, described, ("sampler.js", "link.js", "kept.js", "page.js"))


def has_form(settings: CollectorSettings) -> bool:
    """Tell whether the survey can be answered by hand."""
    return all(map(is_by_hand, blocks_of(settings)))


def form_page(settings: CollectorSettings) -> PageFile:
    """Return the form for coins, dice and slips of paper.

    Raises:
        ConfigError: A block cannot be answered by hand.
    """
    form_words(settings)
    return _page("form.html", settings, None, ())


def form_words(settings: CollectorSettings) -> dict[str, Any]:
    """Return what a form for coins, dice and slips of paper says: its texts, and its blocks with their rules.

    Raises:
        ConfigError: A block cannot be answered by hand.
    """
    for block in blocks_of(settings):
        check_by_hand(block)
    return _words(settings)


def test_page(settings: CollectorSettings, published: PublishedModel) -> PageFile:
    """Return the page that tests a model on personal answers."""
    scripts = ("sampler.js", "link.js", "kept.js", "predict.js", "test.js")
    told = {name: text for name, text in settings.texts.items() if name.startswith(("test_", "error_", "sending"))}
    truth = Fraction(published.truth)
    disguised = settings.texts["test_plain" if truth == 1 else "test_disguised"].format(truth=truth)
    label = len(settings.questionnaire.names) - 1  # the class stands last, and all that is tested in its group
    tested = next(each for each in blocks_of(settings) if label in {question.column for question in each.questions})
    words = {"disguised": disguised, "questions": sorted(tested.questions, key=lambda question: question.column)}
    return _page("test.html", settings, test_json(settings.questionnaire, published) | {"texts": told}, scripts, words)


def reply_page(settings: CollectorSettings, text: str) -> PageFile:
    """Return what the form's sender reads: that it was taken, or why not."""
    return _page("reply.html", settings, None, (), {"text": settings.texts[text]})


def closed_page(settings: CollectorSettings) -> PageFile:
    """Return the page of a survey that is closed: it takes from the browser what that has kept."""
    described = {"survey": survey_digest(settings.questionnaire)}
    return _page("reply.html", settings, described, ("kept.js", "closed.js"), {"text": settings.texts["closed"]})


def results_page(settings: CollectorSettings, shown: Mapping[str, object]) -> PageFile:
    """Return the page of results, for the collector: `tables`, `heads`, `notes` as they are to be read, `refresh`."""
    return _page("results.html", settings, None, (), shown)


def _page(
    template: str,
    settings: CollectorSettings,
    described: Mapping[str, object] | None,
    scripts: tuple[str, ...],
    more: Mapping[str, object] | None = None,
) -> PageFile:
    style = _file("page.css")
    script = "".join(map(_file, scripts))
    own = {"style": style, "script": script, "json": _json(described or {}), "refresh": None}
    words = {**_words(settings), **own, **(more or {})}
    body = _environment().get_template(template).render(words)
    return PageFile(body.encode(), _policy(style, script))


def _policy(style: str, script: str) -> str:
    """Return what a browser is to let a page do: its one style, its one script and its calls, or its one form."""
    directives = {
        "default-src": "'none'",
        "style-src": f"'{_hash(style)}'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "form-action": "'none'" if script else "'self'",
    }
    if script:
        directives |= {"script-src": f"'{_hash(script)}'", "connect-src": "'self'"}
    return "; ".join(f"{name} {source}" for name, source in directives.items())


def _words(settings: CollectorSettings) -> dict[str, Any]:
    blocks = blocks_of(settings)
    return {
        "title": settings.title,
        "language": settings.language,
        "direction": settings.direction,
        "introduction": settings.introduction,
        "texts": settings.texts,
        "survey": survey_digest(settings.questionnaire),
        "no_answer": NO_ANSWER,
        "asks_again": settings.round_two is not None,
        "has_form": all(map(is_by_hand, blocks)),
        "blocks": [_block(block, number, settings.texts) for number, block in enumerate(blocks, 1)],
    }


def _block(block: PageBlock, number: int, texts: Mapping[str, str]) -> dict[str, Any]:
    by_hand = is_by_hand(block)
    kind = block.kind if block.kind != "unrelated" or block.asks_personal else "drawn"
    beside = block.kind in STATEMENTS
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


def _told(settings: CollectorSettings) -> dict[str, str]:
    """Return the texts that the script shows."""
    shown = ("sent_", "error_", "sending")
    return {name: text for name, text in settings.texts.items() if name.startswith(shown)}


def _json(content: Mapping[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    return Environment(loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined)


def _file(name: str) -> str:
    return files("party.survey.web").joinpath("files", name).read_text("utf-8")
