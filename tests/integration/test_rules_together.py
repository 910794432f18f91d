"""Association rules of two real parties: the same file at both, what both ledgers say of it, and a run after it."""

import csv
import json
import random
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from party.association import joint_itemsets, joint_rules
from party.keys.keystore import load_secret
from party.records.ledger import read_ledger
from party.records.tally import Dealings, Revealed, dealings
from protocols.terms import Counting
from tests.support.examples import few
from tests.support.kills import Round, easily_killed
from tests.support.processes import BITS, Ended, Pair, cotally_here, finish, make_pair, serving

RECORDS = 400
SMALLEST = 5
_GENERATOR = np.random.default_rng(11)
_FIRST = _GENERATOR.random((RECORDS, 3)) < (0.6, 0.5, 0.4)
_SECOND = np.where(_GENERATOR.random((RECORDS, 2)) < 0.9, _FIRST[:, :2], _GENERATOR.random((RECORDS, 2)) < 0.5)
ALICE = (["bread", "milk", "eggs"], [["01"[int(held)] for held in row] for row in _FIRST])
BOB = (["butter", "honey"], [["01"[int(held)] for held in row] for row in _SECOND])
ITEMS = {
    **{f"alice.{name}=1": _FIRST[:, column] for column, name in enumerate(ALICE[0])},
    **{f"bob.{name}=1": _SECOND[:, column] for column, name in enumerate(BOB[0])},
}


@pytest.fixture
def pair(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(trusting, tmp_path_factory.mktemp("made") / "parties", ALICE, BOB)


def write_job(pair: Pair, **changes: object) -> Path:
    usual: dict[str, object] = {
        "learner": "rules", "reveal": "counts", "method": "hybrid", "theta": "2/3", "key_bits": BITS,
        "min_leaf": SMALLEST, "min_support": "1/5", "max_len": 3, "absent": ["0"],
    }  # fmt: skip
    path = pair.folder / f"rules-{len(list(pair.folder.glob('rules-*')))}.toml"
    terms = {key: value for key, value in (usual | changes).items() if value is not None}
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in terms.items()))
    return path


def dealings_of(folder: Path) -> Dealings:
    with read_ledger(folder, load_secret(folder)) as ledger:
        (told,) = dealings(ledger.entries())
    return told


def run_pair(pair: Pair, *serving_options: str, **changes: object) -> tuple[Ended, Ended]:
    """Run both to the end."""
    with serving(pair, "--once", *serving_options) as alice:
        bob = pair.train(write_job(pair, **changes))
        return finish(alice), bob


def exact_share(items: frozenset[str]) -> float:
    return float(np.logical_and.reduce([ITEMS[item] for item in items]).mean())


@pytest.mark.parametrize("counting", few([*Counting], 2))
def test_both_sides_end_with_the_same_rules_and_settled_ones_are_exact(pair: Pair, counting: str) -> None:
    alice, bob = run_pair(pair, counting=counting)
    assert (alice.code, bob.code) == (0, 0), alice.err + bob.err
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    found = joint_itemsets(pair.bob / "model.json")
    settled = found[found["settled"]]
    assert {len(items) for items in settled["itemsets"]} == {1, 2, 3}
    for items, support in zip(settled["itemsets"], settled["support"], strict=True):
        assert support == pytest.approx(exact_share(items))
    rules = joint_rules(pair.bob / "model.json", min_threshold=0.9)
    exact = rules[rules["settled"]]
    assert len(exact)
    for first, rest, confidence in exact[["antecedents", "consequents", "confidence"]].itertuples(index=False):
        assert confidence == pytest.approx(exact_share(first | rest) / exact_share(first))


def test_all_counted_exactly_the_frequent_sets_are_all_that_there_are(pair: Pair) -> None:
    alice, bob = run_pair(pair, method="smc", theta=None, min_leaf=1)
    assert (alice.code, bob.code) == (0, 0), alice.err + bob.err
    found = joint_itemsets(pair.alice / "model.json")
    every = [frozenset(items) for length in (1, 2, 3) for items in combinations(ITEMS, length)]
    assert dict(zip(found["itemsets"], found["support"], strict=True)) == {
        items: pytest.approx(exact_share(items)) for items in every if exact_share(items) >= Fraction(1, 5)
    }


@pytest.mark.parametrize("classes", few([("bread", "butter"), ("milk", "honey")], 2))
def test_two_processes_that_reveal_sets_alone_end_with_those_and_their_rules_and_have_no_count_on_record(
    pair: Pair, classes: tuple[str, str]
) -> None:
    """A class that the settings name for other jobs is a column as the others."""
    for party, name in zip(("alice", "bob"), classes, strict=True):
        pair.edit(party, '# class = "outcome"', f'class = "{name}"')
    alice, bob = run_pair(pair, reveal="sets", method="smc", theta=None, metric="lift", min_threshold="11/10")
    assert (alice.code, bob.code) == (0, 0), alice.err + bob.err
    assert "reveals no count" in bob.err
    assert "which of their rules have a lift of 11/10 or more" in bob.err
    model = pair.bob / "model.json"
    assert (pair.alice / "model.json").read_bytes() == model.read_bytes()
    every = [frozenset(items) for length in (2, 3) for items in combinations(ITEMS, length)]
    of_both = [items for items in every if len({item.partition(".")[0] for item in items}) == 2]
    found = {items for items in of_both if exact_share(items) >= Fraction(1, 5)}
    assert set(joint_itemsets(model)["itemsets"]) == found
    told = dealings_of(pair.alice)
    assert told.told == told.learned
    assert not Revealed.of(told.told).counts
    opened = {path: is_so for (_, path, _), is_so in told.told.opened.items()}
    assert {frozenset(map("=".join, path)) for path, is_so in opened.items() if is_so == "frequent"} == found
    rules = {
        (first, items - first)
        for items in found
        for length in range(1, len(items))
        for first in map(frozenset, combinations(sorted(items), length))
        if exact_share(items) / exact_share(first) / exact_share(items - first) >= 1.1
    }
    listed = joint_rules(model)
    assert rules == set(zip(listed["antecedents"], listed["consequents"], strict=True))
    assert len(rules) == len(listed) == 2 * list(opened.values()).count("reached")
    ended = cotally_here("rules", model)
    assert f"{len(rules)} rules of a lift of 1.1 or more" in ended.out
    first, rest = (", ".join(sorted(side)) for side in next(iter(rules)))
    for out in (ended.out, cotally_here("show", model).out):
        assert f"  {first} => {rest}\n" in out
    refused = cotally_here("rules", model, "--min-threshold", "1/2")
    assert (refused.code, "asked which rules have a lift of 11/10 or more" in refused.err) == (2, True)
    assert ", ".join(sorted(next(iter(found)))) in cotally_here("show", model).out
    page = pair.folder / "page.html"
    assert cotally_here("report", pair.bob, "--model", model, "-o", page).code == 0
    assert "which of their rules have a lift of 11/10 or more, and no count" in page.read_text()


