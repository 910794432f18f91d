"""The ledger: what is on the disk before it is told, and what becomes of one that is altered, cut or put back."""

import json
import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from party.files import locked_folder
from party.records.alignments import past_alignments
from party.records.journal import JournalError, open_journal
from party.records.json_codec import json_name
from party.records.ledger import (
    LEDGER_FILE,
    Ledger,
    LedgerEntry,
    LedgerError,
    PeerEntries,
    PeerName,
    join_ledger,
    open_ledger,
    read_ledger,
)
from party.records.ledger_entries import BYGONE, ENTRY_KINDS, EntryOfRun, RunEntry, reveal_key_text
from party.records.tally import dealings
from party.show.ledger import dealings_lines
from protocols.terms import Learner, Method
from protocols.two_party.memory import NO_HEAD, LedgerHead
from tests.support.disks import no_space

SECRET = bytes(range(32))
BOB, CAROL = PeerName("bob", "B0B0"), PeerName("carol", "CA20")


def content(number: int, peer: PeerName = BOB) -> dict[str, object]:
    return {"time": "2026-01-01T00:00:00Z", "peer": peer.name, "fingerprint": peer.fingerprint, "kind": f"k{number}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose ledger has five entries, of which two are about Bob."""
    with locked_folder(tmp_path) as held, open_ledger(held, SECRET) as ledger:
        for number, peer in enumerate([BOB, CAROL, CAROL, BOB, CAROL], start=1):
            ledger.append(content(number, peer))
    return tmp_path


def edit(folder: Path, *statements: str) -> None:
    with sqlite3.connect(folder / LEDGER_FILE) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_entries_come_back_in_order_and_the_file_is_its_owners_alone(folder: Path) -> None:
    with read_ledger(folder, SECRET) as ledger:
        assert [entry.content["kind"] for entry in ledger.entries()] == ["k1", "k2", "k3", "k4", "k5"]
        assert len(ledger) == 5
    assert stat.S_IMODE((folder / LEDGER_FILE).stat().st_mode) == 0o600


def test_an_entry_is_on_the_disk_when_it_has_been_added(tmp_path: Path) -> None:
    with locked_folder(tmp_path) as held, open_ledger(held, SECRET) as ledger:
        ledger.append(content(1))
        shutil.copytree(tmp_path, tmp_path / "as the disk has it")
    with read_ledger(tmp_path / "as the disk has it", SECRET) as copy:
        assert len(copy) == 1


def test_a_head_counts_the_entries_about_one_peer_and_every_earlier_one_is_still_held(folder: Path) -> None:
    with read_ledger(folder, SECRET) as ledger:
        digests = {entry.number: entry.digest for entry in ledger.entries()}
        assert ledger.head(BOB) == LedgerHead(2, digests[4])
        assert ledger.head(PeerName("bob", "another certificate")) == NO_HEAD
        assert all(ledger.holds(BOB, head) for head in (NO_HEAD, LedgerHead(1, digests[1]), LedgerHead(2, digests[4])))
        foreign = (
            LedgerHead(1, digests[4]),
            LedgerHead(3, digests[5]),
            LedgerHead(1, digests[2]),
            LedgerHead(0, digests[1]),
        )
        assert not any(ledger.holds(BOB, head) for head in foreign)


def tampered(number: int) -> dict[str, tuple[str, ...]]:
    move = f"UPDATE entries SET number = CASE number WHEN {number} THEN -1 ELSE number END"
    return {
        "altered": (f"UPDATE entries SET content = replace(content, 'k', 'q') WHERE number = {number}",),
        "dropped": (f"DELETE FROM entries WHERE number = {number}",),
        "dropped and closed up": (
            f"DELETE FROM entries WHERE number = {number}",
            f"UPDATE entries SET number = number - 1 WHERE number > {number}",
        ),
        "put elsewhere": (
            move,
            f"UPDATE entries SET number = {number} WHERE number = {number % 5 + 1}",
            f"UPDATE entries SET number = {number % 5 + 1} WHERE number = -1",
        ),
        "repeated": (f"INSERT INTO entries SELECT 6, content, digest FROM entries WHERE number = {number}",),
        "cut": (f"DELETE FROM entries WHERE number >= {number}",),
        "another digest": (f"UPDATE entries SET digest = zeroblob(32) WHERE number = {number}",),
    }


def test_no_entry_can_be_altered_dropped_or_moved_unnoticed(folder: Path) -> None:
    whole = (folder / LEDGER_FILE).read_bytes()
    for number in range(1, 6):
        for statements in tampered(number).values():
            edit(folder, *statements)
            with pytest.raises(LedgerError, match=r"ledger\.sqlite.*(entry \d|entries after number \d)"):
                read_ledger(folder, SECRET)
            (folder / LEDGER_FILE).write_bytes(whole)
    edit(folder, "UPDATE entries SET number = 0 WHERE number = 1")
    with pytest.raises(LedgerError, match="entry 1 was altered, dropped or put elsewhere"):
        read_ledger(folder, SECRET)


def test_the_last_entries_cannot_be_cut_off_with_their_end_unnoticed(folder: Path) -> None:
    for end in ("DELETE FROM last", "UPDATE last SET number = 3"):
        edit(folder, "DELETE FROM entries WHERE number > 3", end)
        with pytest.raises(LedgerError, match="missing"):
            read_ledger(folder, SECRET)


@pytest.mark.parametrize("kept", range(5))
def test_no_end_of_a_ledger_can_be_made_the_last_one_without_its_key(folder: Path, kept: int) -> None:
    """Attack: drop entries, and set `last` to the digest of the one before, or to the start of an empty ledger."""
    with read_ledger(folder, SECRET) as ledger:
        digest = [bytes(32), *(entry.digest for entry in ledger.entries())][kept].hex()
    for mac in (f"x'{digest}'", "mac", "zeroblob(32)"):
        edit(folder, f"DELETE FROM entries WHERE number > {kept}", f"UPDATE last SET number = {kept}, mac = {mac}")
        with pytest.raises(LedgerError, match=f"entries after number {kept} are missing"):
            read_ledger(folder, SECRET)


def test_a_ledger_that_was_emptied_is_not_taken_for_a_new_one(folder: Path) -> None:
    edit(folder, "DELETE FROM entries", "DELETE FROM last")
    with locked_folder(folder) as held, pytest.raises(LedgerError, match="missing"):
        open_ledger(held, SECRET)


def test_a_new_ledger_is_whole_before_its_first_entry(tmp_path: Path) -> None:
    for _ in range(2):
        with locked_folder(tmp_path) as held, open_ledger(held, SECRET) as ledger:
            assert len(ledger) == 0


ENDLESS = "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c)"
OTHER_PARTS = {
    "a view without end in the place of the entries": (
        "ALTER TABLE entries RENAME TO kept",
        f"CREATE VIEW entries AS {ENDLESS} SELECT x AS number, '{{}}' AS content, zeroblob(32) AS digest FROM c",
    ),
    "a view in the place of the last one": (
        "DROP TABLE last",
        f"CREATE VIEW last AS {ENDLESS} SELECT 1 AS one, x AS number, zeroblob(32) AS mac FROM c WHERE x < 0",
    ),
    "a table of other types": (
        "ALTER TABLE entries RENAME TO kept",
        "CREATE TABLE entries (number, content, digest)",
        "INSERT INTO entries SELECT * FROM kept",
        "DROP TABLE kept",
    ),
    "one table more": ("CREATE TABLE more (x)",),
    "an index": ("CREATE INDEX more ON entries (content)",),
    "a trigger that forgets": ("CREATE TRIGGER more AFTER INSERT ON entries BEGIN DELETE FROM entries; END",),
}


@pytest.mark.parametrize("statements", OTHER_PARTS.values(), ids=list(OTHER_PARTS))
def test_a_file_with_other_tables_is_refused_before_a_row_of_it_is_read(
    folder: Path, statements: tuple[str, ...]
) -> None:
    edit(folder, *statements)
    with locked_folder(folder) as held, pytest.raises(LedgerError, match="other tables"):
        open_ledger(held, SECRET)
    with pytest.raises(LedgerError, match="other tables"):
        read_ledger(folder, SECRET)


def test_a_ledger_of_another_secret_is_refused(folder: Path) -> None:
    with pytest.raises(LedgerError, match="entry 1 "):
        read_ledger(folder, bytes(32))


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def from_the_future(path: Path) -> None:
    edit(path.parent, "PRAGMA user_version = 4")


def of_another_program(path: Path) -> None:
    path.unlink()
    edit(path.parent, "CREATE TABLE entries (number)")
    path.chmod(0o600)


def without_tables(path: Path) -> None:
    edit(path.parent, "DROP TABLE last")


def not_json(path: Path) -> None:
    """Put a chained entry that no version of this program wrote."""
    with locked_folder(path.parent) as held, open_ledger(held, SECRET) as ledger:
        digest = ledger._chained(ledger._digest, 6, "[")
        connection = ledger._connection
        with connection:
            connection.execute("INSERT INTO entries VALUES (6, '[', ?)", (digest,))


DAMAGES = [zero, halve, empty, from_the_future, of_another_program, without_tables, not_json]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_refused_in_one_line_and_left_as_it_is(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / LEDGER_FILE)
    before = (folder / LEDGER_FILE).read_bytes()
    with locked_folder(folder) as held, pytest.raises(LedgerError, match=r"ledger\.sqlite") as caught:
        open_ledger(held, SECRET)
    assert "\n" not in str(caught.value)
    assert (folder / LEDGER_FILE).read_bytes() == before


def test_a_ledger_that_others_can_read_or_that_is_no_file_is_refused(folder: Path) -> None:
    (folder / LEDGER_FILE).chmod(0o640)
    with pytest.raises(LedgerError, match="0600"):
        read_ledger(folder, SECRET)
    (folder / LEDGER_FILE).rename(folder / "elsewhere")
    (folder / "elsewhere").chmod(0o600)
    (folder / LEDGER_FILE).symlink_to(folder / "elsewhere")
    with pytest.raises(LedgerError, match="0600"):
        read_ledger(folder, SECRET)
    (folder / LEDGER_FILE).unlink()
    (folder / LEDGER_FILE).mkdir(0o700)
    with pytest.raises(LedgerError, match="0600"):
        read_ledger(folder, SECRET)


def test_where_nothing_was_revealed_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no run has revealed anything yet"):
        read_ledger(tmp_path, SECRET)


def test_a_full_disk_stops_a_writer_and_leaves_a_whole_ledger(folder: Path) -> None:
    with locked_folder(folder) as held, open_ledger(held, SECRET) as ledger:
        (pages,) = ledger._connection.execute("PRAGMA page_count").fetchone()
        ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="cannot be written: database or disk is full"):
            ledger.append({**content(6), "much": "x" * 100_000})
        ledger.append(content(6))
    with read_ledger(folder, SECRET) as ledger:
        assert [json.loads(json.dumps(entry.content))["kind"] for entry in ledger.entries()][-1] == "k6"


