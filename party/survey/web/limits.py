"""What a caller may take: calls a minute, and time and length by a connection.

A bucket per address fills with time. It is kept in memory, and forgotten there.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address, ip_address
from typing import Final

_MOST_ADDRESSES = 10_000
_MINUTE = 60.0


class CallLimits:
    """Lets each address call so often per minute.

    Args:
        per_minute: How often; as often at once.
        clock: Seconds, of any beginning.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._most, self._clock = float(per_minute), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Take one call of an address; tell whether it is within its limit."""
        now, caller = self._clock(), network(address)
        left, then = self._buckets.pop(caller, (self._most, now))
        left = min(self._most, left + (now - then) * self._most / _MINUTE)
        fits = left >= 1
        self._buckets[caller] = (left - 1 if fits else left, now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return fits


def network(address: str) -> str:
    """Return what one caller has: an address, of IPv6 the 64 bits that a household is given.

    >>> network("2001:db8:1:2:3:4:5:6"), network("203.0.113.9")
    ('2001:db8:1:2::', '203.0.113.9')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address[:64]
    return str(IPv6Address(int(known) >> 64 << 64)) if known.version == 6 else str(known)


class Cut(Enum):
    """Why a connection was ended that asked for something."""

    UNREAD = "unread"
    LONG_HEAD = "long head"


@dataclass(frozen=True)
class ConnectionLimits:
    """What connections may take.

    Args:
        head_seconds: For a head, from the moment when none is in progress.
        head_bytes: Of a head; one of fewer than twice as many may pass.
        read_seconds: For reading what is ready, where more is ready than buffers hold.
        at_once: Fewer are kept.
    """

    head_seconds: float = 10
    head_bytes: int = 16384
    read_seconds: float = 30
    at_once: int = 512


USUAL_CONNECTIONS: Final = ConnectionLimits()
