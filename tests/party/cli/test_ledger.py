"""`cotally ledger`: an auditor reads what was told, finds what was altered, and takes it all away as JSON."""

import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.cli.main import main
from party.keys.keystore import SECRET_FILE
from party.keys.passphrase import write_secret
from party.records.ledger import LEDGER_FILE
from protocols.terms import ALL, KEY_FLOOR, Counting
from tests.support.sessions import ANY_ODDS, CASE, Sessions


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return Bob's settings after a run."""
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    sessions.run()
    write_secret(tmp_path / "bob" / SECRET_FILE, sessions.local("bob").secrets.coins)
    path = tmp_path / "bob" / "party.toml"
    path.write_text(path.read_text().replace(f"smallest_key_bits = {CASE.terms.key_bits}", ""))
    return path


def run(config: Path, *words: str) -> int:
    return main(["ledger", words[0], str(config), *words[1:]])


def test_what_is_not_said_is_to_show_and_the_folder_will_do(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(config, "show") == 0
    shown = capsys.readouterr().out
    assert shown
    for named in (config, config.parent):
        assert main(["ledger", str(named)]) == 0
        assert capsys.readouterr().out == shown


def test_counts_with_noise_are_told_apart_from_exact_ones_with_their_epsilon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    sessions.run()
    noisy = replace(CASE.terms, omega=ALL, max_depth=1, noise=Fraction(50))
    sessions.run(noisy)
    sessions.run(replace(noisy, counting=Counting.PAILLIER))  # tells the same numbers again
    write_secret(tmp_path / "bob" / SECRET_FILE, sessions.local("bob").secrets.coins)
    path = tmp_path / "bob" / "party.toml"
    path.write_text(path.read_text().replace(f"smallest_key_bits = {CASE.terms.key_bits}", ""))
    assert run(path, "show", "--full") == 0
    out = capsys.readouterr().out
    _, *parts = out.split("with noise, epsilon 50 against each side:")
    assert [" counts in " in part.splitlines()[1] for part in parts] == [False, True]
    for part in parts:
        assert "exact counts" not in part.partition("What we")[0].partition("Every table")[0]
    exact, noisy_tables = out.split("Every table of counts with noise that we know")
    assert "Every table of exact counts that we know" in exact
    assert "all training records: " in noisy_tables


def test_show_says_in_words_or_in_full_what_each_side_has_learned(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "show") == 0
    out = capsys.readouterr().out
    us, rest = out.split("What we learned from alice:")
    them, both = rest.split("What both learned:")
    assert "Data set 'case' with alice: 1 run" in us
    assert "a disguised copy of 3 columns, theta 7/10: " in us
    assert "strongest odds of a value: 7/3 to 1" in us
    assert "for certain, of 'b" in us
    assert "how many training records each of 2 classes has" in us
    assert "the names of 2 columns (a0, a1) and of their 5 values, of 80 records" in them
    assert "a disguised copy of 2 columns, theta 7/10: a0, a1" in them
    for line in (
        "which columns rank highest at ",
        "exact counts in ",
        "held-out records the model gets right",
        "the fin",
    ):
        assert [part.count(line) for part in (us, them, both)] == [0, 0, 1]
    assert "all training records:" not in out
    assert run(config, "show", "--full") == 0
    out = capsys.readouterr().out
    assert run(config, "export") == 0
    exported = json.loads(capsys.readouterr().out)
    nodes = [
        node
        for entry in exported["entries"]
        if entry["kind"] == "counts" and entry["way"] != "told"
        for node in entry["nodes"]
    ]
    ((column, rows),) = nodes[0]["counts"].items()
    assert f"all training records: {column}: {'; '.join(', '.join(map(str, row)) for row in rows)}" in out
    (name, value) = nodes[1]["path"][0]
    assert f"{name} = {value}" in out


def test_export_holds_every_entry_in_order_and_writes_what_it_prints(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "export") == 0
    exported = json.loads(capsys.readouterr().out)
    assert exported["format"] == "cotally-ledger/3"
    assert [entry["number"] for entry in exported["entries"]] == list(range(1, len(exported["entries"]) + 1))
    kinds = [entry["kind"] for entry in exported["entries"] if entry["kind"] != "comparison"]
    assert kinds[:2] == ["columns", "run"]
    assert {entry["peer"] for entry in exported["entries"]} == {"alice"}
    assert run(config, "export") == 0
    printed = capsys.readouterr().out
    output = config.parent / "ledger.json"
    output.write_text("earlier")
    assert run(config, "export", "-o", str(output)) == 2
    assert output.read_text() == "earlier"
    assert run(config, "export", "-o", str(output), "--overwrite") == 0
    assert output.read_text() == printed
    assert run(config, "verify", "-o", str(output), "--overwrite") == 2
    assert "--output is for export" in capsys.readouterr().err


def test_verify_says_that_all_is_whole_or_names_the_altered_entry(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "verify") == 0
    out = capsys.readouterr().out
    assert "not one altered, dropped or moved" in out
    assert "alice last showed us" in out
    with sqlite3.connect(config.parent / LEDGER_FILE) as connection:
        connection.execute("UPDATE entries SET content = content || ' ' WHERE number = 3")
    connection.close()
    for action in ("show", "verify", "export"):
        assert run(config, action) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert "entry 3 was altered" in captured.err


def test_a_ledger_is_found_only_beside_legal_settings(config: Path) -> None:
    config.write_text(config.read_text() + f"\nsmallest_key_bits = {KEY_FLOOR - 1}\n")
    assert run(config, "show") == 2
