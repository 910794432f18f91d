"""Secure counting by dot products, the paper's protocol (Hybrid 2.1; Goethals 2004; DESIGN 6.1).

`N(E) = V_a . V_b`: the key holder sends `Enc(V_a[i])` for every record, the evaluator adds those with
`V_b[i] = 1`, and the key holder decrypts. Three economies, without which `smc` would be slower than it has to be:

* a *plane* packs several 0/1 columns of the key holder into one plaintext per record: all `A = v` (and class) of its
  candidates at once, one slot each;
* a plane depends on the key holder's part `E_a` of the path only, so nodes that agree on it share it, and children
  split on the evaluator's attribute reuse their parent's;
* counts travel back packed.

Both sides compute the same plan from the queries alone, so nothing but ciphertexts and counts crosses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import Generic

import numpy as np

from protocols.ciphers.port import AnyCiphertexts, Ciphertexts, KeyHolder, Reply, Shape, Sums, Values
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Answer, Correct, Learned, Predictor, Query
from protocols.errors import InputError, PeerError
from protocols.messages import CiphertextPage, PackedCounts
from protocols.randomness import Randomness
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables import ROOT, Codes, Expression, Index, Schema, Term
from protocols.work import PageEncryptor

CIPHERTEXT_PAGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Plane:
    """Columns of the key holder that travel together: slot `j` of record `i` is `[i satisfies path and slots[j]]`."""

    path: Expression
    slots: tuple[Expression, ...]


@dataclass(frozen=True)
class Item:
    """One product: the plane's ciphertexts of the records that satisfy the evaluator's `selection`.

    Slot `j` of the result is count number `cells[j]` of the batch.
    """

    plane: Plane
    selection: Expression
    cells: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """What both sides know: who holds which columns, and how many slots fit."""

    schema: Schema
    key_holder: str
    slots: int

    @property
    def holder_columns(self) -> frozenset[int]:
        """The key holder's columns; a class that both hold counts as the evaluator's."""
        columns = frozenset(self.schema.held_by(self.key_holder))
        shared = len(self.schema.class_owners) > 1
        return columns - {self.schema.class_index} if shared else columns

    @property
    def evaluator_columns(self) -> frozenset[int]:
        """All other columns."""
        return frozenset(range(len(self.schema.columns))) - self.holder_columns


def make_layout(schema: Schema, key_holder: str, largest: int, cipher: AnyCiphertexts) -> Layout:
    """Lay the planes out for this key: as many slots as a reply can carry, of numbers up to `largest`."""
    return Layout(schema, key_holder, cipher.slots(largest))


def page_length(cipher: AnyCiphertexts) -> int:
    """Return how many ciphertexts make a page of about 1 MiB."""
    return max(1, CIPHERTEXT_PAGE_BYTES // cipher.ciphertext_bytes)


def plan(queries: Sequence[Query], layout: Layout) -> list[Item]:
    """Return the products that answer a batch, grouped by number of slots."""
    items: list[Item] = []
    start = 0
    for query in queries:
        items += _items_of(query, layout, start)
        start += sum(query.cells(layout.schema))
    return sorted(items, key=lambda item: len(item.plane.slots))


def _items_of(query: Query, layout: Layout, start: int) -> Iterator[Item]:
    """Put all cells that differ on the key holder's side only into the slots of one item."""
    path = query.expression.restricted(layout.holder_columns)
    rows = query.expression.restricted(layout.evaluator_columns)
    shared: dict[Expression, list[tuple[Expression, int]]] = {}
    for number, cell in enumerate(_cells(query, layout.schema)):
        selection = Expression((*rows.terms, *cell.restricted(layout.evaluator_columns).terms))
        shared.setdefault(selection, []).append((cell.restricted(layout.holder_columns), start + number))
    for selection, slots in shared.items():
        for first in range(0, len(slots), layout.slots):
            holders, cells = zip(*slots[first : first + layout.slots], strict=True)
            yield Item(Plane(path, holders), selection, cells)


def _cells(query: Query, schema: Schema) -> Iterator[Expression]:
    """`A = v and class = c` of every count of the query, in the order of the batch."""
    for candidate in query.candidates:
        for value, label in combinations(range(schema.attributes[candidate].size), range(schema.classes)):
            yield Expression((Term(candidate, value), Term(schema.class_index, label)))


