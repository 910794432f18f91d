"""`cotally crosstab` between two processes: the same table on both screens, remembered, in the budget, and refused."""

import json
from collections import Counter
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.records.ledger import read_ledger
from party.records.releases import released, spent_of
from tests.support.processes import Ended, Pair, assert_one_error, cotally, cotally_here, finish, make_pair, serving

RECORDS = 150
ALICE = (["a", "class"], [["xyz"[i % 3], "yn"[i % 3 % 2]] for i in range(RECORDS)])
BOB = (["c", "d"], [["rstw"[i % 7 % 4], f"{i % 10}"] for i in range(RECORDS)])


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    made = make_pair(trusting, tmp_path / "parties", ALICE, BOB)
    for party in ("alice", "bob"):
        made.edit(party, 'epsilon = "any"', 'epsilon = "1"')
        made.edit(party, "exact_counts = true", "exact_counts = false")
    made.edit("alice", "most_values = 16", "most_values = 8")
    return made


def asked(pair: Pair, *more: str) -> Ended:
    return cotally_here("crosstab", pair.bob / "party.toml", *more)


def test_a_table_is_on_both_screens_is_remembered_and_spends_epsilon_until_none_is_left(pair: Pair) -> None:
    with serving(pair) as alice:
        first = cotally("crosstab", str(pair.bob / "party.toml"), "c", "class", "--json")
        assert first.code == 0, first.err
        again = asked(pair, "c", "class")
        another = asked(pair, "c", "a")
        wanted = (
            (
                ("c", "a", "--noise", "1/4"),
                "1 spent before (by 2) and 0.25",
                "1 spent before (by 2) and 0.25 for this run",
            ),
            (
                ("c", "b"),
                "the peer has no such column to count by",
                "we have no column 'b' to count by; known: a, class",
            ),
            (("d", "class"), "a column of ours has more values", "has 10 values, our [agree] most_values allows 8"),
        )
        refused = [(asked(pair, *words), ours, theirs) for words, ours, theirs in wanted]
        exact = asked(pair, "c", "class", "--exact")
        alice.terminate()
        served = finish(alice)
    table = json.loads(first.out)
    kinds = ("format", "peer", "records", "column", "values", "peer_column", "peer_values", "noise")
    assert [table[each] for each in kinds] == [
        "cotally-crosstab/1", "alice", RECORDS, "c", ["r", "s", "t", "w"], "class", ["n", "y"], "1/2",
    ]  # fmt: skip
    truth = Counter((row[0], label[1]) for row, label in zip(BOB[1], ALICE[1], strict=True))
    off = [table["counts"][i][j] - truth[row, label] for i, row in enumerate("rstw") for j, label in enumerate("ny")]
    assert 0 < max(map(abs, off)) < 12 * table["error"]
    assert again.code == 0, again.err
    shown = [line.split() for line in again.out.splitlines()]
    assert shown[-4:] == [[value, *map(str, row)] for value, row in zip("rstw", table["counts"], strict=True)]
    assert "epsilon 0.5 against each" in again.out
    assert another.code == 0, another.err
    theirs = [[value, *map(str, row)] for value, row in zip("ny", zip(*table["counts"], strict=True), strict=True)]
    lines = [line.split() for line in served.err.splitlines()]
    assert [line for line in lines if line in theirs] == theirs * 2
    for ended, theirs_say, ours_says in refused:
        assert_one_error(ended, 5, theirs_say)
        assert ours_says in served.err
    assert_one_error(exact, 2, "noise of 1 or less")
    for party in ("alice", "bob"):
        with read_ledger(pair.folder / party, load_secret(pair.folder / party)) as ledger:
            entries = [entry.content for entry in ledger.entries() if entry.content["kind"] == "crosstab"]
            spent = spent_of(released(ledger.entries())["data"])
        assert [each["counts"] is None for each in entries] == [True, False] * 2
        assert [*spent.values()] == ["1/2", "1/2"]
        told = cotally_here("ledger", "show", pair.folder / party / "party.toml").out
        assert "a table of 8 counts of alice.class by bob.c, noise of epsilon 1/2 against each side" in told
