"""The driver of a session: it plays the roles of `protocols.two_party` over a channel, and nothing else."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from party.files import FolderLock
from party.keys.identity import load_peers, read_identity
from party.keys.signatures import Signatures, signatures
from party.models.kept_model import KeptModel
from party.node.aligning import OwnRows
from party.node.budget import Account
from party.node.cancelling import heeding_cancels
from party.node.offers import Offers
from party.node.players import Ended, OnAgreed, OnMatched, OnProgress, Stage, play_job
from party.node.runs import SessionRuns
from party.records.entries import PeerPages
from party.records.journal import open_journal
from party.records.ledger import PeerName, open_ledger
from party.records.releases import Memory
from party.settings.party import PartyConfig
from party.transport.channel import Channel, Traffic, play
from protocols.errors import PeerError
from protocols.jobs import Job
from protocols.role import Phase, Progress, Role
from protocols.two_party.agreement import Opening, Policy, answer, propose
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import LedgerHead, compare_memories, exchange_heads, head_statement


@dataclass(frozen=True)
class Report:
    """What a finished run gave and cost; `phases` are the seconds of each part of it."""

    ended: Ended
    traffic: Traffic
    seconds: float
    phases: Mapping[Phase, float]


class _PhaseClock:
    """Adds up the time of each phase, and passes progress on."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._last = self.started = time.monotonic()
        self.phases: dict[Phase, float] = {}

    def show(self, progress: Progress) -> None:
        """Count the time since the last sign of life to the phase that now reports."""
        now = time.monotonic()
        self.phases[progress.phase] = self.phases.get(progress.phase, 0.0) + now - self._last
        self._last = now
        if self._on_progress is not None:
            self._on_progress(progress)


@dataclass(frozen=True)
class Host:
    """Who runs a session.

    Args:
        on_progress: Told how far each phase is.
        on_agreed: Told when both sides have agreed, before any data leaves.
        kept: Where the model is safe before the peer hears that we hold it.
        fresh: Whether to begin anew where an earlier run could go on.
        offers: What we bring to a prediction.
        rows: Reads our rows anew, when an alignment has found who is common.
        on_matched: Told what an alignment has found on which another job goes on.
    """

    on_progress: OnProgress | None = None
    on_agreed: OnAgreed | None = None
    kept: KeptModel | None = None
    fresh: bool = False
    offers: Offers = field(default_factory=Offers)
    rows: OwnRows | None = None
    on_matched: OnMatched | None = None


NOBODY: Final = Host()


def run_session(
    local: PartyInputs,
    config: PartyConfig,
    held: FolderLock,
    channel: Channel,
    job: Job | None,
    host: Host = NOBODY,
) -> Report:
    """Agree with the peer on a job, and play it.

    Args:
        local: What we bring.
        config: Our settings.
        held: The lock of our folder.
        channel: To the peer; closed in good order at the end.
        job: What we propose, or None to answer the peer's.
        host: Who is told, and where the model goes.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        PausedError: A run that has begun goes on in another session.
        InputError: Ours; `RunCancelledError` as soon as somebody cancels the run.
    """
    clock, secret = _PhaseClock(host.on_progress), local.secrets.coins
    with open_ledger(held, secret) as ledger, open_journal(config.folder, secret) as journal:
        pages = PeerPages(ledger, PeerName(channel.peer, channel.fingerprint), shown=lambda: channel.shown_end)
        runs = SessionRuns(journal, pages, local.dataset, initiator=job is not None, fresh=host.fresh)

        def on_progress(progress: Progress) -> None:
            clock.show(progress)
            runs.follow(progress)

        stage = _stage(local, config, channel, runs, host, on_progress)
        with runs.watched(), heeding_cancels(config.folder, secret, lambda: runs.at_work, channel.interrupt):
            opening = _opened(local, stage.policy, channel, job)
            play(_compare_ledgers(pages, runs, opening.job), channel)
            channel.ledger_end = pages.head
            ended = play_job(opening, stage)
            stage.show_heads(opening.nonces)
            runs.settled()
            channel.close()
    return Report(ended, channel.traffic, time.monotonic() - clock.started, clock.phases)


def _stage(
    local: PartyInputs, config: PartyConfig, channel: Channel, runs: SessionRuns, host: Host, on_progress: OnProgress
) -> Stage:
    """Put together what a player plays with."""
    pages = runs.pages
    hand = signatures(read_identity(config.folder), load_peers(config.folder)[channel.peer])

    def show_heads(nonces: bytes) -> None:
        play(_sign_ledgers(pages, local.party, nonces, hand), channel)

    return Stage(
        local=local,
        config=config,
        memory=Memory(local, pages, config.agree.epsilon),
        account=Account(local, config.agree.life, pages.ledger),
        channel=channel,
        pages=pages,
        runs=runs,
        show_heads=show_heads,
        on_progress=on_progress,
        kept=host.kept,
        on_agreed=host.on_agreed,
        offers=host.offers,
        initiates=runs.initiator,
        rows=host.rows,
        on_matched=host.on_matched,
    )


def _opened(local: PartyInputs, policy: Policy, channel: Channel, job: Job | None) -> Opening:
    """Propose a job, or answer the peer's."""
    nonce = secrets.token_bytes(32)
    if job is None:
        return play(answer(local, policy, channel.peer, nonce), channel)
    return play(propose(local, job, policy, channel.peer, nonce), channel)


def _compare_ledgers(pages: PeerPages, runs: SessionRuns, job: Job) -> Role[None]:
    """Go on only if neither side has forgotten anything, and keep what the peer shows."""
    known = pages.known()
    shown = yield from compare_memories(pages.head(), known, pages.holds, pages.peer.name, runs.open_runs(job))
    if shown.head != known:
        pages.keep_head(shown.head)
    runs.compared(shown)


def _sign_ledgers(pages: PeerPages, party: str, nonces: bytes, hand: Signatures) -> Role[None]:
    """Hand each other the ends of the ledgers, signed, and keep the peer's.

    Raises:
        PeerError: The peer's signature is not by its key.
    """
    own, peer = pages.head(), pages.peer.name
    signed = yield from exchange_heads(own, hand.sign(head_statement(party, peer, nonces, own)))
    theirs = LedgerHead(signed.entries, signed.digest)
    if not hand.is_good(head_statement(peer, party, nonces, theirs), signed.signature):
        raise PeerError(f"{peer} has not signed the end of its ledger with the key that we trust")
    pages.keep_head(theirs, signed.signature)
