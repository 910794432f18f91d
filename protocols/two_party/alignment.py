"""Which people both parties list, without showing the others: private set intersection (DESIGN 13).

    lists      how many ids each side brings, in which normal form, and which share must be common
    function   who lists more asks for a value of a random function in each place of a table of its ids (`prf`)
    gate       how many are common, counted on shared bits (`programmed`, `gates`): opened is whether they are as many
               as both ask for, or with `count_only` their number, which ends it
    values     of all ids of the other side, three each: who asked finds the common ones
    rows       which of these they are

Kolesnikov, Kumaresan, Rosulek and Trieu 2016; the gate is that of Pinkas, Schneider, Tkachenko and Yanai 2019. Each
session has a function of its own: of one session nothing can be compared with another. In one session the side that
asks can try an id in each place of its table, the other one three in each of its rows.

The common people are in ascending order of their ids, as those of a file are: the same people are the same table,
however often they are found.

*Deviations*: who asks may bring rows that are no code words (`prf`), and either side may flip a share, and so the bit
of the gate or the number that the other one sees (`gates`). The side that asked hears first, and may end
when it knows. Both see whether they ended with the same people.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final, Protocol

import numpy as np

from protocols.errors import DeviationError, PeerError
from protocols.facts import AlignmentFact
from protocols.messages import CommonRows, IdList, PeopleOffer, ValuesPage
from protocols.oblivious.bits import WORD, Bytes, Uint64s, bit_planes
from protocols.oblivious.extension import TREE_DEPTH, Transfers, set_up
from protocols.oblivious.gates import LANES, Gates, Triples
from protocols.oblivious.numbers import are_negative
from protocols.oblivious.prf import EMPTY, WAYS, ask_values, digests_of, give_key, place, places_of, table_size
from protocols.oblivious.programmed import NUMBER_BITS, receive_hints, send_hints
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Phase, Progress, Role, Send, exchange, receive, with_progress
from protocols.tables import Index
from protocols.two_party.equality import (
    IDS,
    SPELLINGS,
    alike_by,
    as_written,
    compare,
    compare_on_record,
    form_text,
    list_commitment,
    list_spellings,
)
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import DECIDED, Objection, settle

SHOWN: Final = slice(0, 10)
"""Which bytes of a value are shown: two of 10^12 pairs are equal by chance once in 10^12 runs."""
_SHOWN_BYTES: Final = 10
_PAGE_ROWS: Final = 1 << 15


@dataclass(frozen=True)
class Overlap:
    """How many people each side lists and how many both; without the spellings `alike` the lists would be the same."""

    mine: int
    yours: int
    both: int
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Aligned:
    """How many people both list, by lists with these commitments; unless they were only counted, which of our rows."""

    overlap: Overlap
    lists: tuple[bytes, bytes]
    rows: Index | None = None


class ListJudge(Protocol):
    """What we object to in an alignment, step by step, before what depends on it leaves."""

    @property
    def least(self) -> Fraction:
        """The share of the peer's ids that must be ours before we reveal which are."""

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        """Object to the lists, by their lengths and commitments, ours first."""

    def judge_few(self, yours: int, least: int, alike: tuple[str, ...]) -> Objection:
        """Say that fewer of the peer's ids than we ask for are ours, and do not reveal which."""

    def judge_people(self, overlap: Overlap, lists: tuple[bytes, bytes], people: bytes) -> Objection | None:
        """Object to whom both list: to nobody, and to others than the same lists had before, by a digest of them."""


def align(local: PartyInputs, peer: str, nonces: bytes, judge: ListJudge, *, count_only: bool = False) -> Role[Aligned]:
    """Find the people whom both list; with `count_only`, stop when both know how many.

    Discloses: how many ids we bring, whether the peer's list is ours in another spelling; whether as many are common as
    both ask for, and if so which of the peer's ids are ours; with `count_only` only how many. Nothing of our other ids
    to who follows the protocol.
    """
    own = IdList(len(local.records), local.form, list_commitment(local.secrets.coins, local.records), judge.least)
    theirs = yield from exchange(own)
    if not theirs.ids:
        raise PeerError("the peer brings no ids")
    lists = (own.commitment, theirs.commitment)
    wanted, asked = ceil(own.least * theirs.ids), ceil(theirs.least * own.ids)
    forms = f"the peer's ids are {form_text(theirs.form)}, ours are {form_text(own.form)}: declare the same"
    objection = judge.judge_list(own.ids, theirs.ids, lists) if own.form == theirs.form else Objection("ids", forms)
    if not objection and not count_only and wanted > own.ids:
        objection = judge.judge_few(theirs.ids, wanted, ())
    yield from settle(objection, people=DECIDED)
    spellings = list_spellings(local.records, local.form)
    about = (SPELLINGS, canonical(*lists))
    same = yield from compare_on_record(local, peer, nonces, b"spellings", spellings, about)
    least = 0 if count_only else max(wanted, asked)
    asks = (own.ids, local.party) > (theirs.ids, peer)
    size = table_size(max(own.ids, theirs.ids))
    tries = WAYS * theirs.ids if asks else size
    fact = AlignmentFact(keyed_digest(nonces, b"alignment"), lists, own.ids, theirs.ids, tries, least)
    transfers = yield from set_up(TREE_DEPTH, local.secrets.randomness, local.computing.places)
    side = (_Asking if asks else _Answering)(local, judge, fact, alike_by(same, local.form), transfers, size)
    if count_only:
        return Aligned((yield from with_progress(side.count(), _shown)), lists)
    found = yield from with_progress(side.find(wanted), _shown)
    rows = np.array(sorted(found.tolist(), key=local.records.__getitem__), found.dtype)
    people = as_written(local.records[row] for row in rows)
    if (yield from compare(local, peer, nonces, b"aligned", [people])) != (True,):
        raise DeviationError
    return Aligned(side.overlap(len(rows)), lists, rows)


