import json
from pathlib import Path
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest

from protocols.ciphers.paillier import keys
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey, check_peer_modulus
from protocols.errors import DeviationError, InputError, PeerError

VECTORS = Path(__file__).parents[3] / "vectors"
TINY: dict[str, Any] = json.loads((VECTORS / "paillier_tiny.json").read_text())
MODULI: dict[str, Any] = json.loads((VECTORS / "paillier_moduli.json").read_text())


def test_known_ciphertexts_decrypt(tiny_key: PrivateKey) -> None:
    for case in TINY["encryptions"]:
        n = tiny_key.public_key.n
        assert case["ciphertext"] == (1 + n * case["message"]) * pow(case["r"], 35) % 1225
        assert tiny_key.decrypt(Integer(case["ciphertext"])) == case["message"]
    units = [r for r in range(35) if r % 5 and r % 7]
    for message in range(35):
        for r in units:
            assert tiny_key.decrypt(Integer((1 + 35 * message) * pow(r, 35) % 1225)) == message
    for case in (*TINY["refused"], {"ciphertext": -1, "why": "negative"}):
        with pytest.raises(DeviationError) as refusal:
            tiny_key.decrypt(Integer(case["ciphertext"]))
        assert str(refusal.value) == str(DeviationError())


@pytest.mark.parametrize("modulus", MODULI["accepted"].values(), ids=MODULI["accepted"])
def test_a_good_modulus_of_the_peer_is_let_in(modulus: str) -> None:
    key = check_peer_modulus(bytes.fromhex(modulus), MODULI["floor_bits"], int(MODULI["own_modulus"], 16))
    assert key.modulus_bytes == bytes.fromhex(modulus)


@pytest.mark.parametrize("case", MODULI["refused"], ids=lambda case: case["why"])
def test_a_bad_modulus_of_the_peer_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(PeerError) as refusal:
        check_peer_modulus(bytes.fromhex(case["modulus"]), MODULI["floor_bits"], int(MODULI["own_modulus"], 16))
    assert not isinstance(refusal.value, DeviationError)


@pytest.mark.parametrize("bits", [1024, 2048])
def test_factors_that_differ_by_somewhat_more_than_the_fourth_root_are_too_close_and_others_are_not(bits: int) -> None:
    """A step of Fermat's method covers eight times the square root of the modulus of the squared difference."""
    p = gmpy2.next_prime(3 << (bits // 2 - 2))
    for beyond, refused in ((1, True), (8, True), (13, True), (100, False)):
        n = int(p * gmpy2.next_prime(p + (1 << (bits // 4 + beyond))))
        if refused:
            with pytest.raises(PeerError, match="so close that anybody finds them"):
                check_peer_modulus(n.to_bytes(bits // 8, "big"), bits - 1)
        else:
            assert check_peer_modulus(n.to_bytes(bits // 8, "big"), bits - 1).n == n


@pytest.mark.parametrize("length", [2049, 10**6])
def test_a_modulus_too_long_is_refused_before_any_arithmetic(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(keys, "from_bytes")
    with pytest.raises(PeerError, match="2048 bytes"):
        check_peer_modulus(b"\x01" * length, 2048)


def test_a_modulus_of_the_peer_is_looked_at_up_to_the_limit() -> None:
    with pytest.raises(PeerError, match="factor below"):
        check_peer_modulus(b"\xff" * 2048, 2048)
    good = bytes.fromhex(MODULI["accepted"]["two primes of 64 bits"])
    assert check_peer_modulus(good, 127).bits == 127
    with pytest.raises(PeerError, match="at least 128 bits"):
        check_peer_modulus(good, 128)


PRIME = 0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057


@pytest.mark.parametrize(
    ("p", "q", "fault"),
    [
        (PRIME, 2**255 + 1, "not prime"),
        (2**255 + 1, PRIME, "not prime"),
        (5, 11, "differ in length"),
        (7, 7, "equal or too close"),
        (PRIME, PRIME, "equal or too close"),
        (PRIME, PRIME + 22, "equal or too close"),
        (PRIME, PRIME + 2**156 - 196, "equal or too close"),
        (2, 3, "shares a factor"),
    ],
)
def test_a_bad_private_key_is_refused(p: int, q: int, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        PrivateKey(Integer(p), Integer(q))


def test_the_smallest_keys_are_taken() -> None:
    assert PrivateKey(Integer(PRIME), Integer(PRIME + 2**156 + 116)).public_key.bits == 512
    assert PublicKey(Integer(15)).modulus_bytes == b"\x0f"
    assert PublicKey(Integer(255)).modulus_bytes == b"\xff"
    for n in (-35, 0, 1, 13, 36):
        with pytest.raises(InputError, match="odd and at least 15"):
            PublicKey(Integer(n))


def test_keys_are_equal_by_their_moduli(tiny_key: PrivateKey) -> None:
    # printf '\x23' | sha256sum
    assert PublicKey(Integer(35)).fingerprint().replace(" ", "") == (
        "334359b90efed75da5f0ada1d5e6b256f4a6bd0aee7eb39c0f90182a021ffc8b"
    )
    assert {len(group) for group in PublicKey(Integer(35)).fingerprint().split(" ")} == {4}
    assert tiny_key.public_key == PublicKey(Integer(35))
    assert tiny_key.public_key != PublicKey(Integer(33))
    assert len({tiny_key.public_key, PublicKey(Integer(35))}) == 1
    public_key = PublicKey(35)
    assert isinstance(public_key.n, Integer)
    assert isinstance(public_key.n_square, Integer)
