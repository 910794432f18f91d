"""One document, and what a screen, a browser and a ticket have of it; and what programs read."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.show.document import Document, Drawing, Grid, PageSection, Pairs, headed, laid_out
from party.show.page.parts import as_html, as_markdown
from party.show.screen import plain

_TABLE = Grid(headed("<Name", "Share", "Error:1", "Of <all>:3"), [("a*b", "1%", "0.5", "9"), ("<i>", "22%", "1", "8")])
_FIRST = PageSection("one", "The first", ["One sentence.", "", "Two sentences,", "  one set in.", _TABLE])
_OTHER = PageSection("two", "The second", [Pairs([("Error", "how far off"), ("Of", "all")], of=_TABLE), Drawing(
    "A picture", "<svg></svg>", ["├─ x", "└─ y"])])  # fmt: skip
PAGE = Document("A title", [_FIRST, _OTHER])

WIDE = """\
The first:
One sentence.

Two sentences,
  one set in.
Name  Share  Error  Of <all>
a*b      1%    0.5         9
<i>     22%      1         8

The second:
Error  how far off
Of     all
├─ x
└─ y"""
NARROW = """\
Name  Share  Error
a*b      1%    0.5
<i>     22%      1
Left out, as the screen
  is too narrow: Of <all>.

The second:
Error  how far off
├─ x
└─ y"""
MARKDOWN = r"""# A title

## The first

One sentence.

- Two sentences,
- one set in.

| Name | Share | Error | Of \<all\> |
|---|---:|---:|---:|
| a\*b | 1% | 0.5 | 9 |
| \<i\> | 22% | 1 | 8 |

## The second

- **Error**: how far off
- **Of**: all

    ├─ x
    └─ y
"""


def test_a_screen_has_all_that_has_room_and_says_what_has_none() -> None:
    assert "\n".join(laid_out(PAGE.parts, 80)) == WIDE
    assert "\n".join(laid_out(PAGE.parts[5:], 26)) == NARROW


def test_a_ticket_has_plain_text_whatever_names_hold() -> None:
    assert as_markdown(PAGE) == MARKDOWN


@pytest.mark.parametrize("refresh", [None, 7])
def test_a_browser_has_every_part_and_loads_nothing(refresh: int | None) -> None:
    text = as_html(PAGE, refresh)
    body = text.partition("<main>")[2]
    assert re.findall(r"<(h1|h2|p|th|td|dt|dd|svg|pre)\b", body) == [
        "h1", "h2", "p", "p", "p", *["th"] * 4, *["th", "td", "td", "td"] * 2, "h2", *["dt", "dd"] * 2, "svg", "pre",
    ]  # fmt: skip
    assert ("&lt;i&gt;" in body, "<i>" in body) == (True, False)
    assert ('<meta http-equiv="refresh" content="7">' in text) is (refresh == 7)
    assert not re.search(r"src=|href=|<script|://", text)


def test_classes_that_have_no_room_stand_in_a_table_below() -> None:
    folded = Grid(headed("<", "first", "second", "third"), [("value", "0.25", "0.25", "0.5")], folds=True)
    assert laid_out([folded], 40) == ["       first  second  third", "value   0.25    0.25    0.5"]
    assert laid_out([folded], 18) == [
        "       first", "value   0.25", "       second", "value    0.25", "       third", "value    0.5",
    ]  # fmt: skip
    assert laid_out([replace(folded, rows=[])], 14) == ["  first", "  second", "  third"]


@dataclass
class _Found:
    share: Fraction
    error: float
    path: Path | None


def test_programs_read_fields_by_name_exact_numbers_as_text_and_nothing_infinite() -> None:
    found = {"found": (_Found(Fraction(1, 3), float("inf"), Path("a")), _Found(Fraction(1), 0.5, None)), 2: {"b"}}
    assert plain(found) == {
        "found": [{"share": "1/3", "error": None, "path": "a"}, {"share": "1", "error": 0.5, "path": None}],
        "2": ["b"],
    }
    assert plain(frozenset({"c", "a", "b"})) == ["a", "b", "c"]
