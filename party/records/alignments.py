"""Who is common, as alignments found it: one list per data set, and what the ledger says of those before (DESIGN 13).

`alignments.json` holds our own ids alone, in the order that both sides have, and the commitments to the two lists that
were compared. A digest with the owner's secret keeps an edited file from being obeyed.
"""

import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from party.errors import ConfigError
from party.files import is_there, read_bytes, write_atomically, write_new
from party.records.json_codec import from_json, to_json
from party.records.ledger import LedgerEntry, PeerEntries, noted
from party.records.ledger_entries import AlignmentEntry
from protocols.facts import AlignmentFact
from protocols.randomness import keyed_digest

ALIGNMENTS_FILE = "alignments.json"
_FORMAT = "cotally-alignments/1"
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, repr=False)
class KeptPeople:
    """Who of two lists are common: our ids, in the order of both sides; `lists` are commitments, to ours and theirs."""

    peer: str
    lists: tuple[bytes, bytes]
    people: tuple[str, ...]


def note_alignment(entries: PeerEntries, dataset: str, fact: AlignmentFact, *, rows: bool = False) -> None:
    """Put into the ledger what both sides are about to learn, or have; with `rows`, of people to classify."""
    fields = {name: value for name, value in vars(fact).items() if name != "about"}
    entries.write(AlignmentEntry(dataset=dataset, rows=rows, **fields))


def past_alignments(entries: Iterable[LedgerEntry], dataset: str, *, rows: bool = False) -> list[AlignmentEntry]:
    """Return the last entry of each alignment over a data set, with any peer: of its records, or of people to classify.

    Those of the same lists count, too; 0.2.0 named no sessions, so one pair of lists is one alignment of it.
    """
    said = (each for each in noted(entries, AlignmentEntry, dataset) if each.rows == rows)
    return list({(each.session or each.lists): each for each in said}.values())


def keep_alignment(
    folder: Path, key: bytes, dataset: str, peer: str, lists: tuple[bytes, bytes], people: Sequence[str]
) -> None:
    """Write who is common, in place of what was there for the data set; who calls holds the lock of the folder."""
    path = folder / ALIGNMENTS_FILE
    kept = _read(path, key)
    kept[dataset] = to_json(KeptPeople(peer, lists, tuple(people)))
    content = {"format": _FORMAT, "alignments": kept, "check": _check(kept, key)}
    if not is_there(path):
        write_new(path, b"", 0o600)  # which what replaces it keeps
    write_atomically(path, json.dumps(content, ensure_ascii=False, indent=0) + "\n")


def kept_people(folder: Path, key: bytes, dataset: str, peer: str | None, own_list: bytes) -> Sequence[str] | None:
    """Return whom both list, in the order of both, if our list is the one that was compared with this peer's."""
    found = _read(folder / ALIGNMENTS_FILE, key).get(dataset)
    known = None if found is None else from_json(KeptPeople, found)
    return known.people if known is not None and (known.peer, known.lists[0]) == (peer, own_list) else None


def _check(kept: object, key: bytes) -> str:
    return keyed_digest(key, b"alignments", json.dumps(kept, sort_keys=True).encode()).hex()


def _read(path: Path, key: bytes) -> dict[str, Any]:
    if not path.exists() or path.stat().st_size == 0:  # an empty one is left where a first writing was cut off
        return {}
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
        kept, check = content["alignments"], content["check"]
        fits = content["format"] == _FORMAT and hmac.compare_digest(_check(kept, key), check)
    except (ValueError, KeyError, TypeError, RecursionError):
        fits = False
    if not fits:
        raise ConfigError(f"{path} is damaged or edited, or belongs to another secret.key: remove it and align again")
    found: dict[str, Any] = kept
    return found
