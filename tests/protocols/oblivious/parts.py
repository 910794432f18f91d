"""Sessions of two sides with fixed chance, and what is done with them."""

from collections.abc import Sequence
from copy import deepcopy
from functools import cache

import numpy as np
from numpy.typing import NDArray

from protocols.oblivious.extension import Chooser, Sender, Transfers, set_up
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import Numbers, ProductShares, SummedShares, receive_products, send_products
from protocols.role import Transcript, run_pair
from tests.protocols.ciphers.paillier.chance import Chance

Bits = NDArray[np.bool_]


def meet(depth: int, seed: int = 1, transcript: Transcript | None = None) -> tuple[Transfers, Transfers]:
    """Return both sides of a session that is at its beginning; one that nobody listens to is a copy of the first."""
    return _met(depth, seed, transcript) if transcript is not None else deepcopy(_kept(depth, seed))


def _met(depth: int, seed: int, transcript: Transcript | None) -> tuple[Transfers, Transfers]:
    return run_pair(set_up(depth, Chance(seed)), set_up(depth, Chance(seed + 10**6)), transcript)


@cache
def _kept(depth: int, seed: int) -> tuple[Transfers, Transfers]:
    return _met(depth, seed, None)


@cache
def usual(depth: int) -> tuple[Chooser, Sender]:
    """Return a direction of a session that many tests use, one after the other: its counters only grow."""
    one, other = meet(depth)
    return one.chooser, other.sender


def extend(
    chooser: Chooser, sender: Sender, vectors: Sequence[Bits], transcript: Transcript | None = None
) -> tuple[list[ChosenKeys], list[BothKeys]]:
    return run_pair(chooser.extend(vectors), sender.extend(list(map(len, vectors))), transcript)


def multiply(
    chosen: Sequence[ChosenKeys],
    both: Sequence[BothKeys],
    widths: Sequence[Sequence[int]],
    numbers: Sequence[Numbers],
    transcript: Transcript | None = None,
) -> tuple[SummedShares, SummedShares]:
    """Return the chooser's and the sender's shares of the sums."""
    shapes = [(len(keys), each) for keys, each in zip(chosen, widths, strict=True)]
    ours, theirs = SummedShares(shapes), SummedShares(shapes)
    run_pair(
        receive_products(list(zip(chosen, widths, strict=True)), ours),
        send_products(list(zip(both, widths, numbers, strict=True)), theirs),
        transcript,
    )
    return ours, theirs


def products(
    chosen: ChosenKeys, both: BothKeys, widths: Sequence[int], numbers: Numbers
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the chooser's and the sender's shares of each product, word by word."""
    ours, theirs = (ProductShares([(len(chosen), widths)]) for _ in range(2))
    run_pair(receive_products([(chosen, widths)], ours), send_products([(both, widths, numbers)], theirs))
    return ours.shares[0], theirs.shares[0]


def opened(ours: SummedShares, theirs: SummedShares, widths: Sequence[Sequence[int]]) -> list[list[int]]:
    return [
        [(a + b) % 2**width for a, b, width in zip(one, other, each, strict=True)]
        for one, other, each in zip(ours.shares, theirs.shares, widths, strict=True)
    ]


def random_bits(length: int, seed: int) -> Bits:
    return np.random.default_rng(seed).random(length) < 0.5
