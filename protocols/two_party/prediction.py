"""Classifying rows of which each party holds some columns, by a model that both hold (DESIGN 13), as a role.

    rows               how many, and whether they are the same (`equality`); they must be the same people
    transfers          a session of them (`oblivious.extension`)
    then, for each receiver of classes:
    rows asked         which rows the receiver has no answer for, with a commitment to its columns of each
    what the model asks for (`ways`), at its end one number for each row

A person is answered once for a model. A receiver that asks again after its memory was lost must bring the same
columns, by its commitment, and so must who answers: answers to several variants of one row reveal the path, and with it
the other side's columns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError, PeerError
from protocols.facts import AnsweringFact, AnswersFact, AskedRow
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.model import Model
from protocols.learning.routes import RowOutcome
from protocols.messages import RowsAsked, RowsShare
from protocols.oblivious.extension import TREE_DEPTH, set_up
from protocols.oblivious.gates import Gates, Triples
from protocols.randomness import keyed_digest
from protocols.role import Note, Role, Send, exchange, nothing, receive
from protocols.tables import Rows
from protocols.two_party.equality import IDS, as_spelt, as_written, compare_on_record, tell_difference
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection, settle
from protocols.two_party.ways import ModelWay, way_of

MOST_ROWS: Final = 1 << 18
_SAME_PEOPLE: Final = "both sides must bring rows of the same people"
_COMMITMENT: Final = 32
_NOT_ASKED: Final = bytes(_COMMITMENT)


@dataclass(frozen=True, eq=False, repr=False)
class SharedRows:
    """Rows to classify, as one party sees them: `rows x attributes`, where a column of the other's holds anything.

    `people` are ascending, so that both list them in one order.
    """

    model: Model
    people: tuple[str, ...]
    codes: Rows

    def __post_init__(self) -> None:
        if not 0 < len(self.people) <= MOST_ROWS:
            raise InputError(f"there must be 1 to {MOST_ROWS:,} rows to classify")
        if len(self.people) != len(self.codes):
            raise InputError("each row needs one id")


RowsJudge = Callable[[Sequence[AskedRow]], Objection | None]


@dataclass(frozen=True)
class Recall:
    """What a party remembers of earlier answers by this model: those that it got, and what it objects to answering."""

    known: Mapping[str, int] = field(default_factory=dict)
    judge: RowsJudge = nothing


NO_RECALL: Final = Recall()


@dataclass(frozen=True)
class Answers:
    """For each row, in the order of the ids, a position in `outcomes`; `remembered` of them come from memory."""

    outcomes: tuple[RowOutcome, ...]
    positions: tuple[int, ...]
    remembered: int


@dataclass(frozen=True, repr=False)
class PredictionRun:
    """One party's side of a joint prediction; of the table of `local` nothing is used."""

    local: PartyInputs
    rows: SharedRows
    terms: PredictionTerms
    initiates: bool
    peer: str
    nonces: bytes
    recall: Recall = NO_RECALL

    def way(self, asker: str) -> ModelWay:
        """How one of the parties asks."""
        return way_of(self.rows.model, asker, probabilities=self.terms.probabilities)

    def own_columns(self) -> NDArray[np.int16]:
        """Our columns that the model reads."""
        attributes = self.rows.model.schema.attributes
        columns = [c for c in sorted(self.rows.model.columns) if attributes[c].party == self.local.party]
        return np.ascontiguousarray(self.rows.codes[:, columns], dtype=np.int16)


def predict_together(run: PredictionRun) -> Role[Answers | None]:
    """Play one party's part; return what it learns, None if it receives nothing.

    Discloses: how many rows we bring, equality of their ids as a whole and in one spelling, and what `learn_classes`
    and `tell_classes` say.
    """
    yield from _compare_people(run)
    randomness = run.local.secrets.randomness
    transfers = yield from set_up(TREE_DEPTH, randomness, run.local.computing.places)
    gates, answers = Gates(run.initiates, transfers, Triples(transfers, randomness)), None
    for asker in (Receiver.INITIATOR, Receiver.RESPONDER):
        if run.terms.receiver not in (asker, Receiver.BOTH):
            continue
        if (asker == Receiver.INITIATOR) == run.initiates:
            answers = yield from learn_classes(run, gates)
        else:
            yield from tell_classes(run, gates)
    return answers


def _compare_people(run: PredictionRun) -> Role[None]:
    people, nonces = run.rows.people, run.nonces
    mine, yours = len(people), (yield from exchange(RowsShare(len(people)))).rows
    are_same = alike = False
    if mine == yours:
        contents = [as_written(people), as_spelt(people)]
        are_same, alike = yield from compare_on_record(
            run.local, run.peer, nonces, b"rows", contents, (IDS, contents[0])
        )
    objection = None
    if not are_same:
        field = "record ids" if mine == yours else "records"
        objection = Objection(field, tell_difference(mine, yours, "at the peer", alike, _SAME_PEOPLE))
    yield from settle(objection)


def learn_classes(run: PredictionRun, gates: Gates) -> Role[Answers]:
    """Ask for the outcomes of all rows that we have no answer for, and return those of all.

    Discloses: to the peer, for which people we ask. The classes stay with us.
    """
    people, known = run.rows.people, run.recall.known
    way = run.way(run.local.party)
    asked = np.array([row for row, person in enumerate(people) if person not in known], dtype=np.intp)
    yield Send(RowsAsked(b"".join(_commitments(run, known))))
    yield from settle(None)
    answers = yield from way.ask(run.rows.codes[asked], gates)
    yield Note(AnswersFact(tuple(people[row] for row in asked), tuple(answers)))
    found = {**known, **dict(zip((people[row] for row in asked), answers, strict=True))}
    positions = tuple(found[person] for person in people)
    return Answers(way.outcomes, positions, len(people) - len(asked))


def _commitments(run: PredictionRun, known: Mapping[str, int]) -> Iterator[bytes]:
    """Commit to our columns of each row that is asked; of equal rows no two commitments are equal."""
    own = run.own_columns()
    model = run.rows.model.digest()
    for person, codes in zip(run.rows.people, own, strict=True):
        row = (b"row to classify", model, person.encode(), codes.tobytes())
        yield _NOT_ASKED if person in known else keyed_digest(run.local.secrets.coins, *row)


def tell_classes(run: PredictionRun, gates: Gates) -> Role[None]:
    """Answer for the rows that the peer asks.

    Discloses: to the peer, the outcome of each row that it asks; if it deviates, what `ways` says. Of a person that we
    have answered for before nothing, unless both bring the same columns again.
    """
    commitments = (yield from receive(RowsAsked)).commitments
    if len(commitments) != _COMMITMENT * len(run.rows.people):
        raise PeerError("the peer sent more or fewer commitments than there are rows")
    asked = list(_asked(run, commitments))
    rows = np.array([row for row, _ in asked], dtype=np.intp)
    people = tuple(each for _, each in asked)
    yield from settle(run.recall.judge(people))
    yield Note(AnsweringFact(people))
    yield from run.way(run.peer).tell(run.rows.codes[rows], gates)


def _asked(run: PredictionRun, commitments: bytes) -> Iterator[tuple[int, AskedRow]]:
    own = run.own_columns()
    for row, person in enumerate(run.rows.people):
        commitment = commitments[row * _COMMITMENT : (row + 1) * _COMMITMENT]
        if commitment != _NOT_ASKED:
            yield row, AskedRow(person, commitment, own[row].tobytes())
