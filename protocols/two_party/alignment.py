"""Which people both parties list, without showing the others: private set intersection by Diffie-Hellman (DESIGN 13).

    lists        how many ids each side brings, in which normal form
    blinded      the ids as points times a secret number, ascending, both ways
    overlap      how many are common, of long lists by a sample: `overlap`; the end with `count_only`
    reblinded    the other's points times one's own number, ascending, both ways: those that are equal are common
    places       which of them is which, both ways

The last two follow only if the overlap is large enough for both. A secret number depends on both lists and on nothing
else. So the same two lists, asked again, cross as the same points and teach nothing; and other lists have other
numbers, so that nothing can be compared from one alignment to the next. A peer that shows another list under the
commitment of an earlier one is found out by its points, before ours answer.

The order of the common people is that of their points under both numbers, which neither side can know before.
"""

from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points, secret_number
from protocols.errors import DeviationError, PeerError
from protocols.facts import AlignmentFact
from protocols.identifiers import IdForm
from protocols.messages import BlindedPage, IdList, PeopleOffer, PlacesPage, ReblindedPage
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Phase, Role, Send, exchange, receive
from protocols.tables.arrays import Index
from protocols.two_party.agreement import Objection, settle
from protocols.two_party.equality import IDS, SPELLINGS, compare, compare_on_record
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.overlap import Overlapping, Sample
from protocols.two_party.people import alike_by, as_written, form_text, list_commitment, list_spellings
from protocols.two_party.point_lists import PAGE_IDS, Encoded, exchange_lists, worked_out

_PLACE: Final = np.dtype("<u4")


@dataclass(frozen=True)
class Overlap:
    """How many people each side lists and how many both do.

    `alike` are the differences of spelling without which both would list the same people, where there are any.
    `at_most` tells that `both` is an upper bound, by a sample; `few`, that the sample has too few to bear it out.
    """

    mine: int
    yours: int
    both: int
    alike: tuple[str, ...] = ()
    at_most: bool = False
    few: bool = False


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

    Discloses: how many ids we bring, whether the peer's list is ours in another spelling; how many of the peer's ids
    are ours and, unless `count_only` or we object to the overlap, which of them. Nothing of our other ids (semi-honest,
    DDH). To a peer that deviates before the overlap is known, what `overlap` says: about one person.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DisagreementError: The lists are not in one normal form, or one side objects.
        DeviationError: The peer ended with other people.
    """
    own = IdList(len(local.records), local.form, list_commitment(local.secrets.coins, local.records))
    theirs = yield from exchange(own)
    lists = (own.commitment, theirs.commitment)
    objection = _form_objection(own.form, theirs.form) or judge.judge_list(own.ids, theirs.ids, lists)
    yield from settle(objection)
    secret = secret_number(local.secrets.coins, local.dataset.encode(), peer.encode(), *lists)
    spellings = list_spellings(local.records, local.form)
    about = (SPELLINGS, canonical(*lists))
    same = yield from compare_on_record(local, peer, nonces, b"spellings", spellings, about)
    alike = alike_by(same, local.form)
    told = AlignmentFact(lists, b"", own.ids, theirs.ids, None, named=False)
    return (yield from _Alignment(local, peer, judge, secret, told, alike).play(nonces, count_only=count_only))


def are_to_align(local: PartyInputs, peer: str, nonces: bytes, *, aligns: bool) -> Role[bool]:
    """Tell whether both bring other people, or in another order, and would find those whom both list.

    Args:
        local: What we bring.
        peer: The peer's name.
        nonces: Of the `Opening`.
        aligns: Whether we would.

    Discloses: how many records we bring, whether we would align them, and if both would, whether the peer has the same.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    own = PeopleOffer(len(local.records), aligns)
    theirs = yield from exchange(own)
    if not (aligns and theirs.aligns):
        return False
    if theirs.records != own.records:
        return True
    ids = as_written(local.records)
    (same,) = yield from compare_on_record(local, peer, nonces, b"people", [ids], (IDS, ids))
    return not same


def _form_objection(own: IdForm, theirs: IdForm) -> Objection | None:
    if own == theirs:
        return None
    return Objection("ids", f"the peer's ids are {form_text(theirs)}, ours are {form_text(own)}: declare the same")


