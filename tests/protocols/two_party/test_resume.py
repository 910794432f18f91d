"""What both have kept of a run: as much as the shorter memory, if it is the beginning of the longer one."""

from collections.abc import Iterator
from dataclasses import dataclass

from protocols.errors import DeviationError
from protocols.role import Part
from protocols.two_party.memory import Resumed, resume
from tests.support.duel import End, duel

FIRST, SECOND, OTHER = (bytes([number]) * 8 for number in range(3))


@dataclass(frozen=True)
class Remembered:
    """Has kept these answers of a run, and nothing else."""

    answers: tuple[bytes, ...]

    def recall(self, part: Part) -> Iterator[bytes]:
        yield from self.answers if part is Part.ANSWERS else ()


def both(*answers: tuple[bytes, ...]) -> tuple[End[Resumed], End[Resumed]]:
    alice, bob = (resume(Remembered(each), b"nonces") for each in answers)
    return duel(alice, bob)


def test_what_both_remember_is_recalled() -> None:
    for hers in ((), (FIRST,), (FIRST, SECOND)):
        for end in both(hers, (FIRST, SECOND)):
            assert end.error is None
            assert end.result is not None
            recalled = [end.result.answers.recalled() for _ in range(3)]
            assert sum(each is not None for each in recalled) == len(hers)
    alice, bob = both((FIRST, SECOND), (FIRST, OTHER))
    assert type(alice.error) is type(bob.error) is DeviationError
    longer, _ = both((FIRST, SECOND), (OTHER,))
    assert type(longer.error) is DeviationError
