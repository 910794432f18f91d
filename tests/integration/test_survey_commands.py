"""A survey from its design to a prediction, in two processes: the example that the product writes itself."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.processes import Ended, cotally, cotally_here


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example's data and design, the disguised copy and the secret: to copy."""
    folder = tmp_path_factory.mktemp("survey")
    made = cotally("disguise", "--example", ".", folder=folder)
    assert made.code == 0, made.err
    (line,) = [line for line in made.out.splitlines() if line.startswith("  cotally ")]
    done = cotally(*line.split()[1:], folder=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "survey"))


def run(folder: Path, *words: str) -> Ended:
    """Run a command in this process whose file names lie in the folder."""
    return cotally_here(
        *(str(folder / word) if (folder / word).exists() or word[:2] == "x." else word for word in words)
    )


def done(folder: Path, *words: str) -> str:
    ended = run(folder, *words)
    assert ended.code == 0, ended.err
    return ended.out


def test_the_secret_is_for_its_owner_alone_and_no_id_leaves(folder: Path) -> None:
    assert (folder / "survey.key").stat().st_mode & 0o777 == 0o600
    header, first, *rest = (folder / "disguised.csv").read_text().splitlines()
    assert header == "age,sex,schooling,hours,married,income"
    assert len(rest) == 9_999
    assert "p1" not in first


def test_two_processes_give_the_same_copy_byte_for_byte(folder: Path) -> None:
    before = (folder / "survey.key").read_bytes()
    done(folder, "disguise", "data.csv", "design.toml", "-o", "x.csv", "--secret", "survey.key")
    assert (folder / "x.csv").read_bytes() == (folder / "disguised.csv").read_bytes()
    assert (folder / "survey.key").read_bytes() == before


def test_an_estimate_is_near_the_truth(folder: Path) -> None:
    """At a confidence of 1 - 10^-6 the interval holds the truth but once in a million runs, the coins being new."""
    asked = ["estimate", "disguised.csv", "design.toml", "income = high and married = yes"]
    content = json.loads(done(folder, *asked, "--json", "--confidence", "0.999999"))
    rows = [line.rsplit(",", 2)[1:] for line in (folder / "data.csv").read_text().splitlines()[1:]]
    truth = rows.count(["yes", "high"]) / len(rows)
    low, high = content["estimates"][0]["interval"]
    assert low < truth < high
    assert high - low < 0.12


@pytest.mark.parametrize("learner", ["tree", "bayes"])
def test_what_is_mined_can_be_shown_and_predicts(folder: Path, learner: str) -> None:
    options = ["--test", "1/5", "--seed", "1", *(["--prune"] if learner == "tree" else [])]
    out = done(folder, "mine", learner, "disguised.csv", "design.toml", "-o", f"x.{learner}.json", *options)
    assert "Accuracy 0." in out
    assert done(folder, "show", f"x.{learner}.json").splitlines()[0] in out
    ended = run(folder, "predict", f"x.{learner}.json", "data.csv", "-o", f"x.{learner}.csv")
    assert ended.code == 0
    share = float(ended.err.split()[1].rstrip(":"))
    assert share > 0.7
    assert (folder / f"x.{learner}.csv").read_text().startswith("id,age,sex,schooling,hours,married,income,prediction")


def test_the_design_is_measured_and_its_sampler_audited(folder: Path) -> None:
    assert "Disclosed with certainty" not in done(folder, "privacy", "design.toml", "--full")  # each has its coin
    report = json.loads(done(folder, "privacy", "design.toml", "--json", "--prior", "disguised.csv"))
    assert report["theta"] == "4/5"
    out = done(folder, "audit", "design.toml", "--shift", "1/10")
    assert out.startswith("OK: the sampler responds as the design declares.\n")


def test_how_many_records_a_collector_reads_is_shown_of_a_pilot_and_estimated_from_answers(folder: Path) -> None:
    (again,) = [
        line
        for line in done(
            folder, "disguise", "data.csv", "design.toml", "-o", "x.csv", "--secret", "survey.key"
        ).splitlines()
        if line.startswith("A receiver")
    ]
    pilot = json.loads(done(folder, "privacy", "design.toml", "--json", "--pilot", "data.csv"))["read"]
    likely = json.loads(done(folder, "privacy", "design.toml", "--json", "--prior", "disguised.csv"))["read"]
    copied = json.loads(
        done(folder, "disguise", "data.csv", "design.toml", "-o", "x.2.csv", "--secret", "survey.key", "--json")
    )["read"]

    def said(text: str) -> float:
        return float(text.split("reads ")[1].split("% of whole records", maxsplit=1)[0])

    assert said(again) == pytest.approx(100 * copied["whole_records"], abs=0.06)  # each rounded by itself
    for read in (pilot, likely):
        assert read["records_looked_at"] == 10_000
        assert abs(read["whole_records"] - copied["whole_records"]) < 0.1
    assert pilot["commonest_values"] == copied["commonest_values"]
    text = " ".join(done(folder, "privacy", "design.toml", "--pilot", "data.csv").split())
    assert text.startswith("A receiver of a copy of a table like the pilot reads")
    assert said(text) == pytest.approx(100 * pilot["whole_records"], abs=0.06)
    assert "A receiver" not in done(folder, "privacy", "design.toml")
    assert "read" not in json.loads(done(folder, "privacy", "design.toml", "--json"))


