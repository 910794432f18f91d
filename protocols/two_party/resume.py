"""What both parties have kept of a run that goes on (DESIGN 12): found in one exchange, before its first step.

Resume is memory, not replay: a step whose result both have kept is taken from there, the first one that either lacks is
done again. Copies are the same whenever they are asked for, ciphertexts are drawn anew, an answer told twice is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from protocols.answers import KeptAnswers, answers_digest
from protocols.errors import DeviationError
from protocols.messages import KeptParts
from protocols.randomness import keyed_digest
from protocols.role import Kept, Part, Role, exchange

NO_KEY = bytes(32)


@dataclass(frozen=True)
class Resumed:
    """What need not be sent or asked again.

    Args:
        answers: Of which both remember so many.
        copy: The peer's disguised copy, where both have the other's.
        kept: What we have kept, for encrypted coins; None in a run that begins.
        nonces: Of both, which key digests.
        own_key, peer_key: Digests of the key that our, and the peer's, kept ciphertexts are under.
        there: How many bytes of ciphertexts the peer has kept.
    """

    answers: KeptAnswers = field(default_factory=KeptAnswers)
    copy: bytes | None = None
    kept: Kept | None = None
    nonces: bytes = b""
    own_key: bytes = NO_KEY
    peer_key: bytes = NO_KEY
    there: int = 0

    def pages(self, fingerprint: str) -> Iterator[bytes] | None:
        """Yield the peer's ciphertexts that we have kept; None if there are none under this key."""
        if self.kept is None or self.own_key != kept_key_digest(self.nonces, fingerprint.encode()):
            return None
        return islice(self.kept.recall(Part.COINS), 1, None)

    def sent_before(self, fingerprint: str) -> int:
        """Return how many bytes of ciphertexts under our key the peer has kept."""
        return self.there if self.peer_key == kept_key_digest(self.nonces, fingerprint.encode()) else 0


def kept_key_digest(nonces: bytes, fingerprint: bytes) -> bytes:
    """Return a digest of a public key, for one session."""
    return keyed_digest(nonces, b"kept key", fingerprint)


def resume(kept: Kept | None, nonces: bytes) -> Role[Resumed]:
    """Compare what both have kept; nothing crosses in a run that begins.

    Args:
        kept: Ours; both have some or none, as they have agreed.
        nonces: Of both sides in this session.

    Discloses: how much of what the peer has told or sent in this run we have not lost.

    Raises:
        DeviationError: The answers that the peer remembers are others than ours.
    """
    if kept is None:
        return Resumed(nonces=nonces)
    answers = tuple(kept.recall(Part.ANSWERS))
    copy = next(kept.recall(Part.COPY), None)
    fingerprint = next(kept.recall(Part.COINS), None)
    key = NO_KEY if fingerprint is None else kept_key_digest(nonces, fingerprint)
    coins = sum(map(len, islice(kept.recall(Part.COINS), 1, None)))
    digest = answers_digest(nonces, answers)
    theirs = yield from exchange(KeptParts(len(answers), digest, copy is not None, coins, key))
    common = min(len(answers), theirs.answers)
    if theirs.answers == common and theirs.digest != answers_digest(nonces, answers[:common]):
        raise DeviationError
    both = copy if theirs.copy else None
    return Resumed(KeptAnswers(answers, common), both, kept, nonces, key, theirs.key, theirs.coins)
