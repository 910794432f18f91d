import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import lcm, prod
from pathlib import Path
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import phe
import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols.ciphers.paillier
from protocols.ciphers.paillier import arithmetic, keys
from protocols.ciphers.paillier.arithmetic import Integer, from_bytes, gcd, is_prime, multiply_into, powmod
from protocols.ciphers.paillier.cipher import ROUNDS, SECURITY_BITS, prove, verify
from protocols.ciphers.paillier.encryption import Encryptor, FixedBase, random_member
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey, check_peer_modulus
from protocols.ciphers.paillier.packing import FreshCiphertext, draw_unit
from protocols.errors import DeviationError, InputError, PeerError
from protocols.randomness import WatchedRandomness, watched
from tests.protocols.ciphers.paillier.chance import Chance, Script
from tests.support.parties import key_holder, private_key

SMALL = PrivateKey(0xF00000000000002B, 0xF800000000000027)
SMALL_N = int(SMALL.public_key.n)
ENCRYPTOR = Encryptor(SMALL, Chance(1))
messages = st.integers(0, SMALL_N - 1)


@given(st.lists(messages, max_size=4))
def test_decryption_undoes_encryption(plaintexts: list[int]) -> None:
    assert [SMALL.decrypt(fresh.value) for fresh in ENCRYPTOR.encrypt(plaintexts)] == plaintexts


@given(messages, messages, st.integers(0, 1000))
def test_products_of_ciphertexts_decrypt_to_sums(first: int, second: int, factor: int) -> None:
    a, b = (fresh.value for fresh in ENCRYPTOR.encrypt([first, second]))
    n_square = SMALL.public_key.n_square
    assert SMALL.decrypt(a * b % n_square) == (first + second) % SMALL_N
    assert SMALL.decrypt(Integer(pow(int(a), factor, int(n_square)))) == first * factor % SMALL_N


def test_exponents_bases_and_factors_are_of_the_whole_order_each_of_its_own_base(
    key: PrivateKey, tiny_key: PrivateKey
) -> None:
    """FAULTS A10: not from fewer bits."""
    chance = Chance(4)
    Encryptor(key, chance).encrypt([0, 1])
    assert chance.bounds[-4:] == [int(key.p) - 1, int(key.q) - 1] * 2
    for prime in (5, 7, 31, 211, 2311):
        square = prime**2
        for seed in range(20):
            member = int(random_member(Integer(prime), Integer(prime * 10007), watched(Chance(seed))))
            assert len({pow(member, exponent, square) for exponent in range(prime - 1)}) == prime - 1
            assert pow(member, prime - 1, square) == 1
    drawn = [0, 5, 1, 2]  # the units 1, 6, 2 have orders 1, 2, 3 modulo 7; 3 has order 6
    assert random_member(Integer(7), Integer(35), watched(Script(drawn))) == pow(3, 35, 49)
    encryptor = Encryptor(tiny_key, Chance(3))
    encryptor.encrypt([0])
    pairs = list(product(range(4), range(6)))
    encryptor._randomness = watched(Script(exponent for pair in pairs for exponent in pair))
    factors = Counter(int(fresh.value) for fresh in encryptor.encrypt([0] * len(pairs)))
    residues = {pow(r, 35, 1225) for r in range(35) if r % 5 and r % 7}
    assert len(residues) == 24
    assert factors == dict.fromkeys(residues, 1)
    chance = Chance(7)
    Encryptor(key, chance).encrypt([])
    assert chance.draws == []
    Encryptor(key, chance).encrypt([0])
    assert chance.bounds[0] == key.p - 1
    assert chance.bounds[-3] == key.q - 1
    plaintexts = list(range(2500))
    fresh = ENCRYPTOR.encrypt(plaintexts)
    assert [SMALL.decrypt(fresh[place].value) for place in (0, 999, 1000, 2499)] == [0, 999, 1000, 2499]
    assert len({ciphertext.value for ciphertext in fresh}) == len(fresh) == 2500


def test_a_bad_source_ends_encryption_and_bits_agree_with_phe_both_ways(key: PrivateKey) -> None:
    public = phe.PaillierPublicKey(int(key.public_key.n))
    private = phe.PaillierPrivateKey(public, int(key.p), int(key.q))
    encryptor = Encryptor(key, Chance(2))
    plaintexts = [0, 1, 2, 2**100, public.n - 1]
    assert [private.raw_decrypt(int(fresh.value)) for fresh in encryptor.encrypt(plaintexts)] == plaintexts
    assert [key.decrypt(Integer(public.raw_encrypt(message))) for message in plaintexts] == plaintexts

    class Zero:
        def randbelow(self, exclusive_upper_bound: int, /) -> int:
            return 0

    with pytest.raises(InputError, match="randomness"):
        random_member(Integer(7), Integer(35), watched(Zero()))
    encryptor = Encryptor(key, Chance(6))
    encryptor.encrypt([0])
    for numbers in ([5, 5], [5, 6, 5], [5, 6, 7, 6]):
        encryptor._randomness = watched(Script(numbers))
        with pytest.raises(InputError, match="repeated"):
            encryptor.encrypt([0, 0, 0])
    for message in (-1, SMALL_N, SMALL_N + 1):
        with pytest.raises(InputError, match="below the modulus"):
            ENCRYPTOR.encrypt([0, message])


