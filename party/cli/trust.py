"""`cotally trust`: trust the other party's certificate."""

import argparse

from party.keys.identity import trust
from party.settings.place import party_folder
from party.show.parties import trusted_lines
from party.show.screen import say_all


def run(arguments: argparse.Namespace) -> int:
    """Pin it and show the fingerprint."""
    folder = party_folder(arguments.party)
    peer = trust(folder, arguments.certificate)
    say_all(trusted_lines(peer.name, peer.hosts, peer.fingerprint, folder))
    return 0
