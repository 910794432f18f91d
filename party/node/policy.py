"""What a party agrees to, by its settings, its data and all that it has released before (FAULTS B7, DESIGN 12).

It is judged before anything leaves, and so is what all runs over a data set may reveal together.

The ledger has what was revealed. A run on the terms of an earlier one reveals nothing new: over the same tables it
asks for the same counts, and gets the same numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from party.data import EVERY_OTHER, ColumnTreatment
from party.errors import ConfigError
from party.keys.certificates import Peer
from party.names import odds_words, suggestion
from party.records.ledger import Ledger, PeerName, noted
from party.records.ledger_entries import (
    UNLISTED,
    AnswersEntry,
    CrosstabEntry,
    EntryOfData,
    EntryOfRun,
    OpenedEntry,
    RunEntry,
    reveal_key_text,
)
from party.records.releases import check_release, release_of, released
from party.records.run_entries import tables_of
from party.records.tally import Dealings
from party.settings.party import Acceptance, LifeBounds, PartyConfig
from protocols.errors import InputError
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Predict, PredictionTerms, Receiver, Train
from protocols.privacy.attack import Disclosure
from protocols.privacy.loss import shared_coins, too_strong
from protocols.randomized_response.moments import drowns, noise
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import nothing
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import ALL, DEPTH, NOISE, OMEGA, MiningTerms, Reveal, Terms
from protocols.two_party.agreement import Agreement, Policy, object_to_limits
from protocols.two_party.bounds import most_counts
from protocols.two_party.crosstab import Crossed
from protocols.two_party.inputs import PartyInputs, training_records
from protocols.two_party.objections import Objection


def check_job(local: PartyInputs, config: PartyConfig, job: Job, peer: Peer | None = None) -> None:
    """Refuse, before the peer is called, a job that we ourselves cannot or must not run; a mere plan calls nobody."""
    match job:
        case Train(terms):
            _check_training(local, config, terms)
        case Align():
            pass
        case Predict(asked):
            if (flaw := _prediction_objection(config.agree, asked, initiates=True)) is not None:
                raise ConfigError(flaw.reason)
        case Crosstab(wanted):
            flaw = _column_objection(local, wanted, initiates=True)
            if (flaw := flaw or _crosstab_objection(config, wanted, initiates=True)) is not None:
                raise ConfigError(flaw.reason)
    who = None if peer is None else (peer.name, peer.fingerprint)
    check_release(config.folder, release_of(local, job, who))


def _check_training(whole: PartyInputs, config: PartyConfig, terms: Terms) -> None:
    local = whole.bringing(terms)
    label = local.class_attribute
    if label is not None and label.name != terms.class_name:
        raise ConfigError(
            f"the job asks for the class {terms.class_name!r}; our class column is {label.name!r}: "
            f"write class = {label.name!r} in the job"
        )
    bits = local.secrets.key.bits
    if terms.encrypts and bits < terms.key_bits:
        raise ConfigError(
            f"the key in {config.folder} has {bits} bits, the job asks for {terms.key_bits}: "
            f"lower key_bits, or make a new folder with a key of that length"
        )
    flaw = object_to_limits(local, terms)
    if flaw is not None:
        raise ConfigError(flaw.reason)
    refused = _terms_objection(config, terms) or _bits_objection(local, config.agree, terms)
    if refused is not None:
        raise ConfigError(refused.reason)
    if terms.disguises:
        check_disguise(local, terms, config.agree.odds)


def check_disguise(local: PartyInputs, terms: Terms, most_odds: Fraction | None) -> None:
    """Refuse a theta under which our copy would give stronger odds than these, or drown in its noise (FAULTS B6)."""
    check_design(local, local.design(terms.theta, class_is_shared=False), most_odds)


def check_design(
    local: PartyInputs, design: RelatedDesign, most_odds: Fraction | None, read: Disclosure | None = None
) -> None:
    """Refuse a disguise of our columns by the same rules; `read` is what its receiver reads, where that is known."""
    if most_odds is not None:
        _check_odds(local, design, most_odds)
        _check_shared(local, design, read)
    for group in range(len(design.groups)):
        error = noise(design, group, len(local.records))
        if drowns(error, len(local.records)):
            raise InputError(
                f"theta = {design.theta} is too close to 1/2: with {len(local.records)} records "
                f"the standard error of a count would be {error:.0f} records"
            )


def _check_odds(local: PartyInputs, design: RelatedDesign, most: Fraction) -> None:
    found = too_strong(design, [attribute.name for attribute in local.table.attributes], most)
    if found is not None:
        name, odds = found
        raise InputError(
            f"theta = {design.theta} would send column {name!r} with odds of {odds_words(odds.truth, odds.other)}; "
            f"our [agree] odds allow {most} to 1: choose a theta closer to 1/2"
        )


def _check_shared(local: PartyInputs, design: RelatedDesign, read: Disclosure | None) -> None:
    """Refuse columns that share a coin as soon as a receiver reads them more often than with a coin each."""
    if not shared_coins(design):
        return
    found = local.disclosed(design) if read is None else read
    if found is None:
        return
    for group in found.joined:
        names = [local.table.attributes[column].name for column in design.groups[group]]
        shared, apart = (100 * each.groups[group] / each.records for each in (found.copy, found.apart))
        raise InputError(
            f"columns {', '.join(map(repr, names))} share a coin: a receiver would read them in {shared:.1f}% of "
            f"records, with one coin per column in {apart:.1f}%; our [agree] odds refuse that: leave [disguise] "
            'groups out, or set odds = "any"'
        )


def make_policy(
    local: PartyInputs, config: PartyConfig, *remembered: Policy, people: Policy = nothing, initiates: bool = False
) -> Policy:
    """Return what this party objects to: by its settings, its data, or what it has revealed before, and to whom.

    `people` are asked as soon as the settings allow a job: what is refused later shows a peer what our table is.
    """

    def by_settings(job: Job) -> Objection | None:
        match job:
            case Train(terms):
                return _terms_objection(config, terms)
            case Align():
                return None if config.agree.alignments.most_alignments else Objection("job", _NO_ALIGNMENT)
            case Predict(asked):
                return _prediction_objection(config.agree, asked, initiates=initiates)
            case Crosstab(wanted):
                return _crosstab_objection(config, wanted, initiates=initiates)

    def by_table(job: Job) -> Objection | None:
        match job:
            case Train(terms):
                brought = local.bringing(terms)
                flaw = _bits_objection(brought, config.agree, terms)
                return flaw or _disguise_objection(brought, terms, config.agree.odds)  # last: it attacks our copy
            case Align() | Predict():
                return None
            case Crosstab(wanted):
                return _column_objection(local, wanted, initiates=initiates)

    judges = (by_settings, people, by_table, *remembered)
    return lambda job: next((flaw for judge in judges if (flaw := judge(job)) is not None), None)


def first_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    """Return the first term that the method uses and this party does not agree to, as far as settings alone say."""
    every = f"{terms.method} (all attributes)"
    widest = agree.omega is ALL or (terms.window is not ALL and terms.window <= agree.omega)
    of_rules = isinstance(terms, MiningTerms)
    shallow = terms.levels is not None and terms.levels <= (agree.max_depth or 0)
    fits = (
        ("method", terms.method, terms.method in agree.methods),
        ("omega", OMEGA.text(terms.omega) if terms.ranks else every, widest or not terms.counts_exactly or of_rules),
        ("counting", str(terms.counting), terms.counting in agree.counting or not terms.counts_exactly),
        ("key_bits", terms.key_bits, terms.key_bits >= agree.smallest_key_bits or not terms.encrypts),
        ("max_depth", DEPTH.text(terms.levels), agree.max_depth is None or shallow),
        ("min_leaf", terms.min_leaf, terms.min_leaf >= agree.min_leaf or terms.noises_tree),
        ("noise", NOISE.text(terms.epsilon), _is_noisy_enough(agree, terms.epsilon)),
    )
    cures = {"noise": f': write noise = "{_most_noise(agree)}" or less in the job'}
    asked = ((term, f"{term} = {value}", cures.get(term, _EITHER)) for term, value, fit in fits if not fit)
    unwelcome = next((_unwelcome(*each) for each in asked), None)
    if terms.epsilon is None and unwelcome is not None and unwelcome.field == "noise":
        way = f'{cures["noise"]}, or epsilon = "any" under [agree]'
        bound = "our [agree] epsilon, which is a number, allows only runs with noise"
        unwelcome = Objection("noise", f"the job has no noise, and {bound}{way}")
    return unwelcome or _sets_objection(agree, terms) or _counts_objection(agree, terms)


def _counts_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    """Object to noise in place of other bounds of ours, if no epsilon of ours bounds it, and to counts without any."""
    if terms.noise is not None:
        excuses = terms.noises_tree or not agree.exact_counts
        return _unbounded(terms.epsilon) if agree.epsilon is None and excuses else None
    shows_none = terms.reveal == Reveal.TREE  # a tree mined without noise is bounded by no bits
    return None if agree.exact_counts or shows_none else Objection("reveal", _NO_EXACT_COUNTS)


def _unbounded(epsilon: Fraction | None) -> Objection:
    return Objection("noise", f"the job asks for noise = {NOISE.text(epsilon)}: {_NO_EPSILON}")


def _sets_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    most = agree.most_sets
    if isinstance(terms, MiningTerms) and most is not None and terms.rules.most_sets > most:
        return _unwelcome("rules", f"most_sets = {terms.rules.most_sets:,}", f": use {most:,} or fewer")
    return None


def _terms_objection(config: PartyConfig, terms: Terms) -> Objection | None:
    """Return the first term that our settings do not allow."""
    columns = {**config.columns.named, EVERY_OTHER: config.columns.others}
    return first_objection(config.agree, terms) or _by_class_objection(columns, terms.noise)


def _by_class_objection(columns: Mapping[str, ColumnTreatment], noise: Fraction | None) -> Objection | None:
    """Object to noise beside names of values that follow from the class, which have none."""
    by_class = [name for name, each in columns.items() if each.by_class]
    if noise is None or not by_class:
        return None
    return Objection(
        "noise",
        f"the job asks for noise, and our [columns] {', '.join(by_class)} follow from the class without any: "
        'give them bins = "quantiles:4" or max_values alone, or take noise out',
    )


def _bits_objection(local: PartyInputs, agree: Acceptance, terms: Terms) -> Objection | None:
    """Object to more bits than ever may be revealed of as many records as we bring."""
    most = agree.life.bits_of(len(local.records))
    fits = most is None or terms.most_bits is None or terms.most_bits <= most
    return None if fits else _unwelcome("most_bits", f"most_bits = {terms.most_bits:,}", f": use {most} or fewer")


_EITHER = ": change the job, or allow it there"


def _unwelcome(term: str, asked: str, cure: str = _EITHER) -> Objection:
    """Object to a term, and name the key that refuses it, and a way out."""
    key = _AGREE_KEYS.get(term, term)
    return Objection(term, f"the job asks for {asked}, our [agree] {key} does not allow it{cure}")


def _most_noise(agree: Acceptance) -> str:
    return NOISE.text(min((bound for bound in (agree.noise, agree.epsilon) if bound is not None), default=None))


_NO_EXACT_COUNTS = (
    'by reveal = "counts" or "sets" the peer sees exact counts, or how they compare, from which it can work out '
    'records of ours: take reveal = "tree", or noise, or allow it by [agree] exact_counts = true'
)
_NO_EXACT_TABLE = (
    "from exact counts the peer can work out records of ours: ask for noise, or allow it by [agree] exact_counts = true"
)
_NO_EPSILON = (
    'our [agree] epsilon is "any", and noise protects nobody without a bound: write the most that all runs over '
    'the data set may spend, such as epsilon = "1"'
)
_NO_ANSWERS = (
    "our [agree] most_predictions is 0: an answer about a person shows on which side of our splits that person is; "
    "set it to the number of people about whom we may answer"
)
_NO_NOISE = (
    "our [agree] epsilon bounds what is learned about each person, and an answer has no noise: no prediction is allowed"
)
_NO_ALIGNMENT = (
    "our [agree] most_alignments allows no alignment: bring tables of the same people on both sides, or set it to 1"
)
_AGREE_KEYS = {
    "method": "methods",
    "key_bits": "smallest_key_bits",
    "noise": "noise or epsilon",
    "rules": "most_sets",
}
"""What bounds a term, where it has another name."""


def _prediction_objection(agree: Acceptance, terms: PredictionTerms, *, initiates: bool) -> Objection | None:
    """Return the first term of a joint prediction that this party does not agree to."""
    if terms.receiver is not (Receiver.INITIATOR if initiates else Receiver.RESPONDER):
        if not agree.life.allows_predictions:
            return Objection("predictions", _NO_ANSWERS)
        if agree.epsilon is not None:
            return Objection("predictions", _NO_NOISE)
    if terms.probabilities and not agree.probabilities:
        return _unwelcome("probabilities", "probabilities")
    return None


def _column_objection(local: PartyInputs, terms: CrosstabTerms, *, initiates: bool) -> Objection | None:
    own, held = terms.column_of(initiates=initiates), [each.name for each in local.table.attributes]
    if own in held:
        return None
    reason = f"we have no column {own!r} to count by{suggestion(own, held)}"
    return Objection("initiator" if initiates else "responder", reason)


def _crosstab_objection(config: PartyConfig, terms: CrosstabTerms, *, initiates: bool) -> Objection | None:
    """Return the first term of a table that our settings do not allow."""
    own, agree = terms.column_of(initiates=initiates), config.agree
    if not _is_noisy_enough(agree, terms.noise):
        asked = "exact counts" if terms.noise is None else f"noise = {NOISE.text(terms.noise)}"
        return _unwelcome("noise", asked, f": ask for noise of {_most_noise(agree)} or less")
    treated = {} if own == config.data.class_column else {own: config.columns.named.get(own, config.columns.others)}
    if (flaw := _by_class_objection(treated, terms.noise)) is not None:
        return flaw
    if terms.noise is None:
        return None if agree.exact_counts else Objection("reveal", _NO_EXACT_TABLE)
    # no run of `most_runs`: epsilon alone bounds it
    return None if agree.epsilon is not None else _unbounded(terms.noise)


def _is_noisy_enough(agree: Acceptance, epsilon: Fraction | None) -> bool:
    """Return whether a job's epsilon is within what a run, and all runs together, may spend.

    What earlier runs have spent is judged when it is known which run this is (`releases`).
    """
    bounds = [bound for bound in (agree.noise, agree.epsilon) if bound is not None]
    return all(epsilon is not None and epsilon <= bound for bound in bounds)


def _disguise_objection(local: PartyInputs, terms: Terms, most_odds: Fraction | None) -> Objection | None:
    try:
        if terms.disguises:
            check_disguise(local, terms, most_odds)
    except InputError as error:
        return Objection("theta", str(error))
    return None


MOST_OPENINGS = 3
"""How often one level, or one table of scores, is opened over the life of a data set where noise is in it."""


def object_to_bits(bounds: LifeBounds, records: int, before: Fraction, follow: Fraction) -> Objection | None:
    """Object where what a tree may reveal, beside what was revealed before, is more than ever may be."""
    most = bounds.bits_of(records)
    if most is None or before + follow <= most:
        return None
    left = floor(most - before)
    way = f"write most_bits = {left} in the job" if left > 0 else "return to earlier terms"
    return Objection(
        "most_bits",
        f"our [agree] most_bits allows {most:,} over the life of a data set of {records:,} records: "
        f"{ceil(before):,} revealed before and at most {ceil(follow):,} for this run make "
        f"{ceil(before + follow):,}; {way}, or raise ours",
    )


def _opened_for_nothing() -> Objection:
    return Objection(
        "budget",
        f"runs over these tables stopped {MOST_OPENINGS} times while opening the same answer; no further run is "
        "allowed: more could be subtracted; ask the other side why",
    )


@dataclass(frozen=True, repr=False)
class Account:
    """What has been revealed of our data set, beside what may be."""

    local: PartyInputs
    bounds: LifeBounds
    ledger: Ledger

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a run that would be one too many."""
        match job:
            case Train(terms):
                return self._unlisted() or self._too_many_runs(reveal_key_text(terms))
            case Align() | Predict() | Crosstab():
                return None  # what these ask for is counted when it is known

    def _unlisted(self) -> Objection | None:
        """Object where a number bounds runs or counts of a data set of 0.1, whose counts are on no record."""
        known = released(self.ledger.entries()).get(self.local.dataset, {})
        if UNLISTED not in known or (self.bounds.most_runs is None and self.bounds.most_counts is None):
            return None
        return Objection(
            "budget",
            f"cotally {known[UNLISTED]} revealed exact counts of data set {self.local.dataset!r}, and listed none, "
            "so our [agree] most_runs and most_counts cannot be kept: bring other people, in a file of their own, or "
            'write "any" for both, knowing that what two runs reveal can be subtracted',
        )

    def _too_many_runs(self, key: str) -> Objection | None:
        known = self._dealings().telling
        before = len(known)
        if self.bounds.most_runs is None or key in known or before < self.bounds.most_runs:
            return None
        return Objection(
            "budget",
            f"our [agree] most_runs allows {self.bounds.most_runs:,} over the life of a data set: {before:,} on other "
            f"terms before and this run make {before + 1:,}; return to the terms of one of them, or set most_runs = "
            f"{before + 1} in both party.toml files: what two runs reveal can be subtracted",
        )

    def judge(self, agreed: Agreement) -> Objection | None:
        """Object to a run that could reveal more exact counts, or reveal more bits, than are left."""
        flaw = self._too_many_bits(agreed) or self._opened_too_often(agreed)
        if flaw is not None or self.bounds.most_counts is None:
            return flaw
        key, dealings, most = reveal_key_text(agreed.terms), self._dealings(), 0
        if key not in dealings.finished:  # what a run revealed that has not ended is part of the most that it reveals
            dealings = self._dealings(but=key)
            domains = [attribute.size for attribute in agreed.learning.schema.attributes]
            train = training_records(len(self.local.records), agreed.terms)
            most = most_counts(domains, agreed.schema.classes, train, agreed.terms)
        cure = "ask for a smaller omega or max_depth or a larger min_leaf"
        return self._too_many_counts(dealings.revealed.counts, most, cure)

    def _too_many_counts(self, before: int, follow: int, cure: str) -> Objection | None:
        most = self.bounds.most_counts
        if most is None or before + follow <= most:
            return None
        return Objection(
            "budget",
            f"our [agree] most_counts allows {most:,} over the life of a data set: {before:,} "
            f"revealed before and at most {follow:,} for this run make {before + follow:,}; {cure}, or let most_counts "
            "allow more",
        )

    def judge_crosstab(self, agreed: Crossed) -> Objection | None:
        """Object to a table that was opened too often for nothing, or to one that is exact and one too many."""
        dealings, question = self._dealings(), agreed.question
        about = [
            said.counts
            for said in noted(self.ledger.entries(), CrosstabEntry, self.local.dataset)
            if said.question == question
        ]
        if any(counts is not None for counts in about):
            return None
        if len(about) >= MOST_OPENINGS:
            return _opened_for_nothing()
        if agreed.terms.noise is not None:
            return None
        follow = 0 if question in dealings.crosstabs else agreed.cells
        cure = "ask for a table of fewer values"
        flaw = self._unlisted() or self._too_many_counts(dealings.revealed.counts, follow, cure)
        return flaw or self._too_many_runs(question.hex())

    def _too_many_bits(self, agreed: Agreement) -> Objection | None:
        allowance = Allowance.of(agreed.learning.schema, agreed.terms, len(self.local.records))
        return None if allowance.most is None else self.judge_bits(agreed.terms, allowance.at_most)

    def judge_bits(self, terms: Terms, at_most: Fraction) -> Objection | None:
        """Object to more bits than are left: of all levels that were opened, also by runs that did not end.

        What is on record of a run on these terms is not opened again, and is of the most that it opens; what was
        opened and is not on record is opened twice, and counts twice. The tree that reveals most has `at_most`.
        """
        key, dealings = reveal_key_text(terms), self._dealings()
        if key in dealings.finished:
            return None
        on_record = dealings.on_record.get(key, Fraction(0))
        return object_to_bits(self.bounds, len(self.local.records), dealings.bits, at_most - on_record)

    def _opened_too_often(self, agreed: Agreement) -> Objection | None:
        """Object to a run over tables of which something with noise was opened so often and was not put on record.

        It would be opened again with the same noise, so answers about other columns could be subtracted: by whatever
        terms, since the noise follows from tables and question.
        """
        tables, noisy = tables_of(self.local, agreed), dict[str, bool]()
        lost, opened = Counter[str](), defaultdict[str, set[str]](set)
        for said in (entry.noted for entry in self.ledger.entries()):
            match said:
                case RunEntry(dataset=self.local.dataset) if said.tables == tables:
                    noisy[said.run] = said.agreed.noise is not None
                case AnswersEntry(run=run) if run in noisy:
                    lost.subtract(opened.pop(run, ()))
                case OpenedEntry(run=run, are=None) if run in noisy and (noisy[run] or said.what is OpenedKind.SCORES):
                    asked = {f"{said.what} {sorted(path)}" for path in said.paths or [()]}
                    lost.update(asked)
                    opened[run] = asked if asked & opened[run] else asked | opened[run]
        return None if max(lost.values(), default=0) < MOST_OPENINGS else _opened_for_nothing()

    def answers_left(self, terms: PredictionTerms) -> int | None:
        """Return about how many people we may still answer by this model, below 0 after too many; None for any."""
        dealings, most = self._dealings(), self.bounds.bits_of(len(self.local.records))
        if most is None or terms.model not in dealings.trees:
            return None
        return floor((most - dealings.bits) / dealings.bits_of_answer(terms.model, terms.probabilities))

    def _dealings(self, but: str | None = None) -> Dealings:
        """Add up what was revealed in all runs but those that ask for this: a data set has one peer, under any key."""
        entries, dataset = list(self.ledger.entries()), self.local.dataset
        out = {run.run for run in noted(entries, RunEntry, dataset) if run.reveal_key == but}
        dealings = Dealings(dataset, PeerName("", ""))
        for entry in entries:
            match entry.noted:
                case EntryOfRun(run=run) if run in out:
                    pass
                case EntryOfData(dataset=about) if about == dataset:
                    dealings.add(entry)
        return dealings
