"""What a peer may send in the place of what it should: it is refused, and nothing that follows from it leaves."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import DeviationError, InputError, PeerError
from protocols.messages import BaseOffer, BasePoints, ChoicePage, CodePage, CorrectionPage, HintPage, SeedHints
from protocols.oblivious import prf, programmed
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer
from protocols.oblivious.extension import DEPTHS, Transfers, set_up
from protocols.oblivious.prf import (
    CODE_BITS,
    EMPTY,
    LEAST_PLACES,
    PAGE_PLACES,
    WAYS,
    FunctionKey,
    ask_values,
    code_words,
    digests_of,
    give_key,
    place,
    places_of,
    table_size,
)
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.oblivious.programmed import receive_hints, send_hints
from protocols.role import Message, Role, Send, T, Transcript, run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious import plain
from tests.protocols.oblivious.parts import extend, meet, random_bits
from tests.protocols.oblivious.plain import P, as_bytes
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.duel import replay
from tests.support.examples import at_most, few
from tests.support.simulators import simulate_codes, simulate_hints

Change = Callable[[Message], Message]


def sending(role: Role[T], change: Change) -> Role[T]:
    """Play a role, but change what it sends."""
    answer = None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        answer = yield Send(change(effect.message)) if isinstance(effect, Send) else effect


def changed(kind: type[Message], **parts: Callable[[bytes], bytes]) -> Change:
    """Return what changes parts of the messages of one kind."""

    def change(message: Message) -> Message:
        if not isinstance(message, kind):
            return message
        return replace(message, **{name: part(getattr(message, name)) for name, part in parts.items()})

    return change


def flipped(place: int) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        at = place % len(data)
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return flip


def without_its_end(data: bytes) -> bytes:
    return data[:-1]


def with_more(data: bytes) -> bytes:
    return data + data[-33:]


OFF_THE_CURVE = b"\x02" + (5).to_bytes(32, "big")  # 5**3 + 7 is no square
INFINITY = bytes(33)


SET_UPS: dict[str, tuple[Change, str]] = {
    "an offer off the curve": (changed(BaseOffer, point=lambda _: OFF_THE_CURVE), "not on the curve"),
    "an offer at infinity": (changed(BaseOffer, point=lambda _: INFINITY), "not on the curve"),
    "an offer of two points": (changed(BaseOffer, point=with_more), "another number of points"),
    "a short nonce": (changed(BaseOffer, nonce=without_its_end), "no fresh bytes"),
    "a point off the curve": (changed(BasePoints, points=lambda data: OFF_THE_CURVE + data[33:]), "not on the curve"),
    "a point at infinity": (changed(BasePoints, points=lambda data: data[:33] + INFINITY + data[66:]), "not on"),
    "a repeated point": (changed(BasePoints, points=lambda data: data[-33:] + data[33:]), "a point twice"),
    "too few points": (changed(BasePoints, points=lambda data: data[66:]), "another number of points"),
    "too many points": (changed(BasePoints, points=with_more), "another number of points"),
    "no points": (changed(BasePoints, points=lambda _: b""), "another number of points"),
    "short hints": (changed(SeedHints, hints=without_its_end), "of other lengths"),
    "long sums": (changed(SeedHints, sums=with_more), "of other lengths"),
    "a short digest": (changed(SeedHints, digest=without_its_end), "of other lengths"),
    "another digest": (changed(SeedHints, digest=flipped(3)), "failed a check"),
    "another sum": (changed(SeedHints, sums=flipped(40)), "failed a check"),
}


def test_a_session_is_not_made_of_other_messages() -> None:
    for change, text in SET_UPS.values():
        with pytest.raises(PeerError, match=text):
            run_pair(set_up(4, Chance(1)), sending(set_up(4, Chance(2)), change))


@pytest.mark.parametrize("depth", few(DEPTHS[1:], 3))
def test_a_hint_that_is_changed_fails_the_check_where_it_is_used(depth: int) -> None:
    """A path turns to either side of a level: one of the two hints is used, so one of both changes is seen."""
    seen = 0
    for side in (0, 1):
        change = changed(SeedHints, hints=flipped(16 * side))
        try:
            run_pair(set_up(depth, Chance(1)), sending(set_up(depth, Chance(2)), change))
        except DeviationError:
            seen += 1
    assert seen == 1


def test_no_nonce_or_points_of_the_peer_are_taken_for_ours() -> None:
    role = set_up(4, Chance(1))
    offer = next(role)
    assert isinstance(offer, Send)
    next(role)
    with pytest.raises(PeerError, match="no fresh bytes"):
        role.send(offer.message)
    secret, point = make_offer(Chance(3))
    points, _ = choose(b"s", read_offer(point), [0] * TRANSFERS, Chance(4))
    shift = plain.oracle(b"s", 0, 0, points[33:66])
    assert shift is not None
    with pytest.raises(PeerError, match="lead to no key"):
        answer_choices(b"s", secret, as_bytes((shift[0], P - shift[1])) + points[33:])


@pytest.mark.parametrize("depth", [0, 3, 16])
def test_trees_have_one_of_four_depths(depth: int) -> None:
    with pytest.raises(InputError, match="depth must be one of"):
        next(set_up(depth, Chance(1)))


def choosing(depth: int, change: Change, count: int = 300) -> tuple[Transfers, Transfers]:
    """Let the first side choose, with a change, and return both."""
    one, other = meet(depth)
    run_pair(sending(one.chooser.extend([random_bits(count, 1)]), change), other.sender.extend([count]))
    return one, other


PAGES: dict[str, tuple[Change, str]] = {
    "a short matrix": (changed(ChoicePage, matrix=without_its_end), "of another length"),
    "a longer matrix": (changed(ChoicePage, matrix=with_more), "of another length"),
    "a check of fewer columns": (changed(ChoicePage, check=lambda data: data[16:]), "of another length"),
    "no check": (changed(ChoicePage, check=lambda _: b""), "of another length"),
    "another hash of choices": (changed(ChoicePage, check=flipped(0)), "failed a check"),
    "another hash of a column": (changed(ChoicePage, check=flipped(16)), "failed a check"),
    "all rows flipped but one": (
        changed(ChoicePage, matrix=lambda data: data[:64] + bytes(byte ^ 255 for byte in data[64:])),
        "failed a check",
    ),
}


def test_a_page_of_choices_is_checked_before_it_is_used() -> None:
    for depth, case in product([1, 4], PAGES):
        change, text = PAGES[case]
        with pytest.raises(PeerError, match=text):
            choosing(depth, change)


def test_no_choice_is_read_that_came_with_a_failed_check_or_after_one() -> None:
    one, other = meet(4)
    vector = random_bits(300, 1)
    with pytest.raises(DeviationError):
        run_pair(
            sending(one.chooser.extend([vector]), changed(ChoicePage, check=flipped(0))), other.sender.extend([300])
        )
    with pytest.raises(DeviationError):
        run_pair(one.chooser.extend([vector]), other.sender.extend([300]))


def test_a_page_is_not_taken_for_another_one() -> None:
    one, other = meet(4)
    pages = []
    for seed in (1, 2):
        role = one.chooser.extend([random_bits(300, seed)])
        pages.append(next(role))
    waiting = other.sender.extend([300])
    next(waiting)
    assert isinstance(pages[1], Send)
    with pytest.raises(DeviationError):
        waiting.send(pages[1].message)


@pytest.mark.parametrize("change", [without_its_end, with_more, lambda _: b""], ids=["short", "long", "empty"])
def test_corrections_of_another_length_are_refused(change: Callable[[bytes], bytes]) -> None:
    one, other = meet(4)
    (chosen,), (both,) = extend(one.chooser, other.sender, [random_bits(100, 1)])
    role = receive_products([(chosen, [7, 9])], SummedShares([(100, [7, 9])]))
    next(role)
    source = bits_as_numbers([np.ones(100, bool)] * 2, [7, 9])
    page = next(send_products([(both, [7, 9], source)], SummedShares([(100, [7, 9])])))
    assert isinstance(page, Send)
    assert isinstance(page.message, CorrectionPage)
    with pytest.raises(PeerError, match="corrections of another length"):
        role.send(CorrectionPage(change(page.message.corrections)))


Values = NDArray[np.uint8]


def ids(first: int, last: int) -> list[str]:
    return [f"p{number}" for number in range(first, last)]


class Played:
    """One table of Alice's ids, of which Bob has the key: the values of both, and what crossed."""

    def __init__(self, asked: Sequence[str], held: Sequence[str], seed: int = 1) -> None:
        one, other = meet(4, seed)
        self.size, self.crossed = table_size(len(asked)), Transcript()
        self.asked, self.held = (digests_of(one.sender.session, each) for each in (asked, held))
        self.own, self.places = (places_of(each, self.size) for each in (self.asked, self.held))
        self.owners, self.ways = place(self.own, self.size)
        self.asks = ask_values(one, self.asked, self.owners, self.ways, Chance(seed + 5))
        self.answers = give_key(other, self.size, Chance(seed + 6))
        self.values, self.key = run_pair(self.asks, self.answers, self.crossed)
        self.all = self.key.values(self.held, self.places)


