"""Every command that works in a party's folder refuses it where others can change it or read its secrets."""

import re
from itertools import product
from pathlib import Path

import pytest

from party.files import PRIVATE_FILES
from tests.support.examples import few
from tests.support.processes import Pair, cotally_here, make_pair

ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]
FORMATS = (Path(__file__).parents[3] / "party" / "FORMATS.md").read_text()
JOB = "job-1.toml"
FAULTS = ("secret.key", "key.pem", "paillier.key", "ledger.sqlite", ".")
COMMANDS = {
    "train": ["train", "party.toml", JOB],
    "serve": ["serve", "party.toml", "--once"],
    "plan": ["plan", "party.toml", JOB],
    "check": ["check", "party.toml"],
    "align": ["align", "party.toml"],
    "predict": ["predict", "party.toml", "--with", "alice", "data.csv"],
    "status": ["status", "party.toml"],
    "cancel": ["cancel", "party.toml", "0123456789abcdef"],
    "ledger": ["ledger", "show", "party.toml"],
    "report": ["report", "party.toml", "-o", "report.html"],
    "doctor": ["doctor", "party.toml"],
    "pair": ["pair", "party.toml"],
    "trust": ["trust", ".", "cert.pem"],
    "keys renew": ["keys", "renew", "."],
    "keys seal": ["keys", "seal", "."],
}


@pytest.fixture(scope="module")
def pair(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("made") / "parties"
    return make_pair(trusting, folder, (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))


def test_every_command_says_what_is_open_to_others(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command beside one fault, or under `--all` each."""
    pair.write_job()
    (pair.folder / JOB).replace(pair.bob / JOB)
    monkeypatch.chdir(pair.bob)
    for command, fault in few([*product(COMMANDS.values(), FAULTS)], len(FAULTS) - 1):
        open_one = pair.bob / fault
        open_one.touch()
        usual = open_one.stat().st_mode
        open_one.chmod(0o777 if fault == "." else 0o640)
        ended = cotally_here(*command)
        open_one.chmod(usual)
        if fault == "ledger.sqlite":
            open_one.unlink()
        assert ended.code == 2
        assert re.search(r"others can write to \.|is open to other users: run `chmod 600 \S+`", ended.err), ended.err
        assert ended.err.count("\n") == 1
        assert fault == "." or fault in ended.err


def test_no_secret_file_is_forgotten() -> None:
    """What the page of formats calls secret, of a party's folder, is looked at."""
    rows = [line.split(" | ") for line in FORMATS.splitlines() if line.startswith("| `") and line.count(" | ") == 3]
    secret = {name for row in rows if not row[3].startswith("no") for name in re.findall(r"`([\w.-]+)`", row[0])}
    secret -= {"answers.sqlite", "cert.pem"}
    assert len(secret) >= 7
    for name in secret:
        assert any(Path(name).match(pattern) for pattern in PRIVATE_FILES), name