def test_the_ledgers_list_each_exact_count_and_those_of_a_later_run_once_more_only_if_they_are_new(pair: Pair) -> None:
    run_pair(pair)
    told, known = dealings_of(pair.alice), dealings_of(pair.bob)
    assert set(told.told.itemsets) == set(known.learned.itemsets)
    assert set(told.learned.itemsets) == set(known.told.itemsets)
    assert all(count is not None for count in known.learned.itemsets.values())
    assert not told.told.tables
    _, bob = run_pair(pair)
    assert bob.code == 0, bob.err
    assert dealings_of(pair.bob).learned.itemsets == known.learned.itemsets


def test_rules_are_listed_and_written(pair: Pair, tmp_path: Path) -> None:
    run_pair(pair)
    model, output = pair.bob / "model.json", tmp_path / "rules.csv"
    ended = cotally_here("rules", model, "--min-threshold", "9/10", "-o", output)
    assert ended.code == 0, ended.err
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert f"{len(rows)} rules of a confidence of 0.9 or more" in ended.out
    assert {row["settled"] for row in rows} <= {"True", "False"}
    assert ["alice.milk=1"] in [json.loads(row["consequents"]) for row in rows]
    assert "alice.bread=1" in cotally_here("show", model).out
    refused = cotally_here("predict", model, pair.bob / "data.csv")
    assert (refused.code, "holds itemsets" in refused.err) == (2, True)


def test_rows_of_ids_and_items_give_the_rules_of_columns_of_0_and_1(pair: Pair) -> None:
    table = list(csv.reader((pair.alice / "data.csv").open()))
    rows = [
        (row[0], item) for row in table[1:] for item, held in zip(table[0][1:], row[1:], strict=True) if held == "1"
    ]
    rows += [(row[0], "") for row in table[1:] if "1" not in row[1:]]
    (pair.alice / "data.csv").write_text("id,product\n" + "".join(f"{who},{item}\n" for who, item in sorted(rows)))
    pair.edit("alice", '# items = "product"', 'items = "product"')
    alice, bob = run_pair(pair, method="smc", theta=None, min_leaf=1)
    assert (alice.code, bob.code) == (0, 0), alice.err + bob.err
    found = joint_itemsets(pair.bob / "model.json")
    assert {len(items) for items in found["itemsets"]} == {1, 2, 3}
    for items, support in zip(found["itemsets"], found["support"], strict=True):
        assert support == pytest.approx(exact_share(items))


def test_a_plan_tells_how_many_counts_there_will_be_at_most_and_probably(pair: Pair) -> None:
    ended = cotally_here("plan", pair.bob / "party.toml", write_job(pair, most_sets=20))
    assert ended.code == 0, ended.err
    found = re.search(
        r"This run reveals at most 61 exact counts, whatever sets are frequent \(about (\d+) are likely\)", ended.out
    )
    assert found, ended.out
    assert 2 * 7 <= int(found.group(1)) <= 61  # all 7 sets of ours are frequent, and the peer is taken for such a one
    refused = cotally_here("plan", pair.bob / "party.toml", write_job(pair, most_sets=1))
    assert (refused.code, "more than most_sets = 1 sets of one party's items are frequent" in refused.err) == (2, True)


def test_rules_of_fewer_records_than_a_leaf_may_have_are_refused_before_anybody_is_called(pair: Pair) -> None:
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:9"')
    ended = cotally_here("train", pair.bob / "party.toml", write_job(pair, min_support="1/200"))
    assert ended.code == 2
    assert "min_support makes 2 records enough, fewer than min_leaf = 5: raise min_support" in ended.err


class RulesRound(Round):
    """A run for rules of parties that are killed now and then."""

    def _write_job(self) -> Path:
        return write_job(self.pair, counting=self.chance.choice(list(Counting)))

    def _check_model(self, model: Path) -> None:
        found = joint_itemsets(model)
        settled = found[found["settled"]]
        assert {len(items) for items in settled["itemsets"]} == {1, 2, 3}
        for items, support in zip(settled["itemsets"], settled["support"], strict=True):
            assert support == pytest.approx(exact_share(items))


def test_parties_that_are_killed_at_any_moment_end_with_the_same_rules(trusting: Path, tmp_path: Path) -> None:
    made = RulesRound(easily_killed(make_pair(trusting, tmp_path / "parties", ALICE, BOB)), random.Random(5))
    made.play()
    made.assert_right()
