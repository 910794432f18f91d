"""The journal: what is on the disk when it has been kept, what is let go, and what becomes of a damaged one."""

import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from party.errors import RunCancelledError
from party.files import locked_folder
from party.records.journal import (
    JOURNAL_FILE,
    Journal,
    JournalError,
    KeptRun,
    RunRecord,
    RunState,
    cancel_run,
    open_journal,
    recorded_runs,
)
from party.records.ledger import PeerName, open_ledger
from party.show.ledger import cancelled_text, open_run_lines
from protocols.role import Part

SECRET = bytes(range(32))
NOW = "2026-01-01T00:00:00Z"
CANARY = b"canary 4711 of the peer's copy"


def record(run: str = "00" * 8, state: RunState = RunState.OPEN) -> RunRecord:
    job = {"kind": "train", "method": "hybrid", "omega": 3, "class_name": "outcome"}
    return RunRecord(run, "bob", "B0B0", "visits", job, "ab" * 32, True, NOW, NOW, state)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = open_journal(tmp_path, SECRET)
    made.begin(record())
    return made


def kept(journal: Journal, part: Part = Part.COPY) -> list[bytes]:
    return list(KeptRun(journal, record().run).recall(part))


def test_items_come_back_in_order_and_the_file_is_its_owners_alone(journal: Journal) -> None:
    for number in range(12):
        journal.keep(record().run, Part.ANSWERS, number, bytes([number]))
    assert kept(journal, Part.ANSWERS) == [bytes([number]) for number in range(12)]
    assert kept(journal) == []
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_an_item_put_again_lets_later_ones_of_its_part_fall_away(journal: Journal) -> None:
    for number in range(3):
        journal.keep(record().run, Part.ANSWERS, number, b"old")
    journal.keep(record().run, Part.COPY, 0, b"copy")
    journal.keep(record().run, Part.ANSWERS, 0, b"new")
    assert kept(journal, Part.ANSWERS) == [b"new"]
    assert kept(journal) == [b"copy"]


def test_what_is_kept_is_on_the_disk_when_it_has_been_kept(journal: Journal, tmp_path: Path) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    shutil.copytree(tmp_path, tmp_path / "as the disk has it")
    with open_journal(tmp_path / "as the disk has it", SECRET) as copy:
        assert kept(copy) == [CANARY]


@pytest.mark.parametrize("changes", [{"state": RunState.ABORTED}, {"state": RunState.DONE, "settled": True}])
def test_of_a_run_that_is_over_nothing_is_left_in_the_file(
    journal: Journal, tmp_path: Path, changes: dict[str, object]
) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    journal.change(record().run, NOW, **changes)
    assert kept(journal) == []
    journal.close()
    assert not [path for path in tmp_path.iterdir() if CANARY in path.read_bytes()]


def test_a_run_that_is_done_here_is_kept_until_the_peer_has_said_so(journal: Journal) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    journal.change(record().run, NOW, state=RunState.DONE)
    assert kept(journal) == [CANARY]
    (done,) = journal.runs()
    assert done.is_open


def test_a_run_that_is_done_here_and_whose_peer_never_comes_back_is_given_up(journal: Journal, tmp_path: Path) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    journal.change(record().run, NOW, state=RunState.DONE)
    with open_journal(tmp_path, SECRET) as elsewhere:
        given_up = cancel_run(elsewhere, record().run, NOW)
        assert (given_up.state, given_up.settled, given_up.is_open) == (RunState.DONE, True, False)
        assert f"Run {record().run} is done here and no longer waits for bob" in cancelled_text(given_up)
        with pytest.raises(JournalError, match="has ended: it is done"):
            cancel_run(elsewhere, record().run, NOW)
    assert kept(journal) == []
    assert list(open_run_lines(journal.runs(), busy=False, ended=False)) == ["No run is open; 1 has ended"]


def test_a_cancelled_run_takes_nothing_more_and_is_cancelled_once(journal: Journal, tmp_path: Path) -> None:
    with open_journal(tmp_path, SECRET) as elsewhere:
        cancel_run(elsewhere, record().run, NOW)
        for unknown in (record().run, "ff" * 8):
            with pytest.raises(JournalError, match="see in `cotally status` which have not ended"):
                cancel_run(elsewhere, unknown, NOW)
    for change in (
        lambda: journal.keep(record().run, Part.COPY, 0, CANARY),
        lambda: journal.change(record().run, NOW, phase="TREE"),
        lambda: journal.living(record().run),
    ):
        with pytest.raises(RunCancelledError):
            change()
    (left,) = recorded_runs(tmp_path, SECRET)
    assert left.state is RunState.CANCELLED


def test_a_run_that_is_not_on_record_takes_nothing(journal: Journal) -> None:
    with pytest.raises(RunCancelledError):
        journal.living("ff" * 8)
    assert record().is_with(PeerName("bob", "B0B0"), "visits")
    assert not record().is_with(PeerName("carol", "B0B0"), "visits")
    assert not record().is_with(PeerName("bob", "CA20"), "visits")
    assert not record().is_with(PeerName("bob", "B0B0"), "stays")


