"""Whom both list, by a random function that one side holds: places, values, numbers, and what each side sees."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import InputError, PeerError
from protocols.messages import CodePage, HintPage
from protocols.oblivious import prf, programmed
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
    simulate_codes,
    table_size,
)
from protocols.oblivious.programmed import receive_hints, send_hints, simulate_hints
from protocols.role import Role, Transcript, run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_hostile_peers import changed, sending, with_more, without_its_end
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.duel import replay
from tests.support.examples import at_most

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
    words = code_words(b"s", digests_of(b"s", ids(0, 400)))
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1)
    apart = (bits[:, None, :] ^ bits[None, :, :]).sum(axis=2)[~np.eye(400, dtype=bool)]
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


def test_the_key_holder_sees_uniform_rows_whoever_is_asked_for() -> None:
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


def test_an_asker_waits_for_transfers_alone_whoever_is_asked_for() -> None:
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