@pytest.fixture(scope="module")
def played() -> Played:
    return Played(ids(0, 60), ids(40, 100))


def test_the_asker_has_the_key_holders_value_of_whom_it_asked_for_and_no_other(played: Played) -> None:
    known = {value.tobytes(): divmod(at, WAYS) for at, value in enumerate(played.all.reshape(-1, prf.VALUE_BYTES))}
    assert len(known) == WAYS * 60
    found = {}
    for where, owner in enumerate(played.owners.tolist()):
        if (value := played.values[where].tobytes()) in known:
            row, way = known[value]
            assert played.places[row, way] == where
            found[owner] = row
    assert found == {40 + number: number for number in range(20)}


def test_a_value_by_hand_and_code_words_far_apart(played: Played) -> None:
    """H of the key's row plus what of the code word the choices take, bit by bit."""
    where, word = int(played.places[3, 1]), code_words(played.key.session, played.held[3:4])[0]
    row = played.key.rows[where] ^ (word & played.key.choices)
    by_hand = prf._hashed(played.key.session, row[None], np.array([where]), 1)
    assert by_hand.tobytes() == played.all[3, 1].tobytes()
    # Two differ in 224 of 448 bits, deviation 10.6; 128 would be nine of these off.
    words = code_words(b"s", digests_of(b"s", ids(0, 200)))
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1)
    apart = (bits[:, None, :] ^ bits[None, :, :]).sum(axis=2)[~np.eye(200, dtype=bool)]
    assert bits.shape[1] == CODE_BITS
    assert 150 <= apart.min() <= apart.max() <= 300


