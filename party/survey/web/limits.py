"""How often one address may call: a bucket per address that fills with time. Kept in memory, and forgotten there."""

from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

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
