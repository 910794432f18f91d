"""How each kind of job is played once both have agreed to do it: the one place where the driver's path divides.

A new kind of job is a case of `Job`, a player here with what it ends with, and an entry in `play_job`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from party.data.ids import NO_LOOK, IdLook, look_of
from party.models.any_file import KeptModel
from party.node.aligning import ListRules, Offer, Offers, OwnRows
from party.node.approval import Approvals
from party.node.policy import Account, make_policy
from party.node.runs import SessionRuns
from party.records.alignments import keep_alignment
from party.records.comparisons import Comparisons
from party.records.journal import RunRecord
from party.records.json_codec import to_json
from party.records.ledger import Calendar, PeerEntries, now
from party.records.predictions import PredictionEntries
from party.records.releases import Memory
from party.records.run_entries import CrosstabEntries, RunEntries, note_columns, recorded_answers
from party.settings.party import PartyConfig
from party.transport.channel import PagedChannel, Watchers, drive
from protocols.errors import DisagreementError
from protocols.facts import AlignmentFact, ComparedFact
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Predict, PredictionTerms, Receiver, Train
from protocols.privacy.attack import Disclosure
from protocols.randomness import keyed_digest
from protocols.role import Fact, Part, Progress, Save, nothing
from protocols.secret_tree.bits import Follows
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement, Opening, Policy, agree_again, agree_on_training
from protocols.two_party.alignment import Aligned, Overlap, align, are_to_align
from protocols.two_party.crosstab import Crossed, agree_on_crosstab, count_crosstab
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.itemsets import FoundTogether, find_itemsets
from protocols.two_party.memory import run_name
from protocols.two_party.noise import tables_digest
from protocols.two_party.objections import Objection
from protocols.two_party.power import Seen, seen_as_agreed
from protocols.two_party.prediction import Answers, PredictionRun, predict_together
from protocols.two_party.secret import deduced
from protocols.two_party.training import Outcome, training_role

OnProgress = Callable[[Progress], None]
OnAgreed = Callable[[Agreement, RunRecord | None, Disclosure | None], None]
"""Receives the agreement, the run that is resumed, if one is, and what is read of our copy."""


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

    `rows` says that they are rows to classify, and not records of the data set. `look` is what our ids look like.
    """

    peer: str
    overlap: Overlap
    named: bool
    rows: bool = False
    look: IdLook = NO_LOOK


@dataclass(frozen=True, repr=False)
class Tabulated:
    """What a table of two columns ended with: its cells, as `count_crosstab` returns them."""

    agreed: Crossed
    cells: tuple[int, ...]


OnMatched = Callable[[Matched], None]
Ended = Trained | FoundRules | Predicted | Matched | Tabulated
"""What a job ended with: a sum over the kinds of jobs."""


@dataclass(frozen=True)
class Host:
    """Callbacks and options of the caller of a session.

    `on_agreed` hears that both sides have agreed, before any data leaves; `on_matched` what an alignment has found on
    which another job goes on. In `kept` the model is safe before the peer hears that we hold it. A `fresh` run begins
    from the start where an earlier one could go on. `rows` reads our rows again when an alignment has found who is
    common; without it we bring what we have, whole.
    """

    on_progress: OnProgress = lambda _: None
    on_agreed: OnAgreed = lambda _, __, ___: None
    kept: KeptModel | None = None
    fresh: bool = False
    offers: Offers = field(default_factory=Offers)
    rows: OwnRows | None = None
    on_matched: OnMatched = lambda _: None
    clock: Calendar = now


@dataclass(frozen=True)
class Session:
    """What a player plays with; `show_heads` hands each other the ends of the ledgers, signed."""

    local: PartyInputs
    config: PartyConfig
    host: Host
    memory: Memory
    account: Account
    approvals: Approvals
    comparisons: Comparisons
    channel: PagedChannel
    runs: SessionRuns
    show_heads: Callable[[], None]

    @property
    def entries(self) -> PeerEntries:
        """Our ledger's entries about the peer."""
        return self.runs.entries

    @property
    def policy(self) -> Policy:
        """What we object to: by our settings, the rows that we bring, and what was revealed before."""

        def people(job: Job) -> Objection | None:
            return self.host.offers.judge_job(job) or self.approvals.judge_job(job)

        judges = (each.judge_job for each in (self.comparisons, self.memory, self.account))
        return make_policy(self.local, self.config, *judges, people=people, initiates=self.runs.initiator)

    @property
    def aligns(self) -> bool:
        """Whether we find the people of both lists, where these differ."""
        return self.config.agree.alignments.most_alignments > 0

    def watching(self, note: Callable[[Fact], None] = lambda _: None) -> Watchers:
        """Return watchers that record comparisons apart from what `note` records."""

        def noted(fact: Fact) -> None:
            if isinstance(fact, ComparedFact):
                self.comparisons.note(fact)
                return
            note(fact)
            if isinstance(fact, AlignmentFact):
                self.comparisons.settle()

        return Watchers(self.host.on_progress, noted)

    def bringing(self, local: PartyInputs) -> "Session":
        """Return the session of a party that brings other rows."""
        memory, account = replace(self.memory, local=local), replace(self.account, local=local)
        return replace(self, local=local, memory=memory, account=account)


