"""One document, and what a screen, a browser and a ticket have of it; and what programs read."""

import io
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.data.notices import About
from party.records.json_codec import to_json
from party.records.run_file import RunReport
from party.show.document import Document, Drawing, Grid, PageSection, Pairs, headed, laid_out
from party.show.notices import _SENTENCES, notes_once, notice_text
from party.show.page.parts import as_html, as_markdown
from party.show.parties import code_lines
from party.show.progress import (
    CLEAR,
    WORDS,
    Display,
    LineDisplay,
    Step,
    TerminalDisplay,
    TimeLeft,
    Work,
    complain,
    duration,
    make_progress,
    shown_drawing,
)
from party.show.runs import notice_lines, write_figures
from party.show.screen import release
from party.survey import read_design
from protocols.role import Phase
from protocols.simulation.two_party import bulk_draw
from tests.party.records.test_run_file import FAST, OF_PLAIN, REPORT, ROW, SMC
from tests.party.survey.files import UNRELATED, write_design
from tests.support.examples import few

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
    assert to_json(found) == {
        "found": [{"share": "1/3", "error": None, "path": "a"}, {"share": "1", "error": 0.5, "path": None}],
        "2": ["b"],
    }
    assert to_json(frozenset({"c", "a", "b"})) == ["a", "b", "c"]


FULL = replace(
    REPORT,
    rows=(
        replace(OF_PLAIN, accuracy=0.85),
        replace(SMC, method="randomized", accuracy=0.6, cost_ratio=0.0),
        replace(ROW, omega=None, accuracy=0.85, cost_ratio=1.0),
        ROW,
        replace(SMC, seconds=123.4),
        replace(FAST, cost_ratio=0.37),
    ),
)


def draw(folder: Path, report: RunReport) -> tuple[bytes, bytes]:
    png, svg = folder / "figure.png", folder / "figure.svg"
    write_figures(report, png, svg)
    return png.read_bytes(), svg.read_bytes()


def test_the_figure_is_a_png_and_an_svg_without_a_date_that_name_what_they_show(tmp_path: Path) -> None:
    png, svg = draw(tmp_path, FULL)
    assert png.startswith(b"\x89PNG")
    text = svg.decode()
    assert "<dc:date>" not in text
    shown = ("tic-tac-toe", "plain ID3", "randomized only", "Dot products by Paillier", ">42<", ">12<", "5.6", "all")
    for words in (*shown, "SMC only", ">100<", "123", "Oblivious transfer", ">37<", "1.5"):
        assert words in text
    less = replace(FULL, rows=tuple(row for row in FULL.rows if row.method != "smc"))
    again, without = draw(tmp_path, less)
    assert not any(f">{words}<" in without.decode() for words in ("SMC only", "123"))
    assert draw(tmp_path, less) == (again, without)


@pytest.mark.parametrize("rows", few([(), (replace(ROW, accuracy=None),)], 2))
def test_a_report_with_little_in_it_is_drawn_too(tmp_path: Path, rows: tuple[object, ...]) -> None:
    _, svg = draw(tmp_path, replace(REPORT, rows=rows))  # type: ignore[arg-type]
    assert b"no records were held out" in svg


@pytest.mark.parametrize(("seconds", "told"), [(0.01, False), (20.0, True)])
def test_draws_are_shown_once_they_take_a_while(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, told: bool
) -> None:
    questionnaire = read_design(write_design(tmp_path, UNRELATED))
    now = iter(np.arange(0, 1000 * seconds, seconds).tolist())
    codes = np.zeros((3, len(questionnaire.names)), dtype=np.uint8)
    with shown_drawing(questionnaire.draws, lambda: next(now)) as watch:
        questionnaire.design.randomize(codes, watch(bulk_draw(np.random.default_rng(0), len(codes))))
    text = capsys.readouterr().err
    assert ("drawing coins" in text) is told
    assert ("100%" in text) is told


