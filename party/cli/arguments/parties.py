"""A party and its peer: its folder, keys and trust."""

import argparse
from pathlib import Path

from party.cli.arguments import add_json, add_party
from party.keys.passphrase import SOURCES
from party.names import DEFAULT_HOSTS
from protocols.terms import KEY_FLOOR, USUAL_KEY_BITS


def declare_init(parser: argparse.ArgumentParser) -> None:
    """Make a party: its keys, its certificate, and a settings file to fill in.

    Nothing that exists is overwritten, and if something fails, nothing is left behind.

    Examples:
      cotally init alice --dir alice --host alice.example.org
      cotally init bob --dir bob --seal passphrase
    """
    parser.add_argument("name", metavar="NAME", help="the party's name: letters, digits, - and _")
    parser.add_argument("--dir", type=Path, required=True, metavar="D", help="the party's folder")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="DNS name or IP address at which the other party reaches this one; may be repeated "
        f"(default: {', '.join(DEFAULT_HOSTS)})",
    )
    parser.add_argument(
        "--seal",
        choices=list(SOURCES),
        help="keep the keys in one file that opens by a passphrase (from the terminal, or the file that "
        "COTALLY_PASSPHRASE_FILE names) or by the system's keyring",
    )
    said = f"length of the Paillier key, {KEY_FLOOR} or more (default: %(default)s)"
    parser.add_argument("--key-bits", type=int, default=USUAL_KEY_BITS, metavar="N", help=said)
    add_json(parser)


def declare_trust(parser: argparse.ArgumentParser) -> None:
    """Trust the key of the other party's certificate, and no other.

    A run accepts only this key at the other end, and certificates that it has signed for itself. A pinned key is
    only as trustworthy as the channel it came by: compare fingerprints over another one, such as the telephone.

    Examples:
      cotally trust alice bob-cert.pem
    """
    add_party(parser)
    parser.add_argument("certificate", type=Path, metavar="peer-cert.pem")
    add_json(parser)


def declare_pair(parser: argparse.ArgumentParser) -> None:
    """Trust each other's certificates by a short code that two people read to each other, as by telephone.

    The side that listens (its settings have no [node] address) shows a code, valid for ten minutes and for one
    try; the side that calls types it in. Both then trust each other, with no fingerprints to compare.

    Examples:
      cotally pair alice
    """
    add_party(parser)
    add_json(parser)


def declare_keys(parser: argparse.ArgumentParser) -> None:
    """Look after a party's keys: seal them on the disk, or renew its certificate.

    Sealed keys open by a passphrase, which is asked for at the terminal, or read from the file that
    COTALLY_PASSPHRASE_FILE names (systemd: the credential cotally.passphrase); or by the system's keyring. A
    renewed certificate is over the same key, so the party stays the same: a node that serves takes it up without
    being stopped, and the other side accepts it.

    Examples:
      cotally keys seal alice
      cotally keys renew alice --host node.example.org
    """
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


def declare_upgrade(parser: argparse.ArgumentParser) -> None:
    """Upgrade a folder of an older release: a party's, or that of a survey.

    Copies files to a folder before-..., changes them, and shows what became of each. The journal, the answers of a
    survey and unused keys are not copied, because what they hold is meant to be deleted. The ledger keeps what was
    revealed. A folder that cannot be upgraded is left as it is.

    Examples:
      cotally upgrade alice --dry-run
      cotally upgrade alice
    """
    parser.add_argument("folder", type=Path, metavar="DIR", help="a party's folder, or one with a survey.toml")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
    add_json(parser)


def declare_doctor(parser: argparse.ArgumentParser) -> None:
    """Find what keeps two parties from meeting: settings, keys, name, port, TLS, certificates, versions, clocks.

    Run it where `cotally train` will run, while the other side serves. The other side is asked for its own view, by
    a small call over the same connection; no run begins, and nothing of the data is read.

    Examples:
      cotally doctor bob
    """
    add_party(parser)
    add_json(parser)
