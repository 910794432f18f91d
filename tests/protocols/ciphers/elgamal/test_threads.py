"""Threads may share keys, tables and values: the library works on what it is given, and keeps nothing."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.port import Reply, Shape, sum_by_group

HOLDER = CurveKeyHolder(CurvePrivateKey(99))


def work(seed: int) -> bool:
    bits = np.random.default_rng(seed).integers(0, 2, 60)
    groups = np.arange(60) % 7
    (page,) = HOLDER.encryption(secrets).encrypt_pages([bits.tolist()])
    sums = sum_by_group(HOLDER.public, HOLDER.public.read(page), groups, 7)
    counts = HOLDER.counts(HOLDER.public.seal([Reply(sums, 1)], 60, secrets), [Shape(7, 1)], 60)
    expected: list[int] = np.bincount(groups, bits, minlength=7).tolist()
    return counts == expected


def test_four_threads_encrypt_add_seal_and_decrypt_at_once() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(12)))
