"""Sees every mask that is formed while it looks: under which offset, of which transfer, for which use."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.oblivious import masks


class MaskRecorder:
    """Records masks; an offset is known by the key of its session's permutation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._seen: dict[bytes, list[NDArray[np.uint64]]] = defaultdict(list)
        formed = masks._hashed

        def recorded(
            fixed: bytes, keys: NDArray[np.uint64], numbers: NDArray[np.uint64], use: int
        ) -> NDArray[np.uint64]:
            self._seen[fixed].append(np.column_stack([numbers, np.full_like(numbers, use), keys]))
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
            rows = np.concatenate(parts)
            _, place, of_use = np.unique(rows[:, :2], axis=0, return_inverse=True, return_counts=True)
            _, of_key = np.unique(rows, axis=0, return_counts=True)
            keys, counts = np.unique(rows, axis=0, return_inverse=True)[1], of_use[place.ravel()]
            result |= set(zip(counts.tolist(), of_key[keys.ravel()].tolist(), strict=True))
        return result
