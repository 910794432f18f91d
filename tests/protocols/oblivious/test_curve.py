import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocols.oblivious.curve import (
    FORM_BYTES,
    ORDER,
    NotAPointError,
    Points,
    add_points,
    are_finite,
    hash_to_points,
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


def test_points_come_back_from_bytes_and_are_added_place_by_place_infinity_among_them() -> None:
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


ROOT = pow(-3 % P, (P + 1) // 4, P)  # c, a square root of -3; its sign does not matter to who tries both


def is_x(x: int) -> bool:
    return pow(x**3 + 7, (P - 1) // 2, P) in (0, 1)


def swift(seed: bytes, root: int = ROOT) -> bytes:
    """Return the point of 64 bytes, compressed."""
    u, t = (int.from_bytes(half, "big") % P for half in (seed[:32], seed[32:]))
    odd = t % 2
    u, t = u or 1, t or 1
    if (u**3 + 7 + t**2) % P == 0:
        t = 2 * t % P
    x = (u**3 + 7 - t**2) * pow(2 * t, -1, P) % P
    y = (x + t) * pow(root * u, -1, P) % P
    half, ratio = pow(2, -1, P), x * pow(y, -1, P)
    candidates = (u + 4 * y**2, (-ratio - u) * half, (ratio - u) * half)
    return bytes([2 + odd]) + next(x % P for x in candidates if is_x(x % P)).to_bytes(32, "big")


@given(st.binary(min_size=64, max_size=64))
@example(bytes(64))
@example(b"\xff" * 64)
def test_any_bytes_stand_for_the_point_of_plain_integers(seed: bytes) -> None:
    assert write_points(hash_to_points([seed])) == swift(seed)


def test_bytes_stand_for_the_published_points() -> None:
    assert ROOT * ROOT % P == P - 3
    assert ROOT == 0x0A2D2BA93507F1DF233770C2A797962CC61F6D15DA14ECD47D8D27AE1CD5F852
    # BIP 324, `ellswift_decode_test_vectors.csv`, first line.
    published = "edd1fd3e327ce90cc7a3542614289aee9682003e9cf7dcc9cf2ca9743be5aa0c"
    assert write_points(hash_to_points([bytes(64)]))[1:].hex() == published
    for number in (0, 1, 5):
        seeds = [bytes([place]) * 64 for place in range(number)]
        assert write_points(hash_to_points(seeds)) == b"".join(map(swift, seeds))
