"""Many processes on one folder, each with a disguise of its own: one disguise is let out, and no other."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.files import locked_folder
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.records.releases import Release, check_release, record_release
from protocols.errors import InputError

KEY = bytes(range(32))
PROCESSES = 12
ATTEMPT = """
import sys
from fractions import Fraction
from pathlib import Path
from tests.integration.test_release_races import attempt
print("ready", flush=True)
sys.stdin.readline()
print(attempt(Path(sys.argv[1]), Fraction(sys.argv[2])), flush=True)
"""


def attempt(folder: Path, theta: Fraction) -> str:
    """Do what a run does before it lets anything out, until the folder is free; return what became of it."""
    release = Release("visits", {"theta": str(theta)}, KEY)
    while True:
        try:
            with locked_folder(folder) as held, open_ledger(held, KEY) as ledger:
                record_release(PeerPages(ledger, PeerName("bob", "")), release)
                return f"let out {theta}"
        except ConfigError:
            return "refused"
        except InputError as error:
            if "another `cotally` process is working in" not in str(error):
                return str(error)


def test_of_two_disguises_in_a_race_exactly_one_is_ever_let_out(tmp_path: Path) -> None:
    thetas = [Fraction(2, 3), Fraction(3, 5)]
    commands = [[sys.executable, "-c", ATTEMPT, str(tmp_path), str(thetas[i % 2])] for i in range(PROCESSES)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0].strip() for process in running]
    let_out = {words for words in said if words != "refused"}
    assert len(let_out) == 1, said
    assert let_out < {f"let out {theta}" for theta in thetas}
    assert said.count("refused") == PROCESSES // 2
    winner = Fraction(let_out.pop().removeprefix("let out "))
    check_release(tmp_path, Release("visits", {"theta": str(winner)}, KEY))
    with pytest.raises(ConfigError, match=f"with theta {winner} before"):
        check_release(tmp_path, Release("visits", {"theta": str(1 - winner)}, KEY))
