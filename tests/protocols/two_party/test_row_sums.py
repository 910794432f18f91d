"""Rows under encryption: as many bits as were asked for come in."""

import numpy as np
import pytest

from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.errors import PeerError
from protocols.messages import CiphertextPage
from protocols.two_party.row_sums import RowPages, receive_bits
from tests.support.duel import replay

KEY = CurveKeyHolder(CurvePrivateKey(31337))
SIZE = KEY.public.ciphertext_bytes


@pytest.mark.parametrize(("bits", "fits"), [(6, True), (5, False), (7, False), (0, False)])
def test_a_page_has_the_bits_of_its_rows(bits: int, fits: bool) -> None:
    end = replay(receive_bits(RowPages(9, 2, 3), np.arange(3), KEY.public), [CiphertextPage(bytes(bits * SIZE))])
    assert (end.result == bytes(bits * SIZE)) is fits
    assert (type(end.error) is PeerError) is not fits
