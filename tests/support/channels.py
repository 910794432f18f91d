"""A session's channel in memory: pages, order and ends as on the wire, without one."""

from party.transport.channel import PagedChannel, stopped_by
from party.transport.pages import PAGE_BYTES, Pages, Reason, Waits

SHORT_WAITS = Waits(silence=60.0)
"""A session that hangs ends within a minute."""


class _MemoryChannel(PagedChannel):
    """One end of a pair of queues that both parties share."""

    def __init__(self, own: str, peer: str, outgoing: Pages, incoming: Pages, silence: float) -> None:
        super().__init__(peer, outgoing, incoming, silence)
        self._own = own
        self._pace.size = PAGE_BYTES  # memory is no slow line

    def _tell(self, reason: Reason) -> None:
        error = stopped_by(self._own, reason)
        self._outgoing.fail(error)
        self._incoming.fail(error)

    def _leave(self) -> None:
        """Return: what is in the peer's queue is delivered."""


def memory_channels(a: str = "alice", b: str = "bob", waits: Waits = SHORT_WAITS) -> tuple[PagedChannel, PagedChannel]:
    """Return the channels of two parties, named `a` and `b`, in one process; each is for one thread."""
    from_a, from_b = Pages(timer=waits.timer), Pages(timer=waits.timer)
    ours = _MemoryChannel(a, b, from_a, from_b, waits.silence)
    return ours, _MemoryChannel(b, a, from_b, from_a, waits.silence)
