"""Sets of items where an item is a column with a value, and Apriori's step from one size to the next."""

from collections.abc import Iterable, Iterator
from itertools import combinations

from protocols.tables.expression import Term

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
