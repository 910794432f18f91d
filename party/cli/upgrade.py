"""`cotally upgrade`: a party's folder, or a survey's, goes on from an older release."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from party.cli.outputs import give
from party.errors import ConfigError
from party.files import is_there, locked_folder
from party.node.upgrades import Altered, Change, changes, copies_of, upgrade
from party.settings.collector import read_collector_settings
from party.settings.place import CONFIG_FILE, settings_file
from party.show.parties import upgrade_json, upgrade_lines
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.drafts import SETTINGS_FILE
from party.survey.web.store import STORE_VERSION


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
