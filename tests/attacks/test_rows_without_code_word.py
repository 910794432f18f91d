"""A receiver of an intersection that brings rows that are no code words: the deviation that SECURITY lists.

It knows some ids to be common. Of each it flips one bit of the code word: what comes back shows one bit of the key
holder's secret choices, and who has all of these tries any id at home. Who keeps to code words learns none of them.
"""

import numpy as np
import pytest

from protocols.oblivious import prf
from protocols.oblivious.placing import digests_of, place, places_of, table_size
from protocols.oblivious.prf import CODE_BITS, ask_values, give_key
from protocols.role import run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet

KNOWN = [f"known {number}" for number in range(CODE_BITS)]
STRANGERS = [f"stranger {number}" for number in range(50)]


@pytest.mark.parametrize("deviating", [True, False])
def test_rows_with_one_bit_off_show_the_choices_bit_by_bit_and_code_words_do_not(
    deviating: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = meet(4)
    session, size = one.sender.session, table_size(len(KNOWN))
    digests = digests_of(session, KNOWN)
    places = places_of(digests, size)
    owners, ways = place(places, size)
    flips = np.zeros((size, CODE_BITS // 64), np.uint64)
    at = places[np.arange(CODE_BITS), ways]
    flips[at, np.arange(CODE_BITS) // 64] = np.uint64(1) << (np.arange(CODE_BITS) % 64).astype(np.uint64)
    honest, rows = prf.code_words, {}
    hashed = prf._hashed

    def kept(session: bytes, own: np.ndarray, *rest: object) -> np.ndarray:
        rows["own"] = own
        return hashed(session, own, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(prf, "_hashed", kept)
        if deviating:
            patch.setattr(prf, "code_words", lambda *words: honest(*words) ^ flips)
        role = give_key(other, size, Chance(2))
        _, key = run_pair(ask_values(one, digests, owners, ways, Chance(1)), role)
    with_strangers = digests_of(session, [*KNOWN, *STRANGERS])
    all_places = places_of(with_strangers, size)
    values = key.values(with_strangers, all_places)
    shown, strangers = (
        {value.tobytes() for value in each.reshape(-1, prf.VALUE_BYTES)}
        for each in (values[:CODE_BITS], values[CODE_BITS:])
    )
    read = np.zeros(CODE_BITS, bool)
    for bit in range(CODE_BITS):
        where = at[bit : bit + 1]
        flipped = hashed(session, rows["own"][where] ^ flips[where], where, ways[bit : bit + 1])
        read[bit] = flipped.tobytes() in shown
    choices = np.packbits(read, bitorder="little").view(np.uint64)
    assert (choices == key.choices).all() == deviating
    words = honest(session, with_strangers[CODE_BITS:])
    tried = 0
    for number, word in enumerate(words):
        where = all_places[CODE_BITS + number, :1]
        if owners[where[0]] < 0:
            continue
        base = honest(session, digests[owners[where]])[0] ^ (flips[where[0]] if deviating else np.uint64(0))
        guess = hashed(session, rows["own"][where] ^ ((base ^ word) & choices), where, 0)
        tried += guess.tobytes() in strangers
    assert (tried > 0) == deviating
