"""The commands of a survey: every wrong input is one line that names it, and nothing is written."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from party import survey
from party.cli import main as cli
from party.data import read_frame
from party.show.mining import example_lines
from party.survey import read_design
from protocols.randomized_response.design import Draw, Kind
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Codes
from tests.party.survey.files import (
    RECORDS,
    RELATED,
    UNRELATED,
    refused,
    rows,
    snapshot,
    swap,
    told,
    write_design,
    write_rows,
)
from tests.support.examples import few

DISGUISE = ("disguise", "data.csv", "design.toml", "-o", "again.csv", "--secret", "coins")


def test_the_same_disguise_again_is_the_same_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = (folder / "d.csv").read_bytes()
    again = told(capsys, *DISGUISE)
    assert "Made coins" not in again
    assert "second copy" not in again
    assert (folder / "again.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "d.csv", "--secret", "coins", "--overwrite")
    assert (folder / "d.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "again.parquet", "--secret", "coins")
    assert list(read_frame(folder / "again.parquet").cells[3]) == list(read_frame(folder / "d.csv").cells[3])


def test_an_output_whose_name_cannot_be_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "xxx" in refused(capsys, "disguise", "--example", str(folder / ("x" * 300)))
    guide = Path(survey.__file__).with_name("README.md").read_text().splitlines()
    told = example_lines(Path("survey/data.csv"), Path("survey/design.toml"))[-1]
    assert f"  {told}" in guide


def test_a_file_name_that_is_no_text_is_refused_before_a_secret_is_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"r\xe9sum\xe9.csv")
    (folder / "data.csv").rename(folder / name)
    again = ("disguise", name, "design.toml", "-o", "new.csv", "--secret", "new")
    line = refused(capsys, *again)
    assert "the name of the data set holds bytes that are not UTF-8: give it another name" in line
    for dataset, flaw in (("", "is empty"), ("a\0", "holds a NUL byte"), ("a\udcff", "holds bytes")):
        assert f"the name of the data set {flaw}" in refused(capsys, *again, "--dataset", dataset)
    assert not (folder / "new").exists()
    told(capsys, *again, "--dataset", "summary")
    told(capsys, *again, "--overwrite")


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
    write_rows(folder, [f"{row},Ann" for row in rows(4)], "more.csv", "id,age,sex,drinks,smoker,name")
    out = told(capsys, "disguise", "more.csv", "design.toml", "-o", "m.csv", "--secret", "more.secret")
    assert "Left out, since the design does not name them: name." in out
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
    assert "299 ids here, 300 among the true records" in refused(capsys, *arguments)
    assert not (folder / "new").exists()


def test_estimate_prints_words_or_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("smoker = yes", "drinks = 'now and then' and sex = f")
    options = ("--confidence", "0.9", "--likelihood")
    text = told(capsys, "estimate", "d.csv", "design.toml", *asked, *options)
    assert text.startswith("300 records, related question, theta 4/5\nsmoker = yes\n  count ")
    assert "90% interval" in text
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
    assert f"runner-up (at 95%): {marked} of {sum('[' in line and '→' not in line for line in shown[1:])} splits" in out
    assert "Learned from 180 disguised records; held out: 60 to prune by and 60 to test on.\nAccuracy " in out
    assert cli.main(["predict", "m.json", "data.csv", "-o", "p.csv"]) == 0
    assert "Accuracy" in capsys.readouterr().err
    assert len(read_frame(folder / "p.csv")) == RECORDS
    limited = told(capsys, "mine", "tree", "d.csv", "design.toml", "--max-depth", "1", "--impurity", "gini")
    assert limited.splitlines()[0].endswith("depth 1 of at most 1, by gini")
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
    assert "Accuracy" in capsys.readouterr().err


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
    assert len(short.splitlines()) <= 34  # the rows of a screen, as for the report itself
    assert "See also --full" in short
    assert "See also" not in full
    assert "'<= 40' is sent by" in full
    assert "'<= 40' is sent by" not in short
    assert "Group life (age, drinks):" in full
    write_design(folder, swap(RELATED, "now and then", "now\\u001b" + " and then" * 9))
    for options in ((), ("--full",)):
        lines = told(capsys, "privacy", "design.toml", *options).splitlines()
        assert max(map(len, lines)) <= 80
        assert "\x1b" not in "".join(lines)


QUICK = ("--shift", "1/10", "--alarm", "1e-6", "--power", "0.99")


def test_audit_passes_the_shipped_sampler_and_fails_another(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The false-alarm rate is one in 10^6 runs; a sampler that always tells the truth is caught with certainty."""
    out = told(capsys, "audit", "design.toml", *QUICK)
    assert out.startswith("OK: the sampler responds as the design declares.\n")
    assert "a correct sampler fails such a check in at most 0.0001%" in " ".join(out.split())
    assert "theta is off by 1/10 in at least 99%.\n" in out

    def honest(_design: RelatedDesign, codes: Codes, _draw: Draw) -> Codes:
        return np.array(codes)

    monkeypatch.setattr(RelatedDesign, "randomize", honest)
    assert cli.main(["audit", "design.toml", *QUICK]) == 1
    out, err = capsys.readouterr()
    assert not err
    assert out.startswith("NOT as declared: ")
    assert "\nage (group life): '<= 40' sent where '<= 40' is true: " in out


