"""The encrypted cells of a window from the rows of a node, in few additions of ciphertexts.

A window of `w` candidates needs `w` margins, each a sum over all rows of the node: `w R` additions if each is formed by
itself. Instead the rows are merged where they agree on the whole window, the window is cut into halves, rows merged
again where they agree on a half, and so on down to single candidates. Merging `R` rows into `D` costs `R - D`, and
halves of a window have few distinct rows, so a node costs at most `2 R`, plus a remainder that does not grow with the
records.

Stateless and picklable: a node can be counted in another process or on another machine, which sees ciphertexts under
the peer's key and the codes of one window, and no private key.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from protocols.ciphers.port import Ciphertexts, Values, sum_by_group
from protocols.counting.rows import merge_equal
from protocols.tables.table import Codes

TASK_ROWS = 2048


@dataclass(frozen=True, eq=False, repr=False)
class NodeTask(Generic[Values]):
    """What it takes to count one node under encryption.

    Args:
        cipher: The peer's public key.
        weights: Encrypted weight of each row.
        codes: Rows by window candidates, the class last: the column of the answer that counts it.
        sizes: Domain sizes of these columns.
    """

    cipher: Ciphertexts[Values]
    weights: Values
    codes: Codes
    sizes: tuple[int, ...]


def count_cells(task: NodeTask[Values]) -> Values:
    """Return the encrypted cells of all candidates in the order of a batch; nothing for an empty cell."""
    return task.cipher.join(_margins(task.cipher, *_merge(task.cipher, task.weights, task.codes), task.sizes))


def _merge(cipher: Ciphertexts[Values], weights: Values, codes: Codes) -> tuple[Values, Codes]:
    """Add the weights of equal rows."""
    distinct, row_of, _ = merge_equal(codes)
    if len(distinct) == len(codes):
        return weights, codes
    return sum_by_group(cipher, weights, row_of, len(distinct)), distinct


def _margins(cipher: Ciphertexts[Values], weights: Values, codes: Codes, sizes: tuple[int, ...]) -> list[Values]:
    """Return the cells of each candidate in turn."""
    *candidates, classes = sizes
    if len(candidates) == 1:
        keys = codes[:, 0].astype(np.intp) * classes + codes[:, 1]
        return [sum_by_group(cipher, weights, keys, candidates[0] * classes)]
    middle = len(candidates) // 2
    cells: list[Values] = []
    for part in (range(middle), range(middle, len(candidates))):
        columns = [*part, len(candidates)]
        merged, distinct = _merge(cipher, weights, np.ascontiguousarray(codes[:, columns]))
        cells += _margins(cipher, merged, distinct, tuple(sizes[c] for c in columns))
    return cells


def count_nodes(tasks: Sequence[NodeTask[Values]]) -> list[Values]:
    """Count several nodes: one piece of work for a worker."""
    return [count_cells(task) for task in tasks]


def bundles(tasks: Iterable[NodeTask[Values]]) -> Iterator[list[NodeTask[Values]]]:
    """Group small nodes, so that handing them over costs little compared with the work."""
    bundle: list[NodeTask[Values]] = []
    rows = 0
    for task in tasks:
        bundle.append(task)
        rows += len(task.weights)
        if rows >= TASK_ROWS:
            yield bundle
            bundle, rows = [], 0
    if bundle:
        yield bundle
