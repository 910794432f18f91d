"""The record of what has left of a data set, which refuses all that would undo it (FAULTS B1, B2, B7; DESIGN 14).

A data set has one disguise, one split and one table of each peer:

* Coins depend on the data set's name, so the same data in the same disguise give the same copy again, which teaches
  nothing. With another theta, other groups or changed data, two copies together would show more than either.
* Counts over two splits of the same records, exact or estimated, can be subtracted, and show single records.
* So can counts against two tables of a peer: what the peer brings is remembered as what we bring is.
* What runs with noise spend adds up (`Spend`).

So each is an entry of the ledger, under the data set's name, before anything that depends on it leaves, a class that
is refused with its split alone, and anything else under that name is refused. What keeps a ledger whole keeps these
whole: an edited or shortened one is not obeyed, and that one was restored from a backup the peer notices.

A refusal names the field that differs. The ledger holds the releases of runs, a secret of coins those of a survey
(`party.keys.coin_secret`).

Each run with noise spends its epsilon once, however often it is asked again: its numbers are the same. Other runs spend
more, and what all of them reveal together is at most the sum. Counts without noise have no epsilon at all.
"""

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from party.errors import ConfigError
from party.records.ledger import LEDGER_FILE, LedgerEntry, PeerEntries, has_ledger, read_ledger
from party.records.ledger_entries import ReleaseEntry
from protocols.jobs import Align, Crosstab, Job, Predict, Train
from protocols.tables import Attribute
from protocols.terms import NO_CLASS, NOISE, Splits, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import Leaving
from protocols.two_party.crosstab import Crossed
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.noise import run_digest
from protocols.two_party.objections import Objection

_UNBOUNDED = "exact"

Spent = Mapping[str, str]
"""Epsilon of each run by its digest; `exact` once answers without noise were given."""


@dataclass(frozen=True)
class Spend:
    """What a run spends: its epsilon under its digest; None where its counts have no noise."""

    run: str
    epsilon: Fraction | None

    @property
    def entry(self) -> dict[str, str]:
        """The run as it is put on record."""
        return {_UNBOUNDED: ""} if self.epsilon is None else {self.run: str(self.epsilon)}

    def refusal(self, spent: Spent, budget: Fraction | None) -> str | None:
        """Return why the run would spend too much, with the arithmetic; None if it would not."""
        if budget is None or self.run in spent:
            return None
        allowed = f"our [agree] epsilon allows {NOISE.text(budget)} over the life of a data set"
        if _UNBOUNDED in spent or self.epsilon is None:
            if self.epsilon is None:
                when, instead = "are asked for", "ask with noise, or take epsilon out of [agree]"
            else:
                when, instead = "about this one were given before", "bring other people, in a file of their own"
            return f"{allowed}, and answers without noise {when}, which no epsilon bounds: {instead}"
        before = spent_before(spent) or Fraction(0)
        after = before + self.epsilon
        if after <= budget:
            return None
        return (
            f"{allowed}: {NOISE.text(before)} spent before (by {len(spent)}) and {NOISE.text(self.epsilon)} for this "
            f"run make {NOISE.text(after)}; ask for a smaller epsilon, or let epsilon allow more"
        )


def spent_before(spent: Spent) -> Fraction | None:
    """Return the epsilon that all runs together have spent; None if answers without noise were given too."""
    return None if _UNBOUNDED in spent else sum(map(Fraction, spent.values()), start=Fraction(0))


def spend_of(local: PartyInputs, agreed: Agreement) -> Spend | None:
    """Return what a run spends; None where no exact counts are made."""
    if not agreed.terms.counts_exactly:
        return None
    return Spend(run_digest(local, agreed).hex(), agreed.terms.epsilon)


_SHOWN = ("class", "theta", "seed", "test", "prune")
"""Fields whose values may be shown: they are terms, and name nothing of a table."""
_BROUGHT = ("class values", "peer columns", "peer order", "peer groups", "peer data", "peer copy")
_ORDER = (
    "party", "class", "columns", "order", "items", "kind", "prune", "disguise", "theta", "groups", "personal",
    "operators", "records", "answers", "seed", "test", *_BROUGHT,
)  # fmt: skip


_NOW = {"theta": ("disguise", "odds"), "seed": ("prune", "0")}
"""Fields that only 0.2.0 wrote, beside which others: where they are absent, their value is this."""
CONTRAST = {"disguise": "contrast"}
"""What an upgrade adds to what an older copy released."""


