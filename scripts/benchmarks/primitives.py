#!/usr/bin/env python
"""Paillier's primitives beside other libraries' and beside the bare multiplication, in one run.

`pip install sf-heu==0.5.2b0 pypaillier` puts two libraries beside `phe`, which the project has; what is not installed
gets rows that say so. A library's column is our processor time over its own: below 1 ours is cheaper. Wall clocks tell
little, because both encrypt in threads. Their encryption has short exponents by default, phe's and ours do not; to
`decrypt`, ours takes secret exponents in constant time, which is slower. Only we check each ciphertext that is read.
pypaillier makes keys of safe primes: minutes at 3,072 bits. `over_bare` is ours over `a * b % n^2` on the same numbers.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from _lab import make_parser, publish, say
from phe.paillier import generate_paillier_keypair

from protocols.ciphers.paillier.arithmetic import Integer, multiply_into
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.paillier.packing import pack_counts, read_page, write_page

KEY_BITS = (2048, 3072)
PAGE = 1024
ROUNDS = 5
OPERATIONS = ("encrypt", "decrypt", "add")


@dataclass(frozen=True)
class Cost:
    """Seconds of one operation, by the wall's clock and by the processor's."""

    wall: float
    processor: float


def best(call: Callable[[], object], operations: int, rounds: int) -> Cost:
    """Return the least cost of one operation over some rounds."""
    walls, processors = [], []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        processors.append((time.process_time() - processor) / operations)
        walls.append((time.perf_counter() - wall) / operations)
    return Cost(min(walls), min(processors))


def our_costs(bits: int, page: int, rounds: int) -> dict[str, Cost]:
    _, private = generate_paillier_keypair(n_length=bits)
    key = PrivateKey(Integer(private.p), Integer(private.q))
    public, ones = key.public_key, _ones(page)
    full = Encryptor(key, secrets)
    full.encrypt(ones[:8])  # makes the tables
    values = [fresh.value for fresh in full.encrypt(ones)]
    data = write_page(public, full.encrypt(ones))
    keys, square, few = np.arange(page) % 4, public.n_square, values[: _few(page)]
    return {
        "encrypt": best(lambda: full.encrypt(ones), page, rounds),
        "decrypt": best(lambda: [key.decrypt(value) for value in few], len(few), rounds),
        "add": best(lambda: multiply_into([None] * 4, values, keys, square), page, rounds),
        "read and check": best(lambda: read_page(public, data), page, rounds),
        "pack and seal a count": best(lambda: pack_counts(public, values, 15, secrets), page, 1),
        "bare a * b % n^2": best(lambda: bare_products(values, square), page, rounds),
    }


def bare_products(values: list[Integer], modulus: Integer) -> None:
    product = values[0]
    for value in values:
        product = product * value % modulus


def _ones(page: int) -> list[int]:
    return [secrets.randbelow(2) for _ in range(page)]


def _few(page: int) -> int:
    """Return how many operations are a sample where one takes long."""
    return max(4, page // 40)


def phe_costs(bits: int, page: int, rounds: int) -> dict[str, Cost]:
    public, private = generate_paillier_keypair(n_length=bits)
    ones = _ones(_few(page))
    sums = [public.encrypt(bit) for bit in ones]
    raw = [each.ciphertext(be_secure=False) for each in sums]
    return {
        "encrypt": best(lambda: [public.raw_encrypt(bit) for bit in ones], len(ones), rounds),
        "decrypt": best(lambda: [private.raw_decrypt(value) for value in raw], len(raw), rounds),
        "add": best(lambda: sum(sums[1:], sums[0]), len(sums) - 1, rounds),
    }


def heu_costs(bits: int, page: int, rounds: int) -> dict[str, Cost]:
    """Return what ZPaillier's vectors cost."""
    import heu.numpy  # noqa: PLC0415  # no dependency of ours
    from heu import phe  # noqa: PLC0415

    kit = heu.numpy.setup(phe.SchemaType.ZPaillier, bits)
    encryptor, evaluator, decryptor = kit.encryptor(), kit.evaluator(), kit.decryptor()
    ones = kit.array(np.array(_ones(page)), phe.BigintEncoder(kit.get_schema()))
    one, other = encryptor.encrypt(ones), encryptor.encrypt(ones)
    return {
        "encrypt": best(lambda: encryptor.encrypt(ones), page, rounds),
        "decrypt": best(lambda: decryptor.decrypt(one), page, rounds),
        "add": best(lambda: evaluator.add(one, other), page, rounds),
    }


def pypaillier_costs(bits: int, page: int, rounds: int) -> dict[str, Cost]:
    """Return what its batches cost; a sum reads its ciphertexts from bytes."""
    import paillier  # noqa: PLC0415  # no dependency of ours

    public, private = paillier.generate_keypair(bits)
    ones = _ones(page)
    values = paillier.encrypt_integers(public, ones)
    return {
        "encrypt": best(lambda: paillier.encrypt_integers(public, ones), page, rounds),
        "decrypt": best(lambda: paillier.decrypt_many(private, values), page, rounds),
        "add": best(lambda: paillier.add_many(public, values), page - 1, rounds),
    }


OTHERS = {"phe": ("phe", phe_costs), "sf-heu": ("heu", heu_costs), "pypaillier": ("paillier", pypaillier_costs)}
"""Other libraries: what they are imported as, and what measures them."""


def measure(bits: int, page: int, rounds: int) -> list[dict[str, object]]:
    """Return our rows, with a column for each other library, and theirs."""
    theirs: dict[str, Mapping[str, Cost]] = {}
    for name, (module, costs) in OTHERS.items():
        if find_spec(module) is not None:
            say(f"{bits} bits, {name} ...")
            theirs[name] = costs(bits, page, rounds)
    say(f"{bits} bits, cotally ...")
    ours = our_costs(bits, page, rounds)
    rows = [_our_row(bits, what, ours, theirs) for what in ours]
    for name in OTHERS:
        note = {"note": f"not installed: pip install {name}"}
        rows += [
            {
                "library": name,
                "key_bits": bits,
                "operation": what,
                **(_cost(theirs[name][what]) if name in theirs else note),
            }
            for what in OPERATIONS
        ]
    return rows


def _our_row(
    bits: int, what: str, ours: Mapping[str, Cost], theirs: Mapping[str, Mapping[str, Cost]]
) -> dict[str, object]:
    operation, mine = what.split(",", maxsplit=1)[0], ours[what]
    beside = {
        f"of_{name}": mine.processor / costs[operation].processor
        for name, costs in theirs.items()
        if operation in costs
    }
    bare = {"over_bare": mine.processor / ours["bare a * b % n^2"].processor} if operation == "add" else {}
    return {"library": "cotally", "key_bits": bits, "operation": what, **_cost(mine), **beside, **bare}


def _cost(cost: Cost) -> dict[str, float]:
    return {"microseconds": cost.wall * 1e6, "processor": cost.processor * 1e6}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--key-bits", type=int, choices=KEY_BITS, action="append", help="only this length")
    arguments = parser.parse_args()
    rows = []
    for bits in KEY_BITS[:1] if arguments.quick else arguments.key_bits or KEY_BITS:
        rows += measure(bits, 64 if arguments.quick else PAGE, 1 if arguments.quick else ROUNDS)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
