"""The driver of a session: it plays the roles of `protocols.two_party` over a channel, and nothing else."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from party.files import FolderLock
from party.keys.factors import with_stored_factors
from party.node.policy import make_policy
from party.records.releases import Memory
from party.settings.party import PartyConfig
from party.transport.channel import Channel, Traffic, play
from protocols.role import Phase, Progress
from protocols.terms import Job
from protocols.two_party.agreement import Agreement, answer, propose
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.training import Outcome, run

OnProgress = Callable[[Progress], None]
OnAgreed = Callable[[Agreement], None]


@dataclass(frozen=True)
class Report:
    """What a finished run cost and gave; `phases` are the seconds of each part of it."""

    agreed: Agreement
    outcome: Outcome
    traffic: Traffic
    seconds: float
    phases: Mapping[Phase, float]
    factors: str = ""  # what became of factors made ahead


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


def run_session(
    local: PartyInputs,
    config: PartyConfig,
    held: FolderLock,
    channel: Channel,
    job: Job | None,
    on_progress: OnProgress | None = None,
    on_agreed: OnAgreed | None = None,
) -> Report:
    """Agree with the peer and build the tree.

    Args:
        local: What we bring.
        config: Our settings.
        held: The lock of our folder.
        channel: To the peer; closed in good order at the end.
        job: What we propose, or None to answer the peer's.
        on_progress: Told how far each phase is.
        on_agreed: Told when both sides have agreed, before any data leaves.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        InputError: Ours.
    """
    clock = _PhaseClock(on_progress)
    memory = Memory(local, held, (channel.peer, channel.fingerprint))
    policy, nonce = make_policy(local, config, memory), secrets.token_bytes(32)
    if job is None:
        agreed = play(answer(local, policy, channel.peer, nonce, memory.judge), channel)
    else:
        agreed = play(propose(local, job, policy, channel.peer, nonce, memory.judge), channel)
    if on_agreed is not None:
        on_agreed(agreed)
    memory.note(agreed)
    ready, stored = with_stored_factors(local, config.folder)
    outcome = play(run(ready, agreed, lambda copy: memory.judge_copy(agreed, copy)), channel, clock.show)
    channel.close()
    seconds = time.monotonic() - clock.started
    return Report(agreed, outcome, channel.traffic, seconds, clock.phases, stored.report())