def play_job(opening: Opening, session: Session) -> Ended:
    """Play our part of the job that was opened, to its end."""
    match opening.job:
        case Train(terms):
            return _train(terms, opening, session)
        case Predict(asked):
            return _predict(asked, opening, session)
        case Align(count_only):
            return _match(opening, session, count_only=count_only)[0]
        case Crosstab(wanted):
            return _count(wanted, opening, session)


def _train(terms: Terms, opening: Opening, session: Session) -> Trained | FoundRules:
    """Agree on what is brought, and learn from it; whatever leaves is put on record before."""
    session = _restrict_to_common(opening, session)
    session = session.bringing(session.local.bringing(terms))
    local, memory, channel = session.local, session.memory, session.channel

    def judge(agreed: Agreement) -> Objection | None:
        changed = memory.judge(agreed) or session.runs.judge(_contents(local, agreed))
        flaw = changed or session.account.judge(agreed)
        return flaw or session.approvals.judge_agreed(agreed, local)

    note_columns(session.entries, local)
    agreed = drive(agree_on_training(local, terms, channel.peer, opening.nonces, judge), channel, session.watching())
    read = local.disclosed(agreed.own_design) if agreed.own_design.sizes else None
    session.host.on_agreed(agreed, session.runs.resumed, read)
    entries = _opened_entries(agreed, session)
    session.show_heads()  # so that who loses all of this run is found out by the peer
    kept = session.runs.enter(opening.job, _contents(local, agreed), opening.nonces)
    if terms.hides_counts:
        on_record = recorded_answers(session.entries.ledger.entries(), session.entries.peer, local, agreed)
        kept = replace(on_record, kept=kept)

    def save(item: Save) -> None:
        opened = terms.hides_counts and item.part is Part.ANSWERS
        (entries.keep if opened else session.runs.save)(item)

    watch = Watchers(session.host.on_progress, entries.note, save)
    keep = nothing if session.host.kept is None else session.host.kept.keep
    record, judge_copy = partial(memory.note, agreed), partial(memory.judge_copy, agreed)
    ended: Trained | FoundRules
    if terms.rules is None:
        outcome = drive(training_role(local, agreed, judge_copy, keep, record, kept), channel, watch)
        follows = deduced(local, agreed, outcome.tree) if terms.opens_tree else None
        ended = Trained(entries.run, agreed, outcome, seen_as_agreed(local, agreed), read, follows)
    else:
        found = drive(find_itemsets(local, agreed, judge_copy, keep, record, kept), channel, watch)
        ended = FoundRules(entries.run, agreed, found, seen_as_agreed(local, agreed), read)
    if session.host.kept is not None:
        session.host.kept.publish()
    session.runs.done()
    return ended


def _count(terms: CrosstabTerms, opening: Opening, session: Session) -> Tabulated:
    """Agree on two columns, and count one by the other; what leaves is put on record before."""
    session = _restrict_to_common(opening, session)
    local, memory, initiates = session.local, session.memory, session.runs.initiator

    def judge(agreed: Crossed) -> Objection | None:
        flaw = memory.judge_crosstab(agreed) or session.account.judge_crosstab(agreed)
        return flaw or session.approvals.judge_agreed(agreed, local)

    note_columns(session.entries, local.bringing_column(terms.column_of(initiates=initiates)))
    role = agree_on_crosstab(local, terms, session.channel.peer, opening.nonces, initiates=initiates, judge=judge)
    agreed = drive(role, session.channel, session.watching())
    memory.note_crosstab(agreed)
    entries = CrosstabEntries(session.entries, agreed)
    watch = Watchers(session.host.on_progress, entries.note, entries.save)
    return Tabulated(agreed, drive(count_crosstab(agreed, entries.recalled()), session.channel, watch))


