"""Sees every mask that is formed while it looks: under which offset, of which transfer, for which use."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.oblivious import masks

ONCE = {(3, 1), (3, 2)}
"""Three masks of a transfer and use: of the chosen key at both sides, of the other at the sender's alone."""
ALONE = {(1, 1), (2, 1)}
"""The chooser's alone, or the sender's: the other side was killed before it came to form its own."""
_USES = 1 << 24


class MaskRecorder:
    """Records masks; an offset is known by the key of its session's permutation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._seen: dict[bytes, list[NDArray[np.uint64]]] = defaultdict(list)
        formed = masks._hashed

        def recorded(
            fixed: bytes, keys: NDArray[np.uint64], numbers: NDArray[np.uint64], use: int
        ) -> NDArray[np.uint64]:
            assert use < _USES
            self._seen[fixed].append(np.stack([keys[:, 0], numbers * np.uint64(_USES) + np.uint64(use)]))
            return formed(fixed, keys, numbers, use)

        monkeypatch.setattr(masks, "_hashed", recorded)

    @property
    def offsets(self) -> int:
        """How many offsets had masks."""
        return len(self._seen)

    def times(self) -> set[tuple[int, int]]:
        """Return how often masks were formed: of one transfer and use, and of one key of them."""
        result = set()
        for parts in self._seen.values():
            seen = np.concatenate(parts, axis=1)
            keys, places = seen[:, np.lexsort(seen)]
            other_place = np.diff(places, prepend=~places[0]) != 0
            other_key = other_place | (np.diff(keys, prepend=~keys[0]) != 0)
            of_use, of_key = (np.bincount(np.cumsum(other)) for other in (other_place, other_key))
            result |= {*zip(of_use[np.cumsum(other_place)[other_key]].tolist(), of_key[1:].tolist(), strict=True)}
        return result
