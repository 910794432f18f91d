"""The first step of a run: the class holder tells its training class counts (DESIGN 14, "Class first").

They precede copies, gains and ciphertexts, so that a class that names people ends the run while nothing of the other
side's has left. They are not part of the agreement: they may leave only once the split is on record, and so may word
that the holder finds one too small, since either, over many splits of the same records, would give each record's class.
What is counted later must add up to them: a holder that lies is found out, except in `randomized`, where nothing is
counted exactly.
"""

from collections.abc import Sequence

from protocols.errors import DeviationError, PeerError
from protocols.messages import ClassCounts
from protocols.role import Role, Send, exchange, receive
from protocols.tables.arrays import Index
from protocols.two_party.agreement import Agreement, Objection, settle
from protocols.two_party.inputs import PartyInputs

ClassTally = tuple[int, ...]


def share_class_counts(local: PartyInputs, agreed: Agreement, train: Index) -> Role[ClassTally]:
    """Return how many training records each class has; where both hold the class, both tell and compare.

    Args:
        local: What we bring.
        agreed: The schema says who holds the class.
        train: The training records.

    Discloses: if we hold the class, its counts over the training records, or only that we find one too small.

    Raises:
        DisagreementError: A class has too few records, for us or the peer: the same on both sides.
        PeerError: The counts do not fit the number of records and classes.
        DeviationError: Both hold the same class, and count it differently.
    """
    own = local.class_counts(train) if local.holds_class else None
    yield from _settle(local, own)
    if own is None:
        counts = _plausible((yield from receive(ClassCounts)).values, agreed.schema.classes, len(train))
    elif len(agreed.schema.class_owners) == 1:
        yield Send(ClassCounts(own))
        counts = own
    else:
        counts = (yield from exchange(ClassCounts(own))).values
        if counts != own:
            raise DeviationError
    yield from _settle(local, counts)
    return counts


def _settle(local: PartyInputs, counts: ClassTally | None) -> Role[None]:
    """Let each side refuse the counts that it knows.

    Discloses: whether we do.
    """
    reason = None if counts is None else local.limits.refuse_counts(counts)
    yield from settle(None if reason is None else Objection("class counts", reason))


def _plausible(counts: Sequence[int], classes: int, records: int) -> ClassTally:
    if len(counts) != classes or any(count < 0 for count in counts) or sum(counts) != records:
        raise PeerError("the peer's class counts do not add up to the training records")
    return tuple(counts)