def _match(opening: Opening, session: Session, *, count_only: bool = False) -> tuple[Matched, PartyInputs]:
    """Compare all people of both lists; return what came of it, and our rows: unless only counted, of the common."""
    whole = session.local if session.host.rows is None else session.host.rows.whole()
    session.approvals.local = whole
    aligned = _aligned(whole, opening, session, count_only=count_only)
    peer, common = session.channel.peer, whole
    if aligned.rows is not None:
        people = [whole.records[row] for row in aligned.rows]
        keep_alignment(session.config.folder, whole.secrets.coins, whole.dataset, peer, aligned.lists, people)
        common = whole.bringing_people(people)
    look = look_of(whole.records, whole.form)
    return Matched(peer, aligned.overlap, aligned.rows is not None, look=look), common


def _aligned(
    listed: PartyInputs,
    opening: Opening,
    session: Session,
    *,
    count_only: bool = False,
    rows: bool = False,
    judge_least: Callable[[int], Objection | None] = lambda _: None,
) -> Aligned:
    look = look_of(listed.records, listed.form)
    bounds, judge_tables = session.config.agree.alignments, session.approvals.judge_tables
    rules = ListRules(listed.dataset, bounds, session.entries, rows, look, judge_least, judge_tables)
    role = align(listed, session.channel.peer, opening.nonces, rules, count_only=count_only)
    try:
        return drive(role, session.channel, session.watching(rules.note))
    except DisagreementError as error:
        raise rules.explained(error) from None


def _restrict_to_common(opening: Opening, session: Session) -> Session:
    """Go on with the rows of the people whom both list, if the lists differ and both sides would."""
    rows = session.host.rows
    willing, peer = rows is not None and session.aligns, session.channel.peer
    asked = are_to_align(session.local, peer, opening.nonces, session.approvals.judge_same_list, aligns=willing)
    differ = drive(asked, session.channel, session.watching())
    if rows is None or not differ:
        return session
    matched, rows.local = _match(opening, session)
    session.host.on_matched(matched)
    session = session.bringing(rows.local)
    drive(agree_again(session.local, opening.job, session.policy), session.channel)
    return session


def _with_common_rows(opening: Opening, session: Session, judge_least: Callable[[int], Objection | None]) -> Offer:
    """Return the rows of the people of whom both offer one, if the lists differ and both sides would find them."""
    offer = session.host.offers.offer
    listed = session.local.bringing_ids(offer.shared.people)
    judge = session.approvals.judge_same_list
    role = are_to_align(listed, session.channel.peer, opening.nonces, judge, aligns=session.aligns)
    if not drive(role, session.channel, session.watching()):
        return offer
    aligned = _aligned(listed, opening, session, rows=True, judge_least=judge_least)
    look = look_of(listed.records, listed.form)
    session.host.on_matched(Matched(session.channel.peer, aligned.overlap, named=True, rows=True, look=look))
    return offer if aligned.rows is None else offer.only(aligned.rows)


def _opened_entries(agreed: Agreement, session: Session) -> RunEntries:
    """Put on record what was agreed, before any of it leaves: of a new run, or of the one that goes on."""
    before = session.runs.resumed
    name = run_name(agreed.nonces).hex() if before is None else before.run
    entries = RunEntries(session.entries, session.local, agreed, name)
    if before is None:
        entries.open()
    return entries


def _contents(local: PartyInputs, agreed: Agreement) -> bytes:
    """Return a digest, under our secret, of all that must be the same for a run to go on."""
    same = to_json([agreed.terms, agreed.own_design.groups, agreed.peer_design.groups])
    return keyed_digest(local.secrets.coins, b"run contents", json.dumps(same).encode(), tables_digest(local, agreed))


def _predict(terms: PredictionTerms, opening: Opening, session: Session) -> Predicted:
    """Classify the rows that both offer; the model fits, or there would be no agreement."""
    session.memory.note_peer(opening.job)
    local, account = session.local, session.account
    most, left = account.bounds.most_predictions, account.answers_left(terms)
    entries = PredictionEntries(session.entries, local, terms, most, left)
    ours = Receiver.INITIATOR if session.runs.initiator else Receiver.RESPONDER
    answers_none = terms.receiver is ours
    offer = _with_common_rows(opening, session, (lambda _: None) if answers_none else entries.judge_least)
    recall, peer = entries.recall(offer.shared.people), session.channel.peer
    run = PredictionRun(local, offer.shared, terms, session.runs.initiator, peer, opening.nonces, recall)
    answers = drive(predict_together(run), session.channel, session.watching(entries.note))
    return Predicted(terms, offer, answers)
