"""What both parties have kept of a run that goes on (DESIGN 12): found in one exchange, before its first step.

Of a tree that alone is revealed every run on the same terms goes on, and nothing that one side remembers is opened
again: it is sent to the other. So a partner that brings other columns in another run, or stops and goes on with others,
hears the same tree.

Resume is memory, not replay: a step whose result both have kept is taken from there, the first one that either lacks is
done again. Copies are the same whenever they are asked for, transfers and ciphertexts are made again, an answer told
twice is one.
"""

from dataclasses import dataclass, field

from protocols.answers import KeptAnswers, answers_digest, are_whole
from protocols.errors import DeviationError
from protocols.messages import KeptParts, LostAnswers
from protocols.role import Kept, Part, Role, Send, exchange, receive


@dataclass(frozen=True)
class Resumed:
    """What need not be sent or asked again.

    Args:
        answers: Of which both remember this many.
        copy: The peer's disguised copy, where both have the other's.
    """

    answers: KeptAnswers = field(default_factory=KeptAnswers)
    copy: bytes | None = None


def resume(kept: Kept | None, nonces: bytes, *, opens_once: bool = False) -> Role[Resumed]:
    """Compare what both have kept; nothing crosses in a run that begins.

    Args:
        kept: Ours; both have some or none, as they have agreed.
        nonces: Of both sides in this session.
        opens_once: Whether to send what one side alone remembers.

    Discloses: how much of what the peer has told or sent in this run we have not lost; where `opens_once`, also what
        was opened and the peer has lost.

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
    if opens_once and len(answers) > common:
        yield Send(LostAnswers(answers[common:]))
    elif opens_once and theirs.answers > common:
        lost = (yield from receive(LostAnswers)).answers
        if len(lost) != theirs.answers - common or not all(map(are_whole, lost)):
            raise DeviationError
        return Resumed(KeptAnswers(answers + lost, theirs.answers, own=common), copy if theirs.copy else None)
    return Resumed(KeptAnswers(answers, len(answers) if opens_once else common), copy if theirs.copy else None)