def test_an_empty_ledger_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with locked_folder(tmp_path) as held, pytest.raises(LedgerError, match="No space left"):
        open_ledger(held, SECRET)
    assert not (tmp_path / LEDGER_FILE).exists()


def test_a_reader_sees_what_a_writer_has_added_so_far(folder: Path) -> None:
    with locked_folder(folder) as held, open_ledger(held, SECRET) as writer:
        writer.append(content(6))
        with read_ledger(folder, SECRET) as reader:
            assert len(reader) == 6
        assert isinstance(writer, Ledger)


def test_two_writers_go_on_from_each_other_and_none_from_what_is_not_whole(folder: Path) -> None:
    with locked_folder(folder) as held, open_ledger(held, SECRET) as first, join_ledger(folder, SECRET) as second:
        for ledger, number in ((first, 6), (second, 7), (second, 8), (first, 9)):
            ledger.append(content(number))
        with read_ledger(folder, SECRET) as whole:
            assert len(whole) == len(first) == 9
        edit(folder, "UPDATE entries SET content = replace(content, 'k9', 'k0') WHERE number = 9")
        with pytest.raises(LedgerError, match="entry 9 was altered"):
            second.append(content(10))
        with pytest.raises(LedgerError, match="entry 9 was altered"):
            read_ledger(folder, SECRET)


