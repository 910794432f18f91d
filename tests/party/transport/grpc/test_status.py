"""Errors across the wire: the tables are total, no text of ours crosses, and a call's body has one form."""

import logging
import socket
from itertools import product

import grpc
import pytest

from party.errors import ConfigError, DataError, IdentityError, PeerLostError, PeerStoppedError
from party.transport.grpc.status import (
    STATUS,
    STOPS,
    WIRE_VERSION,
    NotNowError,
    StoppedHereError,
    _read,
    check_free,
    page_from_wire,
    page_to_wire,
    refused,
    split_address,
    status_of,
)
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, Page, Reason, Sparingly
from party.wire.v1 import node_pb2 as wire
from protocols.errors import CotallyError, DeviationError, InputError, PeerError
from protocols.messages import SignedHead
from tests.support.responder import BAD_PAGES
from tests.support.timer import SkippingTimer

Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=bytes(16))
BODY = OPEN.SerializeToString()


def subclasses(kind: type) -> set[type]:
    found = {kind}
    each: type
    for each in kind.__subclasses__():
        found |= subclasses(each)
    return found


def test_no_text_of_an_error_crosses(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [
        PeerError("4711"), InputError("4711"), DataError("4711", path="4711"), IdentityError("4711"),
        PeerLostError("4711"), PeerStoppedError("4711"), NotNowError("4711"), DeviationError(),
        StoppedHereError(Reason.DEVIATION), ValueError("4711"), KeyError("4711"),
    ]  # fmt: skip
    with caplog.at_level(logging.CRITICAL):
        texts = [status_of(error)[1] for error in errors]
    assert not any("4711" in text for text in texts if "incident" not in text)
    assert all("incident" in text for text in texts[-2:])


def test_what_a_peer_is_refused_again_and_again_is_noted_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    timer = SkippingTimer()
    said = Sparingly(timer)
    with caplog.at_level(logging.INFO):
        for lines in (2, 4):
            for _ in range(50):
                status_of(PeerError("a page is out of order"), said)
                status_of(IdentityError("a key that is not pinned"), said)
            assert len(caplog.records) == lines
            timer.skip(60.0)


def test_the_tables_are_total() -> None:
    assert all("bob" in str(refused(code, "bob", "")) for code in set(Code) - {Code.OK})
    assert set(STOPS) == set(Reason)
    for error in subclasses(CotallyError):
        assert any(kind in STATUS for kind in error.__mro__)
    assert status_of(DataError("ours"))[0] is Code.INTERNAL
    assert status_of(NotNowError())[0] is Code.RESOURCE_EXHAUSTED
    assert _read(BODY, wire.OpenRequest.FromString) == OPEN
    for body in (BODY + b"\x78\x01", BODY * 2, BODY[:-1], b"\xff" * 9):
        with pytest.raises(PeerError, match="a call's body"):
            _read(body, wire.OpenRequest.FromString)


def test_an_address_is_a_host_and_a_port() -> None:
    for address, parts in (
        ("bob:0", ("bob", 0)),
        ("127.0.0.1:65535", ("127.0.0.1", 65_535)),
        ("[::1]:7071", ("::1", 7071)),
    ):
        assert split_address(address) == parts
    for address in (
        "",
        "bob",
        "bob:",
        ":1",
        "[]:1",
        "bob:x",
        "bob:-1",
        "bob:65536",
        "::1:80",
        "bob:\u0661",
        "bob:\u00b2",
    ):
        with pytest.raises(ConfigError, match="is not an address: it must be host:port, port 0 to 65535"):
            split_address(address)


def test_a_port_that_is_taken_is_not_free_under_any_name_of_its_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(ConfigError, match=f"^cannot listen on {host}:{port}: the port is in use$"):
                check_free(host, port)
    check_free("127.0.0.1", port)
    check_free("192.0.2.1", 50_051)  # whether that host is ours is for another to say


def test_every_page_of_a_frame_and_every_end_crosses() -> None:
    pages = [Page(bytes(size)) for size in (SMALLEST_PAGE, PAGE_BYTES)]
    pages += [Page(bytes(size), last=True) for size in (1, PAGE_BYTES)]
    pages += [Page(b"a", last=True, ledger=SignedHead(1, bytes(range(32)), bytes(72)))]
    pages += [Page(end=reason) for reason in Reason]
    for page, sequence in product(pages, (0, 2**32)):
        crossed = page_to_wire(page, sequence)
        assert (page_from_wire(crossed), crossed.sequence) == (page, sequence)


@pytest.mark.parametrize("page", BAD_PAGES)
def test_a_page_that_no_frame_has_is_refused(page: str) -> None:
    with pytest.raises(PeerError, match="the peer sent a page that no frame has"):
        page_from_wire(BAD_PAGES[page])
