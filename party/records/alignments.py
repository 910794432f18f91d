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
from party.records.entries import PeerPages
from party.records.ledger import LedgerEntry
from protocols.facts import AlignmentFact
from protocols.randomness import keyed_digest

ALIGNMENTS_FILE = "alignments.json"
_FORMAT = "cotally-alignments/1"
_KIND = "alignment"
_MOST_BYTES = 1 << 30

Lists = tuple[str, str]
"""Commitments to two lists, ours and the peer's, as hexadecimal digits."""


@dataclass(frozen=True)
class PastAlignment:
    """An alignment that was begun over a data set: of which lists, and a digest of who is common, if that was found."""

    lists: Lists
    people: str = ""


def note_alignment(pages: PeerPages, dataset: str, fact: AlignmentFact, *, rows: bool = False) -> None:
    """Put into the ledger what both sides are about to learn, or have; with `rows`, of people to classify."""
    content = {"dataset": dataset, "session": fact.session.hex(), "lists": list(hexed(fact.lists)), "mine": fact.mine}
    found = {"yours": fact.yours, "tries": fact.tries, "least": fact.least, "both": fact.both, "named": fact.named}
    pages.write(_KIND, {**content, **found, "people": fact.people.hex(), "rows": rows})


def hexed(lists: tuple[bytes, bytes]) -> Lists:
    """Return both commitments as text."""
    return lists[0].hex(), lists[1].hex()


def past_alignments(entries: Iterable[LedgerEntry], dataset: str, *, rows: bool = False) -> list[PastAlignment]:
    """Return the alignments over a data set, with any peer, those of the same lists too, each session once.

    Those of its records, or with `rows` those of people who were to be classified.
    """
    found: dict[str, PastAlignment] = {}
    for entry in entries:
        content: Any = entry.content
        if content["kind"] == _KIND and content["dataset"] == dataset and content["rows"] == rows:
            ours, theirs = content["lists"]
            found[content["session"]] = PastAlignment((ours, theirs), content["people"])
    return list(found.values())


def was_run_over(entries: Iterable[LedgerEntry], dataset: str) -> bool:
    """Return whether a run over this data set has begun."""
    return any(entry.content["kind"] == "run" and entry.content["dataset"] == dataset for entry in entries)


def keep_alignment(
    folder: Path, key: bytes, dataset: str, peer: str, lists: tuple[bytes, bytes], people: Sequence[str]
) -> None:
    """Write who is common, in place of what was there for the data set; who calls holds the lock of the folder."""
    path = folder / ALIGNMENTS_FILE
    kept = _read(path, key)
    kept[dataset] = {"peer": peer, "lists": list(hexed(lists)), "people": list(people)}
    content = {"format": _FORMAT, "alignments": kept, "check": _check(kept, key)}
    if not is_there(path):
        write_new(path, b"", 0o600)  # which what replaces it keeps
    write_atomically(path, json.dumps(content, ensure_ascii=False, indent=0) + "\n")


def kept_people(folder: Path, key: bytes, dataset: str, peer: str | None, own_list: bytes) -> list[str] | None:
    """Return whom both list, in the order of both, if our list is the one that was compared with this peer's."""
    found = _read(folder / ALIGNMENTS_FILE, key).get(dataset)
    if found is None or found["peer"] != peer or found["lists"][0] != own_list.hex():
        return None
    people: list[str] = found["people"]
    return people


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