def first_change(known: Mapping[str, object], fields: Mapping[str, object]) -> str | None:
    """Return the first field that is known to have been released differently, or None; an unknown field may be new."""
    now = dict(_NOW[f] for f in _NOW if f in fields) | {**fields}
    return next((f for f in _ORDER if f in now and known.get(f, now[f]) != now[f]), None)


def refusal(
    dataset: str, field: str, known: Mapping[str, object], fields: Mapping[str, object], record: Path, cure: str
) -> ConfigError:
    """Make the error that says what was released differently, where that is on record, and what to do."""
    now = ""
    if field == "groups" and _are_named(known[field]):
        was = f"groups = {json.dumps(known[field])}"
    elif field not in _SHOWN:
        was = f"other {field}"
    else:
        was = f"{field} {release_text(known[field])}"
        now = f", not with {release_text(fields[field])}" if field in fields else ""
    return ConfigError(f"data set {dataset!r} has been released with {was} before ({record}){now}; {cure}")


def _are_named(groups: object) -> bool:
    """Return whether groups are those of a party, which names their columns; a design of answers numbers them."""
    return isinstance(groups, list) and all(
        isinstance(group, list) and all(isinstance(name, str) for name in group) for group in groups
    )


def release_text(value: object) -> str:
    """Return a term of a release as people read it: runs for rules have no class, and one value stands for it."""
    return "none (association rules)" if value == NO_CLASS else str(value)


_SPENT = "spent"
_DATA_CHANGED = (
    "the data have changed since: bring the earlier table again (records of which nothing was ever released are "
    "another data set, in a file of their own)"
)
_VALUES_CHANGED = (
    "the columns have the same names and other values or bins, as where the file or [columns] changed: return to what "
    "was released, or name the data set otherwise, which gives its people new coins: both releases together show more "
    "than one"
)
_COPIES = "a second copy in another disguise would undo the first: return to it"
_OTHER_SPLIT = "counts over two splits can be subtracted and show single records: return to the first"
_OLDER_DISGUISE = (
    'an older cotally disguised a copy otherwise, and two copies show more than one: take method = "smc", which sends '
    "none"
)
_PRUNED = "no job prunes now, and counts over two splits can be subtracted: bring other people, in a file of their own"
_PEERS = "two peers together would learn more than either: return to the first"
_CLASSES = "answers for two classes show more of a person than for one: return to the first, for life"
_CURES = {
    "party": _PEERS,
    "class": _CLASSES,
    "records": _DATA_CHANGED,
    "columns": _COPIES,
    "order": _VALUES_CHANGED,
    "theta": _COPIES,
    "groups": _COPIES,
    "disguise": _OLDER_DISGUISE,
    "prune": _PRUNED,
    "seed": _OTHER_SPLIT,
    "test": _OTHER_SPLIT,
}
_OF_TABLE = ("records", "columns", "order", "groups", "disguise", "prune")
_SPLIT_OF_CLASS = ("party", "class", "seed", "test")
_CLASS_TELLS = {
    Leaving.CLASS_WORD: _SPLIT_OF_CLASS,
    Leaving.CLASS_COUNTS: (*_SPLIT_OF_CLASS, "records", "class values"),
}
"""What a class holder's word on its class, and its counts, depend on; all else depends on every field."""


@dataclass(frozen=True)
class Release:
    """What a run lets out of a data set, and what the peer brings: field by field, as text or lists.

    Fields that a run does not use are absent. `key` is the owner's secret, which opens the ledger; `spend` what exact
    counts spend, where there are any.
    """

    dataset: str
    fields: dict[str, object]
    key: bytes = field(repr=False)
    spend: Spend | None = None


def release_of(local: PartyInputs, job: Job, peer: tuple[str, str] | None = None) -> Release:
    """Return what leaves in a job, for a peer of this name and fingerprint if there is one yet."""
    match job:
        case Train(terms):
            fields = _let_out_by_training(local.bringing(terms), terms)
        case Crosstab(asked) if asked.noise is None:
            fields = _table_fields(local)
        case Align() | Predict() | Crosstab():  # a table with noise spends its epsilon, of whatever table it is
            fields = {}
    if peer is not None:
        fields["party"] = list(peer)
    return Release(local.dataset, fields, local.secrets.coins)


def _let_out_by_training(local: PartyInputs, terms: Terms) -> dict[str, object]:
    table = local.table
    fields: dict[str, object] = {
        "class": terms.class_name,
        **_table_fields(local),
        "seed": terms.seed,
        "test": str(terms.test),
    }
    if terms.disguises:
        fields["theta"] = str(terms.theta)
        fields["groups"] = sorted(sorted(table.attributes[column].name for column in group) for group in local.groups)
    return fields | ({"order": _order(local.attributes)} if terms.splits == Splits.TWO_WAY else {})


