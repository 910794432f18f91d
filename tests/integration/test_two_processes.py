"""Two processes, real keys, mutual TLS: the same tree on both sides, and one clear line when a peer goes.

Where no process but Alice's is watched or ended, Bob runs in ours.
"""

import json
import os
import re
import signal
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from party.models.tree_file import read_tree, tree_json
from protocols.terms import Counting
from tests.support.examples import few
from tests.support.processes import (
    Pair,
    assert_one_error,
    cotally_here,
    finish,
    serving,
    start,
    until_growing,
    write_table,
)
from tests.support.tic_tac_toe import ALICE, BOB, RECORDS, plain_tree, table


@pytest.mark.parametrize("counting", few([Counting.OBLIVIOUS_TRANSFER, Counting.PAILLIER], 2))
def test_with_the_whole_window_two_processes_build_the_tree_of_plain_id3(pair: Pair, counting: str) -> None:
    with serving(pair, "--once") as alice:
        trained = pair.train(pair.write_job(counting=counting))
        assert trained.code == 0, trained.err
        assert finish(alice).code == 0
    tree = read_tree(pair.bob / "model.json")
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert tree_json(tree) == tree_json(plain_tree(tree.schema))
    report = json.loads((pair.bob / "report.json").read_text())
    assert report["exact_counts_disclosed"] == report["smc_computations"] + 2 + 1
    assert report["round_trips"] <= 2 * tree.depth + 18
    assert ("Encryption key of " in trained.err) == (counting == "paillier")
    digests = {line.split("digest ")[1].split(";")[0] for line in trained.err.splitlines() if "digest" in line}
    assert digests == {tree.digest().hex()[:16]}


SECRET = {"reveal": "tree", "most_bits": 1000, "method": "smc", "test": "0", "max_depth": 3, "min_leaf": 5}


WAYS: list[tuple[dict[str, object], set[str]]] = [({"method": "hybrid", "omega": 3}, {"copy", "windows"}), ({}, set())]


