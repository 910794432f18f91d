"""`cotally size`: the numbers of the core, in words; what cannot be planned is refused."""

import json
from fractions import Fraction
from math import ceil
from pathlib import Path
from statistics import NormalDist

import pytest

from party.cli import main as cli

DESIGN = """
theta = "4/5"
class = "smoker"
plain = ["sex"]
[columns.sex]
values = ["f", "m"]
[columns.smoker]
values = ["no", "yes"]
[groups]
only = ["smoker"]
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    path = tmp_path / "design.toml"
    path.write_text(DESIGN)
    return str(path)


def warner(share: Fraction, width: Fraction) -> int:
    """Warner 1965: the variance of one answer is P(1 - P) + theta(1 - theta)/(2 theta - 1)^2."""
    variance = share * (1 - share) + Fraction(4, 25) / Fraction(9, 25)
    return ceil(NormalDist().inv_cdf(0.975) ** 2 * float(variance / width**2))


@pytest.mark.parametrize(
    ("options", "share"),
    [((), Fraction(1, 2)), (("--share", "1/2"), Fraction(1, 2)), (("--share", "0.1"), Fraction(1, 10))],
)
def test_one_question_needs_what_warner_says(
    design: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], share: Fraction
) -> None:
    assert cli.main(["size", design, "--expression", "smoker = yes", "--half-width", "1/50", *options]) == 0
    needed = f"{warner(share, Fraction(1, 50))} respondents are enough for +- 0.02 at 95%"
    assert capsys.readouterr().out == f"{needed} for the share of smoker = yes\n"


def test_models_need_every_cell_at_once(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["size", design, "--half-width", "0.02", "--depth", "1"]) == 0
    bayes, tree = capsys.readouterr().out.splitlines()
    assert bayes.endswith("for naive Bayes, all 6 shares that it looks at")
    assert tree.endswith("for a tree of depth 1, all 6 shares that it looks at")
    assert int(bayes.split()[0]) > warner(Fraction(1, 2), Fraction(1, 50))


def test_without_a_class_the_share_of_any_answer_is_planned_for(
    design: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(design).write_text(DESIGN.replace('class = "smoker"\n', ""))
    assert cli.main(["size", design, "--half-width", "0.02"]) == 0
    first, next_step = capsys.readouterr().out.splitlines()
    needed = warner(Fraction(1, 2), Fraction(1, 50))
    assert first == f"{needed} respondents are enough for +- 0.02 at 95% for the share of any answer"
    assert next_step.startswith("For several answers together give --expression")
    assert cli.main(["size", design, "--half-width", "0.02", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["enough"]
    assert (told["for"], told["respondents"]) == ("any answer", needed)
