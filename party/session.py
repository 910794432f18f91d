"""A party in a session: its files made into a `Local`, and the roles of `protocols.two_party` played over a channel."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from party.compute import ComputeSettings, make_compute
from party.config import HALF, PartyConfig, first_objection
from party.data import EVERY_OTHER, DataShare, read_share
from party.errors import ConfigError
from party.factors import with_stored_factors
from party.files import FolderLock
from party.identity import Peer
from party.keystore import load_private_key, load_secret
from party.releases import Memory, check_release, release_of
from party.toml import suggestion
from party.transport.channel import Channel, Traffic, play
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.errors import InputError
from protocols.messages import Terms
from protocols.privacy.odds import disguised_odds
from protocols.randomized_response.multi_group import MultiGroupDesign, default_groups
from protocols.role import Progress
from protocols.two_party.agreement import Agreed, Objection, Policy, answer, object_to_limits, propose
from protocols.two_party.local import Local, Secrets
from protocols.two_party.run import Outcome, run

OnProgress = Callable[[Progress], None]
Tell = Callable[[Sequence[str]], None]
OnAgreed = Callable[[Agreed], None]
_NOISE_SHARE = Fraction(1, 2)


@dataclass(frozen=True)
class Report:
    """What a finished run cost and gave; `phases` are the seconds of each part of it."""

    agreed: Agreed
    outcome: Outcome
    traffic: Traffic
    seconds: float
    phases: Mapping[str, float]
    factors: str = ""  # what became of factors made ahead


class _PhaseClock:
    """Adds up the time of each phase, and passes progress on."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._last = self.started = time.monotonic()
        self.phases: dict[str, float] = {}

    def show(self, progress: Progress) -> None:
        """Count the time since the last sign of life to the phase that now reports."""
        now = time.monotonic()
        self.phases[progress.phase] = self.phases.get(progress.phase, 0.0) + now - self._last
        self._last = now
        if self._on_progress is not None:
            self._on_progress(progress)


def load_local(config: PartyConfig, key_floor: int, tell: Tell = lambda _: None) -> Local:
    """Read a party's data and secrets.

    Args:
        config: The party's settings.
        key_floor: The smallest Paillier key that it may use, in bits.
        tell: Gets what the owner should know of the data, a sentence each.

    Raises:
        InputError: A file cannot be used; the text says which and why.
    """
    folder = config.folder
    key = PaillierKeyHolder(load_private_key(folder, key_floor), config.compute.short_exponents)
    share = read_share(
        config.data.file,
        config.name,
        config.data.id_column,
        config.data.class_column,
        {**config.columns.named, EVERY_OTHER: config.columns.others},
        config.data.ignore,
        config.data.form,
    )
    tell(share.notices)
    local = Local(
        party=config.name,
        table=share.table,
        holds_class=share.class_attribute is not None,
        records=tuple(share.ids),
        groups=_groups(config, share),
        dataset=config.data.dataset,
        secrets=Secrets(load_secret(folder), key, secrets),
        limits=config.agree.limits,
    )
    if set(config.agree.methods) != {"smc"}:
        _check_groups(local, config)
    return local


def _check_groups(local: Local, config: PartyConfig) -> None:
    """Refuse, whatever theta will be, columns with too many values to share coins; name the worst of those that do.

    Raises:
        ConfigError: The groups need too many offsets or patterns.
    """
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
def with_workers(local: Local, settings: ComputeSettings) -> Iterator[Local]:
    """Give a party its workers for as long as the context lasts, session after session.

    NB: enter before a channel or a server of gRPC is made.

    Raises:
        InputError: They cannot be had.
    """
    with make_compute(settings, local.secrets.key) as compute:
        yield replace(local, compute=compute)


def _groups(config: PartyConfig, share: DataShare) -> tuple[tuple[int, ...], ...]:
    """Return the groups as columns of the table; columns that are sent plain are in none."""
    columns = {attribute.name: index for index, attribute in enumerate(share.table.attributes)}
    settings = config.disguise
    named = [*settings.plain]
    if not isinstance(settings.groups, int):
        named += [name for group in settings.groups for name in group]
    unknown = next((name for name in named if name not in columns), None)
    if unknown is not None:
        meant = suggestion(unknown, columns)
        raise ConfigError(
            f"{config.path}: disguise names the column {unknown!r}, which is no attribute of "
            f"{config.data.file.name}{meant}"
        )
    if isinstance(settings.groups, int):
        names = sorted(columns)  # another order in the file must not be another disguise
        sizes = [share.table.attributes[columns[name]].size for name in names]
        spread = default_groups(sizes, settings.groups, [names.index(name) for name in settings.plain])
        return tuple(tuple(columns[names[place]] for place in group) for group in spread)
    missing = next((name for name in columns if name not in named), None)
    if missing is not None:
        raise ConfigError(f"{config.path}: disguise puts the column {missing!r} in no group; list it, or as plain")
    return tuple(tuple(columns[name] for name in group) for group in settings.groups)


