"""What two real parties refuse, their own mistakes and each other's: one clear line for every fault, and no run.

Bob runs in our process, and Alice in one of her own.
"""

import os
import re
import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.records import releases
from party.records.ledger import read_ledger
from tests.support.examples import few
from tests.support.processes import (
    Ended,
    Pair,
    assert_one_error,
    cotally_here,
    finish,
    make_pair,
    serving,
    start,
    write_table,
)
from tests.support.tic_tac_toe import ALICE, BOB, RECORDS, table


def test_a_term_that_one_side_does_not_allow_is_named_on_both_screens(pair: Pair) -> None:
    """The node goes on after each."""
    refused: dict[str, object] = {
        "theta": "3/10",
        "omega": 4,
        "method": "smc",
        "counting": "oblivious_transfer",
        "class": "outcome",
        "min_leaf": 3,
        "max_depth": "any",
    }
    pair.edit("alice", 'methods = ["hybrid", "smc", "randomized"]', 'methods = ["hybrid"]')
    pair.edit("alice", 'omega = "all"', "omega = 3")
    pair.edit("alice", '["oblivious_transfer", "paillier"]', '["paillier"]')
    pair.edit("alice", "min_leaf = 1", "min_leaf = 4")
    pair.edit("alice", 'max_depth = "any"', "max_depth = 3")
    pair.edit("bob", "odds = 2 ", 'odds = "any" ')
    with serving(pair) as alice:
        for term, value in refused.items():
            usual = {"counting": "paillier", "omega": 2, "min_leaf": 4, "max_depth": 3}
            assert_one_error(pair.train_here(pair.write_job(**{**usual, term: value})), 5, f"{term!r}")
        alice.terminate()
        listened = finish(alice)
    lines = [line for line in listened.err.splitlines() if re.match("cotally: (?!note: )", line)]
    assert len(lines) == len(refused), listened.err
    for term, line in zip(refused, lines, strict=True):
        assert f"{term!r}" in line
    assert "Traceback" not in listened.err


SAME = (["a", "class"], [["xyz"[i % 3], "yn"[i % 2]] for i in range(RECORDS)])


def test_the_same_file_on_both_sides_is_refused_where_one_does_not_declare_the_class(
    trusting: Path, tmp_path: Path
) -> None:
    """Else the class is an attribute, and the tree is that of one split."""
    pair = make_pair(trusting, tmp_path / "parties", SAME, SAME)
    pair.edit("bob", 'class = "class"', '# class = "class"')
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"')
    refused = pair.train_here(pair.write_job())
    pair.edit("bob", 'address = "127.0.0.1:1"', '# address = "alice.example.org:7071"')
    assert_one_error(refused, 2, "our column 'class' has the name of the class and is not declared to be it")
    with serving(pair, "--once") as alice:
        pair.edit("bob", '# class = "class"', 'ignore = ["class"]')
        assert pair.train_here(pair.write_job(method="smc")).code == 0
        assert finish(alice).code == 0


def test_a_column_that_tells_the_class_is_noted_before_anything_leaves_and_at_the_end(
    trusting: Path, tmp_path: Path
) -> None:
    renamed = (["outcome", "b"], [[row[1], row[0]] for row in SAME[1]])
    pair = make_pair(trusting, tmp_path / "parties", SAME, renamed)
    copy = (["a", "copy", "class"], [[row[0], row[1] * 2, row[1]] for row in SAME[1]])
    own = make_pair(trusting, tmp_path / "own", copy, table(BOB))
    checked = cotally_here("check", own.alice / "party.toml")
    assert "column 'copy' alone gives the class of every record" in checked.out.replace("\n  ", " ")
    assert "alone gives" not in cotally_here("check", pair.alice / "party.toml").out.replace("\n  ", " ")
    with serving(pair, "--once") as alice:
        trained = pair.train_here(pair.write_job(method="smc"))
        told = finish(alice)
    assert trained.code == 0, trained.err
    for said in (trained.out + trained.err, told.out + told.err):
        assert "bob.outcome alone gives the class of every training record." in said.replace("\n  ", " ")


