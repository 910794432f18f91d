"""What a terminal shows: no line is wider than it is, and no word is broken."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from rich.cells import cell_len

from party.cli.main import COMMANDS
from party.names import printable
from party.show.document import Branches, CutLines, Grid, Pairs, ScreenColumn, Sentence, laid_out, wrapped
from party.show.prediction import other_model_lines
from party.show.quality import quality_lines, score_grids, worth_lines
from party.show.tree import MARK, PureLeaves, counts_line, pure_leaves, pure_lines, to_dot, tree_lines
from protocols.learning.model import beats_when_tested
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.quality import ScoreTable
from protocols.learning.tree import Leaf, Split, Tree, assembled
from protocols.secret_tree.held_out import Scores, noise_of_table
from protocols.tables import ROOT, Attribute, Schema
from protocols.terms import HALF, Growth, Impurity, Leaves
from tests.support.examples import few
from tests.support.forked import Forked
from tests.support.models import chain, models, small_model
from tests.support.parties import make_terms
from tests.support.plain import schema_of
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


def test_help_fits_the_terminal_and_breaks_no_word() -> None:
    for columns, command in few(list(product(WIDTHS, ["", *COMMANDS])), 2):
        asked = [word for word in (command, "--help") if word]
        lines = shown(columns, *asked)
        assert max(map(len, lines)) <= columns
        assert words(lines) == help_words(*asked)
        if columns == 60 and command not in ("", "trust"):
            assert max(map(len, lines)) > 50


@pytest.mark.parametrize("columns", few(WIDTHS, 2))
def test_reports_on_a_design_fit_the_terminal_whatever_the_script(survey: Path, columns: int) -> None:
    commands = [
        ("privacy", "design.toml"), ("privacy", "design.toml", "--full"), ("audit", "design.toml", *QUICK),
        ("size", "design.toml", "--half-width", "0.05"),
    ]  # fmt: skip
    for command in commands:
        assert max(map(cell_len, shown(columns, *command, cwd=survey))) <= columns


@pytest.mark.parametrize("columns", few(WIDTHS, 2))
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
        (200, (), "a name of twenty-four"), (44, (), "a name of twenty-four"), (43, (), "a name of twenty-fo…"),
        (35, (), "a name of t…"), (34, ("third",), "a name of twenty-…"),
        (26, ("second", "third"), "a name of twenty-…"),
    ]:  # fmt: skip
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
    drawn = ["ab", "ab…", "abc", "文…"]
    lines = laid_out([CutLines(["ab", "abcd", "abc", "文文"])], 3)
    assert lines[:4] == drawn
    assert " ".join(lines[4:]).startswith("2 lin es")
    assert laid_out([CutLines(["ab"])], 3) == ["ab"]


def test_the_text_shows_values_counts_and_classes() -> None:
    assert (
        "\n".join(tree_lines(small_model()))
        == """\
