import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey
from protocols.ciphers.paillier.packing import FreshCiphertext, read_page, write_page
from protocols.errors import DeviationError, InputError, PeerError

TINY: dict[str, Any] = json.loads((Path(__file__).parents[3] / "vectors" / "paillier_tiny.json").read_text())
GOOD = [case["ciphertext"] for case in TINY["encryptions"] if case["r"] > 1]


def page(values: list[int], length: int = 2) -> bytes:
    return b"".join(value.to_bytes(length, "big") for value in values)


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("case", TINY["refused"], ids=lambda case: case["why"])
def test_one_bad_ciphertext_refuses_the_page_and_does_not_say_why(
    case: dict[str, Any], place: int, tiny_key: PrivateKey
) -> None:
    values = list(GOOD)
    values[place] = case["ciphertext"]
    with pytest.raises(DeviationError) as refusal:
        read_page(tiny_key.public_key, page(values))
    assert str(refusal.value) == str(DeviationError())


@pytest.mark.parametrize("of", ["1", "1 + n", "1 + 5n", "n - 1", "n^2 - 1", "n^2 - 1 - 5n"])
def test_a_ciphertext_that_shows_its_plaintext_to_everybody_refuses_the_page(of: str, small_key: PrivateKey) -> None:
    n = int(small_key.public_key.n)
    honest = [(1 + n * bit) * pow(2 + bit, n, n * n) % (n * n) for bit in (0, 1)]
    shown = {"1": 1, "1 + n": 1 + n, "1 + 5n": 1 + 5 * n, "n - 1": n - 1, "n^2 - 1": n * n - 1}
    assert len(read_page(small_key.public_key, page(honest, 32))) == 2
    with pytest.raises(DeviationError):
        read_page(small_key.public_key, page([*honest, shown.get(of, n * n - 1 - 5 * n)], 32))


def test_one_bad_ciphertext_refuses_the_page_whatever_stands_beside_it(
    tiny_key: PrivateKey, small_key: PrivateKey
) -> None:
    with pytest.raises(DeviationError):
        read_page(tiny_key.public_key, page([5, 7]))
    values = [int(small_key.public_key.n) + 2] * 10_000
    assert len(read_page(small_key.public_key, page(values, 32))) == 10_000
    values[7654] = int(small_key.p) * 12345
    with pytest.raises(DeviationError):
        read_page(small_key.public_key, page(values, 32))
    for cut in (1, 2, 31, 33):
        data = page([int(small_key.public_key.n) + 2] * 3, 32)
        with pytest.raises(PeerError, match="whole ciphertexts") as refusal:
            read_page(small_key.public_key, data[:-cut])
        assert not isinstance(refusal.value, DeviationError)


def test_what_is_written_is_read(tiny_key: PrivateKey) -> None:
    data = write_page(tiny_key.public_key, [FreshCiphertext(Integer(value)) for value in GOOD])
    assert data == page(GOOD)
    assert read_page(tiny_key.public_key, data) == GOOD
    assert read_page(tiny_key.public_key, b"") == []
    for n, length in ((35, 2), (255, 2), (257, 4), (2**128 - 1, 32), (2**128 + 1, 34)):
        assert PublicKey(Integer(n)).ciphertext_bytes == length
    for place in (0, 1):
        values: list[Any] = [FreshCiphertext(Integer(1)), FreshCiphertext(Integer(36))]
        values[place] = values[place].value
        with pytest.raises(InputError, match="fresh"):
            write_page(tiny_key.public_key, values)


@given(st.binary(max_size=200))
def test_any_bytes_of_the_peer_are_read_or_refused(data: bytes) -> None:
    try:
        values = read_page(PublicKey(Integer(35)), data)
    except PeerError:
        return
    assert page([int(value) for value in values]) == data
