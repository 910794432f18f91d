"""Points that bytes stand for: SwiftEC by plain integers, after the formulas of BIP 324 (`xswiftec`)."""

from hypothesis import example, given
from hypothesis import strategies as st

from protocols.oblivious.curve import hash_to_points, write_points
from tests.protocols.oblivious.plain_curve import P

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
