"""`cotally align` between two processes: who is common, what `train` then uses, and what is refused."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.models.tree_file import read_tree
from party.node.aligning import load_common
from party.records.alignments import past_alignments
from party.records.journal import RunState, recorded_runs
from party.records.ledger import read_ledger
from party.settings.party import read_party_config
from tests.support.processes import Ended, Pair, cotally_here, finish, make_pair, serving, start, wait_for

RECORDS = 150
ALICE = (["a", "class"], [["xyz"[i % 3], "yn"[i % 3 % 2]] for i in range(RECORDS)])
BOB = (["c", "d"], [["rstw"[i % 7 % 4], "pq"[i // 2 % 2]] for i in range(RECORDS)])
SHIFT = 30  # Bob's people are those of Alice's from here on, and as many others


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Iterator[Pair]:
    """Return parties of whose people 120 are common, of which Alice serves."""
    pair = shifted(trusting, tmp_path)
    with serving(pair):
        yield pair


def shifted(trusting: Path, tmp_path: Path) -> Pair:
    """Make parties of whose people 120 are common; Bob's file has them in another order, with blanks around ids."""
    pair = make_pair(trusting, tmp_path / "parties", ALICE, BOB)
    rewrite(pair, [f" p{number + SHIFT:06} " for number in range(RECORDS)][::-1])
    return pair


def rewrite(pair: Pair, ids: list[str]) -> None:
    """Give Bob's rows these ids, the last ones no row."""
    path = pair.bob / "data.csv"
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *([own, *row[1:]] for own, row in zip(ids, rows, strict=False))])


def align(pair: Pair, *more: str) -> Ended:
    return cotally_here("align", pair.bob / "party.toml", *more)


def people(pair: Pair, party: str) -> list[str]:
    kept = json.loads((pair.folder / party / "alignments.json").read_text())
    found: list[str] = kept["alignments"]["data"]["people"]
    return found


def train(pair: Pair) -> Ended:
    job = pair.write_job(method="smc", test="0", min_leaf=5)
    return cotally_here("train", pair.bob / "party.toml", job, "--overwrite", "--report", pair.bob / "report.json")


def test_people_are_counted_then_found_and_training_uses_them_alone(pair: Pair) -> None:
    counted = align(pair, "--count-only")
    assert counted.code == 0, counted.err
    assert "150 people here, 150 at alice, 120 on both lists" in counted.err
    assert not (pair.bob / "alignments.json").exists()

    found = align(pair)
    assert found.code == 0, found.err
    assert "30 rows here and 30 at alice are on one list only" in found.err
    assert people(pair, "alice") == people(pair, "bob")
    assert sorted(people(pair, "bob")) == [f"p{number:06}" for number in range(SHIFT, RECORDS)]

    trained = train(pair)
    assert trained.code == 0, trained.err
    assert sum(read_tree(pair.bob / "model.json").root.counts) == 120
    common = load_common(read_party_config(pair.bob), 2048)
    assert (len(common.records), common.listed) == (120, 150)  # what a job does not name is as before the alignment
    with read_ledger(pair.bob, load_secret(pair.bob)) as ledger:
        assert len(past_alignments(ledger.entries(), "data")) == 2

    looked = cotally_here("check", pair.bob / "party.toml", pair.folder / "job-1.toml")
    assert looked.code == 0, looked.out
    assert "Data set 'data': 120 records" in looked.out

    told = cotally_here("ledger", "show", pair.bob / "party.toml").out
    assert "Both learned how many of 150 people of ours and 150 of alice are common: 120; each side now knows" in told

    again = align(pair)
    assert again.code == 0, again.err
    trained_again = train(pair)
    assert trained_again.code == 0, trained_again.err  # the same people are the same table
    assert cotally_here("check", pair.bob / "party.toml", pair.folder / "job-1.toml").code == 0
    rewrite(pair, [f"p{number:06}" for number in range(SHIFT + 1, SHIFT + RECORDS)])
    one_less = align(pair)
    assert one_less.code == 5
    assert "already has a run over other people" in one_less.err


