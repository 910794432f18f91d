"""Two parties that align lists of ids, in one process."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from protocols.facts import AlignmentFact
from protocols.identifiers import USUAL_FORM, IdForm
from protocols.role import Effect, Note, Role, Transcript, run_pair
from protocols.tables import Attribute, Table
from protocols.two_party.alignment import Aligned, Overlap, align
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.two_party.objections import Objection
from tests.support.duel import watched
from tests.support.parties import NO_LIMITS, key_holder

NONCES = b"nonces of both"


def listing(party: str, ids: Iterable[str], form: IdForm = USUAL_FORM, dataset: str = "d") -> PartyInputs:
    """Return what a party with these ids brings: one column, which alignment does not touch."""
    records = tuple(ids)
    table = Table((Attribute(party, "x", ("v",)),), np.zeros((len(records), 1), dtype=np.uint8))
    number = 0 if party == "alice" else 1
    keys = Secrets(bytes([number]) * 32, key_holder(number), secrets)
    return PartyInputs(party, table, False, records, ((0,),), dataset, keys, limits=NO_LIMITS, form=form)


@dataclass
class Judge:
    """Objects where it is told to, and remembers what it was asked."""

    least: Fraction = Fraction(0)
    to_list: Objection | None = None
    to_people: Objection | None = None
    lists: list[tuple[bytes, bytes]] = field(default_factory=list)
    few: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)
    people: list[bytes] = field(default_factory=list)
    overlaps: list[Overlap] = field(default_factory=list)

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        del mine, yours
        self.lists.append(lists)
        return self.to_list

    def judge_few(self, yours: int, least: int, alike: tuple[str, ...]) -> Objection:
        self.few.append((yours, least, alike))
        return Objection("overlap", "too few")

    def judge_people(self, overlap: Overlap, lists: tuple[bytes, bytes], people: bytes) -> Objection | None:
        del lists
        self.overlaps.append(overlap)
        self.people.append(people)
        return self.to_people


def noting(role: Role[Aligned], note: Callable[[AlignmentFact], None]) -> Role[Aligned]:
    """Play a role, and note what it notes."""

    def see(effect: Effect) -> None:
        if isinstance(effect, Note) and isinstance(effect.fact, AlignmentFact):
            note(effect.fact)

    return watched(role, see)


@dataclass
class Match:
    """An alignment of two lists, played when it is made."""

    alice: PartyInputs
    bob: PartyInputs
    count_only: bool = False
    nonces: bytes = NONCES
    judges: tuple[Judge, Judge] = field(default_factory=lambda: (Judge(), Judge()))
    transcript: Transcript = field(default_factory=Transcript)
    facts: tuple[list[AlignmentFact], list[AlignmentFact]] = field(default_factory=lambda: ([], []))

    def __post_init__(self) -> None:
        self.ends = run_pair(*self.roles(), self.transcript)

    def roles(self) -> tuple[Role[Aligned], Role[Aligned]]:
        a = align(self.alice, "bob", self.nonces, self.judges[0], count_only=self.count_only)
        b = align(self.bob, "alice", self.nonces, self.judges[1], count_only=self.count_only)
        return noting(a, self.facts[0].append), noting(b, self.facts[1].append)

    @property
    def overlaps(self) -> tuple[Overlap, Overlap]:
        return self.ends[0].overlap, self.ends[1].overlap

    @property
    def people(self) -> tuple[list[str], list[str]]:
        """The common people as each side has them, in its order."""
        return people_of(self.alice, self.ends[0]), people_of(self.bob, self.ends[1])


def people_of(local: PartyInputs, end: Aligned) -> list[str]:
    """Return the ids that an alignment found common."""
    assert end.rows is not None
    return [local.records[row] for row in end.rows]


def numbered(numbers: Sequence[int] | range) -> list[str]:
    """Return ids of these numbers."""
    return [f"p{number}" for number in numbers]
