"""Entries of ledgers that were written: each kind is read, and written again as the same bytes; 0.2.0's are read."""

import json
import re
from dataclasses import fields
from datetime import datetime
from functools import partial
from pathlib import Path

from party.files import locked_folder
from party.records.alignments import past_alignments
from party.records.json_codec import json_name
from party.records.ledger import LedgerEntry, PeerEntries, open_ledger
from party.records.ledger_entries import BYGONE, ENTRY_KINDS, EntryOfRun, RunEntry, asking_text
from party.records.tally import dealings
from party.show.ledger import dealings_lines
from protocols.terms import Learner, Method

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
    assert "bob tried 6 ids at most; if" in said
    runs = [entry.noted for entry in kept if isinstance(entry.noted, RunEntry)]
    assert {run.agreed.learner for run in runs} == {Learner.TREE, Learner.NAIVE_BAYES}
    assert {(run.agreed.learner, run.agreed.method) for run in runs} >= {(Learner.NAIVE_BAYES, Method.HYBRID)}
    assert {run.asking for run in runs}.isdisjoint(asking_text(run.agreed) for run in runs)
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
