"""How each kind of job is played once both have agreed to do it: the one place where the driver's path divides.

A new kind of job is a case of `Job`, a player here with what it ends with, and an entry in `play_job`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from party.data.ids import NO_LOOK, IdLook, look_of
from party.models.any_file import KeptModel, KeptResult
from party.node.aligning import ListRules, Offer, Offers, OwnRows
from party.node.policy import Account, make_policy
from party.node.runs import SessionRuns
from party.records.alignments import keep_alignment
from party.records.comparisons import Comparisons
from party.records.entries import KnownAnswers, PeerPages, RunPages, note_columns, recorded_answers, terms_content
from party.records.journal import RunRecord
from party.records.predictions import PredictionPages
from party.records.releases import Memory
from party.settings.party import PartyConfig
from party.transport.channel import Channel, Watchers, play
from protocols.facts import AlignmentFact, ComparedFact
from protocols.jobs import Align, Predict, PredictionTerms, Receiver, Train
from protocols.privacy.attack import Disclosure
from protocols.randomness import keyed_digest
from protocols.role import Fact, Part, Progress, Save
from protocols.secret_tree.deduction import Follows
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement, Objection, Opening, Policy, agree_again, agree_on_training
from protocols.two_party.alignment import Aligned, Overlap, align, are_to_align
from protocols.two_party.copies import Leaving
from protocols.two_party.held_out import deduced
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.itemsets import FoundTogether, find_itemsets
from protocols.two_party.memory import run_name
from protocols.two_party.noise import tables_digest
from protocols.two_party.power import Seen, seen_as_agreed
from protocols.two_party.prediction import Answers, PredictionRun, predict_together
from protocols.two_party.training import Outcome, run

OnProgress = Callable[[Progress], None]
OnAgreed = Callable[[Agreement, RunRecord | None, Disclosure | None], None]
"""Told what was agreed; where a run goes on that ended early, how far that had come; what is read of our copy."""


@dataclass(frozen=True)
class Trained:
    """What the training of this name ended with.

    `seen` and `read` are what became of checks, and of our copy, `follows` what is certain by a tree alone.
    """

    run: str
    agreed: Agreement
    outcome: Outcome
    seen: Seen | None = None
    read: Disclosure | None = None
    follows: Follows | None = None


@dataclass(frozen=True, repr=False)
class FoundRules:
    """What looking for rules ended with; the rest as of training."""

    run: str
    agreed: Agreement
    found: FoundTogether
    seen: Seen | None
    read: Disclosure | None


@dataclass(frozen=True, repr=False)
class Predicted:
    """What a joint prediction ended with: the rows that we brought, and what we learned, if we were to."""

    terms: PredictionTerms
    offer: Offer
    answers: Answers | None


@dataclass(frozen=True, repr=False)
class Matched:
    """What an alignment ended with: with whom, how many people are common, and whether it is known who they are.

    `rows` tells that they are to be classified, and not records of the data set. `look` is what our ids look like.
    """

    peer: str
    overlap: Overlap
    named: bool
    rows: bool = False
    look: IdLook = NO_LOOK


OnMatched = Callable[[Matched], None]
Ended = Trained | FoundRules | Predicted | Matched
"""What a job ended with: a sum over the kinds of jobs."""


@dataclass(frozen=True)
class Stage:
    """What a player plays with, and whom it tells.

    Args:
        local: What we bring.
        config: Our settings.
        memory: Of what was released and brought before.
        account: Of what was told before, and what may be.
        comparisons: Of whole lists, and how long the next has to wait.
        channel: To the peer, with which a job is agreed.
        pages: Of our ledger, about the peer.
        runs: Those with the peer that may go on.
        show_heads: Hands each other the ends of the ledgers, signed.
        on_progress: Told how far each phase is.
        kept: Where the model is safe before the peer hears that we hold it.
        on_agreed: Told when both sides have agreed, before any data leaves.
        offers: What we bring to a prediction.
        initiates: Whether we have opened the session.
        rows: Reads our rows again; without it we bring `local` whole.
        on_matched: Told what an alignment has found on which another job goes on.
    """

    local: PartyInputs
    config: PartyConfig
    memory: Memory
    account: Account
    comparisons: Comparisons
    channel: Channel
    pages: PeerPages
    runs: SessionRuns
    show_heads: Callable[[], None]
    on_progress: OnProgress
    kept: KeptModel | None = None
    on_agreed: OnAgreed | None = None
    offers: Offers = field(default_factory=Offers)
    initiates: bool = False
    rows: OwnRows | None = None
    on_matched: OnMatched | None = None

    @property
    def policy(self) -> Policy:
        """What we object to: by our settings, the rows that we bring, and what was told before."""
        judges = (self.comparisons.judge_job, self.offers.judge_job, self.memory.judge_job, self.account.judge_job)
        return make_policy(self.local, self.config, *judges, initiates=self.initiates)

    @property
    def aligns(self) -> bool:
        """Whether we find the people of both lists, where these differ."""
        return self.config.agree.alignments.alignments > 0

    def watching(self, note: Callable[[Fact], None] = lambda _: None) -> Watchers:
        """Return who hears of a role: the record of comparisons, and of all else that is noted `note`."""

        def noted(fact: Fact) -> None:
            if isinstance(fact, ComparedFact):
                self.comparisons.note(fact)
                return
            note(fact)
            if isinstance(fact, AlignmentFact):
                self.comparisons.settle()

        return Watchers(self.on_progress, noted)

    def tell(self, matched: Matched) -> None:
        """Tell what an alignment has found on which we go on."""
        if self.on_matched is not None:
            self.on_matched(matched)

    def bringing(self, local: PartyInputs) -> "Stage":
        """Return the stage of a party that brings other rows."""
        memory, account = replace(self.memory, local=local), replace(self.account, local=local)
        return replace(self, local=local, memory=memory, account=account)


def play_job(opening: Opening, stage: Stage) -> Ended:
    """Play our part of the job that was opened, to its end.

    Raises:
        PeerError: The peer's fault; `DisagreementError` before any data has left.
        InputError: Ours.
    """
    match opening.job:
        case Train(terms):
            return _train(terms, opening, stage)
        case Predict(asked):
            return _predict(asked, opening, stage)
        case Align(count_only):
            return _align(opening, stage, count_only=count_only)


def _train(terms: Terms, opening: Opening, stage: Stage) -> Trained | FoundRules:
    """Agree on what is brought, and learn from it; whatever leaves is put on record before."""
    stage = _with_common_people(opening, stage)
    stage = stage.bringing(stage.local.bringing(terms))
    local, memory, channel = stage.local, stage.memory, stage.channel

    def judge(agreed: Agreement) -> Objection | None:
        changed = memory.judge(agreed) or stage.runs.judge(_contents(local, agreed))
        return changed or stage.account.judge(agreed)

    note_columns(stage.pages, local)
    agreed = play(agree_on_training(local, terms, channel.peer, opening.nonces, judge), channel, stage.watching())
    read = local.disclosed(agreed.own_design) if agreed.own_design.sizes else None
    if stage.on_agreed is not None:
        stage.on_agreed(agreed, stage.runs.resumed, read)
    pages = _opened_pages(agreed, stage)
    stage.show_heads()  # so that who loses all of this run is found out by the peer
    kept = stage.runs.enter(opening.job, _contents(local, agreed), opening.nonces)
    if terms.hides_counts:
        kept = KnownAnswers(recorded_answers(stage.pages.ledger.entries(), stage.pages.peer, local, agreed), kept)

    def save(item: Save) -> None:
        opened = terms.hides_counts and item.part is Part.ANSWERS
        (pages.keep if opened else stage.runs.save)(item)

    watch = Watchers(stage.on_progress, pages.note, save)
    keep = _forget if stage.kept is None else stage.kept.keep

    def record(leaving: Leaving) -> None:
        memory.note(agreed, leaving)

    def judge_copy(copy: bytes) -> Objection | None:
        return memory.judge_copy(agreed, copy)

    ended: Trained | FoundRules
    if terms.rules is None:
        outcome = play(run(local, agreed, judge_copy, keep, record, kept), channel, watch)
        follows = deduced(local, agreed, outcome.tree) if terms.opens_tree else None
        ended = Trained(pages.run, agreed, outcome, seen_as_agreed(local, agreed), read, follows)
    else:
        found = play(find_itemsets(local, agreed, judge_copy, keep, record, kept), channel, watch)
        ended = FoundRules(pages.run, agreed, found, seen_as_agreed(local, agreed), read)
    if stage.kept is not None:
        stage.kept.publish()
    stage.runs.done()
    return ended


def _forget(result: KeptResult) -> None:
    """Leave what was learned to what the job ends with."""
    del result


def _align(opening: Opening, stage: Stage, *, count_only: bool) -> Matched:
    """Find the people whom both list, and keep who they are."""
    return _match(opening, stage, count_only=count_only)[0]


def _match(opening: Opening, stage: Stage, *, count_only: bool = False) -> tuple[Matched, PartyInputs]:
    """Compare all people of both lists; return what came of it, and our rows: unless only counted, of the common."""
    whole = stage.local if stage.rows is None else stage.rows.whole()
    aligned = _aligned(whole, opening, stage, count_only=count_only)
    peer, common = stage.channel.peer, whole
    if aligned.rows is not None:
        people = [whole.records[row] for row in aligned.rows]
        keep_alignment(stage.config.folder, whole.secrets.coins, whole.dataset, peer, aligned.lists, people)
        common = whole.bringing_people(people)
    look = look_of(whole.records, whole.form)
    return Matched(peer, aligned.overlap, aligned.rows is not None, look=look), common


def _aligned(
    listed: PartyInputs,
    opening: Opening,
    stage: Stage,
    *,
    count_only: bool = False,
    rows: bool = False,
    judge_least: Callable[[int], Objection | None] = lambda _: None,
) -> Aligned:
    look = look_of(listed.records, listed.form)
    rules = ListRules(listed.dataset, stage.config.agree.alignments, stage.pages, rows, look, judge_least)
    role = align(listed, stage.channel.peer, opening.nonces, rules, count_only=count_only)
    return play(role, stage.channel, stage.watching(rules.note))


def _with_common_people(opening: Opening, stage: Stage) -> Stage:
    """Go on with the rows of the people whom both list, if the lists differ and both sides would."""
    rows = stage.rows
    willing, peer = rows is not None and stage.aligns, stage.channel.peer
    differ = play(are_to_align(stage.local, peer, opening.nonces, aligns=willing), stage.channel, stage.watching())
    if rows is None or not differ:
        return stage
    matched, rows.local = _match(opening, stage)
    stage.tell(matched)
    stage = stage.bringing(rows.local)
    play(agree_again(stage.local, opening.job, stage.policy), stage.channel)
    return stage


def _with_common_rows(opening: Opening, stage: Stage, judge_least: Callable[[int], Objection | None]) -> Offer:
    """Return the rows of the people of whom both offer one, if the lists differ and both sides would find them."""
    offer = stage.offers.offer
    listed = stage.local.bringing_ids(offer.shared.people)
    role = are_to_align(listed, stage.channel.peer, opening.nonces, aligns=stage.aligns)
    if not play(role, stage.channel, stage.watching()):
        return offer
    aligned = _aligned(listed, opening, stage, rows=True, judge_least=judge_least)
    look = look_of(listed.records, listed.form)
    stage.tell(Matched(stage.channel.peer, aligned.overlap, named=True, rows=True, look=look))
    return offer if aligned.rows is None else offer.only(aligned.rows)


def _opened_pages(agreed: Agreement, stage: Stage) -> RunPages:
    """Put on record what was agreed, before any of it leaves: of a new run, or of the one that goes on."""
    before = stage.runs.resumed
    name = run_name(agreed.nonces).hex() if before is None else before.run
    pages = RunPages(stage.pages, stage.local, agreed, name)
    if before is None:
        pages.open()
    return pages


def _contents(local: PartyInputs, agreed: Agreement) -> bytes:
    """Return a digest, under our secret, of all that must be the same for a run to go on."""
    groups = (str(design.groups).encode() for design in (agreed.own_design, agreed.peer_design))
    terms = str(terms_content(agreed.terms)).encode()
    return keyed_digest(local.secrets.coins, b"run contents", terms, *groups, tables_digest(local, agreed))


def _predict(terms: PredictionTerms, opening: Opening, stage: Stage) -> Predicted:
    """Classify the rows that both offer; the model fits, or there would be no agreement."""
    stage.memory.note_peer(opening.job)
    local, account = stage.local, stage.account
    pages = PredictionPages(stage.pages, local, terms, account.bounds.predictions, account.answers_left(terms.model))
    ours = Receiver.INITIATOR if stage.initiates else Receiver.RESPONDER
    answers_none = terms.receiver is ours
    offer = _with_common_rows(opening, stage, (lambda _: None) if answers_none else pages.judge_least)
    recall, peer = pages.recall(offer.shared.people), stage.channel.peer
    run = PredictionRun(local, offer.shared, terms, stage.initiates, peer, opening.nonces, recall)
    answers = play(predict_together(run), stage.channel, stage.watching(pages.note))
    return Predicted(terms, offer, answers)
