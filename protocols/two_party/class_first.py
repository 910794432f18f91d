"""The first step of a run: the class holder tells its training class counts (DESIGN 14, "Class first").

They precede copies, gains and ciphertexts, so that a class that names people ends the run while nothing of the other
side's has left. They are not part of the agreement: they may leave only once the split is on record, and so may word
that the holder finds one too small, since either, over many splits of the same records, would give each record's class.
A class that is refused binds nobody to more than that: all else is put on record when both have accepted it.
What is counted later must add up to them: a holder that lies is found out, except in `randomized`, where nothing is
counted exactly.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from math import log

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.chi_square import FALSE_ALARM
from protocols.errors import DeviationError, PeerError
from protocols.facts import ClassCountsFact, Way
from protocols.messages import ClassCounts
from protocols.noise.both import BothNoises, sum_bound
from protocols.role import Note, Role, Send, exchange, receive
from protocols.tables.table import Index
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement, Objection, settle
from protocols.two_party.inputs import PartyInputs

ClassTally = tuple[int, ...]


class Leaving(Enum):
    """What leaves next, and must be on record before: a class holder's word on its class, its counts, all the rest."""

    CLASS_WORD = auto()
    CLASS_COUNTS = auto()
    REST = auto()


PutOnRecord = Callable[[Leaving], None]


def keep_no_record(leaving: Leaving) -> None:
    """Remember nothing."""
    del leaving


def share_class_counts(
    local: PartyInputs,
    agreed: Agreement,
    train: Index,
    noises: BothNoises | None,
    answers: KeptAnswers,
    record: PutOnRecord = keep_no_record,
) -> Role[ClassTally]:
    """Return how many training records each class has; where both hold the class, both tell and compare.

    In a run that goes on, nothing is told if both remember it.

    With noise the one who holds the class tells, and judges, its counts with its own; they cross lifted by the largest
    noise. A class that both hold is no secret between them, and its counts are exact.

    Args:
        local: What we bring.
        agreed: The schema says who holds the class.
        train: The training records.
        noises: Of both sides, if there is noise.
        record: Puts on record what leaves next.
        answers: What both remember of the run.

    Discloses: if we hold the class, its counts over the training records, exact or with our noise, or only that we find
    one too small.

    Raises:
        DisagreementError: A class has too few records, for us or the peer: the same on both sides.
        PeerError: The counts do not fit the number of records and classes.
        DeviationError: Both hold the same class, and count it differently.
    """
    counts = yield from answers.ask(_shared(local, agreed, train, noises, record))
    record(Leaving.REST)
    return tuple(int(count) for count in counts)


def judge_class(local: PartyInputs, terms: Terms, train: Index, record: PutOnRecord = keep_no_record) -> Role[None]:
    """Let who holds the class refuse it, where nobody hears its counts; with noise its word would be outside epsilon.

    Args:
        local: What we bring.
        terms: Of the run.
        train: The training records.
        record: Puts on record what leaves next.

    Discloses: if we hold the class, whether we find one of its values too rare.

    Raises:
        DisagreementError: One side does.
    """
    if terms.noise is None:
        own = local.class_counts(train) if local.holds_class else None
        if own is not None:
            record(Leaving.CLASS_WORD)
        yield from _settle(local, own)
    record(Leaving.REST)


def _shared(
    local: PartyInputs, agreed: Agreement, train: Index, noises: BothNoises | None, record: PutOnRecord
) -> Role[AnswerNumbers]:
    own = local.class_counts(train) if local.holds_class else None
    alone = len(agreed.schema.class_owners) == 1
    if noises is not None and own is not None and alone:
        noise = noises.own.class_counts(agreed.schema.classes)
        own = tuple(count + each for count, each in zip(own, noise, strict=True))
    if own is not None:
        record(Leaving.CLASS_WORD)
    yield from _settle(local, own)
    if own is not None:
        record(Leaving.CLASS_COUNTS)
    if own is None:
        counts = _plausible((yield from receive(ClassCounts)).values, agreed.schema.classes, len(train), noises)
        yield Note(ClassCountsFact(Way.LEARNED, counts))
    elif alone:
        yield Note(ClassCountsFact(Way.TOLD, own))
        lift = 0 if noises is None else noises.cells.own
        yield Send(ClassCounts(tuple(count + lift for count in own)))
        counts = own
    else:
        yield Note(ClassCountsFact(Way.BOTH, own))
        counts = (yield from exchange(ClassCounts(own))).values
        if counts != own:
            raise DeviationError
    yield from _settle(local, counts)
    return tuple(map(float, counts))


def _settle(local: PartyInputs, counts: ClassTally | None) -> Role[None]:
    """Let each side refuse the counts that it knows; what noise makes negative counts as none.

    Discloses: whether we do.
    """
    reason = None if counts is None else local.limits.refuse_counts([max(0, count) for count in counts])
    yield from settle(None if reason is None else Objection("class counts", reason))


def _plausible(values: Sequence[int], classes: int, records: int, noises: BothNoises | None) -> ClassTally:
    lift = 0 if noises is None else noises.cells.theirs
    counts = tuple(value - lift for value in values)
    slack = 0.0 if noises is None else sum_bound([(noises.theirs.cells, classes)], -log(FALSE_ALARM))
    fits = len(counts) == classes and all(-lift <= count <= records + lift for count in counts)
    if not fits or abs(sum(counts) - records) > slack:
        raise PeerError("the peer's class counts do not add up to the training records")
    return counts
