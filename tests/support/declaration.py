"""What a design declares, written out in full: by the definition, for few cells and few coins."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from protocols.randomized_response.design import Design, Matrix, cells
from protocols.randomized_response.related_question import Coins, RelatedDesign, disguise
from protocols.tables import Codes


def joint_transition(design: Design, columns: Sequence[int]) -> Matrix:
    """Return the transition matrix over the joint cells of any columns: the declaration, written out.

    Groups answer independently and plain columns truthfully. Exact; meant for few cells.
    """
    blocks = []
    for k, group in enumerate(design.groups):
        own = [column for column in columns if column in group]
        if own:
            blocks.append((own, design.transition(k, own)))
    plain = [column for column in columns if design.group_of(column) is None]
    every = cells([design.sizes[column] for column in columns])

    def position(cell: tuple[int, ...], own: Sequence[int]) -> int:
        index = 0
        for column in own:
            index = index * design.sizes[column] + cell[columns.index(column)]
        return index

    def chance(response: tuple[int, ...], truth: tuple[int, ...]) -> Fraction:
        if position(response, plain) != position(truth, plain):
            return Fraction(0)
        entries = (matrix[position(response, own)][position(truth, own)] for own, matrix in blocks)
        return prod(entries, start=Fraction(1))

    return tuple(tuple(chance(response, truth) for truth in every) for response in every)


def pattern_coins(design: RelatedDesign) -> Coins:
    """Return the coins of every pattern of a record's coins (`patterns x groups`); pattern 0 is all truth."""
    if not design.groups:
        return np.zeros((1, 0), dtype=np.uint8)
    return np.indices(design.orders, dtype=np.uint8).reshape(len(design.orders), -1).T


def pattern_weights(design: RelatedDesign) -> tuple[Fraction, ...]:
    """Weight of each guess of all coins of a record, in the order of the patterns: the product over the groups."""
    every = product(*(design.guess_weights(k) for k in range(len(design.groups))))
    return tuple(prod(weights, start=Fraction(1)) for weights in every)


def undo(codes: Codes, coins: Coins, design: RelatedDesign) -> Codes:
    """Return the records that these coins would have disguised as `codes`."""
    orders = np.array(design.orders, dtype=np.int64)
    return disguise(codes, ((orders - coins) % orders).astype(np.uint8), design)
