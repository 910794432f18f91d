"""Coins in bulk and groups at random: from a seeded generator, so neither secret nor bound to a record."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.design import Draw


def bulk_draw(generator: np.random.Generator, records: int) -> Draw:
    """Return draws for this many records, in the order in which they are asked for."""

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        del purpose  # the generator goes on
        return generator.integers(bound, size=records)

    return draw


def random_groups(columns: Sequence[int], groups: int, generator: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Spread columns at random over this many groups, as equal in size as possible (Multi-group section 5.2).

    Raises:
        InputError: `groups` is below 1, or above the number of columns.
    """
    if not 1 <= groups <= len(columns):
        raise InputError(f"{len(columns)} columns make 1 to {len(columns)} groups, not {groups}")
    parts = np.array_split(generator.permutation(np.array(columns)), groups)
    return tuple(sorted(tuple(sorted(part.tolist())) for part in parts))