def _order(columns: Iterable[Attribute]) -> list[list[object]]:
    """Return which columns have values in order, and how many: two-way splits follow from it."""
    return sorted([column.name, column.ordered] for column in columns if column.ordered)


def _table_fields(local: PartyInputs) -> dict[str, object]:
    columns = sorted([column.name, list(column.values)] for column in local.table.attributes)
    return {"records": local.digest(b"contents").hex(), "columns": columns}


def with_brought(release: Release, agreed: Agreement, copy: bytes | None = None) -> Release:
    """Add what the peer brings: as agreed, and the digest of its disguised copy once that is known."""
    theirs = {column.name: list(column.values) for column in agreed.schema.attributes if column.party == agreed.peer}
    fields: dict[str, object] = {
        "class values": list(agreed.schema.class_attribute.values),
        "peer columns": sorted([name, values] for name, values in theirs.items()),
        "peer data": agreed.commitment.hex(),
    }
    if agreed.terms.splits == Splits.TWO_WAY:
        fields["peer order"] = _order(each for each in agreed.schema.attributes if each.party == agreed.peer)
    if agreed.peer_design.sizes:
        names = [*theirs, agreed.terms.class_name]
        groups = agreed.peer_design.groups
        fields["peer groups"] = sorted(sorted(names[column] for column in group) for group in groups)
    if copy is not None:
        fields["peer copy"] = copy.hex()
    return replace(release, fields=release.fields | fields)


@dataclass(frozen=True)
class Earlier:
    """What was released before, under another name of a data set: this very table, or these columns of another one."""

    dataset: str
    columns: tuple[str, ...] = ()


def released_before(folder: Path, local: PartyInputs) -> list[Earlier]:
    """Return under which other names this table, or one with some of its columns, was released, if its name is new."""
    known = _read(folder, local.secrets.coins)
    if not known or local.dataset in known:
        return []
    records = local.digest(b"contents").hex()
    same = {name for name, fields in known.items() if fields.get("records") == records}
    return [
        Earlier(each.dataset) if each.dataset in same else each
        for each in alike(known, {column.name for column in local.table.attributes})
    ]


def alike(known: Mapping[str, Mapping[str, Any]], columns: Set[str]) -> list[Earlier]:
    """Return the data sets that had some of these columns, the one with most of them first."""
    found = [Earlier(name, tuple(sorted(columns & names_released(fields)))) for name, fields in known.items()]
    return sorted((each for each in found if each.columns), key=lambda each: -len(each.columns))


def names_released(fields: Mapping[str, Any]) -> Set[str]:
    """Return the columns of a release."""
    return {name for name, _ in fields.get("columns", ())}


def check_table(local: PartyInputs, known: Mapping[str, Any], folder: Path) -> None:
    """Refuse, whatever the job, a table that is not the one that was released under its name."""
    _check(Release(local.dataset, _table_fields(local), local.secrets.coins), known, folder / LEDGER_FILE)


def check_release(folder: Path, release: Release) -> None:
    """Refuse a release that does not agree with earlier ones of the data set."""
    _check(release, _read(folder, release.key).get(release.dataset, {}), folder / LEDGER_FILE)


def record_release(entries: PeerEntries, release: Release) -> None:
    """Note a release durably, before anything that depends on it leaves; nobody else uses the ledger meanwhile."""
    known = _noted(entries, release.dataset)
    _check(release, known, entries.ledger.path)
    new = {name: value for name, value in release.fields.items() if name not in known}
    spends = release.spend.entry if release.spend else {}
    spent = {run: epsilon for run, epsilon in spends.items() if run not in spent_of(known)}
    if new or spent:
        entries.write(ReleaseEntry(release.dataset, new, spent))


def released(entries: Iterable[LedgerEntry]) -> dict[str, dict[str, object]]:
    """Return what a ledger knows of each data set: field by field, and what was spent."""
    known: dict[str, dict[str, object]] = {}
    for said in (entry.noted for entry in entries):
        if isinstance(said, ReleaseEntry):
            before = known.get(said.dataset, {})
            spent = spent_of(before) | said.spent
            known[said.dataset] = {**said.fields, **before, **({_SPENT: spent} if spent else {})}
    return known


def spent_of(known: Mapping[str, object]) -> dict[str, str]:
    """Return what the runs over a data set have spent, by what is known of it."""
    spent = known.get(_SPENT, {})
    return dict(spent) if isinstance(spent, dict) else {}


