"""What `cotally train` writes and prints at its end, and what `cotally plan` tells before, in this process."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from party.cli import train
from party.forecast.model import ByTransfers, Line, Sizes, forecast
from party.forecast.speed import TransferSpeed
from party.keys.keystore import load_secret
from party.models.tree_file import read_tree
from party.node.check import Assessment
from party.node.session import Report, run_session
from party.records import releases
from party.records.ledger import LEDGER_FILE, read_ledger
from party.records.tally import Revealed
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.show.assessment import amount_lines, revealed_lines
from party.show.costs import forecast_text
from party.show.quality import worth_lines
from protocols.two_party.bounds import most_counts
from tests.support.examples import few
from tests.support.processes import Ended, Pair, assert_one_line, cotally_here, make_pair, serving
from tests.support.sessions import trained

RECORDS = 150
ALICE = (
    ["a", "b", "class"],
    [["xyz"[i % 3], "uv"[i // 3 % 2], "yn"[i % 3 % 2 ^ (i % 11 == 0)]] for i in range(RECORDS)],
)
BOB = (["c", "d"], [["rstw"[i % 7 % 4], "pq"[i // 2 % 2]] for i in range(RECORDS)])
ODDS = "Odds of a true value in our copy against any one other: 2 to 1"
"""Bob's columns have 4 and 2 values, theta is 2/3."""
READ = r"A receiver of our copy reads [\d.]+% of whole records and [\d.]+% of cells \("
FORECAST = r"about \S+ (s|min), \d+\.\d MB in all, \d+ MiB of memory, \d+ round trips"
MEANS = ByTransfers(TransferSpeed(transfer=2e-7, bit=1e-9))


