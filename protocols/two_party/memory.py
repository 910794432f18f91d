"""Two ledgers side by side: a memory that was restored from a backup, or deleted, is noticed (DESIGN 12, FAULTS 66).

Each party keeps what it told and learned in a chain of entries, and the end of the other's chain, its *head*, as it was
last shown. A chain only grows: a peer that shows fewer entries than before, or whose chain does not lead through the
head that we keep, has lost what it knew, and with it what keeps a second release from undoing the first. The
first is seen by us, the second by itself. With the heads goes which run each would go on with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from protocols.messages import MemoryHeads, SignedHead
from protocols.randomness import canonical, keyed_digest
from protocols.role import Role, exchange
from protocols.two_party.agreement import Objection, settle

HEAD_BYTES: Final = 32


@dataclass(frozen=True)
class LedgerHead:
    """The end of a chain: number of entries, and the digest of the last one."""

    entries: int
    digest: bytes


NO_HEAD: Final = LedgerHead(0, bytes(HEAD_BYTES))


@dataclass(frozen=True)
class OpenRuns:
    """Runs with the peer that have not ended, as far as we know.

    Args:
        same: Names one of this very job, or is empty.
        other: What we object to in beginning another: one of the same kind of job on other terms.
        fresh: Whether to begin anew all the same.
    """

    same: bytes = b""
    other: Objection | None = None
    fresh: bool = False


NO_RUNS: Final = OpenRuns()


@dataclass(frozen=True)
class Compared:
    """What the peer has shown: its head, whether both go on with the run that we have named, or it begins anew."""

    head: LedgerHead
    goes_on: bool = False
    fresh: bool = False


def run_name(nonces: bytes) -> bytes:
    """Return what names a run that begins in a session with these nonces: 8 bytes."""
    return keyed_digest(nonces, b"run")[:8]


def compare_memories(
    own: LedgerHead,
    known: LedgerHead,
    holds: Callable[[LedgerHead], bool],
    peer: str,
    runs: OpenRuns = NO_RUNS,
) -> Role[Compared]:
    """Show each other both heads and open runs, and go on only if neither side has forgotten.

    Args:
        own: Of our entries about this peer.
        known: The peer's, as it was last shown to us.
        holds: Whether our chain leads through this head.
        peer: The peer's name.
        runs: Ours with the peer.

    Discloses: how many entries we have about the peer, and whether our memory is older than the one it was shown; the
    name of a run of this job that we have not seen end, and whether there is one on other terms.

    Raises:
        DisagreementError: One side's memory is older than it was, or has another run to end first.
    """
    named = b"" if runs.fresh else runs.same
    shown = yield from exchange(
        MemoryHeads(own.entries, own.digest, known.entries, known.digest, named, fresh=runs.fresh)
    )
    theirs, ours = LedgerHead(shown.entries, shown.digest), LedgerHead(shown.known_entries, shown.known_digest)
    fresh = runs.fresh or shown.fresh
    yield from settle(_objection(theirs, known, holds(ours), peer) or (None if fresh else runs.other))
    return Compared(theirs, goes_on=bool(named) and shown.run == named, fresh=fresh)


def _objection(theirs: LedgerHead, known: LedgerHead, holds: bool, peer: str) -> Objection | None:
    if not holds:
        return Objection(
            "memory",
            f"our ledger is not the one that {peer} was last shown: it was deleted or restored from an older backup; "
            "put the latest one back, or begin anew under a new key and a new [data] dataset",
        )
    if theirs.entries < known.entries or (theirs.entries == known.entries and theirs != known):
        return Objection(
            "memory",
            f"{peer} shows a ledger of {theirs.entries} entries about us, and had {known.entries} before: it was "
            "deleted or restored from an older backup, and must be put back",
        )
    return None


def head_statement(signer: str, receiver: str, nonces: bytes, head: LedgerHead) -> bytes:
    """Return the bytes that a signature of a head is made over; the nonces name the run."""
    count = head.entries.to_bytes(8, "big")
    return canonical(b"cotally ledger head", signer.encode(), receiver.encode(), nonces, count, head.digest)


def exchange_heads(own: LedgerHead, signature: bytes) -> Role[SignedHead]:
    """Hand each other the end of the ledger; whether the peer's signature is good is the caller's to check.

    Discloses: how many entries we have about the peer.
    """
    return (yield from exchange(SignedHead(own.entries, own.digest, signature)))
