"""Joint predictions in the ledger: for whom each side has been answered, and by which model (DESIGN 13).

Of a person the ledger holds a digest under our own secret. Where we answered, it keeps the peer's commitment to its
columns and a digest of ours beside it: the same question may be answered again, as after a crash, and no other one.
Where we were answered, it keeps the answer: a person that is asked for again gets it from here.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from party.records.ledger import PeerEntries, noted
from party.records.ledger_entries import ModelEntry, PredictionEntry, RunEntry
from protocols.errors import InputError
from protocols.facts import AnsweringFact, AnswersFact, AskedRow, Way
from protocols.jobs import PredictionTerms
from protocols.randomness import keyed_digest
from protocols.role import Fact
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection
from protocols.two_party.prediction import Recall

_BYTES: Final = 16
_ANOTHER_TABLE = (
    "no run on record here has made this model from the table that [data] names now, so "
    "nobody can say who was trained on: name that table and the settings of its columns again"
)


@dataclass(frozen=True, repr=False)
class PredictionEntries:
    """The entries of joint predictions with one peer.

    `most` rows may be answered for over the life of the data set, and `left` is about how many more people most_bits
    allows to answer about; None for any.
    """

    entries: PeerEntries
    local: PartyInputs
    terms: PredictionTerms
    most: int | None = None
    left: int | None = None

    def recall(self, people: Sequence[str]) -> Recall:
        """Return what we remember: the answers about these people, and what we object to answering."""
        remembered: dict[bytes, int] = {}
        for said in self._entries(Way.LEARNED):
            if said.probabilities == self.terms.probabilities:
                remembered |= dict(zip(said.people, said.outcomes or (), strict=True))
        digests = {person: self._person(person) for person in people}
        known = {person: remembered[digest] for person, digest in digests.items() if digest in remembered}
        return Recall(known, self._judge)

    def note(self, fact: Fact) -> None:
        """Note a fact, durably, before the role goes on."""
        match fact:
            case AnsweringFact(asked):
                said = self._said(Way.TOLD, [row.person for row in asked])
                commitments, own = tuple(row.commitment for row in asked), tuple(self._own(row) for row in asked)
                said = replace(said, asked=commitments, own=own)
            case AnswersFact(people, outcomes):
                said = replace(self._said(Way.LEARNED, people), outcomes=outcomes)
            case _:
                raise InputError(f"{fact!r} has no place among predictions")
        if said.people:
            self.entries.write(said)

    def _said(self, way: Way, people: Sequence[str]) -> PredictionEntry:
        digests = tuple(map(self._person, people))
        return PredictionEntry(self.local.dataset, way, self.terms.model, self.terms.probabilities, digests)

    def _judge(self, asked: Sequence[AskedRow]) -> Objection | None:
        """Object to answering about who was trained on, about other columns than before, or for more than are left."""
        before: dict[bytes, tuple[bytes, bytes]] = {}
        alike = set[bytes]()
        for said in self._entries(Way.TOLD):
            before |= dict(zip(said.people, zip(said.asked or (), said.own or (), strict=True), strict=True))
            alike |= {*said.people} if said.probabilities == self.terms.probabilities else set()
        now = {self._person(row.person): (row.commitment, self._own(row)) for row in asked}
        refused = self._trained_on({row.person for row in asked})
        if refused is not None:
            return refused
        changed = sum(before.get(person, question) != question for person, question in now.items())
        if changed:
            return Objection(
                "people",
                f"{changed:,} of the {len(asked):,} rows are of people for whom we have answered by this model before, "
                "about other columns of one side: two answers about one person reveal more than one; leave them out",
            )
        return self._overdrawn(len(now.keys() - alike)) if asked else None

    def _trained_on(self, asked: Set[str]) -> Objection | None:
        """Object to answers about people of the table that made the model: who they are, both sides know."""
        if not asked:
            return None
        table, runs, was_made = self.local.digest(b"contents"), set[str](), False
        for said in (entry.noted for entry in self.entries.ledger.entries()):
            if isinstance(said, RunEntry) and said.tables[0] == table:
                runs.add(said.run)
            elif isinstance(said, ModelEntry) and said.digest == self.terms.model:
                was_made |= said.run in runs
        if not was_made:
            return Objection("model", _ANOTHER_TABLE)
        trained = len(asked & set(self.local.records))
        if not trained:
            return None
        return Objection(
            "trained on",
            f"{trained:,} of the {len(asked):,} rows are of people who were trained on: what the run has shown of them "
            "is bounded, and an answer shows more; leave them out",
        )

    def judge_least(self, asked: int) -> Objection | None:
        """Object to this many people before it is known who they are, even if we answered about them before."""
        known = {person for said in self._entries(Way.TOLD) for person in said.people}
        return self._overdrawn(max(0, asked - len(known)), "at least ")

    def _overdrawn(self, new: int, least: str = "") -> Objection | None:
        """Object to answers about this many people who have none of this kind, beside all that were given.

        Each time counts, so what was lost on the way is given again where no more than allowed were given before.
        """
        if self.left is not None and new > self.left:
            return Objection(
                "answers",
                f"our [agree] most_bits leaves answers about {max(0, self.left):,} people beside the trees that were "
                f"revealed, {least}{new:,} are asked for: ask for fewer, or raise it",
            )
        before = answered(self.entries, self.local.dataset)
        if self.most is None or before + new <= self.most:
            return None
        return Objection(
            "answers",
            f"our [agree] most_predictions allows {self.most:,} over the life of a data set: {before:,} answered "
            f"before and {least}{new:,} asked for now make {before + new:,}; ask for fewer, or raise it",
        )

    def _entries(self, way: Way) -> Iterator[PredictionEntry]:
        every = self.entries.noted(PredictionEntry, self.local.dataset)
        return (each for each in every if (each.way, each.model) == (way, self.terms.model))

    def _person(self, person: str) -> bytes:
        return self._digest(b"person asked", person.encode())

    def _own(self, row: AskedRow) -> bytes:
        return self._digest(b"own row asked", row.person.encode(), row.own)

    def _digest(self, *fields: bytes) -> bytes:
        return keyed_digest(self.local.secrets.coins, *fields)[:_BYTES]


def answered(entries: PeerEntries, dataset: str) -> int:
    """Return for how many rows we have answered over a data set, again for one that was asked for again."""
    every = noted(entries.ledger.entries(), PredictionEntry, dataset)
    return sum(len(said.people) for said in every if said.way is Way.TOLD)
