"""Bring the folder of an older release on to this one: one step per store and version (FORMATS, "Older releases").

No step changes or drops what a ledger says. Its entries keep their digests, so the peer finds the end that it was last
shown, and what an older release noted in another way is added in the words of this one: what was refused before is
refused afterwards (DESIGN 14). All is read before anything is written, so a folder that cannot be brought on is left as
it is. Each file changes as a whole, after a copy of it is on the disk, and a step that was cut off is done again.

The journal is not copied, since it holds what is deleted when a run ends, and to lose it costs time alone.
"""

import filecmp
import hmac
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256

from party.errors import ConfigError
from party.files import OLD_RECORD, FolderLock, is_there, kept_apart, read_bytes, sync_folder, write_atomically
from party.keys.identity import load_peers
from party.keys.keystore import load_secret
from party.models.strict_json import ModelError
from party.models.tree_file import FIRST_TREE, tree_json, tree_of_first
from party.records.database import DatabaseKind, version_problem
from party.records.journal import JOURNAL, JOURNAL_FILE, Journal, cancel_run, open_journal, read_journal
from party.records.ledger import (
    LEDGER,
    LEDGER_FILE,
    Ledger,
    PeerEntries,
    PeerName,
    date_text,
    has_ledger,
    now,
    open_ledger,
    read_ledger,
)
from party.records.ledger_entries import UNLISTED, ReleaseEntry, RunEntry, SetsEntry
from party.records.releases import CONTRAST, released
from party.settings.job import GONE_TERMS
from party.settings.party import GONE_NUMBER, GONE_SETTINGS
from party.settings.place import CONFIG_FILE
from party.settings.toml import read_toml
from protocols.facts import Way
from protocols.randomness import keyed_digest

_MOST_BYTES: Final = 1 << 26
_FORMAT: Final = "cotally-releases/2"
_UNUSED: Final = ("curve.key", "*.store")


class Altered(StrEnum):
    """What an upgrade changes."""

    LEDGER = "ledger"
    RELEASES = "releases"
    JOURNAL = "journal"
    MODEL = "model"
    UNUSED = "unused"
    SETTINGS = "settings"
    ANSWERS = "answers"


@dataclass(frozen=True)
class Change:
    """What becomes of a file, and what is said of that; `copied` unless a copy would keep what shall go."""

    file: str
    of: Altered
    about: tuple[object, ...] = ()
    copied: bool = False


@dataclass(frozen=True)
class FileChange(Change):
    """A change of a file in the folder, and what makes it."""

    make: Callable[[FolderLock], None] = field(kw_only=True)


def changes(folder: Path) -> list[FileChange]:
    """Return what an upgrade of this folder does, in its order; nothing for one of this release."""
    return [*_records(folder), *_models(folder), *_files(folder), *_settings(folder)]


def copies_of(folder: Path) -> Path:
    """Return where an upgrade keeps what it changes."""
    return folder / f"before-{version('cotally')}"


def upgrade(held: FolderLock, wanted: Iterable[FileChange]) -> None:
    """Copy the files that change, then change them.

    A copy of a ledger that is there is that of the first time, of which a step was cut off. Other files change as a
    whole: where a copy that is there differs, another one is made under a name that is free.
    """
    wanted, copies = list(wanted), copies_of(held.folder)
    kept = [held.folder / change.file for change in wanted if change.copied]
    try:
        copies.mkdir(mode=0o700, exist_ok=True)
        if any(each.is_symlink() for each in (copies, *copies.iterdir())):
            raise ConfigError(f"{copies} is a link, or holds one: move it away, then try again; nothing was changed")
        for path in (each for file in kept for each in (file, file.with_name(f"{file.name}-wal"))):
            apart = kept_apart(copies / path.name, partial(_is_copy, path))
            if is_there(path) and not is_there(apart):
                partly = copies / f".{path.name}"
                shutil.copy2(path, partly)
                with partly.open("rb") as copy:
                    os.fsync(copy.fileno())
                partly.rename(apart)
        sync_folder(copies)
    except OSError as error:
        raise ConfigError(f"{copies} cannot be written: {error.strerror}; nothing was changed") from None
    for change in wanted:
        change.make(held)


def _is_copy(path: Path, copy: Path) -> bool:
    return path.name.startswith(LEDGER_FILE) or not is_there(path) or filecmp.cmp(path, copy, shallow=False)


