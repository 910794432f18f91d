"""What a party brings to a session: its files made into a `PartyInputs`, and its workers."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from party.compute import ComputeSettings, make_compute
from party.data import EVERY_OTHER, DataShare, Notice, read_share
from party.data.form import STANDARD_INPUT
from party.errors import AbsentColumnError, ConfigError
from party.files import is_there
from party.keys.certificates import Peer
from party.keys.identity import load_peers
from party.keys.keystore import load_key, load_secret
from party.names import suggestion
from party.records.ledger import LEDGER_FILE
from party.records.releases import Earlier, released_before
from party.settings.party import PartyConfig
from protocols.errors import InputError
from protocols.randomized_response.related_question import default_groups
from protocols.tables import Attribute
from protocols.terms import Method
from protocols.two_party.inputs import PartyInputs, Secrets


@dataclass(frozen=True)
class ReleasedBefore:
    """This table, or columns of it, was released under another name, as the file says: a new name means new coins."""

    before: Earlier
    now: str
    file: Path


OwnerNotices = Sequence[Notice | ReleasedBefore]
Tell = Callable[[OwnerNotices], None]


def load_inputs(config: PartyConfig, key_floor: int, tell: Tell = lambda _: None) -> PartyInputs:
    """Read a party's data and secrets; its key must have `key_floor` bits; `tell` shows what its owner should know."""
    folder, file = config.folder, config.data.file
    if file != STANDARD_INPUT and not is_there(file):
        raise ConfigError(f"{config.path}: [data] file: {file} does not exist: name the table there, or put it there")
    key = load_key(folder, key_floor)
    share = _share(config)
    tell(share.notices)
    local = PartyInputs(
        party=config.name,
        table=share.table,
        holds_class=share.class_attribute is not None,
        records=tuple(share.ids),
        groups=groups_of(config, share.table.attributes),
        dataset=config.data.dataset,
        secrets=Secrets(load_secret(folder), key, secrets),
        limits=config.agree.limits,
        form=config.data.ids.form,
    )
    if set(config.agree.methods) != {Method.SMC}:
        _check_groups(local, config)
    found = released_before(folder, local)
    tell([ReleasedBefore(before, local.dataset, folder / LEDGER_FILE) for before in found])
    return local


def _share(config: PartyConfig) -> DataShare:
    """Read the data; of a column that is not there, say where the settings name it."""
    data = config.data
    try:
        return read_share(
            data.source,
            config.name,
            data.ids,
            data.class_column,
            {**config.columns.named, EVERY_OTHER: config.columns.others},
            data.ignore,
            data.form,
        )
    except AbsentColumnError as error:
        places = {"id": data.ids.names, "class": (data.class_column,), "ignore": data.ignore}
        named = next((f"[data] {key}" for key, names in places.items() if error.column in names), "[columns]")
        raise ConfigError(f"{error}; name another under {named} of {config.path}") from None


def pinned_peer(config: PartyConfig) -> Peer:
    """Return the peer that the settings name, whose certificate must be trusted."""
    name = config.need_peer()
    peers = load_peers(config.folder)
    if name not in peers:
        raise ConfigError(
            f"the certificate of {name} is not trusted yet: `cotally trust {config.folder} {name}-cert.pem`"
        )
    return peers[name]


def _check_groups(local: PartyInputs, config: PartyConfig) -> None:
    """Refuse, whatever theta will be, columns with too many values to share coins; name the worst of those that do."""
    try:
        local.design(Fraction(1), class_is_shared=False)
    except InputError as error:
        grouped = [local.table.attributes[column] for group in local.groups for column in group]
        worst = max(grouped, key=lambda attribute: attribute.size)
        raise ConfigError(
            f'{config.path}: [columns] {worst.name}: give it fewer values, by bins = "quantiles:4" (numbers) or '
            f"max_values = 4 (categories): it has {worst.size}, and {error}"
        ) from None


@contextmanager
def with_workers(local: PartyInputs, settings: ComputeSettings) -> Iterator[PartyInputs]:
    """Give a party its workers for as long as the context lasts, session after session.

    NB: enter before a channel or a server of gRPC is made.
    """
    with make_compute(settings) as compute:
        yield replace(local, compute=compute)


def groups_of(config: PartyConfig, attributes: Sequence[Attribute]) -> tuple[tuple[int, ...], ...]:
    """Return the groups as columns of a table; columns that are sent plain are in none."""
    columns = {attribute.name: index for index, attribute in enumerate(attributes)}
    settings = config.disguise
    named = [*settings.plain]
    if isinstance(settings.groups, tuple):
        named += [name for group in settings.groups for name in group]
    unknown = next((name for name in named if name not in columns), None)
    if unknown is not None:
        meant = suggestion(unknown, columns)
        raise ConfigError(
            f"{config.path}: [disguise] lists column {unknown!r}, "
            f"but {config.data.file.name} has no such attribute{meant}"
        )
    if settings.groups is None:
        return tuple((column,) for name, column in columns.items() if name not in settings.plain)
    if isinstance(settings.groups, int):
        names = sorted(columns)  # another order in the file must not be another disguise
        sizes = [attributes[columns[name]].size for name in names]
        spread = default_groups(sizes, settings.groups, [names.index(name) for name in settings.plain])
        return tuple(tuple(columns[names[place]] for place in group) for group in spread)
    missing = next((name for name in columns if name not in named), None)
    if missing is not None:
        raise ConfigError(f"{config.path}: disguise puts the column {missing!r} in no group; list it, or as plain")
    return tuple(tuple(columns[name] for name in group) for group in settings.groups)
