"""Which exact counts both parties remember: found by digests, before the first one is asked for (DESIGN 12)."""

from typing import Final

from protocols.counts import CountKey, KnownCounts
from protocols.errors import PeerError
from protocols.messages import KnownDigests
from protocols.randomness import keyed_digest
from protocols.role import Role, exchange

_DIGEST: Final = 32
MOST_KNOWN: Final = 1 << 18  # tables: what does not fit one message is asked again
NOTHING_KNOWN: Final[KnownCounts] = {}


def agree_on_known(own: KnownCounts, nonces: bytes) -> Role[KnownCounts]:
    """Return the counts that both know, equal on both sides.

    Args:
        own: What we know of these tables, told without noise.
        nonces: Of the run; they key the digests.

    Discloses: how many counts we know; of each that the peer knows too, that we do. A peer that has forgotten some may
    confirm guesses of them: they have been told to it, or were about to be.

    Raises:
        PeerError: The peer's digests cannot be digests.
    """
    digests = {_digest(nonces, key, own): key for key in own}
    sent = sorted(digests)[:MOST_KNOWN]
    theirs = (yield from exchange(KnownDigests(b"".join(sent)))).digests
    if len(theirs) % _DIGEST:
        raise PeerError("the peer's digests of known counts have the wrong length")
    shown = {theirs[start : start + _DIGEST] for start in range(0, len(theirs), _DIGEST)}
    return {digests[digest]: own[digests[digest]] for digest in sent if digest in shown}


def _digest(nonces: bytes, key: CountKey, known: KnownCounts) -> bytes:
    path, candidate = key
    terms = sorted(f"{term.column}={term.value}" for term in path)
    content = f"{terms} {candidate} {known[key].astype(int).tolist()}"
    return keyed_digest(nonces, b"known count", content.encode())