def test_classes_too_small_for_who_does_not_hold_them_end_the_run_on_both_screens(pair: Pair) -> None:
    pair.edit("bob", "smallest_class = 10 ", "smallest_class = 200 ")
    with serving(pair, "--once") as alice:
        assert_one_error(pair.train(pair.write_job()), 5, "'class counts'", "fewer than 200 training records")
        assert_one_error(finish(alice), 5, "'class counts'", "merge rare values of the class")
    assert not (pair.bob / "model.json").exists()


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
        assert_one_error(trained, 5, field, told.format(*counts))
        listened = finish(alice)
    assert_one_error(listened, 5, field, told.format(*counts[::-1]))
    assert "CANARY" not in trained.err + listened.err


TREE: dict[str, object] = {"reveal": "tree", "method": "smc", "omega": None, "min_leaf": None, "max_depth": 3}
NOISY = TREE | {"noise": "1"}
RULES: dict[str, object] = {
    "learner": "rules", "method": "smc", "min_support": "1/5",
    **dict.fromkeys(("class", "test", "seed", "omega", "max_depth")),
}  # fmt: skip


REFUSED: list[tuple[dict[str, str], dict[str, object], str, str, str]] = [
    ({"exact_counts": "false"}, {}, "reveal", 'take reveal = "tree", or noise', "exact_counts = true"),
    ({}, NOISY | {"noise": "1000"}, "noise", "its [agree] epsilon is a number, ", 'our [agree] epsilon is "any"'),
    ({"epsilon": '"1"'}, TREE, "noise", "write noise, or less", "the job has no noise, and our [agree] epsilon"),
    ({"epsilon": '"1"', "noise": '"1/2"'}, NOISY, "noise", "write noise, or less", "[agree] noise or epsilon"),
    ({"epsilon": '"1"'}, NOISY | {"noise": "2"}, "noise", "write noise, or less", "[agree] noise or epsilon"),
    ({"min_leaf": "30"}, TREE, "min_leaf", "it asks for larger leaves", "[agree] min_leaf"),
    ({"max_depth": "2"}, TREE, "max_depth", "it allows fewer splits of a path", "[agree] max_depth"),
    ({"methods": '["hybrid"]'}, TREE, "method", "ask its owner to add it", "[agree] methods"),
    ({"most_bits": "2"}, TREE, "most_bits", "the peer", "write most_bits = 2 in the job"),
    ({"most_bits": "2"}, TREE | {"most_bits": 9}, "most_bits", "the peer", "use 2 or fewer"),
    ({"most_values": "2"}, TREE, "most_values", "the most have '", "the peer's column '"),
    ({"most_columns": "3"}, TREE, "most_columns", "columns are more than the peer takes", "most_columns"),
    ({"exact_counts": "false"}, RULES | {"reveal": "sets"}, "reveal", 'take reveal = "tree"', "exact_counts = true"),
    (
        {"class": "three", "epsilon": '"1"'},
        NOISY,
        "impurity",
        "gini, and so noise, is for two classes",
        "merge values of the class",
    ),
]


