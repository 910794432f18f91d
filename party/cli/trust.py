"""`cotally trust`: trust the other party's certificate."""

import argparse
from pathlib import Path

from party.keys.identity import trust
from party.settings.party import read_party_config
from party.settings.place import CONFIG_FILE, party_folder
from party.show.parties import party_json, trusted_lines
from party.show.screen import put_json, say_all
from protocols.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Pin it and show the fingerprint."""
    folder = party_folder(arguments.party)
    peer = trust(folder, arguments.certificate)
    if arguments.json:
        put_json(party_json(peer.name, peer.hosts, peer.fingerprint))
        return 0
    say_all(trusted_lines(peer.name, peer.hosts, peer.fingerprint, folder, _peer_named(folder)))
    return 0


def _peer_named(folder: Path) -> str | None:
    """Return the peer that the settings name, if they do; whether they are right is for others to say."""
    try:
        return read_party_config(folder / CONFIG_FILE).node.peer
    except InputError:
        return None