def test_a_table_that_is_read_again_has_nothing_new_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    tell = notes_once()
    tell([About.SPELLED_ALIKE(column="city", values=2, cells=9)])
    tell([About.SPELLED_ALIKE(column="city", values=2, cells=9), About.IDENTIFIER(column="phone")])
    tell([About.SPELLED_ALIKE(column="city", values=3, cells=9)])
    release()
    told = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in told] == ["city", "phone", "city"]
    tell([About.IDENTIFIER(column="held")])
    complain("an error stands alone")
    release()
    assert capsys.readouterr().err == "cotally: an error stands alone\n"


def test_columns_that_are_binned_or_merged_are_counted_in_one_line_and_the_rest_is_left_to_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    treated = [About.TREATED(column=name, remarks=[About.ONE_VALUE()]) for name in ("age", "city")]
    given_up = [About.MERGED(kept=1, others=4, records=9, rare=0, smallest=2, share=share) for share in (33, 34)]
    lost = [About.TREATED(column="job", remarks=[given_up[1]]), About.TREATED(column="age", remarks=[given_up[0]])]
    notes_once()([treated[0], About.IDENTIFIER(column="phone"), lost[0], lost[1]])
    release()
    first, loud, last = capsys.readouterr().err.splitlines()
    assert "'phone'" in first
    assert "WARNING, 34% of the column is given up" in loud
    assert last == "cotally: note: 2 columns are binned, merged or filled in: `cotally check` shows how"
    in_the_demo, counted = notice_lines([("bob", notice) for notice in (treated[0], *lost)])
    assert in_the_demo == f"bob: {notice_text(lost[0])}"
    assert counted.startswith("bob: 2 columns are binned, merged or filled in, as the demo treats all columns")


def test_every_notice_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(About)


def test_who_waits_for_a_code_shows_an_address_that_somebody_can_call() -> None:
    for address, where in [
        ("0.0.0.0:7071", "reaches us on port 7071 of this machine."),
        ("[::]:7071", "reaches us on port 7071 of this machine."),
        ("127.0.0.1:7071", "reaches us at 127.0.0.1:7071."),
        ("[::1]:7071", "reaches us at [::1]:7071."),
    ]:
        _, told, last = code_lines("111 222 333", address, 600)
        assert told.endswith(where)
        assert last.endswith("We listen, as our [node] address is not set.")


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def told(line: str) -> str:
    """Return what a line says beside its bar."""
    return re.sub(r"\x1b\[[0-9;]*m|[━╸╺]", "", line).strip()


def play(display: Display, clock: Clock, steps: list[tuple[float, Step]]) -> None:
    for now, progress in steps:
        clock.now = now
        display.show(progress)


def test_the_time_left_follows_from_the_time_taken_in_this_phase() -> None:
    estimate = TimeLeft()
    assert estimate.describe(Step("a", 0, 10), 100.0) == "a 0%"
    assert estimate.describe(Step("a", 2, 10), 100.5) == "a 20%"
    assert estimate.describe(Step("a", 2.5, 10), 110.0) == "a 25%, about 30 s left"
    assert estimate.describe(Step("a", 2.5, 10), 130.0) == "a 25%, about 10 s left"
    assert estimate.describe(Step("a", 2.5, 10), 149.0) == "a 25%"
    assert estimate.describe(Step("a", 10, 10), 150.0) == "a 100%"
    assert estimate.describe(Step("b", 0, 4), 150.0) == "b 0%"
    assert estimate.describe(Step("b", 0.3, 4), 155.0) == "b 8%"
    assert estimate.describe(Step("b", 1, 4), 160.0) == "b 25%, about 30 s left"


def test_every_phase_has_words_of_its_own() -> None:
    assert set(WORDS) == {*Phase, *Work}
    assert len(set(WORDS.values())) == len(WORDS)


