"""Coins in bulk, for simulations alone: from a seeded generator, so neither secret nor bound to a record."""

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.design import Draw


def bulk_draw(generator: np.random.Generator, records: int) -> Draw:
    """Return draws for so many records, in the order in which they are asked for."""

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        del purpose  # the generator goes on
        return generator.integers(bound, size=records)

    return draw
