#!/usr/bin/env python
"""The curve's primitives beside the library's bare calls, in one run: processor time of one operation, and ratios.

`over_bare` is our time over what the calls of the library inside take by themselves, on points that stand ready.
Times are the processor's: a busy machine changes them little.
"""

import secrets
import time
from collections.abc import Callable

import numpy as np
from _lab import make_parser, publish

from protocols.ciphers.curve import ORDER, addresses, multiply_secretly, read_points, sum_runs
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.port import Reply, Shape, sum_by_group

PAGE, ROUNDS = 4096, 5
HALVES = 2


def best(call: Callable[[], object], operations: int, rounds: int) -> float:
    """Return the microseconds of one operation: the best of some rounds."""
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        call()
        times.append((time.thread_time() - started) / operations)
    return 1e6 * min(times)


def measure(page: int, rounds: int) -> list[dict[str, object]]:
    key = CurveKeyHolder(CurvePrivateKey(secrets.randbelow(ORDER)))
    cipher, encryption, table = key.public, key.encryption(secrets), table_of(GENERATOR)
    bits = [secrets.randbelow(2) for _ in range(page)]
    (data,) = encryption.encrypt_pages([bits])
    values, quads = cipher.read(data), np.arange(page) // 4
    halves = np.ascontiguousarray(values.points[:, 0])
    scalars = [secrets.randbelow(ORDER) for _ in range(page)]
    multiples, places = table.summands(scalars).ravel(), addresses(halves)
    reply = [Reply(values, slots=1)]
    sealed, shapes = cipher.seal(reply, page, secrets), [Shape(page, 1)]
    key.counts(sealed, shapes, page)  # makes the tables

    def bare(call: Callable[[], object]) -> float:
        return best(call, page, rounds)

    multiply = bare(lambda: sum_runs(multiples, np.full(page, 32)))
    read = bare(lambda: read_points(data[: page * 33]))
    add = bare(lambda: sum_runs(places, np.full(page // 4, 4)))
    secret = bare(lambda: multiply_secretly(halves, scalars))
    rows = [
        ("encrypt", bare(lambda: list(encryption.encrypt_pages([bits]))), HALVES * multiply),
        ("read and check", bare(lambda: cipher.read(data)), HALVES * read),
        ("add, four to a sum", bare(lambda: sum_by_group(cipher, values, quads, page // 4)), HALVES * add),
        ("add, all to one sum", bare(lambda: sum_by_group(cipher, values, quads * 0, 1)), None),
        ("seal a count", bare(lambda: cipher.seal(reply, page, secrets)), HALVES * multiply),
        ("decrypt a count", bare(lambda: key.counts(sealed, shapes, page)), secret),
        ("bare: a multiple of G", multiply, None),
        ("bare: a secret multiple of any point", secret, None),
    ]
    return [
        {"operation": name, "microseconds": ours, "over_bare": None if inside is None else ours / inside}
        for name, ours, inside in rows
    ]


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    publish(measure(64 if arguments.quick else PAGE, 1 if arguments.quick else ROUNDS), arguments.out)


if __name__ == "__main__":
    main()
