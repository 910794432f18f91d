from collections import Counter
from itertools import product
from math import prod

import numpy as np
import phe
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.draws import watched
from protocols.ciphers.paillier import arithmetic
from protocols.ciphers.paillier.arithmetic import Integer, multiply_into
from protocols.ciphers.paillier.encryption import Encryptor, FixedBase, random_member
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.errors import InputError
from tests.protocols.ciphers.paillier.chance import Chance, Script

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


def test_bits_and_integers_agree_with_phe_both_ways(key: PrivateKey) -> None:
    public = phe.PaillierPublicKey(int(key.public_key.n))
    private = phe.PaillierPrivateKey(public, int(key.p), int(key.q))
    encryptor = Encryptor(key, Chance(2))
    plaintexts = [0, 1, 2, 2**100, public.n - 1]
    assert [private.raw_decrypt(int(fresh.value)) for fresh in encryptor.encrypt(plaintexts)] == plaintexts
    assert [key.decrypt(Integer(public.raw_encrypt(message))) for message in plaintexts] == plaintexts


def test_exponents_and_bases_are_of_the_whole_order(key: PrivateKey) -> None:
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


def test_factors_are_residues_each_of_its_own_base(tiny_key: PrivateKey, key: PrivateKey) -> None:
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


def test_a_bad_source_ends_encryption(key: PrivateKey) -> None:
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
