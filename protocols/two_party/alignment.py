"""Which people both parties list, without showing the others: private set intersection by Diffie-Hellman (DESIGN 13).

    lists        how many ids each side brings, in which normal form
    blinded      the ids as points times a secret number, ascending, both ways
    reblinded    the other's points times one's own number, ascending, both ways: both count those that are equal
    places       which of them is which, both ways; not with `count_only`, and only if the overlap is large enough

A secret number depends on both lists and on nothing else. So the same two lists, asked again, cross as the same points
and teach nothing; and other lists have other numbers, so that nothing can be compared from one alignment to the next. A
peer that shows another list under the commitment of an earlier one is found out by its points, before ours answer.

The order of the common people is that of their points under both numbers, which neither side can know before.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points, secret_number
from protocols.ciphers.curve import POINT_BYTES, NotAPointError
from protocols.errors import DeviationError, PeerError
from protocols.facts import AlignmentFact
from protocols.identifiers import IdForm
from protocols.messages import BlindedPage, IdList, PeopleDigest, PlacesPage, ReblindedPage
from protocols.randomness import keyed_digest
from protocols.role import Note, Phase, Progress, Role, Send, exchange, receive
from protocols.tables.arrays import Index
from protocols.two_party.agreement import Objection, settle
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.people import alike_by, form_text, list_commitment, list_spellings

PAGE_IDS: Final = 1 << 14
_PLACE: Final = np.dtype("<u4")

T = TypeVar("T")
_PointsPage = TypeVar("_PointsPage", BlindedPage, ReblindedPage)
Encoded = NDArray[np.bytes_]
"""Points as they cross, one per row: compared and sorted as bytes."""


@dataclass(frozen=True)
class Overlap:
    """How many people each side lists and how many both do.

    `alike` are the differences of spelling without which both would list the same people, where there are any.
    """

    mine: int
    yours: int
    both: int
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Aligned:
    """What an alignment ends with: how many, and unless they were only counted, who.

    `rows` are places in our own list, in the order that both sides have; `lists` are the commitments to both.
    """

    overlap: Overlap
    lists: tuple[bytes, bytes]
    rows: Index | None = None


class ListJudge(Protocol):
    """What we object to in an alignment, step by step, before what depends on it leaves."""

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        """Object to the lists, of which we know the lengths and the commitments, ours and the peer's."""
        ...

    def judge_points(self, lists: tuple[bytes, bytes], points: bytes) -> Objection | None:
        """Object to the peer's points, of which this is a digest: these lists may have come with others before."""
        ...

    def judge_overlap(self, overlap: Overlap) -> Objection | None:
        """Object to an overlap that is too small to tell who is in it."""
        ...


def align(local: PartyInputs, peer: str, nonces: bytes, judge: ListJudge, *, count_only: bool = False) -> Role[Aligned]:
    """Find the people whom both list.

    Args:
        local: What we bring; nothing but the ids is used.
        peer: The peer's name.
        nonces: Of the `Opening`.
        judge: What we object to.
        count_only: Whether to stop when both know how many.

    Discloses: how many ids we bring, digests of the whole list; how many of the peer's ids are ours, and unless
    `count_only`, which of them. Nothing of our other ids (semi-honest, DDH).

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DisagreementError: The lists are not in one normal form, or one side objects.
        DeviationError: The peer ended with other people.
    """
    own = _id_list(local, nonces)
    theirs = yield from exchange(own)
    lists = (own.commitment, theirs.commitment)
    objection = _form_objection(own.form, theirs.form) or judge.judge_list(own.ids, theirs.ids, lists)
    yield from settle(objection)
    secret = secret_number(local.secrets.coins, local.dataset.encode(), peer.encode(), *lists)
    alike = alike_by(own.spellings, theirs.spellings, own.form)
    told = AlignmentFact(lists, b"", own.ids, theirs.ids, None, named=False)
    return (yield from _Alignment(local, judge, secret, told, alike).play(nonces, count_only=count_only))


def are_to_align(local: PartyInputs, nonces: bytes, *, aligns: bool) -> Role[bool]:
    """Tell whether both bring other people, or in another order, and would find those whom both list.

    Args:
        local: What we bring.
        nonces: Of the `Opening`.
        aligns: Whether we would.

    Discloses: how many records we bring, whether the peer has guessed the whole list, and whether we would align it.
    """
    own = PeopleDigest(len(local.records), _people_digest(nonces, local.records), aligns)
    theirs = yield from exchange(own)
    return aligns and theirs.aligns and (theirs.records, theirs.digest) != (own.records, own.digest)


def _people_digest(nonces: bytes, people: Iterable[str]) -> bytes:
    return keyed_digest(nonces, b"aligned", *(person.encode() for person in people))


def _id_list(local: PartyInputs, nonces: bytes) -> IdList:
    """Say what we bring."""
    commitment = list_commitment(local.secrets.coins, local.records)
    return IdList(len(local.records), local.form, commitment, list_spellings(nonces, local.records, local.form))


def _form_objection(own: IdForm, theirs: IdForm) -> Objection | None:
    if own == theirs:
        return None
    return Objection("ids", f"the peer's ids are {form_text(theirs)}, ours are {form_text(own)}: declare the same")


