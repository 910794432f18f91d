"""Addresses as both ends read them, ports that are taken, and pages as they cross."""

import socket
from itertools import product

import pytest

from party.errors import ConfigError
from party.transport.grpc.status import check_free, page_from_wire, page_to_wire, split_address
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, Page, Reason
from protocols.errors import PeerError
from protocols.messages import SignedHead
from tests.support.responder import BAD_PAGES


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
