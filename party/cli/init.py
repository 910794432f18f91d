"""Make a party: its keys, its certificate, and a settings file to fill in.

Nothing that exists is overwritten, and where something fails nothing is left behind.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from party.config import KEY_CEILING, KEY_FLOOR, USUAL_KEY_BITS
from party.errors import IdentityError
from party.identity import DEFAULT_HOSTS, Identity, create_identity
from party.keystore import create_keys
from party.template import party_toml
from protocols.errors import InputError

SUMMARY = "make a party: keys, certificate, settings"

CONFIG_FILE = "party.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="the party's name: letters, digits, - and _")
    parser.add_argument("--dir", type=Path, required=True, metavar="D", help="the party's folder")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="DNS name or IP address under which the other party reaches this one; may be repeated "
        f"(default: {', '.join(DEFAULT_HOSTS)})",
    )
    parser.add_argument(
        "--key-bits",
        type=int,
        default=USUAL_KEY_BITS,
        metavar="N",
        help=f"length of the Paillier key, {KEY_FLOOR} or more (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make it and say what to do next."""
    folder: Path = arguments.dir
    identity = create_party(folder, arguments.name, arguments.host or DEFAULT_HOSTS, arguments.key_bits)
    print(f"Made party {identity.name} in {folder}:")
    print("  cert.pem      give it to the other party")
    print("  party.toml    say there where the data are and what you agree to")
    print("  key.pem, secret.key, paillier.key    keep them secret, and keep a backup")
    print(f"Fingerprint of {identity.name} (SHA-256), for the other party to compare by telephone:")
    print(f"  {identity.fingerprint}")
    print(f"Next: get the other party's cert.pem and run `cotally trust {folder} PEER-CERT.pem`")
    return 0


def create_party(
    folder: Path, name: str, hosts: list[str] | tuple[str, ...], key_bits: int, floor_bits: int = KEY_FLOOR
) -> Identity:
    """Make identity, keys and settings in a folder: all of them, or nothing.

    Raises:
        IdentityError: The name, a host or the key length is not possible, or a file is there already.
        InputError: The folder cannot be written.
    """
    if not floor_bits <= key_bits <= KEY_CEILING:
        raise IdentityError(f"the key must have {floor_bits} to {KEY_CEILING} bits")
    try:
        existed = folder.exists()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as temporary:
                staged = Path(temporary)
                identity = create_identity(staged, name, hosts)
                create_keys(staged, key_bits, floor_bits)
                (staged / CONFIG_FILE).write_text(party_toml(name, key_bits), encoding="utf-8")
                _move_all(staged, folder)
        except BaseException:
            if not existed:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or 'output error'}") from None
    return identity


def _move_all(source: Path, target: Path) -> None:
    """Move files into a folder, none of them over another."""
    names = sorted(path.name for path in source.iterdir())
    for name in names:
        if (target / name).exists():
            raise IdentityError(f"{target / name} exists and is kept: choose another folder")
    for name in names:
        (source / name).rename(target / name)