PRIME = Integer(0xF00000000000002B)
SQUARE = PRIME**2
BASE = Integer(pow(3, int(PRIME), int(SQUARE)))
TABLE = FixedBase(BASE, PRIME, 64)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**90)), max_size=5))
def test_the_table_gives_powers_and_takes_corrections_in(pairs: list[tuple[int, int]]) -> None:
    powers = TABLE.powers([exponent for exponent, _ in pairs], [Integer(correction) for _, correction in pairs])
    assert powers == [
        pow(int(BASE), exponent, int(SQUARE)) * (1 + PRIME * correction) % SQUARE for exponent, correction in pairs
    ]


def test_the_table_gives_powers_up_to_the_longest_exponent() -> None:
    for bits in (1, 8, 15, 16, 17):
        exponent = 2**bits - 1
        assert FixedBase(BASE, PRIME, bits).powers([exponent], [Integer(0)]) == [pow(int(BASE), exponent, int(SQUARE))]
    for exponent in (-1, 2**64):
        with pytest.raises(InputError, match=r"below 2\*\*64"):
            TABLE.powers([5, exponent], [Integer(0), Integer(0)])


MODULUS = Integer(1009 * 1013) ** 2
units = st.integers(1, int(MODULUS) - 1).filter(lambda value: value % 1009 != 0 and value % 1013 != 0).map(Integer)


@given(st.lists(st.tuples(st.none() | units, st.integers(0, 4)), max_size=30), st.integers(0, 30))
def test_multiplying_into_groups_agrees_with_multiplying_each(
    pairs: list[tuple[Integer | None, int]], cut: int
) -> None:
    products: list[Integer | None] = [None] * 5
    for part in (pairs[:cut], pairs[cut:]):
        groups = np.array([group for _, group in part], dtype=np.int64)
        multiply_into(products, [value for value, _ in part], groups, MODULUS)
    for group, result in enumerate(products):
        members = [int(value) for value, its in pairs if its == group and value is not None]
        assert result == (prod(members) % MODULUS if members else None)


@given(units, st.integers(0, 40))
def test_the_power_of_two_agrees_with_the_general_power(base: Integer, bits: int) -> None:
    expected = pow(int(base), 2**bits, int(MODULUS))
    assert arithmetic.power_of_two(base, bits, MODULUS) == expected
    assert arithmetic.powmod(base, Integer(2) ** bits, MODULUS) == expected
    assert arithmetic.powmod_secret(base, Integer(2) ** bits, MODULUS) == expected


@given(st.integers(0, 2**64 - 1))
def test_bytes_and_integers_convert_both_ways(value: int) -> None:
    data = arithmetic.to_bytes(Integer(value), 8)
    assert data == value.to_bytes(8, "big")
    assert arithmetic.from_bytes(data) == value


def test_primes_are_primes_and_groups_must_fit() -> None:
    assert [p for p in range(1000) if p > 1 and all(p % d for d in range(2, p))] == list(arithmetic.primes_below(1000))
    assert len(arithmetic.primes_below(2**16)) == 6542
    for limit in (0, 1, 2):
        assert arithmetic.primes_below(limit) == ()
    for groups in ([0], [0, 1, 1], [0, -1], [0, 2]):
        products: list[Integer | None] = [None, Integer(3)]
        with pytest.raises(InputError, match="group"):
            multiply_into(products, [Integer(5), Integer(6)], np.array(groups), MODULUS)
        assert products == [None, 3]


