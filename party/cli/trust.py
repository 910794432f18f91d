"""`cotally trust`: trust the other party's certificate."""

import argparse

from party.keys.identity import trust
from party.settings.place import party_folder
from party.show.parties import party_json, trusted_lines
from party.show.screen import put_json, say_all


def run(arguments: argparse.Namespace) -> int:
    """Pin it and show the fingerprint."""
    folder = party_folder(arguments.party)
    peer = trust(folder, arguments.certificate)
    if arguments.json:
        put_json(party_json(peer.name, peer.hosts, peer.fingerprint))
        return 0
    say_all(trusted_lines(peer.name, peer.hosts, peer.fingerprint, folder))
    return 0
