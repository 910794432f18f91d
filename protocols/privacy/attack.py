"""The receiver's attack: how many records of a disguised copy its receiver reads (DESIGN 10).

The receiver knows the design and no secret. It lists for every record the truths that could have made it
(`Candidates`), looks for the distribution of records that makes the copy most likely, by expectation-maximization
over these lists, and reads of every record the likeliest candidate. Columns that share a coin leave few candidates, and
how they hang together is sent in the clear; so most records of such a copy may be read.

Coins move a record along its lists and never off them. Records with the same lists, and the same plain columns, are a
*class*; the distribution is an array of classes by places, one axis per group, and a group's matrix acts along its own
axis: `y = plus p + other (sum p)`. No cell that is nobody's candidate has a place, and equal records are one entry. A
step costs the number of places times the number of groups, whatever the number of cells.

The climb begins where the columns are independent, each as common as the copy shows, since most data have more than
one most likely distribution, and this one generalizes best: it reads .97 of mushroom's records where a flat beginning
reads .79. What is read is looked at after each number of steps of `STEPS`: too few do not see how columns hang
together, many follow chance in small classes. Every figure is the most that one of these readings reaches, so it
depends on the truth, as only the owner can know it: no receiver who runs this attack reads more.

Bounded is the work of a step, `WORK` places times groups; records with answers in other columns have shares of it. All
groups are read together as long as that holds, for together they read most; else in blocks of groups, one after the
other. Records with the same answered columns climb if they are one in `MOST_CLIMBS` of all or more: fewer would follow
chance alone, which takes long and reads no more. Of more than `MOST_RECORDS` records, and where one group has too many
places, every second record, or fourth and so on, is read: `CopyReading.records` says how many.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.privacy.chernoff import least_chance, most_chance
from protocols.privacy.loss import shared_coins
from protocols.randomized_response.design import Candidates, Design, Draw, numbered
from protocols.randomized_response.likelihood import most_likely
from protocols.randomized_response.mixed import one_coin_each
from protocols.tables import NO_ANSWER, Codes, Floats, Index

STEPS = (0, 10, 30, 100)
WORK = 1 << 20
MOST_CLIMBS = 256
MOST_RECORDS = 1 << 17
CERTAIN = Fraction(99, 100)
GROUP_ALARM = 0.05
_LIKELY = 0.9  # a reader who is less sure calls nothing certain
_FINE = 1 << 53


@dataclass(frozen=True)
class CopyReading:
    """How much of some records is read rightly; cells of plain columns are no secret and count for nothing.

    Args:
        records: How many were looked at; of `whole` every cell is right.
        cells: Right ones, `of` those that were looked at.
        sure: Right ones of the records that are read for certain: those of which the reader is surest, as many as are
            right at the rate of `CERTAIN`; 0 for one who guesses.
        groups: Records of which the cells of a group are right, for each group of the design that was asked about.
        columns: Of each hidden column, how many cells are right, and how many were looked at.
    """

    records: int
    whole: int
    cells: int
    of: int
    sure: int = 0
    groups: tuple[int, ...] = ()
    columns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Disclosure:
    """What a receiver reads of a copy, beside what less would have shown.

    `apart` is of a copy whose columns are sent alike, each by a coin of its own: of this one where they have such;
    `values` and `record` are by guessing the commonest; in groups that are `shared` several columns share a coin.
    """

    copy: CopyReading
    apart: CopyReading
    values: CopyReading
    record: CopyReading
    shared: tuple[int, ...]

    @property
    def clearest(self) -> tuple[Fraction, Fraction]:
        """What is read of one column, and the share of its commonest value: of the column that keeps least of the rest.

        Columns that say nearly the same have a coin each for one fact, so all of them show it.
        """
        pairs = zip(self.copy.columns, self.values.columns, strict=True)
        both = [(Fraction(*read), Fraction(*common)) for read, common in pairs if read[1]]
        return max(both, key=lambda shares: ((shares[0] - shares[1]) / (1 - shares[1]) if shares[1] < 1 else 0, shares))

    @property
    def joined(self) -> tuple[int, ...]:
        """Groups that are read more often because their columns share a coin, beyond what chance explains.

        Given what the reader has learned of the whole table, records are read independently of each other, so the
        number of right ones keeps to Chernoff's bound. A group is in the list where no one chance explains both shares,
        each within its bound at half of `GROUP_ALARM`.
        """
        copy, apart = self.copy, self.apart
        budget = log(2 / GROUP_ALARM)
        return tuple(
            k
            for k in self.shared
            if least_chance(copy.groups[k] / copy.records, budget / copy.records)
            > most_chance(apart.groups[k] / apart.records, budget / apart.records)
        )


def disclosure(truth: Codes, sent: Codes, design: Design, draw: Draw) -> Disclosure | None:
    """Run the attack on an owner's own table; None where the copy hides nothing: no answers, no group of two values."""
    apart = one_coin_each(design)
    hidden = _hidden(design)
    if (truth[:, hidden] == NO_ANSWER).all():
        return None
    given = (column[column < size] for column, size in zip(truth.T, design.sizes, strict=True))
    first, numbers = numbered(truth[:, hidden])
    read, shared = read_copy(truth, sent, design, design.groups), shared_coins(design)
    return Disclosure(
        read,
        read_copy(truth, apart.randomize(truth, draw), apart, design.groups) if shared else read,
        _guess(truth, design, [int(np.bincount(each, minlength=1).argmax()) for each in given]),
        _guess(truth, design, truth[first[np.bincount(numbers).argmax()]]),
        shared,
    )


