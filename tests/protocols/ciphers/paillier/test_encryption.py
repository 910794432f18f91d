import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import phe
import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols.ciphers.paillier
from protocols.ciphers.paillier import arithmetic
from protocols.ciphers.paillier.arithmetic import Integer, multiply_into
from protocols.ciphers.paillier.encryption import Encryptor, FixedBase, random_member
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey
from protocols.ciphers.paillier.packing import FreshCiphertext, draw_unit
from protocols.errors import InputError
from protocols.randomness import WatchedRandomness, watched
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
