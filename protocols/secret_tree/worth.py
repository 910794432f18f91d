"""What candidates are worth, as the engine asks for it: by information gain, or by Gini's index."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.oblivious.aes import Uint64s
from protocols.oblivious.gates import Gates
from protocols.role import Role
from protocols.secret_tree.entropy import EntropyWorth
from protocols.secret_tree.gini import GiniWorth
from protocols.terms import Impurity


class Worth(Protocol):
    """What candidates are worth; the less `U` is, the better."""

    @property
    def counts_width(self) -> int:
        """Of the counts that it takes."""
        ...

    @property
    def width(self) -> int:
        """Of `U`, so that differences have their sign, and candidates that are barred have room above the others."""
        ...

    def of_candidates(self, counts: Uint64s, bits: Uint64s, starts: NDArray[np.int64]) -> Role[Uint64s]:
        """Return shares of `U` of each candidate, modulo `2**width`.

        Args:
            counts: Shares of the counts of each class and of all, modulo `2**counts_width` (`classes + 1 x branches`).
            bits: Shares of their bits (`bits x classes + 1 x words`).
            starts: The first branch of each candidate.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        ...


def worth_by(impurity: Impurity, gates: Gates, records: int, classes: int, room: int = 0) -> Worth:
    """Return what a measure makes of the counts of nodes of this many records at most.

    `room` is how much noise may be added to `U`; only Gini's index has it.

    Raises:
        InputError: There are too many records or classes for it.
    """
    if impurity is Impurity.INFORMATION_GAIN:
        return EntropyWorth(gates, records, classes)
    if impurity is not Impurity.GINI or classes != 2:
        raise InputError("counts that nobody sees are compared by information gain, or by Gini's index of two classes")
    return GiniWorth(gates, records, room)
