"""Trust the key of the other party's certificate, and no other.

A run accepts this key alone at the other end, and certificates that it has signed for itself. A pinned key is only as
trustworthy as the channel it came by: compare fingerprints over another one, such as the telephone.
"""

import argparse
from pathlib import Path

from party.cli.arguments import party_folder
from party.keys.identity import trust
from party.show.parties import trusted_lines
from party.show.screen import say_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="D", help="the party's folder, or its party.toml")
    parser.add_argument("certificate", type=Path, metavar="peer-cert.pem")


def run(arguments: argparse.Namespace) -> int:
    """Pin it and show the fingerprint."""
    folder = party_folder(arguments.folder)
    peer = trust(folder, arguments.certificate)
    say_all(trusted_lines(peer.name, peer.hosts, peer.fingerprint, folder))
    return 0
