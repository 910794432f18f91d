"""Points of secp256k1, many at a time: the only file that knows the library (libsecp256k1, by btclib-secp256k1).

Points stand in arrays, 64 bytes each, in the form that the library works on; only the library reads or makes these
bytes. Zeros, which the library makes of no point, stand for the point at infinity.

The library forms sums and shared secrets in time that does not depend on the points or the secret (FAULTS A11).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from btclib_secp256k1 import CData, ffi, lib
from btclib_secp256k1.context import ctx
from numpy.typing import NDArray

Points = NDArray[np.uint8]
"""Points in the library's form; the last axis has `FORM_BYTES`."""

ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The number of points, a prime (SEC 2, section 2.4.1)."""
POINT_BYTES: Final = 33
"""A point on the wire: whether y is odd, as 2 or 3, and x, big-endian (SEC 1, section 2.3.3)."""
SCALAR_BYTES: Final = 32
FORM_BYTES: Final = 64

_COMPRESSED: Final = 258
_UNCOMPRESSED_BYTES: Final = 65
_COORDINATES: Final = lib.btclib_secp256k1_ecdh_hash_function_xy  # a shared point as it is: both coordinates, no hash


class NotAPointError(ValueError):
    """Bytes that are not a point of the curve; the point at infinity has no bytes."""


def read_points(data: bytes) -> Points:
    """Read points of 33 bytes each, one after the other.

    Raises:
        NotAPointError: One of them is not on the curve, or the length is not a multiple of a point's.
    """
    count, rest = divmod(len(data), POINT_BYTES)
    points = _none(count)
    source, target, parse = ffi.from_buffer("unsigned char[]", data), _pointer(points), lib.secp256k1_ec_pubkey_parse
    good = all(parse(ctx, target + i, source + POINT_BYTES * i, POINT_BYTES) for i in range(count))
    if rest or not good:
        raise NotAPointError
    return points


def write_points(points: Points) -> bytes:
    """Write points, 33 bytes each.

    Raises:
        NotAPointError: One of them is at infinity.
    """
    if not are_finite(points).all():
        raise NotAPointError
    count = points.size // FORM_BYTES
    data = bytearray(POINT_BYTES * count)
    source, target, length = _pointer(points), ffi.from_buffer("unsigned char[]", data), ffi.new("size_t *")
    serialize = lib.secp256k1_ec_pubkey_serialize
    length[0] = POINT_BYTES  # which is what the library writes there too
    for i in range(count):
        serialize(ctx, target + POINT_BYTES * i, length, source + i, _COMPRESSED)
    return bytes(data)


def are_finite(points: Points) -> NDArray[np.bool_]:
    """Return for each point whether it is finite."""
    return np.asarray(np.ascontiguousarray(points).view(np.uint64).any(axis=-1))


def negate_points(points: Points) -> Points:
    """Return minus each point."""
    result = np.array(points, order="C")
    target, change = _pointer(result), lib.secp256k1_ec_pubkey_negate
    for i in np.flatnonzero(are_finite(result)).tolist():
        change(ctx, target + i)
    return result


def add_points(*summands: Points) -> Points:
    """Add arrays of points of one length, place by place; the point at infinity adds nothing."""
    summands = tuple(map(np.ascontiguousarray, summands))
    sources, present = [_pointer(points) for points in summands], [are_finite(points).tolist() for points in summands]
    sums = _none(len(summands[0]))
    target, combine = _pointer(sums), lib.secp256k1_ec_pubkey_combine  # writes zeros where the sum is at infinity
    for i, finite in enumerate(zip(*present, strict=True)):
        if there := [source + i for source, is_there in zip(sources, finite, strict=True) if is_there]:
            combine(ctx, target + i, ffi.new("secp256k1_pubkey *[]", there), len(there))
    return sums


def hash_to_points(seeds: Sequence[bytes]) -> Points:
    """Return the point that each 64 bytes stand for: of uniform bytes, one that looks uniform.

    SwiftEC (Chavez-Saab, Rodriguez-Henriquez and Tibouchi, 2022): with a random oracle before it, one of points. Nobody
    knows a logarithm of what it gives.
    """
    points = _none(len(seeds))
    target, decode = _pointer(points), lib.secp256k1_ellswift_decode
    for i, seed in enumerate(seeds):
        decode(ctx, target + i, seed)
    return points


def multiply_secretly(points: Points, scalars: Sequence[int]) -> Points:
    """Multiply each point by a secret scalar of its own, below the order and not 0.

    Raises:
        NotAPointError: A point is at infinity, or a scalar out of range.
    """
    products, coordinates = _none(len(points)), ffi.new("unsigned char[65]")
    coordinates[0] = 4  # x and y follow
    source, target = _pointer(points), _pointer(products)
    for i, scalar in enumerate(scalars):
        secret = scalar.to_bytes(SCALAR_BYTES, "big")
        good = lib.secp256k1_ecdh(ctx, coordinates + 1, source + i, secret, _COORDINATES, ffi.NULL)
        if not good or not lib.secp256k1_ec_pubkey_parse(ctx, target + i, coordinates, _UNCOMPRESSED_BYTES):
            raise NotAPointError
    return products


def _none(count: int) -> Points:
    return np.zeros((count, FORM_BYTES), dtype=np.uint8)


def _pointer(points: Points) -> CData:
    """Point at the first of the points, which must stand one after the other and outlive the pointer."""
    return ffi.cast("secp256k1_pubkey *", ffi.from_buffer(points))