def test_the_example_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["disguise", "--example", str(tmp_path / "new")])
    assert ended.value.code == 0
    assert "Next:" in capsys.readouterr().out
    assert len(read_frame(tmp_path / "new" / "data.csv")) == 10_000
    before = snapshot(tmp_path)
    assert "exists and is kept" in refused(capsys, "disguise", "--example", str(tmp_path / "new"))
    assert snapshot(tmp_path) == before


QUESTIONS = [f"q{number}" for number in range(16)]
COLUMNS = [*QUESTIONS, "ill"]
CHANCES = {
    "related": 'theta = "4/5"\n',
    "unrelated": 'theta = "4/5"\npersonal = "uniform"\n',
    "forced": 'theta = "4/5"\nforced = "uniform"\n',
    "crosswise": 'prevalence = "1/10"\n',
    "triangular": 'prevalence = "1/5"\n',
}


def design(kind: str) -> str:
    columns = "".join(f'[columns.{name}]\nvalues = ["no", "yes"]\n' for name in COLUMNS)
    groups = "[groups]\n" + "".join(f'of_{name} = ["{name}"]\n' for name in COLUMNS)
    return f'kind = "{kind}"\nclass = "ill"\nid = "id"\n{CHANCES[kind]}{columns}{groups}'


def answers(records: int) -> list[str]:
    """Who says yes to the first question is ill; the others follow the digits of the number."""
    bits = [[i % 3 == 1, *((i * 7919 >> k) % 2 == 1 for k in range(1, 16)), i % 3 == 1] for i in range(records)]
    return [",".join([f"p{i}", *("yes" if bit else "no" for bit in row)]) for i, row in enumerate(bits)]


@pytest.mark.parametrize("kind", few(list(CHANCES), 5))
def test_seventeen_coins_are_no_obstacle(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "party.keys.coin_secret.new_key", lambda: bytes(32)
    )  # the same coins each time: no chance is left
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path, design(kind))
    write_rows(tmp_path, answers(300), header=",".join(["id", *COLUMNS]))
    assert "in 17 groups" in told(capsys, "privacy", "design.toml")
    assert "are enough" in told(capsys, "size", "design.toml", "--half-width", "0.1")
    assert cli.main(["audit", "design.toml", "--shift", "1/3", "--power", "0.9"]) == 0
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins")
    assert "share 0." in told(capsys, "estimate", "d.csv", "design.toml", "q0 = yes and ill = yes and q3 = no")
    tree = told(capsys, "mine", "tree", "d.csv", "design.toml", "--test", "1/5", "--prune")
    assert "\nq0 [" in tree
    assert "held out" in tree
    bayes = told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/10", "-o", "m.json")
    assert "Learned from 270" in bayes
    assert "held out" in bayes
    assert "q0" in told(capsys, "show", "m.json")
    assert told(capsys, "mine", "itemsets", "d.csv", "design.toml", "--min-support", "2/5")
    assert cli.main(["predict", "m.json", "data.csv", "-o", "p.csv"]) == 0


DESIGN = """\
kind = "crosswise"
prevalence = "1/6"
class = "evaded"
id = "id"
plain = ["sex"]
[columns]
sex = { values = ["f", "m"] }
evaded = { values = ["no", "yes"] }
drunk = { values = ["no", "yes"] }
income = { values = ["low", "middle", "high"] }
smokes = { values = ["no", "yes"] }
[groups]
tax = ["evaded"]
drink = { columns = ["drunk"], kind = "triangular", prevalence = "1/4" }
wage = { columns = ["income"], kind = "unrelated", theta = "2/3" }
smoke = { columns = ["smokes"], kind = "related", theta = "4/5" }
[personal.income]
low = "1/3"
middle = "1/3"
high = "1/3"
"""


def kinds_rows(number: int) -> list[str]:
    words = ("no", "yes")
    return [
        f"p{i},{'fm'[i % 2]},{words[i % 4 == 1]},{words[i % 3 == 0]},{('low', 'middle', 'high')[i % 3]},{words[i % 2]}"
        for i in range(number)
    ]