class _Alignment:
    """One alignment, once both have agreed to it; what a step gives the next one takes."""

    def __init__(
        self, local: PartyInputs, judge: ListJudge, secret: int, told: AlignmentFact, alike: tuple[str, ...]
    ) -> None:
        self._local, self._judge, self._secret, self._told, self._alike = local, judge, secret, told, alike

    def play(self, nonces: bytes, *, count_only: bool) -> Role[Aligned]:
        """Go through the steps."""
        blinded, order = yield from self._blind_ours()
        theirs = yield from self._exchange_blinded(blinded)
        again, ranks = yield from self._blind_theirs(theirs)
        ours = yield from _exchange_points(ReblindedPage, again, self._told.mine)
        common = np.isin(ours, again)
        overlap = yield from self._counted(int(common.sum()))
        if count_only:
            return Aligned(overlap, self._told.lists)
        yield from settle(self._judge.judge_overlap(overlap))
        yield Note(replace(self._told, named=True))
        places = yield from _exchange_places(ranks, self._told.mine)
        rows = order[np.argsort(places)[common]]
        yield from self._compare_people(nonces, rows)
        return Aligned(overlap, self._told.lists, rows)

    def _blind_ours(self) -> Role[tuple[Encoded, Index]]:
        """Return our points, ascending, and whose each is."""
        ids = self._local.records
        tasks = [IdsToBlind(self._secret, ids[start : start + PAGE_IDS]) for start in range(0, len(ids), PAGE_IDS)]
        return (yield from self._worked_out(Phase.BLINDING, blind_ids, tasks, len(ids)))

    def _exchange_blinded(self, own: Encoded) -> Role[Encoded]:
        """Exchange points, and judge the peer's before anything answers to them."""
        theirs = yield from _exchange_points(BlindedPage, own, self._told.yours)
        if np.isin(theirs, own).any():
            raise PeerError("the peer answers with our own points")
        points = keyed_digest(self._local.secrets.coins, b"points", theirs.tobytes())
        yield from settle(self._judge.judge_points(self._told.lists, points))
        self._told = replace(self._told, points=points)
        yield Note(self._told)
        return theirs

    def _blind_theirs(self, theirs: Encoded) -> Role[tuple[Encoded, Index]]:
        """Return the peer's points times our number, ascending, and the place of each before."""
        pages = (theirs[start : start + PAGE_IDS] for start in range(0, len(theirs), PAGE_IDS))
        tasks = (PointsToBlind(self._secret, page.tobytes()) for page in pages)
        return (yield from self._worked_out(Phase.MATCHING, blind_points, tasks, len(theirs)))

    def _worked_out(
        self, phase: Phase, work: Callable[[T], bytes], tasks: Iterable[T], total: int
    ) -> Role[tuple[Encoded, Index]]:
        """Have points made, and sort them."""
        pages: list[bytes] = []
        try:
            for page in self._local.computing.home.map(work, tasks):
                pages.append(page)
                yield Progress(phase, min(len(pages) * PAGE_IDS, total), total)
        except NotAPointError:
            raise PeerError("the peer sent a point that is not on the curve") from None
        points = _encoded(b"".join(pages))
        order = np.argsort(points)
        return points[order], order

    def _counted(self, both: int) -> Role[Overlap]:
        """Put on record how many both list."""
        self._told = replace(self._told, both=both)
        yield Note(self._told)
        mine, yours = self._told.mine, self._told.yours
        return Overlap(mine, yours, both, self._alike if both < max(mine, yours) else ())

    def _compare_people(self, nonces: bytes, rows: Index) -> Role[None]:
        """Make sure that both ended with the same people in one order."""
        own = PeopleDigest(len(rows), _people_digest(nonces, (self._local.records[row] for row in rows)))
        if (yield from exchange(own)) != own:
            raise DeviationError


def _exchange_points(kind: type[_PointsPage], own: Encoded, expected: int) -> Role[Encoded]:
    """Exchange ascending points, a page of each in turn.

    Raises:
        PeerError: They are not as many as expected, or not each of them greater than the one before.
    """
    pages: list[bytes] = []
    for start in range(0, max(len(own), expected), PAGE_IDS):
        if start < len(own):
            yield Send(kind(own[start : start + PAGE_IDS].tobytes()))
        if start < expected:
            page = (yield from receive(kind)).points
            if len(page) != POINT_BYTES * min(PAGE_IDS, expected - start):
                raise PeerError("a page of the peer's points has the wrong length")
            pages.append(page)
    points = _encoded(b"".join(pages))
    if not (points[:-1] < points[1:]).all():
        raise PeerError("the peer's points are not in ascending order, or one is there twice")
    return points


def _exchange_places(ranks: Index, expected: int) -> Role[Index]:
    """Tell the peer where its points went, and hear where ours did.

    Raises:
        PeerError: Each of our points must have gone to a place of its own.
    """
    own = np.argsort(ranks).astype(_PLACE)
    pages: list[bytes] = []
    for start in range(0, max(len(own), expected), PAGE_IDS):
        if start < len(own):
            yield Send(PlacesPage(own[start : start + PAGE_IDS].tobytes()))
        if start < expected:
            pages.append((yield from receive(PlacesPage)).places)
    data = b"".join(pages)
    if len(data) != _PLACE.itemsize * expected:
        raise PeerError("a page of the peer's places has the wrong length")
    places = np.frombuffer(data, dtype=_PLACE).astype(np.intp)
    if (np.sort(places) != np.arange(expected)).any():
        raise PeerError("the peer puts two of our points in one place")
    return places


def _encoded(data: bytes) -> Encoded:
    return np.frombuffer(data, dtype=f"S{POINT_BYTES}")
