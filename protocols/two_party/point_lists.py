"""Long lists of points: made by workers, exchanged page by page, compared as bytes."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.curve import POINT_BYTES, NotAPointError
from protocols.errors import PeerError
from protocols.messages import BlindedPage, CountedPage, HiddenPage, ReblindedPage
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.work import Workers

PAGE_IDS: Final = 1 << 14

T = TypeVar("T")
_Page = TypeVar("_Page", BlindedPage, ReblindedPage, HiddenPage, CountedPage)
Encoded = NDArray[np.bytes_]
"""Points, or digests, as they cross, one per row: compared and sorted as bytes."""


def encoded(data: bytes, size: int = POINT_BYTES) -> Encoded:
    """Read entries of so many bytes, one after the other."""
    return np.frombuffer(data, dtype=f"S{size}")


def worked_out(
    workers: Workers, phase: Phase, work: Callable[[T], bytes], tasks: Iterable[T], total: int
) -> Role[Encoded]:
    """Have points made, a page of ids or of points per task.

    Discloses: nothing; nothing leaves.

    Raises:
        PeerError: One of the peer's points is none.
    """
    pages: list[bytes] = []
    try:
        for page in workers.map(work, tasks):
            pages.append(page)
            yield Progress(phase, min(len(pages) * PAGE_IDS, total), total)
    except NotAPointError:
        raise PeerError("the peer sent a point that is not on the curve") from None
    return encoded(b"".join(pages))


def exchange_lists(kind: type[_Page], own: Encoded, expected: int, size: int = POINT_BYTES) -> Role[Encoded]:
    """Exchange ascending lists, a page of each in turn.

    Discloses: the entries, as the kind of page says.

    Raises:
        PeerError: Entries are not as many as expected, or not each of them greater than the one before.
    """
    pages: list[bytes] = []
    for start in range(0, max(len(own), expected), PAGE_IDS):
        if start < len(own):
            yield Send(kind(own[start : start + PAGE_IDS].tobytes()))
        if start < expected:
            page = (yield from receive(kind)).points
            if len(page) != size * min(PAGE_IDS, expected - start):
                raise PeerError("a page of the peer's points has the wrong length")
            pages.append(page)
    entries = encoded(b"".join(pages), size)
    if not (entries[:-1] < entries[1:]).all():
        raise PeerError("the peer's points are not in ascending order, or one is there twice")
    return entries
