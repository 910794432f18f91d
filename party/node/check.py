"""What leaves a party, looked at before it leaves: columns, the copy, earlier releases, and what a run would reveal.

The copy is measured by the same code as a survey's design (`protocols.privacy`), with the frequencies of the data
themselves as what a receiver may know beforehand.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np

from party.data.columns import different_in
from party.errors import ConfigError
from party.forecast.model import Sizes, guess_rules
from party.models.any_file import KeptResult
from party.names import printable
from party.node.aligning import load_common
from party.node.policy import Account, check_design, check_job, object_to_bits
from party.records.finished import FinishedRun
from party.records.ledger import LedgerEntry, has_ledger, read_ledger
from party.records.ledger_entries import CopyEntry
from party.records.releases import Earlier, alike, check_table, names_released, released, spent_before, spent_of
from party.records.tally import Revealed, dealings
from party.settings.job import usual_terms
from party.settings.party import PartyConfig
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.jobs import Train
from protocols.learning.grouping import ColumnWorth, column_worth
from protocols.learning.tree import Tree
from protocols.noise.accounting import Spending, TreeSpending, changes_of
from protocols.privacy.attack import Disclosure
from protocols.privacy.findings import Findings, measure_design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.secret_tree.bits import Follows
from protocols.tables import Attribute
from protocols.terms import KEY_FLOOR, NO_CLASS, Leaves, MiningTerms, Terms
from protocols.two_party.agreement import NO_COPY, Agreement, split_sizes
from protocols.two_party.bounds import Room, most_counts, most_tree_bits, room_for_levels
from protocols.two_party.inputs import PartyInputs, training_records
from protocols.two_party.noise import tree_spending
from protocols.two_party.power import Seen, seen_of_alike
from protocols.two_party.secret import deduced


@dataclass(frozen=True)
class LeavingColumn:
    """What a column became: values and who holds them, its group if disguised, what it says of our class."""

    name: str
    values: Mapping[str, int]
    is_class: bool
    group: int | None
    worth: ColumnWorth | None = None

    @property
    def rarest(self) -> int:
        """How many records hold the value that fewest hold."""
        return min(self.values.values())


@dataclass(frozen=True)
class Past:
    """What was revealed of a data set before: the terms of its release, runs on different terms, counts, epsilon.

    `epsilon` is None where answers without noise were given, which no epsilon bounds. `others` are the data sets
    that share columns with this one, each with what was revealed of it, `changed` what of the table is not as released,
    `records` how many we bring, None where that is not known.
    """

    release: Mapping[str, object]
    runs: int
    revealed: Revealed
    epsilon: Fraction | None
    bits: int = 0
    others: tuple[tuple[Earlier, "Past"], ...] = ()
    changed: ConfigError | None = None
    records: int | None = None

    @property
    def counts(self) -> int:
        """All counts that were revealed."""
        return self.revealed.counts


@dataclass(frozen=True)
class Assessment:
    """What a run on these terms reveals beside copies and model: `plan`, `check` and the report show this.

    Of exact counts, or such with noise, there are `most`, and probably `likely` where rules are looked for. `noise` is
    what each side spends on them, ours first, or either on a tree alone. `seen` is by how much the peer's false counts
    must be wrong for us to see it, `flaw` why we would refuse the run. `records` are trained on, `tests` held out.
    `columns` are those, or conditions of two-way splits, that compete at the root. `bits` are
    those of the tree that reveals most, where it alone is revealed without noise, and leave `room` for so few levels
    (None where they end no tree early). The rarest class has the share `rarest` of our people; 0 if not known.
    """

    terms: Terms
    most: int
    likely: int | None
    noise: tuple[Spending, Spending] | TreeSpending | None = None
    seen: Seen | None = None
    flaw: InputError | None = None
    records: int = 0
    tests: int = 0
    columns: int = 0
    classes: int = 2
    bits: int | None = None
    room: Room | None = None
    holds_class: bool = False
    rarest: float = 0.0


@dataclass(frozen=True)
class OwnCopy:
    """A copy of our table: what it discloses of each column, what its receiver reads, why `[agree]` refuses it."""

    found: Findings
    read: Disclosure | None
    refused: InputError | None = None


@dataclass(frozen=True)
class LeavingCheck:
    """All that a look before leaving finds; `copy` is None where no copy leaves, `is_usual` where no job was given."""

    dataset: str
    records: int
    columns: tuple[LeavingColumn, ...]
    copy: OwnCopy | None
    past: Past
    run: Assessment
    is_usual: bool = False


def check_party(
    local: PartyInputs, config: PartyConfig, terms: Terms | None, peer_columns: int, shown: Callable[[str], str] = str
) -> LeavingCheck:
    """Look at what would leave in a run with a peer of this many columns; `shown` writes names and values."""
    past = past_before(local, config.folder)
    before = past.release.get("class", NO_CLASS)  # which `init`'s job then has, where the peer holds it
    label = config.data.class_column or (None if before == NO_CLASS else str(before))
    job = terms or usual_terms(label, local.listed, Leaves.TENTHS)
    return LeavingCheck(
        dataset=local.dataset,
        records=len(local.records),
        columns=_columns(local, shown),
        copy=_copy(local, config, job, shown),
        past=past,
        run=assess_job(local, config, job, Supposed(peer_columns)),
        is_usual=terms is None,
    )


def _columns(local: PartyInputs, shown: Callable[[str], str]) -> tuple[LeavingColumn, ...]:
    found = []
    for place, attribute in enumerate(local.table.attributes):
        held = np.bincount(local.table.codes[:, place], minlength=attribute.size).tolist()
        values = {shown(value): count for value, count in zip(attribute.values, held, strict=True)}
        group = next((number for number, group in enumerate(local.groups) if place in group), None)
        is_class = local.holds_class and place == len(local.attributes)
        worth = _worth(local, place) if local.holds_class and not is_class else None
        found.append(LeavingColumn(shown(attribute.name), values, is_class, group, worth))
    return tuple(found)


def _worth(local: PartyInputs, place: int) -> ColumnWorth:
    """Return what a column of ours says of our class."""
    sizes = (local.table.attributes[place].size, local.table.attributes[-1].size)
    both = np.ravel_multi_index(local.table.codes[:, [place, -1]].T.astype(np.intp), sizes)
    counts = np.bincount(both, minlength=sizes[0] * sizes[1]).reshape(sizes)
    held = zip(local.table.attributes[place].values, counts.sum(axis=1).tolist(), strict=True)
    return column_worth(counts, different_in(tuple(value for value, records in held if records)))


def sends_copy(local: PartyInputs, terms: Terms) -> bool:
    """Return whether a disguised copy of ours leaves in a run: who mines a tree from the peer's sends none."""
    return terms.disguises and not (terms.mines and local.holds_class)