PACKAGE = Path(protocols.ciphers.paillier.__file__).parent
ROOT = PACKAGE.parents[2]
PUBLIC_EXPONENTS = {"n"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rsplit(".", 1)[-1], node


def exponents_shown(path: Path) -> list[str]:
    """List the exponents that a source gives to a power whose time shows them."""
    return [
        ast.unparse(call.args[1])
        for name, call in calls(path)
        if (name == "powmod" and ast.unparse(call.args[1]) not in PUBLIC_EXPONENTS) or (name == "pow")
    ]


def test_secret_exponents_never_reach_the_plain_power_and_only_two_modules_make_fresh_ciphertexts(
    tmp_path: Path,
) -> None:
    for path in sorted(PACKAGE.glob("*.py")):
        shown = exponents_shown(path)
        assert shown == (["exponent"] if path.name == "arithmetic.py" else [])
    source = tmp_path / "source.py"
    source.write_text("powmod(c, n, m)\npowmod_secret(c, p - 1, m)\npowmod(c, p - 1, m)\npow(c, d, m)\n")
    assert exponents_shown(source) == ["p - 1", "d"]
    users = {path.name for path in PACKAGE.glob("*.py") for name, _ in calls(path) if name == "powmod_secret"}
    assert users == {"keys.py", "encryption.py"}
    makers = {
        path.relative_to(ROOT).as_posix()
        for folder in ("protocols", "party")
        for path in (ROOT / folder).rglob("*.py")
        if "FreshCiphertext" in path.read_text("utf-8")
        for name, _ in calls(path)
        if name == "FreshCiphertext"
    }
    assert makers == {"protocols/ciphers/paillier/encryption.py", "protocols/ciphers/paillier/packing.py"}


def test_representations_show_kind_and_size_only(key: PrivateKey, small_key: PrivateKey) -> None:
    encryptor = Encryptor(key, Chance(1))
    shown = {
        repr(key): "PrivateKey(512 bits)",
        repr(key.public_key): "PublicKey(512 bits)",
        repr(encryptor): "Encryptor(512 bits)",
        repr(watched(Chance(1))): "WatchedRandomness()",
        repr(FreshCiphertext(key.public_key.n)): "FreshCiphertext(512 bits)",
        repr(FixedBase(small_key.p + 2, small_key.p, 20)): "FixedBase(64-bit prime, 4 rows)",
    }
    assert list(shown) == list(shown.values())
    assert not any(re.search(r"\d{5}", text) for text in shown)


LONG = 2**128


def test_equal_draws_in_a_row_are_refused_and_a_source_that_fails_is_not_replaced(chance: Chance) -> None:
    source = WatchedRandomness(Script([5, 6, 5, 5]))
    assert [source.randbelow(LONG) for _ in range(3)] == [5, 6, 5]
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(LONG)
    source = WatchedRandomness(Script([5, 6, 5]))
    source.randbelow(LONG)
    source.randbelow(2 * LONG)
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(LONG)
    source = WatchedRandomness(Script([5, 5]))
    source.randbelow(LONG)
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(2 * LONG)
    source = WatchedRandomness(Script([5, 5, 5]))
    assert [source.randbelow(2**128 - 1) for _ in range(3)] == [5, 5, 5]
    for draw in (-1, 10):
        with pytest.raises(InputError, match="range"):
            WatchedRandomness(Script([draw])).randbelow(10)

    class Broken:
        def randbelow(self, exclusive_upper_bound: int, /) -> int:
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011  # the source's own
        WatchedRandomness(Broken()).randbelow(10)
    source = watched(chance)
    assert watched(source) is source
    assert draw_unit(PublicKey(Integer(35)), watched(Script([0, 5, 14, 34]))) == 34


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


KEYS_PRIME = 0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057


def test_a_bad_private_key_is_refused() -> None:
    for p, q, fault in [
        (KEYS_PRIME, 2**255 + 1, "not prime"),
        (2**255 + 1, KEYS_PRIME, "not prime"),
        (5, 11, "differ in length"),
        (7, 7, "equal or too close"),
        (KEYS_PRIME, KEYS_PRIME, "equal or too close"),
        (KEYS_PRIME, KEYS_PRIME + 22, "equal or too close"),
        (KEYS_PRIME, KEYS_PRIME + 2**156 - 196, "equal or too close"),
        (2, 3, "shares a factor"),
    ]:
        with pytest.raises(InputError, match=fault):
            PrivateKey(Integer(p), Integer(q))


def test_the_smallest_keys_are_taken_and_keys_are_equal_by_their_moduli(tiny_key: PrivateKey) -> None:
    assert PrivateKey(Integer(KEYS_PRIME), Integer(KEYS_PRIME + 2**156 + 116)).public_key.bits == 512
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


@pytest.mark.parametrize("kind", ["p divides q - 1", "p squared times q"])
def test_a_modulus_that_shares_a_factor_with_its_order_passes_all_tests_but_the_proof(kind: str) -> None:
    p, q = divides_the_other()
    factors = {p: 1, q: 1} if kind == "p divides q - 1" else {next_prime(2**60 + 999): 2, next_prime(2**70 + 7): 1}
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
    from protocols.ciphers.paillier import cipher

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


def test_a_key_is_let_in_with_a_proof_of_its_own_for_its_run_and_nothing_else_is() -> None:
    """Of some lengths, fewer roots are as many numbers of another."""
    own, other = (key_holder(number).announce(RUN) for number in (0, 2))
    assert key_holder(1).read_peer(own, 256, RUN) == key_holder(0).public
    modulus, parts = key_holder(0).public.public_key.modulus_bytes, f"{ROUNDS} numbers of the same length"
    refused = [
        (own, b"another", "not proved"),
        (own[: 2 + len(modulus)] + other[2 + len(modulus) :], RUN, "not proved"),
    ]
    refused += [(data, RUN, "peer") for data in (b"", b"\x01", bytes(8), bytes(16), modulus)]
    for number in range(1, 1 + ROUNDS):
        refused.append((own + bytes(number), RUN, parts))
        for size in (32, 256, 384):
            fewer = size.to_bytes(2, "big") + b"\xff" * (size * (1 + ROUNDS - number))
            refused.append((fewer, RUN, f"its modulus and {parts}"))
    for data, context, text in refused:
        with pytest.raises(PeerError, match=text):
            key_holder(1).read_peer(data, 256, context)


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