@pytest.mark.parametrize(("changes", "more"), few(WAYS, 2))
def test_two_processes_that_reveal_the_tree_alone_end_with_it_and_have_no_count_on_record(
    pair: Pair, changes: dict[str, object], more: set[str]
) -> None:
    for party in ("alice", "bob"):
        pair.edit(party, "exact_counts = true", "exact_counts = false")
    with serving(pair) as alice:
        assert_one_error(pair.train_here(pair.write_job()), 2, "exact_counts = true")
        trained = pair.train_here(pair.write_job(**SECRET | changes))
        assert trained.code == 0, trained.err
        assert alice.poll() is None
    tree = read_tree(pair.bob / "model.json")
    assert (
        (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes() == tree_json(tree).encode()
    )
    assert not tree.has_counts
    assert tree.depth == 3
    assert more or tree.leaves() == plain_tree(tree.schema, tree.growth, Fraction(0)).leaves()
    for party in ("alice", "bob"):
        folder = getattr(pair, party)
        told = cotally_here("ledger", "export", folder)
        assert told.code == 0, told.err
        kinds = set(re.findall(r'"kind": "([a-z ]+)"', told.out))
        assert kinds == {"columns", "head", "comparison", "release", "run", "opened", "answers", "model"} | more
        page = cotally_here("report", folder, "--model", folder / "model.json", "-o", folder / "report.html")
        assert page.code == 0, page.err
        said = " ".join(unescape((folder / "report.html").read_text()).split())
        certain = r"our own columns we can be certain of [\w ,']*nobody's value in a column of \w+, of [\d,]+"
        assert re.search(certain, said)
        assert re.search(r"Used in all: [\d,]+ bits, of any number allowed\.", said)
        assert cotally_here("ledger", "show", folder).code == 0
    shown = cotally_here("show", str(pair.bob / "model.json"))
    assert shown.code == 0, shown.err
    assert "[" not in shown.out.split("\n", 1)[1]


HELD_OUT_DEEDS = ("people for certain, or ", "by the table of those held out", "so that it decides who is held out")


def test_two_processes_hold_out_whom_both_have_drawn_and_open_one_table_of_them_with_noise(pair: Pair) -> None:
    with serving(pair):
        trained = pair.train_here(pair.write_job(**SECRET | {"test": "1/3", "splits": "two-way"}))
    assert trained.code == 0, trained.err
    assert re.search(
        r"Accuracy [01]\.\d+ ± 0\.\d+ on [\d,]+ held-out records; always saying the commonest class: [01]\.\d+ ± ",
        trained.err,
    )
    assert re.search(r"Model says +is negative +is positive", trained.err)
    tables = []
    for folder in (pair.alice, pair.bob):
        told = cotally_here("ledger", "export", folder)
        tables.append(re.findall(r'"are": \[\s*(-?\d[^\]]*)\]', told.out))
        page = folder / "report.html"
        assert cotally_here("report", folder, "--model", folder / "model.json", "-o", page).code == 0
        assert "Held-out people, with noise" in page.read_text()
        assert all(deed in text for text in (page.read_text(), trained.err) for deed in HELD_OUT_DEEDS)
    assert [(each.count(",") + 1) % 4 for each in tables[0]] == [0]  # a tenth, a label, a number for each class a row
    assert tables[0] == tables[1]


def test_two_processes_open_the_shares_of_leaves_rank_people_by_them_and_book_their_bits(pair: Pair) -> None:
    """Of noisy counts here, since the table is small; `predict` then gives scores where it gave classes alone."""
    for party in ("alice", "bob"):
        pair.edit(party, 'epsilon = "any"', 'epsilon = "1"')
    job = {**SECRET, "min_leaf": 1, "impurity": "gini", "noise": "1", "test": "1/3", "leaves": "tenths"}
    job.pop("most_bits")
    with serving(pair):
        trained = pair.train_here(pair.write_job(**job), "--json")
    assert trained.code == 0, trained.err
    shown = cotally_here("show", str(pair.bob / "model.json"))
    assert re.search(r"→ \w+ \[\d\.\d \d\.\d\]", shown.out)
    model = json.loads((pair.bob / "model.json").read_text())
    assert model["growth"]["leaves"] == "tenths"
    assert "the shares of the classes in tenths" in cotally_here("ledger", "show", pair.bob).out
    told = json.loads(trained.out)
    entries = json.loads(cotally_here("ledger", "export", pair.bob, "--json").out)["entries"]
    (are,) = [each["are"] for each in entries if each.get("what") == "scores" and each["are"]]
    cells = np.array(are).reshape(-1, 4)
    confusion = [cells[cells[:, 1] == label][:, 2:].sum(axis=0).tolist() for label in (0, 1)]
    assert told["quality"]["confusion"] == dict(zip(("negative", "positive"), confusion, strict=True))
    assert told["ranking"]["class"] in ("negative", "positive")
    page = pair.bob / "report.html"
    assert cotally_here("report", pair.bob, "--model", pair.bob / "model.json", "-o", page).code == 0
    said = page.read_text()
    assert "with the share of every class in tenths" in said
    assert re.search(r'<th scope="row">(posi|nega)tive</th><td class="number">[01]\.\d</td>', said)


def test_another_order_of_the_file_is_the_same_table(pair: Pair) -> None:
    """The same run again, under the same data set name: the records are the same, and so is every model."""
    path = pair.bob / "data.csv"
    header, *rows = path.read_text().splitlines()
    models = []
    with serving(pair) as alice:
        for lines in (rows, rows[::-1]):
            path.write_text("\n".join([header, *lines]) + "\n")
            trained = pair.train_here(pair.write_job(method="randomized"))
            assert trained.code == 0, trained.err
            models.append((pair.bob / "model.json").read_bytes())
        alice.terminate()
        assert finish(alice).code == 0
    assert models[0] == models[1] == (pair.alice / "model.json").read_bytes()


@pytest.mark.parametrize("killed", few(["bob", "alice"], 2))
def test_when_a_peer_is_killed_the_other_says_so_within_its_deadline(pair: Pair, killed: str) -> None:
    for party in ("alice", "bob"):
        pair.edit(party, "patience = 30", "patience = 3")
    with serving(pair, "--once") as alice:
        bob = start(*pair.train_arguments(pair.write_job(method="smc", counting="paillier")))
        until_growing(bob)
        victim, survivor = (alice, bob) if killed == "alice" else (bob, alice)
        os.kill(victim.pid, signal.SIGKILL)
        ended = finish(survivor, seconds=20)
        victim.wait()
    assert_one_error(ended, 4, killed, "is paused, and goes on when both start the same again")
    assert not (pair.alice / "model.json").exists()
    assert not (pair.bob / "model.json").exists()
    if bob.stderr:
        bob.stderr.close()


def test_a_party_that_is_interrupted_says_how_to_go_on_and_stops_the_other_at_once(pair: Pair) -> None:
    paused = "is paused, and goes on when both start the same again"
    arguments = pair.train_arguments(pair.write_job(method="smc", counting="paillier"))
    again = f"(here `cotally {' '.join(arguments)}`)"
    with serving(pair, "--once") as alice:
        bob = start(*arguments)
        until_growing(bob)
        os.kill(bob.pid, signal.SIGINT)
        assert_one_error(finish(alice, seconds=20), 4, "bob has stopped for now", paused)
        assert_one_error(finish(bob), 130, "interrupted; run", paused, again)
    with serving(pair, "--once") as alice:
        bob = start(*pair.train_arguments(Path(arguments[2])))
        until_growing(bob)
        os.kill(alice.pid, signal.SIGTERM)
        assert_one_error(finish(alice), 0, "stopped by SIGTERM; run", paused, f"(here `cotally serve {pair.alice}")
        assert bob.stderr is not None
        assert any("calling again" in line for line in bob.stderr)
        os.kill(bob.pid, signal.SIGINT)
        assert_one_error(finish(bob), 130, "interrupted; alice has stopped for now; run", paused, again)


def test_the_model_classifies_rows_and_its_report_and_check_read_the_same_off_the_copy(
    tmp_path: Path, pair: Pair
) -> None:
    with serving(pair, "--once"):
        assert pair.train_here(pair.write_job(test="0")).code == 0
    (names_a, rows_a), (names_b, rows_b) = table(ALICE), table(BOB)
    write_table(tmp_path / "rows.csv", [*names_a, *names_b], [[*a, *b] for a, b in zip(rows_a, rows_b, strict=True)])
    ended = cotally_here(
        "predict", str(pair.bob / "model.json"), str(tmp_path / "rows.csv"), "-o", str(tmp_path / "out.csv")
    )
    assert ended.code == 0, ended.err
    assert "1.000" in ended.out + ended.err or "100" in ended.out + ended.err
    assert len((tmp_path / "out.csv").read_text().splitlines()) == RECORDS + 1
    page = cotally_here("report", str(pair.bob / "party.toml"), "-o", str(tmp_path / "report.html"))
    assert page.code == 0, page.err
    written = (tmp_path / "report.html").read_text()
    job = pair.write_job(test="0")
    shown = " ".join(cotally_here("check", str(pair.bob / "party.toml"), str(job)).out.split())
    (read,) = set(re.findall(r"A receiver of this copy [^<]*", unescape(written)))
    assert read in shown
    with (pair.bob / "data.csv").open("a") as file:
        file.write((pair.bob / "data.csv").read_text().splitlines()[-1].replace("p", "q", 1) + "\n")
    other = cotally_here("report", str(pair.bob / "party.toml"), "-o", str(tmp_path / "report.html"), "--overwrite")
    assert other.code == 0, other.err
    assert "is not here as it was" in (tmp_path / "report.html").read_text()


def test_two_processes_learn_naive_bayes_that_classifies_rows(tmp_path: Path, pair: Pair) -> None:
    (names_a, rows_a), (names_b, rows_b) = table(ALICE), table(BOB)
    write_table(tmp_path / "rows.csv", [*names_a, *names_b], [[*a, *b] for a, b in zip(rows_a, rows_b, strict=True)])
    with serving(pair):
        trained = pair.train_here(pair.write_job(learner="naive_bayes", method="smc"))
        assert trained.code == 0, trained.err
        assert "Both parties hold the same naive Bayes model: 9 attributes" in trained.err
        model = (pair.bob / "model.json").read_bytes()
        assert (pair.alice / "model.json").read_bytes() == model
        report = json.loads((pair.bob / "report.json").read_text())
        assert report["smc_computations"] == 9 * 3 * 2
    rows, out = str(tmp_path / "rows.csv"), str(tmp_path / "out.csv")
    assert cotally_here("predict", str(pair.bob / "model.json"), rows, "-o", out).code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == RECORDS + 1
    assert "naive Bayes over 9 attributes" in cotally_here("show", str(pair.bob / "model.json")).out
    page = cotally_here("report", str(pair.bob / "party.toml"), "-o", str(tmp_path / "report.html"))
    assert page.code == 0, page.err
    assert "<h1>Naive Bayes for " in (tmp_path / "report.html").read_text()
