"""Classifying rows of which each party holds some columns, by a tree that both hold (DESIGN 13), as a role.

    rows               how many, and keyed digests of their ids, both ways; they must be the same people
    then, for each receiver of classes:
    rows asked         which rows the receiver has no answer for, with a commitment to its columns of each
    public key         from the receiver
    encrypted bits     from the receiver: for each row, which edges of the tree it takes (`protocols.learning.routes`)
    sealed answers     to the receiver: one number for each row

Every row is encrypted by itself: bits that equal rows share would tell the other side which of the receiver's rows are
alike. A person is answered once for a tree. A receiver that asks again after its memory was lost must bring the same
columns, by its commitment, and so must who answers: answers to several variants of one row tell the path, and with it
the other side's columns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder, Ciphertexts, Reply, Shape, Values
from protocols.counting.replies import page_length
from protocols.errors import DeviationError, InputError, PeerError
from protocols.facts import AnsweringFact, AnswersFact, AskedRow
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.routes import Routes, RowOutcome
from protocols.learning.tree import Tree
from protocols.messages import CiphertextPage, HolderKey, RowsAsked, RowsShare, SealedAnswers
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Phase, Progress, Role, Send, exchange, receive
from protocols.tables.arrays import Index
from protocols.tables.table import Rows
from protocols.two_party.agreement import Objection, settle
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.people import spelling_digest, tell_difference

MOST_ROWS: Final = 1 << 18
_BATCH_PAGES: Final = 8
_SAME_PEOPLE: Final = "both sides must bring rows of the same people"
_COMMITMENT: Final = 32
_NOT_ASKED: Final = bytes(_COMMITMENT)


@dataclass(frozen=True, eq=False, repr=False)
class SharedRows:
    """Rows to classify, as one party sees them.

    Args:
        tree: The tree.
        people: Whose they are, ascending, so that both list them in one order.
        codes: `rows x attributes`; a column of the other's holds anything.

    Raises:
        InputError: There are none, or too many, or more or fewer than people.
    """

    tree: Tree
    people: tuple[str, ...]
    codes: Rows

    def __post_init__(self) -> None:
        if not 0 < len(self.people) <= MOST_ROWS:
            raise InputError(f"there must be 1 to {MOST_ROWS:,} rows to classify")
        if len(self.people) != len(self.codes):
            raise InputError("each row needs one id")


RowsJudge = Callable[[Sequence[AskedRow]], Objection | None]


def _accept_rows(asked: Sequence[AskedRow]) -> None:
    del asked


@dataclass(frozen=True)
class Recall:
    """What a party remembers of earlier answers by this tree: those that it got, and what it objects to answering."""

    known: Mapping[str, int] = field(default_factory=dict)
    judge: RowsJudge = _accept_rows


NO_RECALL: Final = Recall()


@dataclass(frozen=True)
class Answers:
    """What a receiver ends with: for each row, in the order of the ids, a position in `outcomes`.

    `remembered` of them come from memory.
    """

    outcomes: tuple[RowOutcome, ...]
    positions: tuple[int, ...]
    remembered: int


@dataclass(frozen=True, repr=False)
class PredictionRun:
    """One party's side of a joint prediction.

    Args:
        local: What we bring; of the table nothing is used.
        rows: To classify.
        terms: On which both have agreed.
        initiates: Whether we opened the session.
        peer: The peer's name.
        nonces: Of the `Opening`.
        recall: What we remember.
    """

    local: PartyInputs
    rows: SharedRows
    terms: PredictionTerms
    initiates: bool
    peer: str
    nonces: bytes
    recall: Recall = NO_RECALL

    def routes(self, asker: str) -> Routes:
        """The edges of the tree for one of the parties."""
        return Routes(self.rows.tree, asker, probabilities=self.terms.probabilities)

    def columns_of(self, party: str) -> Index:
        """The columns of a party that the tree splits on."""
        attributes = self.rows.tree.schema.attributes
        return np.array([c for c in sorted(self.rows.tree.columns) if attributes[c].party == party], dtype=np.intp)

    def context(self, asker: str) -> bytes:
        """What names the run and the key holder, and no other."""
        return canonical(self.nonces, b"prediction", asker.encode())


def predict_together(run: PredictionRun) -> Role[Answers | None]:
    """Play one party's part; return what it learns, None if it receives nothing.

    Discloses: how many rows we bring, equality of their ids as a whole and in one spelling, and what `learn_classes`
    and `tell_classes` say.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DisagreementError: The rows are not of the same people, or one side objects to answering.
    """
    yield from _compare_people(run)
    answers = None
    for asker in (Receiver.INITIATOR, Receiver.RESPONDER):
        if run.terms.receiver not in (asker, Receiver.BOTH):
            continue
        if (asker == Receiver.INITIATOR) == run.initiates:
            answers = yield from learn_classes(run)
        else:
            yield from tell_classes(run)
    return answers


def _compare_people(run: PredictionRun) -> Role[None]:
    people, nonces = run.rows.people, run.nonces
    digest = keyed_digest(nonces, b"rows", *(person.encode() for person in people))
    own = RowsShare(len(people), digest, spelling_digest(nonces, people))
    share = yield from exchange(own)
    objection = None
    if share != own:
        alike = share.spelling_digest == own.spelling_digest
        field = "records" if share.rows != own.rows and not alike else "record ids"
        objection = Objection(field, tell_difference(own.rows, share.rows, "at the peer", alike, _SAME_PEOPLE))
    yield from settle(objection)


def learn_classes(run: PredictionRun) -> Role[Answers]:
    """Ask for the outcomes of all rows that we have no answer for, and return those of all.

    Discloses: to the peer, for which people we ask, and ciphertexts. The classes stay with us.

    Raises:
        DeviationError: A number is no outcome.
        DisagreementError: The peer has answered before, for other columns.
    """
    people, known = run.rows.people, run.recall.known
    routes = run.routes(run.local.party)
    asked = np.array([row for row, person in enumerate(people) if person not in known], dtype=np.intp)
    yield Send(RowsAsked(b"".join(_commitments(run, known))))
    yield from settle(None)
    key = run.local.secrets.keys[run.terms.cipher]
    yield Send(HolderKey(key.announce(run.context(run.local.party))))
    told = yield from _encrypt_and_learn(run, routes, key, asked)
    yield Note(AnswersFact(tuple(people[row] for row in asked), tuple(told)))
    found = {**known, **dict(zip((people[row] for row in asked), told, strict=True))}
    positions = tuple(found[person] for person in people)
    return Answers(routes.outcomes, positions, len(people) - len(asked))


def _commitments(run: PredictionRun, known: Mapping[str, int]) -> Iterator[bytes]:
    """Commit to our columns of each row that is asked; of equal rows no two commitments are equal."""
    own = np.ascontiguousarray(run.rows.codes[:, run.columns_of(run.local.party)], dtype=np.int16)
    model = run.rows.tree.digest()
    for person, codes in zip(run.rows.people, own, strict=True):
        row = (b"row to classify", model, person.encode(), codes.tobytes())
        yield _NOT_ASKED if person in known else keyed_digest(run.local.secrets.coins, *row)


def _encrypt_and_learn(run: PredictionRun, routes: Routes, key: AnyKeyHolder, asked: Index) -> Role[list[int]]:
    """Send the bits of all rows, page by page, then receive the answers, batch by batch."""
    layout = _Layout.of(routes, key.public)
    pages = (
        routes.bits(run.rows.codes[rows]).astype(int).ravel().tolist() for rows in layout.pages(asked) if routes.edges
    )
    done = 0
    for page in run.local.computing.encryption(key).encrypt_pages(pages):
        yield Send(CiphertextPage(page))
        done += len(page) // (routes.edges * key.public.ciphertext_bytes)
        yield Progress(Phase.ROWS, done, len(asked))
    told: list[int] = []
    for batch in layout.batches(asked):
        sealed = (yield from receive(SealedAnswers)).ciphertexts
        told += key.counts(sealed, [Shape(len(batch), 1)], layout.largest)
        yield Progress(Phase.ROWS, len(told), len(asked))
    if not all(position < len(routes.outcomes) for position in told):
        raise DeviationError
    return told


def tell_classes(run: PredictionRun) -> Role[None]:
    """Answer for the rows that the peer asks.

    Discloses: to the peer, one number for each row that it asks: the outcome, if it has encrypted bits; else, of the
    curve, whatever it can guess of another sum of weights, of Paillier as many bits as an outcome needs. Of a person
    that we have answered for before nothing, unless both bring the same columns again.

    Raises:
        DisagreementError: We have answered for one of them before, for other columns, or have answered too many.
    """
    commitments = (yield from receive(RowsAsked)).commitments
    if len(commitments) != _COMMITMENT * len(run.rows.people):
        raise PeerError("the peer sent more or fewer commitments than there are rows")
    asked = list(_asked(run, commitments))
    rows = np.array([row for row, _ in asked], dtype=np.intp)
    told = tuple(each for _, each in asked)
    yield from settle(run.recall.judge(told))
    yield Note(AnsweringFact(told))
    key = run.local.secrets.keys[run.terms.cipher]
    announced = (yield from receive(HolderKey)).key
    cipher = key.read_peer(announced, run.terms.key_bits, run.context(run.peer))
    yield from _answer(run, cipher, rows)


def _asked(run: PredictionRun, commitments: bytes) -> Iterator[tuple[int, AskedRow]]:
    own = np.ascontiguousarray(run.rows.codes[:, run.columns_of(run.local.party)], dtype=np.int16)
    for row, person in enumerate(run.rows.people):
        commitment = commitments[row * _COMMITMENT : (row + 1) * _COMMITMENT]
        if commitment != _NOT_ASKED:
            yield row, AskedRow(person, commitment, own[row].tobytes())


def _answer(run: PredictionRun, cipher: AnyCiphertexts, asked: Index) -> Role[None]:
    """Receive the bits of a batch, add them up by our own columns, and return one sealed number per row."""
    routes = run.routes(run.peer)
    layout = _Layout.of(routes, cipher)
    done = 0
    for batch in layout.batches(asked):
        tasks: list[RowsTask[Any]] = []
        for rows in layout.pages(batch):
            page = (yield from receive(CiphertextPage)).ciphertexts if routes.edges else b""
            if len(page) != len(rows) * routes.edges * cipher.ciphertext_bytes:
                raise PeerError("the peer sent more or fewer encrypted bits than the tree has edges")
            tasks.append(RowsTask(cipher, page, *routes.weights(run.rows.codes[rows])))
        sums = cipher.join(list(run.local.computing.workers.map(add_rows, tasks)))
        sealed = cipher.seal([Reply(sums, slots=1)], layout.largest, run.local.secrets.randomness)
        yield Send(SealedAnswers(sealed))
        done += len(batch)
        yield Progress(Phase.ROWS, done, len(asked))


@dataclass(frozen=True)
class _Layout:
    """How rows travel: `page` of them in a message, several pages before an answer; `largest` is the last outcome."""

    page: int
    largest: int

    @classmethod
    def of(cls, routes: Routes, cipher: AnyCiphertexts) -> "_Layout":
        """Lay out rows with so many bits; without any, as if there were one."""
        return cls(max(1, page_length(cipher) // max(1, routes.edges)), max(1, len(routes.outcomes) - 1))

    def pages(self, rows: Index) -> Iterator[Index]:
        """Cut rows into pages."""
        return (rows[start : start + self.page] for start in range(0, len(rows), self.page))

    def batches(self, rows: Index) -> Iterator[Index]:
        """Cut rows into what is answered at once."""
        batch = self.page * _BATCH_PAGES
        return (rows[start : start + batch] for start in range(0, len(rows), batch))


@dataclass(frozen=True, eq=False, repr=False)
class RowsTask(Generic[Values]):
    """A page of encrypted bits, and how each row adds them: picklable, and without a private key."""

    cipher: Ciphertexts[Values]
    page: bytes
    constants: Index
    weights: NDArray[np.int32]


def add_rows(task: RowsTask[Values]) -> Values:
    """Return the encrypted outcome of each row, not yet fresh.

    A weight is added bit by bit, the highest first: all sums are doubled, then those bits are added whose weight has
    the binary digit, negative weights as the negated bits.

    Raises:
        DeviationError: A ciphertext is not one.
    """
    cipher, bits, weights = task.cipher, task.cipher.read(task.page), task.weights
    rows = np.arange(len(weights))
    total = cipher.sums(len(weights)).totals()
    for digit in reversed(range(int(np.abs(weights).max(initial=0)).bit_length())):
        sums = cipher.sums(len(weights))
        sums.add(total, rows)
        sums.add(total, rows)
        has = (np.abs(weights) >> digit & 1).astype(np.bool_)
        for positive in (True, False):
            places = np.flatnonzero(has & ((weights > 0) == positive))
            added = cipher.take(bits, places)
            sums.add(added if positive else cipher.negate(added), places // weights.shape[1])
        total = sums.totals()
    return cipher.add_numbers(total, task.constants)
