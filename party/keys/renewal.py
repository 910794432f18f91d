"""Certificates renewed over the same key: who has a new one stays the same party, for itself and for its peers.

The key is the party's for its life. One that must change, because somebody else may have it, is no renewal: who has it
could sign any statement that it gives way to another, so none is believed. Such a party is made and trusted anew.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from party.errors import IdentityError
from party.files import write_atomically
from party.keys.certificates import Clock, Peer, general_name, self_signed, utc_now
from party.keys.identity import CERTIFICATE_FILE, Identity, load_certificate, load_peer, peer_file, read_identity


def renew(folder: Path, hosts: Sequence[str] | None = None, *, clock: Clock = utc_now) -> Identity:
    """Make a new certificate over a party's key, in the place of the one that it has, which may have expired.

    Args:
        folder: The party's.
        hosts: DNS names and IP addresses under which it is reached; those of the one before unless given.
        clock: Tells the date.

    Raises:
        IdentityError: The identity cannot be read, or a host is not legal.
        InputError: The folder cannot be written.
    """
    before = read_identity(folder)
    names = [general_name(host) for host in hosts or before.hosts]
    after = before.with_certificate(self_signed(before.key, before.name, names, clock()))
    write_atomically(folder / CERTIFICATE_FILE, after.pem)
    return after


class Latest:
    """A party's identity with the certificate that its folder holds now: `renew` may run beside a node that serves.

    Args:
        folder: The party's.
        identity: What was read at the start; its key is kept.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._path, self._identity = folder / CERTIFICATE_FILE, identity

    def __call__(self) -> Identity:
        """Return it; the one before where the file cannot be used, which is told when a command starts."""
        with suppress(IdentityError):
            self._identity = self._identity.with_certificate(load_certificate(self._path))
        return self._identity


def keep_renewed(folder: Path, peer: Peer) -> None:
    """Keep the certificate that a peer has renewed, so that its dates and hosts are known here too.

    NB: whoever shows an older one, which is still within its dates, changes nothing.

    Raises:
        InputError: The folder cannot be written.
    """
    known = load_peer(folder, peer.name)
    after = known.renewed_as(peer.certificate).certificate
    if after != known.certificate and after.not_valid_after_utc >= known.certificate.not_valid_after_utc:
        write_atomically(peer_file(folder, peer.name), peer.pem)
