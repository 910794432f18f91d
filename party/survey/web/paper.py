"""The form for coins, dice and slips of paper as a PDF, to be printed: rules, questions, and boxes to tick.

It says what the form on the server says, by the same functions. Whoever holds a filled form types it there under its
code. A PDF has no letters of its own but those of Western Europe; for others a font file is put into it.
"""

import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fontTools.ttLib import TTLibError
from fpdf import FPDF
from fpdf.errors import FPDFException
from fpdf.fonts import TTFFont

from party.errors import ConfigError
from party.settings.collector import CollectorSettings
from party.survey.web.pages import form_words

_BUILT_IN, _ENCODING = "helvetica", "windows-1252"
_MARGIN, _BOX, _INDENT = 18.0, 3.5, 7.0  # millimetres
_TITLE, _HEADING, _TEXT, _SMALL = 18, 13, 11, 9.5  # points
_NO_DATE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""In place of the time at which a form is made: it would make every copy another one."""
_LINE: Final = 0.5  # millimetres per point of a letter


def paper_form(settings: CollectorSettings, font: Path | None) -> bytes:
    """Return the form as a PDF, the same bytes whenever it is made.

    Args:
        settings: Of the survey.
        font: A TrueType or OpenType file with all letters of its texts; None for those of Western Europe.

    Raises:
        ConfigError: A block cannot be answered by hand, or the font cannot be read or lacks a letter.
    """
    words = form_words(settings)
    sheet = _Sheet(_document(font), is_reversed=settings.direction == "rtl")
    sheet.document.set_title(settings.title)
    sheet.document.set_lang(settings.language)
    texts = settings.texts
    sheet.write(settings.title, _TITLE, after=3)
    for paragraph in [*settings.introduction, texts["hand"]]:
        sheet.write(paragraph, _TEXT, after=2)
    sheet.write(f"{texts['code']}: {'_' * 36}", _TEXT, after=0, before=2)
    sheet.write(texts["code_hint"], _SMALL, after=2)
    for block in words["blocks"]:
        _put_block(sheet, block, words)
    return bytes(sheet.document.output())


@dataclass(frozen=True)
class _Sheet:
    """A document that is written from top to bottom, in either direction of a script."""

    document: FPDF
    is_reversed: bool

    def write(self, text: str, size: float, *, after: float, before: float = 0, indent: float = 0) -> None:
        """Write a paragraph."""
        page = self.document
        self._check_letters(text)
        page.set_font(page.font_family, size=size)
        page.set_y(page.get_y() + before)
        page.set_x(page.l_margin + (0 if self.is_reversed else indent))
        align = "R" if self.is_reversed else "L"
        page.multi_cell(page.epw - indent, _LINE * size, text, align=align, new_x="LMARGIN", new_y="NEXT")
        page.set_y(page.get_y() + after)

    def tick(self, text: str) -> None:
        """Write an answer beside its box."""
        page = self.document
        page.set_font(page.font_family, size=_TEXT)
        if page.will_page_break(2 * _LINE * _TEXT):
            page.add_page()
        left = page.w - page.r_margin - _BOX if self.is_reversed else page.l_margin + 1
        page.rect(left, page.get_y() + 1, _BOX, _BOX)
        self.write(text, _TEXT, after=0.5, indent=_INDENT)

    def _check_letters(self, text: str) -> None:
        font = self.document.current_font
        known = font.cmap if isinstance(font, TTFFont) else None
        letters = sorted(set("".join(text.split())))
        missing = [x for x in letters if (ord(x) not in known if known else not x.encode(_ENCODING, "ignore"))]
        if missing:
            raise ConfigError(
                f"{'The font' if known else 'A PDF of itself'} lacks letters such as {' '.join(missing[:5])}: name a "
                "font file that has them"
            )


def _put_block(sheet: _Sheet, block: dict[str, Any], words: dict[str, Any]) -> None:
    texts = words["texts"]
    beside = block["beside"]
    sheet.write(block["heading"], _HEADING, before=4, after=1)
    for rule in block["by_hand"]:
        sheet.write(rule, _TEXT, after=0.5)
    for question in block["questions"]:
        own, other = ("first_statement", "second_statement") if beside else ("private", "personal")
        both = question["personal"] is not None
        sheet.write((f"{texts[own]}: " if both else "") + question["text"], _TEXT, before=3, after=0.5)
        if both:
            sheet.write(f"{texts[other]}: {question['personal']}", _TEXT, after=0.5)
        for rule in question["by_hand"]:
            sheet.write(rule, _SMALL, after=0.5)
        for answer in [*question["both_answers"], *([texts["no_answer"]] if question["optional"] else [])]:
            sheet.tick(answer)


def _document(font: Path | None) -> FPDF:
    document = FPDF(format="A4")
    document.set_creation_date(_NO_DATE)
    document.set_margin(_MARGIN)
    document.set_auto_page_break(auto=True, margin=_MARGIN)
    document.add_page()
    if font is None:
        document.core_fonts_encoding = _ENCODING
        document.set_font(_BUILT_IN)
        return document
    try:
        document.add_font("own", fname=font)
    except (OSError, FPDFException, TTLibError, struct.error, ValueError, LookupError) as error:
        raise ConfigError(f"{font} cannot be read as a font: {type(error).__name__}") from None
    document.set_font("own")
    document.set_text_shaping(use_shaping_engine=True)
    return document
