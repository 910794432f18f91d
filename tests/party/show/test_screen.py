"""What a terminal shows: no line is wider than it is, and no word is broken."""

import fcntl
import os
import pty
import re
import struct
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from party.cli.main import COMMANDS
from party.show.document import Branches, CutLines, Grid, Pairs, ScreenColumn, Sentence, laid_out, wrapped
from tests.support.forked import Forked
from tests.support.processes import cotally, cotally_here, run_here

WIDTHS = (60, 80, 120)
QUICK = ("--shift", "1/10", "--alarm", "1e-6", "--power", "0.99")
SGR = re.compile(r"\x1b\[[0-9;]*m")

DESIGN = """\
kind = "related"
theta = "4/5"
class = "收入水平"
id = "编号"
plain = ["居住地区"]
[columns."年龄（周岁）"]
bins = [25, 45]
[columns."居住地区"]
values = ["北京市", "上海市"]
[columns."目前的婚姻状况和家庭情况说明"]
values = ["已婚或者与伴侣共同生活", "未婚"]
[columns."收入水平"]
values = ["高", "低"]
[groups]
"工作" = ["年龄（周岁）", "目前的婚姻状况和家庭情况说明"]
"钱" = ["收入水平"]
"""
STATE = "目前的婚姻状况和家庭情况说明"


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small survey whose names and values are Chinese; each character takes two cells."""
    folder = tmp_path_factory.mktemp("survey")
    rows = ["编号,年龄（周岁）,居住地区,目前的婚姻状况和家庭情况说明,收入水平"]
    for i in range(600):
        state = "未婚" if i % 3 else "已婚或者与伴侣共同生活"
        rows.append(f"p{i},{20 + i % 40},{'北京市' if i % 2 else '上海市'},{state},{'高' if i % 40 > 20 else '低'}")
    (folder / "data.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "design.toml").write_text(DESIGN, encoding="utf-8")
    with chdir(folder):
        ended = cotally_here("disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins.secret")
        assert ended.code == 0, ended.err
        for learner in ("tree", "bayes"):
            assert cotally_here("mine", learner, "d.csv", "design.toml", "-o", f"{learner}.json").code == 0
    return folder


def shown(columns: int, *arguments: str, code: int = 0, cwd: Path | None = None) -> list[str]:
    """Return the lines that a command shows on a terminal this many columns wide, without a process of its own."""
    ours, theirs = _terminal(columns)
    with (
        ThreadPoolExecutor(1) as reader, pytest.MonkeyPatch.context() as environment, chdir(cwd or Path.cwd()),
    ):  # fmt: skip
        environment.delenv("COLUMNS", raising=False)
        environment.setenv("TERM", "xterm")
        text = reader.submit(_read_all, ours)
        with os.fdopen(theirs, "w") as screen:
            ended = run_here(arguments, screen, screen)
        assert ended == code, text.result()
    lines = _lines(text.result())
    os.close(ours)
    return lines


def _lines(text: str) -> list[str]:
    plain = SGR.sub("", text)
    return [line.rpartition("\r\x1b[K")[2] for line in plain.replace("\r\n", "\n").split("\n")]


def sent(columns: int, *arguments: str | Path, code: int = 0, cwd: Path | None = None, dumb: bool = False) -> str:
    """Return what a command's process sends to a terminal, colours and all."""
    ours, theirs = _terminal(columns)
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment["TERM"] = "dumb" if dumb else "xterm"
    words = [str(argument) for argument in arguments]
    with Forked(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment) as process:
        os.close(theirs)
        text = _read_all(ours)
    os.close(ours)
    assert process.returncode == code, text
    return text


@cache
def help_words(*arguments: str) -> list[str]:
    """Return the words of a help text where no line is too long."""
    return words(shown(2000, *arguments))