def test_a_phase_without_a_total_or_with_an_odd_one_is_shown_all_the_same() -> None:
    assert TimeLeft().describe(Step("waiting", 0, 0), 0) == "waiting"
    assert TimeLeft().describe(Step("a", 7, 5), 0) == "a 100%"
    assert TimeLeft().describe(Step("a", -7, 5), 0) == "a 0%"


def test_a_time_is_printed_in_words() -> None:
    for seconds, text in [
        (0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"), (9000, "2 h 30 min"),
    ]:  # fmt: skip
        assert duration(seconds) == text


def test_a_terminal_gets_one_line_that_is_redrawn_but_not_too_often() -> None:
    stream, clock = Terminal(), Clock()
    display = TerminalDisplay(stream, clock, columns=80)
    steps = [(0.0, 0.0), (0.05, 1.0), (0.2, 2.0), (0.21, 4.0)]
    play(display, clock, [(now, Step("a", done, 4)) for now, done in steps])
    assert [told(line) for line in stream.getvalue().split(CLEAR)[1:]] == ["a 0%", "a 50%", "a 100%"]
    assert "\n" not in stream.getvalue()
    display.finish()
    assert stream.getvalue().endswith(CLEAR)
    before = stream.getvalue()
    display.finish()
    assert stream.getvalue() == before


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_bar_shows_the_share_and_its_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("TERM", "xterm")
    drawn = {}
    for done in (0, 1, 2):
        stream = Terminal()
        TerminalDisplay(stream, Clock(), columns).show(Step("x" * 300, done, 2))
        drawn[done] = stream.getvalue().removeprefix(CLEAR)
        assert len(re.sub(r"\x1b\[[0-9;]*m", "", drawn[done])) == columns - 1
    assert len(set(drawn.values())) == 3
    assert "\x1b[" in drawn[1]
    monkeypatch.setenv("NO_COLOR", "1")
    TerminalDisplay(stream := Terminal(), Clock(), columns).show(Step("a", 1, 2))
    assert stream.getvalue() == f"{CLEAR}{'━' * 10}{' ' * 10} a 50%"
    TerminalDisplay(stream := Terminal(), Clock(), columns=59).show(Step("a", 1, 2))
    assert stream.getvalue() == f"{CLEAR}a 50%"


def test_a_line_is_cut_at_the_width_of_the_terminal() -> None:
    stream = Terminal()
    TerminalDisplay(stream, Clock(), columns=5).show(Step("encrypting", 0, 0))
    assert stream.getvalue() == CLEAR + "enc…"


def test_the_estimate_is_right_even_where_redraws_are_left_out() -> None:
    stream, clock = Terminal(), Clock()
    display = TerminalDisplay(stream, clock, columns=80)
    play(display, clock, [(0, Step("x", 1, 1)), (0.01, Step("a", 0, 8)), (2.01, Step("a", 4, 8))])
    assert stream.getvalue().endswith("a 50%, about 2 s left")


def test_a_file_gets_a_line_a_phase_one_every_ten_seconds_and_one_at_its_end() -> None:
    stream, clock = io.StringIO(), Clock()
    steps = [(0, "a", 0), (5, "a", 1), (11, "a", 2), (12, "a", 4), (12, "a", 4), (13, "b", 0)]
    play(LineDisplay(stream, clock), clock, [(now, Step(phase, done, 4)) for now, phase, done in steps])
    assert stream.getvalue().splitlines() == ["a 0%", "a 50%, about 11 s left", "a 100%", "b 0%"]


def test_a_fault_is_one_line_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    complain("two\nlines \x1b[2J")
    assert capsys.readouterr().err == "cotally: two lines \\x1b[2J\n"


def test_the_display_fits_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(make_progress("auto", Terminal()), TerminalDisplay)
    assert isinstance(make_progress("auto", io.StringIO()), LineDisplay)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(make_progress("auto", Terminal()), LineDisplay)


def test_no_progress_means_none() -> None:
    stream = Terminal()
    display = make_progress("none", stream)
    display.show(Step("a", 1, 2))
    display.finish()
    assert not stream.getvalue()