def are_to_align(
    local: PartyInputs, peer: str, nonces: bytes, judge: Callable[[], Objection | None] = lambda: None, *, aligns: bool
) -> Role[bool]:
    """Return whether both bring other people, or in another order, and would find those whom both list.

    If not, `judge` objects to going on with our list.

    Discloses: how many records we bring, whether we would align them, and if both would, whether the peer has the same.
    """
    own = PeopleOffer(len(local.records), aligns)
    theirs = yield from exchange(own)
    differ = aligns and theirs.aligns
    if differ and theirs.records == own.records:
        ids = as_written(local.records)
        (same,) = yield from compare_on_record(local, peer, nonces, b"people", [ids], (IDS, ids))
        differ = not same
    if not differ:
        yield from settle(judge(), people=DECIDED)
    return differ


class _Side(ABC):
    """One side of an alignment, once both have agreed to it; what a step gives the next one takes."""

    first: bool
    """Whether we are the one that asks."""

    def __init__(
        self,
        local: PartyInputs,
        judge: ListJudge,
        fact: AlignmentFact,
        alike: tuple[str, ...],
        transfers: Transfers,
        size: int,
    ) -> None:
        self._local, self._judge, self._fact, self._alike = local, judge, fact, alike
        self._transfers, self._size = transfers, size
        direction = transfers.sender if self.first else transfers.chooser
        self._digests = digests_of(direction.session, local.records)
        self._places = places_of(self._digests, size)

    def count(self) -> Role[Overlap]:
        """Count how many are common, and no more."""
        yield from self._begin(named=False)
        gates, share, width = yield from self._shared_count()
        both = yield from gates.total(share, width)
        if both > min(self._fact.mine, self._fact.yours):
            raise DeviationError
        self._fact = replace(self._fact, both=both)
        yield Note(self._fact)
        return self.overlap(both)

    def find(self, wanted: int) -> Role[Index]:
        """Return where in our list the common people stand, if they are enough for both."""
        least = self._fact.least
        yield from self._begin(named=not least)
        if least:
            enough = yield from self._are_enough()
            few = self._judge.judge_few(self._fact.yours, wanted, self._alike)
            yield from settle(few if not enough and wanted == least else None)
            if not enough:
                raise DeviationError  # the side that asked for as many does not mind
            self._fact = replace(self._fact, named=True)
            yield Note(self._fact)
        return (yield from self._rows())

    def overlap(self, both: int) -> Overlap:
        """Return how many are common of how many."""
        mine, yours = self._fact.mine, self._fact.yours
        return Overlap(mine, yours, both, self._alike if both < max(mine, yours) else ())

    def _begin(self, *, named: bool) -> Role[None]:
        """Make the random function: one side has its key, the other a value in each place; and put it on record."""
        yield from self._share_function()
        self._fact = replace(self._fact, named=named)
        yield Note(self._fact)

    def _shared_count(self) -> Role[tuple[Gates, int, int]]:
        """Return our summand of how many are common, modulo two to the width that is returned, too."""
        numbers = bit_planes((yield from self._numbers()), NUMBER_BITS)
        gates = Gates(self.first, self._transfers, Triples(self._transfers, self._local.secrets.randomness))
        yield Progress(Phase.OVERLAP, 0, 0)
        common = yield from gates.all_of(numbers if self.first else ~numbers)
        width = self._size.bit_length() + 1
        return gates, (yield from gates.ones(common, width)), width

    def _are_enough(self) -> Role[bool]:
        """Return whether as many are common as both ask for: of the number less that, the sign is opened."""
        gates, share, width = yield from self._shared_count()
        summands = np.zeros(LANES, WORD)
        summands[0] = (share - self._fact.least * self.first) % (1 << width)
        below = yield from are_negative(gates, summands, width)
        return not (yield from gates.opened(below))[0] & np.uint64(1)

    def _known(self, rows: Index) -> Role[Objection | None]:
        """Put on record who is common, and return what we object to in them."""
        if len(rows) < self._fact.least:
            raise DeviationError
        ids = sorted(self._local.records[row].encode() for row in rows)
        people = keyed_digest(self._local.secrets.coins, b"common people", *ids)
        objection = self._judge.judge_people(self.overlap(len(rows)), self._fact.lists, people)
        self._fact = replace(self._fact, both=len(rows), people=people)
        yield Note(self._fact)
        return objection

    @abstractmethod
    def _share_function(self) -> Role[None]: ...

    @abstractmethod
    def _numbers(self) -> Role[Uint64s]:
        """Return our number of each place: the same as the peer's where an id is common."""

    @abstractmethod
    def _rows(self) -> Role[Index]: ...


