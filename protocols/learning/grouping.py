"""Values grouped by the class, by a side that holds both, and what a column says of the class by chance alone.

Numbers are cut where the mean entropy of the classes falls most, and only where that pays for saying where, by minimum
description length (Fayyad-Irani 1993). Of categories the two whose union loses least of what they say of the class
become one, until few are left (Slonim-Tishby 1999). Of what is worth the same the first is taken.
"""

from dataclasses import dataclass
from math import log, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike

from protocols.learning.impurity import TIE, entropy, gain
from protocols.tables import Floats


def class_cuts(counts: ArrayLike, smallest: int = 1) -> tuple[int, ...]:
    """Return before which rising values to cut counts (`values x classes`), into parts of `smallest` records or more.

    >>> class_cuts([[9, 0], [9, 0], [0, 9]])
    (2,)
    """
    table: Floats = np.asarray(counts, dtype=np.float64)
    cuts: list[int] = []
    parts = [(0, len(table))]
    while parts:
        first, end = parts.pop()
        if below := _best_cut(table[first:end], smallest):
            cuts.append(first + below)
            parts += [(first, first + below), (first + below, end)]
    return tuple(sorted(cuts))


def _best_cut(table: Floats, smallest: int) -> int:
    """Return how many values are below the best cut, 0 if none pays (Fayyad-Irani 1993 section 3)."""
    whole, below = table.sum(axis=0), table.cumsum(axis=0)[:-1]
    sides = np.stack([below, whole - below], axis=1)
    fits = (sides.sum(axis=-1) >= smallest).all(axis=-1)
    if not fits.any():
        return 0
    gains = np.where(fits, gain(sides), -1.0)
    best = int(np.argmax(gains >= gains.max() - TIE))
    parts = np.stack([whole, *sides[best]])
    kinds, records = np.count_nonzero(parts, axis=-1), int(whole.sum())
    all_bits, low_bits, high_bits = kinds * entropy(parts)
    delta = log2(3 ** int(kinds[0]) - 2) - (all_bits - low_bits - high_bits)
    return best + 1 if gains[best] > (log2(records - 1) + delta) / records + TIE else 0


def alike_groups(counts: ArrayLike, most: int, *, neighbours: bool = False) -> list[tuple[int, ...]]:
    """Return which values of counts (`values x classes`) to take together, so that at most `most` groups are left.

    With `neighbours` only values that follow each other may become one.

    >>> alike_groups([[9, 1], [1, 9], [8, 2]], 2)
    [(0, 2), (1,)]
    """
    table: Floats = np.array(counts, dtype=np.float64)
    groups: list[tuple[int, ...]] = [(value,) for value in range(len(table))]
    while len(groups) > most:
        ones, others = np.triu_indices(len(groups), 1)
        near = others - ones == 1 if neighbours else np.full(len(ones), fill_value=True)
        ones, others = ones[near], others[near]
        bits = _bits(table)
        lost = _bits(table[ones] + table[others]) - bits[ones] - bits[others]
        at = int(np.argmax(lost <= lost.min() + TIE))
        one, other = int(ones[at]), int(others[at])
        table[one] += table[other]
        groups[one] += groups[other]
        table = np.delete(table, other, axis=0)
        del groups[other]
    return [tuple(sorted(group)) for group in groups]


def _bits(table: Floats) -> Floats:
    """Return the bits that name the classes of each row's records."""
    bits: Floats = table.sum(axis=-1) * entropy(table)
    return bits


@dataclass(frozen=True)
class ColumnWorth:
    """What a column says of the class, in bits a record.

    Args:
        gain: The information gain.
        share: Of the entropy of the class.
        by_chance: The gain that a column of as many values that says nothing has on average.
        mostly_chance: Whether chance gives half of the gain, or the gain is within two standard deviations of chance.
    """

    gain: float
    share: float
    by_chance: float
    mostly_chance: bool


def column_worth(counts: ArrayLike, values: int = 0) -> ColumnWorth:
    """Return what a column of these counts says of the class (`values x classes`).

    `values` were there before the class took some together, which finds most of what they say by chance.
    Of a column that says nothing `2 n ln 2 gain` is about chi-square of `f = (values - 1)(classes - 1)` degrees, of
    mean `f` and variance `2 f`.

    >>> found = column_worth([[30, 0], [0, 30]])
    >>> found.share, round(found.by_chance, 3), found.mostly_chance
    (1.0, 0.012, False)
    """
    table: Floats = np.asarray(counts, dtype=np.float64)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    degrees, scale = (max(values, table.shape[0]) - 1) * (table.shape[1] - 1), 2 * log(2) * float(table.sum())
    bits, all_bits = float(gain(table)), float(entropy(table.sum(axis=0)))
    usual = max(2.0 * degrees, degrees + 2 * sqrt(2 * degrees))
    return ColumnWorth(bits, bits / all_bits if all_bits else 0.0, degrees / scale, scale * bits < usual)
