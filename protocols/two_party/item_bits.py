"""How much the counts of sets may tell of each column: at most half of the bits of who has which value (DESIGN 14).

A count of a set with the item `column = value` is one equation in who has that item, for who knows the rest of the
set. The items of one column are not unknown apart from each other: who has one has no other. So they share what may be
told of their column, or two items of a column of two values would tell all of it, half and half. The last value that a
rest is counted with follows from the others, and tells nothing more.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from protocols.association.term_sets import TermSet
from protocols.learning.bounds import MOST_TOLD, told_bits, unknown_bits
from protocols.learning.limits import SLACK
from protocols.tables.expression import Term


class ItemBits:
    """What was told of each column, and what may be; equal at both parties, who know the counts of all single items.

    Args:
        own: The counts that each party has told of sets of its own items.
        records: How many there are.
    """

    def __init__(self, own: Mapping[TermSet, int], records: int) -> None:
        self._own, self._records = own, records
        self._bits = defaultdict[int, float](float)
        self._rests = Counter[tuple[TermSet, int]]()

    def may_tell(self, terms: TermSet) -> bool:
        """Tell whether the count of this set leaves half of what is unknown of each of its columns."""
        return all(self._bits[term.column] + self._told(terms, term) <= self._most(term.column) for term in terms)

    def tell(self, terms: TermSet) -> None:
        """Count what the count of this set tells."""
        for term in terms:
            self._bits[term.column] += self._told(terms, term)
        self._rests.update((_without(terms, term), term.column) for term in terms)

    def _told(self, terms: TermSet, term: Term) -> float:
        counts = self._counts[term.column]
        follows = sum(counts) == self._records and self._rests[_without(terms, term), term.column] == len(counts) - 1
        return 0.0 if follows else told_bits(self._own[(term,)], self._records)

    def _most(self, column: int) -> float:
        """Return the most bits of a column; records whose value is no item are alike, as far as is known."""
        counts = self._counts[column]
        return MOST_TOLD * unknown_bits([*counts, self._records - sum(counts)]) + SLACK

    @cached_property
    def _counts(self) -> Mapping[int, list[int]]:
        counts: dict[int, list[int]] = {}
        for terms, count in self._own.items():
            if len(terms) == 1:
                counts.setdefault(terms[0].column, []).append(count)
        return counts


def _without(terms: Iterable[Term], term: Term) -> TermSet:
    return tuple(each for each in terms if each != term)
