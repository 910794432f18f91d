"""A party and its peer: `init`, `trust`, `pair`, `keys`, `doctor`; and `upgrade`, of a survey's folder too."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509

from party.cli.outputs import give
from party.errors import ConfigError, IdentityError
from party.files import check_own_folder, is_there, locked_folder
from party.keys.certificates import Peer, about
from party.keys.identity import load_identity, pin, renew, trust
from party.keys.pairing import new_code, read_spoken_code
from party.keys.passphrase import SOURCES
from party.keys.sealing import seal_keys, unseal_keys
from party.names import DEFAULT_HOSTS, Address
from party.node.creation import create_party
from party.node.doctor import ANY_ADDRESS, Examination
from party.node.upgrades import Altered, Change, changes, copies_of, upgrade
from party.settings.collector import read_collector_settings
from party.settings.collector_template import SETTINGS_FILE
from party.settings.party import PartyConfig, read_party_config
from party.settings.place import CONFIG_FILE, party_folder, settings_file
from party.settings.template import party_files
from party.show import parties
from party.show.parties import upgrade_json, upgrade_lines
from party.show.screen import note, put_json, say, say_all
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import STORE_VERSION
from party.transport.grpc.pairing import CODE_SECONDS, PairingServer, pair
from party.transport.grpc.probe import check_host
from protocols.errors import InputError


def command_init(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.dir
    source = None if arguments.seal is None else SOURCES[arguments.seal]
    settings = party_files(arguments.name, arguments.key_bits)
    identity = create_party(
        folder, arguments.name, arguments.host or DEFAULT_HOSTS, arguments.key_bits, settings, sealed_by=source
    )
    lines = parties.made_lines(identity.name, identity.fingerprint, folder, is_sealed=source is not None)
    return give(arguments, parties.party_json(identity), lines)


def command_trust(arguments: argparse.Namespace) -> int:
    folder = party_folder(arguments.party)
    peer = trust(folder, arguments.certificate)
    lines = parties.trusted_lines(peer.name, peer.hosts, peer.fingerprint, folder, _peer_named(folder))
    return give(arguments, parties.party_json(peer), lines)


def _peer_named(folder: Path) -> str | None:
    """Return the peer that the settings name, if they do; whether they are right is for others to say."""
    try:
        return read_party_config(folder / CONFIG_FILE).node.peer
    except InputError:
        return None


def command_pair(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party)
    with locked_folder(config.folder):
        address = config.node.address
        peer = _listen(config) if address is None else _call(config, str(address))
        if address is not None:
            _note_other_host(peer, address)
    lines = parties.paired_lines(peer.name, peer.fingerprint, config.path, config.node.peer is not None)
    return give(arguments, parties.party_json(peer), lines)


def _listen(config: PartyConfig) -> Peer:
    own, code, address = load_identity(config.folder), new_code(), config.need_listen()
    paired: list[Peer] = []
    with PairingServer.listen(
        read_spoken_code(code), own.certificate, lambda theirs: paired.append(_pin(config, theirs)), str(address)
    ) as server:
        say_all(parties.code_lines(code, server.address, CODE_SECONDS), sys.stderr)
        if address.host not in ANY_ADDRESS:
            _note_other_host(own, address)
        server.wait()
    return paired[0]


def _note_other_host(party: Peer, address: Address) -> None:
    """Note that a caller of this address would refuse the certificate, before one does."""
    try:
        check_host(party, address.host)
    except ConfigError as error:
        note(parties.other_host_note(str(error)))


def _call(config: PartyConfig, address: str) -> Peer:
    own = load_identity(config.folder)
    sys.stderr.write(parties.ASK_FOR_CODE)
    sys.stderr.flush()
    return _pin(config, pair(read_spoken_code(sys.stdin.readline()), own.certificate, address))


def _pin(config: PartyConfig, certificate: x509.Certificate) -> Peer:
    what = "the certificate that came"
    name = about(certificate, what)[0]
    if config.node.peer not in {None, name}:
        raise IdentityError(f"{what} is of {name}, but [node] peer is {config.node.peer!r}: nothing is pinned")
    return pin(config.folder, certificate, what)


def command_keys(arguments: argparse.Namespace) -> int:
    folder, action = party_folder(arguments.party), arguments.action
    for option, of in (("by", "seal"), ("host", "renew"), ("json", "renew")):
        if getattr(arguments, option) and action != of:
            raise InputError(f"--{option} is for `cotally keys {of}`")
    if action == "renew":
        renewed = renew(folder, arguments.host)
        return give(arguments, parties.party_json(renewed), parties.renewed_lines(renewed))
    by = arguments.by or "passphrase"
    check_own_folder(folder)
    with locked_folder(folder):
        if action == "seal":
            seal_keys(folder, SOURCES[by])
        else:
            unseal_keys(folder)
    say_all(parties.sealed_lines(folder, is_sealed=action == "seal", by=by))
    return 0


def command_doctor(arguments: argparse.Namespace) -> int:
    path, layers = settings_file(arguments.party), []
    for found in Examination(path).diagnoses():
        layers.append(found)
        if not arguments.json:
            say(parties.diagnosis_line(found), sys.stdout)
    if arguments.json:
        put_json(parties.diagnoses_json(layers))
    for found in layers:
        if found.error is not None:
            raise found.error
    if not arguments.json:
        say(parties.unread_line(path), sys.stdout)
    return 0


def command_upgrade(arguments: argparse.Namespace) -> int:
    if is_there(arguments.folder / SETTINGS_FILE):
        return _survey(arguments, arguments.folder / SETTINGS_FILE)
    path = settings_file(arguments.folder, older=True)
    if path.name != CONFIG_FILE or not is_there(path):
        raise ConfigError(
            f"{arguments.folder} holds no {CONFIG_FILE} or {SETTINGS_FILE}: name a party's or survey's folder"
        )
    folder = path.parent
    with locked_folder(folder) as held:
        found = changes(folder)
        if found and not arguments.dry_run:
            upgrade(held, found)
    return _show(arguments, folder, found)


def _survey(arguments: argparse.Namespace, path: Path) -> int:
    settings = read_collector_settings(path)
    with open_store(settings.store, survey_digest(settings.questionnaire), older=True) as store:
        answers = settings.store.name if isinstance(settings.store, Path) else "PostgreSQL"
        versions = (store.version, STORE_VERSION)
        found = [Change(answers, Altered.ANSWERS, versions)] if store.version < STORE_VERSION else []
        if found and not arguments.dry_run:
            store.upgrade()
    return _show(arguments, path.parent, found)


def _show(arguments: argparse.Namespace, folder: Path, found: Sequence[Change]) -> int:
    lines = upgrade_lines(folder, found, copies_of(folder), is_tried=arguments.dry_run)
    copies = None if arguments.dry_run or not any(each.copied for each in found) else copies_of(folder)
    return give(arguments, upgrade_json(folder, found, copies), lines)
