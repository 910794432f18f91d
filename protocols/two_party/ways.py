"""Both sides classify rows by a tree or by naive Bayes, so that the asker hears what comes out (DESIGN 13).

a tree         of each row a sum over the branches that the asker takes (`learning.routes`): its bits are choices of
               oblivious transfers, the answerer's weights are corrections of as many bits as the outcomes need, `W`
naive Bayes    who wins among the classes, as shared bits (`share_winners`); the class's digits are their sums modulo 2

At the end each side has a share of one number per row, and the answerer sends its own. *Why nothing else leaves.* With
`d_e` the correction of an edge `e` and `x_e` the choice, the asker has

    sum of (H(K_e) + x_e d_e)     the answerer     constant - sum of H(K_e,0)      modulo 2**W

(products of Gilboa, CRYPTO 1999, by transfers of Ishai, Kilian, Nissim and Petrank as in `oblivious`), and both add up
to the outcome. Every `d_e` is the weight under a mask that the asker lacks and that serves nothing else: uniform, and
independent of all weights. So the asker's share is uniform and means nothing, and the answerer's is the outcome less
that share: from the outcome and uniform corrections a simulator makes the asker's whole view (a test does). The same
holds of shared bits, where masked words take the place of corrections. The answerer sees choices under masks, and
nothing that depends on what comes out.

*Deviations*: an asker may choose bits that are no route, and hears another sum of the weights, of `W` bits; in naive
Bayes either may turn over a bit that it shares, and the asker hears one bit on how the others came out. An answerer may
bring any weights: then the outcomes are wrong.
*Never again*: a mask serves one weight; of two under one mask the difference is read, and with it the answerer's route.

Which class has the highest score by naive Bayes both share as bits. The classes are compared, pair by pair
(`learning.routes`): the asker brings `X`, the answerer `Y`. A class wins where it beats all others. No score, no
comparison and no winner is opened here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.routes import Contest, Routes, RowOutcome
from protocols.learning.tree import Tree
from protocols.messages import RowShares
from protocols.oblivious.bits import WORD, Uint64s, bit_planes, pack, packed_bytes, plane_words, unpack
from protocols.oblivious.gates import LANES, Gates
from protocols.oblivious.products import GivenNumbers, ProductShares, receive_products, send_products
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables import Rows


def share_winners(contest: Contest, codes: Rows, gates: Gates, *, asks: bool) -> Role[Uint64s]:
    """Return our shares of which class of each row beats all others: a wire for each class, a lane for each row.

    Of `codes` our own columns are read; who asks brings `X`, the other side `Y`.

    Discloses: nothing; what it returns are shares.
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


TRANSFERS_AT_ONCE = 1 << 20
"""Whose keys are kept together: 16 MiB."""


@dataclass(frozen=True, repr=False)
class TreeWay:
    """Rows by a tree.

    Discloses: to the asker, the outcome of each row, if its bits are those of a route; to the answerer, nothing.
    """

    routes: Routes

    @property
    def outcomes(self) -> tuple[RowOutcome, ...]:
        """What a row may come out as."""
        return self.routes.outcomes

    def ask(self, codes: Rows, gates: Gates) -> Role[list[int]]:
        """Return the position of each row's outcome."""
        positions: list[int] = []
        for rows in _batches(len(codes), self.routes.edges):
            bits = self.routes.bits(codes[rows])
            products = ProductShares([(bits.size, [self._width])])
            if bits.size:
                (chosen,) = yield from gates.transfers.chooser.extend([bits.ravel()])
                yield from receive_products([(chosen, [self._width])], products)
            sums = products.shares[0].reshape(bits.shape).sum(axis=1, dtype=WORD)
            positions += _outcomes(sums + (yield from _hear(len(bits), self._width)), self._width, len(self.outcomes))
            yield Progress(Phase.ROWS, rows.stop, len(codes))
        return positions

    def tell(self, codes: Rows, gates: Gates) -> Role[None]:
        """Answer for these rows."""
        most = np.uint64((1 << self._width) - 1)
        for rows in _batches(len(codes), self.routes.edges):
            constants, weights = self.routes.weights(codes[rows])
            numbers = weights.ravel().astype(np.int64).astype(WORD) & most
            products = ProductShares([(numbers.size, [self._width])])
            if numbers.size:
                (both,) = yield from gates.transfers.sender.extend([numbers.size])
                source = GivenNumbers([numbers])
                yield from send_products([(both, [self._width], source)], products)
            sums = products.shares[0].reshape(weights.shape).sum(axis=1, dtype=WORD)
            yield from _tell(sums + constants.astype(WORD) & most, self._width)
            yield Progress(Phase.ROWS, rows.stop, len(codes))

    @property
    def _width(self) -> int:
        return _width(len(self.outcomes))


