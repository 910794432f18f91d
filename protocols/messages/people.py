"""How two parties find the people whom both list, by values of a random function (DESIGN 13)."""

from dataclasses import dataclass
from fractions import Fraction

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

    The commitment is keyed by a secret that never leaves: it names a list, and confirms no guess. `least` is the share
    of the receiver's ids that must be the sender's, or it goes no further.
    """

    ids: int
    form: IdForm
    commitment: bytes
    least: Fraction = Fraction(0)


@dataclass(frozen=True, repr=False)
class ValuesPage(Message):
    """For each of the sender's ids three values of its random function, 10 bytes each, in ascending order of the first.

    The receiver, who has asked for one value in each place of its table, learns which of its ids are the sender's; all
    other values are random to it.
    """

    values: bytes


@dataclass(frozen=True, repr=False)
class CommonRows(Message):
    """Which of the rows of values that the receiver has sent are of ids of the sender's: a bit each.

    The receiver learns which of its ids the sender has too; of the sender's other ids, nothing.
    """

    rows: bytes
