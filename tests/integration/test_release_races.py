"""Many processes on one folder, each with a disguise of its own: one disguise is let out, and no other."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.files import locked_folder
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.records.releases import Release, check_release, record_release
from protocols.errors import InputError

KEY = bytes(range(32))
PROCESSES = 12
RACE = f"""
import sys
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from tests.integration.test_release_races import attempt
attempts = [(Path(sys.argv[1]), Fraction(theta)) for theta in sys.argv[2:] * {PROCESSES // 2}]
with get_context("fork").Pool({PROCESSES}) as pool:
    print(*pool.starmap(attempt, attempts, chunksize=1), sep="\\n")
"""


def attempt(folder: Path, theta: Fraction) -> str:
    """Do what a run does before it lets anything out, until the folder is free; return what became of it."""
    release = Release("visits", {"theta": str(theta)}, KEY)
    while True:
        try:
            with locked_folder(folder) as held, open_ledger(held, KEY) as ledger:
                record_release(PeerEntries(ledger, PeerName("bob", "")), release)
                return f"let out {theta}"
        except ConfigError:
            return "refused"
        except InputError as error:
            if "another `cotally` process is working in" not in str(error):
                return str(error)


def test_of_two_disguises_in_a_race_exactly_one_is_ever_let_out(tmp_path: Path) -> None:
    thetas = [Fraction(2, 3), Fraction(3, 5)]
    command = [sys.executable, "-c", RACE, str(tmp_path), *map(str, thetas)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    let_out = {words for words in said if words != "refused"}
    assert len(let_out) == 1, said
    assert let_out < {f"let out {theta}" for theta in thetas}
    assert said.count("refused") == PROCESSES // 2
    winner = Fraction(let_out.pop().removeprefix("let out "))
    check_release(tmp_path, Release("visits", {"theta": str(winner)}, KEY))
    with pytest.raises(ConfigError, match=f"with theta {winner} before"):
        check_release(tmp_path, Release("visits", {"theta": str(1 - winner)}, KEY))