@dataclass(frozen=True, repr=False)
class BayesWay:
    """Rows by naive Bayes.

    Discloses: to the asker, the class of each row; to the answerer, nothing.
    """

    contest: Contest
    classes: int

    @property
    def outcomes(self) -> tuple[RowOutcome, ...]:
        """What a row may come out as: any class."""
        return tuple(RowOutcome(label) for label in range(self.classes))

    def ask(self, codes: Rows, gates: Gates) -> Role[list[int]]:
        """Return the class of each row."""
        labels: list[int] = []
        for rows in self._batches(codes):
            own = yield from self._share(codes[rows], gates, asks=True)
            theirs = yield from _hear(len(own), _width(self.classes))
            labels += _outcomes(own ^ theirs, _width(self.classes), self.classes)
            yield Progress(Phase.ROWS, rows.stop, len(codes))
        return labels

    def tell(self, codes: Rows, gates: Gates) -> Role[None]:
        """Answer for these rows."""
        for rows in self._batches(codes):
            own = yield from self._share(codes[rows], gates, asks=False)
            yield from _tell(own, _width(self.classes))
            yield Progress(Phase.ROWS, rows.stop, len(codes))

    def _share(self, codes: Rows, gates: Gates, *, asks: bool) -> Role[Uint64s]:
        """Return our shares of the number of each row's class, digit by digit modulo 2."""
        wins = yield from share_winners(self.contest, codes, gates, asks=asks)
        has = [self.contest.classes >> digit & 1 == 1 for digit in range(_width(self.classes))]
        return plane_words(np.array([np.bitwise_xor.reduce(wins[each], axis=0) for each in has]))[: len(codes)]

    def _batches(self, codes: Rows) -> Iterator[slice]:
        return _batches(len(codes), self.contest.pairs * self.contest.width)


ModelWay = TreeWay | BayesWay


def _batches(rows: int, transfers: int) -> Iterator[slice]:
    """Cut rows into what is classified at once, by how many transfers each row needs."""
    batch = max(1, TRANSFERS_AT_ONCE // max(1, transfers))
    return (slice(start, min(rows, start + batch)) for start in range(0, rows, batch))


def _width(outcomes: int) -> int:
    return max(1, (outcomes - 1).bit_length())


def _tell(shares: Uint64s, width: int) -> Role[None]:
    yield Send(RowShares(pack(shares, width)))


def _hear(rows: int, width: int) -> Role[Uint64s]:
    data = (yield from receive(RowShares)).shares
    if len(data) != packed_bytes(rows, width):
        raise PeerError("the peer sent answers for more or fewer rows than were asked")
    return unpack(data, rows, width)


def _outcomes(sums: Uint64s, width: int, outcomes: int) -> list[int]:
    positions: list[int] = (sums & np.uint64((1 << width) - 1)).tolist()
    if not all(number < outcomes for number in positions):
        raise DeviationError
    return positions


def check_shared(model: Model, parties: tuple[str, str]) -> None:
    """Make sure that two parties can classify rows together by a model."""
    owners = {model.schema.attributes[column].party for column in model.columns}
    if not owners <= set(parties):
        raise InputError(f"the model reads columns of others than {' and '.join(parties)}")
    way_of(model, parties[0], probabilities=False)


def way_of(model: Model, asker: str, *, probabilities: bool) -> ModelWay:
    """Return how one party asks the other for the classes of rows by a model."""
    if probabilities and hides_shares(model):
        raise InputError(NO_SHARES)
    match model:
        case Tree():
            return TreeWay(Routes(model, asker, probabilities=probabilities))
        case NaiveBayes():
            return BayesWay(Contest(model, asker), model.schema.classes)


def hides_shares(model: Model) -> bool:
    """Return whether two parties get classes alone by a model, and not the shares of the classes."""
    match model:
        case Tree():
            return False
        case NaiveBayes():
            return True


NO_SHARES = (
    "shares of the classes by naive Bayes would reveal the other side's columns of each row: ask for classes alone, "
    "or classify where all columns are in one file"
)