@pytest.mark.parametrize(("agreed", "job", "field", "ours", "theirs"), few(REFUSED, 5))
def test_terms_that_one_side_does_not_agree_to_are_one_line_on_both_screens_and_nothing_of_a_record_leaves(
    pair: Pair, agreed: dict[str, str], job: dict[str, object], field: str, ours: str, theirs: str
) -> None:
    settings = pair.alice / "party.toml"
    text = settings.read_text()
    for key, value in agreed.items():
        text = re.sub(rf"^{key} = [^#\n]*", f"{key} = {value} ", text, count=1, flags=re.MULTILINE)
    if "class" in agreed:
        text = text.replace("class = three", 'class = "class"')
        names, rows = table(ALICE)
        rows = [[*row[:-1], "third"] if number % 3 == 0 else row for number, row in enumerate(rows)]
        write_table(pair.alice / "data.csv", names, rows)
    settings.write_text(text)
    if "noise" in job:
        pair.edit("bob", 'epsilon = "any"', 'epsilon = "1000"')
    with serving(pair, "--once") as alice:
        assert_one_error(pair.train_here(pair.write_job(**job)), 5, f"{field!r}", ours)
        assert_one_error(finish(alice), 5, f"{field!r}", theirs)
    for folder in (pair.alice, pair.bob):
        told = cotally_here("ledger", "export", folder)
        assert not {"release", "opened"} & set(re.findall(r'"kind": "([a-z ]+)"', told.out))


def test_a_port_in_use_ends_with_2(pair: Pair) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{address}"')
        assert_one_error(cotally_here(*pair.serve_arguments()), 2, address, "in use", "[node] listen")


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
    alone = f"another `cotally` process is working in {pair.alice}"
    settings, job = str(pair.alice / "party.toml"), str(pair.write_job())
    pair.edit("alice", '# address = "bob.example.org:7071"', 'address = "127.0.0.1:1"')
    (pair.alice / "model.json").write_text(
        "of somebody who works there: to ask for --overwrite would be the wrong advice"
    )
    with serving(pair) as alice:
        assert_one_error(cotally_here(*pair.serve_arguments()), 2, alone)
        assert_one_error(cotally_here("train", settings, job), 2, alone)
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
        assert_one_error(ended, ended.code)
        assert not (tmp_path / "m.json").exists()
        assert alice.poll() is None


@pytest.mark.full
def test_a_data_set_is_released_in_one_disguise_of_one_split_and_as_it_was(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two splits that differ by one record would tell that record (FAULTS B7)."""
    data = pair.bob / "data.csv"
    with serving(pair):
        assert pair.train_here(pair.write_job(omega=1)).code == 0
        original = data.read_text()
        other_theta = pair.train_here(pair.write_job(omega=1, theta="3/5"))
        assert_one_error(other_theta, 2, "theta", "would undo the first: return to it")
        pair.edit("bob", "# groups = 2", "groups = 2")
        shared = pair.train_here(pair.write_job(omega=1))
        assert_one_error(shared, 2, "share a coin: a receiver would read them in", "leave [disguise] groups out")
        pair.edit("bob", "odds = 2 ", 'odds = "any" ')
        grouped = pair.train_here(pair.write_job(omega=1))
        pair.edit("bob", 'odds = "any" ', "odds = 2 ")
        pair.edit("bob", "groups = 2", "# groups = 2")
        assert_one_error(grouped, 2, "released with groups = [[", "would undo the first: return to it")
        with read_ledger(pair.bob, load_secret(pair.bob)) as ledger:
            assert {entry["theta"] for entry in releases.released(ledger.entries()).values()} == {"2/3"}
        data.write_text(with_another_class(original))
        assert_one_error(pair.train_here(pair.write_job(omega=1)), 2, "records", "bring the earlier table again")
        data.write_text(original)
        other_split = pair.write_job(omega=1, test="1/4")  # of another seed tests/integration/test_train_and_plan.py
        assert_one_error(pair.train_here(other_split), 2, "test")
        with monkeypatch.context() as careless:  # a caller that does not care is still refused by the other side
            careless.setattr(releases, "first_change", lambda known, fields: None)
            assert_one_error(pair.train_here(other_split), 5, "test")
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
    assert_one_error(cotally_here(*train, str(pair.write_job(omega=1))), 2, str(bobs), "--overwrite")
    assert_one_error(
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
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"')
    ended = cotally_here(
        "train", str(pair.bob / "party.toml"), str(job), "--model", str(pair.folder / "none" / "m.json")
    )
    assert_one_error(ended, 2, "does not exist")