def test_training_aligns_by_itself_where_ids_differ_and_both_sides_would(trusting: Path, tmp_path: Path) -> None:
    pair = shifted(trusting, tmp_path)
    pair.edit("alice", "most_alignments = 3", "most_alignments = 0")
    with serving(pair):
        refused = train(pair)
        assert refused.code == 5
        assert "[agree] most_alignments of both sides allows it" in refused.err
        assert not (pair.bob / "alignments.json").exists()
    pair.edit("alice", "most_alignments = 0", "most_alignments = 3")
    with serving(pair) as alice:
        trained = train(pair)
        assert trained.code == 0, trained.err
        again = train(pair)
        assert again.code == 0, again.err
        alice.terminate()
        served = finish(alice)
    for told, there in ((trained.err, "alice"), (served.err, "bob")):
        assert f"150 people here, 150 at {there}, 120 on both lists" in told
        assert f"30 rows here and 30 at {there} are on one list only" in told
    assert "on both lists" not in again.err
    assert people(pair, "alice") == people(pair, "bob")
    assert sum(read_tree(pair.bob / "model.json").root.counts) == 120


@pytest.mark.full
def test_an_aligned_run_that_was_killed_goes_on_whichever_side_has_lost_what_it_had_read(
    trusting: Path, tmp_path: Path
) -> None:
    pair = shifted(trusting, tmp_path)
    work = pair.write_job(method="smc", test="0", min_leaf=5)
    for name in ("alice", "bob"):
        pair.edit(name, "patience = 30", "patience = 5")
    with serving(pair) as alice:
        for moment in ("Aligned with", "growing the tree"):
            bob = start(*pair.train_arguments(work))
            assert bob.stderr is not None
            assert any(moment in line for line in bob.stderr)
            wait_for((pair.alice / "alignments.json").exists)  # else the people are found again
            bob.kill()
            finish(bob)
        alice.kill()
        alice.wait()
    with serving(pair):
        ended = pair.train(work)
        assert ended.code == 0, ended.err
    for folder in (pair.alice, pair.bob):
        runs = recorded_runs(folder, load_secret(folder))
        assert [each.state for each in runs] == [RunState.DONE]
        with read_ledger(folder, load_secret(folder)) as ledger:
            assert len(past_alignments(ledger.entries(), "data")) == 1
    assert sum(read_tree(pair.bob / "model.json").root.counts) == 120


def test_common_people_too_few_to_train_on_end_the_run_at_both_before_anything_of_them_leaves(
    trusting: Path, tmp_path: Path
) -> None:
    pair = shifted(trusting, tmp_path)
    rewrite(pair, [f"p{number + RECORDS - 20:06}" for number in range(RECORDS)])
    with serving(pair):
        few = cotally_here("train", pair.bob / "party.toml", pair.write_job(method="smc"))
    assert few.code == 5
    assert "20 on both lists" in few.err
    assert "30" in few.err.splitlines()[-1]
    with read_ledger(pair.alice, load_secret(pair.alice)) as ledger:
        assert {entry.content["kind"] for entry in ledger.entries()} <= {"alignment", "comparison", "head"}


def test_a_peer_that_guesses_too_little_hears_that_alone(pair: Pair) -> None:
    rewrite(pair, [f"p{number:06}" for number in range(RECORDS - 10, 2 * RECORDS - 10)])
    few = align(pair)
    assert few.code == 5
    assert "fewer than 15 of the peer's 150 ids are ours" in few.err
    assert "1/10" in few.err
    assert not (pair.bob / "alignments.json").exists()
    assert "p0001" not in few.err


def test_lists_in_two_forms_are_not_compared_and_one_list_too_many_is_refused(trusting: Path, tmp_path: Path) -> None:
    pair = shifted(trusting, tmp_path)
    for party in ("alice", "bob"):
        pair.edit(party, "most_alignments = 3", "most_alignments = 1")
    with serving(pair):
        pair.edit("bob", 'id = "id" ', 'id_alike = ["case"]\nid = "id" ')
        other = align(pair)
        assert other.code == 5
        assert "ours are of one column, alike whatever their case" in other.err
        pair.edit("bob", 'id_alike = ["case"]\n', "")
        assert align(pair, "--count-only").code == 0
        rewrite(pair, [f"p{number + 1:06}" for number in range(SHIFT, SHIFT + RECORDS)])
        second = align(pair, "--count-only")
        assert second.code == 5
        assert "1 before and this one make 2" in second.err