@pytest.fixture(scope="module")
def made(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    pair = make_pair(trusting, tmp_path_factory.mktemp("made") / "parties", ALICE, BOB)
    with serving(pair):
        yield pair


@pytest.fixture
def pair(made: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Return parties that have released nothing, far from the current folder; Alice listens from test to test."""
    monkeypatch.chdir(tmp_path)
    with made.restored():
        yield made


def run_train(pair: Pair, *more: str | Path, **terms: object) -> Ended:
    ended = cotally_here("train", pair.bob / "party.toml", pair.write_job(**terms), *more)
    assert ended.code == 0, ended.err
    assert not ended.out
    return ended


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """Return what the sessions of this process end with."""
    seen: list[Report] = []

    def remember(*arguments: object) -> Report:
        seen.append(run_session(*arguments))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(train, "run_session", remember)
    return seen


@pytest.mark.parametrize(("test", "method"), few([*product(("1/5", "0"), ("hybrid", "smc", "randomized"))], 2))
def test_the_last_lines_show_tree_accuracy_and_file(pair: Pair, reports: list[Report], method: str, test: str) -> None:
    ended = run_train(
        pair, "--progress", "none", method=method, test=test, **{"omega": 1} if method == "hybrid" else {}
    )
    (report,) = reports
    outcome = trained(report).outcome
    tree, model = outcome.tree, pair.bob / "model.json"
    lines = [
        f"Both parties hold the same tree: {tree.size} nodes, depth {tree.depth}, digest {tree.digest().hex()[:16]}"
    ]
    if test != "0" and method == "randomized":
        assert (outcome.correct, outcome.records_test) == (None, 30)
        lines.append("Only the party that holds the class can estimate how good the tree is")
    elif test != "0":
        assert outcome.correct is not None
        lines.append(f"Accuracy {outcome.correct / 30:.3f} on 30 held-out records")
        commonest = max(tree.root.counts) / sum(tree.root.counts)
        lines.append(f"The commonest class has {commonest:.3f} of the training records")
    lines += worth_lines(tree, outcome.beats_guessing)
    domains, terms = [3, 2, 4, 2], trained(report).agreed.terms
    most = most_counts(domains, 2, outcome.records_train, terms)
    revealed = Revealed(outcome.smc_computations, 2, int(test != "0")) if method != "randomized" else Revealed()
    assert revealed.counts == outcome.exact_counts_disclosed
    lines += revealed_lines(terms, revealed)
    assert outcome.exact_counts_disclosed <= most
    lines.append(f"Wrote {model}: `cotally show {model}` prints it")
    assert outcome.key is None
    first, *rest = (each for each in ended.err.splitlines() if " alone gives the class of every" not in each)
    assert first.startswith(f"Agreed with alice: tree by {method}")
    said = amount_lines(Assessment(terms, most, likely=None, records=outcome.records_train))
    assert rest[: len(said)] == said
    rest = rest[len(said) :]
    if method != "smc":
        odds, reading, *rest = rest
        assert odds == ODDS
        assert re.match(READ, reading)
    assert rest == lines
    shown = cotally_here("show", model)
    assert shown.code == 0
    assert shown.out


def test_the_model_goes_beside_the_settings_by_default(pair: Pair, tmp_path: Path) -> None:
    run_train(pair, "--progress", "none", method="randomized")
    read_tree(pair.bob / "model.json")
    assert not list(tmp_path.iterdir())
    assert not (pair.bob / "report.json").exists()


def test_model_and_report_go_where_they_are_wanted(pair: Pair, tmp_path: Path) -> None:
    outputs = ("--model", tmp_path / "tree.json", "--report", Path("costs.json"))
    ended = run_train(pair, "--progress", "none", *outputs, method="randomized")
    read_tree(tmp_path / "tree.json")
    assert json.loads((tmp_path / "costs.json").read_text())["records_test"] == 30
    assert f"Wrote {tmp_path / 'tree.json'}: " in ended.err
    assert not (pair.bob / "model.json").exists()


def test_a_model_that_cannot_go_beside_the_settings_is_refused_before_the_run(pair: Pair) -> None:
    (pair.bob / "model.json").mkdir()
    ended = cotally_here("train", pair.bob / "party.toml", pair.write_job(method="randomized"))
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert str(pair.bob / "model.json") in ended.err
    assert not (pair.bob / LEDGER_FILE).exists()


def test_a_run_without_a_disguise_fixes_the_split_on_both_sides(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    run_train(pair, "--progress", "none", method="smc")
    for folder in (pair.alice, pair.bob):
        with read_ledger(folder, load_secret(folder)) as ledger:
            (entry,) = releases.released(ledger.entries()).values()
        assert entry.keys() >= {"records", "seed", "test", "party", "class", "class values", "peer data"}
        assert not entry.keys() & {"theta", "groups", "peer groups", "peer copy"}
    other = pair.write_job(method="smc", seed=2)
    ended = cotally_here("train", pair.bob / "party.toml", other, "--progress", "none", "--overwrite")
    assert ended.code == 2
    assert "with seed 1 before" in ended.err
    monkeypatch.setattr(releases, "first_change", lambda known, fields: None)  # a caller that does not care
    ended = cotally_here("train", pair.bob / "party.toml", other, "--progress", "none", "--overwrite")
    assert ended.code == 5
    assert "'seed'" in ended.err


def test_who_looks_on_is_told_what_to_expect_once_the_terms_are_agreed(pair: Pair) -> None:
    ended = run_train(pair, method="randomized")
    measuring, waiting, agreed, sends, mines, odds, read, expect, *_ = ended.err.splitlines()
    assert (sends[:24], mines[:15]) == ("This run sends the peer ", "The peer sends ")
    assert measuring == "measuring this machine"
    assert re.fullmatch(rf"waiting for alice at {re.escape(pair.listening)}, up to \d+ s", waiting)
    assert odds == ODDS
    assert re.match(READ, read)
    assert agreed.startswith("Agreed with alice: tree by randomized")
    assert re.fullmatch(f"Expect {FORECAST}", expect)
    assert ended.err.count("Expect") == 1


def test_without_progress_there_is_no_forecast(pair: Pair) -> None:
    assert "Expect" not in run_train(pair, "--progress", "none", method="randomized").err


# cotally plan


def told(pair: Pair, *options: str, party: str = "bob", **terms: object) -> str:
    """Return the forecast without its first part, the time, which depends on the machine."""
    ended = cotally_here("plan", pair.folder / party / "party.toml", pair.write_job(**terms), *options)
    assert ended.code == 0, ended.err
    assert not ended.err
    told = (
        "This run ",
        "The peer sends ",
        "It also ",
        "Held out: ",
        "Exact counts ",
        "A partner ",
        "Revealed so far: ",
        "False counts from the peer ",
        "Side by side:",
        "  ",
    )
    *odds, guess, line, caveat = (each for each in ended.out.splitlines() if not each.startswith(told))
    assert ended.out.count("False counts") == (terms.get("method") != "randomized")
    assert bool(odds) == (terms.get("method") != "smc")
    assert guess.startswith("The peer's data are a guess: ")
    assert re.fullmatch(FORECAST, line)
    assert caveat.startswith("The forecast assumes a tree as large")
    return line.split(", ", 1)[1]


def test_plan_tells_the_odds_of_each_column(pair: Pair) -> None:
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job())
    odds, read, *_ = ended.out.splitlines()
    assert odds == ODDS
    assert re.match(READ, read)
    assert "share a coin" not in ended.out


def test_plan_train_and_check_show_one_reading_of_the_copy(pair: Pair) -> None:
    job = pair.write_job()
    party = pair.bob / "party.toml"
    planned, checked = (json.loads(cotally_here(word, party, job, "--json").out) for word in ("plan", "check"))
    trained = json.loads(cotally_here("train", party, job, "--json").out)
    assert planned["read"]["records_looked_at"] == RECORDS
    assert planned["read"] == checked["copy"]["read"] == trained["read"]


def test_without_a_copy_nothing_is_said_of_one(pair: Pair) -> None:
    assert "receiver" not in run_train(pair, method="smc").err
    assert "receiver" not in cotally_here("plan", pair.bob / "party.toml", pair.write_job(method="smc")).out


def test_plan_says_that_columns_that_share_a_coin_tell_more_together(pair: Pair) -> None:
    pair.edit("bob", "# groups = 2", "groups = 1")
    pair.edit("bob", "\nodds = 2", '\nodds = "any"')
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job())
    assert ended.err == ""
    assert ended.out.splitlines()[1].startswith("Columns that share a coin give each other away")


def expected(
    pair: Pair,
    sides: tuple[list[int], list[int]],
    classes: int = 2,
    splits: int | None = None,
    party: str = "bob",
    **terms: object,
) -> str:
    sizes = Sizes(records=RECORDS, sides=sides, class_holder=1 if party == "bob" else 0, classes=classes)
    agreed = read_job(pair.write_job(**terms)).terms
    return forecast_text(forecast(sizes, agreed, MEANS, splits)).split(", ", 1)[1]


def test_plan_takes_the_peer_for_like_oneself(pair: Pair) -> None:
    """Bob's columns have 4 and 2 values, in a group each; the mean is 3."""
    assert told(pair) == expected(pair, ([4, 2], [3, 3]))
    assert told(pair, omega=1) == expected(pair, ([4, 2], [3, 3]), omega=1)


def test_plan_counts_the_class_of_who_holds_it_for_the_disguise_only(pair: Pair) -> None:
    """Alice's columns have 3 and 2 values, the class 2: it shares a group with the other column of 2."""
    assert told(pair, party="alice") == expected(pair, ([3, 2], [2, 2]), party="alice")


def test_plan_uses_what_is_known_better(pair: Pair) -> None:
    options = ("--peer-columns", "5", "--splits", "1000")
    assert told(pair, *options) == expected(pair, ([4, 2], [3, 3, 3, 3, 3]), splits=1000)


def test_plan_says_what_it_takes_the_peers_data_for(pair: Pair) -> None:
    guess = "The peer's data are a guess: "
    ours = "2 columns, as many as ours, 3 values each, the mean of ours; better with --peer-columns"
    told = "5 columns as given, 3 values each, the mean of ours"
    for options, words in (((), ours), (("--peer-columns", "5"), told)):
        ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(), *options)
        assert f"{guess}{words}" in ended.out.splitlines()


def test_plan_shows_smc_and_the_windows_side_by_side(pair: Pair) -> None:
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(omega=2))
    lines = ended.out.splitlines()
    start = lines.index("Side by side:") + 1
    assert [line.split("  ")[1] for line in lines[start : start + 4]] == [
        "smc",
        *(f"hybrid ω={w}" for w in (1, 3, "all")),
    ]
    each = re.compile(r" \d+ s +\d+\.\d MB +\d+ round trips +at most \d+ exact counts")
    assert all(each.search(line) for line in lines[start : start + 4])
    shown = json.loads(cotally_here("plan", pair.bob / "party.toml", pair.write_job(omega=2), "--json").out)["ways"]
    assert [(way["method"], way["omega"]) for way in shown] == [("smc", None), *(("hybrid", w) for w in (1, 3, None))]
    assert shown[1]["counts_at_most"] < shown[2]["counts_at_most"] < shown[3]["counts_at_most"]


