import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.paillier import arithmetic
from protocols.paillier.arithmetic import Integer, invert_all, multiply_by_key

MODULUS = Integer(1009 * 1013) ** 2
units = st.integers(1, int(MODULUS) - 1).filter(lambda value: value % 1009 != 0 and value % 1013 != 0).map(Integer)


@given(st.lists(units, max_size=20))
def test_inverting_all_agrees_with_inverting_each(values: list[Integer]) -> None:
    inverses = invert_all(values, MODULUS)
    assert inverses == [pow(int(value), -1, int(MODULUS)) for value in values]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_value_without_inverse_refuses_them_all(place: int) -> None:
    values = [Integer(2), Integer(3), Integer(4)]
    values[place] = Integer(1009)
    with pytest.raises(InputError, match="inverse"):
        invert_all(values, MODULUS)


@given(st.lists(st.tuples(units, st.integers(0, 4)), max_size=30))
def test_multiplying_by_key_agrees_with_multiplying_each_group(pairs: list[tuple[Integer, int]]) -> None:
    values, keys = [value for value, _ in pairs], np.array([key for _, key in pairs], dtype=np.int64)
    products = multiply_by_key(values, keys, 5, MODULUS)
    for group, result in enumerate(products):
        members = [value for value, key in pairs if key == group]
        assert result == (arithmetic.product(members, MODULUS) if members else None)


@pytest.mark.parametrize("keys", [[0], [0, 1, 1], [0, -1], [0, 2]])
def test_keys_that_do_not_fit_are_refused(keys: list[int]) -> None:
    with pytest.raises(InputError, match="key"):
        multiply_by_key([Integer(5), Integer(6)], np.array(keys), 2, MODULUS)


def test_the_product_of_no_values_is_one() -> None:
    assert arithmetic.product([], MODULUS) == 1


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


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_there_are_no_primes_below_two(limit: int) -> None:
    assert arithmetic.primes_below(limit) == ()