def _copy(local: PartyInputs, config: PartyConfig, terms: Terms, shown: Callable[[str], str]) -> OwnCopy | None:
    """Measure our copy, with the class among its columns where we hold it; the peer may not."""
    if not sends_copy(local, terms):
        return None
    design = local.design(terms.theta, class_is_shared=False)
    copy = own_copy(local, design, shown)
    try:
        check_design(local, design, config.agree.odds, copy.read)
    except InputError as error:
        return replace(copy, refused=error)
    return copy


def own_copy(local: PartyInputs, design: RelatedDesign, shown: Callable[[str], str] = str) -> OwnCopy:
    """Measure a disguise of our columns; a receiver is taken to know how common each value is."""
    columns = _columns(local, shown)[: len(design.sizes)]
    found = measure_design(
        design,
        [column.name for column in columns],
        [tuple(column.values) for column in columns],
        [tuple(Fraction(held, len(local.records)) for held in column.values.values()) for column in columns],
    )
    return OwnCopy(found, local.disclosed(design))


def released_copy(config: PartyConfig, entries: Sequence[LedgerEntry], copy: CopyEntry) -> OwnCopy | None:
    """Measure a copy that was sent; None where the table that was released is not here any more as it was."""
    try:
        local = _under_name(config, copy.dataset)
    except InputError:
        return None
    names = [attribute.name for attribute in local.table.attributes]
    sent = {*copy.plain, *(name for group in copy.groups for name in group)}
    design = local.design(copy.theta, class_is_shared=local.holds_class and names[-1] not in sent)
    groups = [[names[column] for column in group] for group in design.groups]
    known = released(entries).get(copy.dataset, {}).get("records") == local.digest(b"contents").hex()
    if not known or sorted(map(sorted, groups)) != sorted(map(sorted, copy.groups)):
        return None
    return own_copy(local, design, printable)


