"""Which class of a row has the highest score by naive Bayes, as shared bits (DESIGN 13).

The classes are compared, pair by pair (`learning.contest`): the asker brings `X`, the answerer `Y`. A class wins where
it beats all others. No score, no comparison and no winner is opened here.
"""

from itertools import combinations

import numpy as np

from protocols.learning.contest import Contest
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.bits import bit_planes
from protocols.oblivious.gates import LANES, Gates
from protocols.role import Role
from protocols.tables.table import Rows


def share_winners(contest: Contest, codes: Rows, gates: Gates, *, asks: bool) -> Role[Uint64s]:
    """Return our shares of which class of each row beats all others: a wire for each class, a lane for each row.

    Args:
        contest: The classes.
        codes: Of the rows; our own columns are read.
        gates: On shared bits.
        asks: Whether we bring `X`; else `Y`.

    Discloses: nothing; what it returns are shares.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    classes, words = len(contest.classes), -(-len(codes) // LANES)
    if classes == 1:
        return gates.flipped(np.zeros((1, words), WORD))
    own = _digits(contest, codes, words, asks=asks)
    second = yield from gates.less(gates.ours(own, mine=asks), gates.ours(own, mine=not asks))
    beats: list[list[Uint64s]] = [[] for _ in range(classes)]
    for wins, (one, other) in zip(second, combinations(range(classes), 2), strict=True):
        beats[one].append(gates.flipped(wins))
        beats[other].append(wins)
    return (yield from gates.all_of(np.array(beats, WORD).transpose(1, 0, 2)))


def _digits(contest: Contest, codes: Rows, words: int, *, asks: bool) -> Uint64s:
    """Return the digits of what we compare, the lowest first (`width x pairs x words`)."""
    numbers = contest.numbers(codes) if asks else contest.thresholds(codes)
    padded = np.zeros((contest.pairs, words * LANES), WORD)
    padded[:, : len(codes)] = numbers.T
    return np.stack([bit_planes(each, contest.width) for each in padded], axis=1)
