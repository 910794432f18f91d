"""What each party learns of the other in a run, fact by fact: what a ledger keeps (DESIGN 12).

A role yields `Note(fact)` before the message that sends it leaves, and after one that brought it has come. Who reads
all facts of a run knows all that the other side has, beyond the agreement. Ciphertexts and keys say nothing: the
evaluator's reply does, and precedes a fact without numbers, since it does not know them yet.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from protocols.counts import Query
from protocols.role import Fact
from protocols.tables import Expression


class Way(StrEnum):
    """Who learns: the peer of us, we of the peer, or both the same numbers at once."""

    TOLD = "told"
    LEARNED = "learned"
    BOTH = "both"


class ClassCountsFact(Fact):
    """How many training records each class has."""

    way: Way
    values: tuple[int, ...]


class CopyFact(Fact):
    """A disguised copy, by a digest under our own secret; its design is part of the agreement."""

    way: Way
    digest: bytes


class WindowsFact(Fact):
    """Which candidates of these nodes are ranked highest; `windows` are None while we do not know them."""

    way: Way
    queries: tuple[Query, ...]
    windows: tuple[tuple[int, ...], ...] | None


class CountsFact(Fact):
    """Exact counts of all candidates of these nodes, in the order queries, candidates, values, classes.

    `values` are None while we do not know them: the peer is about to decrypt them.
    """

    way: Way
    queries: tuple[Query, ...]
    values: tuple[int, ...] | None


class MinedFact(Fact):
    """A tree of this many nodes and bits, mined from the class holder's true columns and the other side's copy."""

    way: Way
    nodes: int
    bits: Fraction


class CorrectFact(Fact):
    """How many held-out records the tree classifies correctly; `count` is None while we do not know it."""

    way: Way
    count: int | None
    tests: int


class SetsFact(Fact):
    """How many records have each of these sets of items; `values` are None while we do not know them."""

    way: Way
    sets: tuple[Expression, ...]
    values: tuple[int, ...] | None


class AlignmentFact(Fact):
    """How many people both list, and with `named` which they are: each side learns it of its own list.

    `session` names the session, `lists` are commitments to the two lists, ours and the peer's. `tries` is how many ids
    the peer could try in it, `least` how many common ones both had asked for: whether they are as many is learned, too.
    `both` is None while we do not know it: the peer is about to. `people` is a digest under our own secret of who they
    are, empty while we do not know or do not learn it.
    """

    session: bytes
    lists: tuple[bytes, bytes]
    mine: int
    yours: int
    tries: int
    least: int = 0
    both: int | None = None
    named: bool = False
    people: bytes = b""
    about: bool = False


class ModelFact(Fact):
    """The finished model, which both hold, by its digest."""

    digest: bytes


@dataclass(frozen=True, repr=False)
class AskedRow:
    """A row that is asked: whose, the asker's commitment to its columns, and the answerer's columns of it, in bytes."""

    person: str
    commitment: bytes
    own: bytes


class AnsweringFact(Fact):
    """The peer is about to learn the outcomes of these rows, which we do not know."""

    asked: tuple[AskedRow, ...]


class AnswersFact(Fact):
    """We have learned the outcomes of these people's rows, as their positions among the tree's."""

    people: tuple[str, ...]
    outcomes: tuple[int, ...]


class CrosstabFact(Fact):
    """The cells of the table that was agreed are about to be opened to both."""


class ComparedFact(Fact):
    """Whether a content of ours is the peer's too, which both hear; `same` is None while we do not know it.

    `what` is compared, `about` our content, or what names the lists of which spellings are compared.
    """

    what: str
    about: bytes
    same: bool | None
