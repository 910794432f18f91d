"""How two parties find the people whom both list, by points of their ids (DESIGN 13)."""

from dataclasses import dataclass

from protocols.identifiers import IdForm
from protocols.role import Message


@dataclass(frozen=True, repr=False)
class PeopleOffer(Message):
    """How many records the sender brings, and whether it would find the people of both lists, should these differ."""

    records: int
    aligns: bool = False


@dataclass(frozen=True, repr=False)
class IdList(Message):
    """How many ids the sender brings to an alignment, in which normal form, and what tells this list from another.

    The commitment is keyed by a secret that never leaves: it shows that the same list is brought again, and confirms
    no guess.
    """

    ids: int
    form: IdForm
    commitment: bytes


@dataclass(frozen=True, repr=False)
class BlindedPage(Message):
    """Points of the sender's ids, times its secret number, in ascending order, so that the order tells nothing.

    Under DDH they are to the receiver as good as random points: no guess of an id can be tried on them.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class ReblindedPage(Message):
    """The receiver's blinded points times the sender's secret number, in ascending order; not where they only count.

    The receiver learns how many of the sender's ids are among its own, and not which: it cannot tell which of its ids
    is behind which point, unless it has deviated, and hidden each by a number of its own.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class PlacesPage(Message):
    """For each of the receiver's blinded points, its place among the reblinded ones, in four bytes.

    The receiver learns which of its ids the sender has too; of the sender's other ids, nothing.
    """

    places: bytes


@dataclass(frozen=True, repr=False)
class ListCommitment(Message):
    """How many entries the list has that the sender tells next, and a digest of it, bound to sender and session.

    Both sides send theirs before either list, so that none depends on the other.
    """

    entries: int
    digest: bytes


@dataclass(frozen=True, repr=False)
class HiddenPage(Message):
    """Joint points (`overlap`), hashed to points, times a second secret number of the sender, in ascending order.

    Under DDH they are to the receiver as good as random points.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class CountedPage(Message):
    """Digests of the receiver's hidden points times the sender's second number, 16 bytes each, in ascending order.

    The receiver learns how many of its joint points are the sender's too, which is how many people both list.
    """

    points: bytes
