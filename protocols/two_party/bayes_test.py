"""How many held-out records naive Bayes gets right, as shares (DESIGN 7.8), for both sides of oblivious transfers.

Which class of a record has the highest score is no condition that one side's columns and the other's satisfy, so no dot
product counts it. The classes of each record are compared pair by pair (`learning.contest`): the chooser brings `X`,
the corrector `Y`. Nobody sees a result (`oblivious.gates`): a class wins that beats all others, and a record is right
whose own class, which the corrector knows, wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from protocols.counts import Learned
from protocols.errors import InputError
from protocols.learning.contest import Contest
from protocols.learning.naive_bayes import NaiveBayes
from protocols.oblivious.aes import Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import wires_of
from protocols.oblivious.session import Transfers
from protocols.oblivious.triples import Triples
from protocols.randomness import Randomness
from protocols.role import Role
from protocols.tables.schema import Schema
from protocols.tables.table import Codes

_AT_ONCE = 1 << 17
"""Records times pairs of classes that are compared together."""


@dataclass(frozen=True, repr=False)
class BayesTest:
    """One side of the test of naive Bayes.

    Args:
        schema: The joint schema.
        codes: Held-out records, by joint codes with our own columns filled in.
        chooser: The party that chooses; the class is the other's, or of both.
        is_chooser: Whether that is us.
        randomness: Secret chance.

    Discloses: nothing; the result is a share.
    """

    schema: Schema
    codes: Codes
    chooser: str
    is_chooser: bool
    randomness: Randomness

    def __call__(self, model: Learned, transfers: Transfers, width: int) -> Role[int]:
        """Return our share, of this many bits, of how many records are classified correctly.

        Raises:
            InputError: The model is neither tree nor naive Bayes.
        """
        if not isinstance(model, NaiveBayes):
            raise InputError("only trees and naive Bayes are tested")
        contest, total = Contest(model, self.chooser), 0
        gates = Gates(self.is_chooser, transfers, Triples(transfers, self.randomness))
        for codes in self._batches(contest):
            wins = yield from self._wins(contest, codes, gates)
            labels = wires_of(codes[:, self.schema.class_index] == contest.classes[:, None])
            right = yield from gates.both(wins, gates.ours(labels, mine=not self.is_chooser))
            total += yield from gates.ones(np.bitwise_xor.reduce(right, axis=0), width)
        return total % (1 << width)

    def _batches(self, contest: Contest) -> Iterator[Codes]:
        size = max(1, _AT_ONCE // max(1, contest.pairs))
        return (self.codes[start : start + size] for start in range(0, len(self.codes), size))

    def _wins(self, contest: Contest, codes: Codes, gates: Gates) -> Role[Uint64s]:
        """Return our shares of which class of each record beats all others (`classes x words`)."""
        number, digits = len(contest.classes), self._digits(contest, codes)
        if number == 1:
            return gates.flipped(np.zeros((1, digits.shape[-1]), digits.dtype))
        second = yield from gates.less(
            gates.ours(digits, mine=self.is_chooser), gates.ours(digits, mine=not self.is_chooser)
        )
        beats = np.zeros((number, number, digits.shape[-1]), digits.dtype)
        for won, (one, other) in zip(second, combinations(range(number), 2), strict=True):
            beats[other, one], beats[one, other] = won, gates.flipped(won)
        others = np.array([[other for other in range(number) if other != one] for one in range(number)])
        return (yield from gates.all_of(np.swapaxes(beats[np.arange(number)[:, None], others], 0, 1)))

    def _digits(self, contest: Contest, codes: Codes) -> Uint64s:
        """Return the digits of what we compare, the lowest first (`width x pairs x words`)."""
        if self.is_chooser:
            bits = contest.bits(codes)
        else:
            bits = (contest.thresholds(codes)[:, :, None] >> np.arange(contest.width)[::-1] & 1).astype(np.bool_)
        return wires_of(bits[:, :, ::-1].transpose(2, 1, 0))
