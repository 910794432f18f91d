"""What a collector asks of disguised answers and of a design: estimates, models, privacy, an audit."""

import json
from pathlib import Path

import numpy as np
import pytest

from party.cli import main as cli
from party.data import read_frame
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Codes
from tests.party.survey.commands import RECORDS, refused, snapshot, told
from tests.party.survey.files import RELATED, rows, swap, write_design, write_rows


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
    assert "accuracy" in capsys.readouterr().err
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
    assert "accuracy" in capsys.readouterr().err
    assert "b.json holds no tree" in refused(capsys, "show", "b.json", "--dot")
    assert "b.json is naive Bayes, which has no levels" in refused(capsys, "show", "b.json", "--levels", "1")


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
