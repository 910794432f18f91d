"""Secure counting by oblivious transfer (DESIGN 15): shares of counts, of which the sums are opened.

The *chooser*, the side without the class, uses as choices which records satisfy `E_a`, its part of a node: one vector
of transfers over all records for each distinct `E_a`, for as long as a level or the next one needs it. The *corrector*
multiplies them with which records satisfy its part and the class, for every count of this `E_a` at once; sums of shares
are shares of counts. The corrector's share goes to the chooser, which checks the counts and sends them.

Both sides make the same plan from the queries and earlier answers. Below the root, of a candidate the last value is
not asked, and of the branches of a split not the largest, where all others are asked: they follow. A share has as many
bits as the node's count of the class; at the root, and with noise, which is in every count, as all records have with
it. Corrections are for all records, always (`protocols.oblivious.products`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Answer, Correct, CountTable, Learned, Predictor, Query
from protocols.errors import InputError, PeerError
from protocols.messages import CountShares
from protocols.oblivious.bits import lanes_of
from protocols.oblivious.extension import TREE_DEPTH, Transfers, set_up
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import BitsAsNumbers, SummedShares, receive_products, send_products
from protocols.randomness import Randomness
from protocols.role import Role, receive
from protocols.tables import AnyOf, Codes, Expression, Schema, Term
from protocols.work import AT_HOME, Places

MOST_TRANSFERS = 1 << 24
"""Whose keys are kept together where they serve once: 256 MiB."""


@dataclass(frozen=True)
class AskedCount:
    """A count that is asked: its place in the batch, the bits of its share, and what its records satisfy.

    `rows` is the corrector's part; the chooser's is the vector's.
    """

    place: int
    width: int
    rows: AnyOf


Vectors = Mapping[Expression, Sequence[AskedCount]]
"""Counts by the chooser's part of what their records satisfy."""
K = TypeVar("K")
Replies = TypeVar("Replies", bound=CountSender | CountReceiver)
Extend = Callable[[Sequence[Expression]], Role[Sequence[K]]]


def keep_keys(kept: dict[Expression, K], vectors: Vectors, extend: Extend[K]) -> Role[None]:
    """Drop the keys of all other vectors, then make transfers for those of these that have no keys.

    Discloses: nothing; what crosses is masked.
    """
    for gone in kept.keys() - vectors.keys():
        del kept[gone]
    if new := [own for own in vectors if own not in kept]:
        kept.update(zip(new, (yield from extend(new)), strict=True))


Totals = dict[int, tuple[int, int]]
"""A share of each count by its place, and the largest that it can be: one less than a power of two."""
QueryPart = tuple[int, int]
"""A query of a batch, and one of its candidates."""
ShareCorrect = Callable[[Learned, Transfers, int], Role[int]]
"""Shares, in this many bits, how many test records a model without leaves classifies correctly."""


@dataclass(frozen=True)
class ColumnSides:
    """Who holds which columns."""

    schema: Schema
    chooser: frozenset[int]

    @property
    def corrector(self) -> frozenset[int]:
        """All columns that are not the chooser's."""
        return frozenset(range(len(self.schema.columns))) - self.chooser

    def vectors(self, cells: Sequence[tuple[int, int, Expression]]) -> dict[Expression, list[AskedCount]]:
        """Sort counts, given by place, width and what their records satisfy, by the chooser's part."""
        result: dict[Expression, list[AskedCount]] = {}
        for place, width, what in cells:
            asked = AskedCount(place, width, AnyOf((what.restricted(self.corrector),)))
            result.setdefault(what.restricted(self.chooser), []).append(asked)
        return result


def refuse_other_models(model: Learned, transfers: Transfers, width: int) -> Role[int]:
    """Refuse to test a model that has no leaves.

    Discloses: nothing; nothing is sent.
    """
    del model, transfers, width
    raise InputError("these terms test trees alone")
    yield


def sides_of(schema: Schema, chooser: str) -> ColumnSides:
    """Return who holds which columns; a class that both hold counts as the corrector's."""
    return ColumnSides(schema, frozenset(schema.held_by(chooser)) - {schema.class_index})


