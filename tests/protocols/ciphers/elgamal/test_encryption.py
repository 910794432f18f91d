import secrets

import pytest

from protocols.ciphers.curve import ORDER, write_points
from protocols.ciphers.elgamal.encryption import (
    CIPHERTEXT_BYTES,
    CurveEncryptor,
    read_pairs,
    write_pairs,
)
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.errors import DeviationError, InputError, PeerError
from tests.protocols.ciphers.elgamal.plain import as_bytes, times
from tests.protocols.ciphers.paillier.chance import Chance, Script
from tests.protocols.ciphers.test_curve import HOSTILE

KEY = CurvePrivateKey(2)


def parts(page: bytes) -> list[bytes]:
    return [page[start : start + CIPHERTEXT_BYTES] for start in range(0, len(page), CIPHERTEXT_BYTES)]


def test_ciphertexts_are_those_worked_by_hand() -> None:
    """With x = 2: Enc(0; 3) = (3G, 6G), Enc(1; 3) = (3G, 7G), Enc(4; 1) = (G, 6G)."""
    numbers = [(0, 3, 6), (1, 3, 7), (4, 1, 6)]
    for message, r, second in numbers:
        page = write_pairs(CurveEncryptor(KEY, Script([r])).encrypt([message]))
        assert page == as_bytes(times(r)) + as_bytes(times(second))


def test_messages_are_encrypted_each_with_chance_of_its_own() -> None:
    chance = Chance(1)
    page = write_pairs(CurveEncryptor(KEY, chance).encrypt([0, 1, 1]))
    assert chance.bounds == [ORDER] * 3
    assert [pair[:33] for pair in parts(page)] == [as_bytes(times(r)) for r in chance.draws]


@pytest.mark.parametrize("message", [-1, ORDER - 1, ORDER])
def test_a_message_out_of_range_is_refused(message: int) -> None:
    with pytest.raises(InputError, match="message"):
        CurveEncryptor(KEY, secrets).encrypt([0, message])


def test_a_source_that_repeats_itself_or_gives_nothing_at_all_encrypts_nothing() -> None:
    with pytest.raises(InputError, match="repeated"):
        CurveEncryptor(KEY, Script([5, 5])).encrypt([0, 1])
    with pytest.raises(InputError, match="randomness failed"):
        CurveEncryptor(KEY, Script([0])).encrypt([1])


def test_only_fresh_ciphertexts_may_leave() -> None:
    page = write_pairs(CurveEncryptor(KEY, secrets).encrypt([1]))
    with pytest.raises(InputError, match="fresh"):
        write_pairs(read_pairs(page))  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [bad for bad in HOSTILE.values() if len(bad) == 33])
def test_a_page_with_one_bad_half_is_refused_whole(data: bytes) -> None:
    good = as_bytes(times(3))
    for page in (data + good, good + data, good * 2 + data + good):
        with pytest.raises(DeviationError):
            read_pairs(page)


@pytest.mark.parametrize("r", [1, ORDER - 1])
def test_a_ciphertext_that_shows_its_plaintext_to_everybody_refuses_the_page(r: int) -> None:
    honest = write_pairs(CurveEncryptor(KEY, Script([3, 5])).encrypt([0, 1]))
    assert len(read_pairs(honest)) == 2
    with pytest.raises(DeviationError):
        read_pairs(honest + write_pairs(CurveEncryptor(KEY, Script([r])).encrypt([1])))


@pytest.mark.parametrize("length", [1, 33, 65, 67])
def test_a_page_of_a_wrong_length_is_refused(length: int) -> None:
    with pytest.raises(PeerError, match="whole ciphertexts"):
        read_pairs((as_bytes(times(3)) * 3)[:length])


def test_what_was_read_is_what_was_written() -> None:
    page = write_pairs(CurveEncryptor(KEY, secrets).encrypt([1, 2]))
    assert write_points(read_pairs(page)) == page
