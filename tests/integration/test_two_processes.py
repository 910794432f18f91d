"""Two processes, real keys, mutual TLS: the same tree on both sides, and one clear line for every fault.

Where no process but Alice's is watched or ended, Bob runs in ours.
"""

import json
import os
import re
import signal
import socket
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.datasets.included import load
from party.keys.keystore import load_secret
from party.models.tree_file import read_tree, tree_json
from party.records import releases
from party.records.ledger import read_ledger
from party.show.figures import percent
from protocols.counting.plaintext import PlaintextEngine
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Tree
from protocols.role import run_alone
from protocols.tables.schema import Schema
from protocols.terms import ALL
from protocols.two_party.split import split_records
from tests.support.processes import Ended, Pair, cotally_here, finish, make_pair, serving, start, write_table

RECORDS = 160
ALICE, BOB = (0, 3, 5, 6, 9), (1, 2, 4, 7, 8)  # columns of tic-tac-toe; 9 is the class


def table(columns: tuple[int, ...]) -> tuple[list[str], list[list[str]]]:
    dataset = load("tic-tac-toe")
    rows = dataset.rows[:: len(dataset.rows) // RECORDS][:RECORDS]
    return [dataset.columns[c] for c in columns], [[row[c] for c in columns] for row in rows]


@pytest.fixture
def pair(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    made = make_pair(trusting, tmp_path_factory.mktemp("made") / "parties", table(ALICE), table(BOB))
    for party in ("alice", "bob"):
        made.edit(party, "workers = 0", "workers = 1")  # workers have their own tests, and take time to start
    return made


def plain_tree(schema: Schema) -> Tree:
    dataset = load("tic-tac-toe")
    (names_a, rows_a), (names_b, rows_b) = table(ALICE), table(BOB)
    cells = {**dict(zip(names_a, zip(*rows_a, strict=True), strict=True))}
    cells |= dict(zip(names_b, zip(*rows_b, strict=True), strict=True))
    assert set(cells) == set(dataset.columns)
    codes = np.array(
        [[column.values.index(text) for text in cells[column.name]] for column in schema.columns], dtype=np.uint8
    ).T
    train, test, _ = split_records(1, RECORDS, Fraction(1, 5))
    engine = PlaintextEngine(schema, codes[train], codes[test])
    return run_alone(HybridId3(schema, engine.class_counts, ALL, engine).build()).tree


def assert_one_line(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended.err
    lines = [line for line in ended.err.splitlines() if re.match("cotally: (?!note: )", line)]
    assert len(lines) == 1, ended.err
    assert "Traceback" not in ended.err
    for word in words:
        assert word in lines[0], lines[0]


@pytest.mark.parametrize(
    ("engine", "cipher"), [("encrypted_coins", "paillier"), ("dot_product", "paillier"), ("encrypted_coins", "curve")]
)
def test_with_the_whole_window_two_processes_build_the_tree_of_plain_id3(pair: Pair, engine: str, cipher: str) -> None:
    with serving(pair, "--once") as alice:
        trained = pair.train(pair.write_job(engine=engine, cipher=cipher))
        assert trained.code == 0, trained.err
        assert finish(alice).code == 0
    tree = read_tree(pair.bob / "model.json")
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert tree_json(tree) == tree_json(plain_tree(tree.schema))
    report = json.loads((pair.bob / "report.json").read_text())
    assert report["exact_counts_disclosed"] == report["smc_computations"] + 2 + 1
    assert report["round_trips"] <= 2 * tree.depth + 15
    digests = {line.split("digest ")[1].split(";")[0] for line in trained.err.splitlines() if "digest" in line}
    assert digests == {tree.digest().hex()[:16]}


def test_one_node_serves_run_after_run_with_every_method(pair: Pair) -> None:
    with serving(pair) as alice:
        for terms in ({"method": "randomized"}, {"method": "smc"}, {"omega": 1}):
            trained = pair.train_here(pair.write_job(**terms))
            assert trained.code == 0, trained.err
            assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
        assert alice.poll() is None


def test_a_term_that_one_side_does_not_allow_is_named_on_both_screens(pair: Pair) -> None:
    """The node goes on after each."""
    refused: dict[str, object] = {
        "theta": "3/10",
        "omega": 4,
        "method": "smc",
        "cipher": "curve",
        "class": "outcome",
        "min_leaf": 3,
        "max_depth": "any",
    }
    pair.edit("alice", 'methods = ["hybrid", "smc", "randomized"]', 'methods = ["hybrid"]')
    pair.edit("alice", 'omega = "all"', "omega = 3")
    pair.edit("alice", '["curve", "paillier"]', '["paillier"]')
    pair.edit("alice", "min_leaf = 1", "min_leaf = 4")
    pair.edit("alice", 'max_depth = "any"', "max_depth = 3")
    pair.edit("bob", "odds = 2 ", 'odds = "any" ')
    with serving(pair) as alice:
        for term, value in refused.items():
            usual = {"omega": 2, "min_leaf": 4, "max_depth": 3}
            assert_one_line(pair.train_here(pair.write_job(**{**usual, term: value})), 5, f"{term!r}")
        alice.terminate()
        listened = finish(alice)
    lines = [line for line in listened.err.splitlines() if re.match("cotally: (?!note: )", line)]
    assert len(lines) == len(refused), listened.err
    for term, line in zip(refused, lines, strict=True):
        assert f"{term!r}" in line
    assert "Traceback" not in listened.err


def test_classes_too_small_for_who_does_not_hold_them_end_the_run_on_both_screens(pair: Pair) -> None:
    pair.edit("bob", "smallest_class = 10 ", "smallest_class = 200 ")
    with serving(pair, "--once") as alice:
        assert_one_line(pair.train(pair.write_job()), 5, "'class counts'", "fewer than 200 training records")
        assert_one_line(finish(alice), 5, "'class counts'", "merge rare values of the class")
    assert not (pair.bob / "model.json").exists()


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


@pytest.mark.parametrize("change", ["length", "another person"])
def test_tables_that_list_other_people_are_refused_with_counts_only_where_nothing_is_aligned(
    pair: Pair, change: str
) -> None:
    path = pair.bob / "data.csv"
    lines = path.read_text().splitlines()
    if change == "length":
        del lines[-1]
    else:
        lines[-1] = "CANARY" + lines[-1]
    path.write_text("\n".join(lines) + "\n")
    field = "'records'" if change == "length" else "'record ids'"
    told = "{} records here, {} at the peer" if change == "length" else "{} records here and at the peer, of other"
    counts = (RECORDS - (change == "length"), RECORDS)
    pair.edit("alice", "most_alignments = 3", "most_alignments = 0")
    with serving(pair, "--once") as alice:
        trained = pair.train_here(pair.write_job())
        assert_one_line(trained, 5, field, told.format(*counts))
        listened = finish(alice)
    assert_one_line(listened, 5, field, told.format(*counts[::-1]))
    assert "CANARY" not in trained.err + listened.err


def test_bad_input_of_ones_own_ends_with_2_before_the_peer_is_called(pair: Pair) -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({"theta": "1/3"}, "1/3"),
        ({"theta": "1/2", "method": "nonsense"}, "method"),
        ({"omega": 0}, "omega"),
        ({"key_bits": 1024}, "2048"),
        ({"key_bits": 3072}, "has 2048 bits, the job asks for 3072: lower key_bits"),
        ({"test": "1"}, "test"),
        ({"max_depth": 0}, 'max_depth: must be an integer from 1 to 65535, or "any"'),
        ({"min_leaf": 0}, "min_leaf"),
        ({"min_leaf": 65}, "min_leaf = 65 is more than half of the 128 training records"),
        ({"sede": 1}, "seed"),
        ({"class": None}, "class"),
    ]
    with serving(pair, "--once"):  # it would answer
        for changes, word in cases:
            assert_one_line(pair.train_here(pair.write_job(**changes)), 2, word)


def test_a_job_for_a_class_that_we_do_not_hold_ends_with_2(pair: Pair) -> None:
    with serving(pair, "--once"):
        pair.edit("bob", '# class = "outcome"', 'class = "top-middle-square"')
        assert_one_line(pair.train_here(pair.write_job()), 2, "class")


def test_an_unknown_column_in_the_settings_ends_with_2(pair: Pair) -> None:
    pair.edit("bob", "plain = []", 'plain = ["no-such-column"]')
    with serving(pair, "--once"):
        assert_one_line(pair.train_here(pair.write_job()), 2, "no-such-column")


def test_a_peer_that_is_not_there_ends_with_3_and_its_address(pair: Pair) -> None:
    with serving(pair, "--once"):
        pass
    pair.edit("bob", "patience = 30", "patience = 2")
    assert_one_line(pair.train_here(pair.write_job()), 3, pair.listening)


def test_a_port_in_use_ends_with_2(pair: Pair) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{address}"')
        assert_one_line(cotally_here(*pair.serve_arguments()), 2, address, "in use")


def test_a_stranger_writes_nothing_on_the_screen_of_who_listens(pair: Pair) -> None:
    with serving(pair) as alice:
        host, _, port = pair.listening.rpartition(":")
        for _ in range(3):
            with socket.create_connection((host, int(port)), timeout=10) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                with suppress(ConnectionError):
                    while stranger.recv(1024):  # until she has refused the handshake
                        pass
        alice.terminate()
        assert finish(alice) == Ended(0, "", "")


def test_one_process_at_a_time_works_in_a_folder_and_a_killed_one_lets_go(pair: Pair) -> None:
    alone = f"another `cotally train`, `serve` or `demo` is working in {pair.alice}"
    settings, job = str(pair.alice / "party.toml"), str(pair.write_job())
    pair.edit("alice", '# address = "bob.example.org:7071"', 'address = "127.0.0.1:1"')
    (pair.alice / "model.json").write_text("of whoever works there: to ask for --overwrite would be the wrong advice")
    with serving(pair) as alice:
        assert_one_line(cotally_here(*pair.serve_arguments()), 2, alone)
        assert_one_line(cotally_here("train", settings, job), 2, alone)
        assert cotally_here("plan", settings, job).code == 0  # it only looks
        assert alice.poll() is None
        alice.kill()
        alice.wait()
        with serving(pair, "--once"):
            assert pair.train_here(pair.write_job(omega=1)).code == 0


def test_a_certificate_that_is_not_pinned_ends_with_an_error_and_without_a_run(tmp_path: Path, pair: Pair) -> None:
    stranger = tmp_path / "bob"
    assert cotally_here("init", "bob", "--dir", str(stranger), "--key-bits", "2048").code == 0
    (stranger / "data.csv").write_text((pair.bob / "data.csv").read_text())
    assert cotally_here("trust", str(stranger), str(pair.alice / "cert.pem")).code == 0
    with serving(pair) as alice:
        (stranger / "party.toml").write_text(
            (pair.bob / "party.toml").read_text().replace("patience = 30", "patience = 2")
        )
        ended = cotally_here(
            "train", str(stranger / "party.toml"), str(pair.write_job()), "--model", str(tmp_path / "m.json")
        )
        assert ended.code in (2, 3)
        assert_one_line(ended, ended.code)
        assert not (tmp_path / "m.json").exists()
        assert alice.poll() is None


@pytest.mark.parametrize("killed", ["alice", "bob"])
def test_when_a_peer_is_killed_the_other_says_so_within_its_deadline(pair: Pair, killed: str) -> None:
    for party in ("alice", "bob"):
        pair.edit(party, "patience = 30", "patience = 3")
    with serving(pair, "--once", "--progress", "json") as alice:
        bob = start(*pair.train_arguments(pair.write_job(method="smc"), "--progress", "json"))
        assert bob.stderr is not None
        for line in bob.stderr:
            if "encrypting" in line:
                break
        victim, survivor = (alice, bob) if killed == "alice" else (bob, alice)
        os.kill(victim.pid, signal.SIGKILL)
        ended = finish(survivor, seconds=20)
        victim.wait()
    assert_one_line(ended, 4, killed, "is paused, and goes on when both start the same again")
    assert not (pair.alice / "model.json").exists()
    assert not (pair.bob / "model.json").exists()
    if bob.stderr:
        bob.stderr.close()


def test_an_interrupted_party_tells_the_other_at_once(pair: Pair) -> None:
    with serving(pair, "--once") as alice:
        bob = start(*pair.train_arguments(pair.write_job(method="smc"), "--progress", "json"))
        assert bob.stderr is not None
        for line in bob.stderr:
            if "encrypting" in line:
                break
        os.kill(bob.pid, signal.SIGINT)
        listened = finish(alice, seconds=20)
        assert finish(bob).code == 130
    assert_one_line(listened, 4, "bob has stopped for now", "is paused")


def test_a_data_set_is_released_in_one_disguise_of_one_split_and_as_it_was(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two splits that differ by one record would tell that record (FAULTS B7)."""
    data = pair.bob / "data.csv"
    with serving(pair):
        assert pair.train_here(pair.write_job(omega=1)).code == 0
        original = data.read_text()
        other_theta = pair.train_here(pair.write_job(omega=1, theta="11/20"))
        assert_one_line(other_theta, 2, "theta", "to release it anyway, name a new [data] dataset")
        with read_ledger(pair.bob, load_secret(pair.bob)) as ledger:
            assert {entry["theta"] for entry in releases.released(ledger.entries()).values()} == {"9/20"}
        data.write_text(with_another_class(original))
        assert_one_line(pair.train_here(pair.write_job(omega=1)), 2, "records", "name a new [data] dataset")
        data.write_text(original)
        changes: list[dict[str, object]] = [{"test": "1/4"}, {"seed": 2}]
        for change in changes:
            assert_one_line(pair.train_here(pair.write_job(omega=1, **change)), 2, *change)
            with monkeypatch.context() as careless:  # a caller that does not care is still refused by the other side
                careless.setattr(releases, "first_change", lambda known, fields: None)
                assert_one_line(pair.train_here(pair.write_job(omega=1, **change)), 5, *change)
        assert pair.train_here(pair.write_job(omega=2)).code == 0


def with_another_class(text: str) -> str:
    """Return Bob's table with another answer of its first person."""
    first = text.splitlines()[1]
    old, new = ("x", "o") if first.endswith("x") else ("o", "x")
    assert first.endswith(old)
    changed = text.replace(first, first.removesuffix(old) + new, 1)
    assert changed != text
    return changed


def test_an_earlier_result_is_lost_by_neither_side_unless_asked(tmp_path: Path, pair: Pair) -> None:
    """Who calls is refused before the peer is; who listens goes on and writes beside it, the same tree once."""
    bobs, alices = tmp_path / "bobs.json", tmp_path / "alices.json"
    train = ["train", str(pair.bob / "party.toml"), "--model", str(bobs)]
    with serving(pair):
        pass
    for path in (bobs, alices):
        path.write_text("mine")
    assert_one_line(cotally_here(*train, str(pair.write_job(omega=1))), 2, str(bobs), "--overwrite")
    assert_one_line(
        cotally_here(*train[:2], "--model", str(pair.bob / "party.toml"), str(pair.write_job())), 2, "is read by"
    )
    process = start("serve", str(pair.alice / "party.toml"), "--model", str(alices))
    try:
        address = re.search(r"listens on (\S+)", process.stderr.readline()) if process.stderr else None
        assert address
        pair.edit("bob", f'address = "{pair.listening}"', f'address = "{address[1]}"')
        pair.listening = address[1]
        for omega in (1, 1, "all"):
            assert cotally_here(*train, "--overwrite", str(pair.write_job(omega=omega))).code == 0
    finally:
        os.kill(process.pid, signal.SIGTERM)
        finish(process)
    assert bobs.read_text() != "mine"
    assert alices.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"bobs.json", "alices.json", "alices-2.json", "alices-3.json"}
    assert (tmp_path / "alices-3.json").read_bytes() == bobs.read_bytes()


def test_results_that_cannot_be_written_are_refused_before_the_run(pair: Pair) -> None:
    job = pair.write_job()
    pair.edit("bob", '# address = "bob.example.org:7071"', 'address = "127.0.0.1:1"')
    ended = cotally_here(
        "train", str(pair.bob / "party.toml"), str(job), "--model", str(pair.folder / "none" / "m.json")
    )
    assert_one_line(ended, 2, "does not exist")


def test_the_model_classifies_rows_whose_columns_are_all_at_hand(tmp_path: Path, pair: Pair) -> None:
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


def test_two_processes_learn_naive_bayes_that_classifies_rows_and_counts_it_from_memory_by_another_engine(
    tmp_path: Path, pair: Pair
) -> None:
    (names_a, rows_a), (names_b, rows_b) = table(ALICE), table(BOB)
    write_table(tmp_path / "rows.csv", [*names_a, *names_b], [[*a, *b] for a, b in zip(rows_a, rows_b, strict=True)])
    with serving(pair):
        trained = pair.train_here(pair.write_job(learner="naive_bayes", cipher="curve"))
        assert trained.code == 0, trained.err
        assert "Both parties hold the same naive Bayes model: 9 attributes" in trained.err
        model = (pair.bob / "model.json").read_bytes()
        assert (pair.alice / "model.json").read_bytes() == model
        report = json.loads((pair.bob / "report.json").read_text())
        assert report["smc_computations"] == 9 * 3 * 2
        again = pair.train_here(pair.write_job(learner="naive_bayes", engine="dot_product", cipher="curve"))
        assert again.code == 0, again.err
        assert (pair.bob / "model.json").read_bytes() == model
        assert json.loads((pair.bob / "report.json").read_text())["correct"] == report["correct"]
        estimated = pair.train_here(pair.write_job(learner="naive_bayes", omega=2, cipher="curve"))
        assert estimated.code == 0, estimated.err
        assert "36 of which were known" in estimated.err or "of which 12 were known" in estimated.err
    ledger = cotally_here("ledger", "show", str(pair.bob / "party.toml"))
    assert "estimated counts of 7 columns by class, rounded" in ledger.out, ledger.out
    rows, out = str(tmp_path / "rows.csv"), str(tmp_path / "out.csv")
    assert cotally_here("predict", str(pair.bob / "model.json"), rows, "-o", out).code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == RECORDS + 1
    assert "naive Bayes over 9 attributes" in cotally_here("show", str(pair.bob / "model.json")).out
    page = cotally_here("report", str(pair.bob / "party.toml"), "-o", str(tmp_path / "report.html"))
    assert page.code == 0, page.err
    written = (tmp_path / "report.html").read_text()
    assert "<h1>Naive Bayes for " in written
    job = pair.write_job(learner="naive_bayes", cipher="curve")
    copy = json.loads(cotally_here("check", str(pair.bob / "party.toml"), str(job), "--json").out)["copy"]
    levels = [each["breach_level"] for each in copy["attributes"]]
    levels += [level for group in copy["groups"] for level in group["breach_levels_all_responses_read"] or []]
    assert f"as sure of a value as {percent(max(map(Fraction, levels)))}" in written
    with (pair.bob / "data.csv").open("a") as file:
        file.write((pair.bob / "data.csv").read_text().splitlines()[-1].replace("p", "q", 1) + "\n")
    other = cotally_here("report", str(pair.bob / "party.toml"), "-o", str(tmp_path / "report.html"), "--overwrite")
    assert other.code == 0, other.err
    assert "surer than the figures below say" in (tmp_path / "report.html").read_text()


def test_pruning_is_agreed_told_and_stands_in_the_model(pair: Pair) -> None:
    with serving(pair, "--once") as alice:
        trained = pair.train(pair.write_job(prune="1/4"))
        assert trained.code == 0, trained.err
        assert finish(alice).code == 0
    assert "pruned by 1/4 of the records" in trained.err
    tree = read_tree(pair.bob / "model.json")
    assert tree.growth.prune == Fraction(1, 4)
    report = json.loads((pair.bob / "report.json").read_text())
    assert report["exact_counts_disclosed"] > report["smc_computations"] + 2 + 1
