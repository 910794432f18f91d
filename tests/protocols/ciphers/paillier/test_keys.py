import json
from functools import cache
from math import lcm
from pathlib import Path
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest

from protocols.ciphers.paillier import keys
from protocols.ciphers.paillier.arithmetic import Integer, from_bytes, gcd, is_prime, powmod
from protocols.ciphers.paillier.cipher import ROUNDS, SECURITY_BITS, PaillierKeyHolder, prove, verify
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey, check_peer_modulus
from protocols.errors import DeviationError, InputError, PeerError
from tests.support.parties import key_holder, private_key

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


def test_a_modulus_of_the_peer_is_looked_at_up_to_the_limit_and_let_in_or_refused() -> None:
    for modulus in MODULI["accepted"].values():
        key = check_peer_modulus(bytes.fromhex(modulus), MODULI["floor_bits"], int(MODULI["own_modulus"], 16))
        assert key.modulus_bytes == bytes.fromhex(modulus)
    for case in MODULI["refused"]:
        with pytest.raises(PeerError) as refusal:
            check_peer_modulus(bytes.fromhex(case["modulus"]), MODULI["floor_bits"], int(MODULI["own_modulus"], 16))
        assert not isinstance(refusal.value, DeviationError)
    with pytest.raises(PeerError, match="factor below"):
        check_peer_modulus(b"\xff" * 2048, 2048)
    good = bytes.fromhex(MODULI["accepted"]["two primes of 64 bits"])
    assert check_peer_modulus(good, 127).bits == 127
    with pytest.raises(PeerError, match="at least 128 bits"):
        check_peer_modulus(good, 128)


PRIME = 0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057


def test_a_bad_private_key_is_refused() -> None:
    for p, q, fault in [
        (PRIME, 2**255 + 1, "not prime"),
        (2**255 + 1, PRIME, "not prime"),
        (5, 11, "differ in length"),
        (7, 7, "equal or too close"),
        (PRIME, PRIME, "equal or too close"),
        (PRIME, PRIME + 22, "equal or too close"),
        (PRIME, PRIME + 2**156 - 196, "equal or too close"),
        (2, 3, "shares a factor"),
    ]:
        with pytest.raises(InputError, match=fault):
            PrivateKey(Integer(p), Integer(q))


def test_the_smallest_keys_are_taken_and_keys_are_equal_by_their_moduli(tiny_key: PrivateKey) -> None:
    assert PrivateKey(Integer(PRIME), Integer(PRIME + 2**156 + 116)).public_key.bits == 512
    assert PublicKey(Integer(15)).modulus_bytes == b"\x0f"
    assert PublicKey(Integer(255)).modulus_bytes == b"\xff"
    for n in (-35, 0, 1, 13, 36):
        with pytest.raises(InputError, match="odd and at least 15"):
            PublicKey(Integer(n))
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


RUN = b"a run and a side"


def next_prime(value: int) -> int:
    candidate = value | 1
    while not is_prime(Integer(candidate)):
        candidate += 2
    return candidate


def test_an_honest_modulus_is_proved_for_its_run_alone_and_each_root_is_looked_at() -> None:
    key = private_key(0)
    roots = prove(key, RUN)
    verify(key.public_key, roots, RUN)
    for other in (b"", RUN + b"!", RUN[:-1]):
        with pytest.raises(PeerError, match="not proved"):
            verify(key.public_key, roots, other)
    with pytest.raises(PeerError, match="not proved"):
        verify(private_key(1).public_key, roots, RUN)
    assert (2**20) ** ROUNDS >= 2**SECURITY_BITS == 2**128
    assert ROUNDS == 7
    for place in range(ROUNDS):
        key = private_key(0)
        n, roots = key.public_key.n, prove(key, RUN)
        for wrong in (Integer(0), Integer(1), roots[place] + n, roots[place] - n, n - roots[place]):
            with pytest.raises(PeerError, match="not proved"):
                verify(key.public_key, [*roots[:place], wrong, *roots[place + 1 :]], RUN)
    for change in (lambda r: r[:-1], lambda r: [*r, r[-1]], lambda r: r[::-1], lambda r: []):
        key = private_key(0)
        with pytest.raises(PeerError, match="not proved"):
            verify(key.public_key, change(prove(key, RUN)), RUN)


@cache
def divides_the_other() -> tuple[int, int]:
    """Return primes `p` of 40 bits and `q` with `p` dividing `q - 1`: case 16 of FAULTS."""
    p = next_prime(2**39 + 12345)
    multiplier = 2**60
    while not is_prime(Integer(multiplier * p + 1)):
        multiplier += 2
    return p, multiplier * p + 1


def best_roots(n: int, factors: dict[int, int], residues: list[Integer]) -> list[Integer]:
    """Do what a cheat can: take an N-th root wherever one exists, prime power by prime power, and else guess."""
    found = []
    for residue in residues:
        root = Integer(0)
        for p, power in factors.items():
            modulus = p**power
            order = modulus // p * (p - 1)
            free = order
            while (common := int(gcd(Integer(n), Integer(free)))) != 1:
                free //= common
            part = pow(int(residue) % modulus, pow(n, -1, free), modulus)  # right if the residue is an N-th power
            rest = n // modulus
            root += part * rest * pow(rest, -1, modulus)
        found.append(Integer(root % n))
    return found


