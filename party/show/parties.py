"""A party and its peer in words: what was made, what was trusted, what comes next."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from party.keys.certificates import Peer
from party.show.layout import Block, meanings

ASK_FOR_CODE = "Code that the other side shows: "


def made_lines(name: str, fingerprint: str, folder: Path, *, is_sealed: bool = False) -> list[Block]:
    """Say what a new party's folder holds."""
    secrets = "sealed.keys" if is_sealed else "key.pem, secret.key, paillier.key"
    return [
        f"Made party {name} in {folder}:",
        meanings(
            [
                ("cert.pem", "give it to the other party"),
                ("party.toml", "say there where the data are and what you agree to"),
                ("job.toml, job-*.toml", "for the party that calls: what to learn, one file for each kind"),
                (secrets, "keep them secret, and keep a backup"),
            ],
            indent=2,
        ),
        f"Fingerprint of {name}'s key (SHA-256), for the other party to compare by telephone:",
        f"  {fingerprint}",
        f"Next: get the other party's cert.pem and run `cotally trust {folder} PEER-CERT.pem`; or, talking to each",
        f"  other, both run `cotally pair {folder / 'party.toml'}`",
    ]


def trusted_lines(name: str, hosts: Sequence[str], fingerprint: str, folder: Path, peer: str | None) -> list[str]:
    """Say whom the party of this folder, whose settings name this peer, trusts from now on."""
    told = [
        f"Trusted: {name}, reached as {', '.join(hosts)}. Fingerprint of its key (SHA-256):",
        f"  {fingerprint}",
        f"Compare it with {name} by telephone before the first run; if it differs, remove",
        f"  {folder / 'peers' / (name + '.pem')}",
    ]
    settings = folder / "party.toml"
    if peer == name:
        return [
            *told,
            f"Next: {settings} names it as the peer; the party that calls, by `cotally train`, sets its address",
        ]
    return [
        *told,
        f'Next: under [node] in {settings} set peer = "{name}"; the party that calls, by `cotally train`,',
        "  also sets the other's address; the party that listens needs none",
    ]


def code_lines(code: str, address: str, seconds: float) -> list[str]:
    """Say the code that the other side needs, and for how long."""
    host, _, port = address.rpartition(":")
    where = f"on port {port} of this machine" if host in {"0.0.0.0", "[::]"} else f"at {address}"  # noqa: S104
    return [
        f"Code: {code}",
        f"Tell it to the other party, and to nobody else; its `cotally pair` asks for it, and reaches us {where}.",
        f"It may be tried once, within {seconds / 60:g} minutes",
    ]


def paired_lines(name: str, fingerprint: str, settings: Path, is_named: bool) -> list[str]:
    """Say whom the party trusts from now on, by a code."""
    told = [
        f"Paired with {name}: both sides trust each other. Fingerprint of its key (SHA-256):",
        f"  {fingerprint}",
    ]
    return told if is_named else [*told, f'Next: under [node] in {settings} set peer = "{name}"']


def expiry_lines(parties: Iterable[Peer], now: datetime) -> list[str]:
    """Say whose certificates expire soon or have expired; nothing where none does."""
    return [
        f"cotally: note: the certificate of {party.name} {_end(party, left)}: `cotally keys renew` at its side makes a "
        "new one over the same key, which the other side accepts while both go on"
        for party in parties
        if (left := party.days_left(now)) is not None
    ]


def _end(party: Peer, left: int) -> str:
    date = f"{party.certificate.not_valid_after_utc:%Y-%m-%d}"
    return f"expired on {date}" if left < 0 else f"expires on {date}, in {left} days"


def renewed_lines(own: Peer) -> list[str]:
    """Say which certificate a party has from now on."""
    date, hosts = f"{own.certificate.not_valid_after_utc:%Y-%m-%d}", ", ".join(own.hosts)
    return [
        f"Renewed: the certificate of {own.name} is valid until {date}, for {hosts}.",
        "A node that serves shows it from the next connection on; the other side accepts it, for the key is the same",
    ]


def sealed_lines(folder: Path, *, is_sealed: bool, by: str) -> list[str]:
    """Say how a folder's secrets lie on the disk from now on, and what opens them."""
    if not is_sealed:
        return [f"Unsealed: the keys in {folder} lie in files of their own again, readable by you alone"]
    opens = "one of this machine's keyring" if by == "keyring" else "the passphrase elsewhere"
    return [
        f"Sealed: the keys in {folder} lie in sealed.keys alone. Keep a backup of it, and {opens}:",
        "without it the keys are lost. What the disk or a backup holds of the files before is yours to delete",
    ]


def party_json(name: str, hosts: Sequence[str], fingerprint: str) -> dict[str, object]:
    """Return for programs who a party is: that was made, trusted or whose certificate was renewed."""
    return {"format": "cotally-party/1", "name": name, "hosts": list(hosts), "fingerprint": fingerprint}