@dataclass(frozen=True, repr=False)
class Memory:
    """What a party remembers of its data set, for one session with one peer; all runs may spend `budget` of epsilon."""

    local: PartyInputs
    entries: PeerEntries
    budget: Fraction | None = None

    def judge_job(self, job: Job) -> Objection | None:
        """Return the first field in which this job lets out something other than before: a term, or of our table."""
        release = release_of(self.local, job, self._peer)
        known = self._known
        changed = first_change(known, release.fields)
        if changed is None:
            return None
        field = "released" if changed in _OF_TABLE else changed
        return Objection(field, f"our {_refused(release, known, changed, self.entries.ledger.path)}")

    def judge(self, agreed: Agreement) -> Objection | None:
        """Object to what the peer brings otherwise than before, or to a run that spends more than is left."""
        release = self._release(agreed)
        return self._objection(release) or self._overspent(release)

    def note(self, agreed: Agreement, leaving: Leaving = Leaving.REST) -> None:
        """Note of what was agreed whatever that which leaves next depends on; a class that is refused pins no more."""
        release = self._release(agreed)
        if leaving in _CLASS_TELLS:
            fields = {name: value for name, value in release.fields.items() if name in _CLASS_TELLS[leaving]}
            release = replace(release, fields=fields)
        record_release(self.entries, release)

    def judge_crosstab(self, agreed: Crossed) -> Objection | None:
        """Object to a table that would spend more than the budget has left."""
        return self._overspent(self._crosstab(agreed))

    def note_crosstab(self, agreed: Crossed) -> None:
        """Note what a table lets out, and what it spends, before it is opened."""
        record_release(self.entries, self._crosstab(agreed))

    def _crosstab(self, agreed: Crossed) -> Release:
        spend = Spend(agreed.question.hex(), agreed.terms.noise)
        return replace(release_of(self.local, Crosstab(agreed.terms), self._peer), spend=spend)

    def note_peer(self, job: Job) -> None:
        """Note with whom a job is done of which nothing else is noted here."""
        record_release(self.entries, release_of(self.local, job, self._peer))

    def judge_copy(self, agreed: Agreement, copy: bytes) -> Objection | None:
        """Object to a copy that is not the peer's earlier one; else note its digest, before anything answers to it."""
        release = self._release(agreed, copy)
        objection = self._objection(release)
        if objection is None:
            record_release(self.entries, release)
        return objection

    @property
    def _peer(self) -> tuple[str, str]:
        return self.entries.peer.name, self.entries.peer.fingerprint

    @property
    def _known(self) -> dict[str, object]:
        return _noted(self.entries, self.local.dataset)

    def _release(self, agreed: Agreement, copy: bytes | None = None) -> Release:
        release = with_brought(release_of(self.local, Train(agreed.terms), self._peer), agreed, copy)
        unsent = ("theta", "groups") if agreed.terms.mines and not agreed.own_design.sizes else ()
        fields = {name: value for name, value in release.fields.items() if name not in unsent}
        return replace(release, fields=fields, spend=spend_of(self.local, agreed))

    def _overspent(self, release: Release) -> Objection | None:
        if release.spend is None:
            return None
        reason = release.spend.refusal(spent_of(self._known), self.budget)
        return None if reason is None else Objection("noise", reason)

    def _objection(self, release: Release) -> Objection | None:
        changed = first_change(self._known, release.fields)
        if changed is None:
            return None
        return Objection(
            changed,
            f"{self.entries.peer.name} brought other {changed.removeprefix('peer ')} to our data set "
            f"{release.dataset!r} before ({self.entries.ledger.path}), and answers to both can be subtracted: it must "
            "bring those again",
        )


def _check(release: Release, known: Mapping[str, object], record: Path) -> None:
    changed = first_change(known, release.fields)
    if changed is not None:
        raise _refused(release, known, changed, record)


def _refused(release: Release, known: Mapping[str, object], changed: str, record: Path) -> ConfigError:
    same = changed == "columns" and names_released(known) == names_released(release.fields)
    cure = (
        _VALUES_CHANGED
        if same
        else _CURES[changed] + (f" (groups = {json.dumps(known[changed])})" if changed == "groups" else "")
    )
    return refusal(release.dataset, changed, known, release.fields, record, cure)


def _noted(entries: PeerEntries, dataset: str) -> dict[str, object]:
    return released(entries.ledger.entries()).get(dataset, {})


def _read(folder: Path, key: bytes) -> dict[str, dict[str, object]]:
    """Read what is on record in a folder: nothing where there is no ledger yet."""
    if not has_ledger(folder):
        return {}
    with read_ledger(folder, key) as ledger:
        return released(ledger.entries())