def likely_disclosure(sent: Codes, design: Design, chance: Callable[[int], Draw]) -> Disclosure | None:
    """Run the attack, as `disclosure` does, on a table as likely as these responses make it.

    Of each class it has as many records as there are responses, drawn from what the attack takes for their distribution
    in the end. It is disguised, and read.
    """
    sent = sent[read_rows(len(sent))]
    hidden = _hidden(design)
    shares = {column: _shares(sent, column, design) for column in hidden}
    asked = sent[:, hidden] != NO_ANSWER
    alike = [rows for rows in _alike(asked, np.arange(len(sent))) if asked[rows[0]].any()]
    if not alike:
        return None
    parts = (_Part(sent[r], sent[r], design, shares, len(r) / len(sent)) for r in alike)
    truth = np.concatenate([part.drawn(chance(len(sent))) for part in parts])
    return disclosure(truth, design.randomize(truth, chance(len(truth))), design, chance(len(truth)))


def read_copy(truth: Codes, sent: Codes, design: Design, groups: Sequence[Sequence[int]] | None = None) -> CopyReading:
    """Return how much of its own table an owner's copy gives away; `groups` of columns are asked about together."""
    for codes in (truth, sent):
        design.check_fits(np.where(codes == NO_ANSWER, 0, codes))
    if truth.shape != sent.shape or ((truth == NO_ANSWER) != (sent == NO_ANSWER)).any():
        raise InputError("a copy has the records of its table, with answers where the table has them")
    hidden = _hidden(design)
    every = read_rows(len(sent))
    asked = sent[:, hidden] != NO_ANSWER
    shares = {column: _shares(sent, column, design) for column in hidden}
    sets = [[column for column in group if column in hidden] for group in groups or design.groups]
    alike = [rows for rows in _alike(asked, every) if asked[rows[0]].any()]
    parts = [_Part(truth[r], sent[r], design, shares, len(r) / len(every)) for r in alike]
    contexts = [(), design.plain] if design.plain else [()]
    nothing = np.zeros((len(STEPS), 4 + len(sets) + len(hidden)), dtype=np.intp)
    tallies = [sum((part.tally(context, sets) for part in parts), nothing) for context in contexts]
    looked_at = [sum(part.cells_of(column) for part in parts) for column in hidden]
    return _most(np.concatenate(tallies), looked_at)


