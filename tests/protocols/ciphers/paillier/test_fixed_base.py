import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.encryption import FixedBase
from protocols.errors import InputError

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
