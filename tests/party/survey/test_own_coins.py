"""Seventeen questions, each with a coin of its own: every command of a survey takes them."""

from pathlib import Path

import pytest

from party.cli import main as cli
from tests.party.survey.commands import told
from tests.party.survey.files import write_design, write_rows
from tests.support.examples import few

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
        "party.survey.disguise.new_key", lambda: bytes(32)
    )  # the same coins each time: no chance is left
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path, design(kind))
    write_rows(tmp_path, answers(900), header=",".join(["id", *COLUMNS]))
    assert "in 17 groups" in told(capsys, "privacy", "design.toml")
    assert "are enough" in told(capsys, "size", "design.toml", "--half-width", "0.1")
    assert cli.main(["audit", "design.toml", "--shift", "1/3", "--power", "0.9"]) == 0
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins")
    assert "share 0." in told(capsys, "estimate", "d.csv", "design.toml", "q0 = yes and ill = yes and q3 = no")
    tree = told(capsys, "mine", "tree", "d.csv", "design.toml", "--test", "1/5", "--prune")
    assert "\nq0 [" in tree
    assert "held out" in tree
    bayes = told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/10", "-o", "m.json")
    assert "Learned from 810" in bayes
    assert "held out" in bayes
    assert "q0" in told(capsys, "show", "m.json")
    assert told(capsys, "mine", "itemsets", "d.csv", "design.toml", "--min-support", "2/5")
    assert cli.main(["predict", "m.json", "data.csv", "-o", "p.csv"]) == 0
