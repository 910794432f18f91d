"""How each kind of job is played once both have agreed to do it: the one place where the driver's path divides.

A new kind of job is a case of `Job`, a player here with what it ends with, and an entry in `play_job`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from party.keys.factors import FactorsUse, with_stored_factors
from party.models.kept_model import KeptModel
from party.node.budget import Account
from party.records.entries import PeerPages, RunPages
from party.records.known import known_counts
from party.records.releases import Memory
from party.transport.channel import Channel, Watchers, play
from protocols.errors import InputError
from protocols.role import Progress
from protocols.terms import Align, Terms, Train
from protocols.two_party.agreement import Agreement, Objection, Opening, agree_on_training
from protocols.two_party.class_first import Leaving
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.training import Outcome, keep_nothing, run

OnProgress = Callable[[Progress], None]
OnAgreed = Callable[[Agreement], None]


@dataclass(frozen=True)
class Trained:
    """What training ended with; `factors` says what became of factors made ahead."""

    agreed: Agreement
    outcome: Outcome
    factors: FactorsUse = field(default_factory=FactorsUse)


Ended = Trained
"""What a job ended with: a sum over the kinds of jobs."""


@dataclass(frozen=True)
class Stage:
    """What a player plays with, and whom it tells.

    Args:
        local: What we bring.
        folder: Ours.
        memory: Of what was released and brought before.
        account: Of what was told before, and what may be.
        channel: To the peer, with which a job is agreed.
        pages: Of our ledger, about the peer.
        on_progress: Told how far each phase is.
        kept: Where the model is safe before the peer hears that we hold it.
        on_agreed: Told when both sides have agreed, before any data leaves.
    """

    local: PartyInputs
    folder: Path
    memory: Memory
    account: Account
    channel: Channel
    pages: PeerPages
    on_progress: OnProgress
    kept: KeptModel | None = None
    on_agreed: OnAgreed | None = None


def play_job(opening: Opening, stage: Stage) -> Ended:
    """Play our part of the job that was opened, to its end.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        InputError: Ours.
    """
    match opening.job:
        case Train(terms):
            return _train(terms, opening.nonces, stage)
        case Align():
            raise InputError("nobody plays this job yet")


def _train(terms: Terms, nonces: bytes, stage: Stage) -> Trained:
    """Agree on what is brought, and build the tree; whatever leaves is put on record before."""
    local, memory, channel = stage.local, stage.memory, stage.channel

    def judge(agreed: Agreement) -> Objection | None:
        return memory.judge(agreed) or stage.account.judge(agreed)

    agreed = play(agree_on_training(local, terms, channel.peer, nonces, judge), channel)
    if stage.on_agreed is not None:
        stage.on_agreed(agreed)
    pages = RunPages(stage.pages, local, agreed)
    pages.open()
    ready, stored = with_stored_factors(local, stage.folder, terms.cipher)
    watch = Watchers(stage.on_progress, pages.note)
    keep = keep_nothing if stage.kept is None else stage.kept.keep
    known = known_counts(stage.pages.ledger.entries(), stage.pages.peer, local, agreed)

    def record(leaving: Leaving) -> None:
        memory.note(agreed, leaving)

    role = run(ready, agreed, lambda copy: memory.judge_copy(agreed, copy), keep, known, record)
    outcome = play(role, channel, watch)
    if stage.kept is not None:
        stage.kept.publish()
    return Trained(agreed, outcome, stored.use())
