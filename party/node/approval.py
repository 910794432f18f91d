"""Which jobs run at once and which wait until people have signed them: `[agree] approve` (FAULTS 103).

It is asked as soon as the settings allow the job, before our table and what was revealed before are looked at: else a
peer would learn without a signature what these refuse. No signature widens a bound. A job that waits is put on
record with what it would reveal, and stays there: proposed again, in whatever session, it is the same. The digest that
people sign is under our secret, over the peer, the job, our table and how it is disguised. So another term, or another
table of ours, is another proposal; and with another table, or list, of the peer's than an approved job began with, or
with columns by which it would reveal more than was signed, the job waits again under another name.

What a job would reveal is worked out once the answer has left, which so shows nothing of our table by its time.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from party.compute import available_cpus
from party.forecast.model import Sizes, agreed_sizes, forecast, guess_rules, guess_splits, likely_tree_bits, measure
from party.keys.identity import read_identity, signed_here
from party.node.aligning import Offers
from party.node.check import Supposed, sends_copy, supposed_run
from party.node.policy import check_job
from party.records.approvals import IsGood, Proposal, decision_statement, named_proposal, proposals, read_name
from party.records.ledger import Calendar, PeerEntries, date_text, has_ledger, join_ledger, now
from party.records.ledger_entries import DecisionEntry, ProposalEntry, ProposedRunEntry, ProposedTableEntry, WouldReveal
from party.records.run_entries import job_content
from party.settings.party import Acceptance, Approve, PartyConfig
from protocols.errors import InputError
from protocols.jobs import Align, Crosstab, Job, Predict, Train
from protocols.randomness import canonical, keyed_digest
from protocols.terms import MiningTerms, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.bounds import most_counts, most_tree_bits
from protocols.two_party.crosstab import Crossed
from protocols.two_party.inputs import PartyInputs, training_records
from protocols.two_party.objections import Objection

MOST_WAITING: Final = 8
"""How many undecided jobs that a peer has caused are kept."""

_OUR_LIST: Final = b""


def is_bounded(agree: Acceptance, job: Job) -> bool:
    """Return whether each bound that counts what such a job reveals is a number, over the life of a data set too."""
    life = agree.life
    match job:
        case Align():
            return True
        case Predict():
            return None not in (life.most_predictions, life.most_bits)
        case Crosstab(asked):
            return None not in ((life.most_runs, life.most_counts) if asked.noise is None else (agree.epsilon,))
        case Train(terms):
            bounds: list[object] = [agree.odds] if terms.disguises else []
            bounds += [agree.most_sets] if isinstance(terms, MiningTerms) else []
            if terms.noise is not None:
                return None not in (*bounds, agree.epsilon)
            bounds += [life.most_bits] if terms.opens_tree or terms.mines else []
            bounds += [life.most_counts] if terms.reveals_counts else []
            return None not in (*bounds, life.most_runs)


@dataclass(repr=False)
class Approvals:
    """What people here have decided about jobs, as a session sees it; `local` is what we bring, as it was last read."""

    local: PartyInputs
    config: PartyConfig
    entries: PeerEntries
    offers: Offers
    is_good: IsGood
    initiates: bool
    _asked: Job | None = field(default=None, init=False)
    _allowed: bytes | None = field(default=None, init=False)
    _new: tuple[ProposalEntry, Callable[[], WouldReveal]] | None = field(default=None, init=False)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Put a new proposal on record at the end of a session, with what it would reveal: worked out no sooner."""
        try:
            yield
        finally:
            if self._new is not None:
                said, would = self._new
                self.entries.write(replace(said, reveals=would()))

    def note_end(self) -> None:
        """Note of the job that people have approved that it has run to its end."""
        said = ProposedRunEntry(self.local.dataset, self._allowed or b"")
        if self._allowed is not None and said not in self.entries.noted(ProposedRunEntry, self.local.dataset):
            self.entries.write(said)

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a job that people must approve and have not, and keep it for them."""
        agree = self.config.agree
        if agree.approve is Approve.ALWAYS or (agree.approve is Approve.WITHIN_BOUNDS and is_bounded(agree, job)):
            return None
        self._asked = job
        return self._judge(job)

    def judge_tables(self, what: str, theirs: bytes, would: WouldReveal | None = None) -> Objection | None:
        """Object to another table or list of the peer's, by its commitment, than the approved job began with.

        And to another table of ours than was approved: `local` may have been read again since the job was judged. What
        the job begins with is put on record.
        `would` is what the job would reveal with theirs, where the peer's columns are known.
        """
        if self._asked is None:
            return None
        flaw = self._judge(self._asked)
        if flaw is not None:
            return flaw
        proposal = self._digest(self._asked)
        begun = self.entries.noted(ProposedTableEntry, self.local.dataset)
        known = [each.theirs for each in begun if (each.proposal, each.what) == (proposal, what)]
        other = None if theirs in known or not known else what
        if would is not None and other is None and would.passes(self._found()[proposal].said.reveals):
            other = "columns"
        if other is not None:
            flaw = self._judge(self._asked, other, canonical(theirs, would.amount if would else b""), would)
        if flaw is None and not known:
            self.entries.write(ProposedTableEntry(self.local.dataset, proposal, what, theirs))
        return flaw

    def judge_agreed(self, agreed: Agreement | Crossed, local: PartyInputs) -> Objection | None:
        """Object likewise to the table with which a job was agreed, or to more than was signed."""
        if self._asked is None:
            return None
        match agreed:
            case Crossed():
                would = WouldReveal(counts=agreed.cells, epsilon=agreed.terms.noise)
            case Agreement():
                would = would_reveal(local, agreed.terms, agreed_sizes(agreed, local))
        return self.judge_tables("table", agreed.commitment, would)

    def judge_same_list(self) -> Objection | None:
        """Object likewise, where the peer's list is ours; the one that an alignment has left to both is no other."""
        if self._asked is not None and len(self.local.records) < self.local.listed:
            return self._judge(self._asked)
        return self.judge_tables("list", _OUR_LIST)

    def _found(self) -> dict[bytes, Proposal]:
        return {each.said.proposal: each for each in proposals(self.entries.ledger.entries(), self.is_good)}

    def _judge(
        self, job: Job, other: str | None = None, theirs: bytes = b"", would: WouldReveal | None = None
    ) -> Objection | None:
        digest, found = self._digest(job, other, theirs), self._found()
        proposal = found.get(digest)
        if proposal is None and self._is_full([*found.values()], by_peer=not self.initiates or other is not None):
            return Objection(
                "approval",
                f"{MOST_WAITING} jobs of {self.entries.peer.name} wait, so no other is kept: decide about these "
                f"(`cotally status {self.config.folder}`)",
            )
        if proposal is None:
            content, records = job_content(job), len(self.local.records)
            said = ProposalEntry(
                self.local.dataset, digest, content, self.initiates, records, would or WouldReveal(), other
            )
            self._new = said, partial(self._would_reveal, job) if would is None else lambda: would
            proposal = Proposal(said, self.entries.peer, self.entries.date())
        self._allowed = digest
        return self._objection(proposal)

    def _objection(self, proposal: Proposal) -> Objection | None:
        folder, approvals = self.config.folder, self.config.agree.approvals
        if proposal.refused:
            return Objection(
                "refusal", f"job {proposal.name} was refused here (`cotally ledger {folder}` shows by whom)"
            )
        if not proposal.waits(approvals):
            return None
        peer = self.entries.peer.name
        by = "we propose" if self.initiates else f"{peer} proposes"
        more = f" (more than was signed, by {peer}'s columns)" if proposal.said.other == "columns" else ""
        needed = proposal.still_needed(approvals)
        who = "one person" if needed == 1 else f"{needed} people"
        return Objection(
            "approval",
            f"{by} job {proposal.name}{more}, which waits for {who} here to approve it: `cotally status {folder}` "
            "shows it, `cotally approve` signs it",
        )

    def _would_reveal(self, job: Job) -> WouldReveal:
        """Return what a job would reveal and cost, by what is known before anything is compared."""
        local = self.local
        match job:
            case Align():
                return WouldReveal(people=local.listed)
            case Predict():
                return WouldReveal(people=len(self.offers.offer.shared.people))
            case Crosstab(asked):
                sizes = {each.name: each.size for each in local.table.attributes}
                cells = sizes.get(asked.column_of(initiates=self.initiates), 0) * local.limits.most_values
                return WouldReveal(counts=cells or None, epsilon=asked.noise if cells else None)
            case Train(terms):
                would = would_reveal(local, terms, supposed_run(local, terms, Supposed(max(1, len(local.attributes)))))
                try:  # NB: after that work, which so takes as long where our table or ledger refuses the job
                    check_job(local, self.config, job)
                except InputError:
                    return WouldReveal()
                return would

    def _is_full(self, found: list[Proposal], *, by_peer: bool) -> bool:
        """Return whether as many wait as a peer may cause: by jobs, or by other tables and lists to a job of ours."""
        peer, approvals = self.entries.peer, self.config.agree.approvals
        caused = (each for each in found if each.peer == peer and (not each.said.ours or each.said.other is not None))
        return by_peer and sum(each.waits(approvals) for each in caused) >= MOST_WAITING

    def _digest(self, job: Job, other: str | None = None, theirs: bytes = b"") -> bytes:
        """Return what people sign: a digest of all that must be the same for their decision to hold."""
        local, peer = self.local, self.entries.peer
        names = [attribute.name for attribute in local.table.attributes]
        groups = sorted(sorted(names[column] for column in group) for group in local.groups)
        same = [peer.name, peer.fingerprint, local.dataset, self.initiates, job_content(job), groups, other]
        rows = b""
        if isinstance(job, Predict):
            shared = self.offers.offer.shared
            rows = canonical(*(person.encode() for person in shared.people), shared.codes.tobytes())
        table = local.whole_digest
        return keyed_digest(local.secrets.coins, b"proposal", json.dumps(same).encode(), table, rows, theirs)