def test_every_command_takes_groups_of_several_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path, DESIGN)
    write_rows(tmp_path, kinds_rows(1200), header="id,sex,evaded,drunk,income,smokes")
    report = told(capsys, "privacy", "design.toml")
    for sentence in (
        "of evaded, a response says whether it agrees with a harmless statement, which is true of 16.7%",
        "of drunk, a response says whether it or a harmless statement is true, the latter of 25.0%",
        "Against someone who knows whether a harmless statement is true of a respondent, epsilon is infinite.",
        "For up to 100% of respondents, the truth is then certain.",
    ):
        assert sentence in " ".join(report.split())
    assert '"kind": "triangular"' in told(capsys, "privacy", "design.toml", "--json")
    assert "are enough" in told(capsys, "size", "design.toml", "--half-width", "0.1")
    assert cli.main(["audit", "design.toml", "--shift", "1/10", "--power", "0.9"]) == 0
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins")
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "again.csv", "--secret", "coins")
    assert Path("d.csv").read_bytes() == Path("again.csv").read_bytes()
    found = told(capsys, "estimate", "d.csv", "design.toml", "evaded = yes and sex = m", "drunk = yes")
    assert "crosswise question, prevalence 1/6; triangular question, prevalence 1/4; unrelated" in found
    assert "held out" in told(capsys, "mine", "tree", "d.csv", "design.toml", "--test", "1/5")
    assert "held out" in told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/5")


def test_groups_have_what_is_said_of_all_unless_they_say_otherwise(tmp_path: Path) -> None:
    write_design(tmp_path, DESIGN)
    design = read_design(tmp_path / "design.toml").design
    assert [design.part(k).kind for k in range(4)] == [Kind.CROSSWISE, Kind.TRIANGULAR, Kind.UNRELATED, Kind.RELATED]
    assert [str(design.truth(k)) for k in range(4)] == ["1/6", "3/4", "2/3", "4/5"]


def test_a_control_item_shows_who_answers_at_random_and_corrects_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 900 crosswise answers to a control with p = 1/10, 720 are by the rules and 180 at random: a fifth."""
    monkeypatch.chdir(tmp_path)
    columns = 'evaded = { values = ["no", "yes"] }\nmoon = { values = ["no", "yes"] }\n'
    groups = '[groups]\ntax = ["evaded"]\ncontrol = ["moon"]\n[control]\nmoon = "no"\n'
    write_design(tmp_path, f'kind = "crosswise"\nprevalence = "1/10"\n[columns]\n{columns}{groups}')
    yes = 648 + 90  # "the same" by the rules and at random, of both columns
    answers = [f"{('no', 'yes')[i < yes]},{('no', 'yes')[i < yes]}" for i in range(900)]
    write_rows(tmp_path, answers, header="evaded,moon")
    found = told(capsys, "estimate", "data.csv", "design.toml", "evaded = yes", "moon = yes")
    assert "answers at random: share 0.2000, standard error" in found
    assert found.count("corrected for random answers: share 0.0000, standard error") == 1
    assert '"at_random"' in told(capsys, "estimate", "data.csv", "design.toml", "evaded = yes", "--json")


def test_shares_are_held_against_those_of_an_arm_that_was_asked_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Crosswise: (0.25 + 0.1 - 1)/(-0.8), of 400; directly 0.1, of 101: the errors add up as squares."""
    monkeypatch.chdir(tmp_path)
    columns = '[columns]\nevaded = { values = ["no", "yes"] }\n'
    write_design(tmp_path, f'plain = ["evaded"]\n{columns}', "direct.toml")
    write_design(tmp_path, f'kind = "crosswise"\nprevalence = "1/10"\n{columns}[groups]\na = ["evaded"]\n')
    for name, yes, of in (("direct.csv", 10, 101), ("data.csv", 300, 400)):
        Path(name).write_text("\n".join(["evaded", *(("no", "yes")[i < yes] for i in range(of)), ""]))
    arguments = ("data.csv", "design.toml", "evaded = yes", "--against", "direct.csv", "direct.toml")
    share, other = (0.75 + 0.1 - 1) / (0.2 - 1), 10 / 101
    error = (0.75 * 0.25 / 399 / 0.8**2 + other * (1 - other) / 100) ** 0.5
    found = " ".join(told(capsys, "estimate", *arguments).split())
    assert f"evaded = yes: {share - other:+.4f}, standard error {error:.4f}, 95% interval" in found
    assert '"against"' in told(capsys, "estimate", *arguments, "--json")
    assert told(capsys, "estimate", "direct.csv", "direct.toml", "evaded = yes").startswith(
        "101 records, asked directly"
    )
