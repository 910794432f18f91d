"""A party in a session: its files made into a `Local`, and the roles of `protocols.two_party` played over a channel."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path

from party.channel import Channel, Traffic, play
from party.config import Agreement, PartyConfig, first_objection
from party.data import EVERY_OTHER, DataShare, read_share
from party.errors import ConfigError
from party.keystore import load_private_key, load_secret
from party.releases import record_release
from protocols.errors import InputError
from protocols.messages import Terms
from protocols.randomized_response.design import MultiGroupDesign, default_groups
from protocols.role import Progress
from protocols.two_party.agreement import Agreed, Objection, Policy, answer, propose
from protocols.two_party.local import Local, Secrets
from protocols.two_party.run import Outcome, run

OnProgress = Callable[[Progress], None]
OnAgreed = Callable[[Agreed], None]
_NOISE_SHARE = Fraction(1, 2)


@dataclass(frozen=True)
class Report:
    """What a finished run cost and gave."""

    agreed: Agreed
    outcome: Outcome
    traffic: Traffic
    seconds: float


def load_local(config: PartyConfig, key_floor: int) -> Local:
    """Read a party's data and secrets.

    Args:
        config: The party's settings.
        key_floor: The smallest Paillier key that it may use, in bits.

    Raises:
        InputError: A file cannot be used; the text says which and why.
    """
    folder = config.folder
    share = read_share(
        config.data.file,
        config.name,
        config.data.id_column,
        config.data.class_column,
        {**config.columns.named, EVERY_OTHER: config.columns.others},
        config.data.ignore,
        config.data.missing,
    )
    return Local(
        party=config.name,
        table=share.table,
        holds_class=share.class_attribute is not None,
        records=tuple(share.ids),
        groups=_groups(config, share),
        dataset=config.data.dataset,
        secrets=Secrets(load_secret(folder), load_private_key(folder, key_floor), secrets),
    )


def _groups(config: PartyConfig, share: DataShare) -> tuple[tuple[int, ...], ...]:
    """Return the groups as columns of the table; columns that are sent plain are in none."""
    columns = {attribute.name: index for index, attribute in enumerate(share.table.attributes)}
    settings = config.disguise
    named = [*settings.plain]
    if not isinstance(settings.groups, int):
        named += [name for group in settings.groups for name in group]
    unknown = next((name for name in named if name not in columns), None)
    if unknown is not None:
        raise ConfigError(f"{config.path}: disguise names the column {unknown!r}, which {config.data.file.name} lacks")
    if isinstance(settings.groups, int):
        sizes = [attribute.size for attribute in share.table.attributes]
        return default_groups(sizes, settings.groups, [columns[name] for name in settings.plain])
    missing = next((name for name in columns if name not in named), None)
    if missing is not None:
        raise ConfigError(f"{config.path}: disguise puts the column {missing!r} in no group; list it, or as plain")
    return tuple(tuple(columns[name] for name in group) for group in settings.groups)


def check_disguise(local: Local, terms: Terms) -> None:
    """Refuse a theta under which our own copy would carry nothing, or nothing above its noise (FAULTS B6).

    Raises:
        InputError: Theta is 1/L of a group, or so close to it that the standard error of a count of all records passes
            half of them.
    """
    if terms.method == "smc":
        return
    design = local.design(terms.theta, class_is_shared=False)
    for group in range(len(design.groups)):
        error = _standard_error(design, group, len(local.records))
        if error > _NOISE_SHARE * len(local.records):
            raise InputError(
                f"theta = {terms.theta} is too close to 1/{design.orders[group]}: with {len(local.records)} records "
                f"the standard error of a count would be {error:.0f} records"
            )


def _standard_error(design: MultiGroupDesign, group: int, records: int) -> float:
    lie = float(design.lie(group))
    return sqrt(records * lie * (1 - lie)) / abs(float(design.contrast(group)))


def make_policy(agree: Agreement) -> Policy:
    """Return the objections of a party that agrees to these terms only."""

    def policy(terms: Terms) -> Objection | None:
        field = first_objection(agree, terms)
        if field is None:
            return None
        return Objection(field.removesuffix("_name"), "our settings ([agree]) do not allow the value of the job")

    return policy


def run_session(
    local: Local,
    config: PartyConfig,
    channel: Channel,
    terms: Terms | None,
    on_progress: OnProgress | None = None,
    on_agreed: OnAgreed | None = None,
) -> Report:
    """Agree with the peer and build the tree.

    Args:
        local: What we bring.
        config: Our settings.
        channel: To the peer; closed in good order at the end.
        terms: The terms we propose, or None to answer the peer's.
        on_progress: Told how far each phase is.
        on_agreed: Told when both sides have agreed, before any data leaves.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        InputError: Ours.
    """
    started = time.monotonic()
    policy, nonce = make_policy(config.agree), secrets.token_bytes(32)
    if terms is None:
        agreed = play(answer(local, policy, channel.peer, nonce), channel, on_progress)
    else:
        agreed = play(propose(local, terms, policy, channel.peer, nonce), channel, on_progress)
    if on_agreed is not None:
        on_agreed(agreed)
    _note_release(local, agreed, config.folder)
    outcome = play(run(local, agreed), channel, on_progress)
    channel.close()
    return Report(agreed, outcome, channel.traffic, time.monotonic() - started)


def _note_release(local: Local, agreed: Agreed, folder: Path) -> None:
    if agreed.terms.method != "smc":
        sent = local.sent_columns(class_is_shared=len(agreed.schema.class_owners) > 1)
        columns = tuple(local.table.attributes[column] for column in sent)
        record_release(folder, local.dataset, columns, agreed.own_design)