def decide(folder: Path, secret: bytes, run: str, who: str, *, approved: bool, clock: Calendar = now) -> Proposal:
    """Sign a decision about a proposed job and put it on record; `serve` may be at work in the folder meanwhile."""
    name, identity, moment = read_name(who), read_identity(folder), clock()
    if not has_ledger(folder):
        named_proposal((), run)
    with join_ledger(folder, secret) as ledger:
        found = named_proposal(proposals(ledger.entries(), signed_here(folder)), run)
        if found.ended is not None:
            raise InputError(f"job {run} has run, by {found.ended}: see what it revealed in `cotally ledger {folder}`")
        if (before := found.word_of(name)) is not None and before[1] == approved:
            done = "approved" if approved else "refused"
            raise InputError(f"{before[0]} has {done} job {run} already, and counts once: another person signs next")
        if found.refused and (before is None or before[1]):
            refuser = found.refusers[0]
            raise InputError(f"job {run} was refused by {refuser}: it does not run, unless {refuser} approves it")
        digest = found.said.proposal
        statement = decision_statement(digest, name, date_text(moment), approved=approved)
        said = DecisionEntry(found.said.dataset, digest, approved, name, identity.sign(statement))
        PeerEntries(ledger, found.peer, lambda: moment).write(said)
        return named_proposal(proposals(ledger.entries(), signed_here(folder)), run)