def read_rows(records: int) -> Index:
    """Return which records are looked at: all, or rows at equal distances, `MOST_RECORDS` at most."""
    return np.arange(0, records, -(-records // MOST_RECORDS) or 1)


def _hidden(design: Design) -> list[int]:
    """Columns that a coin hides."""
    return sorted(column for group in design.groups for column in group if design.sizes[column] > 1)


def _shares(sent: Codes, column: int, design: Design) -> Floats:
    """Return how common the copy shows each value to be, none without a share: as if it had come once more."""
    answered = int((sent[:, column] != NO_ANSWER).sum())
    if not answered:
        return np.ones(design.sizes[column])
    found = most_likely(sent, (column,), design, tolerance=1e-6, limit=1000).shares
    return (found * answered + 1) / (answered + design.sizes[column])


def _alike(asked: NDArray[np.bool_], rows: Index) -> Iterator[Index]:
    """Yield rows with answers in the same columns."""
    _, patterns = numbered(asked[rows].astype(np.uint8))
    for pattern in range(int(patterns.max(initial=-1)) + 1):
        yield rows[patterns == pattern]


def _most(tallies: Index, looked_at: Sequence[int]) -> CopyReading:
    """Return the most of every figure; this many cells of each column were looked at."""
    looked, whole, right, sure, *others = (int(most) for most in tallies.max(axis=0))
    first = len(others) - len(looked_at)
    groups, columns = others[:first], others[first:]
    each = tuple(zip(columns, looked_at, strict=True))
    return CopyReading(looked, whole, right, sum(looked_at), sure, tuple(groups), each)


def _surest(chances: Floats, right: NDArray[np.bool_]) -> int:
    """Return how many are right of the surest readings: as many of these as are right at the rate of `CERTAIN`."""
    order = np.argsort(-chances, kind="stable")
    ranked, hits = chances[order], np.cumsum(right[order])
    ends = np.flatnonzero(np.append(ranked[1:] < ranked[:-1], True) & (ranked >= _LIKELY))
    kept = ends[hits[ends] >= float(CERTAIN) * (ends + 1)]
    return int(hits[kept].max(initial=0))


class _Part:
    """Records with answers in the same columns."""

    def __init__(self, truth: Codes, sent: Codes, design: Design, shares: Mapping[int, Floats], part: float) -> None:
        asked = [column for column in shares if sent[0, column] != NO_ANSWER]
        parts = ((k, [column for column in group if column in asked]) for k, group in enumerate(design.groups))
        self._columns = {k: columns for k, columns in parts if columns}
        self._shares, self._work, self._climbs = shares, WORK * part, part * MOST_CLIMBS >= 1
        while True:
            self._lists = {k: design.candidates(sent, k, columns) for k, columns in self._columns.items()}
            if all(len(_classes([own])[0]) * own.length <= WORK for own in self._lists.values()):
                break
            truth, sent = truth[::2], sent[::2]
        self._truth, self._sent, self._hidden = truth, sent, tuple(shares)
        self._asked = frozenset(asked)

    def cells_of(self, column: int) -> int:
        """Return in how many records a column has an answer."""
        return len(self._truth) if column in self._asked else 0

    def tally(self, context: Sequence[int], sets: Sequence[Sequence[int]]) -> Index:
        """Count by steps: records, whole ones, cells, those read for certain, right sets, cells by column."""
        _, context_of = numbered(self._sent[:, list(context)])
        wrong = np.zeros((len(STEPS), *self._sent.shape), dtype=np.bool_)
        post = np.ones((len(STEPS), len(self._sent)))
        for block in self._blocks(context_of):
            for step, (places, chance) in enumerate(self._block(block, context_of)):
                post[step] *= chance
                for k, where in zip(block, places, strict=True):
                    own, columns = self._lists[k], self._columns[k]
                    wrong[step][:, columns] = own.codes(own.lists, where) != self._truth[:, columns]
        whole: NDArray[np.bool_] = np.logical_not(wrong.any(axis=2))
        columns = [self.cells_of(column) - wrong[:, :, column].sum(axis=1) for column in self._hidden]
        right = np.sum(columns, axis=0)
        sure = [_surest(*each) for each in zip(post, whole, strict=True)]
        groups = [(~wrong[:, :, list(group)].any(axis=2)).sum(axis=1) for group in sets]
        return np.stack([np.full(len(STEPS), len(post[0])), whole.sum(axis=1), right, sure, *groups, *columns], axis=1)

    def drawn(self, draw: Draw) -> Codes:
        """Return records that are as likely as the responses make them."""
        truth, alike = self._sent.copy(), np.zeros(len(self._sent), dtype=np.intp)
        for number, block in enumerate(self._blocks(alike)):
            model, shares = self._model(block, alike)
            for _ in range(STEPS[-1] if self._climbs else 0):
                shares = model.step(shares)
            chance = draw(b"likely truth" + number.to_bytes(4, "big"), _FINE)[: len(truth)] / _FINE
            for k, where in zip(block, model.drawn(shares, chance), strict=True):
                own = self._lists[k]
                truth[:, self._columns[k]] = own.codes(own.lists, where)
        return truth

    def _blocks(self, context: Index) -> list[list[int]]:
        """Return the groups in blocks whose places times groups are within the bound, or which have one group."""
        blocks: list[list[int]] = []
        for k in self._lists:
            wider = [*blocks[-1], k] if blocks else []
            lists = [self._lists[each] for each in wider]
            size = prod(own.length for own in lists) * len(wider)
            if wider and size <= self._work and len(_classes(lists, context)[0]) * size <= self._work:
                blocks[-1] = wider
            else:
                blocks.append([k])
        return blocks

    def _block(self, block: Sequence[int], context: Index) -> Iterator[tuple[list[Index], Floats]]:
        """Yield what is read of these groups after each number of steps: places on the lists, and their chance."""
        model, shares = self._model(block, context)
        read = model.likeliest(shares)
        for done, steps in pairwise((0, *STEPS)):
            if self._climbs and steps > done:
                for _ in range(steps - done):
                    shares = model.step(shares)
                read = model.likeliest(shares)
            yield read

    def _model(self, block: Sequence[int], context: Index) -> tuple["Likelihood", Floats]:
        """Return the likelihood of some groups, and the distribution in which their columns are independent."""
        lists = [self._lists[k] for k in block]
        first, classes = _classes(lists, context)
        model = Likelihood(lists, classes)
        shares = np.ones(model.shape)
        for axis, k in enumerate(block, start=1):
            own = self._lists[k]
            kinds, places = np.repeat(own.lists[first], own.length), np.tile(np.arange(own.length), len(first))
            codes = own.codes(kinds, places)
            each = np.prod([self._shares[c][codes[:, i]] for i, c in enumerate(self._columns[k])], axis=0)
            shares *= _along(each.reshape(len(first), own.length), axis, len(model.shape))
        return model, shares * (1 / float(shares.sum()))


def _classes(lists: Sequence[Candidates], context: Index | None = None) -> tuple[Index, Index]:
    """Return the first record of each class, and the class of each record."""
    keys = [own.lists for own in lists] + ([] if context is None else [context])
    return numbered(np.stack(keys, axis=1))


class Likelihood:
    """How likely a copy is under a distribution of records: an array of classes by places, one axis per group."""

    def __init__(self, lists: Sequence[Candidates], classes: Index) -> None:
        self.shape = (int(classes.max()) + 1, *[own.length for own in lists])
        others = (np.array(own.other, dtype=np.float64)[None] for own in lists)
        self._coins = [
            (float(own.plus), _along(other, axis, len(self.shape)))
            for axis, (own, other) in enumerate(zip(lists, others, strict=True), start=1)
        ]
        self._records = np.ravel_multi_index((classes, *[own.places for own in lists]), self.shape)
        self._seen = np.bincount(self._records, minlength=prod(self.shape)).reshape(self.shape) / len(classes)

    def predicted(self, shares: Floats) -> Floats:
        """Return the chance of every response."""
        for axis, (plus, other) in enumerate(self._coins, start=1):
            shares = plus * shares + other * shares.sum(axis=axis, keepdims=True)
        return shares

    def step(self, shares: Floats) -> Floats:
        """Return the next distribution: that of the candidates as the last one weighs them."""
        predicted = self.predicted(shares)
        ratio = np.divide(self._seen, predicted, out=np.zeros_like(predicted), where=self._seen > 0)
        for axis, (plus, other) in enumerate(self._coins, start=1):
            ratio = plus * ratio + (other * ratio).sum(axis=axis, keepdims=True)
        moved: Floats = shares * ratio
        return moved * (1 / float(moved.sum()))

    def log_likelihood(self, shares: Floats) -> float:
        """Return the mean logarithm of the chance of a record."""
        seen = self._seen > 0
        return float((self._seen[seen] * np.log(self.predicted(shares)[seen])).sum())

    def drawn(self, shares: Floats, chance: Floats) -> list[Index]:
        """Return of every record the places of a candidate, drawn from those of its class."""
        width = prod(self.shape[1:])
        classes = self._records // width
        totals = np.concatenate([[0.0], np.cumsum(shares)])
        low, high = totals[classes * width], totals[(classes + 1) * width]
        found = np.searchsorted(totals, low + chance * (high - low), side="right") - 1
        within = np.clip(found, classes * width, (classes + 1) * width - 1)
        return [np.asarray(place, dtype=np.intp) for place in np.unravel_index(within, self.shape)[1:]]

    def likeliest(self, shares: Floats) -> tuple[list[Index], Floats]:
        """Return of every record the places of its likeliest candidate, and the chance that it is the truth.

        Group by group, the better is kept of the response itself and the best other one of its list.
        """
        best, origin = shares, np.arange(shares.size).reshape(shares.shape)
        for axis, (plus, other) in enumerate(self._coins, start=1):
            itself = (plus + other) * best
            rival, where = _best_other(best, axis)
            best = np.maximum(itself, other * rival)
            origin = np.where(itself >= other * rival, origin, np.take_along_axis(origin, where, axis))
        chance = best.ravel()[self._records] / self.predicted(shares).ravel()[self._records]
        _, *places = np.unravel_index(origin.ravel()[self._records], shares.shape)
        return places, chance


def _along(values: Floats, axis: int, axes: int) -> Floats:
    """Return classes by places with the places along one of these axes."""
    return values.reshape([values.shape[0], *[1] * (axis - 1), values.shape[1], *[1] * (axes - axis - 1)])


def _best_other(values: Floats, axis: int) -> tuple[Floats, Index]:
    """Return for every place along an axis the largest of the others, and where it stands; of one place, nothing."""
    top = values.argmax(axis=axis, keepdims=True)
    without = values.copy()
    np.put_along_axis(without, top, 0, axis)
    second = without.argmax(axis=axis, keepdims=True)
    here = np.arange(values.shape[axis]).reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    where = np.where(here == top, second, top)
    return np.take_along_axis(without if values.shape[axis] == 1 else values, where, axis), where


def _guess(truth: Codes, design: Design, guess: Sequence[int]) -> CopyReading:
    """Return what is right of one guess for every record."""
    hidden = _hidden(design)
    answered = truth[:, hidden] != NO_ANSWER
    right = (truth[:, hidden] == np.array(guess)[hidden]) & answered
    whole = (right | ~answered).all(axis=1) & answered.any(axis=1)
    each = tuple(zip(right.sum(axis=0).tolist(), answered.sum(axis=0).tolist(), strict=True))
    looked = int(answered.any(axis=1).sum())
    return CopyReading(looked, int(whole.sum()), int(right.sum()), int(answered.sum()), columns=each)
