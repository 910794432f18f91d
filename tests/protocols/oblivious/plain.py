"""The curve in plain integers, from its definition (SEC 1, section 2.2.1): slow, and independent of the library."""

import hashlib
from collections.abc import Sequence
from functools import cache

from protocols.randomness import canonical

P = 2**256 - 2**32 - 977
ROOT = pow(-3 % P, (P + 1) // 4, P)  # c, a square root of -3; its sign does not matter to who tries both
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


Row = list[int]


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(canonical(*parts)).digest()


# AES (FIPS 197), counter mode and GHASH (NIST SP 800-38A and 800-38D)


def double(byte: int) -> int:
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


@cache
def box() -> bytes:
    """Build the S-box from inverses in GF(256), by powers of 3."""
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] ^ double(powers[-1]))
    inverse = {powers[i]: powers[-i % 255] for i in range(255)} | {0: 0}
    twice = [inverse[byte] * 0x101 for byte in range(256)]
    return bytes((b ^ b >> 4 ^ b >> 5 ^ b >> 6 ^ b >> 7) & 255 ^ 0x63 for b in twice)


@cache
def round_keys(key: bytes) -> list[bytes]:
    words, constant = [key[i : i + 4] for i in range(0, 16, 4)], 1
    while len(words) < 44:
        last = words[-1]
        if len(words) % 4 == 0:
            last = bytes(box()[b] for b in last[1:] + last[:1])
            last, constant = bytes([last[0] ^ constant]) + last[1:], double(constant)
        words.append(bytes(a ^ b for a, b in zip(words[-4], last, strict=True)))
    return [b"".join(words[i : i + 4]) for i in range(0, 44, 4)]


