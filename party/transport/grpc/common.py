"""What both ends of a connection must hold alike: version, limits, options, pages on the wire."""

import errno
import socket
from collections.abc import Sequence
from typing import Final

from party.errors import ConfigError
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, Page, Reason
from party.wire.codec import is_signed_head
from party.wire.v1 import node_pb2 as wire
from protocols.errors import PeerError
from protocols.messages import SignedHead

WIRE_VERSION: Final = "3"
"""Of the messages: who changes them after a release takes the next number, here and in what a greeting says."""
SESSION_BYTES: Final = 16
LONG_POLL: Final = 0.5  # seconds that a call may wait at the responder

OPTIONS: Final[Sequence[tuple[str, int]]] = (
    ("grpc.max_receive_message_length", PAGE_BYTES + 4096),
    ("grpc.max_send_message_length", PAGE_BYTES + 4096),
    ("grpc.max_metadata_size", 8192),
    ("grpc.absolute_max_metadata_size", 16_384),
    ("grpc.compression_enabled_algorithms_bitset", 1),  # none but the identity
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 20_000),  # a ping waits behind a page
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)

_ENDS: Final = {
    Reason.FINISHED: wire.END_FINISHED,
    Reason.CANCELLED: wire.END_CANCELLED,
    Reason.DEVIATION: wire.END_DEVIATION,
    Reason.INTERNAL: wire.END_INTERNAL,
    Reason.PAUSED: wire.END_PAUSED,
}
_REASONS: Final = {int(end): reason for reason, end in _ENDS.items()}


def other_version(peer: str, theirs: str) -> PeerError:
    """Return the error of a peer that speaks another version of the wire than we."""
    known = theirs if theirs.isascii() and theirs.isdigit() and len(theirs) < 9 else "another one"
    return PeerError(
        f"we speak version {WIRE_VERSION} of the wire, {peer} speaks {known}: install the same release on both sides"
    )


def split_address(address: str) -> tuple[str, int]:
    """Split `host:port`, where an IPv6 host stands in brackets.

    Raises:
        ConfigError: It is in another form.
    """
    host, _, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not (host and port.isascii() and port.isdigit() and int(port) < 65_536):
        raise ConfigError(f"{address!r} is not an address: it must be host:port, port 0 to 65535")
    return host, int(port)


def check_free(host: str, port: int) -> None:
    """Refuse a port that is taken on any address of the host: gRPC is content with one of them.

    Raises:
        ConfigError: The host is unknown, or the port is in use.
    """
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise ConfigError(f"cannot listen on {host}: the host is not known") from None
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise ConfigError(f"cannot listen on {host}:{port}: the port is in use") from None


def page_to_wire(page: Page, sequence: int) -> wire.Page:
    """Number a page and put it on the wire."""
    end = wire.END_UNSPECIFIED if page.end is None else _ENDS[page.end]
    ledger = None if page.ledger is None else wire.LedgerEnd(**vars(page.ledger))
    return wire.Page(sequence=sequence, body=page.body, last=page.last, end=end, ledger=ledger)


def page_from_wire(page: wire.Page) -> Page:
    """Return a page that `channel.cut` or the end of a stream may have made.

    Raises:
        PeerError: Nobody may have made it: so a frame has few pages, and none is empty (FAULTS case 67).
    """
    end = _REASONS.get(page.end)
    if end is not None:
        legal = not page.body and not page.last
    else:
        least = 1 if page.last else SMALLEST_PAGE
        legal = not page.end and least <= len(page.body) <= PAGE_BYTES
    end_of = page.ledger
    ledger = SignedHead(end_of.entries, end_of.digest, end_of.signature) if page.HasField("ledger") else None
    if not legal or (ledger is not None and not _shows(page, ledger)):
        raise PeerError("the peer sent a page that no frame has")
    return Page(page.body, last=page.last, end=end, ledger=ledger)


def _shows(page: wire.Page, ledger: SignedHead) -> bool:
    """Tell whether a page may show that a ledger leads so far: it ends a message, and the ledger is not empty."""
    return page.last and ledger.entries > 0 and is_signed_head(ledger)
