"""A partner with a node of its own that forgets what it must, against a node as `init` makes it: real processes."""

import re
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.records import releases
from party.records.ledger import read_ledger
from tests.support.processes import Pair, finish, make_pair, serving, write_table

RECORDS = 150
ALICE = (["a", "b", "class"], [["xyz"[i % 3], "uv"[i // 3 % 2], "yn"[i % 5 % 2]] for i in range(RECORDS)])
BOB = (["c", "d"], [["rstw"[i % 7 % 4], "pq"[i // 2 % 2]] for i in range(RECORDS)])
OTHERS: list[tuple[dict[str, object], str]] = [
    ({"min_leaf": 6}, "budget"),
    ({"seed": 2}, "seed"),
    ({"test": "1/150"}, "test"),
]


@pytest.fixture
def pair(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(trusting, tmp_path_factory.mktemp("made") / "parties", ALICE, BOB)


def test_runs_that_could_be_subtracted_are_refused_by_a_node_whose_peer_forgets_its_own_record(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is built; another limit, another split and too few held-out records are not, whatever Bob forgets."""
    monkeypatch.setattr(releases, "first_change", lambda known, fields: None)  # Bob runs in this process
    pair.edit("alice", 'most_runs = "any"', "most_runs = 1")
    pair.edit("bob", "smallest_test = 30", "smallest_test = 1")
    with serving(pair) as alice:
        trained = pair.train_here(pair.write_job(omega=1, min_leaf=5))
        assert trained.code == 0, trained.err
        model = (pair.alice / "model.json").read_bytes()
        for changes, field in OTHERS:
            refused = pair.train_here(pair.write_job(**{"omega": 1, "min_leaf": 5} | changes))
            assert refused.code == 5, refused.err
            assert f"differ on '{field}'" in refused.err
        assert alice.stderr is not None
        told = ""
        while told.count("the parties differ on") < len(OTHERS):
            line = alice.stderr.readline()
            assert line, told
            told += line
        alice.terminate()
        told += alice.stderr.read()
    assert told.count("the parties differ on") == len(OTHERS)
    assert "Traceback" not in told
    assert (pair.alice / "model.json").read_bytes() == model
    assert not (pair.alice / "model-2.json").exists()


BAD: list[tuple[str, str, str, dict[str, object], str]] = [
    ("alice", "min_leaf = 1", "min_leaf = 5", {"min_leaf": 4}, "min_leaf"),
    ("alice", 'max_depth = "any"', "max_depth = 3", {}, "max_depth"),
    ("bob", "max_classes = 20", "max_classes = 2", {}, "class values"),
    ("alice", "smallest_class = 10", "smallest_class = 60", {}, "class counts"),
    ("bob", "smallest_class = 10", "smallest_class = 60", {}, "class counts"),
]


def test_terms_and_classes_that_are_refused_end_in_one_line_on_both_screens_before_anything_leaves(pair: Pair) -> None:
    """Limits below a policy; a class of three values and of fifty people, too many and too few for who says so."""
    rows = [[*row[:2], "yno"[i % 3]] for i, row in enumerate(ALICE[1])]
    write_table(pair.alice / "data.csv", ALICE[0], rows)
    for party, usual, strict, changes, field in BAD:
        pair.edit(party, usual, strict)
        with serving(pair, "--once") as alice:
            trained = pair.train_here(pair.write_job(**changes))
            listened = finish(alice)
        pair.edit(party, strict, usual)
        for ended in (trained, listened):
            assert ended.code == 5, ended.err
            (line,) = re.findall(r"^cotally: (?!note: ).*", ended.err, flags=re.MULTILINE)
            assert f"the parties differ on '{field}'" in line
        for folder in (pair.alice, pair.bob):
            with read_ledger(folder, load_secret(folder)) as ledger:
                told = [entry.content["kind"] for entry in ledger.entries() if "way" in entry.content]
            assert set(told) <= ({"class counts"} if (party, field) == ("bob", "class counts") else set())