class _Alignment:
    """One alignment, once both have agreed to it; what a step gives the next one takes."""

    def __init__(
        self,
        local: PartyInputs,
        peer: str,
        judge: ListJudge,
        secret: int,
        told: AlignmentFact,
        alike: tuple[str, ...],
    ) -> None:
        self._local, self._peer, self._judge = local, peer, judge
        self._secret, self._told, self._alike = secret, told, alike

    def play(self, nonces: bytes, *, count_only: bool) -> Role[Aligned]:
        """Go through the steps."""
        blinded, order = yield from self._blind_ours()
        theirs = yield from self._exchange_blinded(blinded)
        again, ranks = yield from self._blind_theirs(theirs)
        sample = Sample() if count_only else Sample.of(self._told.mine, self._told.yours)
        matched = yield from self._count_overlap(nonces, sample, theirs, again)
        if count_only:
            return Aligned((yield from self._counted(matched)), self._told.lists)
        yield from self._judge_estimate(sample, matched)
        ours = yield from exchange_lists(ReblindedPage, again, self._told.mine)
        common = np.isin(ours, again)
        if len(sample.taken(ours[common])) != matched:
            raise DeviationError
        overlap = yield from self._counted(int(common.sum()))
        yield from settle(self._judge.judge_overlap(overlap))
        yield Note(replace(self._told, named=True))
        places = yield from _exchange_places(ranks, self._told.mine)
        rows = order[np.argsort(places)[common]]
        yield from self._compare_people(nonces, rows)
        return Aligned(overlap, self._told.lists, rows)

    def _blind_ours(self) -> Role[tuple[Encoded, Index]]:
        """Return our points, ascending, and whose each is."""
        ids = self._local.records
        tasks = (IdsToBlind(self._secret, ids[start : start + PAGE_IDS]) for start in range(0, len(ids), PAGE_IDS))
        home = self._local.computing.home
        return _ascending((yield from worked_out(home, Phase.BLINDING, blind_ids, tasks, len(ids))))

    def _exchange_blinded(self, own: Encoded) -> Role[Encoded]:
        """Exchange points."""
        theirs = yield from exchange_lists(BlindedPage, own, self._told.yours)
        if np.isin(theirs, own).any():
            raise PeerError("the peer answers with our own points")
        return theirs

    def _blind_theirs(self, theirs: Encoded) -> Role[tuple[Encoded, Index]]:
        """Return the peer's points times our number, ascending, and the place of each before."""
        pages = (theirs[start : start + PAGE_IDS] for start in range(0, len(theirs), PAGE_IDS))
        tasks = (PointsToBlind(self._secret, page.tobytes()) for page in pages)
        home = self._local.computing.home
        return _ascending((yield from worked_out(home, Phase.MATCHING, blind_points, tasks, len(theirs))))

    def _count_overlap(self, nonces: bytes, sample: Sample, theirs: Encoded, joint: Encoded) -> Role[int]:
        """Count how many of the sample are common; judge the peer's points before anything answers to them."""
        local, told = self._local, self._told
        key, first = local.secrets.coins, theirs.tobytes()
        names = (local.dataset.encode(), self._peer.encode(), *told.lists)
        second = secret_number(key, b"second", *names, keyed_digest(key, b"first points", first))
        most, home = sample.most(told.mine), local.computing.home
        counting = Overlapping(local.party, self._peer, nonces, second, home, most)
        hidden, ours = yield from counting.exchange_hidden(sample.taken(joint))
        points = keyed_digest(key, b"points", first, hidden.tobytes())
        yield from settle(self._judge.judge_points(told.lists, points))
        self._told = replace(told, points=points)
        yield Note(self._told)
        return (yield from counting.count(hidden, ours))

    def _judge_estimate(self, sample: Sample, matched: int) -> Role[None]:
        """Go on only if as many may be common as both ask for."""
        sampled = sample.limit is not None
        overlap = yield from self._counted(sample.estimate(matched), about=sampled)
        judged = replace(overlap, both=sample.likely_most(matched), at_most=sampled, few=sample.is_few(matched))
        yield from settle(self._judge.judge_overlap(judged))

    def _counted(self, both: int, *, about: bool = False) -> Role[Overlap]:
        """Put on record how many both list, or about how many."""
        if (self._told.both, self._told.about) != (both, about):
            self._told = replace(self._told, both=both, about=about)
            yield Note(self._told)
        mine, yours = self._told.mine, self._told.yours
        return Overlap(mine, yours, both, self._alike if both < max(mine, yours) else ())

    def _compare_people(self, nonces: bytes, rows: Index) -> Role[None]:
        """Make sure that both ended with the same people in one order."""
        people = as_written(self._local.records[row] for row in rows)
        if (yield from compare(self._local, self._peer, nonces, b"aligned", [people])) != (True,):
            raise DeviationError


def _ascending(points: Encoded) -> tuple[Encoded, Index]:
    """Return points in ascending order, and the place of each before."""
    order = np.argsort(points)
    return points[order], order


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
