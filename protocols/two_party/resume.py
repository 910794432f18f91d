"""What both parties have kept of a run that goes on (DESIGN 12): found in one exchange, before its first step.

Resume is memory, not replay: a step whose result both have kept is taken from there, the first one that either lacks is
done again. Copies are the same whenever they are asked for, transfers and ciphertexts are made anew, an answer told
twice is one.
"""

from dataclasses import dataclass, field

from protocols.answers import KeptAnswers, answers_digest
from protocols.errors import DeviationError
from protocols.messages import KeptParts
from protocols.role import Kept, Part, Role, exchange


@dataclass(frozen=True)
class Resumed:
    """What need not be sent or asked again.

    Args:
        answers: Of which both remember so many.
        copy: The peer's disguised copy, where both have the other's.
    """

    answers: KeptAnswers = field(default_factory=KeptAnswers)
    copy: bytes | None = None


def resume(kept: Kept | None, nonces: bytes) -> Role[Resumed]:
    """Compare what both have kept; nothing crosses in a run that begins.

    Args:
        kept: Ours; both have some or none, as they have agreed.
        nonces: Of both sides in this session.

    Discloses: how much of what the peer has told or sent in this run we have not lost.

    Raises:
        DeviationError: The answers that the peer remembers are others than ours.
    """
    if kept is None:
        return Resumed()
    answers = tuple(kept.recall(Part.ANSWERS))
    copy = next(kept.recall(Part.COPY), None)
    theirs = yield from exchange(KeptParts(len(answers), answers_digest(nonces, answers), copy is not None))
    common = min(len(answers), theirs.answers)
    if theirs.answers == common and theirs.digest != answers_digest(nonces, answers[:common]):
        raise DeviationError
    return Resumed(KeptAnswers(answers, common), copy if theirs.copy else None)