def plan_sets(asked: Sequence[Sequence[Expression]], layout: Layout) -> list[Item]:
    """Return the products whose sums are of how many records any of these is true, one per expression."""
    return [
        Item(
            Plane(each.restricted(layout.holder_columns), (ROOT,)), each.restricted(layout.evaluator_columns), (number,)
        )
        for number, disjoint in enumerate(asked)
        for each in disjoint
    ]


def planes_of(items: Sequence[Item]) -> list[Plane]:
    """Return the planes that the items need, each once, in the order of first use."""
    return list(dict.fromkeys(item.plane for item in items))


class DotProductKeyHolder(Generic[Values]):
    """The party whose columns are encrypted; joint codes have our own columns filled in.

    A raw decryption never leaves (FAULTS A12).

    Discloses: to the peer, ciphertexts under our key, and the counts of every batch, exact or with our noise.
    """

    def __init__(
        self,
        encryption: PageEncryptor,
        layout: Layout,
        train: Codes,
        test: Codes,
        key: KeyHolder[Values],
        telling: CountSender,
    ) -> None:
        self._encryption, self._layout, self._key, self._telling = encryption, layout, key, telling
        self._train, self._test = train, test
        self._known: set[Plane] = set()

    def set_up(self) -> Role[None]:
        """Nothing is sent before the first batch."""
        yield from ()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Send the planes that the evaluator lacks, then decrypt, check and send the counts."""
        items = plan(queries, self._layout)
        planes = planes_of(items)
        yield from self._send([plane for plane in planes if plane not in self._known], self._train, Phase.COLUMNS)
        self._known = set(planes)
        counts = yield from self._decrypt(shapes_of(items), self._telling.largest)
        cells = [cell for item in items for cell in item.cells]
        ordered = [count for _, count in sorted(zip(cells, counts, strict=True))]
        return (yield from self._telling.tell(queries, ordered))

    def _send(self, planes: Sequence[Plane], codes: Codes, phase: Phase) -> Role[None]:
        done, total = 0, len(planes) * len(codes)
        for page in self._encryption.encrypt_pages(self._pages(planes, codes)):
            yield Send(CiphertextPage(page))
            done += len(page) // self._key.public.ciphertext_bytes
            yield Progress(phase, done, total)

    def _pages(self, planes: Sequence[Plane], codes: Codes) -> Iterator[list[int]]:
        """Yield the plaintexts of all planes, a page at a time; no page holds two planes."""
        length = page_length(self._key.public)
        for plane in planes:
            inside = plane.path.satisfied_by(codes)
            columns = np.stack([inside & slot.satisfied_by(codes) for slot in plane.slots], axis=1)
            plaintexts = self._key.pack(columns, self._telling.largest)
            for start in range(0, len(codes), length):
                yield plaintexts[start : start + length]

    def _decrypt(self, shapes: Sequence[Shape], largest: int) -> Role[list[int]]:
        """Receive one message with all items of these shapes, and return their numbers in order, lifted if noisy."""
        return self._key.counts((yield from receive(PackedCounts)).ciphertexts, shapes, largest)

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Send one plane per distinct leaf, then decrypt and send the number of correctly classified test records."""
        if not len(self._test):
            return Correct(0.0)
        items = plan_sets([_right(model, self._layout)], self._layout)
        yield from self._send(planes_of(items), self._test, Phase.HELD_OUT)
        (number,) = yield from self._decrypt([Shape(1, 1)], self._telling.most_correct)
        return (yield from self._telling.tell_correct(model, number))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Send one plane per distinct part of ours, then decrypt, check and send how many records have each."""
        items = plan_sets([[each] for each in sets], self._layout)
        yield from self._send(planes_of(items), self._train, Phase.COLUMNS)
        counts = yield from self._decrypt([Shape(len(sets), 1)], len(self._train))
        return (yield from self._telling.tell_sets(sets, counts))


class DotProductEvaluator(Generic[Values]):
    """The party that adds the ciphertexts of the records it selects; joint codes have our own columns filled in.

    Discloses: to the peer, rerandomized encryptions of the counts of every batch, exact or with our noise; of other
        sums, if it has encrypted anything but bits (DESIGN 6.2).
    """

    def __init__(
        self,
        layout: Layout,
        train: Codes,
        test: Codes,
        cipher: Ciphertexts[Values],
        hearing: CountReceiver,
        randomness: Randomness,
    ) -> None:
        self._layout, self._cipher, self._hearing, self._randomness = layout, cipher, hearing, randomness
        self._train, self._test = train, test
        self._known: dict[Plane, Values] = {}

    def set_up(self) -> Role[None]:
        """Nothing is received before the first batch."""
        yield from ()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Receive the planes that are new, form every count of the batch and have it decrypted."""
        items = plan(queries, self._layout)
        planes = planes_of(items)
        unknown = [plane for plane in planes if plane not in self._known]
        new = yield from self._receive(unknown, len(self._train), Phase.COLUMNS)
        self._known = {plane: new[plane] if plane in new else self._known[plane] for plane in planes}
        noise, replies = self._hearing.lifted(queries), []
        for slots in sorted({len(item.plane.slots) for item in items}):
            same = [item for item in items if len(item.plane.slots) == slots]
            sums = self._cipher.sums(len(same))
            for position, item in enumerate(same):
                self._select(sums, position, item, self._known[item.plane], self._train)
            numbers = [[noise[cell] for cell in item.cells] for item in same]
            replies.append(Reply(self._noised(sums.totals(), numbers, self._hearing.largest), slots))
        return (yield from self._hearing.hear(queries, self._sealed(replies, self._hearing.largest)))

    def _noised(self, totals: Values, noise: Sequence[Sequence[int]], largest: int) -> Values:
        """Add our noise, lifted, to the numbers of each item; without noise they stay as they are."""
        return totals if self._hearing.is_exact else self._cipher.add_to_slots(totals, noise, largest)

    def _sealed(self, replies: Sequence[Reply[Values]], largest: int) -> PackedCounts:
        return PackedCounts(self._cipher.seal(replies, largest, self._randomness))

    def _receive(self, planes: Sequence[Plane], records: int, phase: Phase) -> Role[dict[Plane, Values]]:
        received: dict[Plane, Values] = {}
        for number, plane in enumerate(planes):
            pages: list[Values] = []
            done = 0
            while done < records:
                page = self._cipher.read((yield from receive(CiphertextPage)).ciphertexts)
                if not 0 < len(page) <= records - done:
                    raise PeerError("the peer sent more or fewer ciphertexts than there are records")
                pages.append(page)
                done += len(page)
                yield Progress(phase, number * records + done, len(planes) * records)
            received[plane] = self._cipher.join(pages)
        return received

    def _select(self, sums: Sums[Values], position: int, item: Item, vector: Values, codes: Codes) -> None:
        """Add the ciphertexts of an item's records to the sum at a position."""
        rows: Index = np.flatnonzero(item.selection.satisfied_by(codes))
        sums.add(self._cipher.take(vector, rows), np.full(len(rows), position, dtype=np.intp))

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Add the correctly classified test records of all leaves under encryption: one number is disclosed."""
        if not len(self._test):
            return Correct(0.0)
        total = yield from self._totals([_right(model, self._layout)], self._test, Phase.HELD_OUT)
        most = self._hearing.most_correct
        noisy = self._cipher.add_to_slots(total, [[self._hearing.lifted_of(model)]], most)
        return (yield from self._hearing.hear_correct(self._sealed([Reply(noisy, slots=1)], most)))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Add the records that have each of these under encryption: one number for each."""
        totals = yield from self._totals([[each] for each in sets], self._train, Phase.COLUMNS)
        return (yield from self._hearing.hear_sets(sets, self._sealed([Reply(totals, slots=1)], len(self._train))))

    def _totals(self, asked: Sequence[Sequence[Expression]], codes: Codes, phase: Phase) -> Role[Values]:
        """Receive the planes of these, and add the records of which any of those in one place is true."""
        totals = self._cipher.sums(len(asked))
        items = plan_sets(asked, self._layout)
        vectors = yield from self._receive(planes_of(items), len(codes), phase)
        for item in items:
            self._select(totals, item.cells[0], item, vectors[item.plane], codes)
        return totals.totals()


def shapes_of(items: Sequence[Item]) -> list[Shape]:
    """Return the shapes of the replies to these items, in the order of packing."""
    slots = [len(item.plane.slots) for item in items]
    return [Shape(slots.count(size), size) for size in sorted(set(slots))]


def _right(model: Learned, layout: Layout) -> list[Expression]:
    """Return what is true of a record that a tree classifies correctly, leaf by leaf: each is a dot product."""
    if not isinstance(model, Predictor):
        raise InputError("dot products test trees alone")
    return [path & Term(layout.schema.class_index, label) for path, label in model.leaves()]