class _Asking(_Side):
    """The side that asks for a value in each place of a table of its ids."""

    first = True

    def _share_function(self) -> Role[None]:
        owners, self._ways = place(self._places, self._size)
        randomness = self._local.secrets.randomness
        self._values = yield from ask_values(self._transfers, self._digests, owners, self._ways, randomness)

    def _numbers(self) -> Role[Uint64s]:
        return (yield from receive_hints(self._values))

    def _rows(self) -> Role[Index]:
        pages = []
        for start in range(0, self._fact.yours, _PAGE_ROWS):
            values = (yield from receive(ValuesPage)).values
            if len(values) != WAYS * _SHOWN_BYTES * min(_PAGE_ROWS, self._fact.yours - start):
                raise PeerError("a page of the peer's values has the wrong length")
            pages.append(np.frombuffer(values, np.uint8).reshape(-1, WAYS, _SHOWN_BYTES))
        rows, theirs = self._matched(np.concatenate(pages))
        yield from settle((yield from self._known(rows)))
        common = np.zeros(self._fact.yours, np.bool_)
        common[theirs] = True
        yield Send(CommonRows(np.packbits(common, bitorder="little").tobytes()))
        yield from settle(None)
        return rows

    def _matched(self, theirs: Bytes) -> tuple[Index, Index]:
        """Return which of our ids have which of the peer's rows, in the order of these."""
        first = _starts(theirs[:, 0])
        if (first[:-1] > first[1:]).any():
            raise PeerError("the peer's values are not in ascending order")
        own = self._values[self._places[np.arange(len(self._ways)), self._ways], SHOWN]
        found = np.full(len(own), EMPTY)
        for way in range(WAYS):
            asked, values = np.flatnonzero(self._ways == way), theirs[:, way]
            starts = _starts(values)
            order = np.argsort(starts)
            at = np.searchsorted(starts, _starts(own[asked]), sorter=order)
            rows = order[np.minimum(at, len(order) - 1)]
            equal = (values[rows] == own[asked]).all(axis=1)
            found[asked[equal]] = rows[equal]
        ours = np.flatnonzero(found != EMPTY)
        if len(np.unique(found[ours])) < len(ours):
            raise PeerError("the peer sent a row of two of our ids")
        in_order = ours[np.argsort(found[ours])]
        return in_order, found[in_order]


class _Answering(_Side):
    """The side that has the key of the random function."""

    first = False

    def _share_function(self) -> Role[None]:
        key = yield from give_key(self._transfers, self._size, self._local.secrets.randomness)
        self._values = key.values(self._digests, self._places)

    def _numbers(self) -> Role[Uint64s]:
        return (yield from send_hints(self._values, self._places, self._size, self._local.secrets.randomness))

    def _rows(self) -> Role[Index]:
        shown = self._values[:, :, SHOWN]
        order = np.argsort(_starts(shown[:, 0]))
        for start in range(0, len(order), _PAGE_ROWS):
            yield Send(ValuesPage(shown[order[start : start + _PAGE_ROWS]].tobytes()))
        yield from settle(None)
        rows_sent = (yield from receive(CommonRows)).rows
        bits = np.unpackbits(np.frombuffer(rows_sent, np.uint8), bitorder="little")
        if len(rows_sent) != -(-len(order) // 8) or bits[len(order) :].any():
            raise PeerError("the peer names other rows than we have sent")
        rows: Index = order[np.flatnonzero(bits)]
        yield from settle((yield from self._known(rows)))
        return rows


def _starts(values: Bytes) -> Uint64s:
    """Return the first 8 bytes of each value as numbers."""
    return np.ascontiguousarray(values[:, :8]).view(WORD)[:, 0]


def _shown(progress: Progress) -> Progress | None:
    """Leave out the progress of transfers, which would be shown as that of a run."""
    return progress if progress.phase in (Phase.MATCHING, Phase.OVERLAP) else None