def p_squared_q() -> dict[int, int]:
    return {next_prime(2**60 + 999): 2, next_prime(2**70 + 7): 1}


@pytest.mark.parametrize("kind", ["p divides q - 1", "p squared times q"])
def test_a_modulus_that_shares_a_factor_with_its_order_passes_all_tests_but_the_proof(kind: str) -> None:
    p, q = divides_the_other()
    factors = {p: 1, q: 1} if kind == "p divides q - 1" else p_squared_q()
    n = 1
    for prime, power in factors.items():
        n *= prime**power
    key = check_peer_modulus(n.to_bytes((n.bit_length() + 7) // 8, "big"), n.bit_length())
    for number in range(20):
        context = number.to_bytes(4, "big")
        roots = best_roots(n, factors, residues(key, context))
        with pytest.raises(PeerError, match="not proved"):
            verify(key, roots, context)


def residues(key: PublicKey, context: bytes) -> list[Integer]:
    """Read the residues off the verifier: it compares each with the N-th power of what it is shown."""
    from protocols.ciphers.paillier import cipher  # noqa: PLC0415

    return list(cipher._residues(key, context))


@pytest.mark.parametrize("selection", [0b0, 0b1, 0b1011001101, 0b1111111111])
def test_a_modulus_that_shares_a_factor_with_its_order_reads_what_the_evaluator_chose(selection: int) -> None:
    """Why it is refused: masks and fresh N-th powers hide nothing modulo `q**2`, where an element of order `p` remains.

    The key holder sends powers of it as ciphertexts; which of them the evaluator has multiplied is in the reply.
    """
    p, q = divides_the_other()
    n, square = p * q, (p * q) ** 2
    mark = pow(3, q * (q - 1) // p, q**2)  # of order p modulo q**2, and 1 modulo p**2
    mark = (mark * p**2 * pow(p**2, -1, q**2) + q**2 * pow(q**2, -1, p**2)) % square
    reply = (1 + n * 987654321) * pow(2**77 + 1, n, square) % square  # a mask and a fresh factor
    for place in range(10):
        if selection >> place & 1:
            reply = reply * pow(mark, 2**place, square) % square
    end = lcm(p - 1, q - 1) // p * q
    left, unit = pow(reply, end, q**2), pow(mark, end, q**2)
    assert [guess for guess in range(1 << 10) if pow(unit, guess, q**2) == left] == [selection]


class TestAnnounced:
    """The key holder's side of the port, and the evaluator's."""

    def read(self, data: bytes, context: bytes = RUN) -> None:
        key_holder(1).read_peer(data, 256, context)

    def test_a_key_is_let_in_with_its_proof(self) -> None:
        read = key_holder(1).read_peer(key_holder(0).announce(RUN), 256, RUN)
        assert read == key_holder(0).public

    def test_a_key_is_proved_for_one_run(self) -> None:
        with pytest.raises(PeerError, match="not proved"):
            self.read(key_holder(0).announce(RUN), b"another")

    @pytest.mark.parametrize("data", [b"", b"\x01", bytes(8), bytes(16)])
    def test_what_is_no_key_is_refused(self, data: bytes) -> None:
        with pytest.raises(PeerError):
            self.read(data)

    @pytest.mark.parametrize("surplus", range(1, 1 + ROUNDS))
    def test_a_key_and_a_proof_in_parts_of_unequal_length_are_not_taken_apart(self, surplus: int) -> None:
        with pytest.raises(PeerError, match=f"{ROUNDS} numbers of the same length"):
            self.read(key_holder(0).announce(RUN) + bytes(surplus))

    def test_a_key_without_its_proof_is_refused(self) -> None:
        with pytest.raises(PeerError):
            self.read(key_holder(0).public.public_key.modulus_bytes)

    def test_anothers_proof_is_refused(self) -> None:
        holder: PaillierKeyHolder = key_holder(0)
        own, other = holder.announce(RUN), key_holder(2).announce(RUN)
        length = 2 + len(holder.public.public_key.modulus_bytes)
        with pytest.raises(PeerError, match="not proved"):
            self.read(own[:length] + other[length:])

    @pytest.mark.parametrize("bits", [256, 2048, 3072])  # of some lengths, fewer roots are as many numbers of another
    @pytest.mark.parametrize("missing", range(1, 1 + ROUNDS))
    def test_a_proof_that_lacks_roots_is_refused_for_that(self, bits: int, missing: int) -> None:
        numbers = b"\xff" * (bits // 8 * (1 + ROUNDS - missing))
        with pytest.raises(PeerError, match=f"its modulus and {ROUNDS} numbers of the same length"):
            self.read((bits // 8).to_bytes(2, "big") + numbers)


def test_the_cheat_proves_what_is_true_by_powers() -> None:
    key = private_key(0)
    n = int(key.public_key.n)
    roots = best_roots(n, {int(key.p): 1, int(key.q): 1}, residues(key.public_key, RUN))
    assert roots == prove(key, RUN)
    verify(key.public_key, roots, RUN)
    key = private_key(0)
    n = key.public_key.n
    for value in (Integer(2), n - 1, from_bytes(b"any") ** 7 % n):
        assert powmod(key.root(value), n, n) == value