@settings(max_examples=at_most(20), deadline=None)
@given(st.integers(0, 3300), st.integers(0, 2**32))
def test_each_id_has_one_of_its_three_places_and_each_place_one_id(count: int, seed: int) -> None:
    digests = np.random.default_rng(seed).integers(0, 2**64, (count, 2), dtype=np.uint64)
    size = table_size(count)
    places = places_of(digests, size)
    assert size >= LEAST_PLACES
    assert size % 128 == 0
    assert all(len(set(each)) == WAYS for each in places.tolist())
    assert not count or 0 <= places.min() <= places.max() < size
    owners, ways = place(places, size)
    assert (owners[places[np.arange(count), ways]] == np.arange(count)).all()
    assert (owners != EMPTY).sum() == count


def test_places_are_spread_evenly() -> None:
    """40,000 ids: 10,000 draws for each quarter of each way, deviation 87."""
    places = places_of(digests_of(b"s", ids(0, 40_000)), 4096)
    for way in range(WAYS):
        assert all(9_500 < count < 10_500 for count in Counter((places[:, way] // 1024).tolist()).values())


def test_four_ids_with_three_places_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prf, "_MOST_ROUNDS", 100)
    with pytest.raises(InputError, match="begin again"):
        place(np.array([[1, 2, 3]] * 4), 128)
    place(np.array([[1, 2, 3]] * 3), 128)


def numbered(played: Played, change: Callable[[Role[NDArray[np.uint64]]], Role[NDArray[np.uint64]]] | None = None):  # type: ignore[no-untyped-def]
    crossed = Transcript()
    sends = send_hints(played.all, played.places, played.size, Chance(8))
    return (*run_pair(receive_hints(played.values), change(sends) if change else sends, crossed), crossed)


def test_numbers_are_equal_where_an_id_is_common_and_nowhere_else(played: Played) -> None:
    ours, theirs, _ = numbered(played)
    assert set(played.owners[ours == theirs].tolist()) == set(range(40, 60))
    assert max(ours.max(), theirs.max()) < 1 << programmed.NUMBER_BITS


def test_many_ids_of_the_key_holder_in_one_place_have_slots_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    size, rng = 128, np.random.default_rng(3)
    values = rng.integers(0, 256, (200, WAYS, prf.VALUE_BYTES), dtype=np.uint8)
    places = np.stack([rng.permutation(size)[:WAYS] for _ in range(200)])
    crossed = Transcript()
    for row, way in [(0, 0), (150, 2)]:
        asked = rng.integers(0, 256, (size, prf.VALUE_BYTES), dtype=np.uint8)
        asked[places[row, way]] = values[row, way]
        ours, theirs = run_pair(receive_hints(asked), send_hints(values, places, size, Chance(row)), crossed)
        assert np.flatnonzero(ours == theirs).tolist() == [places[row, way]]
    with pytest.raises(InputError, match="begin again"):
        run_pair(receive_hints(asked), send_hints(values[:33], places[:33] * 0, size, Chance(1)))


def test_the_key_holder_sees_uniform_rows_whichever_ids_are_asked_for() -> None:
    """Nobody, a few and many; the control is a page without the streams, whose columns repeat code words."""
    pages = [
        [message.rows for message in Played(asked, ids(0, 1)).crossed.sent_by_a if isinstance(message, CodePage)]
        for asked in (ids(0, 1), ids(0, 3000))
    ]
    simulated = [page.rows for page in simulate_codes(4096, Chance(4))]
    assert [list(map(len, each)) for each in pages] == [list(map(len, simulated))] * 2
    assert off(*(bits_of(b"".join(each), 56) for each in (*pages, simulated))) == []
    bare = np.repeat(code_words(b"s", digests_of(b"s", ["p"])), 4096, axis=0).tobytes()
    assert off(bits_of(bare, 56)) != []


def test_the_asker_sees_uniform_hints_whomever_the_other_lists(played: Played) -> None:
    few, many = Played(ids(0, 60), ids(40, 41)), played
    hints = [[each for each in numbered(one)[2].sent_by_b if isinstance(each, HintPage)] for one in (few, many)]
    simulated = simulate_hints(played.size, Chance(9))
    for views in (*hints, simulated):
        assert [(len(each.nonces), len(each.slots)) for each in views] == [(8 * 4096, 160 * 4096)]
        assert off(bits_of(b"".join(each.nonces for each in views), 8)) == []
        assert off(bits_of(b"".join(each.slots for each in views), 160)) == []


def test_what_crosses_has_the_length_that_follows_from_how_many_ids_the_asker_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prf, "PAGE_PLACES", 1024)
    one, other = Played(ids(0, 60), ids(40, 100)), Played(ids(500, 560), ids(0, 7))
    for pages in (one.crossed.sent_by_a, other.crossed.sent_by_a):
        assert [len(page.rows) for page in pages if isinstance(page, CodePage)] == [56 * 1024] * 4
    assert PAGE_PLACES % 128 == 0


@pytest.mark.parametrize("change", [without_its_end, with_more, lambda _: b""], ids=["short", "long", "empty"])
def test_pages_of_another_length_are_refused(played: Played, change: Callable[[bytes], bytes]) -> None:
    one, other = meet(4, 3)
    owners = np.full(4096, EMPTY)
    none = np.zeros((0, 2), np.uint64)
    with pytest.raises(PeerError, match="rows of another length"):
        run_pair(
            sending(ask_values(one, none, owners, np.zeros(0, np.intp), Chance(1)), changed(CodePage, rows=change)),
            give_key(other, 4096, Chance(2)),
        )
    for field in ("nonces", "slots"):
        with pytest.raises(PeerError, match="hints of another length"):
            numbered(played, lambda role, field=field: sending(role, changed(HintPage, **{field: change})))  # type: ignore[misc]


def test_an_asker_waits_for_transfers_alone_whichever_ids_are_asked_for() -> None:
    one, other = meet(4, 4)
    none = np.zeros((0, 2), np.uint64)
    values, key = run_pair(
        ask_values(one, none, np.full(4096, EMPTY), np.zeros(0, np.intp), Chance(1)), give_key(other, 4096, Chance(2))
    )
    assert isinstance(key, FunctionKey)
    assert len({value.tobytes() for value in values}) == 4096
    held = key.values(none, np.zeros((0, WAYS), np.intp))
    ours, theirs = run_pair(receive_hints(values), send_hints(held, np.zeros((0, WAYS), np.intp), 4096, Chance(3)))
    assert not (ours == theirs).any()
    one, _ = meet(4, 5)
    end = replay(ask_values(one, np.zeros((0, 2), np.uint64), np.full(128, EMPTY), np.zeros(0, np.intp), Chance(1)), [])
    assert end.waits
    assert end.sent == []
