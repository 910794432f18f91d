"""`cotally keys`: seal a party's keys, or renew its certificate."""

import argparse

from party.files import check_own_folder, locked_folder
from party.keys.identity import renew
from party.keys.passphrase import SOURCES
from party.keys.sealing import seal_keys, unseal_keys
from party.settings.place import party_folder
from party.show.parties import party_json, renewed_lines, sealed_lines
from party.show.screen import put_json, say_all
from protocols.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Do it, and say what holds from now on.

    Raises:
        InputError: An option is of another action, or the folder cannot be used.
    """
    folder, action = party_folder(arguments.party), arguments.action
    for option, of in (("by", "seal"), ("host", "renew"), ("json", "renew")):
        if getattr(arguments, option) and action != of:
            raise InputError(f"--{option} is for `cotally keys {of}`")
    if action == "renew":
        renewed = renew(folder, arguments.host)
        if arguments.json:
            put_json(party_json(renewed.name, renewed.hosts, renewed.fingerprint))
        else:
            say_all(renewed_lines(renewed))
        return 0
    by = arguments.by or "passphrase"
    check_own_folder(folder)
    with locked_folder(folder):
        if action == "seal":
            seal_keys(folder, SOURCES[by])
        else:
            unseal_keys(folder)
    say_all(sealed_lines(folder, is_sealed=action == "seal", by=by))
    return 0
