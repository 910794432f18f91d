"""`cotally init`: make a party: keys, certificate, settings."""

import argparse
from pathlib import Path

from party.keys.passphrase import SOURCES
from party.node.creation import create_party
from party.settings.address import DEFAULT_HOSTS
from party.settings.template import party_files
from party.show.parties import made_lines, party_json
from party.show.screen import put_json, say_all


def run(arguments: argparse.Namespace) -> int:
    """Make it and say what to do next."""
    folder: Path = arguments.dir
    source = None if arguments.seal is None else SOURCES[arguments.seal]
    settings = party_files(arguments.name, arguments.key_bits)
    identity = create_party(
        folder, arguments.name, arguments.host or DEFAULT_HOSTS, arguments.key_bits, settings, sealed_by=source
    )
    if arguments.json:
        put_json(party_json(identity.name, identity.hosts, identity.fingerprint))
        return 0
    say_all(made_lines(identity.name, identity.fingerprint, folder, is_sealed=source is not None))
    return 0
