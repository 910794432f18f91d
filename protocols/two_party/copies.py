"""The steps that runs share: class counts first, then disguised copies, at the end digests of the model (DESIGN 4, 14).

Class counts precede copies (a page of each in turn, FAULTS B1, B2), gains and ciphertexts, so that a class that names
people ends the run while nothing of the other side's has left. They are not part of the agreement: they may leave only
once the split is on record, and so may word that the holder finds one too small, since either, over many splits of the
same records, would give each record's class. A class that is refused binds nobody to more than that: all else is put on
record when both have accepted it. What is counted later must add up to them: a holder that lies is found out, except in
`randomized`, where nothing is counted exactly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import log

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.chi_square import FALSE_ALARM
from protocols.counting.rows import View, make_view, peer_columns, view_of_copies
from protocols.errors import DeviationError, PeerError
from protocols.facts import ClassCountsFact, CopyFact, ModelFact, Way
from protocols.messages import ClassCounts, DisguisedPage, ModelDigest
from protocols.noise.both import Noises
from protocols.randomized_response.related_question import Coins, RelatedDesign, disguise
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Part, Phase, Progress, Role, Save, Send, exchange, nothing, receive
from protocols.tables import Codes, Index
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection, settle

PAGE_RECORDS = 1 << 14

CopyJudge = Callable[[bytes], Objection | None]


@dataclass(frozen=True)
class Copies:
    """What the exchange of copies leaves: our records with the peer's copy, of rules both copies, and our own coins."""

    view: View
    both: View
    coins: Coins


def exchange_copies(
    local: PartyInputs, agreed: Agreement, judge: CopyJudge, known: bytes | None = None
) -> Role[Copies]:
    """Send and receive the disguised copies; who mines only receives. Without a disguise there are no coins.

    `judge` is given a digest of the peer's copy, keyed by our secret, before anything that depends on the copy leaves;
    `known` is that copy, where both have kept the other's.

    Discloses: our disguised copy, if there is a disguise and we do not mine, and whether we know the peer by another
    one than its own.
    """
    codes = local.table.codes
    if not agreed.terms.disguises:
        view = make_view(agreed.schema, local.party, codes, None, agreed.peer_design)
        return Copies(view, view, np.zeros((len(codes), 0), dtype=np.uint8))
    own_design, peer_design = agreed.own_design, agreed.peer_design
    coins = local.coins(own_design)
    copy = disguise(codes[:, : len(own_design.sizes)], coins, own_design)
    if known is None:
        theirs = yield from _exchange(local, agreed, copy, judge)
        yield Save(Part.COPY, 0, theirs.tobytes())
    else:
        theirs = _read(known, len(copy), peer_design)
    view = make_view(agreed.schema, local.party, codes, theirs if peer_design.sizes else None, peer_design)
    both = view if agreed.terms.rules is None else view_of_copies(view, local.party, copy, own_design)
    return Copies(view, both, coins)


def _exchange(local: PartyInputs, agreed: Agreement, copy: Codes, judge: CopyJudge) -> Role[Codes]:
    columns = [column.name for column in local.table.attributes[: copy.shape[1]]]
    if columns:
        yield Note(CopyFact(Way.TOLD, _digest(local, b"own copy", columns, copy)))
    received = [copy[:0, :0]] if not agreed.peer_design.sizes else []
    for start in range(0, len(copy), PAGE_RECORDS):
        page = np.ascontiguousarray(copy[start : start + PAGE_RECORDS])
        if columns:
            yield Send(DisguisedPage(page.tobytes()))
        if agreed.peer_design.sizes:
            received.append(_read((yield from receive(DisguisedPage)).codes, len(page), agreed.peer_design))
        yield Progress(Phase.COPIES, start + len(page), len(copy))
    theirs = np.concatenate(received)
    objection = None
    if theirs.shape[1]:
        names = [agreed.schema.columns[column].name for column in peer_columns(agreed.schema, local.party)]
        digest = _digest(local, b"peer copy", names, theirs)
        yield Note(CopyFact(Way.LEARNED, digest))
        objection = judge(digest)
    yield from settle(objection)
    return theirs


def _digest(local: PartyInputs, purpose: bytes, names: Sequence[str], copy: Codes) -> bytes:
    """Return a digest of a copy under our secret; the order of its columns is no part of it."""
    columns = sorted(canonical(name.encode(), copy[:, c].tobytes()) for c, name in enumerate(names))
    return keyed_digest(local.secrets.coins, purpose, *columns)


