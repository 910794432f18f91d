"""`cotally rehearse`: what it says is so on the joined table, and of the job what a run gives."""

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.models.tree_file import read_tree
from protocols.learning.tree import Leaf, Node
from protocols.two_party.inputs import split_records
from tests.support.plain import ReferenceId3
from tests.support.processes import Pair, assert_one_error, cotally_here, make_pair, serving, write_table
from tests.support.tic_tac_toe import ALICE, BOB, RECORDS, table

JOB = {"method": "smc", "max_depth": 3, "min_leaf": 4, "test": "1/4", "splits": "values"}
PARTNER = ",".join(table(BOB)[0])


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    (mine, own), (theirs, others) = table(ALICE), table(BOB)
    write_table(tmp_path / "joined.csv", [*mine, *theirs], [[*a, *b] for a, b in zip(own, others, strict=True)])
    return make_pair(trusting, tmp_path / "parties", (mine, own), (theirs, others))


def rehearsed(pair: Pair, *more: str | Path, party: str = "alice") -> dict[str, Any]:
    ended = cotally_here("rehearse", pair.folder / party, *more, "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def pilot(pair: Pair) -> list[str | Path]:
    return ["--pilot", pair.folder.parent / "joined.csv", "--partner", PARTNER]


class Oracle:
    """The joined table, its columns in the agreed order, split as a job of these terms splits it."""

    def __init__(self, columns: Sequence[int]) -> None:
        names, rows = table((*columns, ALICE[-1]))
        del names
        texts = [sorted({row[at] for row in rows}) for at in range(len(columns) + 1)]
        codes = np.array([[of.index(text) for of, text in zip(texts, row, strict=True)] for row in rows])
        train, test = split_records(1, RECORDS, Fraction(1, 4))
        self.sizes, self.train, self.test = [len(each) for each in texts[:-1]], codes[train].tolist(), codes[test]

    def grown(self, max_depth: int = 3, min_leaf: int = 4) -> dict[str, float]:
        reference = ReferenceId3(self.sizes, 2, max_depth=max_depth, min_leaf=min_leaf)
        root = reference.grow(self.train)
        ends = [self._end(root, row) for row in self.test.tolist()]
        right = np.array([leaf.label for leaf in ends]) == self.test[:, -1]
        share = np.array([self._share(leaf) for leaf in ends])
        of_class = [share[self.test[:, -1] == label] for label in (0, 1)]
        above = of_class[1][:, None] - of_class[0][None]
        asked = sum(sum(each) for each in reference.asked.values())
        return {
            "accuracy": right.mean(),
            "accuracy_error": (right.mean() * (1 - right.mean()) / len(right)) ** 0.5,
            "auc": ((above > 0) + (above == 0) / 2).mean(),
            "nodes": self._nodes(root),
            "counts_revealed": asked + 2 + 1,
        }

    def _end(self, node: Node, row: list[int]) -> Leaf:
        return node if isinstance(node, Leaf) else self._end(node.children[row[node.attribute]], row)

    def _nodes(self, node: Node) -> int:
        return 1 if isinstance(node, Leaf) else 1 + sum(map(self._nodes, node.children))

    @staticmethod
    def _share(leaf: Leaf) -> float:
        total = sum(leaf.counts)
        return leaf.counts[1] / total if leaf.counts[leaf.label] == max(leaf.counts) > 0 else float(leaf.label)


def assert_as_on_the_joined_table(found: dict[str, Any], oracle: Oracle) -> None:
    commonest = np.bincount(oracle.test[:, -1]).max() / len(oracle.test)
    assert found["commonest"] == pytest.approx(commonest)
    assert (found["records"], found["held_out"]) == (RECORDS, len(oracle.test))
    held = 0
    for row in found["choices"]:
        changed = dict(re.findall(r"(max_depth|min_leaf) = (\d+)$", row["choice"]))
        if changed or row["choice"] == "the job as it is":
            expected = oracle.grown(**{name: int(value) for name, value in changed.items()})
            assert {name: row[name] for name in expected} == pytest.approx(expected), row["choice"]
            held += 1
    assert held == 9


def test_both_sides_on_a_pilot_table_give_what_the_joined_table_says_and_what_a_run_then_builds(pair: Pair) -> None:
    job = pair.write_job(**JOB)
    found = rehearsed(pair, job, *pilot(pair))
    assert_as_on_the_joined_table(found, Oracle((*ALICE[:-1], *BOB)))
    with serving(pair, "--once"):
        trained = pair.train_here(job)
        assert trained.code == 0, trained.err
    assert found["model"] == read_tree(pair.bob / "model.json").digest().hex()
    report, rehearsal = json.loads((pair.bob / "report.json").read_text()), found["choices"][0]
    assert report["accuracy"] == pytest.approx(rehearsal["accuracy"])
    assert report["exact_counts_disclosed"] == rehearsal["counts_revealed"]


def test_alone_it_is_what_own_columns_give_with_the_class_or_with_a_column_that_stands_for_it(pair: Pair) -> None:
    job = pair.write_job(**JOB)
    assert_as_on_the_joined_table(rehearsed(pair, job), Oracle(ALICE[:-1]))
    stands, sends = table(BOB)[0][0], pair.write_job(**{**JOB, "method": "hybrid", "omega": 2})
    found = rehearsed(pair, sends, "--class", stands, party="bob")
    assert found["columns"] == {"bob": table(BOB)[0][1:], "alice": []}
    assert {row["cost_ratio"] for row in found["choices"] if row["choice"] == "omega = 5"} == {1.0}
    read = [row["whole_records_read"] for row in found["choices"] if row["choice"].startswith("theta")]
    assert max(read[:2]) < read[-1]
    checked = json.loads(cotally_here("check", pair.alice, sends, "--json").out)
    assert rehearsed(pair, sends)["choices"][0]["whole_records_read"] == checked["copy"]["read"]["whole_records"]


def test_the_page_has_the_table_of_the_screen_and_a_picture_and_what_cannot_be_rehearsed_is_one_line(
    pair: Pair,
) -> None:
    job, page = pair.write_job(**JOB), pair.folder / "page.html"
    ended = cotally_here("rehearse", pair.alice, job, *pilot(pair), "-o", page)
    assert ended.code == 0, ended.err
    assert "what each choice gives" in ended.out.lower()
    assert "<svg" in page.read_text()
    assert cotally_here("rehearse", pair.alice, job, "--data", "votes", "-o", page, "--overwrite").code == 0
    assert "435 records" in page.read_text()
    assert all(row["choice"].split(",")[0] in ended.out for row in rehearsed(pair, job, *pilot(pair))["choices"][:4])
    for words, said in (
        (["rehearse", pair.bob, job], "--class COLUMN"),
        (["rehearse", pair.alice, job, *pilot(pair)[:2]], "--partner"),
        (["rehearse", pair.alice, pair.write_job(**{**JOB, "test": "0"})], "test is above 0"),
        (["rehearse", pair.alice, job, *pilot(pair)[:3], "nobody"], "no column 'nobody'"),
        (["rehearse", pair.alice, job, "-o", pair.folder / "page.txt"], ".html"),
    ):
        assert_one_error(cotally_here(*words), 2, said)
    alone = pair.write_job(**JOB, reveal="tree")
    tree = rehearsed(pair, alone, *pilot(pair))["choices"]
    few = pair.write_job(**JOB, reveal="tree", most_bits=4)
    whole, early = (cotally_here("rehearse", pair.alice, job, *pilot(pair)).out for job in (alone, few))
    assert "These weights balance the classes" in whole
    too_few = f"{RECORDS} people are too few for a tree within most_bits, 4. Next: more people"
    assert [too_few in " ".join(text.split()) for text in (whole, early)] == [False, True]
    most = RECORDS // 50
    by_data: list[dict[str, object]] = [
        {"most_bits": 2 * most},
        {"most_bits": 4 * most},
        {"weights": ["negative=4"], "min_leaf": 11},
    ]
    assert len({row["nodes"] for row in tree[-3:]}) > 1
    for row, change in zip(tree[-3:], by_data, strict=True):
        job = pair.write_job(**{**JOB, "reveal": "tree", **change})
        assert row["choice"] == ", ".join(f"{name} = {json.dumps(value)}" for name, value in change.items())
        assert row | {"choice": tree[0]["choice"]} == rehearsed(pair, job, *pilot(pair))["choices"][0]
    balanced = pair.write_job(**{**JOB, "reveal": "tree", "weights": "balanced", "min_leaf": 11})
    ended = cotally_here("rehearse", pair.alice, balanced, *pilot(pair), "--json")
    assert json.loads(ended.out)["choices"][0] | {"choice": tree[-1]["choice"]} == tree[-1]
    assert "weights: negative=4: the peer learns this ratio of the classes" in ended.err
    pair.edit("alice", "most_values = 16", "most_values = 2")
    refused = cotally_here("rehearse", pair.alice, alone, *pilot(pair))
    assert_one_error(refused, 2, "a run would be refused", "most_values allows 2", "as our [columns] says")


def test_without_a_job_it_is_that_of_the_folder_and_what_a_run_would_not_be_is_said(pair: Pair) -> None:
    own = pair.alice / "job.toml"
    own.write_text(pair.write_job(**{**JOB, "reveal": "tree", "test": "1/2"}).read_text())
    assert rehearsed(pair) == rehearsed(pair, own) != rehearsed(pair, pair.write_job(**JOB))
    few, lines = pair.folder / "few.csv", (pair.folder.parent / "joined.csv").read_text().splitlines(keepends=True)
    few.write_text("".join([lines[0], *lines[1:159:2]]))

    def said(*words: str | Path) -> str:
        ended = cotally_here("rehearse", pair.alice, *words)
        assert ended.code == 0, ended.err
        return " ".join(ended.out.split())

    alone = said()
    assert "job.toml (smc, leaves" in alone
    assert "refuses" not in alone
    assert "Warning" not in said(*pilot(pair)) + alone
    pair.edit("alice", 'max_depth = "any"', "max_depth = 2")
    with_few = ("--pilot", few, "--partner", PARTNER)
    screen, (refusal, *warnings) = said(*with_few), rehearsed(pair, *with_few)["warnings"]
    assert refusal.startswith("This party refuses this job: ")
    assert all(each in screen for each in (refusal, *warnings))
    assert screen.count("Warning: ") == len(warnings) > 0
    assert f"Warning: 79 people are few beside the {RECORDS} of our table" in screen
    own.write_text(own.read_text().replace('"1/2"', '"0"'))
    assert_one_error(cotally_here("rehearse", pair.alice), 2, f"as {own} is not", "test is above 0")


def test_the_readme_shows_what_it_prints(pair: Pair) -> None:
    text = (Path(__file__).parents[3] / "party" / "README.md").read_text()
    shown = text.partition("`max_depth = 3` and `seed = 1`:\n")[2].partition("\nThe tree of")[0]
    job = pair.write_job(method="smc", max_depth=3, min_leaf=None, splits=None)
    ended = cotally_here("rehearse", pair.alice, job, "--data", "votes")
    assert ended.code == 0, ended.err
    assert re.sub("^    ", "", shown, flags=re.MULTILINE).strip("\n") in ended.out


def test_advice_says_what_a_belief_needs_and_a_width_takes_as_many_records_as_it_has() -> None:
    ended = cotally_here("advise", "survey", "--belief", "2/5", "--share", "1/10", "--half-width", "0.02", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["odds"] == "6"
    assert [(row["of"], row["theta"]) for row in found["choices"]] == [
        ("related", "6/7"), ("forced", "5/7"), ("triangular", "5/6"),
    ]  # fmt: skip
    for row in found["choices"]:
        assert row["belief"] == pytest.approx(0.4)
        assert row["half_width"] <= 0.02 < row["half_width"] * (1 + 1 / row["records"])
    shown = cotally_here("advise", "job", "--belief", "2/3", "--records", "1000")
    assert re.search(r"^ +2 +0\.6667 +0\.6667 +0\.6667 +12 +1,000 +0\.0930$", shown.out, re.MULTILINE)
    for words, said in (
        (["--belief", "1/3"], "--belief must be above the share"),
        (["--odds", "1"], "--odds must be above 1"),
        (["--theta", "1/3"], "--theta must lie between 1/2 and 1"),
        (["--odds", "2", "--records", "1"], "--records must be 2 or more"),
        (["--odds", "2", "--share", "0"], "--share must lie"),
    ):
        assert_one_error(cotally_here("advise", "job", *words), 2, said)