def aes(key: bytes, block: bytes) -> bytes:
    keys = round_keys(key)
    state = bytes(a ^ b for a, b in zip(block, keys[0], strict=True))
    for number, own in enumerate(keys[1:], 1):
        state = bytes(box()[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number < 10:
            mixed = b""
            for column in (state[i : i + 4] for i in range(0, 16, 4)):
                every = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += bytes(column[i] ^ every ^ double(column[i] ^ column[(i + 1) % 4]) for i in range(4))
            state = mixed
        state = bytes(a ^ b for a, b in zip(state, own, strict=True))
    return state


def stream(seed: bytes, first: int, blocks: int) -> bytes:
    return b"".join(aes(seed, number.to_bytes(16, "big")) for number in range(first, first + blocks))


def multiply(a: int, b: int) -> int:
    """Multiply in GF(2**128), whose lowest power is the highest bit."""
    product = 0
    for place in reversed(range(128)):
        product ^= a if b >> place & 1 else 0
        a = a >> 1 ^ (0xE1 << 120 if a & 1 else 0)
    return product


def ghash(key: bytes, data: bytes) -> bytes:
    """Return what the data adds to the tag of AES-GCM: it is followed by a block of lengths."""
    h, value = int.from_bytes(aes(key, bytes(16)), "big"), 0
    for start in range(0, len(data), 16):
        value = multiply(value ^ int.from_bytes(data[start : start + 16], "big"), h)
    return multiply(value, h).to_bytes(16, "big")


def xor(*strings: bytes) -> bytes:
    total = 0
    for string in strings:
        total ^= int.from_bytes(string, "big")
    return total.to_bytes(len(strings[0]), "big")


# The first transfers


def oracle(session: bytes, number: int, side: int, point: bytes) -> Plain:
    seed = hashlib.sha512(canonical(b"base oracle", session, bytes([number, side]), point)).digest()
    return read(swift(seed))


def read(data: bytes) -> Plain:
    x = int.from_bytes(data[1:], "big")
    y = pow(x**3 + 7, (P + 1) // 4, P)
    return x, y if y % 2 == data[0] % 2 else P - y


def shared_key(session: bytes, points: bytes, number: int, side: int, point: Plain) -> bytes:
    return sha256(b"base key", sha256(b"base", session, points), bytes([number, side]), as_bytes(point))[:16]


def sender_keys(session: bytes, secret: int, points: bytes, number: int) -> tuple[bytes, ...]:
    own = [points[66 * number + 33 * side : 66 * number + 33 * (side + 1)] for side in (0, 1)]
    sums = [plus(read(own[side]), oracle(session, number, side, own[1 - side])) for side in (0, 1)]
    return tuple(shared_key(session, points, number, side, times(secret, sums[side])) for side in (0, 1))


# Trees of seeds


def children(session: bytes, tree: int, level: int, node: bytes) -> tuple[bytes, bytes]:
    both = hashlib.sha256(canonical(b"tree", session, bytes([tree, level])) + node).digest()
    return both[:16], both[16:]


def leaf(session: bytes, tree: int, node: bytes) -> tuple[bytes, bytes]:
    both = hashlib.sha512(canonical(b"leaf", session, bytes([tree])) + node).digest()
    return both[:16], both[32:]


def grown(session: bytes, pairs: Sequence[tuple[bytes, bytes]], depth: int) -> tuple[list[list[bytes]], list[bytes]]:
    """Return the seeds by place and, as they cross, all hints, all sums and the digest."""
    trees, hints, sums, proofs = [], b"", b"", b""
    for first in range(0, 128, depth):
        nodes = dict(enumerate(pairs[first]))
        for level in range(1, depth):
            below = {}
            for place, node in nodes.items():
                below[place], below[place + 2**level] = children(session, first, level, node)
            for side in (0, 1):
                own = [node for place, node in below.items() if place >> level == side]
                hints += xor(*own, pairs[first + level][side])
            nodes = below
        leaves = [leaf(session, first, nodes[place]) for place in range(2**depth)]
        trees.append([seed for seed, _ in leaves])
        sums += xor(*(proof for _, proof in leaves))
        proofs += b"".join(proof for _, proof in leaves)
    return trees, [hints, sums, hashlib.sha256(proofs).digest()]


# Extension


def bits(data: bytes) -> Row:
    return [byte >> place & 1 for byte in data for place in range(8)]


def from_bits(row: Row) -> bytes:
    return bytes(sum(bit << place for place, bit in enumerate(row[at : at + 8])) for at in range(0, len(row), 8))


def page(
    session: bytes, depth: int, trees: Sequence[Sequence[bytes]], first: int, choices: Row
) -> tuple[bytes, bytes, list[bytes]]:
    """Return matrix, check and the chooser's key of each transfer."""
    matrix, columns = b"", []
    for seeds in trees:
        streams = [bits(stream(seed, first // 128, len(choices) // 128)) for seed in seeds]
        total = [sum(row[i] for row in streams) % 2 for i in range(len(choices))]
        matrix += from_bits([a ^ b for a, b in zip(total, choices, strict=True)])
        for place in range(depth):
            own = [row for number, row in enumerate(streams) if number >> place & 1]
            columns.append([sum(row[i] for row in own) % 2 for i in range(len(choices))])
    key = sha256(b"check", session, first.to_bytes(8, "big"), matrix)[:16]
    check = b"".join(ghash(key, from_bits(column)) for column in [choices, *columns])
    return matrix, check, [from_bits([column[i] for column in columns]) for i in range(len(choices))]


def mask(session: bytes, number: int, use: int, key: bytes) -> bytes:
    fixed = sha256(b"masks", session)[:16]
    once = aes(fixed, key)
    tweak = number.to_bytes(8, "little") + use.to_bytes(8, "little")
    return xor(aes(fixed, xor(once, tweak)), once)


def fields(word: bytes, widths: Sequence[int]) -> list[int]:
    """Return the numbers of a word of masks, the lowest bits first."""
    value, result = int.from_bytes(word, "little"), []
    for width in widths:
        result.append(value % 2**width)
        value >>= width
    return result


GENERATOR = as_bytes(G)
