"""How many points of two lists are the same, and no more than that, even to a peer with a number for each (DESIGN 13).

Both sides hold *joint points*: ids under both secret numbers, the peer's as we have made them, ours as it has. Were
they shown at once, a peer that hides each of its ids by a number of its own would know them again, and read who is
common where it is to learn how many. No proof of one number helps: nobody else knows what the peer's points are
multiples of, and any points are multiples of some by any number. So joint points are hashed to other points, and
compared by the same game once more, with second numbers:

    hidden       each joint point, hashed to a point, times a second secret number, ascending, both ways
    commitments  digests of what is told next, both ways
    counted      a digest of each of the other's hidden points times one's own second number, ascending, both ways

A multiple of a joint point hashes to an unrelated point. So who has K numbers for its ids must choose one of them for
each of our points, not knowing whose that is: it counts the K-th part of what is common, and with a number for each id
it finds one person on average, of any number. Hidden points are the same whenever the same lists are compared, and a
peer that shows others is refused: so it chooses once. What is counted is keyed by the session, and committed to: nobody
can repeat, as its own, what we say, now or the next time.

Of long lists a sample is compared that no side can choose: the joint points with a small abscissa.

Shuffles of blinded sets against curious parties: De Cristofaro, Gasti and Tsudik, Fast and Private Computation of
Cardinality of Set Intersection and Union (CANS 2012); against parties that deviate, the second pass is ours.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final, TypeVar

import numpy as np

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points
from protocols.ciphers.curve import POINT_BYTES
from protocols.errors import PeerError
from protocols.messages import CountedPage, HiddenPage, ListCommitment
from protocols.randomness import keyed_digest
from protocols.role import Phase, Role, exchange
from protocols.two_party.point_lists import PAGE_IDS, Encoded, encoded, exchange_lists, worked_out
from protocols.work import Workers

SAMPLED_POINTS: Final = 4096
COUNTED_BYTES: Final = 16
FEW_MATCHED: Final = 16
_FRACTION_BITS: Final = 32
_FAR: Final = 8.0  # standard deviations, which chance does not pass once in 10**14 times


_Told = TypeVar("_Told", HiddenPage, CountedPage)


@dataclass(frozen=True)
class Sample:
    """The joint points that are compared: those whose abscissa begins with 32 bits below `limit`; None for all."""

    limit: int | None = None

    @classmethod
    def of(cls, mine: int, yours: int) -> "Sample":
        """Return a sample of about `SAMPLED_POINTS` of the shorter list's points, or all."""
        fewer = min(mine, yours)
        return cls() if fewer <= SAMPLED_POINTS else cls((SAMPLED_POINTS << _FRACTION_BITS) // fewer)

    @property
    def share(self) -> float:
        """The share of all points that it takes."""
        return 1.0 if self.limit is None else self.limit / (1 << _FRACTION_BITS)

    def taken(self, points: Encoded) -> Encoded:
        """Return the points of the sample."""
        if self.limit is None:
            return points
        starts = np.frombuffer(points.tobytes(), dtype=np.uint8).reshape(-1, POINT_BYTES)[:, 1:5]
        return points[np.ascontiguousarray(starts).view(">u4").ravel() < self.limit]

    def most(self, points: int) -> int:
        """Return how many of so many points can be in it."""
        mean = self.share * points
        return min(points, ceil(mean + _FAR * sqrt(mean) + _FAR))

    def estimate(self, matched: int) -> int:
        """Return about how many are common where so many of the sample are."""
        return round(matched / self.share)

    def is_few(self, matched: int) -> bool:
        """Tell whether so few of a sample are common that a peer with a number for each id finds as many by chance.

        It finds one on average, by Poisson's law: 16 or more once in 10**13 times.
        """
        return self.limit is not None and matched < FEW_MATCHED

    def likely_most(self, matched: int) -> int:
        """Return how many are common at most, but for three times the standard error."""
        return matched if self.limit is None else ceil((matched + 3 * sqrt(matched) + 3) / self.share)


@dataclass(frozen=True, repr=False)
class Overlapping:
    """One side's part of counting.

    Discloses: how many of the peer's joint points are ours; to one that deviates, what the module says.

    Args:
        party: Our name.
        peer: The peer's.
        nonces: Of the `Opening`.
        secret: Our second number.
        home: Workers of this machine.
        most: How many points the peer can have in the sample.
    """

    party: str
    peer: str
    nonces: bytes
    secret: int
    home: Workers
    most: int

    def exchange_hidden(self, joint: Encoded) -> Role[tuple[Encoded, int]]:
        """Hide our joint points, and exchange them; return the peer's, and how many ours are.

        Discloses: how many joint points we compare; under DDH nothing of them.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        raw = joint.tobytes()
        names = [raw[start : start + POINT_BYTES].hex() for start in range(0, len(raw), POINT_BYTES)]
        tasks = [IdsToBlind(self.secret, names[start : start + PAGE_IDS]) for start in range(0, len(names), PAGE_IDS)]
        own = np.sort((yield from worked_out(self.home, Phase.OVERLAP, blind_ids, tasks, len(names))))
        return (yield from self._exchange_committed(HiddenPage, own, POINT_BYTES, self.most)), len(own)

    def count(self, hidden: Encoded, ours: int) -> Role[int]:
        """Tell of the peer's hidden points what both sides have, and hear it of ours; return how many are the same.

        Discloses: how many of the peer's joint points are ours.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        pages = (hidden[start : start + PAGE_IDS] for start in range(0, len(hidden), PAGE_IDS))
        tasks = [PointsToBlind(self.secret, page.tobytes()) for page in pages]
        both = (yield from worked_out(self.home, Phase.OVERLAP, blind_points, tasks, len(hidden))).tobytes()
        digests = (
            keyed_digest(self.nonces, b"counted", both[start : start + POINT_BYTES])[:COUNTED_BYTES]
            for start in range(0, len(both), POINT_BYTES)
        )
        own = np.sort(encoded(b"".join(digests), COUNTED_BYTES))
        theirs = yield from self._exchange_committed(CountedPage, own, COUNTED_BYTES, ours)
        if len(theirs) != ours:
            raise PeerError("the peer does not answer for each of our points")
        return int(np.isin(theirs, own).sum())

    def _exchange_committed(self, kind: type[_Told], own: Encoded, size: int, most: int) -> Role[Encoded]:
        """Commit to a list, exchange lists, and hold the peer to its commitment.

        Raises:
            PeerError: It has more entries than it can have, or is another than was committed to.
        """
        ahead = yield from exchange(ListCommitment(len(own), self._digest(kind, self.party, own)))
        if ahead.entries > most:
            raise PeerError("the peer compares more points than it can have")
        theirs = yield from exchange_lists(kind, own, ahead.entries, size)
        if self._digest(kind, self.peer, theirs) != ahead.digest:
            raise PeerError("the peer does not keep to the points that it has committed to")
        return theirs

    def _digest(self, kind: type, sender: str, entries: Encoded) -> bytes:
        """Return a commitment of one side, in one session, to one list: nobody can repeat another's."""
        return keyed_digest(self.nonces, kind.__name__.encode(), sender.encode(), entries.tobytes())
