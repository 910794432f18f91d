"""The encrypted cells of a window from the rows of a node, in few multiplications.

A window of `w` candidates needs `w` margins, each a sum over all rows of the node: `w R` multiplications if each is
formed by itself. Instead the rows are merged where they agree on the whole window, the window is cut into halves, rows
merged again where they agree on a half, and so on down to single candidates. Merging `R` rows into `D` costs `R - D`,
and halves of a window have few distinct rows, so a node costs at most `2 R` and a rest that does not grow with the
records.

Stateless and picklable: a node can be counted in another process or on another machine, which sees ciphertexts under
the peer's key and the codes of one window, and no private key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.counting.expanded import merge_equal
from protocols.paillier.arithmetic import Integer, multiply_by_key
from protocols.tables.table import Codes


@dataclass(frozen=True, eq=False, repr=False)
class NodeTask:
    """What it takes to count one node under encryption.

    Args:
        weights: Encrypted weight of each row.
        codes: Rows by window candidates, the class last.
        sizes: Domain sizes of these columns.
        modulus: The square of the public modulus.
    """

    weights: Sequence[Integer]
    codes: Codes
    sizes: tuple[int, ...]
    modulus: Integer


def count_cells(task: NodeTask) -> list[Integer | None]:
    """Return the encrypted cells of all candidates in the order of a batch; None for an empty cell."""
    return _margins(*_merge(task.weights, task.codes, task.modulus), task.sizes, task.modulus)


def _merge(weights: Sequence[Integer], codes: Codes, modulus: Integer) -> tuple[Sequence[Integer], Codes]:
    """Multiply the weights of equal rows."""
    distinct, row_of, _ = merge_equal(codes)
    if len(distinct) == len(codes):
        return weights, codes
    products = multiply_by_key(weights, row_of, len(distinct), modulus)
    return [product for product in products if product is not None], distinct


def _margins(
    weights: Sequence[Integer], codes: Codes, sizes: tuple[int, ...], modulus: Integer
) -> list[Integer | None]:
    *candidates, classes = sizes
    if len(candidates) == 1:
        keys = codes[:, 0].astype(np.intp) * classes + codes[:, 1]
        return multiply_by_key(weights, keys, candidates[0] * classes, modulus)
    middle = len(candidates) // 2
    cells: list[Integer | None] = []
    for part in (range(middle), range(middle, len(candidates))):
        columns = [*part, len(candidates)]
        merged, distinct = _merge(weights, np.ascontiguousarray(codes[:, columns]), modulus)
        cells += _margins(merged, distinct, tuple(sizes[c] for c in columns), modulus)
    return cells