def would_reveal(local: PartyInputs, terms: Terms, sizes: Sizes) -> WouldReveal:
    """Return what training on these terms would reveal and cost, with what both parties bring."""
    domains, classes, train = sizes.domains, sizes.classes, training_records(sizes.records, terms)
    most, likely, rules = most_counts(domains, classes, train, terms), None, None
    if isinstance(terms, MiningTerms):
        try:
            rules = guess_rules(local, terms)
        except InputError:  # of our own sets more are frequent than the job allows
            return WouldReveal(counts=most, likely_counts=0)
        likely = rules.counts
    elif terms.reveals_counts:
        likely = most_counts(domains, classes, train, terms, round(guess_splits(domains, terms, train)))
    means = measure(terms, local, local.computing.encryption, available_cpus())
    cost = forecast(sizes, terms, means, rules=rules)
    read = None
    if sends_copy(local, terms):
        told = local.disclosed(local.design(terms.theta, class_is_shared=False))
        read = (len(local.records),) * 2 if told is None else (told.copy.whole, told.copy.records)
    return WouldReveal(
        bits=most_tree_bits(domains, classes, sizes.records, terms),
        likely_bits=likely_tree_bits(domains, classes, sizes.records, terms),
        counts=most or None,
        likely_counts=likely,
        epsilon=terms.epsilon,
        read=read,
        seconds=round(cost.seconds, 1),
        megabytes=round(cost.bytes / 1e6, 1),
    )