def test_plan_leaves_out_what_no_run_can_be(pair: Pair) -> None:
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(noise="1", max_depth=2))
    ways = [line.split("  ")[1] for line in ended.out.splitlines() if line.startswith("  ")]
    assert ways == ["smc", "hybrid ω=all"]
    assert "Side by side" not in cotally_here("plan", pair.bob / "party.toml", pair.write_job(method="randomized")).out


def test_plan_needs_no_disguise_for_smc(pair: Pair) -> None:
    assert told(pair, method="smc") == expected(pair, ([4, 2], [3, 3]), method="smc")


def test_plan_discloses_no_exact_count_for_randomized(pair: Pair) -> None:
    line = told(pair, method="randomized")
    assert line == expected(pair, ([4, 2], [3, 3]), method="randomized")
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(method="randomized"))
    assert (
        "This run sends the peer a disguised copy of our columns, and nothing else of them." in ended.out.splitlines()
    )


def test_plan_says_whether_held_out_records_can_tell_an_accuracy_from_disguised_copies(pair: Pair) -> None:
    for terms, too_few in (
        ({"method": "randomized"}, True),
        ({"method": "randomized", "test": "0"}, False),
        ({}, False),
    ):
        ended = cotally_here("plan", pair.alice / "party.toml", pair.write_job(**terms))
        assert ("Accuracy: 30 held-out records will be too few to estimate it" in ended.out) == too_few


