"""Look after a party's keys: seal them on the disk, or renew its certificate.

Sealed keys open by a passphrase, which is asked for at the terminal, or read from the file that COTALLY_PASSPHRASE_FILE
names (systemd: the credential cotally.passphrase); or by the system's keyring. A renewed certificate is over the same
key, so the party stays the same: a node that serves takes it up without being stopped, and the other side accepts it.

Examples:
  cotally keys seal alice
  cotally keys renew alice --host node.example.org
"""

import argparse

from party.cli.arguments.common import add_json, add_party
from party.keys.passphrase import SOURCES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        choices=["seal", "unseal", "renew"],
        help="seal: keep the keys in one file that opens by a passphrase; unseal: undo that; renew: make a new "
        "certificate over the same key",
    )
    add_party(parser)
    parser.add_argument("--by", choices=list(SOURCES), help="seal: what opens them (default: passphrase)")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="renew: DNS name or IP address at which the other party reaches this one; may be repeated (default: as "
        "before)",
    )
    add_json(parser)
