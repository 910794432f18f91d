"""Look after a party's keys: seal them on the disk, or renew its certificate.

Sealed keys open by a passphrase, which is asked for at the terminal, or read from the file that COTALLY_PASSPHRASE_FILE
names (systemd: the credential cotally.passphrase); or by the system's keyring. A renewed certificate is over the same
key, so the party stays the same: a node that serves takes it up without being stopped, and the other side accepts it.
"""

import argparse
from pathlib import Path

from party.cli.arguments import party_folder
from party.files import check_own_folder, locked_folder
from party.keys.passphrase import SOURCES
from party.keys.renewal import renew
from party.keys.sealing import seal_keys, unseal_keys
from party.show.parties import renewed_lines, sealed_lines
from party.show.screen import say_all
from protocols.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        choices=["seal", "unseal", "renew"],
        help="seal: keep the keys in one file that opens by a passphrase; unseal: undo that; renew: make a new "
        "certificate over the same key",
    )
    parser.add_argument("folder", type=Path, metavar="D", help="the party's folder, or its party.toml")
    parser.add_argument("--by", choices=list(SOURCES), help="seal: what opens them (default: passphrase)")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="renew: DNS name or IP address at which the other party reaches this one; may be repeated (default: as "
        "before)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it, and say what holds from now on.

    Raises:
        InputError: An option is of another action, or the folder cannot be used.
    """
    folder, action = party_folder(arguments.folder), arguments.action
    for option, of in (("by", "seal"), ("host", "renew")):
        if getattr(arguments, option) and action != of:
            raise InputError(f"--{option} is for `cotally keys {of}`")
    if action == "renew":
        say_all(renewed_lines(renew(folder, arguments.host)))
        return 0
    check_own_folder(folder)
    with locked_folder(folder):
        if action == "seal":
            seal_keys(folder, SOURCES[arguments.by or "passphrase"])
        else:
            unseal_keys(folder)
    say_all(sealed_lines(folder, is_sealed=action == "seal"))
    return 0
