"""`cotally pair`: trust each other's certificates by a short code."""

import argparse
import sys

from cryptography import x509

from party.errors import IdentityError
from party.files import locked_folder
from party.keys.certificates import Peer, about
from party.keys.identity import load_identity, pin
from party.keys.pairing import new_code, read_spoken_code
from party.settings.party import PartyConfig, read_party_config
from party.show.parties import ASK_FOR_CODE, code_lines, paired_lines, party_json
from party.show.screen import put_json, say_all
from party.transport.grpc.pairing import CODE_SECONDS, PairingServer, pair


def run(arguments: argparse.Namespace) -> int:
    """Pair, and say whom we trust from now on."""
    config = read_party_config(arguments.party)
    with locked_folder(config.folder):
        peer = _listen(config) if config.node.address is None else _call(config, str(config.node.address))
    if arguments.json:
        put_json(party_json(peer.name, peer.hosts, peer.fingerprint))
        return 0
    say_all(paired_lines(peer.name, peer.fingerprint, config.path, config.node.peer is not None))
    return 0


def _listen(config: PartyConfig) -> Peer:
    own, code = load_identity(config.folder), new_code()
    paired: list[Peer] = []
    address = str(config.need_listen())
    with PairingServer.listen(
        read_spoken_code(code), own.certificate, lambda theirs: paired.append(_pin(config, theirs)), address
    ) as server:
        say_all(code_lines(code, server.address, CODE_SECONDS), sys.stderr)
        server.wait()
    return paired[0]


def _call(config: PartyConfig, address: str) -> Peer:
    own = load_identity(config.folder)
    sys.stderr.write(ASK_FOR_CODE)
    sys.stderr.flush()
    return _pin(config, pair(read_spoken_code(sys.stdin.readline()), own.certificate, address))


def _pin(config: PartyConfig, certificate: x509.Certificate) -> Peer:
    """Pin a certificate whose owner has proved to know the code.

    Raises:
        IdentityError: It is not that of the peer whom our settings name, or cannot be pinned.
    """
    what = "the certificate that came"
    name = about(certificate, what)[0]
    if config.node.peer not in {None, name}:
        raise IdentityError(f"{what} is of {name}, but [node] peer is {config.node.peer!r}: nothing is pinned")
    return pin(config.folder, certificate, what)
