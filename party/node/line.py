"""A party's line to its peer, by its settings; a certificate that either side renews meanwhile is taken up and kept."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from party.keys.certificates import Peer
from party.keys.identity import Identity, Latest, keep_renewed
from party.settings.party import PartyConfig
from party.transport.channel import PagedChannel
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.transport.pages import Waits
from protocols.errors import InputError


def call_peer(
    config: PartyConfig, identity: Identity, peer: Peer, heed: Callable[[], None] | None = None
) -> PagedChannel:
    """Open a session with the peer, at the address of our settings; what `heed` raises meanwhile ends the waiting."""
    return connect(
        identity,
        peer,
        str(config.need_address()),
        waits=replace(_waits(config), heed=heed),
        latest=Latest(config.folder, identity),
        renewed=partial(_keep, config.folder),
    )


def listen_for_peer(config: PartyConfig, identity: Identity, peer: Peer) -> NodeServer:
    """Listen for the peer, where our settings say."""
    return NodeServer.listen(
        identity,
        [peer],
        str(config.need_listen()),
        waits=_waits(config),
        latest=Latest(config.folder, identity),
        renewed=partial(_keep, config.folder),
    )


def _waits(config: PartyConfig) -> Waits:
    return Waits(config.node.patience, config.node.silence)


def _keep(folder: Path, peer: Peer) -> None:
    with suppress(InputError):  # it is believed all the same, and kept when it is seen again
        keep_renewed(folder, peer)
