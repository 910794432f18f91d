"""Answers that both remember are not asked again; one that we alone remember must be heard again."""

from typing import Any

import numpy as np
import pytest

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.errors import DeviationError
from protocols.messages import KeptParts, LostAnswers
from protocols.role import Part, Role, Save, Send, receive, run_alone, run_pair
from protocols.two_party.memory import resume
from tests.support.duel import duel

FIRST, SECOND = (3.0, 5.0), (-1.0, 2.0**52)


def asked(told: AnswerNumbers) -> Role[AnswerNumbers]:
    yield from ()
    return told


def saved(role: Role[Any]) -> tuple[list[Save], Any]:
    found: list[Save] = []
    try:
        while True:
            effect = next(role)
            assert isinstance(effect, Save)
            found.append(effect)
    except StopIteration as stop:
        return found, stop.value


def kept(*answers: AnswerNumbers) -> list[bytes]:
    fresh = KeptAnswers()
    return [saved(fresh.ask(asked(each)))[0][0].content for each in answers]


def test_an_answer_is_kept_before_it_is_used_and_not_asked_again() -> None:
    fresh = KeptAnswers()
    for number, told in enumerate((FIRST, SECOND)):
        ((item,), result) = saved(fresh.ask(asked(told)))
        assert (item.part, item.number, result) == (Part.ANSWERS, number, told)

    def never() -> Role[AnswerNumbers]:
        yield Send(KeptParts(0, b"", copy=False))
        return ()

    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    assert run_alone(answers.ask(never())) == FIRST
    assert saved(answers.ask(asked(SECOND))) == ([], SECOND)  # we remember it, and hear it again
    assert saved(answers.ask(asked(FIRST)))[0][0].number == 2


@pytest.mark.parametrize("told", [FIRST, SECOND[::-1], SECOND[:1], ()])
def test_an_answer_other_than_the_one_that_we_remember_ends_the_run(told: AnswerNumbers) -> None:
    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    answers.recalled()
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(told)))


class Memory:
    def __init__(self, answers: list[bytes], opened: int = 0) -> None:
        self._parts = {Part.ANSWERS: answers, Part.COPY: [], Part.OPENED: [b""] * opened}

    def recall(self, part: Part) -> Any:
        return iter(self._parts[part])


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)])
def test_the_common_answers_are_those_that_the_shorter_memory_has(ours: int, theirs: int) -> None:
    every = kept(FIRST, SECOND)
    pair = run_pair(resume(Memory(every[:ours]), b"n"), resume(Memory(every[:theirs]), b"n"))
    for resumed in pair:
        for told in (FIRST, SECOND)[: min(ours, theirs)]:
            assert resumed.answers.recalled() == told
        assert resumed.answers.recalled() is None


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)])
def test_what_is_opened_once_is_sent_to_whoever_has_lost_it_and_saved_when_it_fits(ours: int, theirs: int) -> None:
    every = kept(FIRST, SECOND)
    left, right = (resume(Memory(every[:each], opened=2), b"n", opens_once=True) for each in (ours, theirs))
    for memory, resumed in zip((ours, theirs), run_pair(left, right), strict=True):
        for number, told in enumerate((FIRST, SECOND)[: max(ours, theirs)]):
            items, known = saved(resumed.answers.ask(asked(()), told.__eq__))
            assert known == told
            assert [item.number for item in items] == ([number] if number >= memory else [])
        assert resumed.answers.recalled() is None


@pytest.mark.parametrize(
    ("lost", "opened", "fits"),
    [([], 1, False), ([0.5], 1, False), ([np.nan], 1, False), ([3.0], 1, True), ([3.0], 0, False)],
)
def test_what_a_peer_has_kept_for_us_is_as_many_whole_numbers_as_it_says_and_was_opened_here(
    lost: list[float], opened: int, *, fits: bool
) -> None:
    def lying() -> Role[None]:
        yield Send(KeptParts(1, bytes(32), copy=False))
        yield from receive(KeptParts)
        yield Send(LostAnswers(tuple(np.array([number]).tobytes() for number in lost)))

    ends = duel(resume(Memory([], opened), b"n", opens_once=True), lying())
    assert any(isinstance(end.error, DeviationError) for end in ends) != fits


def test_what_a_peer_has_kept_and_is_no_answer_ends_the_run() -> None:
    answers = KeptAnswers(kept(FIRST), common=1, own=0)
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(FIRST), lambda numbers: numbers == SECOND))
    ends = duel(resume(Memory(kept(FIRST)), b"n"), resume(Memory(kept(SECOND, FIRST)), b"n"))
    assert any(isinstance(end.error, DeviationError) for end in ends)
