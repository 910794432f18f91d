"""A party and its peer in words: what was made, what was trusted, what comes next."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from party.keys.certificates import Peer
from party.keys.identity import Identity
from party.names import printable
from party.node.doctor import Diagnosis, Layer
from party.node.players import Matched
from party.node.upgrades import Altered, Change
from party.show.document import Pairs, ReportPart

ASK_FOR_CODE = "Code that the other side shows: "


def made_lines(name: str, fingerprint: str, folder: Path, *, is_sealed: bool = False) -> list[ReportPart]:
    secrets = "sealed.keys" if is_sealed else "key.pem, secret.key, paillier.key"
    return [
        f"Made party {name} in {folder}:",
        Pairs(
            [
                ("cert.pem", "give it to the other party"),
                ("party.toml", "set the data file and what you agree to"),
                ("job.toml, job-*.toml", "for the party that calls: what to learn, one file for each kind"),
                (secrets, "keep them secret, and keep a backup"),
            ],
            indent=2,
        ),
        f"Fingerprint of {name}'s key (SHA-256), for the other party to compare by telephone:",
        f"  {fingerprint}",
        f"Next: at the party that calls, by `cotally train`, set `[node] address` in {folder / 'party.toml'} to the",
        f"  other's address. At both, get the other's cert.pem and run `cotally trust {folder} PEER-CERT.pem`;",
        f"  or, talking to each other, both run `cotally pair {folder}`",
    ]


def trusted_lines(name: str, hosts: Sequence[str], fingerprint: str, folder: Path, peer: str | None) -> list[str]:
    rows = [
        f"Trusted: {name}, reached as {', '.join(hosts)}. Fingerprint of its key (SHA-256):",
        f"  {fingerprint}",
        f"Compare it with {name} by telephone before the first run; if it differs, remove",
        f"  {folder / 'peers' / (name + '.pem')}",
    ]
    settings = folder / "party.toml"
    if peer == name:
        named = f"Next: {settings} names it as the peer; the party that calls, by `cotally train`, sets its address"
        return [*rows, named]
    return [
        *rows,
        f'Next: under [node] in {settings} set peer = "{name}"; the party that calls, by `cotally train`,',
        "  also sets the other's address; the party that listens needs none",
    ]


def code_lines(code: str, address: str, seconds: float) -> list[str]:
    host, _, port = address.rpartition(":")
    where = f"on port {port} of this machine" if host in {"0.0.0.0", "[::]"} else f"at {address}"  # noqa: S104
    return [
        f"Code: {code}",
        f"Give it to the other party, and to nobody else; its `cotally pair` asks for it, and reaches us {where}.",
        f"It may be tried once, within {seconds / 60:g} minutes. We listen, as our [node] address is not set.",
    ]


def other_host_note(problem: str) -> str:
    return f"cotally: note: {problem}"


def paired_lines(name: str, fingerprint: str, settings: Path, is_named: bool) -> list[str]:
    lines = [f"Paired with {name}: both sides trust each other. Fingerprint of its key (SHA-256):", f"  {fingerprint}"]
    return lines if is_named else [*lines, f'Next: under [node] in {settings} set peer = "{name}"']


def expiry_lines(parties: Iterable[Peer], now: datetime) -> list[str]:
    lines = []
    for party in parties:
        if (left := party.days_left(now)) is not None:
            date = f"{party.certificate.not_valid_after_utc:%Y-%m-%d}"
            end = f"expired on {date}" if left < 0 else f"expires on {date}, in {left} days"
            new = "`cotally keys renew` at its side makes a new one over the same key, which the other side accepts"
            lines.append(f"cotally: note: the certificate of {party.name} {end}: {new} while both go on")
    return lines


def renewed_lines(own: Peer) -> list[str]:
    date, hosts = f"{own.certificate.not_valid_after_utc:%Y-%m-%d}", ", ".join(own.hosts)
    return [
        f"Renewed: the certificate of {own.name} is valid until {date}, for {hosts}.",
        "A node that serves shows it at the next connection; the other side accepts it because the key is the same",
    ]


def sealed_lines(folder: Path, *, is_sealed: bool, by: str) -> list[str]:
    if not is_sealed:
        return [f"Unsealed: the keys in {folder} are in files of their own again, readable only by you"]
    opens = "one of this machine's keyring" if by == "keyring" else "the passphrase elsewhere"
    return [
        f"Sealed: the keys in {folder} are only in sealed.keys. Keep a backup of it, and {opens}:",
        "without it the keys are lost. Delete earlier copies from disk and backups yourself",
    ]


_CHANGES: Final[Mapping[Altered, str]] = {
    Altered.LEDGER: "version {} becomes {}, and keeps all entries",
    Altered.RELEASES: "goes into the ledger (data sets: {}); 0.1 listed no counts",
    Altered.JOURNAL: "version {} becomes {}; runs that are given up: {}",
    Altered.MODEL: "a {} is written in today's form",
    Altered.UNUSED: "goes: nothing uses it now",
    Altered.SETTINGS: "comments in place of {}, with what to use",
    Altered.ANSWERS: "version {} becomes {}; a link that has answered answers no more",
}


def _changed(change: Change) -> str:
    words = _CHANGES[change.of]
    single, rest = change.about[: words.count("{}") - 1], change.about[words.count("{}") - 1 :]
    return words.format(*single, ", ".join(map(str, rest)) or "none")


def upgrade_lines(folder: Path, found: Sequence[Change], copies: Path, *, is_tried: bool) -> list[ReportPart]:
    if not found:
        return [f"{folder} is of this release already: nothing to do"]
    head = f"`cotally upgrade {folder}` would change:" if is_tried else f"Changes in {folder}:"
    lines: list[ReportPart] = [head, Pairs([(printable(each.file), _changed(each)) for each in found], indent=2)]
    copied = ", ".join(printable(each.file) for each in found if each.copied)
    if not copied:
        return lines
    return [
        *lines,
        f"It would first copy to {copies}: {copied}" if is_tried else f"Copies of the old files, in {copies}: {copied}",
    ]


def upgrade_json(folder: Path, found: Sequence[Change], copies: Path | None) -> dict[str, object]:
    changes = [{"file": each.file, "of": each.of, "what": _changed(each)} for each in found]
    return {"format": "cotally-upgrade/1", "folder": str(folder), "changes": changes, "copies": copies}


def party_json(who: Identity | Peer) -> dict[str, object]:
    return {"format": "cotally-party/1", "name": who.name, "hosts": who.hosts, "fingerprint": who.fingerprint}


_WIDTH: Final = max(len(layer.value) for layer in Layer) + 2
_SEEN: Final[Mapping[Layer, str]] = {
    Layer.SETTINGS: "{} is that of {}",
    Layer.KEYS: "ours are sound; our certificate is valid until {}, for {}",
    Layer.TRUST: "{} is trusted, with the key {}",
    Layer.LISTENING: "nobody listens on {} yet: start `cotally serve` before the other party calls",
    Layer.NAME: "{} is {}",
    Layer.PORT: "somebody listens at {}",
    Layer.TLS: "it speaks {}",
    Layer.PIN: "it is {}, with the key that we trust; its certificate is valid until {}, for {}",
    Layer.WELCOME: "{} lets us in, as {}",
    Layer.VERSION: "we run cotally {}, the other side {}",
    Layer.CLOCK: "both agree within {} s",
}
_LISTENS: Final = "our node listens on {} for {}"
_BUSY: Final = "; a session runs there at present"


def diagnosis_line(found: Diagnosis) -> str:
    if found.error is not None:
        text = f"FAILS: {found.error}"
    elif not found.seen:
        text = "not tried"
    elif found.layer is Layer.LISTENING and len(found.seen) == 2:
        text = _LISTENS.format(*found.seen)
    else:
        busy = _BUSY if found.layer is Layer.WELCOME and found.seen[2:] else ""
        text = _SEEN[found.layer].format(*found.seen) + busy
    return f"{found.layer.value:<{_WIDTH}}{text}"


def diagnoses_json(layers: Sequence[Diagnosis]) -> dict[str, object]:
    said = [{"layer": each.layer.value, "seen": each.seen, "error": each.error and str(each.error)} for each in layers]
    return {"format": "cotally-doctor/1", "layers": said}


def unread_line(config: Path) -> str:
    return f"The table was not read: `cotally check {config}` does that."


def matched_lines(matched: Matched) -> Iterator[str]:
    peer, overlap = matched.peer, matched.overlap
    lists = f"{overlap.mine:,} people here, {overlap.yours:,} at {peer}"
    yield f"Aligned with {peer}: {lists}, {overlap.both:,} on both lists"
    if overlap.both == overlap.mine == overlap.yours:
        yield "Both list the same people, in whatever order the files have them"
        return
    if overlap.alike:
        more = ", ".join(overlap.alike)
        yield f"They are the same people in another spelling: add to [data] id_alike, on both sides, {more}"
    elif 2 * overlap.both < min(overlap.mine, overlap.yours):
        look = matched.look
        if look.shapes:
            how = "(9 for a digit): does the peer write its ids differently?"
            yield f"Ours look like {' or '.join(look.shapes)} {how}"
        if look.unpadded:
            yield "Ours have no zeros in front: if these were lost, add zeros to [data] id_alike on both sides"
    if not matched.named:
        yield "Neither side learned which: without --count-only each side learns which of its own are common"
        return
    here, there = overlap.mine - overlap.both, overlap.yours - overlap.both
    out = "are not classified" if matched.rows else "are left out"
    yield f"{here:,} rows here and {there:,} at {peer} are on one list only and {out}"


def matched_json(matched: Matched) -> dict[str, object]:
    overlap = matched.overlap
    numbers = {"here": overlap.mine, "there": overlap.yours, "both": overlap.both}
    head = {"format": "cotally-matched/1", "peer": matched.peer}
    return {**head, **numbers, "named": matched.named, "alike": overlap.alike}
