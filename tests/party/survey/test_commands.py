"""The commands of a survey: every wrong input is one line that names it, and nothing is written."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from party.cli import main as cli
from party.data import read_frame
from protocols.randomized_response.design import Draw
from protocols.randomized_response.multi_group import MultiGroupDesign
from protocols.tables.table import Codes
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, write_design, write_rows

RECORDS = 300


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the present one, with `design.toml`, `data.csv` and the disguised copy `d.csv`."""
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path)
    write_rows(tmp_path, rows(RECORDS))
    assert cli.main(["disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins"]) == 0
    return tmp_path


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that ends in one line of error, and return the line."""
    capsys.readouterr()
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("cotally: ")
    assert err.count("\n") == 1
    return err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert cli.main(arguments) == 0
    out, err = capsys.readouterr()
    assert not err
    assert "nan" not in out
    return out


DISGUISE = ("disguise", "data.csv", "design.toml", "-o", "again.csv", "--secret", "coins")
USES: list[tuple[str, ...]] = [
    DISGUISE,
    ("estimate", "d.csv", "design.toml", "smoker = yes"),
    ("mine", "tree", "d.csv", "design.toml"),
    ("mine", "bayes", "d.csv", "design.toml"),
    ("privacy", "design.toml"),
    ("privacy", "design.toml", "--prior", "d.csv"),
    ("audit", "design.toml"),
]
BAD_DESIGNS = [
    (RELATED, '"4/5"', '"1/2"', "carry nothing"),
    (RELATED, '"4/5"', '"1/3"', "carry nothing"),
    (UNRELATED, '"1/2"', '"0"', "theta = 0 makes every response a personal one"),
    (RELATED, '["smoker"]', '["smoker", "age"]', "column 'age' stands in group 'habits' too"),
    (RELATED, '["smoker"]', '["smoker", "x"]', "there is no column 'x'"),
    (RELATED, 'plain = ["sex"]', "", "column 'sex' is in no group"),
]


@pytest.mark.parametrize("arguments", USES)
@pytest.mark.parametrize(("text", "old", "new", "problem"), BAD_DESIGNS)
def test_every_command_refuses_a_design_that_cannot_be(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str, old: str, new: str,
    problem: str,
) -> None:  # fmt: skip
    write_design(folder, swap(text, old, new))
    before = snapshot(folder)
    assert problem in refused(capsys, *arguments)
    assert snapshot(folder) == before


BAD_TABLES: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text.splitlines()[0] + "\n", "the file has a header and no records"),
    (lambda text: text.replace("smoker", "smokes"), "column 'smoker': the file has no such column"),
    (lambda text: text.replace("never", "NEVER"), "column 'drinks': the cell is none of the declared values"),
    (lambda text: text.replace("never", ""), "column 'drinks': the cell is missing, and the design declares no value"),
    (lambda text: text.replace("never", "?"), "column 'drinks': the cell is missing"),
    (lambda text: text + "a\n", "the row has 1 fields"),
    (lambda _: "", "the file is empty"),
]


@pytest.mark.parametrize("arguments", [use for use in USES if "d.csv" in use or use == DISGUISE])
@pytest.mark.parametrize(("change", "problem"), BAD_TABLES)
def test_every_command_refuses_a_table_that_does_not_fit(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    change: Callable[[str], str],
    problem: str,
) -> None:
    for name in ("data.csv", "d.csv"):
        (folder / name).write_text(change((folder / name).read_text()))
    before = snapshot(folder)
    line = refused(capsys, *arguments)
    assert problem in line
    assert "NEVER" not in line
    assert snapshot(folder) == before


def test_the_same_disguise_again_is_the_same_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = (folder / "d.csv").read_bytes()
    again = told(capsys, *DISGUISE)
    assert "Made coins" not in again
    assert "second copy" not in again
    assert (folder / "again.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "d.csv", "--secret", "coins")
    assert (folder / "d.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "again.parquet", "--secret", "coins")
    assert list(read_frame(folder / "again.parquet").cells[3]) == list(read_frame(folder / "d.csv").cells[3])


def test_a_second_copy_is_refused_and_nothing_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(folder, swap(RELATED, "4/5", "7/10"))
    before = snapshot(folder)
    line = refused(capsys, *DISGUISE)
    assert "data set 'data' has been released with other theta before (coins); a second copy" in line
    write_design(folder)
    write_rows(folder, rows(RECORDS + 1))
    assert "with other records before (coins); the data have changed since" in refused(capsys, *DISGUISE)
    write_rows(folder, rows(RECORDS))
    assert snapshot(folder) == before | {folder / "design.toml": RELATED.encode()}


def test_a_secret_that_got_lost_is_not_replaced_beside_the_copy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "coins").unlink()
    before = snapshot(folder)
    line = refused(capsys, *DISGUISE[:3], "-o", "d.csv", "--secret", "coins")
    assert "d.csv is there and coins is not: a second copy with new coins" in line
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("output", "secret", "problem"),
    [
        ("data.csv", "coins", "data.csv is read by this command"),
        ("./design.toml", "coins", "design.toml is read by this command"),
        ("coins", "coins", "coins is read by this command"),
        ("out.csv", "data.csv", "data.csv is another file of this command"),
        ("out.csv", "design.toml", "design.toml is another file of this command"),
        ("out.txt", "coins", "ends in .csv or .parquet"),
        ("absent/out.csv", "coins", "absent does not exist"),
        ("out.csv", "absent/coins", "absent/coins cannot be written"),
    ],
)
def test_disguise_never_writes_over_what_it_reads(
    folder: Path, capsys: pytest.CaptureFixture[str], output: str, secret: str, problem: str
) -> None:
    before = snapshot(folder)
    assert problem in refused(capsys, "disguise", "data.csv", "design.toml", "-o", output, "--secret", secret)
    assert snapshot(folder) == before


@pytest.mark.parametrize("name", ["x" * 300, "circle"])
@pytest.mark.parametrize("option", ["-o", "--secret", "--personal"])
def test_a_path_that_cannot_be_is_one_line_that_names_it(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:
    (folder / "circle.csv").symlink_to("circle.csv")
    given = {"-o": "out.csv", "--secret": "new"} | {option: f"{name}.csv"}
    words = [word for pair in given.items() for word in pair]
    line = refused(capsys, "disguise", "data.csv", "design.toml", *words)
    assert f"{name}.csv" in line
    assert ("circle" in line) == (name == "circle")
    assert not (folder / "new").exists()


@pytest.mark.parametrize("command", [("mine", "tree", "d.csv", "design.toml"), ("predict", "m.json", "data.csv")])
def test_an_output_whose_name_is_too_long_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    told(capsys, "mine", "tree", "d.csv", "design.toml", "-o", "m.json")
    before = snapshot(folder)
    line = refused(capsys, *command, "-o", "x" * 300)
    assert "xxx cannot be written: File name too long" in line
    assert snapshot(folder) == before


def test_an_example_for_a_folder_whose_name_is_too_long_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "xxx" in refused(capsys, "disguise", "--example", str(folder / ("x" * 300)))


def test_a_file_name_that_is_no_text_is_refused_before_a_secret_is_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"r\xe9sum\xe9.csv")
    (folder / "data.csv").rename(folder / name)
    again = ("disguise", name, "design.toml", "-o", "new.csv", "--secret", "new")
    line = refused(capsys, *again)
    assert "the name of the data set holds bytes that are not UTF-8: give it one with --dataset" in line
    for dataset, flaw in (("", "is empty"), ("a\0", "holds a NUL byte"), ("a\udcff", "holds bytes")):
        assert f"the name of the data set {flaw}" in refused(capsys, *again, "--dataset", dataset)
    assert not (folder / "new").exists()
    told(capsys, *again, "--dataset", "summary")
    told(capsys, *again)


@pytest.mark.parametrize("name", ["", "a\udcff", "a\0", "x" * 1025])
def test_predict_refuses_the_name_of_a_column_that_could_not_be_read_again(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told(capsys, "mine", "tree", "d.csv", "design.toml", "-o", "m.json")
    assert "--column: the name " in refused(capsys, "predict", "m.json", "data.csv", "--column", name)


def test_a_likelihood_of_more_columns_than_can_be_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"c{n}" for n in range(64)]
    columns = "".join(f'[columns.{name}]\nvalues = ["a"]\n' for name in names)
    text = swap(RELATED, "[columns.smoker]", f"{columns}[columns.smoker]")
    write_design(folder, swap(text, '["sex"]', json.dumps(["sex", *names])))
    header, *lines = (folder / "d.csv").read_text().splitlines()
    write_rows(folder, [line + 64 * ",a" for line in lines], "wide.csv", ",".join([header, *names]))
    asked = " and ".join(f"{name} = a" for name in names)
    command = ("estimate", "wide.csv", "design.toml")
    assert "a likelihood is of at most 63 columns, not 64" in refused(capsys, *command, asked, "--likelihood")
    assert "share 1.0000" in told(capsys, *command, asked)
    assert "1.0000  a, a" in told(capsys, *command, asked.removesuffix(" and c63 = a"), "--likelihood")


def test_disguise_says_what_it_left_out_and_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(folder, [f"{row},Ann" for row in rows(4)], "more.csv", "id,age,sex,drinks,smoker,name\x1b[2J")
    out = told(capsys, "disguise", "more.csv", "design.toml", "-o", "m.csv", "--secret", "more.secret")
    assert r"Left out, since the design does not name them: name\x1b[2J." in out
    assert "Made more.secret: keep it secret" in out
    assert "A second copy of these data under another secret would weaken this one" in out
    assert "Ann" not in (folder / "m.csv").read_text()


def test_the_unrelated_question_goes_all_the_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(folder, UNRELATED)
    write_rows(folder, [f"p{i},30,,often,yes" for i in range(RECORDS)], "personal.csv")
    supplied = ("--secret", "own", "--personal", "personal.csv")
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "own.csv", *supplied)
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "u.csv", "--secret", "drawn")
    assert "unrelated question, theta 1/2" in told(capsys, "estimate", "u.csv", "design.toml", "smoker = yes")
    assert "Accuracy" in told(capsys, "mine", "tree", "u.csv", "design.toml", "--test", "1/5")
    assert "Accuracy" in told(capsys, "mine", "bayes", "u.csv", "design.toml", "--test", "1/5")
    assert "Epsilon of a whole record" in told(capsys, "privacy", "design.toml", "--prior", "u.csv")
    write_rows(folder, rows(RECORDS - 1), "personal.csv")
    arguments = ("disguise", "data.csv", "design.toml", "-o", "x.csv", "--secret", "new", "--personal", "personal.csv")
    assert "the ids are not those of the true records: 299 here, 300 there" in refused(capsys, *arguments)
    assert not (folder / "new").exists()


def test_estimate_prints_words_or_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("smoker = yes", "drinks = 'now and then' and sex = f")
    options = ("--confidence", "0.9", "--likelihood")
    text = told(capsys, "estimate", "d.csv", "design.toml", *asked, *options)
    assert text.startswith("300 records, related question, theta 4/5\nsmoker = yes\n  count ")
    assert "90 % interval" in text
    assert "may leave 0 .. 1" in text
    content = json.loads(told(capsys, "estimate", "d.csv", "design.toml", *asked, *options, "--json"))
    assert (content["format"], content["records"], content["confidence"]) == ("cotally-estimate/1", 300, 0.9)
    first, second = content["estimates"]
    assert (first["expression"], second["expression"]) == ("smoker = yes", 'drinks = "now and then" and sex = f')
    assert first["count"] == pytest.approx(300 * first["share"])
    assert first["interval"][0] < first["share"] < first["interval"][1]
    shares = [cell["share"] for cell in second["likelihood"]["cells"]]
    assert len(shares) == 6
    assert sum(shares) == pytest.approx(1)
    assert second["likelihood"]["converged"] is True


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("smoker = maybe",), "column 'smoker' has no value 'maybe'"),
        (("smoker",), "is no expression"),
        (("smoker = yes", "--confidence", "1"), "a confidence must lie between 0 and 1"),
    ],
)
def test_estimate_refuses_what_cannot_be_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    assert problem in refused(capsys, "estimate", "d.csv", "design.toml", *arguments)


def test_one_respondent_has_no_interval_and_tells_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, first, *_ = (folder / "d.csv").read_text().splitlines()
    (folder / "d.csv").write_text(f"{header}\n{first}\n")
    assert "fewer than 2 records" in refused(capsys, "estimate", "d.csv", "design.toml", "smoker = yes")
    for learner in ("tree", "bayes"):
        assert "from so few answers: with 1 to learn" in refused(capsys, "mine", learner, "d.csv", "design.toml")
    assert "too few" in refused(capsys, "mine", "tree", "d.csv", "design.toml", "--test", "1/2")


@pytest.mark.parametrize("learner", ["tree", "bayes"])
def test_one_class_is_all_that_can_be_learned_of_one_class(
    folder: Path, capsys: pytest.CaptureFixture[str], learner: str
) -> None:
    text = swap(RELATED, '["yes", "no"]', '["no"]')
    write_design(folder, swap(swap(text, 'habits = ["smoker"]\n', ""), '["sex"]', '["sex", "smoker"]'))
    write_rows(folder, [row for row in rows(RECORDS) if row.endswith("no")])
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "one.csv", "--secret", "one")
    out = told(capsys, "mine", learner, "one.csv", "design.toml", "--test", "1/5", "-o", "m.json")
    assert "Accuracy 1.0000, standard error 0.0000" in out
    if learner == "tree":
        assert out.startswith("smoker [no]: 1 node, depth 0\n→ no ")


def test_a_constant_attribute_is_an_attribute_like_any_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(folder, swap(RELATED, '["f", "m"]', '["f"]'))
    write_rows(folder, [row.replace(",m,", ",f,") for row in rows(RECORDS)])
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "one.csv", "--secret", "one")
    assert "Accuracy" in told(capsys, "mine", "tree", "one.csv", "design.toml", "--test", "1/5", "--prune")
    assert "sex" in told(capsys, "mine", "bayes", "one.csv", "design.toml")
    assert "sex" in told(capsys, "privacy", "design.toml", "--prior", "one.csv")


def test_mine_writes_a_tree_that_show_prints_and_predict_reads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--test", "0.2", "--seed", "3", "--prune", "-o", "m.json")
    out = told(capsys, "mine", "tree", "d.csv", "design.toml", *options)
    shown = told(capsys, "show", "m.json").splitlines()
    printed = [line.removesuffix(" (?)") for line in out.splitlines()]
    assert printed[: len(shown)] == shown
    marked = sum(line.endswith(" (?)") for line in out.splitlines())
    assert f"not clear at 95 %: {marked} of {sum('[' in line and '→' not in line for line in shown[1:])} splits" in out
    assert "Learned from 180 disguised records.\nAccuracy " in out
    assert cli.main(["predict", "m.json", "data.csv", "-o", "p.csv"]) == 0
    assert "accuracy" in capsys.readouterr().err
    assert len(read_frame(folder / "p.csv")) == RECORDS
    levels = told(capsys, "mine", "tree", "d.csv", "design.toml", "--levels", "0")
    assert levels.splitlines()[1].endswith(" …")


def test_mine_writes_naive_bayes_that_show_prints_and_predict_reads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/5", "-o", "b.json", "--smoothing", "0.5")
    shown = told(capsys, "show", "b.json")
    assert out.startswith(shown)
    assert told(capsys, "show", "b.json", "--json") == (folder / "b.json").read_text()
    assert cli.main(["predict", "b.json", "data.csv", "-o", "p.csv"]) == 0
    assert "accuracy" in capsys.readouterr().err
    for option in (("--dot",), ("--levels", "1")):
        assert "is naive Bayes, no tree" in refused(capsys, "show", "b.json", *option)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("tree", "--test", "1"), "--test must be 0 or more and below 1"),
        (("tree", "--test", "x"), "--test must be an exact number"),
        (("tree", "--test", "1/1000"), "300 records are too few to hold out 1/1000"),
        (("tree", "--seed", "-1"), "--seed must be 0 to"),
        (("tree", "--levels", "-1"), "--levels must be 0 or more"),
        (("tree", "--smoothing", "1"), "--smoothing is for naive Bayes"),
        (("bayes", "--prune"), "--prune and --levels are for trees"),
        (("bayes", "--levels", "1"), "--prune and --levels are for trees"),
        (("bayes", "--smoothing", "-1"), "smoothing must be 0 or more"),
        (("bayes", "--smoothing", "nan"), "smoothing must be 0 or more"),
        (("tree", "-o", "absent/m.json"), "absent does not exist"),
    ],
)
def test_mine_refuses_what_cannot_be_done(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    learner, *options = arguments
    before = snapshot(folder)
    assert problem in refused(capsys, "mine", learner, "d.csv", "design.toml", *options)
    assert snapshot(folder) == before


def test_mine_refuses_a_theta_that_so_many_answers_cannot_tell_from_noise(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_design(folder, swap(RELATED, "4/5", "501/1000"))
    for learner in ("tree", "bayes"):
        line = refused(capsys, "mine", learner, "d.csv", "design.toml")
        assert "theta = 501/1000 hides column 'smoker' from so few answers: with 300 to learn from" in line


def test_mine_needs_a_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(folder, swap(RELATED, 'class = "smoker"\n', ""))
    assert "class: is missing" in refused(capsys, "mine", "tree", "d.csv", "design.toml")
    assert "smoker = yes" in told(capsys, "estimate", "d.csv", "design.toml", "smoker = yes")


def test_privacy_prints_words_or_json_and_takes_priors_from_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Assumed, since nothing was given" in told(capsys, "privacy", "design.toml")
    assert "Assumed" not in told(capsys, "privacy", "design.toml", "--prior", "d.csv")
    content = json.loads(told(capsys, "privacy", "design.toml", "--json", "--prior", "d.csv"))
    assert [entry["prior_is_assumed"] for entry in content["attributes"]] == [False] * 4
    assert [group["name"] for group in content["groups"]] == ["habits", "life"]


def test_privacy_is_short_by_default_and_never_wide(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short, full = told(capsys, "privacy", "design.toml"), told(capsys, "privacy", "design.toml", "--full")
    assert len(short.splitlines()) < 30
    assert "See also --full" in short
    assert "See also" not in full
    assert "'<= 40' is sent by" in full
    assert "'<= 40' is sent by" not in short
    assert "Group life (age, drinks):" in full
    write_design(folder, swap(RELATED, "now and then", "now\\u001b" + " and then" * 9))
    for options in ((), ("--full",)):
        lines = told(capsys, "privacy", "design.toml", *options).splitlines()
        assert max(map(len, lines)) <= 100
        assert "\x1b" not in "".join(lines)


QUICK = ("--shift", "1/10", "--alarm", "1e-6", "--power", "0.99")


def test_audit_passes_the_shipped_sampler_and_fails_another(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The false-alarm rate is one in 10^6 runs; a sampler that always tells the truth is caught with certainty."""
    out = told(capsys, "audit", "design.toml", *QUICK)
    assert out.startswith("OK: the sampler responds as the design declares.\n")
    assert "a correct sampler fails such a check in at most 0.0001 %" in " ".join(out.split())
    assert "theta is off by 1/10 in at least 99 %.\n" in out

    def honest(_design: MultiGroupDesign, codes: Codes, _draw: Draw) -> Codes:
        return np.array(codes)

    monkeypatch.setattr(MultiGroupDesign, "randomize", honest)
    assert cli.main(["audit", "design.toml", *QUICK]) == 1
    out, err = capsys.readouterr()
    assert not err
    assert out.startswith("NOT as declared: ")
    assert "\nage (group life): '<= 40' sent where '<= 40' is true: " in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--shift", "0"), "an exact fraction above 0"),
        (("--shift", "x"), "--shift must be an exact number"),
        (("--alarm", "0"), "must lie strictly between 0 and 1"),
        (("--power", "1"), "must lie strictly between 0 and 1"),
        (("--shift", "1/100000"), "raise the shift"),
    ],
)
def test_audit_refuses_goals_that_cannot_be_met(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    assert problem in refused(capsys, "audit", "design.toml", *arguments)


def test_the_example_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["disguise", "--example", str(tmp_path / "new")])
    assert ended.value.code == 0
    assert "Next:" in capsys.readouterr().out
    assert len(read_frame(tmp_path / "new" / "data.csv")) == 10_000
    before = snapshot(tmp_path)
    assert "exists and is kept" in refused(capsys, "disguise", "--example", str(tmp_path / "new"))
    assert snapshot(tmp_path) == before
