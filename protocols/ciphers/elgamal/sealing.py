"""Replies: sums made fresh, so that the key holder sees their counts and nothing else (DESIGN 6.5).

    seal(A, B, k) = (A + sG, B + sX + kG),   s uniform

The result is a uniform encryption of its plaintext whatever `(A, B)` is, even at infinity: this holds exactly, and not
only for lack of a way to tell. NB: of its *plaintext*; a key holder that encrypted weights instead of bits reads from
a cell whatever it can guess about their sum. Both halves times a secret number are an encryption of that multiple of
the plaintext: of 0 if it is 0, else of a uniform number that is not.
"""

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.curve import (
    ORDER,
    Addresses,
    NotAPointError,
    Points,
    addresses,
    are_finite,
    multiply_secretly,
    sum_runs,
)
from protocols.ciphers.draws import WatchedRandomness, watched
from protocols.ciphers.elgamal.encryption import FreshPairs, write_fresh
from protocols.ciphers.elgamal.keys import CurvePublicKey
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.elgamal.values import HALVES, CurveValues
from protocols.errors import InputError
from protocols.randomness import Randomness


def seal_pairs(public_key: CurvePublicKey, values: CurveValues, randomness: Randomness) -> FreshPairs:
    """Make ciphertexts fresh, and add their numbers.

    Args:
        public_key: The key holder's.
        values: Any sums, even of nothing.
        randomness: The evaluator's secret chance.

    Raises:
        InputError: The source of randomness failed.
    """
    return FreshPairs(write_fresh(_fresh(public_key, values, watched(randomness))))


def seal_zero_pairs(public_key: CurvePublicKey, values: CurveValues, randomness: Randomness) -> FreshPairs:
    """Make ciphertexts fresh, and multiply each plaintext by a secret number.

    Both are needed: the key holder knows the chance in its own ciphertexts, and would learn by it from a multiple alone
    which of them were added.

    Raises:
        InputError: The source of randomness failed.
    """
    source = watched(randomness)
    fresh = _fresh(public_key, values, source)
    factors = [1 + source.randbelow(ORDER - 1) for _ in range(len(values))]
    try:
        halves = [multiply_secretly(np.ascontiguousarray(fresh[:, half]), factors) for half in range(HALVES)]
    except NotAPointError:
        raise InputError("the source of randomness failed") from None
    return FreshPairs(write_fresh(np.ascontiguousarray(np.stack(halves, axis=1))))


def _fresh(public_key: CurvePublicKey, values: CurveValues, source: WatchedRandomness) -> Points:
    base, key_base = table_of(GENERATOR), public_key.table
    randoms = [source.randbelow(ORDER) for _ in range(len(values))]
    kinds, kind_of = np.unique(values.numbers, return_inverse=True)
    shifts = base.multiply([int(kind) for kind in kinds])
    points = np.ascontiguousarray(values.points)
    places, present = addresses(points), are_finite(points)
    shift_places, shifted = addresses(shifts)[kind_of], are_finite(shifts)[kind_of]
    sealed = np.empty_like(points)
    sealed[:, 0] = _add_up(base.summands(randoms), [places[:, 0]], [present[:, 0]])
    sealed[:, 1] = _add_up(key_base.summands(randoms), [places[:, 1], shift_places], [present[:, 1], shifted])
    return sealed


def _add_up(multiples: Addresses, others: list[Addresses], present: list[NDArray[np.bool_]]) -> Points:
    """Add to each multiple, given by its summands, the other points that are present."""
    places = np.column_stack([multiples, *others])
    wanted = np.column_stack([np.ones(multiples.shape, dtype=np.bool_), *present])
    return sum_runs(places[wanted], wanted.sum(axis=1, dtype=np.intp))