def _terminal(columns: int) -> tuple[int, int]:
    """Return our side and the command's side of a terminal this many columns wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, theirs


def _read_all(terminal: int) -> str:
    text = b""
    while part := _read(terminal):
        text += part
    return text.decode()


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
    assert words(lines) == help_words(*asked)
    if columns == 60 and command not in ("", "trust"):
        assert max(map(len, lines)) > 50


@pytest.mark.parametrize("columns", WIDTHS)
def test_reports_on_a_design_fit_the_terminal_whatever_the_script(survey: Path, columns: int) -> None:
    commands = [
        ("privacy", "design.toml"), ("privacy", "design.toml", "--full"), ("audit", "design.toml", *QUICK),
        ("size", "design.toml", "--half-width", "0.05"),
    ]  # fmt: skip
    for command in commands:
        assert max(map(cell_len, shown(columns, *command, cwd=survey))) <= columns


@pytest.mark.parametrize("columns", WIDTHS)
def test_models_estimates_and_notes_fit_the_terminal_whatever_the_script(survey: Path, columns: int) -> None:
    out = f"again-{columns}.csv"
    commands = [
        ("disguise", "data.csv", "design.toml", "-o", out, "--secret", "coins.secret"),
        ("mine", "tree", out, "design.toml", "--test", "1/5", "--prune"),
        ("show", "tree.json"),
        ("show", "bayes.json"),
        ("estimate", out, "design.toml", f"{STATE} = 未婚 and 收入水平 = 高", "--likelihood"),
        ("predict", "bayes.json", "data.csv", "-o", f"predicted-{columns}.csv"),
    ]
    for command in commands:
        assert max(map(cell_len, shown(columns, *command, cwd=survey))) <= columns


def test_a_table_of_wide_characters_has_straight_columns(survey: Path) -> None:
    lines = shown(80, "privacy", "design.toml", cwd=survey)
    start = next(number for number, line in enumerate(lines) if line.startswith("attribute"))
    rows = lines[start : start + 4]
    assert len({cell_len(re.split(r"(?<=\d\.\d{3})", row)[0]) for row in rows[1:]}) == 1
    assert all(row.split()[0] for row in rows)


def test_colours_are_on_a_terminal_alone_and_off_where_nobody_wants_them(
    survey: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for command in (("privacy", "design.toml"), ("show", "tree.json"), ("show", "bayes.json")):
        assert SGR.search(sent(80, *command, cwd=survey))
    assert "\x1b" not in sent(80, "privacy", "design.toml", cwd=survey, dumb=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in sent(80, "privacy", "design.toml", cwd=survey)
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b" not in cotally("privacy", "design.toml", folder=survey).out


def test_a_file_gets_the_report_eighty_wide_or_as_columns_says(survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    usual = cotally("privacy", "design.toml", folder=survey).out.splitlines()
    assert 70 < max(map(cell_len, usual)) <= 80
    monkeypatch.setenv("COLUMNS", "60")
    narrow = cotally("privacy", "design.toml", folder=survey).out.splitlines()
    assert 50 < max(map(cell_len, narrow)) <= 60


def test_a_tree_goes_on_beside_its_branches() -> None:
    lines = ["├─ a: one two", "│  └─ b: three", "└─ c"]
    assert laid_out([Branches(lines)], None) == lines
    assert laid_out([Branches(lines)], 16) == lines
    assert laid_out([Branches(["├─ value: a name of many words [1 2]"])], 24) == [
        "├─ value: a name of",
        "│    many words [1 2]",
    ]
    assert laid_out([Branches(["└─ 值: 很长的名字 很长的名字 [1]"])], 20) == [
        "└─ 值: 很长的名字",
        "     很长的名字 [1]",
    ]
    deep = "│  " * 5 + "└─ value: class"
    assert laid_out([Branches([deep])], 22) == [deep[:21] + "…"]


def test_an_error_is_laid_out_on_a_terminal_and_one_line_elsewhere(tmp_path: Path) -> None:
    arguments = ("size", "design.toml", "--half-width", "1/0", "--confidence", "no", "--depth", "many")
    ended = cotally(*arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    lines = shown(40, *arguments, code=2)
    assert max(map(len, lines)) <= 40 < len(ended.err)
    assert words(lines) == ended.err.split()


def test_sentences_are_broken_between_words_alone() -> None:
    text = "  take 5% of `cotally show model.json` or well-known /a/very/long/path/that/no/line/holds"
    assert laid_out([Sentence(text, cut=False)], 30) == [
        "  take 5% of `cotally show",
        "    model.json` or well-known",
        "    /a/very/long/path/that/no/line/holds",
    ]
    assert max(map(len, laid_out([text], 30))) == 30
    assert laid_out([text], 200) == [text]
    assert laid_out([""], 10) == [""]
    assert laid_out(["中文字" * 4], 8) == ["中文字", "  中文字", "  中文字", "  中文字"]
    assert wrapped("one two three", 8) == ["one two", "three"]


def test_meanings_stand_beside_their_terms() -> None:
    pairs = [("one", "a b"), ("三", "c d")]
    assert laid_out([Pairs(pairs)], 20) == ["one  a b", "三   c d"]
    assert laid_out([Pairs(pairs, indent=1)], 7) == [" one  a", "      b", " 三   c", "      d"]


COLUMNS = [
    ScreenColumn("name", is_text=True),
    ScreenColumn("first\nfigure"),
    ScreenColumn("second", rank=1),
    ScreenColumn("third", rank=2),
]
ROWS = [["a name of twenty-four", "1", "22", "333"], ["二十四字的名字", "4", "55", "666"]]


def test_a_table_cuts_texts_then_leaves_out_the_least_wanted_columns() -> None:
    for columns, left_out, name in [
        (200, (), "a name of twenty-four"),
        (44, (), "a name of twenty-four"),
        (43, (), "a name of twenty-fo…"),
        (35, (), "a name of t…"),
        (34, ("third",), "a name of twenty-…"),
        (26, ("second", "third"), "a name of twenty-…"),
    ]:
        found = Grid(COLUMNS, ROWS, rule=True)
        lines = laid_out([found], columns)
        said = " ".join(map(str.strip, lines[5:]))
        assert said == (f"Left out, as the screen is too narrow: {', '.join(left_out)}." if left_out else "")
        assert max(map(cell_len, lines)) <= columns
        del lines[5:]
        assert len(lines) == 5
        assert lines[3].startswith(name + "  ")
        assert lines[1].split()[:2] == ["name", "figure"]
        assert len({cell_len(line) for line in lines[1:]}) == 1


def test_a_drawing_keeps_its_lines_and_says_how_many_were_cut() -> None:
    drawn = [
        "ab",
        "ab…",
        "abc",
        "文…",
    ]
    lines = laid_out([CutLines(["ab", "abcd", "abc", "文文"])], 3)
    assert lines[:4] == drawn
    assert " ".join(lines[4:]).startswith("2 lin es")
    assert laid_out([CutLines(["ab"])], 3) == ["ab"]
