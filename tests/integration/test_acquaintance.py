"""Whom an address is taken for: what is refused before a call, and what a look at the port may change (FAULTS C1)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from party.errors import ConfigError, DatesError, IdentityError
from party.keys.certificates import LIFETIME, Peer, general_name, self_signed, utc_now
from party.keys.identity import Identity, make_identity
from party.transport.grpc.client import connect
from party.transport.grpc.probe import Acquaintance
from party.transport.grpc.server import NodeServer
from tests.integration.test_rpc_identity import identity
from tests.support.identities import create_identity
from tests.support.rpc import Parties

NOW = datetime.now(UTC)
LONG_AGO = NOW - LIFETIME - timedelta(days=1)
NOWHERE = "127.0.0.1:1"


def known(
    parties: Parties,
    address: str = NOWHERE,
    peer: Peer | None = None,
    *,
    latest: Callable[[], Identity] | None = None,
    renewed: Callable[[Peer], None] = lambda _: None,
) -> Acquaintance:
    """Let Alice know Bob at an address."""
    own = latest or (lambda: parties.alice)
    return Acquaintance(own, peer or parties.pinned_bob, address, utc_now, renewed)


def bob_with(parties: Parties, *hosts: str, made: datetime = NOW) -> Identity:
    """Return Bob with another certificate over his key."""
    names = [general_name(host) for host in hosts or parties.bob.hosts]
    return parties.bob.with_certificate(self_signed(parties.bob.key, "bob", names, made))


def serving(parties: Parties, own: Identity, made: datetime = NOW) -> NodeServer:
    return NodeServer.listen(own, [parties.pinned_alice], "127.0.0.1:0", clock=lambda: made)


def test_who_is_as_on_file_is_not_looked_at(parties: Parties) -> None:
    known(parties).check()


def link_local() -> str | None:
    """Return an IPv6 address of this machine with its zone, such as fe80::1%eth0, if there is one."""
    places = Path("/proc/net/if_inet6")
    lines = [line.split() for line in places.read_text().splitlines()] if places.exists() else []
    return next((f"{IPv6Address(int(line[0], 16))}%{line[5]}" for line in lines if line[3] == "20"), None)


@pytest.mark.skipif(link_local() is None, reason="no IPv6 address with a zone here")
def test_a_host_that_is_reached_by_its_zone_is_the_one_of_its_certificate(parties: Parties, tmp_path: Path) -> None:
    host = str(link_local())
    bob = create_identity(tmp_path, "bob", [host])
    assert bob.hosts == (host.partition("%")[0],)
    with NodeServer.listen(bob, [parties.pinned_alice], f"[{host}]:0") as server:
        connect(parties.alice, bob, server.address).close()


def test_our_own_certificate_must_be_within_its_dates(parties: Parties) -> None:
    old = make_identity("alice", ["localhost"], clock=lambda: LONG_AGO)
    with pytest.raises(DatesError, match="the certificate of alice expired"):
        known(parties, latest=lambda: old).check()


FAULTY: dict[str, tuple[Peer, type[Exception], str]] = {
    "expired": (make_identity("bob", ["127.0.0.1"], clock=lambda: LONG_AGO), DatesError, "of bob expired"),
    "signs others": (identity("bob", signs=True), IdentityError, "of bob may sign others"),
    "another host": (make_identity("bob", ["b.org", "::1"]), ConfigError, r"is for b\.org, ::1, not for 127\.0\.0\.1"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_peer_that_is_not_to_be_called_is_named_with_the_reason(parties: Parties, fault: str) -> None:
    peer, error, text = FAULTY[fault]
    with pytest.raises(error, match=text):
        known(parties, peer=peer).check()


def test_what_the_peer_has_renewed_since_is_taken_up_and_told(parties: Parties) -> None:
    told: list[Peer] = []
    old, now = bob_with(parties, made=LONG_AGO), bob_with(parties)
    with serving(parties, now) as server:
        met = known(parties, server.address, old, renewed=told.append)
        met.check()
        assert [met.peer.certificate] == [peer.certificate for peer in told] == [now.certificate]
        assert not met.refresh()


def test_what_the_peer_has_renewed_is_judged_as_what_was_on_file(parties: Parties) -> None:
    old, elsewhere = bob_with(parties, made=LONG_AGO), bob_with(parties, "b.org")
    with serving(parties, elsewhere) as server, pytest.raises(ConfigError, match=r"is for b\.org, not for 127"):
        known(parties, server.address, old).check()


def test_what_is_out_of_its_dates_or_of_another_key_is_not_taken_up(parties: Parties) -> None:
    told: list[Peer] = []
    for shown, made in ((bob_with(parties, made=LONG_AGO), LONG_AGO), (make_identity("bob", ["127.0.0.1"]), NOW)):
        with serving(parties, shown, made) as server:
            met = known(parties, server.address, renewed=told.append)
            assert not met.refresh()
        assert met.peer == parties.pinned_bob
    assert told == []


def test_our_own_renewed_certificate_is_taken_up_even_where_nobody_answers(parties: Parties) -> None:
    again = parties.alice.with_certificate(
        self_signed(parties.alice.key, "alice", [general_name("localhost")], utc_now())
    )
    ours = iter([parties.alice, again, again])
    met = known(parties, latest=lambda: next(ours))
    assert met.refresh()
    assert met.own == again
    assert not met.refresh()
