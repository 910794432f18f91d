#!/usr/bin/env python
"""Paillier's primitives beside `phe` and beside the bare multiplication, in one run: time of one operation and ratios.

`speedup` is the time of phe over ours; `over_bare` is ours over `a * b % n^2` on the same numbers.
"""

import secrets
import time
from collections.abc import Callable

import numpy as np
from _lab import make_parser, publish, say
from phe.paillier import generate_paillier_keypair

from protocols.ciphers.paillier.arithmetic import Integer, multiply_into
from protocols.ciphers.paillier.ciphertext import read_page, write_page
from protocols.ciphers.paillier.encryption import Encryptor, ShortExponents
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.paillier.packing import pack_counts

KEY_BITS = (2048, 3072)
PAGE = 1024
ROUNDS = 5


def best(call: Callable[[], object], operations: int, rounds: int) -> float:
    """Return the seconds of one operation: the best of some rounds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) / operations)
    return min(times)


def measure(bits: int, page: int, rounds: int) -> list[dict[str, object]]:
    theirs, their_private = generate_paillier_keypair(n_length=bits)
    key = PrivateKey(Integer(their_private.p), Integer(their_private.q))
    public = key.public_key
    ones = [secrets.randbelow(2) for _ in range(page)]
    sample = ones[: max(4, page // 40)]
    full, short = Encryptor(key, secrets), Encryptor(key, secrets, ShortExponents())
    for encryptor in (full, short):
        encryptor.encrypt(ones[:8])  # makes the tables
    values = [fresh.value for fresh in full.encrypt(ones)]
    data = write_page(public, full.encrypt(ones))
    keys, square = np.arange(page) % 4, public.n_square
    raw = [int(value) for value in values[: len(sample)]]
    bare = best(lambda: bare_products(values, square), page, rounds)
    phe_encrypt = best(lambda: [theirs.raw_encrypt(bit) for bit in sample], len(sample), rounds)
    phe_decrypt = best(lambda: [their_private.raw_decrypt(value) for value in raw], len(raw), rounds)
    rows = [
        ("encrypt, full exponents", best(lambda: full.encrypt(ones), page, rounds), phe_encrypt),
        ("encrypt, short exponents", best(lambda: short.encrypt(ones), page, rounds), phe_encrypt),
        ("decrypt", best(lambda: [key.decrypt(value) for value in values[: len(raw)]], len(raw), rounds), phe_decrypt),
        ("add", best(lambda: multiply_into([None] * 4, values, keys, square), page, rounds), None),
        ("read and check", best(lambda: read_page(public, data), page, rounds), None),
        ("pack and seal a count", best(lambda: pack_counts(public, values, 15, secrets), page, 1), None),
        ("bare a * b % n^2", bare, None),
    ]
    return [
        {
            "key_bits": bits,
            "operation": name,
            "microseconds": ours * 1e6,
            "phe_microseconds": None if phe is None else phe * 1e6,
            "speedup": None if phe is None else phe / ours,
            "over_bare": ours / bare if name == "add" else None,
        }
        for name, ours, phe in rows
    ]


def bare_products(values: list[Integer], modulus: Integer) -> None:
    product = values[0]
    for value in values:
        product = product * value % modulus


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    rows = []
    for bits in KEY_BITS:
        say(f"{bits} bits ...")
        rows += measure(bits, 64 if arguments.quick else PAGE, 1 if arguments.quick else ROUNDS)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