@dataclass
class Planner:
    """Decides which counts of a batch are asked, the same at both sides, and completes it by those that follow.

    `largest` is the largest number that a count may be before it is revealed; exact counts alone follow from others.
    """

    sides: ColumnSides
    largest: int
    is_exact: bool
    _above: dict[Expression, Mapping[int, CountTable]] = field(default_factory=dict)

    def plan(self, queries: Sequence[Query]) -> Vectors:
        """Return the counts that are asked."""
        spared = self._spared(queries)
        cells = []
        for block, query, start in self._blocks(queries):
            if block not in spared:
                cells += list(self._cells(query, block[1], start))
        return self.sides.vectors(cells)

    def complete(self, queries: Sequence[Query], asked: Mapping[int, int]) -> list[int]:
        """Return all counts of a batch from those that were asked, by place."""
        spared, tables = self._spared(queries), dict[QueryPart, NDArray[np.int64]]()
        for block, query, start in self._blocks(queries):
            columns = self.sides.schema.classes
            size = self.sides.schema.attributes[block[1]].size
            places = range(start, start + size * columns)
            table = np.array([asked.get(place, 0) for place in places], np.int64).reshape(size, columns)
            if self._is_known(query):
                table[-1] = np.array(query.class_counts, np.int64) - table[:-1].sum(axis=0)
            tables[block] = table
        for (number, candidate), others in spared.items():
            above = self._above[queries[number].expression.parent]
            rest = sum(tables[other, candidate] for other in others)
            tables[number, candidate] = np.asarray(above[candidate] - rest, np.int64)
        return [int(count) for table in tables.values() for count in table.ravel()]

    def remember(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Keep the answers of a level, for the next one."""
        self._above = {
            query.expression: dict(zip(query.candidates, answer.tables, strict=True))
            for query, answer in zip(queries, answers, strict=True)
        }

    def _is_known(self, query: Query) -> bool:
        """Return whether the node's class counts are those of revealed counts, which make some follow.

        Those of the root are the class holder's word: there all are asked, and must add up to it.
        """
        return self.is_exact and query.class_counts is not None and bool(query.expression.terms)

    def _blocks(self, queries: Sequence[Query]) -> Iterator[tuple[QueryPart, Query, int]]:
        """Yield each candidate of a batch with its query and the place of its first count."""
        start = 0
        for number, query in enumerate(queries):
            for candidate, cells in zip(query.candidates, query.cells(self.sides.schema), strict=True):
                yield (number, candidate), query, start
                start += cells

    def _cells(self, query: Query, candidate: int, start: int) -> Iterator[tuple[int, int, Expression]]:
        schema = self.sides.schema
        known = query.class_counts if self._is_known(query) else None
        for value in range(schema.attributes[candidate].size - (known is not None)):
            for label in range(schema.classes):
                largest = self.largest if known is None else int(known[label])
                if largest:
                    what = query.expression.child(candidate, value) & Term(schema.class_index, label)
                    yield start + value * schema.classes + label, largest.bit_length(), what

    def _spared(self, queries: Sequence[Query]) -> dict[QueryPart, list[int]]:
        """Return for each candidate that is not asked, at the largest branch of a split, all other branches."""
        splits: dict[tuple[Expression, int], list[int]] = {}
        for number, query in enumerate(queries):
            if self._is_known(query):
                splits.setdefault((query.expression.parent, query.expression.terms[-1].column), []).append(number)
        result = {}
        for (parent, attribute), numbers in splits.items():
            for candidate in self._following(parent, attribute, [queries[number] for number in numbers]):
                largest = max(numbers, key=lambda number: sum(queries[number].class_counts or ()))
                result[largest, candidate] = [number for number in numbers if number != largest]
        return result

    def _following(self, parent: Expression, attribute: int, branches: Sequence[Query]) -> Iterator[int]:
        """Yield the candidates of which the counts of all branches add up to known ones."""
        tables = self._above.get(parent, {})
        if attribute not in tables:
            return
        with_records = set(np.flatnonzero(tables[attribute].sum(axis=1)).tolist())
        if {each.expression.terms[-1].value for each in branches} == with_records:
            yield from (
                c for c in branches[0].candidates if c in tables and all(c in each.candidates for each in branches)
            )


@dataclass(frozen=True, eq=False, repr=False)
class SatisfiedRows:
    """Which records satisfy what the corrector's parts of counts say, looked at when it is needed."""

    what: Sequence[AnyOf]
    codes: Codes

    def part(self, records: slice, columns: slice) -> "SatisfiedRows":
        """Return some of it for consecutive records."""
        return SatisfiedRows(self.what[columns], self.codes[records])

    def columns(self) -> Iterator[NDArray[np.bool_]]:
        """Return for each count which records satisfy the part."""
        return (each.satisfied_by(self.codes) for each in self.what)


class ObliviousSide(ABC, Generic[K, Replies]):
    """What both sides of counting by transfers do alike; joint codes have our own columns filled in.

    `share_correct` tests models without leaves.

    Discloses: to the peer, the counts of every batch, exact or with our noise.
    """

    def __init__(
        self,
        sides: ColumnSides,
        train: Codes,
        test: Codes,
        replies: Replies,
        randomness: Randomness,
        share_correct: ShareCorrect = refuse_other_models,
        places: Places = AT_HOME,
    ) -> None:
        self._train, self._test = np.asfortranarray(train), np.asfortranarray(test)
        self._replies, self._randomness = replies, randomness
        self._share_correct, self._places = share_correct, places
        self._planner = Planner(sides, replies.largest, replies.is_exact)
        self._keys: dict[Expression, K] = {}

    def set_up(self) -> Role[None]:
        """Make a session of transfers."""
        self.transfers = yield from set_up(TREE_DEPTH, self._randomness, self._places)

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Make transfers for the vectors that are new, multiply, and hear or send every count."""
        vectors = self._planner.plan(queries)
        yield from keep_keys(self._keys, vectors, self._extending(self._train))
        answers = yield from self._answered(queries, (yield from self._multiply(vectors, self._keys, self._train)))
        self._planner.remember(queries, answers)
        return answers

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Hear or send the number of correctly classified test records."""
        if not len(self._test):
            return Correct(0.0)
        width = self._replies.most_correct.bit_length()
        if isinstance(model, Predictor):
            totals = yield from self._once(_leaves(model, self._planner.sides, width), self._test)
        else:
            share = yield from self._share_correct(model, self.transfers, width)
            totals = {0: (share, (1 << width) - 1)}
        return (yield from self._answered_correct(model, totals))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Hear or send of how many training records each of these is true."""
        width = len(self._train).bit_length()
        vectors = self._planner.sides.vectors([(place, width, what) for place, what in enumerate(sets)])
        return (yield from self._answered_sets(sets, (yield from self._once(vectors, self._train))))

    def _once(self, vectors: Vectors, codes: Codes) -> Role[Totals]:
        """Return our shares of counts whose vectors serve no others."""
        totals: Totals = {}
        for some in _batches(vectors, len(codes)):
            keys = dict[Expression, K]()
            yield from keep_keys(keys, some, self._extending(codes))
            _add(totals, (yield from self._multiply(some, keys, codes)))
        return totals

    @abstractmethod
    def _extending(self, codes: Codes) -> Extend[K]: ...

    @abstractmethod
    def _multiply(self, vectors: Vectors, keys: Mapping[Expression, K], codes: Codes) -> Role[Totals]: ...

    @abstractmethod
    def _answered(self, queries: Sequence[Query], totals: Totals) -> Role[list[Answer]]: ...

    @abstractmethod
    def _answered_correct(self, model: Learned, totals: Totals) -> Role[Correct]: ...

    @abstractmethod
    def _answered_sets(self, sets: Sequence[Expression], totals: Totals) -> Role[list[int]]: ...


class ObliviousChooser(ObliviousSide[ChosenKeys, CountSender]):
    """The side that chooses by its part of each node, opens our shares with the peer's, and sends the counts.

    Discloses: to the peer, the counts of every batch, exact or with our noise.
    """

    def _extending(self, codes: Codes) -> Extend[ChosenKeys]:
        return lambda new: self.transfers.chooser.extend([own.satisfied_by(codes) for own in new])

    def _multiply(self, vectors: Vectors, keys: Mapping[Expression, ChosenKeys], codes: Codes) -> Role[Totals]:
        del codes  # they are in the choices
        receiving = [(keys[own], [cell.width for cell in cells]) for own, cells in vectors.items()]
        shares = SummedShares([(len(chosen), widths) for chosen, widths in receiving])
        yield from receive_products(receiving, shares, self.transfers.places.blocks)
        return _totals(vectors, shares)

    def _answered(self, queries: Sequence[Query], totals: Totals) -> Role[list[Answer]]:
        numbers = yield from self._open(totals)
        return (yield from self._replies.tell(queries, self._planner.complete(queries, numbers)))

    def _answered_correct(self, model: Learned, totals: Totals) -> Role[Correct]:
        (number,) = (yield from self._open(totals)).values()
        return (yield from self._replies.tell_correct(model, number))

    def _answered_sets(self, sets: Sequence[Expression], totals: Totals) -> Role[list[int]]:
        numbers = yield from self._open(totals)
        return (yield from self._replies.tell_sets(sets, [numbers[place] for place in range(len(sets))]))

    def _open(self, ours: Totals) -> Role[dict[int, int]]:
        """Return each count by its place, with the peer's noise if there is any."""
        theirs = (yield from receive(CountShares)).shares
        if len(theirs) != len(ours):
            raise PeerError("the peer sent other shares of counts than were asked for")
        return {place: own + share & most for share, (place, (own, most)) in zip(theirs, ours.items(), strict=True)}


class ObliviousCorrector(ObliviousSide[BothKeys, CountReceiver]):
    """The side that holds the class, and multiplies what the other chooses by its part of each count.

    Discloses: to the peer, the counts of every batch, exact or with our noise; other sums, if it chooses no part of a
    node.
    """

    def _extending(self, codes: Codes) -> Extend[BothKeys]:
        return lambda new: self.transfers.sender.extend([len(codes)] * len(new))

    def _multiply(self, vectors: Vectors, keys: Mapping[Expression, BothKeys], codes: Codes) -> Role[Totals]:
        """Send corrections for all records, and return our shares."""
        sending = []
        for own, cells in vectors.items():
            widths, rows = [cell.width for cell in cells], SatisfiedRows([cell.rows for cell in cells], codes)
            sending.append((keys[own], widths, BitsAsNumbers(rows, list(lanes_of(widths)))))
        shares = SummedShares([(len(both), widths) for both, widths, _ in sending])
        yield from send_products(sending, shares, self.transfers.places.blocks)
        return _totals(vectors, shares)

    def _answered(self, queries: Sequence[Query], totals: Totals) -> Role[list[Answer]]:
        return (yield from self._replies.hear(queries, _shares(totals, self._replies.lifted(queries))))

    def _answered_correct(self, model: Learned, totals: Totals) -> Role[Correct]:
        return (yield from self._replies.hear_correct(_shares(totals, [self._replies.lifted_of(model)])))

    def _answered_sets(self, sets: Sequence[Expression], totals: Totals) -> Role[list[int]]:
        return (yield from self._replies.hear_sets(sets, _shares(totals, [0] * len(sets))))


def _batches(vectors: Vectors, records: int) -> Iterator[Vectors]:
    """Yield vectors that serve once, as many together as memory may hold keys of."""
    every = iter(vectors.items())
    while some := dict(islice(every, max(1, MOST_TRANSFERS // records))):
        yield some


def _totals(vectors: Vectors, shares: SummedShares) -> Totals:
    """Return the shares of each count: of one that has several vectors their sum."""
    totals: Totals = {}
    for cells, own in zip(vectors.values(), shares.shares, strict=True):
        _add(totals, {cell.place: (share, (1 << cell.width) - 1) for cell, share in zip(cells, own, strict=True)})
    return totals


def _add(totals: Totals, more: Totals) -> None:
    for place, (share, most) in more.items():
        totals[place] = (totals.get(place, (0, most))[0] + share & most, most)


def _shares(totals: Totals, noise: Sequence[int]) -> CountShares:
    """Return the corrector's shares, with its noise in them."""
    return CountShares(tuple(share + noise[place] & most for place, (share, most) in totals.items()))


def _leaves(model: Predictor, sides: ColumnSides, width: int) -> dict[Expression, list[AskedCount]]:
    """Return what a tree says as parts of one count: for each distinct part of the chooser, what the corrector's is."""
    rows: dict[Expression, list[Expression]] = {}
    for leaf, label in model.leaves():
        hit = leaf & Term(sides.schema.class_index, label)
        rows.setdefault(hit.restricted(sides.chooser), []).append(hit.restricted(sides.corrector))
    return {own: [AskedCount(0, width, AnyOf(tuple(each)))] for own, each in rows.items()}