def test_a_change_that_was_cut_off_in_the_file_itself_is_taken_back_by_who_reads_next(
    journal: Journal, tmp_path: Path
) -> None:
    """SQLite writes so until a file has its log beside it; who only reads may not take it back."""
    journal.close()
    (cut_off := tmp_path / "cut off").mkdir()
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as open_file:
        open_file.executescript("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; DELETE FROM runs")
        open_file.execute("INSERT INTO kept VALUES ('more', 'copy', 0, zeroblob(200000), x'00')")
        for path in tmp_path.glob(f"{JOURNAL_FILE}*"):
            shutil.copy2(path, cut_off)
    assert {path.name for path in cut_off.iterdir()} == {JOURNAL_FILE, f"{JOURNAL_FILE}-journal"}
    assert recorded_runs(cut_off, SECRET) == [record()]


def altered(statement: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return damage


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a run altered": altered("UPDATE runs SET content = replace(content, 'open', 'done')"),
    "an item altered": altered("UPDATE kept SET content = x'00'"),
    "an item of another place": altered("UPDATE kept SET part = 'coins'"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "no database": lambda path: path.write_bytes(b"a journal" * 999),
    "a newer version": altered("PRAGMA user_version = 4"),
    "another table": altered("CREATE TABLE more (x TEXT) STRICT"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_journal_is_named_and_left_as_it_is(journal: Journal, tmp_path: Path, damage: str) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    journal.close()
    path = tmp_path / JOURNAL_FILE
    DAMAGES[damage](path)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=JOURNAL_FILE), open_journal(tmp_path, SECRET) as opened:
        assert kept(opened) + kept(opened, Part.ANSWERS)
    assert path.read_bytes() == before


HOLES = {
    "an item altered": altered("UPDATE kept SET content = x'00' WHERE number = 1"),
    "an item of another number": altered("UPDATE kept SET number = 9 WHERE number = 2"),
    "an item of another run": altered("UPDATE kept SET run = 'ff' WHERE number = 2"),
    "an item in the middle deleted": altered("DELETE FROM kept WHERE number = 1"),
    "the first item deleted": altered("DELETE FROM kept WHERE number = 0"),
}


@pytest.mark.parametrize("damage", HOLES)
def test_a_journal_that_lacks_an_item_is_refused_before_any_is_used(
    journal: Journal, tmp_path: Path, damage: str
) -> None:
    for number in range(3):
        journal.keep(record().run, Part.ANSWERS, number, b"an answer")
    journal.close()
    HOLES[damage](tmp_path / JOURNAL_FILE)
    with pytest.raises(JournalError, match=r"a row (is missing|was altered)"):
        open_journal(tmp_path, SECRET)


def test_an_item_that_is_altered_while_the_journal_is_open_is_not_recalled(journal: Journal) -> None:
    journal.keep(record().run, Part.COPY, 0, CANARY)
    altered("UPDATE kept SET content = x'00'")(journal.path)
    with pytest.raises(JournalError, match="a row was altered"):
        kept(journal)


def test_no_flipped_bit_makes_a_journal_hold_less_or_anything_else(journal: Journal, tmp_path: Path) -> None:
    for number in range(12):
        journal.keep(record().run, Part.ANSWERS, number, bytes([number]) * 700)
    journal.close()
    path, refused = tmp_path / JOURNAL_FILE, 0
    whole, answers = path.read_bytes(), [bytes([number]) * 700 for number in range(12)]
    for place in range(0, len(whole), 106):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            with open_journal(tmp_path, SECRET) as opened:
                assert (kept(opened, Part.ANSWERS), opened.runs()) == (answers, [record()])
        except JournalError:
            refused += 1
    assert refused > 75  # one for each place within the items; most others are in no row


def test_a_journal_of_another_secret_and_one_that_is_a_ledger_are_refused(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"belongs to another secret\.key"):
        open_journal(tmp_path, bytes(32))
    (tmp_path / "other").mkdir()
    with locked_folder(tmp_path / "other") as held, open_ledger(held, SECRET) as ledger:
        ledger.path.rename(tmp_path / JOURNAL_FILE)
    with pytest.raises(JournalError, match="is not a journal of cotally"):
        open_journal(tmp_path, SECRET)


def test_status_says_what_each_run_waits_for() -> None:
    done = record("11" * 8, RunState.DONE)
    (head, waits, *second) = open_run_lines([record(), done], busy=False, ended=False)
    assert head.startswith("0000000000000000  open  train (hybrid, omega 3, class 'outcome') with bob")
    assert "waits for `cotally train` with the same job" in waits
    assert "bob has not said yet that it holds the model" in second[1]
    assert list(open_run_lines([], busy=False, ended=False)) == ["No run is open"]
    none, how_to_end = open_run_lines([], busy=True, ended=False)
    assert none == "No run is open"
    assert "Ctrl-C" in how_to_end
    assert "A process works in this folder" not in str([*open_run_lines([record()], busy=True, ended=False)])
    for over, words in ((1, "1 has ended"), (2, "2 have ended")):
        ended = [record(f"{number}" * 16, RunState.CANCELLED) for number in range(over)]
        assert list(open_run_lines(ended, busy=False, ended=False)) == [f"No run is open; {words}"]
