"""A newcomer with two messy files follows what the commands say, line by line, until both sides hold a model.

The files are as spreadsheets and databases leave them: ids that have lost their zeros at one side, dates in two forms,
a marker that is a number, characters that nobody sees, an e-mail address, free text, a region of fifteen values, and
an outcome that 18 of 100 have.
"""

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from party.data.texts import MISSING_MARKERS
from tests.support.processes import Ended, Pair, cotally_here, finish, serving

PEOPLE = 400
NAMES = ["Ann", "Bo", "Cy", "Dee", "Eve"]


def ill(number: int) -> bool:
    return number % 50 < 9


def of_alice(number: int, chance: random.Random) -> list[str]:
    year, month, day = 1940 + number % 50, 1 + number % 12, 1 + number % 28
    birth = f"{year}-{month:02}-{day:02}" if number % 2 else f"{day}.{month}.{year} 00:00"
    region = f"R{number % 15:02}" + "\u200b" * (number % 10 == 0)
    visits = ["-99", "-99.0"][number % 2] if number % 8 == 0 else f"{chance.randrange(9)}{['', '.0'][number % 3 == 0]}"
    note = ("seen twice " * (200 if number == 27 else 1)) + str(number)
    return [f"{number:06}", f"{NAMES[number % 5]}{number}@example.org", birth, region, visits, note, "ny"[ill(number)]]


def of_bob(number: int, chance: random.Random) -> list[str]:
    pay = 900 + 37 * number % 9000
    risk = "high" if ill(number) != (chance.random() < 0.2) else "low"
    return [str(number), f"{pay:,}", ["TRUE", "true", "FALSE"][number % 3], risk]


def csv_of(header: str, rows: Sequence[Sequence[str]]) -> str:
    cells = (",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows)
    return "\n".join([header, *cells]) + "\n"


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    made = Pair(Path(shutil.copytree(trusting, tmp_path / "parties")))
    chance, numbers = random.Random(5), range(20, 20 + PEOPLE)
    header = "id,mail,birth,region,visits,note,ill"
    (made.alice / "data.csv").write_text(csv_of(header, [of_alice(number, chance) for number in numbers]))
    header = "id,pay,member,risk"
    (made.bob / "data.csv").write_text(csv_of(header, [of_bob(number, chance) for number in reversed(numbers)]))
    made.edit("alice", '# class = "outcome"', 'class = "ill"')
    for party, peer in (("alice", "bob"), ("bob", "alice")):
        made.edit(party, f'# peer = "{peer}"', f'peer = "{peer}"')
        made.edit(party, "workers = 0", "workers = 1")
    made.edit("alice", 'listen = "0.0.0.0:7071"', 'listen = "127.0.0.1:0"')
    return made


def told(ended: Ended) -> str:
    """All that a command says, as one line."""
    return " ".join(f"{ended.out} {ended.err}".split())


def check(pair: Pair, party: str, code: int = 0) -> str:
    ended = cotally_here("check", pair.folder / party)
    assert ended.code == code, ended.err
    assert not code or len(ended.err.splitlines()) == 1
    return told(ended)


def add(pair: Pair, party: str, table: str, line: str) -> None:
    pair.edit(party, f"[{table}]\n", f"[{table}]\n{line}\n")


def alice_follows(pair: Pair) -> None:
    """Alice does what `check` tells her, and it is true at each step."""
    said = check(pair, "alice", 2)
    assert (
        "line 9, column 'note': the cell has more than 1024 characters: mend it, or list the column under ignore"
        in said
    )
    pair.edit("alice", "# ignore = []  ", 'ignore = ["note"]')
    said = check(pair, "alice", 2)
    assert "columns 'mail', 'birth': list them under ignore, or give bins" in said
    assert "@" not in said
    pair.edit("alice", 'ignore = ["note"]', 'ignore = ["note", "mail"]')
    add(pair, "alice", "columns", 'birth = { bins = "year", max_values = 4 }')
    said = check(pair, "alice")
    assert "'-99" not in said
    assert "visits" in said
    add(pair, "alice", "data", 'missing = ["-99"]')
    said = check(pair, "alice")
    assert "taken for missing cells: '-99' in 'visits'" in said
    assert "column 'region': 40 cells hold invisible characters" in said
    assert "missing 50" in said
    assert "ill: n 328, y 72" in said
    assert "R05 27" in said


def bob_follows(pair: Pair) -> None:
    said = check(pair, "bob", 2)
    assert "column 'pay'" in said
    assert 'say under [data] decimal = "." if its commas group thousands, as in 1,234 for 1234' in said
    add(pair, "bob", "data", 'decimal = "."')
    said = check(pair, "bob")
    assert "pay: <=" in said
    assert "member: False 134, True 266" in said


def test_a_newcomer_is_told_the_truth_at_every_step_until_both_hold_one_model(pair: Pair, tmp_path: Path) -> None:
    alice_follows(pair)
    bob_follows(pair)
    for party in ("alice", "bob"):
        pair.edit(party, "exact_counts = false", "exact_counts = true ")
    job = pair.write_job(method="smc", **{"class": "ill", "min_leaf": 5, "max_depth": 2})
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"')
    planned = cotally_here("plan", pair.bob / "party.toml", job)
    assert planned.code == 0, planned.err
    pair.edit("bob", 'address = "127.0.0.1:1"', '# address = "alice.example.org:7071"')
    with serving(pair) as alice:
        first = pair.train_here(job)
        assert first.code == 5, first.err
        assert "add to [data] id_alike, on both sides, zeros" in told(first)
        alice.terminate()
        assert "add to [data] id_alike, on both sides, zeros" in told(finish(alice))
    for party in ("alice", "bob"):
        add(pair, party, "data", 'id_alike = ["accents", "blanks", "numbers", "zeros"]')
    with serving(pair, "--once") as alice:
        trained = pair.train_here(job)
        assert trained.code == 0, trained.err
        assert finish(alice).code == 0
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert "The commonest class has 0.8" in told(trained)
    assert "alone gives" not in told(trained)
    predicts_whatever_the_spelling(pair, tmp_path)


def predicts_whatever_the_spelling(pair: Pair, folder: Path) -> None:
    """Rows of another program, with other spellings of the same values, are classified alike."""
    model = json.loads((pair.bob / "model.json").read_text())
    (visits,) = (column for column in model["attributes"] if column["name"] == "visits")
    assert (visits["missing"], visits["marks"]) == ("missing", [*MISSING_MARKERS, "-99"])
    rows = [
        "birth,region,visits,pay,member,risk",
        "1950-05-31,R05,3,1234,TRUE,high",
        "1950-05-31 00:00:00+00,\u200bR05,3.0,1234.0,true,high\u00a0",
        "31.5.1950, R05 ,3.00,1234,True,high",
        "1950-05-31,R05,-99.0,1234,True,low",
        "1950-05-31,R05,,1234,True,low",
    ]
    (folder / "rows.csv").write_text("\n".join(rows) + "\n")
    done = cotally_here("predict", pair.bob / "model.json", folder / "rows.csv", "-o", folder / "out.tsv")
    assert done.code == 0, done.err
    assert "hold no value that the model knows" not in done.err
    classes = [line.split("\t")[-1] for line in (folder / "out.tsv").read_text().splitlines()[1:]]
    assert len({*classes[:3]}) == len({*classes[3:]}) == 1
