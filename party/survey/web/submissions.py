"""What a browser sends, read strictly: bytes from anyone end as a submission or as the name of what is wrong.

`cotally-answer/1`: `{"format", "survey": digest, "code", "answers": two hexadecimal digits per column}`, which has the
same length whatever is answered. The form without a script sends `survey`, `code` and an `a0`, `a1`, ... per column.

Discloses, to the collector: the response of each group, and in the clear the answers of plain columns and which
answers were not given.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final
from urllib.parse import parse_qsl

from party.survey.web.store import code_digest, typed_code
from protocols.tables import NO_ANSWER

ANSWER_FORMAT: Final = "cotally-answer/1"
BIT_FORMAT: Final = "cotally-bit/1"
MALFORMED, OTHER_SURVEY, UNKNOWN_CODE = "malformed", "other_survey", "unknown_code"


class RefusedError(Exception):
    """A request that is refused; `why` is what the page has a text for."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Cut(Enum):
    """Why a connection was ended that asked for something."""

    UNREAD = "unread"
    LONG_HEAD = "long head"


@dataclass(frozen=True, repr=False)
class Submission:
    """A code, by its digest, and what came with it: a byte per column."""

    code: bytes
    content: bytes


@dataclass(frozen=True)
class ResponseShape:
    """What a response to this survey can be."""

    survey: str
    sizes: tuple[int, ...]
    optional: tuple[bool, ...]

    @property
    def most_bytes(self) -> int:
        """The length of the longest body: a form's, with room for every code and digit."""
        return 1024 + 16 * len(self.sizes)

    def read_answer(self, body: bytes) -> Submission:
        """Read what the page sends."""
        content = _fields(body, ANSWER_FORMAT, ("survey", "code", "answers"))
        self._check_survey(content)
        try:
            response = bytes.fromhex(content["answers"])
        except ValueError:
            raise RefusedError(MALFORMED) from None
        if response.hex() != content["answers"].lower():
            raise RefusedError(MALFORMED)
        return Submission(_code(content), self._checked(response))

    def read_form(self, body: bytes) -> Submission:
        """Read what the form without a script sends."""
        names = ["survey", "code", *(f"a{column}" for column in range(len(self.sizes)))]
        try:
            pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=True, errors="strict")
        except ValueError:
            raise RefusedError(MALFORMED) from None
        if sorted(name for name, _ in pairs) != sorted(names):
            raise RefusedError(MALFORMED)
        content = dict(pairs)
        self._check_survey(content)
        digits = [content[name] for name in names[2:]]
        if not all(len(text) == 2 and set(text) <= set("0123456789abcdef") for text in digits):
            raise RefusedError(MALFORMED)
        return Submission(_code(content), self._checked(bytes.fromhex("".join(digits))))

    def _check_survey(self, content: Mapping[str, str]) -> None:
        if content["survey"] != self.survey:
            raise RefusedError(OTHER_SURVEY)

    def _checked(self, response: bytes) -> bytes:
        columns = zip(response, self.sizes, self.optional, strict=False)
        possible = all(code < size or (optional and code == NO_ANSWER) for code, size, optional in columns)
        if len(response) != len(self.sizes) or not possible:
            raise RefusedError(MALFORMED)
        return response


@dataclass(frozen=True, repr=False)
class BitSubmission:
    """A code, by its digest, and whether the bit that came with it says that the model is right."""

    code: bytes
    right: bool


def read_bit(body: bytes, digest: str) -> BitSubmission:
    """Read what the page of round two sends."""
    content = _fields(body, BIT_FORMAT, ("round", "code", "bit"))
    if content["round"] != digest:
        raise RefusedError(OTHER_SURVEY)
    if content["bit"] not in ("0", "1"):
        raise RefusedError(MALFORMED)
    return BitSubmission(_code(content), content["bit"] == "1")


def _fields(body: bytes, form: str, own: Sequence[str]) -> Mapping[str, str]:
    """Return the texts of a JSON object of this format that has these fields, each once, and no others."""
    try:
        content = json.loads(body.decode("ascii"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise RefusedError(MALFORMED) from None
    names = {"format", *own}
    if not isinstance(content, dict) or content.keys() != names or content["format"] != form:
        raise RefusedError(MALFORMED)
    if not all(isinstance(content[name], str) for name in names):
        raise RefusedError(MALFORMED)
    return content


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError
    return content


def _code(content: Mapping[str, str]) -> bytes:
    code = typed_code(content["code"])
    if code is None:
        raise RefusedError(UNKNOWN_CODE)
    return code_digest(code)
