"""Comparisons of whole lists and classes: which is on record, and how long the next has to wait (DESIGN 3).

A peer that knows all but a few of our ids, or of a class that both hold, hears of one guess per session. Each is an
entry before it is answered. While we do not know that both have the same, it counts as refused: also where the line was
lost, as a peer that has heard the answer may break off. Three are free; from then on the wait before the next session
doubles with each, from two seconds to a day. An alignment in the same session settles that the lists differed: it is on
record itself, and bounded. What both were found to hold is no guess any more.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from party.records.ledger import LedgerEntry, PeerEntries, PeerName, date_text
from party.records.ledger_entries import ComparisonEntry
from protocols.facts import ComparedFact
from protocols.jobs import Job
from protocols.randomness import keyed_digest
from protocols.two_party.equality import CLASSES
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection

FREE: Final = 3
LONGEST: Final = timedelta(days=1)
_BYTES: Final = 16


@dataclass(repr=False)
class Comparisons:
    """Those with one peer; `refused` before this session, and `open` in it, are not known to have found the same."""

    entries: PeerEntries
    local: PartyInputs
    refused: tuple[datetime, ...]
    open: list[ComparedFact] = field(default_factory=list)

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a session that begins too soon; a clock that was put back keeps nobody waiting."""
        del job  # each compares a list
        now = self.entries.clock()
        last = max(self.refused, default=now)
        until = last + wait_after(len(self.refused))
        if not last <= now < until:
            return None
        return Objection(
            "comparisons",
            f"{len(self.refused):,} comparisons of whole lists with {self.entries.peer.name} have found a difference "
            f"or had no end, and each may be a guess at ours: the next may begin at {date_text(until)}; meanwhile "
            "compare by other means how both sides write their ids",
        )

    def note(self, fact: ComparedFact) -> None:
        """Note a comparison before it is answered, and that it found the same; not of what is known to be the same."""
        known = self.entries.noted(ComparisonEntry, self.local.dataset)
        if self._about(fact) not in {each.about for each in known if each.same}:
            self.open = [each for each in self.open if each.about != fact.about] + ([] if fact.same else [fact])
            self._write(fact)

    def settle(self) -> None:
        """Note that an alignment has shown in what the lists of this session differ."""
        for fact in self.open:
            if fact.what != CLASSES:
                self._write(replace(fact, same=False))
        self.open = []

    def _write(self, fact: ComparedFact) -> None:
        self.entries.write(ComparisonEntry(self.local.dataset, fact.what, self._about(fact), fact.same))

    def _about(self, fact: ComparedFact) -> bytes:
        return keyed_digest(self.local.secrets.coins, b"compared", fact.what.encode(), fact.about)[:_BYTES]


def comparisons_of(entries: PeerEntries, local: PartyInputs) -> Comparisons:
    """Read what is on record."""
    refused = refused_comparisons(entries.ledger.entries(), entries.peer, local.dataset)
    return Comparisons(entries, local, tuple(refused))


def wait_after(refused: int) -> timedelta:
    """Return how long the next comparison has to wait after this many that were refused.

    >>> [wait_after(number).total_seconds() for number in (0, 3, 4, 5, 10, 1000)]
    [0.0, 0.0, 2.0, 4.0, 128.0, 86400.0]
    """
    doublings = min(refused - FREE, 30)
    return min(timedelta(seconds=2**doublings), LONGEST) if doublings > 0 else timedelta(0)


def refused_comparisons(entries: Iterable[LedgerEntry], peer: PeerName, dataset: str) -> list[datetime]:
    """Return when each comparison was that is neither known to have found the same, nor settled."""
    left: list[tuple[bytes, datetime]] = []
    for entry in entries:
        said = entry.noted
        if not isinstance(said, ComparisonEntry) or (said.dataset, entry.peer) != (dataset, peer):
            continue
        if said.same is None:
            left.append((said.about, datetime.fromisoformat(entry.time)))
        elif said.same:
            left = [each for each in left if each[0] != said.about]
        else:
            del left[max(place for place, each in enumerate(left) if each[0] == said.about)]
    return [moment for _, moment in left]