def check_job(local: Local, config: PartyConfig, terms: Terms, peer: Peer | None = None) -> None:
    """Refuse, before the peer is called, a job that we ourselves cannot or must not run.

    Args:
        local: What we bring.
        config: Our settings.
        terms: The terms of the job.
        peer: Who will be called; a mere plan calls nobody.

    Raises:
        InputError: The class is not the one we hold, or stands for too few records somewhere, theta does not suit our
            data or what we agree to, or the data set was released otherwise before.
    """
    label = local.class_attribute
    if label is not None and label.name != terms.class_name:
        raise ConfigError(f"the job asks for the class {terms.class_name!r}; our class column is {label.name!r}")
    flaw = object_to_limits(local, terms)
    if flaw is not None:
        raise ConfigError(flaw.reason)
    if terms.method != "smc":
        check_disguise(local, terms, config.agree.odds)
    who = None if peer is None else (peer.name, peer.fingerprint)
    check_release(config.folder, release_of(local, terms, who))


def check_disguise(local: Local, terms: Terms, most_odds: Fraction | None) -> None:
    """Refuse a theta under which our own copy would tell too much, or nothing above its noise (FAULTS B6).

    Args:
        local: Our data.
        terms: The run's.
        most_odds: The strongest odds to 1 that a disguised value may give; None for any.

    Raises:
        InputError: Theta is 1/2, or so close to it that the standard error of a count of all records passes half of
            them; or so far from it that a group would never tell the truth, or a column with stronger odds than
            these.
    """
    design = local.design(terms.theta, class_is_shared=False)
    _check_odds(local, design, most_odds)
    for group in range(len(design.groups)):
        error = _standard_error(design, group, len(local.records))
        if error > _NOISE_SHARE * len(local.records):
            raise InputError(
                f"theta = {terms.theta} is too close to 1/2: with {len(local.records)} records "
                f"the standard error of a count would be {error:.0f} records"
            )


def _check_odds(local: Local, design: MultiGroupDesign, most: Fraction | None) -> None:
    for name, odds in disguised_odds(design, [attribute.name for attribute in local.table.attributes]):
        if most is not None and (odds.strength is None or odds.strength > most):
            low = "; above 1/2 a theta of the same strength gives weaker odds" if design.theta < HALF else ""
            raise InputError(
                f"theta = {design.theta} gives the values of column {name!r} odds of {odds}, our [agree] odds allow "
                f"{most} to 1 either way: take theta nearer 1/2 or give the column fewer values{low}"
            )


def _standard_error(design: MultiGroupDesign, group: int, records: int) -> float:
    lie = float(design.lie(group))
    return sqrt(records * lie * (1 - lie)) / abs(float(design.contrast(group)))


def make_policy(local: Local, config: PartyConfig, memory: Memory) -> Policy:
    """Return what this party objects to: by its settings, its data, or what it has released before, and to whom."""

    def policy(terms: Terms) -> Objection | None:
        field = first_objection(config.agree, terms)
        if field is not None:
            value = getattr(terms, field)
            return Objection(field.removesuffix("_name"), f"the job asks for {value}, our [agree] does not allow it")
        if terms.method != "smc":
            try:
                check_disguise(local, terms, config.agree.odds)
            except InputError as error:
                return Objection("theta", str(error))
        return memory.judge_terms(terms)

    return policy


def run_session(
    local: Local,
    config: PartyConfig,
    held: FolderLock,
    channel: Channel,
    terms: Terms | None,
    on_progress: OnProgress | None = None,
    on_agreed: OnAgreed | None = None,
) -> Report:
    """Agree with the peer and build the tree.

    Args:
        local: What we bring.
        config: Our settings.
        held: The lock of our folder.
        channel: To the peer; closed in good order at the end.
        terms: The terms we propose, or None to answer the peer's.
        on_progress: Told how far each phase is.
        on_agreed: Told when both sides have agreed, before any data leaves.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        InputError: Ours.
    """
    clock = _PhaseClock(on_progress)
    memory = Memory(local, held, (channel.peer, channel.fingerprint))
    policy, nonce = make_policy(local, config, memory), secrets.token_bytes(32)
    if terms is None:
        agreed = play(answer(local, policy, channel.peer, nonce, memory.judge), channel)
    else:
        agreed = play(propose(local, terms, policy, channel.peer, nonce, memory.judge), channel)
    if on_agreed is not None:
        on_agreed(agreed)
    memory.note(agreed)
    ready, stored = with_stored_factors(local, config.folder)
    outcome = play(run(ready, agreed, lambda copy: memory.judge_copy(agreed, copy)), channel, clock.show)
    channel.close()
    seconds = time.monotonic() - clock.started
    return Report(agreed, outcome, channel.traffic, seconds, clock.phases, stored.report())