def released_follows(config: PartyConfig, run: FinishedRun, model: KeptResult) -> Follows | None:
    """Return what follows for certain from a tree alone; None of all else, or where the table is another now."""
    terms = run.begun.agreed
    if not terms.opens_tree or not isinstance(model, Tree):
        return None
    try:
        local = _under_name(config, run.begun.dataset).bringing(terms)
    except InputError:
        return None
    ours, theirs = run.begun.tables
    if local.digest(b"contents") != ours:
        return None
    agreed = Agreement(terms, model.schema, run.peer.name, NO_COPY, NO_COPY, theirs)
    return deduced(local, agreed, model)


def _under_name(config: PartyConfig, dataset: str) -> PartyInputs:
    """Read our table under the name by which it was released: that in our settings may be another by now."""
    return load_common(replace(config, data=replace(config.data, dataset=dataset)), KEY_FLOOR)


def past_before(local: PartyInputs, folder: Path) -> Past:
    """Return what a data set has revealed before, as the ledger in the party's folder has it."""
    if not has_ledger(folder):
        return Past({}, 0, Revealed(), Fraction(0))
    with read_ledger(folder, local.secrets.coins) as ledger:
        past = past_of(list(ledger.entries()), local.dataset, {each.name for each in local.table.attributes})
    past = replace(past, records=len(local.records))
    try:
        check_table(local, past.release, folder)
    except ConfigError as error:
        return replace(past, changed=error)
    return past


def past_of(entries: Sequence[LedgerEntry], dataset: str, columns: Set[str] = frozenset()) -> Past:
    """Return what was revealed of a data set, as these entries have it, and of all others that have columns of it.

    Those are `columns` where nothing of it was released yet.
    """
    others = released(entries)
    past = _past_of(entries, dataset, others.pop(dataset, {}))
    found = alike(others, names_released(past.release) or columns)
    return replace(past, others=tuple((each, _past_of(entries, each.dataset, others[each.dataset])) for each in found))


def _past_of(entries: Sequence[LedgerEntry], dataset: str, known: dict[str, object]) -> Past:
    ours = [each for each in dealings(entries) if each.dataset == dataset]
    return Past(
        release=known,
        runs=len({run.reveal_key for each in ours for run in each.runs.values()}),
        revealed=sum((each.revealed for each in ours), start=Revealed()),
        epsilon=spent_before(spent_of(known)),
        bits=ceil(sum(each.bits for each in ours)),
    )


@dataclass(frozen=True)
class Supposed:
    """What a run that has not begun is taken for: the columns of the peer; records and splits, if not those of ours."""

    peer_columns: int
    records: int | None = None
    splits: int | None = None


def supposed_sizes(local: PartyInputs, terms: Terms, peer_columns: int) -> tuple[list[int], list[int]]:
    """Return how many branches the splits of each side have, ours first, of a peer whose columns are like ours."""
    own = [branches for _, branches in split_sizes(local.attributes, terms)]
    mean, many = (sum(own) / len(own), len(own) / len(local.attributes)) if own else (2, 1)
    return own, [round(mean)] * max(1, round(many * peer_columns))


def supposed_run(local: PartyInputs, terms: Terms, supposed: Supposed) -> Sizes:
    """Return what a forecast takes both parties to bring to it."""
    return Sizes(
        records=supposed.records or len(local.records),
        sides=supposed_sizes(local, terms, supposed.peer_columns),
        class_holder=0 if local.holds_class else 1,
        classes=local.class_attribute.size if local.class_attribute else 2,
    )