def _records(folder: Path) -> Iterator[FileChange]:
    ledger, journal = folder / LEDGER_FILE, folder / JOURNAL_FILE
    before = _version(ledger, LEDGER, _LEDGER_STEPS) if has_ledger(folder) else LEDGER.version
    if before != LEDGER.version:
        secret = load_secret(folder)
        read_ledger(folder, secret, before).close()
        yield FileChange(LEDGER_FILE, Altered.LEDGER, (before, LEDGER.version), copied=True, make=_bring_ledger)
    if is_there(folder / OLD_RECORD):
        found = _read_releases(folder, load_secret(folder))
        yield FileChange(OLD_RECORD, Altered.RELEASES, tuple(found), copied=True, make=partial(_import, found))
    before = _version(journal, JOURNAL, _JOURNAL_STEPS) if is_there(journal) else JOURNAL.version
    if before != JOURNAL.version:
        with read_journal(folder, load_secret(folder), before) as read:
            open_runs = [each.run for each in read.runs() if each.is_open]
        yield FileChange(JOURNAL_FILE, Altered.JOURNAL, (before, JOURNAL.version, *open_runs), make=_bring_journal)


def _version(path: Path, kind: DatabaseKind, steps: Mapping[int, object]) -> int:
    found = kind.version_of(path)
    if found == kind.version or found in steps:
        return found
    if found > kind.version:
        raise ConfigError(version_problem(path, f"a {kind.name}", found, kind.version))
    raise ConfigError(f"{path} is a {kind.name} of version {found}, which no release had: restore the latest backup")


def _bring_ledger(held: FolderLock) -> None:
    secret = load_secret(held.folder)
    for before in range(LEDGER.version_of(held.folder / LEDGER_FILE), LEDGER.version):
        with open_ledger(held, secret, before) as ledger:
            _LEDGER_STEPS[before](ledger)
            ledger.become(before + 1)


def _ledger_of_0_2(ledger: Ledger) -> None:
    """Mark copies whose theta meant a contrast, and count as sets the records by which trees were pruned."""
    entries = list(ledger.entries())
    runs = {said.run: said for said in (entry.noted for entry in entries) if isinstance(said, RunEntry)}
    there = [entry.noted for entry in entries]
    for entry in entries:
        said = entry.noted
        new: ReleaseEntry | SetsEntry | None = None
        if isinstance(said, ReleaseEntry) and "theta" in said.fields:
            new = ReleaseEntry(said.dataset, dict(CONTRAST), {})
        elif entry.content["kind"] == "pruning":
            new = _pruning(entry.content, runs[entry.content["run"]])
        if new is not None and new not in there:
            PeerEntries(ledger, entry.peer).write(new)


def _pruning(content: Mapping[str, Any], run: RunEntry) -> SetsEntry:
    """Return the counts of a pruning as those of sets: one number for what was claimed of the nodes of a group."""
    label, counts = f"{run.label.owners[0]}.{run.agreed.class_name}", content["counts"]
    items = (((*map(tuple, each["path"]), (label, each["class"])) for each in claims) for claims in content["claims"])
    sets = tuple(tuple(item for claim in group for item in claim) for group in items)
    return SetsEntry(run.dataset, run.run, Way(content["way"]), sets, None if counts is None else tuple(counts))


_LEDGER_STEPS: Final[Mapping[int, Callable[[Ledger], None]]] = {2: _ledger_of_0_2}


