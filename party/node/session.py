"""The driver of a session: it plays the roles of `protocols.two_party` over a channel, and nothing else."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from party.compute import heeding
from party.files import FolderLock
from party.keys.identity import is_signed_by, load_peers, read_identity, signed_here
from party.node.approval import Approvals
from party.node.players import Ended, Host, OnProgress, Session, play_job
from party.node.policy import Account
from party.node.runs import SessionRuns, heeding_cancels
from party.records.comparisons import comparisons_of
from party.records.journal import open_journal
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.records.releases import Memory
from party.settings.party import PartyConfig
from party.transport.channel import PagedChannel, Traffic, drive
from protocols.jobs import Job
from protocols.messages import SignedHead
from protocols.role import Phase, Progress, Role
from protocols.two_party.agreement import Opening, Policy, answer, propose, propose_only
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import (
    NO_HEAD,
    NOTHING_SIGNED,
    HeadSigning,
    LedgerHead,
    bare_head,
    compare_memories,
    exchange_heads,
    head_statement,
)


@dataclass(frozen=True)
class Report:
    """What a finished run gave and cost; `phases` are the seconds of each part of it."""

    ended: Ended
    traffic: Traffic
    seconds: float
    phases: Mapping[Phase, float]


class _PhaseClock:
    """Adds up the time of each phase, and passes progress on."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._last = self.started = time.monotonic()
        self.phases: dict[Phase, float] = {}

    def show(self, progress: Progress) -> None:
        """Count the time since the last sign of life to the phase that now reports."""
        now = time.monotonic()
        self.phases[progress.phase] = self.phases.get(progress.phase, 0.0) + now - self._last
        self._last = now
        self._on_progress(progress)


NOBODY: Final = Host()


def run_session(
    local: PartyInputs,
    config: PartyConfig,
    held: FolderLock,
    channel: PagedChannel,
    job: Job | None,
    host: Host = NOBODY,
) -> Report:
    """Agree with the peer on a job of ours, or on its own, and play it; the channel is closed in good order at the end.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        PausedError: A run that has begun goes on in another session.
        InputError: Ours; `RunCancelledError` as soon as somebody cancels the run.
    """
    clock, secret = _PhaseClock(host.on_progress), local.secrets.coins
    with open_ledger(held, secret) as ledger, open_journal(config.folder, secret) as journal:
        peer = PeerName(channel.peer, channel.fingerprint)
        heads = _Heads(_head_signing(config, channel.peer), PeerEntries(ledger, peer, host.clock))
        entries = heads.entries
        runs = SessionRuns(journal, entries, local.dataset, asked=job, fresh=host.fresh)

        def on_progress(progress: Progress) -> None:
            clock.show(progress)
            runs.follow(progress)

        is_good, initiates = signed_here(config.folder), job is not None
        approvals = Approvals(local, config, entries, host.offers, is_good, initiates=initiates)
        session = Session(
            local,
            config,
            replace(host, on_progress=on_progress),
            memory=Memory(local, entries, config.agree.epsilon),
            account=Account(local, config.agree.life, ledger),
            approvals=approvals,
            comparisons=comparisons_of(entries, local),
            channel=channel,
            runs=runs,
            show_heads=lambda: drive(_sign_ledgers(heads), channel),
        )
        with (
            approvals.keeping(),
            runs.watched(),
            heeding_cancels(config.folder, secret, lambda: runs.at_work, channel.interrupt),
            heeding(local.compute, channel.check),
        ):
            ended = _played(session, heads, job)
    return Report(ended, channel.traffic, time.monotonic() - clock.started, clock.phases)


@dataclass(repr=False)
class _Heads:
    """The heads of both ledgers in a session: ours as the next message shows it, the peer's as it was last shown.

    What is written to `entries` also says what the peer's was then.
    """

    signing: HeadSigning
    entries: PeerEntries
    shown: SignedHead | None = None
    least: SignedHead = NOTHING_SIGNED
    _told: LedgerHead = field(default=NO_HEAD, init=False)

    def __post_init__(self) -> None:
        self.entries = replace(self.entries, shown=lambda: self.shown)

    def grown(self) -> SignedHead | None:
        """Return our ledger's head, signed, if it has grown since it was asked for."""
        head = self.entries.head()
        if head == self._told:
            return None
        self._told = head
        return self.signing.signed(head)

    def see(self, head: SignedHead) -> None:
        """Take note of the head of the peer's ledger."""
        self.signing.check_peer(self.entries.peer.name, head, self.shown or self.least)
        self.shown = head


def _played(session: Session, heads: _Heads, job: Job | None) -> Ended:
    """Greet the peer, compare ledgers, play the job, and sign what was put on record."""
    channel, runs = session.channel, session.runs
    opening = _opened(session.local, session.policy, channel, job)
    runs.allowed()
    drive(_compare_ledgers(heads, runs, opening.job), channel)
    channel.heads = heads
    ended = play_job(opening, session)
    session.approvals.note_end()
    session.show_heads()
    runs.settled()
    channel.close()
    return ended


def _head_signing(config: PartyConfig, peer: str) -> HeadSigning:
    own, pinned = read_identity(config.folder), load_peers(config.folder)[peer]

    def ours(head: LedgerHead) -> bytes:
        return head_statement(config.name, peer, head)

    def theirs(head: LedgerHead) -> bytes:
        return head_statement(peer, config.name, head)

    return HeadSigning(
        sign=lambda head: own.sign(ours(head)),
        is_ours=lambda signed: is_signed_by(own.certificate, ours(bare_head(signed)), signed.signature),
        is_theirs=lambda signed: is_signed_by(pinned.certificate, theirs(bare_head(signed)), signed.signature),
    )


def _opened(local: PartyInputs, policy: Policy, channel: PagedChannel, job: Job | None) -> Opening:
    """Propose a job, or answer the peer's."""
    nonce = secrets.token_bytes(32)
    if job is None:
        return drive(answer(local, policy, channel.peer, nonce), channel)
    return drive(propose(local, job, policy, channel.peer, nonce), channel)


def propose_job(party: str, channel: PagedChannel, job: Job) -> None:
    """Propose a job to the peer and end, without data of ours: the error is what the peer answers.

    Raises:
        NotApprovedError: It keeps the job for its people, they have refused it, or nothing is in the way.
        PeerError: The peer's fault, or a `DisagreementError`: its `[agree]` refuses the job.
    """
    drive(propose_only(party, job, channel.peer, secrets.token_bytes(32)), channel)


def _compare_ledgers(heads: _Heads, runs: SessionRuns, job: Job) -> Role[None]:
    """Go on only if neither side has forgotten anything, and keep what the peer shows."""
    entries, known = heads.entries, heads.entries.known()
    own, peer = entries.head(), entries.peer.name
    shown = yield from compare_memories(own, known, entries.holds, peer, heads.signing, runs.open_runs(job))
    heads.least = shown.head
    if bare_head(shown.head) != bare_head(known):
        entries.write(shown.head)
    runs.compared(shown)


def _sign_ledgers(heads: _Heads) -> Role[None]:
    """Hand each other the heads of the ledgers, signed, and keep the peer's."""
    entries = heads.entries
    entries.write((yield from exchange_heads(entries.head(), entries.known(), entries.peer.name, heads.signing)))