def assess(local: PartyInputs, config: PartyConfig, terms: Terms, supposed: Supposed) -> Assessment:
    """Say what a run would reveal, and whether our bounds allow it, once `check_job` has passed."""
    sizes = supposed_run(local, terms, supposed)
    (own, peer), records = sizes.sides, sizes.records
    found = _assessed(terms, sizes.domains, sizes.classes, records, supposed.splits)
    found = replace(found, holds_class=local.holds_class)
    if local.holds_class:
        held = np.bincount(local.table.codes[:, -1], minlength=local.table.attributes[-1].size)
        found = replace(found, rarest=float(held.min() / max(1, held.sum())))
    try:
        found = replace(found, noise=spendings(terms, len(own), len(peer), found.records, alone=local.holds_class))
        likely = guess_rules(local, terms, supposed.records).counts if isinstance(terms, MiningTerms) else None
        found = replace(found, likely=likely, seen=seen_of_alike(local, terms, records) if own else None)
    except InputError as error:
        return replace(found, flaw=error)
    return replace(found, flaw=used_up(local, config, terms, found.bits))


def _assessed(
    terms: Terms, domains: Sequence[int], classes: int, records: int, splits: int | None = None
) -> Assessment:
    """Return what follows from the sizes of a run alone."""
    train = training_records(records, terms)
    return Assessment(
        terms,
        most_counts(domains, classes, train, terms, splits),
        likely=None,
        records=train,
        tests=records - train,
        columns=len(domains),
        classes=classes,
        bits=most_tree_bits(domains, classes, records, terms),
        room=room_for_levels(domains, classes, records, terms),
    )


def assess_job(local: PartyInputs, config: PartyConfig, terms: Terms, supposed: Supposed) -> Assessment:
    """Say what a run would reveal, and why we would refuse it, if we would."""
    run = assess(local, config, terms, supposed)
    try:
        check_job(local, config, Train(terms))
    except InputError as error:
        return replace(run, flaw=error)
    return run


def assess_finished(run: FinishedRun, party: str, model: KeptResult) -> Assessment:
    """Say what a run that is over was to reveal to this party, by the sizes that its model shows."""
    terms, owners = run.begun.agreed, run.begun.label.owners
    columns = model.attributes if isinstance(model, JointItemsets) else model.schema.attributes
    classes = 1 if isinstance(model, JointItemsets) else model.schema.classes
    return assess_agreed(terms, columns, classes, run.begun.records, party, alone=owners == (party,))


def assess_agreed(
    terms: Terms, columns: Sequence[Attribute], classes: int, records: int, party: str, *, alone: bool
) -> Assessment:
    """Say what a run over these columns reveals to this party, which may hold the class `alone`."""
    own = sum(attribute.party == party for attribute in columns)
    found = _assessed(terms, [attribute.size for attribute in columns], classes, records)
    noise = spendings(terms, own, len(columns) - own, found.records, alone=alone)
    return replace(found, noise=noise, holds_class=alone)


def spendings(
    terms: Terms, own: int, peer: int, train: int, *, alone: bool
) -> tuple[Spending, Spending] | TreeSpending | None:
    """Return what each side would spend, ours first, or either on a tree; the class is ours `alone`, or the peer's."""
    if terms.noise is None or terms.levels is None:
        return None
    if terms.hides_counts:
        return tree_spending(own + peer, terms.growth, train)
    sides = ((own, alone), (peer, not alone))
    changes = (changes_of(own + peer, mine, holds, terms.window, terms.levels) for mine, holds in sides)
    ours, theirs = (Spending(terms.noise, each) for each in changes)
    return ours, theirs


def used_up(local: PartyInputs, config: PartyConfig, terms: Terms, bits: int | None = None) -> InputError | None:
    """Return why our bounds over the life of a data set leave no run of these terms and bits; None if they do."""
    bounds, records = config.agree.life, len(local.records)
    if not has_ledger(config.folder):
        objection = object_to_bits(bounds, records, Fraction(0), Fraction(bits or 0))
        return None if objection is None else InputError(objection.reason)
    with read_ledger(config.folder, local.secrets.coins) as ledger:
        account = Account(local, bounds, ledger)
        objection = account.judge_job(Train(terms))
        if objection is None and bits is not None:
            objection = account.judge_bits(terms, Fraction(bits))
    return None if objection is None else InputError(objection.reason)