def test_what_a_writer_adds_while_a_reader_opens_is_not_taken_for_what_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry comes when the reader has seen all entries, and not yet which was the last."""
    with locked_folder(folder) as held, open_ledger(held, SECRET) as ledger:
        after = Ledger._after

        def meanwhile(reader: Ledger, last: int, before: bytes) -> Iterator[LedgerEntry]:
            yield from after(reader, last, before)
            monkeypatch.undo()
            ledger.append(content(6))

        monkeypatch.setattr(Ledger, "_after", meanwhile)
        with read_ledger(folder, SECRET) as reader:
            assert len(reader) == 5
        with read_ledger(folder, SECRET) as reader:
            assert len(reader) == 6


def test_a_disk_without_space_is_not_shown_as_a_damaged_ledger_or_journal_that_a_backup_should_replace(
    folder: Path,
) -> None:
    """A party that put an older ledger back for it would be refused by the peer from then on."""
    open_journal(folder, SECRET).close()
    with locked_folder(folder) as held:
        with no_space(), pytest.raises(LedgerError) as of_ledger:
            open_ledger(held, SECRET)
        with no_space(), pytest.raises(LedgerError) as of_reading:
            read_ledger(folder, SECRET)
        with no_space(), pytest.raises(JournalError) as of_journal:
            open_journal(folder, SECRET)
        open_ledger(held, SECRET).close()
    for caught in (of_ledger, of_reading, of_journal):
        assert "see to space and rights on its disk" in str(caught.value)
        assert "damaged" not in str(caught.value)
        assert "backup" not in str(caught.value)


KEPT = Path(__file__).parent / "kept"
FORMATS = Path(__file__).parents[3] / "party" / "FORMATS.md"


def entries(name: str) -> list[LedgerEntry]:
    lines = (KEPT / name).read_text().splitlines()
    return [LedgerEntry(number, json.loads(line), b"") for number, line in enumerate(lines, start=1)]


def test_every_kind_that_was_written_is_read_and_written_as_the_same_bytes(tmp_path: Path) -> None:
    kept = entries("entries.jsonl")
    assert {entry.content["kind"] for entry in kept} == {*ENTRY_KINDS}
    with locked_folder(tmp_path) as held, open_ledger(held, bytes(32)) as ledger:
        for entry in kept:
            assert type(entry.noted) is ENTRY_KINDS[entry.content["kind"]]
            clock = partial(datetime.fromisoformat, entry.time)
            shown = (lambda end=entry.head: end) if "shown" in entry.content else lambda: None
            PeerEntries(ledger, entry.peer, clock, shown).write(entry.noted)
        assert [json.dumps(each.content) for each in ledger.entries()] == [json.dumps(each.content) for each in kept]


def test_the_ledger_of_0_2_0_is_read_and_its_runs_asked_for_something_else_than_any_of_now() -> None:
    kept = entries("entries-0.2.0.jsonl")
    with_bob, with_alice = dealings(kept)
    said = "\n".join(line for each in (with_bob, with_alice) for line in dealings_lines(each, full=True))
    assert "8 exact counts in 2 tables at 1 node, each once" in said
    assert with_alice.told.mined == 1
    assert "6 of bob are common: 3; each side now knows which" in said
    assert "if bob followed the protocol, it could try 6 ids at most (" in said
    runs = [entry.noted for entry in kept if isinstance(entry.noted, RunEntry)]
    assert {run.agreed.learner for run in runs} == {Learner.TREE, Learner.NAIVE_BAYES}
    assert {(run.agreed.learner, run.agreed.method) for run in runs} >= {(Learner.NAIVE_BAYES, Method.HYBRID)}
    assert {run.reveal_key for run in runs}.isdisjoint(reveal_key_text(run.agreed) for run in runs)
    assert len(with_bob.telling) == len([run for run in runs if run.run in with_bob.runs]) == 2
    assert {entry.content["kind"] for entry in kept} & {*BYGONE} == {"gains"}
    for rows in (False, True):
        (aligned,) = past_alignments(kept, "case", rows=rows)
        assert (aligned.both, aligned.session, aligned.people) == (None if rows else 3, b"", b"")


def test_the_page_of_formats_has_a_row_for_each_kind_with_all_its_fields() -> None:
    table = FORMATS.read_text().split("| kind | further fields |")[1].split("\n\n")[0]
    rows = dict(re.findall(r"^\| `([a-z ]+)` \| (.*) \|$", table, re.MULTILINE))
    assert sorted(rows) == sorted(ENTRY_KINDS)
    for kind, declared in ENTRY_KINDS.items():
        codes = " ".join(re.findall(r"`([^`]+)`", rows[kind]))
        of_all = {each.name for each in fields(EntryOfRun)} | {"way"}
        missing = {json_name(each) for each in fields(declared)} - of_all - {*re.findall(r"class values|\w+", codes)}
        assert not missing, kind
