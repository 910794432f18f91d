"""Counts that both parties remember are not asked for again (DESIGN 12).

A later run over the same tables, with another window or to another depth, asks for many counts that an earlier one has
told. Both take them from memory; only what is new is counted under encryption, and told. What one side alone remembers
is counted again, and must be what it was: a peer that claims to have forgotten cannot ask about another table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from protocols.counts import Answer, Correct, CountEngine, CountKey, CountTable, KnownCounts, Learned, Query
from protocols.errors import DeviationError
from protocols.role import Role


def count_key(query: Query, candidate: int) -> CountKey:
    """Return under which key the counts of a query's candidate are remembered."""
    return frozenset(query.expression.terms), candidate


class RememberedCounts:
    """An engine that is asked only for what is not known.

    Args:
        engine: Counts the rest.
        known: The same at both parties.
        own: What we know, whether the peer does or not.

    Discloses: whatever `engine` discloses of what is asked.
    """

    def __init__(self, engine: CountEngine, known: KnownCounts, own: KnownCounts) -> None:
        self._engine, self._known, self._own = engine, known, own
        self.taken = 0
        """How many counts came from memory."""

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Ask for what is not known, and put it beside what is.

        Raises:
            DeviationError: Remembered counts do not add up to the node's, or new ones are not what we remember.
        """
        asked = [query for query in map(self._unknown, queries) if query.candidates]
        told = iter((yield from self._engine.count(asked)) if asked else [])
        return [Answer(tuple(self._tables(query, told))) for query in queries]

    def _unknown(self, query: Query) -> Query:
        return replace(query, candidates=tuple(c for c in query.candidates if count_key(query, c) not in self._known))

    def _tables(self, query: Query, told: Iterator[Answer]) -> Iterator[CountTable]:
        new = iter(next(told).tables if self._unknown(query).candidates else ())
        for candidate in query.candidates:
            key = count_key(query, candidate)
            table = self._known.get(key)
            if table is None:
                told_now = next(new)
                check_same_as_before(key, told_now, self._own)
                yield told_now
                continue
            if query.class_counts is not None and tuple(table.sum(axis=0).tolist()) != query.class_counts:
                raise DeviationError
            self.taken += table.size
            yield table

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Have the engine count them."""
        return (yield from self._engine.count_correct(model))


def check_same_as_before(key: CountKey, told: CountTable, own: KnownCounts) -> None:
    """Refuse counts that are told again, and are others.

    Raises:
        DeviationError: They are: of these tables they cannot have changed.
    """
    if key in own and not np.array_equal(own[key], told):
        raise DeviationError
