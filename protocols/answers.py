"""The answers of a run, in their order: what both sides remember of one is not asked again (DESIGN 12).

An answer is what both sides learn from a batch of questions: class counts, windows, counts, a level of a tree, or how
many records are classified correctly. Both ask the same batches in the same order, so that an answer is known by its
place. A side that remembers one which the other has lost is asked again, and must hear the same.
"""

from collections.abc import Callable, Sequence

import numpy as np

from protocols.errors import DeviationError
from protocols.randomness import keyed_digest
from protocols.role import Part, Role, Save

AnswerNumbers = tuple[float, ...]
"""Whole numbers below `2^53`, and estimates, which are equal on both sides to the last bit."""


class KeptAnswers:
    """The answers of a run that goes on: those that either side remembers, how many both know, how many we have saved.

    Discloses: nothing of its own; what is asked for discloses what its role does.
    """

    def __init__(self, kept: Sequence[bytes] = (), common: int = 0, own: int | None = None) -> None:
        self._kept, self._common = kept, common
        self._own = len(kept) if own is None else own
        self._next = 0

    def recalled(self) -> AnswerNumbers | None:
        """Return the next answer if both remember it; None if it has to be asked for, and then kept."""
        if self._next >= self._common:
            return None
        self._next += 1
        return tuple(np.frombuffer(self._kept[self._next - 1]).tolist())

    def keep(self, answer: AnswerNumbers) -> Role[None]:
        """Save an answer before anything is done with it; if we remembered it alone, it must be the same."""
        number, content = self._next, np.array(answer, dtype=np.float64).tobytes()
        self._next += 1
        if number >= len(self._kept):
            yield Save(Part.ANSWERS, number, content)
        elif self._kept[number] != content:
            raise DeviationError

    def ask(
        self, question: Role[AnswerNumbers], fits: Callable[[AnswerNumbers], bool] = lambda _: True
    ) -> Role[AnswerNumbers]:
        """Return the next answer: as both remember it, if it `fits` (the peer may have sent it), or by asking."""
        known = self.recalled()
        if known is not None:
            question.close()
            if not fits(known):
                raise DeviationError
            if self._next > self._own:
                yield Save(Part.ANSWERS, self._next - 1, self._kept[self._next - 1])
            return known
        answer = yield from question
        yield from self.keep(answer)
        return answer


def are_whole(content: bytes) -> bool:
    """Return whether an answer that a peer has sent is of whole numbers alone."""
    numbers = np.frombuffer(content)
    return bool((np.abs(numbers) < 2.0**53).all() and (numbers == np.floor(numbers)).all())


def answers_digest(nonces: bytes, kept: Sequence[bytes]) -> bytes:
    """Return a digest of answers that says nothing to anyone who does not know them all."""
    return keyed_digest(nonces, b"answers", *kept)