def test_plan_calls_nobody_and_notes_nothing(pair: Pair) -> None:
    config = read_party_config(pair.bob / "party.toml")
    pair.edit("bob", f'address = "{config.need_address()}"', "")
    pair.edit("bob", 'peer = "alice"', "")
    before = {path.name for path in pair.bob.iterdir()}
    told(pair)
    assert {path.name for path in pair.bob.iterdir()} == before


def test_plan_forecasts_more_records_on_more_workers_over_a_line(pair: Pair) -> None:
    """With a delay of 10^6 seconds one way its waiting is nearly all of the time."""
    supposed = ("--records", "100000000", "--workers", "64", "--megabits", "100", "--delay", "1e9")
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(max_depth=2), *supposed)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    words, line = lines[(start := lines.index("Side by side:")) - 2 : start]
    assert words == (
        "Supposed: 100,000,000 records like ours; 64 workers at each party, each on a processor like ours; a line of "
        "100 Mb/s; a delay of 1e+09 ms each way"
    )
    sizes = Sizes(10**8, ([4, 2], [3, 3]), 1, 2)
    terms = read_job(pair.write_job(max_depth=2)).terms
    told = forecast(sizes, terms, MEANS, line=Line(1e8, 1e6))
    time, rest = line.split(", ", 1)
    assert rest == forecast_text(told).split(", ", 1)[1]
    assert float(time.split()[1]) == pytest.approx(told.round_trips * 2e6 / 3600, rel=0.05)


def test_plan_refuses_a_second_disguise_of_what_has_left(pair: Pair) -> None:
    run_train(pair, "--progress", "none", method="randomized")
    ended = cotally_here("plan", pair.bob / "party.toml", pair.write_job(theta="3/5"))
    assert ended.code == 2
    assert f"has been released with theta 2/3 before ({pair.bob / LEDGER_FILE}), not with 3/5; a second" in ended.err
    assert "would undo the first: return to it" in ended.err


def test_plan_notes_that_a_table_under_a_new_name_has_been_released_under_another(pair: Pair) -> None:
    run_train(pair, "--progress", "none", method="randomized")
    job = pair.write_job(theta="3/5")
    pair.edit("bob", '# dataset = "visits-2026"', 'dataset = "again"')
    ended = cotally_here("plan", pair.bob / "party.toml", job)
    assert ended.code == 0
    (note,) = ended.err.splitlines()
    assert note.startswith("cotally: note: this table has already been released as data set 'data' (")
    assert "under the new name 'again' has new coins, and both releases together show more than one" in note


@pytest.mark.parametrize("kind", ["job", "job-papers", "job-bayes", "job-rules"])
def test_each_job_of_a_new_party_runs_to_its_end_with_the_class_alone_filled_in(pair: Pair, kind: str) -> None:
    job = pair.bob / f"{kind}.toml"
    job.write_text(job.read_text().replace('"outcome"', '"class"'))
    if kind == "job":  # whose leaves in tenths are of a hundred people or more
        few = cotally_here("plan", pair.bob / "party.toml", job)
        assert_one_line(few, 2, 'of the 120 training records: no split is possible, use leaves = "label", and fewer')
        job.write_text(job.read_text().replace('leaves = "tenths"', 'leaves = "label"'))
    for command in ("plan", "train"):
        ended = cotally_here(command, pair.bob / "party.toml", job)
        assert ended.code == 0, ended.err
    assert (pair.bob / "model.json").exists()
