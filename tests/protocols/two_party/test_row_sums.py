"""One number per row: as many bits as were asked for come in, and nothing but a sum goes out."""

import secrets

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.port import Reply
from protocols.errors import DeviationError, PeerError
from protocols.messages import CiphertextPage, SealedAnswers
from protocols.tables.arrays import Index
from protocols.two_party.row_sums import RowPages, ask_row_sums, receive_bits
from tests.support.duel import End, replay
from tests.support.parties import make_local
from tests.support.predictions import PARTIES

KEY = CurveKeyHolder(CurvePrivateKey(31337))
SIZE = KEY.public.ciphertext_bytes


@pytest.mark.parametrize(("bits", "fits"), [(6, True), (5, False), (7, False), (0, False)])
def test_a_page_has_the_bits_of_its_rows(bits: int, fits: bool) -> None:
    end = replay(receive_bits(RowPages(9, 2, 3), np.arange(3), KEY.public), [CiphertextPage(bytes(bits * SIZE))])
    assert (end.result == bytes(bits * SIZE)) is fits
    assert (type(end.error) is PeerError) is not fits


def told(number: int, largest: int) -> End[list[int]]:
    """Return what comes of a row without bits, of which this number is told."""

    def none(rows: Index) -> NDArray[np.bool_]:
        return np.zeros((len(rows), 0), dtype=np.bool_)

    sums = KEY.public.add_numbers(KEY.public.sums(1).totals(), np.array([number]))
    sealed = SealedAnswers(KEY.public.seal([Reply(sums, slots=1)], 10, secrets))
    return replay(ask_row_sums(RowPages(1, 0, largest), none, KEY, make_local(PARTIES, "alice")), [sealed])


@pytest.mark.parametrize(("number", "largest"), [(1, 0), (3, 2), (9, 2)])
def test_a_number_above_the_largest_sum_is_none_even_where_all_are_0(number: int, largest: int) -> None:
    assert told(largest, largest).result == [largest]
    assert type(told(number, largest).error) is DeviationError
