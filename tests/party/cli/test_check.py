"""`cotally check`: what leaves, told before it leaves, and by the numbers of the data themselves."""

import contextlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import log, log2
from pathlib import Path
from typing import Any

import pytest

from party.files import locked_folder
from party.keys.keystore import load_secret
from party.node.check import Past
from party.node.inputs import load_inputs
from party.records.journal import open_journal
from party.records.ledger import open_ledger
from party.records.tally import Revealed
from party.settings.party import read_party_config
from party.settings.template import party_files
from party.show.check import released_lines
from party.show.privacy_short import percent, reading_json, reading_line
from protocols.privacy.findings import measure_design
from protocols.terms import NO_CLASS
from tests.support.processes import BITS, Ended, Pair, cotally_here, make_pair, serving, write_table

ROWS = [["xyz"[i % 3 if i < 145 else 0], "uv"[i // 3 % 2], "yn"[i % 3 % 2]] for i in range(150)]
ROWS[7][0] = "seen once"


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    other = [["rst"[i % 7 % 3], "pq"[i // 2 % 2]] for i in range(150)]
    return make_pair(trusting, tmp_path / "parties", (["a", "b", "class"], ROWS), (["c", "d"], other))


def check(pair: Pair, *more: str | Path, party: str = "alice") -> Ended:
    ended = cotally_here("check", pair.folder / party / "party.toml", *more)
    assert "Traceback" not in ended.err
    return ended


def as_json(pair: Pair, *more: str | Path, codes: tuple[int, ...] = (0,), party: str = "alice") -> dict[str, Any]:
    ended = check(pair, *more, "--json", party=party)
    assert ended.code in codes, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_each_column_is_shown_with_the_frequencies_of_the_file_and_no_value_that_few_hold(pair: Pair) -> None:
    found = as_json(pair)
    columns = {column["name"]: column for column in found["columns"]}
    for place, name in enumerate(("a", "b", "class")):
        held = Counter(row[place] for row in ROWS)
        told = dict(columns[name]["values"])
        assert {value: count for value, count in told.items() if value != "other"}.items() <= held.items()
        assert sum(told.values()) == len(ROWS)
        assert columns[name]["rarest"] == min(told.values()) >= 10
    assert "seen once" not in json.dumps(found)
    assert [name for name, column in columns.items() if column["class"]] == ["class"]


def test_columns_are_ranked_by_what_each_says_of_the_class_to_who_holds_it_and_what_is_chance_is_named(
    pair: Pair,
) -> None:
    found = {column["name"]: column for column in as_json(pair)["columns"]}
    assert found["class"]["worth"] is None
    for place, name in enumerate(("a", "b")):
        seen = [row[place] if row[place] in found[name]["values"] else "other" for row in ROWS]
        classes = [row[2] for row in ROWS]
        held, of_class = Counter(seen), Counter(classes)
        bits = sum(
            number / 150 * log2(number * 150 / (held[value] * of_class[label]))
            for (value, label), number in Counter(zip(seen, classes, strict=True)).items()
        )
        assert found[name]["worth"]["gain"] == pytest.approx(bits)
        assert found[name]["worth"]["by_chance"] == pytest.approx((len(set(seen)) - 1) / (2 * 150 * log(2)))
    assert not found["a"]["worth"]["mostly_chance"]
    assert found["b"]["worth"]["mostly_chance"]
    said = check(pair).out
    assert re.search(r"bits by.*\n.*\n? *a .*%.*\n *b .*%", said)
    assert "Mostly chance: b. " in said
    pair.edit("alice", "[columns]", '[columns]\na = { max_values = 2, group = "class" }')
    (grouped,) = (column for column in as_json(pair)["columns"] if column["name"] == "a")
    assert [*grouped["values"]] == ["{x | z}", "other"]
    assert grouped["worth"]["by_chance"] == pytest.approx((3 - 1) / (2 * 150 * log(2)))
    assert all(column["worth"] is None for column in json.loads(check(pair, "--json", party="bob").out)["columns"])
    assert "Mostly chance" not in check(pair, party="bob").out


def test_who_does_not_hold_the_class_reads_what_cannot_be_shown_here_and_the_class_that_the_job_names(
    pair: Pair,
) -> None:
    job = pair.write_job(reveal="tree", method="smc", max_depth=2)
    theirs, usual, holder = check(pair, job, party="bob").out, check(pair, party="bob").out, check(pair, job).out
    shown, named = "cannot be shown here, since the class is the partner's", "The job's class, 'class', is no column of"
    for text, of_class, of_name in ((theirs, True, True), (usual, True, False), (holder, False, False)):
        said = " ".join(text.split())
        assert (shown in said, named in said) == (of_class, of_name)
        assert "values and bins do not change" in said


@pytest.mark.parametrize("test", ["0", "1/5"])
def test_before_a_run_a_look_says_that_who_is_common_crosses_and_who_is_held_out_if_anybody_is(
    pair: Pair, test: str
) -> None:
    said = " ".join(check(pair, pair.write_job(test=test)).out.split())
    assert "how many the other lists and, if enough are on both, which of its own these are" in said
    assert ("; both learn who is held out." in said) == (test != "0")


def test_the_copy_is_measured_as_a_design_is_with_what_is_in_the_data(pair: Pair) -> None:
    found = as_json(pair, pair.write_job())["copy"]
    local = load_inputs(read_party_config(pair.alice / "party.toml", BITS), BITS)
    table = local.table
    priors = [
        tuple(Fraction(int((table.codes[:, c] == v).sum()), len(table)) for v in range(attribute.size))
        for c, attribute in enumerate(table.attributes)
    ]
    names = [attribute.name for attribute in table.attributes]
    measured = measure_design(
        local.design(Fraction(2, 3), class_is_shared=False), names, [a.values for a in table.attributes], priors
    )
    assert found["theta"] == "2/3"
    told = [(each["breach_level"], each["epsilon"]) for each in found["attributes"]]
    assert told == [(str(each.own.breach.level), each.loss) for each in measured.attributes]
    assert [each["relations"] != [] for each in found["groups"]] == [bool(each.relations) for each in measured.groups]


def test_without_a_job_the_usual_one_is_looked_at_which_sends_no_copy(pair: Pair) -> None:
    found = as_json(pair)
    assert (found["copy"], found["run"]["counts_at_most"]) == (None, 0)
    told = " ".join(check(pair).out.split())
    assert "No job is named: this is the one that `init` writes" in told
    job = pair.alice / "job.toml"
    job.write_text(re.sub('class = "[^"]*"', 'class = "class"', party_files("alice", BITS)["job.toml"]))
    usual, written = (dict(as_json(pair, *named, codes=(0, 2))["run"]) for named in ((), (job,)))
    assert usual == written
    assert "class of each leaf with the share of every class in tenths" in told
    most = "Any job that [agree] allows runs {}: by hybrid, smc, randomized, with a tree alone of {} and {}."
    assert most.format("at once", "any bits", "exact counts too") in told
    pair.edit("alice", "exact_counts = true", "exact_counts = false")
    pair.edit("alice", 'most_bits = "any"', "most_bits = 7")
    pair.edit("alice", 'approve = "always"', 'approve = "by hand"')
    by_hand = most.format("once people have approved it", "at most 7 bits", "no exact count")
    assert by_hand in " ".join(check(pair).out.split())
    assert "This run reveals the tree and no count" in told
    assert "receiver of this copy" not in told
    assert "No job is named" not in check(pair, pair.write_job()).out


def test_who_mines_a_tree_is_shown_no_copy_of_its_own(pair: Pair) -> None:
    job = pair.write_job(method="randomized", reveal="tree", max_depth=2)
    assert as_json(pair, job)["copy"] is None
    told = {party: " ".join(check(pair, job, party=party).out.split()) for party in ("alice", "bob")}
    assert "tree that we mine from our true columns" in told["alice"]
    assert "A receiver of this copy reads" in told["bob"]
    planned = {party: cotally_here("plan", pair.folder / party / "party.toml", job).out for party in told}
    assert ["in our copy" in out for out in planned.values()] == [False, True]


def test_what_a_receiver_reads_is_of_the_very_copy_that_would_leave_in_text_and_for_programs(pair: Pair) -> None:
    local = load_inputs(read_party_config(pair.alice / "party.toml", BITS), BITS)
    read = local.disclosed(local.design(Fraction(2, 3), class_is_shared=False))
    assert read is not None
    job = pair.write_job(theta="2/3")
    found = as_json(pair, job, codes=(0, 2))["copy"]
    assert found["read"] == reading_json(read)
    text = " ".join(check(pair, job).out.split())
    assert reading_line(read) in text
    assert f"reads {percent(Fraction(read.copy.whole, len(ROWS)))} of whole records" in text


def test_columns_that_share_a_coin_are_refused_by_the_odds_and_shown_with_what_is_read(
    trusting: Path, tmp_path: Path
) -> None:
    other = (["c"], [["rst"[i % 7 % 3]] for i in range(600)])
    pair = make_pair(trusting, tmp_path / "parties", (["a", "b", "class"], ROWS * 4), other)
    path = pair.alice / "party.toml"
    named = 'groups = [["b", "class"], ["a"]]'
    lines = [named if line.startswith(("groups", "# groups")) else line for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines))
    refusal = "columns 'b', 'class' share a coin: a receiver would read them in"
    ended = check(pair, pair.write_job(theta="2/3"))
    assert ended.code == 2
    assert f"[agree] refuses this copy: {refusal}" in " ".join(ended.out.split())
    assert refusal in ended.err
    without = as_json(pair, pair.write_job(theta="2/3"), codes=(2,))
    assert without["copy"]["refused"].startswith(refusal)
    shared, apart = map(float, re.findall(r"in (\d+\.\d)% ?(?:of records|;)", without["copy"]["refused"]))
    assert shared > apart
    planned = cotally_here("plan", path, pair.write_job(theta="2/3"))
    assert planned.code == 2
    assert refusal in planned.err


def test_a_plain_column_and_a_job_that_we_would_refuse_are_shown_whole(pair: Pair) -> None:
    pair.edit("alice", "plain = []", 'plain = ["b"]')
    told = check(pair, pair.write_job()).out
    assert "plain, as it is" in told
    assert "Sent in the clear, as they are: b." in told
    pair.edit("alice", 'omega = "all"', "omega = 1")
    ended = check(pair, pair.write_job(omega=2))
    assert ended.code == 2
    assert "This party refuses this job: the job asks for omega = 2" in ended.out
    assert ended.err.splitlines()[-1].startswith("cotally: the job asks for omega = 2")


def test_what_is_not_covered_by_the_figures_of_a_copy_stands_first(pair: Pair) -> None:
    told = " ".join(check(pair, pair.write_job()).out.split())
    assert told.index("cover the copy, and not counts") < told.index("A receiver of this copy reads")
    mined = " ".join(check(pair, pair.write_job(method="randomized"), party="bob").out.split())
    assert "cover the copy" not in mined


def test_what_a_run_revealed_is_what_the_next_check_shows(pair: Pair) -> None:
    """The forecast's bound holds, and what was told is counted against what is allowed."""
    job = pair.write_job(min_leaf=5)
    before = as_json(pair, job)
    nothing = {"tables": 0, "classes": 0, "accuracy": 0, "sets": 0}
    assert before["told"] == {"runs": 0, "counts": 0, "counts_of": nothing, "bits": 0, "epsilon": "0"}
    assert before["released"] == {}
    with serving(pair):
        trained = pair.train_here(job)
        assert trained.code == 0, trained.err
    pair.edit("alice", 'most_counts = "any"', "most_counts = 1000")
    after = as_json(pair, job)
    assert after["told"]["runs"] == 1
    assert 0 < after["told"]["counts"] <= before["run"]["counts_at_most"]
    bobs = json.loads(check(pair, pair.write_job(min_leaf=5), "--json", party="bob").out)["told"]
    assert bobs["counts_of"] == after["told"]["counts_of"]
    assert after["told"]["epsilon"] is None
    assert after["released"]["party"][0] == "bob"
    told = check(pair, job).out
    assert "Last release to bob: class class, theta 2/3, seed 1, test 1/5" in told
    report = json.loads((pair.bob / "report.json").read_text())
    assert set(report["seen"]) == set(before["run"]["seen"]) == {"one_group", "two_groups", "together"}
    least = before["run"]["seen"]["one_group"]
    words = "would not be noticed" if least is None else f"wrong by {least:,} of 120 records"
    assert words in " ".join(told.split())
    left = 1000 - after["told"]["counts"]
    assert f"{left:,} of 1,000 left" in " ".join(told.split())
    assert check(pair, pair.write_job(theta="3/5")).code == 2


def test_the_release_of_a_run_for_rules_is_shown_as_one_without_a_class() -> None:
    (line,) = released_lines(Past({"party": ["bob"], "class": NO_CLASS, "theta": "2/3"}, 1, Revealed(sets=20), None))
    assert "Last release to bob: class none (association rules), theta 2/3." in line


def test_a_release_that_fixes_no_term_is_shown_with_its_peer_alone() -> None:
    (line,) = released_lines(Past({"party": ["bob"], "spent": {"a": "1/2"}}, 0, Revealed(), Fraction(1, 2)))
    assert line == "Last release to bob. Later runs over this data set must have the same peer."


def test_after_a_run_the_job_of_init_is_refused_to_no_side_that_may_run_it_again(
    trusting: Path, tmp_path: Path
) -> None:
    theirs = [["rst"[i % 7 % 3], "pq"[i // 2 % 2]] for i in range(600)]
    pair = make_pair(trusting, tmp_path / "parties", (["a", "b", "class"], ROWS * 4), (["c", "d"], theirs))
    with serving(pair):
        trained = pair.train_here(pair.write_job(reveal="tree", method="smc", max_depth=2, seed=0, test="1/5"))
        assert trained.code == 0, trained.err
    for party in ("alice", "bob"):
        found = as_json(pair, party=party)
        assert found["released"]["class"] == "class"
        assert found["run"]["refused"] is None
        assert "refuses" not in check(pair, party=party).out


def test_odd_formats_and_identifiers_are_noted(pair: Pair) -> None:
    lines = (pair.alice / "data.csv").read_text().splitlines()
    rows = [f"{line},{'?' if i % 2 else 'k'},{1000 + 7 * i}" for i, line in enumerate(lines[1:])]
    (pair.alice / "data.csv").write_text("\n".join([f"{lines[0]},odd,account", *rows]) + "\n")
    pair.edit("alice", "# ignore = []", 'ignore = ["account"] #')
    told = as_json(pair)["notes"]
    assert any("taken for missing cells: '?' in 'odd'" in note for note in told)
    pair.edit("alice", 'ignore = ["account"] #', "# ignore = []")
    assert as_json(pair)["notes"] != told


def test_where_no_run_is_left_check_and_plan_show_all_and_end_with_the_refusal(pair: Pair) -> None:
    pair.edit("alice", 'most_runs = "any"', "most_runs = 1")
    job = pair.write_job(min_leaf=5)
    with serving(pair):
        assert pair.train_here(job).code == 0
    again = cotally_here("train", pair.bob / "party.toml", job)
    assert again.code == 2
    assert "is there already: name another by --model, or replace it (--overwrite). A run on these terms" in again.err
    for command in ("check", "plan"):
        settings = pair.alice / "party.toml"
        assert cotally_here(command, settings, job).code == 0  # the same once more tells nothing new
        other = cotally_here(command, settings, pair.write_job(min_leaf=6))
        assert other.code == 2
        *notes, line = other.err.splitlines()
        assert all(note.startswith("cotally: note: ") for note in notes)
        assert line.startswith("cotally: our [agree] most_runs allows 1 over the life of a data set: 1 on other terms")
        assert "or set most_runs = 2 in both party.toml files: what two runs reveal can be subtracted" in line
        assert "0 of 1 left" in other.out


def of_version(folder: Path, name: str, version: int) -> None:
    with contextlib.closing(sqlite3.connect(folder / name)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def contents(folder: Path) -> dict[Path, bytes]:
    """Return all files but those that SQLite keeps beside one that is open."""
    return {path: path.read_bytes() for path in folder.iterdir() if path.suffix in (".toml", ".sqlite", ".json")}


UNREAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "the first release": (
        lambda d: (d / "releases.json").write_text("{}"),
        "is of cotally 0.1: run `cotally upgrade ",
    ),
    "an older ledger": (
        lambda d: of_version(d, "ledger.sqlite", 1),
        "is a ledger of an older release of cotally: run `cotally upgrade ",
    ),
    "a newer ledger": (
        lambda d: of_version(d, "ledger.sqlite", 99),
        "is a ledger of a newer release of cotally: install",
    ),
    "a ledger that was lost": (
        lambda d: (d / "ledger.sqlite").unlink(),
        "is missing, and was there before journal.sqlite",
    ),
}


@pytest.mark.parametrize("how", UNREAD)
def test_where_it_cannot_be_read_what_was_released_no_command_says_that_nothing_was(pair: Pair, how: str) -> None:
    spoil, problem = UNREAD[how]
    secret = load_secret(pair.alice)
    with locked_folder(pair.alice) as held:
        open_ledger(held, secret).close()
    open_journal(pair.alice, secret).close()
    spoil(pair.alice)
    before = contents(pair.alice)
    job, party = pair.write_job(), str(pair.alice / "party.toml")
    for words in (
        ("check", party), ("check", party, job), ("plan", party, job), ("ledger", "show", party), ("serve", party),
    ):  # fmt: skip
        ended = cotally_here(*words)
        assert (ended.code, ended.out) == (2, ""), words
        assert problem in ended.err, words
        assert "Nothing has been released" not in ended.err
        assert len([line for line in ended.err.splitlines() if re.match("cotally: (?!note: )", line)]) == 1, words
    assert contents(pair.alice) == before


@pytest.mark.parametrize(
    ("records", "party", "told"), [(5_000, "alice", True), (4_999, "alice", False), (5_000, "bob", False)]
)
def test_who_holds_a_class_of_two_values_of_many_hears_that_noise_costs_little(
    pair: Pair, records: int, party: str, told: bool
) -> None:
    rows = ROWS[10:150] * (records // 140 + 1)
    write_table(pair.folder / party / "data.csv", ["a", "b", "class"], rows[:records])
    if party == "bob":
        pair.edit("bob", "# ignore = []  ", 'ignore = ["class"]')
    ended = check(pair, party=party)
    assert ended.code == 0, ended.err
    assert ('noise = "1" in the job' in " ".join(ended.out.split())) is told
