from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.paillier import arithmetic
from protocols.ciphers.paillier.arithmetic import Integer, multiply_into
from protocols.errors import InputError

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


@pytest.mark.parametrize("groups", [[0], [0, 1, 1], [0, -1], [0, 2]])
def test_groups_that_do_not_fit_are_refused_and_nothing_is_multiplied(groups: list[int]) -> None:
    products: list[Integer | None] = [None, Integer(3)]
    with pytest.raises(InputError, match="group"):
        multiply_into(products, [Integer(5), Integer(6)], np.array(groups), MODULUS)
    assert products == [None, 3]


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


def test_the_small_primes_are_the_primes() -> None:
    assert [p for p in range(1000) if p > 1 and all(p % d for d in range(2, p))] == list(arithmetic.primes_below(1000))
    assert len(arithmetic.primes_below(2**16)) == 6542
    for limit in (0, 1, 2):
        assert arithmetic.primes_below(limit) == ()
