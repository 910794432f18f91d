"""Groups of several kinds in one design: declared, disguised, reported, estimated and mined."""

from pathlib import Path

import pytest

from party.cli import main as cli
from party.survey import read_design
from protocols.randomized_response.design import Kind
from tests.party.survey.commands import told
from tests.party.survey.files import write_design, write_rows

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


def rows(number: int) -> list[str]:
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
    write_rows(tmp_path, rows(1200), header="id,sex,evaded,drunk,income,smokes")
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


def test_a_control_item_tells_who_answers_at_random_and_corrects_for_them(
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
