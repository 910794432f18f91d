"""Parties with an identity and keys of their own, in a folder, without the command that asks for them."""

from collections.abc import Sequence
from pathlib import Path

from party.files import write_new
from party.keys.certificates import Clock, utc_now
from party.keys.identity import CERTIFICATE_FILE, KEY_FILE, Identity, make_identity
from party.keys.keystore import make_keys
from party.keys.passphrase import write_secret
from party.names import DEFAULT_HOSTS


def create_identity(
    directory: Path, party_name: str, hosts: Sequence[str] = DEFAULT_HOSTS, *, clock: Clock = utc_now
) -> Identity:
    """Make a key and a certificate for a party that is reached under these DNS names and IP addresses."""
    identity = make_identity(party_name, hosts, clock=clock)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_new(directory / KEY_FILE, identity.key_pem, 0o600)
    write_new(directory / CERTIFICATE_FILE, identity.pem, 0o644)
    return identity


def create_keys(folder: Path, bits: int, floor_bits: int = 2048) -> None:
    """Make all secrets in a folder."""
    for name, data in make_keys(bits, floor_bits).items():
        write_secret(folder / name, data)
