"""The frequent itemsets of one party's own columns that do not single out few people.

A party that chooses its columns knows whom each count that it receives stands for, and can subtract one from the
other. So with a limit a set is used only if the records in which it differs from each set that is used and from its
complement, and from having no record and having all of them, are 0 or as many as the limit (the groups that Atzori,
Bonchi, Giannotti and Pedreschi, VLDB Journal 2008, call k-anonymous patterns; here for every difference of two counts,
and for two counts beside that of all records, which is known). Each of these speaks of the other side's items of that
many people. Sums of more counts may speak of fewer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protocols.tables import Codes, Term

TermSet = tuple[Term, ...]
"""Items by rising columns, one per column."""


def larger_sets(kept: Iterable[TermSet]) -> Iterator[TermSet]:
    """Yield the sets of one item more, one per column, whose subsets are all among these, in rising order."""
    known = sorted(kept)
    there = set(known)
    after: dict[TermSet, list[Term]] = {}
    for terms in known:
        after.setdefault(terms[:-1], []).append(terms[-1])
    for start, lasts in after.items():
        for first, second in combinations(lasts, 2):
            union = (*start, first, second)
            if first.column < second.column and all(part in there for part in combinations(union, len(union) - 1)):
                yield union


_Bits = NDArray[np.uint8]


@dataclass(frozen=True, repr=False)
class OwnSet:
    """A set of items of one party, and how many records have it."""

    terms: TermSet
    count: int


@dataclass(frozen=True, repr=False)
class OwnSets:
    """What a party brings to finding rules: sets whose counts may be sent, fewest items first; `complete` if all.

    `withheld` are frequent ones that are not used, since they differ from others in few records.
    """

    sets: tuple[OwnSet, ...]
    withheld: int
    complete: bool


def find_own_sets(codes: Codes, items: Sequence[Term], least: int, limits: tuple[int, int], most: int) -> OwnSets:
    """Find the frequent sets of our own items in joint codes; the search stops where there are more than `most`.

    `limits` are the most items of a set, and the fewest records that a difference of two counts may stand for.
    """
    max_len, smallest = limits
    found, withheld = _Found(len(codes), smallest), 0
    level: Iterator[tuple[TermSet, _Bits]] = (
        ((item,), np.packbits(codes[:, item.column] == item.value)) for item in sorted(items)
    )
    for _ in range(max_len):
        kept: dict[TermSet, _Bits] = {}
        for terms, bits in level:
            count = int(np.bitwise_count(bits).sum())
            if count < least:
                continue
            if not found.may_add(bits, count):
                withheld += 1
                continue
            if len(found.sets) == most:
                return OwnSets(tuple(found.sets), withheld, complete=False)
            found.add(OwnSet(terms, count), bits)
            kept[terms] = bits
        level = _joined(kept)
    return OwnSets(tuple(found.sets), withheld, complete=True)


def _joined(kept: Mapping[TermSet, _Bits]) -> Iterator[tuple[TermSet, _Bits]]:
    """Yield the sets of one item more with their records, one by one: memory may not hold the records of all."""
    for terms in larger_sets(kept):
        yield terms, kept[terms[:-1]] & kept[(*terms[:-2], terms[-1])]


class _Found:
    """The sets that are used, as bits of the records that have them."""

    def __init__(self, records: int, smallest: int) -> None:
        self.sets: list[OwnSet] = []
        self._records, self._smallest = records, smallest
        self._bits = np.zeros((16, -(-records // 8)), dtype=np.uint8)
        self._counts = np.zeros(16, dtype=np.int64)

    def may_add(self, bits: _Bits, count: int) -> bool:
        """Return whether a set differs enough from those that are used, from their complements, from no record and all.

        Two sets differ in as many records as their counts do, or in more: only near ones are compared record by record.
        """
        if self._smallest <= 1:
            return True
        used = self._counts[: len(self.sets)]
        near = self._bits[: len(self.sets)][np.abs(used - count) < self._smallest]
        beside = self._bits[: len(self.sets)][np.abs(used + count - self._records) < self._smallest]
        apart = [_differences(near, bits), self._records - _differences(beside, bits)]
        every = np.concatenate([*apart, [count, self._records - count]])
        return not ((every > 0) & (every < self._smallest)).any()

    def add(self, found: OwnSet, bits: _Bits) -> None:
        """Use a set."""
        if len(self.sets) == len(self._bits):
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._bits[len(self.sets)], self._counts[len(self.sets)] = bits, found.count
        self.sets.append(found)


def _differences(sets: NDArray[np.uint8], bits: _Bits) -> NDArray[np.int64]:
    """Return in how many records each of some sets differs from another."""
    apart: NDArray[np.int64] = np.bitwise_count(sets ^ bits).sum(axis=1, dtype=np.int64)
    return apart
