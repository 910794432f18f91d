"""Two processes build a tree, then classify rows of which each holds its own columns."""

import csv
import json
import re
from pathlib import Path

import pytest

from party.cli.main import main
from party.data.texts import MISSING_MARKERS
from party.keys.keystore import load_secret
from party.records.alignments import past_alignments
from party.records.ledger import read_ledger
from tests.support.examples import few
from tests.support.processes import Ended, Pair, cotally_here, finish, make_pair, serving

RECORDS = 120
ALICE = (["a", "class"], [["xyz"[i % 3], "yn"[(i % 3 == 0) ^ (i // 3 % 2)]] for i in range(RECORDS)])
BOB = (["c", "d"], [["uv"[i // 3 % 2], "pq"[i // 5 % 2]] for i in range(RECORDS)])
NEW = [(f"n{i:02}", "xyz?"[i % 4], "uvw"[i % 3], "pq"[i % 2]) for i in range(24)]
"""Rows of nobody who was trained on, with a value that the model does not know in either's column."""


def write_rows(path: Path, columns: list[str], places: list[int], backwards: bool = False) -> None:
    rows = [[row[0], *(row[place] for place in places)] for row in (NEW[::-1] if backwards else NEW)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", *columns], *rows])


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    made = make_pair(trusting, tmp_path / "parties", ALICE, BOB)
    write_rows(made.alice / "new.csv", ["a"], [1])
    write_rows(made.bob / "new.csv", ["c", "d"], [2, 3], backwards=True)
    write_rows(tmp_path / "joined.csv", ["a", "c", "d"], [1, 2, 3])
    made.edit("bob", "probabilities = false", "probabilities = true")
    made.edit("alice", '# rows = "new.csv"', 'rows = "new.csv"')
    for party in ("alice", "bob"):
        made.edit(party, "most_predictions = 0", 'most_predictions = "any"')
    return made


def classes(path: Path, column: str = "prediction") -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["id"]: row[column] for row in csv.DictReader(file)}


def predict(pair: Pair, *more: str | Path) -> Ended:
    return cotally_here(
        "predict", pair.bob / "party.toml", "--with", "alice", pair.bob / "new.csv", "--progress", "none", *more
    )


@pytest.mark.parametrize("job", few([{"method": "smc", "splits": "two-way"}, {}], 2))
def test_two_processes_classify_new_rows_as_one_would_that_saw_all_columns(
    pair: Pair, tmp_path: Path, job: dict[str, str]
) -> None:
    joined, together = tmp_path / "all.csv", tmp_path / "together.csv"
    with serving(pair) as alice:
        assert pair.train_here(pair.write_job(test="0", **job)).code == 0
        done = predict(pair, "--receiver", "both", "-o", together)
        assert done.code == 0, done.err
        assert "column 'c': 8 of 24 cells hold no value that the model knows" in done.err
        refused = predict(pair, "--probabilities")
        assert refused.code == 5
        assert "the peer reveals classes alone (its [agree] probabilities)" in refused.err.splitlines()[-1]
        theirs = predict(pair, "--receiver", "peer", "-o", tmp_path / "theirs.csv")
        assert theirs.code == 0, theirs.err
        assert (
            f"we have learned none, as it asked (--receiver), so {tmp_path / 'theirs.csv'} is not written" in theirs.err
        )
        assert not (tmp_path / "theirs.csv").exists()
        again = predict(pair)
        assert again.code == 0
        assert "24 of 24 rows were answered before, and come from memory" in again.err
        alice.terminate()
        told = finish(alice).err
    assert main(["predict", str(pair.bob / "model.json"), str(tmp_path / "joined.csv"), "-o", str(joined)]) == 0
    assert classes(together) == classes(joined)
    assert classes(pair.alice / "predictions.csv") == classes(joined)
    assert list(classes(together)) == [row[0] for row in NEW[::-1]]
    assert again.out.splitlines()[0] == "id,c,d,prediction"
    (pair.alice / "predictions.csv").unlink()  # lost, as by a kill before it was written
    for party in (pair.alice, pair.bob):  # who served, and who asked
        kept = cotally_here("predict", party, "--answered", party / "new.csv", "-o", party / "kept.csv")
        assert kept.code == 0, kept.err
        assert classes(party / "kept.csv") == classes(joined)
    assert "the job asks for probabilities, our [agree] probabilities does not allow it" in told
    assert "has learned the classes of 24 rows" in told
    for party in (pair.alice, pair.bob):
        ledger = cotally_here("ledger", "show", party / "party.toml")
        assert "the class of 24 rows by one model" in ledger.out
    assert not re.search("Traceback", told + done.err + refused.err + again.err)


def test_more_people_than_we_answer_about_are_refused_before_a_list_is_compared(pair: Pair) -> None:
    """Of 23 people at least three are common: an alignment that could end in no answer is not spent on them."""
    pair.edit("alice", 'most_predictions = "any"', "most_predictions = 2")
    with (pair.bob / "new.csv").open() as file:
        *rows, _ = file.readlines()
    (pair.bob / "new.csv").write_text("".join(rows))
    with serving(pair):
        assert pair.train_here(pair.write_job(test="0")).code == 0
        refused = predict(pair)
    assert (refused.code, "the peer answers about fewer people" in refused.err) == (5, True), refused.err
    for party in (pair.alice, pair.bob):
        with read_ledger(party, load_secret(party)) as ledger:
            assert past_alignments(ledger.entries(), "data", rows=True) == []


@pytest.mark.parametrize("missing", few(["majority", "x"], 2))
def test_a_missing_cell_is_classified_as_it_was_trained(trusting: Path, tmp_path: Path, missing: str) -> None:
    """All whose cell is missing are of the class of those who have the value that is filled in, and few others are."""
    cells = ["x", "", "y", "x", "-9", "z"]
    filled = (["a", "class"], [[cells[i % 6], "yn"[cells[i % 6] in {"y", "z"}]] for i in range(RECORDS)])
    pair = make_pair(trusting, tmp_path / "parties", filled, BOB)
    pair.edit("alice", "[columns]\n", f'[columns]\na = {{ missing = "{missing}" }}\n')
    pair.edit("alice", "[data]\n", '[data]\nmissing = ["-9"]\n')
    pair.edit("alice", '# rows = "new.csv"', 'rows = "new.csv"')
    pair.edit("alice", "most_predictions = 0", "most_predictions = 5")
    rows = [("n1", "x", "u"), ("n2", "", "u"), ("n3", "-9.0", "v"), ("n4", "y", "u"), ("n5", "w", "u")]
    (pair.alice / "new.csv").write_text("id,a\n" + "".join(f"{who},{a}\n" for who, a, _ in rows))
    (pair.bob / "new.csv").write_text("id,c,d\n" + "".join(f"{who},{c},p\n" for who, _, c in rows))
    (tmp_path / "joined.csv").write_text("id,a,c,d\n" + "".join(f"{who},{a},{c},p\n" for who, a, c in rows))
    with serving(pair):
        assert pair.train_here(pair.write_job(test="0")).code == 0
        done = predict(pair, "-o", tmp_path / "together.csv")
        assert done.code == 0, done.err
    alone = cotally_here("predict", pair.bob / "model.json", tmp_path / "joined.csv", "-o", tmp_path / "alone.csv")
    assert alone.code == 0, alone.err
    assert classes(tmp_path / "alone.csv") == classes(tmp_path / "together.csv")
    assert classes(tmp_path / "alone.csv") == {"n1": "y", "n2": "y", "n3": "y", "n4": "n", "n5": "y"}
    (told,) = (each for each in json.loads((pair.bob / "model.json").read_text())["attributes"] if each["name"] == "a")
    assert (told["missing"], told["marks"]) == ("x", [*MISSING_MARKERS, "-9"])


def test_naive_bayes_classifies_together_as_it_does_alone(pair: Pair, tmp_path: Path) -> None:
    joined, together = tmp_path / "all.csv", tmp_path / "together.csv"
    with serving(pair):
        unused = dict.fromkeys(("omega", "theta", "min_leaf", "max_depth"))
        job = pair.write_job(learner="naive_bayes", method="smc", test="1/4", **unused)
        assert pair.train_here(job).code == 0
        done = predict(pair, "-o", together)
        assert done.code == 0, done.err
        refused = predict(pair, "--probabilities")
        assert refused.code == 5
        assert "would reveal the other side's columns" in refused.err.splitlines()[-1]
    assert main(["predict", str(pair.bob / "model.json"), str(tmp_path / "joined.csv"), "-o", str(joined)]) == 0
    assert classes(together) == classes(joined)
    assert len(set(classes(together).values())) == 2


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--with", "carol", "rows.csv"], "is 'alice': run with --with alice"),
        (["--with", "alice", "rows.csv"], "model.json does not exist"),
        (["--with", "alice", "--model", "no.json", "rows.csv"], "no.json"),
        (["--with", "alice", "--receiver", "nobody", "rows.csv"], "there is no 'nobody'; known: us, peer, both"),
        (["--model", "x.json", "rows.csv"], "without --with"),
        (["--with", "alice", "--answered", "rows.csv"], "name one of them"),
        (["--answered", "rows.csv"], "model.json does not exist"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line_before_the_peer_is_called(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes((pair.bob / "new.csv").read_bytes())
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"')
    done = cotally_here("predict", pair.bob / "party.toml", *words)
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert error in line


def test_probabilities_stand_beside_the_class_and_add_up(tmp_path: Path) -> None:
    leaf = {"counts": [1, 3], "class": "yes"}
    model = {
        "format": "cotally-model/3",
        "class": {"name": "outcome", "values": ["no", "yes"]},
        "growth": {
            "max_depth": None, "min_leaf": 1, "impurity": "gini", "noise": None, "prune": "0",
        },
        "attributes": [{"party": "alice", "name": "a", "values": ["x", "y"], "missing": "y", "marks": ["-9"]}],
        "tree": {
            "counts": [5, 3],
            "attribute": "a",
            "children": [{"value": "x", "node": {"counts": [4, 0], "class": "no"}}, {"value": "y", "node": leaf}],
        },
    }  # fmt: skip
    path, rows = tmp_path / "model.json", tmp_path / "rows.csv"
    path.write_text(json.dumps(model))
    rows.write_text("a,b\nx,1\n-9.0,2\nz,3\n")
    done = cotally_here("predict", path, rows, "--probabilities")
    assert done.out.splitlines() == [
        "a,b,prediction,P(no),P(yes)",
        "x,1,no,1.000000,0.000000",
        "-9.0,2,yes,0.250000,0.750000",
        "z,3,no,0.625000,0.375000",
    ]
    assert "column 'a': 1 of 3 cells hold no value that the model knows" in done.err
    rows.write_text("a,P(no)\nx,1\n")
    refused = cotally_here("predict", path, rows, "--probabilities")
    assert refused.code == 2
    assert "rename it" in refused.err
