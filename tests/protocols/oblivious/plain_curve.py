"""The curve in plain integers, from its definition (SEC 1, section 2.2.1): slow, and independent of the library."""

P = 2**256 - 2**32 - 977
Plain = tuple[int, int] | None
G: Plain = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def plus(a: Plain, b: Plain) -> Plain:
    if a is None or b is None:
        return b if a is None else a
    (x, y), (u, v) = a, b
    if x == u and (y + v) % P == 0:
        return None
    slope = 3 * x * x * pow(2 * y, -1, P) if x == u else (v - y) * pow(u - x, -1, P)
    w = (slope * slope - x - u) % P
    return w, (slope * (x - w) - y) % P


def times(k: int, point: Plain = G) -> Plain:
    result: Plain = None
    while k:
        if k & 1:
            result = plus(result, point)
        point, k = plus(point, point), k >> 1
    return result


def as_bytes(point: Plain) -> bytes:
    assert point is not None
    return bytes([2 + point[1] % 2]) + point[0].to_bytes(32, "big")
