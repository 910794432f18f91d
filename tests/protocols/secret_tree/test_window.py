"""Windows of gains that nobody sees are those of who sorts them, and nothing but the windows is opened."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.answers import KeptAnswers
from protocols.counts import Query
from protocols.errors import DeviationError
from protocols.facts import Way, WindowsFact
from protocols.learning.ranking import best, sum_bits, whole_gains
from protocols.learning.whole import Whole
from protocols.messages import MaskedPage, OpenedPage
from protocols.role import Message, Note, Role, Save, Send, Transcript, run_alone, run_pair
from protocols.secret_tree.window import SecretRanking, open_windows, window_wires
from protocols.tables import ROOT
from protocols.terms import Growth
from tests.protocols.oblivious.test_gates import SEEDS, SLOW, sides
from tests.protocols.oblivious.test_hostile_peers import sending
from tests.protocols.oblivious.test_views import bits_of, off
from tests.support.plain import FixedTables

WIDTH = 12


def gains(seed: int, nodes: int, count: int, kinds: int) -> tuple[Whole, Whole]:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, kinds, (2, nodes, count))
    return one, other


def play(
    both: tuple[Whole, Whole], omega: int, transcript: Transcript | None = None, width: int = WIDTH
) -> NDArray[np.bool_]:
    games = [open_windows(side, own, omega, width) for side, own in zip(sides(), both, strict=True)]
    ours, theirs = run_pair(games[0], games[1], transcript)
    assert (ours == theirs).all()
    return ours


def sorted_out(both: tuple[Whole, Whole], omega: int) -> NDArray[np.bool_]:
    result = np.zeros_like(both[0], np.bool_)
    for row, sums in zip(result, (both[0] + both[1]).tolist(), strict=True):
        row[list(best(sums, omega))] = True
    return result


@SLOW
@given(SEEDS, st.integers(1, 70), st.integers(2, 9), st.integers(1, 1000), st.data())
def test_windows_are_those_of_a_sort_of_equals_the_first(
    seed: int, nodes: int, count: int, kinds: int, data: st.DataObject
) -> None:
    """Sums of few kinds are mostly equal; those of many differ by as much as the width takes."""
    omega, both = data.draw(st.integers(1, count - 1)), gains(seed, nodes, count, kinds)
    assert (play(both, omega) == sorted_out(both, omega)).all()


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5])
def test_gains_at_both_ends_have_room(classes: int) -> None:
    """Of four candidates the first is worth as much as can be to both, the second as little; one may not split."""
    certain = np.eye(max(2, classes), classes)
    tables = {0: certain * 50, 1: np.ones((2, classes)), 2: certain * 50, 3: certain * 50}
    tables[2][1:] /= 1000
    (ours,) = whole_gains(FixedTables(tables), [Query(ROOT, (0, 1, 2, 3), None)], classes, Growth(min_leaf=2))
    assert classes == 1 or ours[2] == 0
    assert 2 * ours.max() < 1 << sum_bits(classes) - 1
    both = np.stack([ours]), np.stack([ours])
    assert (play(both, 2, width=sum_bits(classes)) == [[True, classes == 1, False, classes > 1]]).all()


def opened(transcript: Transcript) -> list[bytes]:
    pages = [
        [message.words for message in sent if isinstance(message, OpenedPage)]
        for sent in (transcript.sent_by_a, transcript.sent_by_b)
    ]
    return [bytes(a ^ b for a, b in zip(one, other, strict=True)) for one, other in zip(*pages, strict=True)]


def test_what_is_opened_is_a_bit_of_each_candidate_and_says_no_order() -> None:
    both, transcript = gains(5, 30, 6, 400), Transcript()
    windows = play(both, 2, transcript)
    assert opened(transcript) == [window_wires(windows).tobytes()]


def kinds(messages: list[Message]) -> list[tuple[str, list[int]]]:
    return [(type(each).__name__, [len(part) for part in vars(each).values()]) for each in messages]


def test_lengths_and_masked_bits_are_the_same_whatever_the_gains_are() -> None:
    """The simulator of either side: pages of these lengths, whose bits are half ones, and one that opens windows."""
    seen = []
    for both in (gains(5, 200, 6, 400), gains(6, 200, 6, 1)):
        transcript = Transcript()
        play(both, 2, transcript)
        seen.append((kinds(transcript.sent_by_a), kinds(transcript.sent_by_b)))
        for sent in (transcript.sent_by_a, transcript.sent_by_b):
            assert off(bits_of(b"".join(each.words for each in sent if isinstance(each, MaskedPage)), 8)) == []
    assert seen[0] == seen[1]


def test_a_window_of_another_size_ends_the_run() -> None:
    """A side that flips one bit of its share before it is opened puts a candidate in or out of a window."""

    def flipped(message: Message) -> Message:
        if not isinstance(message, OpenedPage):
            return message
        return OpenedPage(bytes([message.words[0] ^ 1, *message.words[1:]]))

    (one, other), (ours, theirs) = sides(), gains(5, 3, 4, 9)
    with pytest.raises(DeviationError):
        run_pair(open_windows(one, ours, 2, WIDTH), sending(open_windows(other, theirs, 2, WIDTH), flipped))


TABLES = {0: np.array([[9, 1], [1, 9]]), 1: np.array([[5, 5], [5, 5]]), 3: np.array([[7, 3], [3, 7]])}


def ranking(first: bool, answers: KeptAnswers | None = None) -> SecretRanking:
    return SecretRanking(FixedTables(TABLES), 2, Growth(), sides()[0 if first else 1], answers)


def test_windows_are_noted_before_and_kept_after_they_are_opened_and_never_asked_again() -> None:
    query = Query(ROOT, (0, 1, 3), None)
    effects: list[object] = []

    def noting(role: Role[list[tuple[int, ...]]]) -> Role[list[tuple[int, ...]]]:
        answer: Message | None = None
        while True:
            try:
                effect = role.send(answer)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            effects.append(effect)
            answer = yield effect

    ours, theirs = run_pair(noting(ranking(True).windows([query], 2)), ranking(False).windows([query], 2))
    assert ours == theirs == [(0, 3)]
    (told,) = (at for at, effect in enumerate(effects) if effect == Note(WindowsFact(Way.TOLD, (query,), None)))
    sent = effects[told + 1]
    assert isinstance(sent, Send)
    assert isinstance(sent.message, OpenedPage)
    assert effects[-2] == Note(WindowsFact(Way.BOTH, (query,), ((0, 3),)))
    assert isinstance(effects[-1], Save)
    kept = KeptAnswers([effects[-1].content], 1)
    assert run_alone(ranking(True, kept).windows([query], 2)) == ours
