import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.oblivious.curve import (
    FORM_BYTES,
    ORDER,
    NotAPointError,
    Points,
    add_points,
    are_finite,
    multiply_secretly,
    negate_points,
    read_points,
    write_points,
)
from tests.protocols.oblivious.plain_curve import P, as_bytes, times
from tests.support.examples import at_most

KNOWN = json.loads((Path(__file__).parents[2] / "vectors/secp256k1_multiples.json").read_text())["x"]
GENERATOR = as_bytes(times(1))
scalars = st.integers(1, ORDER - 1) | st.integers(1, 300) | st.integers(ORDER - 300, ORDER - 1)


def multiples(*numbers: int) -> Points:
    """Return these multiples of the generator; that by 0 is at infinity."""
    points = np.zeros((len(numbers), FORM_BYTES), dtype=np.uint8)
    for point, number in zip(points, numbers, strict=True):
        if number % ORDER:
            point[:] = read_points(as_bytes(times(number % ORDER)))
    return points


@settings(max_examples=at_most(20))
@given(st.lists(scalars, min_size=1, max_size=3))
def test_multiples_are_those_of_plain_integers(numbers: list[int]) -> None:
    products = multiply_secretly(multiples(*[1] * len(numbers)), numbers)
    assert write_points(products) == b"".join(as_bytes(times(number)) for number in numbers)


@settings(max_examples=at_most(20))
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=5))
def test_sums_are_those_of_the_numbers_and_may_meet_at_infinity(rows: list[list[int]]) -> None:
    sums = add_points(*(multiples(*column) for column in zip(*rows, strict=True)))
    assert (sums == multiples(*map(sum, rows))).all()
    assert are_finite(sums).tolist() == [sum(row) != 0 for row in rows]


def test_multiples_are_those_of_scalars() -> None:
    data = write_points(multiples(*map(int, KNOWN)))
    assert [data[start + 1 : start + 33].hex() for start in range(0, len(data), 33)] == list(KNOWN.values())
    assert data == b"".join(as_bytes(times(int(number))) for number in KNOWN)
    assert write_points(multiples(1)) == GENERATOR
    products = multiply_secretly(multiples(1, 2, ORDER - 1), [ORDER - 1, 12345, 2])
    assert (products == multiples(-1, 24690, -2)).all()
    for scalar in (0, ORDER, 2**256 - 1):
        with pytest.raises(NotAPointError):
            multiply_secretly(multiples(1), [scalar])


HOSTILE = {
    "not on the curve": b"\x02" + (5).to_bytes(32, "big"),  # 5**3 + 7 is no square
    "x is 0": b"\x02" + bytes(32),
    "x not reduced": b"\x02" + (P + 1).to_bytes(32, "big"),
    "x all ones": b"\x03" + b"\xff" * 32,
    "infinity as SEC 1 writes it": b"\x00",
    "infinity, filled up": bytes(33),
    "sign byte of an uncompressed point": b"\x04" + GENERATOR[1:],
    "sign byte of a hybrid point": b"\x06" + GENERATOR[1:],
    "sign byte 0": b"\x00" + GENERATOR[1:],
    "sign byte 1": b"\x01" + GENERATOR[1:],
    "sign byte 5": b"\x05" + GENERATOR[1:],
    "a byte short": GENERATOR[:-1],
    "a byte long": GENERATOR + b"\x00",
    "without the sign byte": GENERATOR[1:],
}


def test_points_come_back_from_bytes_and_no_others_are_read() -> None:
    points = multiples(1, 2, 2**200)
    assert (read_points(write_points(points)) == points).all()
    assert read_points(b"").shape == (0, FORM_BYTES)
    assert write_points(read_points(b"")) == b""
    for data in HOSTILE.values():
        for page in (data, GENERATOR + data, data + GENERATOR):
            with pytest.raises(NotAPointError):
                read_points(page)
    assert [pow(x**3 + 7, (P - 1) // 2, P) for x in (5, 1)] == [P - 1, 1]  # Euler's criterion
    assert are_finite(read_points(b"\x02" + (1).to_bytes(32, "big"))).all()


def test_points_are_added_place_by_place_infinity_among_them() -> None:
    sums = add_points(multiples(1, 2, 0, 0, 5), multiples(4, 0, 3, 0, -5))
    assert (sums == multiples(5, 2, 3, 0, 0)).all()
    points = multiples(1, 0, 9)
    assert (negate_points(points) == multiples(-1, 0, -9)).all()
    assert (points == multiples(1, 0, 9)).all()
    points = multiples(1, 2, 3, 4)[::2]
    assert (add_points(points, points) == multiples(2, 6)).all()
    with pytest.raises(NotAPointError):
        multiply_secretly(multiples(1, 0), [5, 5])
    with pytest.raises(NotAPointError):
        write_points(multiples(3, 0))