def _read(data: bytes, records: int, design: RelatedDesign) -> Codes:
    width = len(design.sizes)
    if len(data) != records * width:
        raise PeerError("a page of the peer's disguised copy has the wrong length")
    codes = np.frombuffer(data, dtype=np.uint8).reshape(records, width)
    if (codes >= np.array(design.sizes)).any():
        raise PeerError("the peer's disguised copy holds values outside its domains")
    return codes


ClassTally = tuple[int, ...]


class Leaving(Enum):
    """What leaves next, and must be on record before: a class holder's word on its class, its counts, all the rest."""

    CLASS_WORD = auto()
    CLASS_COUNTS = auto()
    REST = auto()


PutOnRecord = Callable[[Leaving], None]


def share_class_counts(
    local: PartyInputs,
    agreed: Agreement,
    train: Index,
    noises: Noises,
    answers: KeptAnswers,
    record: PutOnRecord = nothing,
) -> Role[ClassTally]:
    """Return how many training records each class has; where both hold the class, both send and compare.

    With noise the one who holds the class sends, and judges, its counts with its own; they cross lifted by the largest
    noise. A class that both hold is no secret between them, and its counts are exact.

    Discloses: if we hold the class, its counts over the training records, exact or with our noise, or only that we find
    one too small; nothing where both remember them.
    """
    counts = yield from answers.ask(_shared(local, agreed, train, noises, record))
    record(Leaving.REST)
    return tuple(int(count) for count in counts)


def judge_class(local: PartyInputs, terms: Terms, train: Index, record: PutOnRecord = nothing) -> Role[None]:
    """Let who holds the class refuse it, where nobody hears its counts; with noise its word would be outside epsilon.

    Discloses: if we hold the class, whether we find one of its values too rare.
    """
    if terms.noise is None:
        own = local.class_counts(train) if local.holds_class else None
        if own is not None:
            record(Leaving.CLASS_WORD)
        yield from _settle(local, own, local.table.attributes[-1].values)
    record(Leaving.REST)


def _shared(
    local: PartyInputs, agreed: Agreement, train: Index, noises: Noises, record: PutOnRecord
) -> Role[AnswerNumbers]:
    own = local.class_counts(train) if local.holds_class else None
    alone = len(agreed.schema.class_owners) == 1
    if own is not None and alone:
        noise = noises.of_class_counts(agreed.schema.classes)
        own = tuple(count + each for count, each in zip(own, noise, strict=True))
    if own is not None:
        record(Leaving.CLASS_WORD)
    yield from _settle(local, own, agreed.schema.class_attribute.values)
    if own is not None:
        record(Leaving.CLASS_COUNTS)
    if own is None:
        counts = _plausible((yield from receive(ClassCounts)).values, agreed.schema.classes, len(train), noises)
        yield Note(ClassCountsFact(Way.LEARNED, counts))
    elif alone:
        yield Note(ClassCountsFact(Way.TOLD, own))
        yield Send(ClassCounts(tuple(count + noises.cells.own for count in own)))
        counts = own
    else:
        yield Note(ClassCountsFact(Way.BOTH, own))
        counts = (yield from exchange(ClassCounts(own))).values
        if counts != own:
            raise DeviationError
    yield from _settle(local, counts, agreed.schema.class_attribute.values)
    return tuple(map(float, counts))


def _settle(local: PartyInputs, counts: ClassTally | None, values: Sequence[str]) -> Role[None]:
    """Let each side refuse the counts that it knows; what noise makes negative counts as none.

    Discloses: whether we do.
    """
    reason = None if counts is None else local.limits.refuse_counts([max(0, count) for count in counts], values)
    yield from settle(None if reason is None else Objection("class counts", reason))


def _plausible(values: Sequence[int], classes: int, records: int, noises: Noises) -> ClassTally:
    lift = noises.cells.theirs
    counts = tuple(value - lift for value in values)
    fits = len(counts) == classes and all(-lift <= count <= records + lift for count in counts)
    if not fits or abs(sum(counts) - records) > noises.class_bound(classes, -log(FALSE_ALARM)):
        raise PeerError("the peer's class counts do not add up to the training records")
    return counts


def confirm_same_model(digest: bytes) -> Role[None]:
    """Send the digest of our model, once that is kept, and hold the peer's against it.

    Discloses: a digest of the model that the peer has too.
    """
    yield Note(ModelFact(digest))
    if (yield from exchange(ModelDigest(digest))).digest != digest:
        raise DeviationError