outcome [bad, good]: 9 nodes, depth 2
alice.age [7 9]
├─ <= 40: city [5 3]
│  ├─ Bergen: → bad [5 0]
│  ├─ Oslo: → good [0 3]
│  └─ other: → bad [0 0]
├─ > 40: bob.age [1 6]
│  ├─ no: → bad [1 0]
│  └─ yes: → good [0 6]
└─ missing: → bad [1 0]"""
    )


def test_the_limits_that_a_tree_was_grown_under_stand_over_it() -> None:
    limited = replace(small_model(), growth=Growth(3, 5))
    assert next(tree_lines(limited)).endswith(
        "9 nodes, depth 2 of at most 3, branches of fewer than 5 records are leaves of their parent's class"
    )
    noisy = replace(limited, growth=Growth(3, 5, noise=Fraction(1)))
    assert next(tree_lines(noisy)).endswith(
        "branches of fewer than 5 records as counted with noise are leaves of their parent's class"
    )
    assert next(tree_lines(replace(limited, growth=Growth(3, impurity=Impurity.GINI)))).endswith(
        "depth 2 of at most 3, by gini"
    )


def test_counts_of_branches_that_may_not_add_up_are_said_to_be_such() -> None:
    """The control is a tree of exact counts, which do add up."""
    tree = small_model()
    assert isinstance(tree.root, Split)
    assert "add up" not in counts_line(tree)
    assert "They have noise: the class counts of branches may not add" in counts_line(
        replace(tree, growth=Growth(3, noise=Fraction(1)))
    )
    apart = replace(tree, root=replace(tree.root, counts=(188.0, 44.0)))
    assert "They are estimates: the class counts of branches may not add up" in counts_line(apart)


def test_the_shares_of_leaves_stand_where_counts_would() -> None:
    tree = replace(small_model(), growth=Growth(leaves=Leaves.TENTHS))
    nodes = [(path, replace(node, counts=())) for path, node in tree.walk()]
    tree = assembled(tree.schema, nodes, tree.growth).relabelled(
        lambda _, leaf: replace(leaf, tenths=(10 - 3 * leaf.label, 3 * leaf.label))
    )
    assert list(tree_lines(tree))[1:5] == [
        "alice.age",
        "├─ <= 40: city",
        "│  ├─ Bergen: → bad [1.0 0.0]",
        "│  ├─ Oslo: → good [0.7 0.3]",
    ]
    assert "the share of each class" in counts_line(tree)
    assert '"bad\\n1.0 0.0"' in to_dot(tree)


def test_pure_leaves_are_counted_with_their_people_and_only_where_counts_are_exact() -> None:
    found = pure_leaves(small_model(), make_terms(method="smc"))
    assert found == PureLeaves(leaves=5, of=6, records=5 + 3 + 1 + 6 + 1, fewest=1)
    assert pure_lines(found)[0].startswith("5 of 6 leaves hold training records of only one class, 16 in all, 1 in the")
    for terms in (make_terms(method="smc", noise=Fraction(1), max_depth=3), make_terms(method="randomized")):
        assert pure_leaves(small_model(), terms) is None
    mixed = replace(small_model(), root=Leaf((3.0, 4.0), 1))
    assert pure_lines(pure_leaves(mixed, make_terms(method="smc"))) == []


def test_deeper_levels_can_be_left_out_and_are_marked() -> None:
    assert list(tree_lines(small_model(), levels=1))[1:] == [
        "alice.age [7 9]",
        "├─ <= 40: city [5 3] …",
        "├─ > 40: bob.age [1 6] …",
        "└─ missing: → bad [1 0]",
    ]


def test_marked_splits_and_no_others_end_in_the_mark() -> None:
    marked = {ROOT, ROOT.child(0, 1)}
    lines = list(tree_lines(small_model(), marked=marked))
    assert [line for line in lines if line.endswith(MARK)] == [
        f"alice.age [7 9] {MARK}",
        f"├─ > 40: bob.age [1 6] {MARK}",
    ]
    assert [line.removesuffix(f" {MARK}") for line in lines] == list(tree_lines(small_model()))


@given(models())
def test_the_text_and_the_drawing_have_a_line_for_each_node_and_the_drawing_for_each_edge(tree: Tree) -> None:
    title, *lines = tree_lines(tree)
    assert (title.isprintable(), len(lines)) == (True, tree.size)
    assert all(line.isprintable() for line in lines)
    drawn = to_dot(tree).splitlines()
    assert sum("[shape=" in line for line in drawn) == tree.size
    assert sum(line.startswith("  n") and " -> " in line.split("[")[0] for line in drawn) == tree.size - 1


def test_a_value_cannot_steer_a_terminal_or_break_out_of_the_drawing() -> None:
    schema = Schema((Attribute("bob", 'a"\\', ("0",)),), Attribute("", "c", ("\x1b[2J", "\u202e")), ())
    tree = Tree(schema, Leaf((1.25, 0), 0))
    assert list(tree_lines(tree))[1] == r"→ \x1b[2J [1.2 0]"
    assert 'label="\\\\x1b[2J\\n1.2 0"' in to_dot(tree)
    assert printable("\u202ea\n") == r"\u202ea\n"


def test_a_long_chain_is_no_trouble() -> None:
    assert len(list(tree_lines(chain(1500)))) == 3002
    assert to_dot(chain(1500)).count("shape=box") == 1501


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_reads_the_drawing() -> None:
    subprocess.run(["dot", "-Tsvg"], input=to_dot(small_model()).encode(), check=True, capture_output=True)


POOR = "The model is no better than always guessing the commonest class"
TRAINED = "even on its training records"
ALIKE = "Within its error, the model is no better than always guessing the commonest class."


def tree(*leaves: tuple[int, int], labels: tuple[int, int]) -> Tree:
    counts = [sum(leaf[place] for leaf in leaves) for place in (0, 1)]
    split = Split(tuple(counts), 0, tuple(map(Leaf, leaves, labels)))
    return Tree(replace(small_model().schema, attributes=schema_of([2], 2).attributes), split)


def bayes(*rows: tuple[float, float], prior: tuple[float, float] = (0.75, 0.25)) -> NaiveBayes:
    return NaiveBayes(schema_of([2], 2), np.log(prior), (np.log(rows),))


def test_a_tree_that_is_right_no_more_often_than_its_commonest_class_is_called_so() -> None:
    assert worth_lines(tree((30, 20), (30, 20), labels=(0, 0))) == [f"{POOR}, {TRAINED}.", "Every leaf says bad."]
    assert worth_lines(tree((30, 20), (24, 26), labels=(0, 1))) == [f"{POOR}, {TRAINED}."]
    assert worth_lines(tree((49, 1), (1, 49), labels=(0, 1))) == []


RANKING = np.array([[700.0, 20.0], [200.0, 80.0]])
YET = "Yet its scores tell people apart (AUC 0.789 ± 0.021): `cotally predict --scores` ranks people by them, and "


def test_a_tree_whose_classes_are_a_guess_is_still_said_to_rank_if_its_scores_do() -> None:
    """Of 100 people of 1,000 the better branch has 80, and both say no; by labels alone nobody is ranked."""
    model = tree((700, 20), (200, 80), labels=(0, 0))
    ends = ["Every leaf says bad.", f"{YET}`--threshold` gives other classes."]
    assert worth_lines(model) == [f"{POOR}, {TRAINED}.", *ends]
    bare = Tree(model.schema, Split((), 0, (Leaf((), 0), Leaf((), 0))))
    held_out = ScoreTable(RANKING, (0, 0), scores=(0.0, 0.3))
    assert worth_lines(bare, False, held_out) == [ALIKE, *ends]
    assert worth_lines(bare, False, replace(held_out, scores=None)) == [ALIKE, ends[0]]
    assert worth_lines(bare, False, replace(held_out, noise=1200.0)) == [ALIKE, ends[0]]
    assert worth_lines(model, True, held_out) == ends
    noisy = replace(model, growth=Growth(noise=HALF))
    assert not any("AUC" in line for line in worth_lines(noisy))
    apart, alike = (
        Tree(bare.schema, Split((), 0, (Leaf((), 0, (9, 1)), Leaf((), 0, other)))) for other in ((7, 3), (9, 1))
    )
    assert worth_lines(alike) == [ends[0]]
    assert worth_lines(apart)[1].startswith("Yet its leaves have different scores: `cotally predict --scores`")


def test_a_class_has_its_whole_name_in_tables_of_quality() -> None:
    """Also where a name holds what headings of the program mark with."""
    for name in ["low", "stage: low", "10:30", "a:1", "<5", ">50K", "a:<:", "a\nb:2", ""]:
        said, thresholds = score_grids(ScoreTable(RANKING, (0, 1), scores=(0.0, 0.3)), ("good", name))
        shown = [f"is {printable(name)}", f"Of {printable(name)}, found", f"Of these, {printable(name)}"]
        for grid, heads in (said, shown[:1]), (thresholds, shown[1:]):
            assert [each for each in grid.columns if each.heading in heads] == list(map(ScreenColumn, heads))
            assert all(head in laid_out([grid], 200)[0] for head in heads)


ALONE = "alice.x0 alone gives the class of nearly every held-out record. If it is the class under another name"


@pytest.mark.parametrize(
    ("cells", "labels", "perfect"),
    [((500, 0, 0, 300), (0, 1), True), ((500, 3, 3, 300), (0, 1), True), ((500, 9, 9, 300), (0, 1), False),
     ((500, 0, 0, 300), (0, 0), False)],
)  # fmt: skip
def test_a_column_that_alone_decides_rightly_is_named_though_nobody_has_counts(
    cells: tuple[int, ...], labels: tuple[int, int], perfect: bool
) -> None:
    attributes = schema_of([2], 2, alice=1).attributes
    bare = Tree(
        replace(small_model().schema, attributes=attributes), Split((), 0, tuple(Leaf((), at) for at in labels))
    )
    table = ScoreTable(np.array(cells, dtype=float).reshape(2, 2), (0, 1), noise=16.0, total=sum(cells))
    assert any(line.startswith(ALONE) for line in worth_lines(bare, True, table)) == perfect
    assert not any(line.startswith(ALONE) for line in worth_lines(bare))
    sure = bare.relabelled(lambda _, leaf: replace(leaf, tenths=(0, 10) if leaf.label else (10, 0)))
    assert any("of nearly every training record" in line for line in worth_lines(sure)) == (labels == (0, 1))


@pytest.mark.parametrize(("correct", "error", "beats"), [(76, 0, False), (79, 0, False), (80, 0, True), (80, 5, False)])
def test_held_out_records_count_by_their_standard_error(correct: float, error: float, beats: bool) -> None:
    """Of 100 records 80 have a standard error of .04 by the sample alone, beside .75 of the commonest class."""
    model = bayes((0.9, 0.1), (0.1, 0.9))
    found = beats_when_tested(model, correct, 100, error)
    assert found is beats
    assert worth_lines(model, found) == ([] if beats else [ALIKE])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            (870, 12, 4, 114),
            [
                "Accuracy 0.984 ± 0.012 on 1,000 held-out records; always saying the commonest class: 0.874 ± 0.015",
                "AUC 0.950 ± 0.032, KS 0.900 ± 0.064, ranking by how likely bad is",
                "Of those who are bad, the model finds 0.905 ± 0.063; of those whom it calls bad, 0.966 ± 0.067 are",
            ],
        ),
        (
            (882, 118, -3, 2),
            [
                "Accuracy 0.884 ± 0.015 on 1,000 held-out records; always saying the commonest class: 0.879 ± 0.015",
                "AUC 0.510 ± 0.034, KS 0.020 ± 0.067, ranking by how likely bad is",
                "Of those who are bad, the model finds 0.017 ± 0.066",
            ],
        ),
        (
            (990, 8, 1, 1),
            [
                "Accuracy 0.991 ± 0.012 on 1,000 held-out records; always saying the commonest class: 0.991 ± 0.012",
                "Too few of these records are bad to say how many of them the model finds",
            ],
        ),
    ],
)
def test_a_table_of_held_out_records_says_each_figure_with_the_error_of_noise_and_sample(
    cells: tuple[int, ...], said: list[str]
) -> None:
    numbers = [-1, 0, *cells[:2], -1, 1, *cells[2:]]
    scores = Scores.read(numbers, 2, 1000, noise_of_table(HALF))
    assert quality_lines(scores.table, ("good", "bad"), "1,000 held-out records") == said


def test_naive_bayes_that_no_record_can_sway_is_called_so() -> None:
    swayed, unswayed = bayes((0.9, 0.1), (0.1, 0.9)), bayes((0.6, 0.4), (0.4, 0.6))
    assert [swayed.predict(np.array([[v]])).tolist() for v in (0, 1, -1)] == [[0], [1], [0]]
    assert [unswayed.predict(np.array([[v]])).tolist() for v in (0, 1, -1)] == [[0], [0], [0]]
    assert worth_lines(swayed) == []
    assert worth_lines(unswayed) == [
        f"Whatever a record holds, the model says {unswayed.schema.class_attribute.values[0]}."
    ]


def test_a_model_beside_an_earlier_one_is_shown_with_how_predictions_get_it() -> None:
    offered = Path("alice/model.json")
    assert other_model_lines(offered, offered) == []
    (line,) = other_model_lines(Path("alice/model-2.json"), offered)
    assert line == 'Joint predictions use alice/model.json: to use this one, set [predict] model = "model-2.json"'