def _read_releases(folder: Path, secret: bytes) -> dict[str, dict[str, Any]]:
    """Read what 0.1 kept, and name each peer by its key, as a ledger does: 0.1 did by its certificate."""
    path = folder / OLD_RECORD
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
        found, check = content["releases"], content["check"]
        told = json.dumps(found, sort_keys=True).encode()
        fits = content["format"] == _FORMAT and hmac.compare_digest(
            keyed_digest(secret, b"releases", told).hex(), check
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        fits = False
    if not fits:
        raise ConfigError(
            f"{path} is damaged or edited, or belongs to another secret.key: restore it from a backup; it must not be "
            "lost"
        )
    keys = {
        (name, peer.certificate.fingerprint(SHA256()).hex().upper()): peer.fingerprint
        for name, peer in load_peers(folder).items()
    }
    for dataset, fields in found.items():
        name, shown = fields["party"]
        key = keys.get((name, shown.replace(" ", "")))
        if key is None:
            raise ConfigError(
                f"data set {dataset!r} was released to {name}, whose certificate of that time is not in "
                f"{folder / 'peers'}: put it back as {name}.pem, then run `cotally upgrade {folder}` again"
            )
        fields["party"] = [name, key]
    return dict(found)


def _import(found: Mapping[str, Mapping[str, Any]], held: FolderLock) -> None:
    secret = load_secret(held.folder)
    with open_ledger(held, secret) as ledger:
        known = released(ledger.entries())
        for dataset, fields in found.items():
            of_copy = CONTRAST if "theta" in fields else {}
            every = {**fields, **of_copy, UNLISTED: "0.1"}
            new = {name: value for name, value in every.items() if name not in known.get(dataset, {})}
            if new:
                PeerEntries(ledger, PeerName(*fields["party"])).write(ReleaseEntry(dataset, new, {"exact": ""}))
    (held.folder / OLD_RECORD).unlink()


def _bring_journal(held: FolderLock) -> None:
    secret = load_secret(held.folder)
    for before in range(JOURNAL.version_of(held.folder / JOURNAL_FILE), JOURNAL.version):
        with open_journal(held.folder, secret, before) as journal:
            _JOURNAL_STEPS[before](journal)
            journal.become(before + 1)


def _journal_of_0_2(journal: Journal) -> None:
    """Give up what has not ended: the rest would be counted and disguised otherwise than it began."""
    for run in journal.runs():
        if run.is_open:
            cancel_run(journal, run.run, date_text(now()))


_JOURNAL_STEPS: Final[Mapping[int, Callable[[Journal], None]]] = {2: _journal_of_0_2}


def _models(folder: Path) -> Iterator[FileChange]:
    """Write trees of 0.1 in the form of now; later ones are read as they are."""
    for path in sorted(folder.glob("*.json")):
        data = read_bytes(path, _MOST_BYTES) if path.is_file() and path.stat().st_size <= _MOST_BYTES else b""
        if f'"{FIRST_TREE}"'.encode() not in data[:100]:
            continue
        try:
            text = tree_json(tree_of_first(data))
        except ModelError as error:
            raise ConfigError(f"{path} is damaged: {error}; restore it from a backup, or move it away") from None
        yield FileChange(path.name, Altered.MODEL, (FIRST_TREE,), copied=True, make=partial(_write, path.name, text))


def _files(folder: Path) -> Iterator[FileChange]:
    for path in sorted(path for pattern in _UNUSED for path in folder.glob(pattern)):
        yield FileChange(path.name, Altered.UNUSED, make=partial(_remove, path.name))  # no copy: they hold secrets


def _remove(name: str, held: FolderLock) -> None:
    (held.folder / name).unlink()


def _settings(folder: Path) -> Iterator[FileChange]:
    """Turn keys that are gone into comments, in the settings and in the jobs beside them."""
    for path in sorted(folder.glob("*.toml")):
        try:
            text = read_bytes(path, _MOST_BYTES).decode()
            read = tomllib.loads(text)
        except (UnicodeError, tomllib.TOMLDecodeError):
            if path.name == CONFIG_FILE:
                read_toml(path, None)  # which says what is wrong
            continue
        gone: Mapping[str, Mapping[str, str]] = GONE_SETTINGS if path.name == CONFIG_FILE else {"": GONE_TERMS}
        if path.name == CONFIG_FILE and isinstance(_inside(read, "disguise").get("groups"), int):
            gone = {**gone, "disguise": GONE_NUMBER}
        after, keys = text, []
        for place, key, why in ((place, key, why) for place, each in gone.items() for key, why in each.items()):
            if key not in _inside(read, place):
                continue
            try:
                after = without(after, place, key, why)
            except ValueError:
                where = f"[{place}] {key}" if place else key
                raise ConfigError(f"{path}: {where} stands on no line of its own: take it out ({why})") from None
            keys.append(key)
        if keys:
            yield FileChange(
                path.name, Altered.SETTINGS, tuple(keys), copied=True, make=partial(_write, path.name, after)
            )


def _inside(read: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    table = read.get(place, {}) if place else read
    return table if isinstance(table, Mapping) else {}


def _write(name: str, text: str, held: FolderLock) -> None:
    write_atomically(held.folder / name, text)


def without(text: str, place: str, key: str, why: str) -> str:
    r"""Return the text of a file in which a key under [place], or at its top, is a comment; as it is without the key.

    `ValueError`: the key is written in another way than on lines of its own.

    >>> print(without('[agree]\nranks = ["gains",\n  "copies"]\nodds = 2\n', "agree", "ranks", "gone"), end="")
    [agree]
    # gone:
    # ranks = ["gains",
    #   "copies"]
    odds = 2
    """
    before = tomllib.loads(text)
    table = before.get(place, {}) if place else before
    if not isinstance(table, dict) or key not in table:
        return text
    del table[key]
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if re.match(rf"\s*{re.escape(key)}\s*=", line)]
    for start, end in ((at, to) for at in starts for to in range(at + 1, len(lines) + 1)):
        comment = [f"# {why}:", *(f"# {line}" for line in lines[start:end])]
        after = "\n".join([*lines[:start], *comment, *lines[end:]])
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(after) == before:
                return after
    raise ValueError