def test_what_a_mined_model_leaves_of_privacy_is_told(folder: Path) -> None:
    done(folder, "mine", "tree", "disguised.csv", "design.toml", "--max-depth", "2", "-o", "x.json")
    asked = ["privacy", "design.toml", "--model", "x.json"]
    short = " ".join(done(folder, *asked).split())
    assert "After mining: anybody who knows what the model reads about a person learns income rightly by its" in short
    assert "pass the responses with --prior" in short
    report = json.loads(done(folder, *asked, "--json", "--prior", "disguised.csv"))["after_mining"]
    left = report["single_entry_before_mining"] - report["rules_name_the_class"]
    assert report["single_entry_known"] == pytest.approx(left)
    assert report["single_entry_unknown"] < report["single_entry_before_mining"]
    (folder / "other.toml").write_text((folder / "design.toml").read_text().replace('"high"', '"above"'))
    ended = run(folder, "privacy", "other.toml", "--model", "x.json")
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_files_with_designs_of_their_own_are_combined_and_columns_of_other_meaning_refused(folder: Path) -> None:
    design = (folder / "design.toml").read_text()
    other = design.replace('"4/5"', '"9/10"').replace('["married"]', '["married", "income"]')
    (folder / "other.toml").write_text(other.replace('money = ["income"]\n', ""))
    done(folder, "disguise", "data.csv", "other.toml", "-o", "x.2.csv", "--secret", "x.key")
    asked = ["income = high and married = yes", "--json"]
    alone = [
        json.loads(done(folder, "estimate", *files, *asked))["estimates"][0]
        for files in (("disguised.csv", "design.toml"), ("x.2.csv", "other.toml"))
    ]
    files = ["estimate", "disguised.csv", "design.toml", "--and", "x.2.csv", "other.toml"]
    content = json.loads(done(folder, *files[:3], *asked, *files[3:]))
    (found,) = content["estimates"]
    assert (content["files"], content["records"], found["answers"]) == (2, 20_000, 20_000)
    assert found["count"] == pytest.approx(found["share"] * found["answers"])
    assert found["share_error"] < min(each["share_error"] for each in alone)
    mean = sum(w * each["share"] for w, each in zip(found["weights"], alone, strict=True))
    assert found["share"] == pytest.approx(mean)
    audited = done(folder, "audit", "design.toml", "--and", "other.toml", "--shift", "1/10")
    assert audited.count("OK: the sampler responds as the design declares.") == 2
    assert str(folder / "other.toml") in audited
    mined = done(folder, "mine", "tree", *files[1:], "--test", "1/5", "--max-depth", "2")
    assert "Learned from 16000 disguised records; held out: 4000 to test on." in mined
    told = done(folder, *files[:3], asked[0], *files[3:])
    assert "20000 records of 2 files" in told
    assert "weights of the files" in told
    (folder / "other.toml").write_text((folder / "other.toml").read_text().replace('["yes", "no"]', '["no", "yes"]'))
    ended = run(folder, *files[:3], asked[0], *files[3:])
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "column 'married' has other values" in ended.err
    ended = run(folder, "mine", "bayes", *files[1:])
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "their values, are the same" in ended.err
    for more in (["--likelihood"], ["--against", "disguised.csv", "design.toml"]):
        ended = run(folder, *files[:3], asked[0], *files[3:4], "disguised.csv", "design.toml", *more)
        assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_commands_end_in_one_line_where_the_design_carries_nothing(folder: Path) -> None:
    (folder / "half.toml").write_text((folder / "design.toml").read_text().replace('"4/5"', '"1/2"'))
    for words in (("privacy",), ("audit",), ("mine", "tree", "disguised.csv"), ("estimate", "disguised.csv")):
        command = [*words, "half.toml", *(["income = high"] if words[0] == "estimate" else [])]
        ended = run(folder, *command)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.count("\n") == 1
        assert "carry nothing" in ended.err
