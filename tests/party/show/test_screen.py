"""What a terminal shows: no line is wider than it is, and no word is broken."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from party.cli.main import COMMANDS
from party.show.layout import ScreenColumn, branched, cut_lines, definitions, screen_table, shortened, wrapped
from tests.support.processes import COTALLY, cotally

WIDTHS = (60, 80, 200)
QUICK = ("--shift", "1/10", "--alarm", "1e-6", "--power", "0.99")


def shown(columns: int, *arguments: str | Path, code: int = 0) -> list[str]:
    """Return the lines that a command shows on a terminal so many columns wide, as it sent them."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    with subprocess.Popen(
        [*COTALLY, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        text = b""
        while part := _read(ours):
            text += part
    os.close(ours)
    assert process.returncode == code, text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text.decode())
    return [line.rpartition("\r\x1b[K")[2] for line in plain.replace("\r\n", "\n").split("\n")]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def words(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_the_terminal_and_breaks_no_word(command: str, columns: int) -> None:
    asked = [word for word in (command, "--help") if word]
    lines = shown(columns, *asked)
    assert max(map(len, lines)) <= columns
    assert words(lines) == words(shown(2000, *asked))
    if columns == 60 and command not in ("", "trust"):
        assert max(map(len, lines)) > 50


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_privacy_report_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    cotally("disguise", "--example", str(tmp_path / "survey"))
    design = tmp_path / "survey" / "design.toml"
    wide = words(shown(2000, "privacy", design, "--full"))
    for command in (("privacy", design), ("privacy", design, "--full"), ("audit", design, *QUICK)):
        lines = shown(columns, *command)
        assert max(map(len, lines)) <= columns
        if "--full" in command:
            assert words(lines) == wide


@pytest.mark.parametrize("columns", WIDTHS)
def test_models_estimates_and_notes_fit_the_terminal(tmp_path: Path, columns: int) -> None:
    folder = tmp_path / "survey"
    cotally("disguise", "--example", str(folder))
    data, design, out, secret = (folder / name for name in ("data.csv", "design.toml", "d.csv", "coins.secret"))
    shown_lines = shown(columns, "disguise", data, design, "-o", out, "--secret", secret)
    for learner in ("tree", "bayes"):
        model = folder / f"{learner}.json"
        shown_lines += shown(columns, "mine", learner, out, design, "-o", model, "--test", "1/5")
        shown_lines += shown(columns, "show", model)
    shown_lines += shown(columns, "estimate", out, design, "married = yes and income = high", "--likelihood")
    paths = str(tmp_path)
    assert max(len(line) for line in shown_lines if paths not in line) <= columns


def test_a_tree_goes_on_beside_its_branches_and_a_table_of_classes_below() -> None:
    lines = ["├─ a: one two", "│  └─ b: three", "└─ c"]
    assert list(branched(lines, None)) == lines
    assert list(branched(lines, 16)) == lines
    assert list(branched(["├─ value: a name of many words [1 2]"], 24)) == [
        "├─ value: a name of many",
        "│    words [1 2]",
    ]
    assert list(branched(["│  " * 5 + "└─ value: class"], 22)) == [("│  " * 5 + "└─ value: class")[:21] + "…"]


def test_an_error_is_laid_out_on_a_terminal_and_one_line_elsewhere(tmp_path: Path) -> None:
    arguments = ("size", "design.toml", "--half-width", "1/0", "--confidence", "no", "--depth", "many")
    ended = cotally(*arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    lines = shown(40, *arguments, code=2)
    assert max(map(len, lines)) <= 40 < len(ended.err)
    assert words(lines) == ended.err.split()


def test_sentences_are_broken_between_words_alone() -> None:
    text = "  take 5 % of `cotally show model.json` or well-known /a/very/long/path/that/no/line/holds"
    assert wrapped(text, 30, cut=False) == [
        "  take 5 % of",
        "    `cotally show model.json`",
        "    or well-known",
        "    /a/very/long/path/that/no/line/holds",
    ]
    assert max(map(len, wrapped(text, 30))) == 30
    assert wrapped(text, 200) == [text]
    assert wrapped("", 10) == [""]


def test_meanings_stand_beside_their_terms_or_below_them() -> None:
    pairs = [("one", "a b"), ("three", "c")]
    assert definitions(pairs, 20) == ["one    a b", "three  c"]
    assert definitions(pairs, 13) == ["one", "  a b", "three", "  c"]


COLUMNS = [
    ScreenColumn("name", is_text=True),
    ScreenColumn("first\nfigure"),
    ScreenColumn("second", rank=1),
    ScreenColumn("third", rank=2),
]
ROWS = [["a name of twenty-four", "1", "22", "333"], ["b", "4", "55", "666"]]


@pytest.mark.parametrize(
    ("columns", "left_out", "name"),
    [
        (200, (), "a name of twenty-four"),
        (44, (), "a name of twenty-four"),
        (43, (), "a name of …wenty-four"[:20]),
        (35, (), "a name…-four"),
        (34, ("third",), "a name of…nty-four"),
        (10, ("second", "third"), "a name…-four"),
    ],
)
def test_a_table_shortens_texts_then_leaves_out_the_least_wanted_columns(
    columns: int, left_out: tuple[str, ...], name: str
) -> None:
    found = screen_table(COLUMNS, ROWS, columns)
    assert found.left_out == left_out
    assert (max(map(len, found.lines)) <= columns) == (columns > 10)
    assert len(found.lines) == 4
    if columns != 43:
        assert found.lines[2].startswith(name + "  ")
    assert found.lines[1].split()[:2] == ["name", "figure"]


def test_a_shortened_text_keeps_both_ends() -> None:
    assert [shortened("abcdef", width) for width in (6, 5, 2, 1, 0)] == ["abcdef", "ab…ef", "a…", "…", "…"]


def test_a_drawing_keeps_its_lines_and_says_how_many_were_cut() -> None:
    assert list(cut_lines(["ab", "abcd", "abc"], 3)) == ["ab", "ab…", "abc", "1 line cut at the width of the screen"]
    assert list(cut_lines(["ab"], 3)) == ["ab"]
