"""The record of what has left: one data set, one disguise, one split, one peer (FAULTS B1, B2, B7; DESIGN 14).

* Coins depend on the data set's name, so the same data in the same disguise give the same copy again, which teaches
  nothing. With another theta, other groups or changed data, two copies together would show more than either.
* Counts over two splits of the same records, exact or estimated, can be subtracted, and show single records.
* So can counts against two tables of a peer: what the peer brings is remembered as what we bring is.
* What runs with noise spend adds up (`spending`).

So each is noted under the data set's name before anything that depends on it leaves, and anything else under that name
is refused. Whoever notes holds the lock of the folder. A digest made with the owner's secret keeps an edited or
truncated file from being obeyed.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from party.errors import ConfigError
from party.files import FolderLock, read_bytes, write_atomically
from party.records.spending import Spend, spend_of
from protocols.randomness import keyed_digest
from protocols.terms import Align, Job, Terms, Train
from protocols.two_party.agreement import Agreement, Objection
from protocols.two_party.inputs import PartyInputs

FILE = "releases.json"
_FORMAT = "cotally-releases/3"
_SPENT = "spent"
_MOST_BYTES = 1 << 26
_ALL_THE_SAME = (
    "to release it anyway, name a new [data] dataset, knowing that both releases together show more than one"
)
_DATA_CHANGED = f"the data have changed since: bring the earlier table again; {_ALL_THE_SAME}"
_COPIES = f"a second copy in another disguise would undo the first: return to it; {_ALL_THE_SAME}"
_SPLITS = "counts over two splits can be subtracted and show single records: keep the split"
_PEERS = f"two peers together would learn more than either: return to the first; {_ALL_THE_SAME}"
_CLASSES = f"counts against two classes show more of a record than against one: return to the first; {_ALL_THE_SAME}"
_CURES = {
    "party": _PEERS,
    "class": _CLASSES,
    "records": _DATA_CHANGED,
    "columns": _COPIES,
    "theta": _COPIES,
    "groups": _COPIES,
    "seed": _SPLITS,
    "test": _SPLITS,
    "prune": _SPLITS,
}
_SHOWN = ("class", "theta", "seed", "test", "prune")
"""Fields whose values may be shown: they are terms, and name nothing of a table."""
_BROUGHT = ("class values", "peer columns", "peer groups", "peer data", "peer copy")
_ORDER = (
    "party", "class", "columns", "items", "kind", "theta", "groups", "personal", "operators", "records", "answers",
    "seed", "test", "prune", *_BROUGHT,
)  # fmt: skip


@dataclass(frozen=True)
class Release:
    """What a run lets out of a data set, and what the peer brings: field by field, as text or lists.

    Fields that a run does not use are absent. `key` is the owner's secret, which authenticates the record; `spend` what
    exact counts spend, where there are any.
    """

    dataset: str
    fields: dict[str, object]
    key: bytes = field(repr=False)
    spend: Spend | None = None


def release_of(local: PartyInputs, job: Job, peer: tuple[str, str] | None = None) -> Release:
    """Return what leaves in a job, for a peer of this name and fingerprint if there is one yet."""
    match job:
        case Train(terms):
            fields = _let_out_by_training(local, terms)
        case Align():
            fields = {}
    if peer is not None:
        fields["party"] = list(peer)
    return Release(local.dataset, fields, local.secrets.coins)


def _let_out_by_training(local: PartyInputs, terms: Terms) -> dict[str, object]:
    table = local.table
    fields: dict[str, object] = {
        "class": terms.class_name,
        "records": local.digest(b"contents").hex(),
        "columns": sorted([column.name, list(column.values)] for column in table.attributes),
        "seed": terms.seed,
        "test": str(terms.test),
        "prune": str(terms.prune),
    }
    if terms.disguises:
        fields["theta"] = str(terms.theta)
        fields["groups"] = sorted(sorted(table.attributes[column].name for column in group) for group in local.groups)
    return fields


def with_brought(release: Release, agreed: Agreement, copy: bytes | None = None) -> Release:
    """Add what the peer brings: as agreed, and the digest of its disguised copy once that is known."""
    theirs = {column.name: list(column.values) for column in agreed.schema.attributes if column.party == agreed.peer}
    fields: dict[str, object] = {
        "class values": list(agreed.schema.class_attribute.values),
        "peer columns": sorted([name, values] for name, values in theirs.items()),
        "peer data": agreed.commitment.hex(),
    }
    if agreed.terms.disguises:
        names = [*theirs, agreed.terms.class_name]
        groups = agreed.peer_design.groups
        fields["peer groups"] = sorted(sorted(names[column] for column in group) for group in groups)
    if copy is not None:
        fields["peer copy"] = copy.hex()
    return replace(release, fields=release.fields | fields)


def changed_field(folder: Path, release: Release) -> str | None:
    """Return the first field in which a data set was released differently before, or None.

    Raises:
        ConfigError: The record in the party's folder cannot be read.
    """
    return first_change(_known(folder, release), release.fields)


def first_change(known: Mapping[str, object], fields: Mapping[str, object]) -> str | None:
    """Return the first field that is known to have been released differently, or None; an unknown field may be new."""
    return next((f for f in _ORDER if f in fields and known.get(f, fields[f]) != fields[f]), None)


def refusal(
    dataset: str, field: str, known: Mapping[str, object], fields: Mapping[str, object], record: Path, cure: str
) -> ConfigError:
    """Make the error that says what was released differently, where that is on record, and what to do."""
    was, now = _differently(field, known, fields)
    return ConfigError(f"data set {dataset!r} has been released with {was} before ({record}){now}; {cure}")


def _differently(field: str, known: Mapping[str, object], fields: Mapping[str, object]) -> tuple[str, str]:
    """Say how a field was released, and how that differs from what is asked for now."""
    if field not in _SHOWN:
        return f"other {field}", ""
    return f"{field} {known[field]}", f", not with {fields[field]}"


def same_table(folder: Path, local: PartyInputs) -> str | None:
    """Return the other name under which this very table was released before, if its present name is new.

    Raises:
        ConfigError: The record in the party's folder cannot be read.
    """
    known = _read(folder / FILE, local.secrets.coins)
    if not known or local.dataset in known:
        return None
    records = local.digest(b"contents").hex()
    return next((name for name, fields in known.items() if fields.get("records") == records), None)


def check_release(folder: Path, release: Release) -> None:
    """Refuse a release that does not agree with earlier ones of the data set.

    Raises:
        ConfigError: It does not, or the record cannot be read.
    """
    field = changed_field(folder, release)
    if field is not None:
        raise _refused(folder, release, field)


def record_release(held: FolderLock, release: Release) -> None:
    """Note a release durably, before anything that depends on it leaves.

    Args:
        held: The lock of the party's folder: nobody else reads, checks or notes meanwhile.
        release: What is to leave.

    Raises:
        ConfigError: As `check_release`.
        InputError: The record cannot be written.
    """
    check_release(held.folder, release)
    path = held.folder / FILE
    releases = _read(path, release.key)
    known = releases.get(release.dataset, {})
    spent = spent_of(known) | (release.spend.entry if release.spend else {})
    if not release.fields.keys() <= known.keys() or spent != spent_of(known):
        releases[release.dataset] = {**release.fields, **known, **({_SPENT: spent} if spent else {})}
        content = {"format": _FORMAT, "releases": releases, "check": _check(releases, release.key)}
        write_atomically(path, json.dumps(content, indent=1) + "\n")


def spent_of(known: Mapping[str, object]) -> dict[str, str]:
    """Return what the runs over a data set have spent, by what is known of it."""
    spent = known.get(_SPENT, {})
    return dict(spent) if isinstance(spent, dict) else {}


def spent_of_dataset(folder: Path, local: PartyInputs) -> dict[str, str]:
    """Return what the runs over our data set have spent.

    Raises:
        ConfigError: The record in the party's folder cannot be read.
    """
    return spent_of(_read(folder / FILE, local.secrets.coins).get(local.dataset, {}))


@dataclass(frozen=True, repr=False)
class Memory:
    """What a party remembers of its data set, for one session with one peer, under the lock of its folder.

    Args:
        local: What we bring.
        held: The lock.
        peer: The name of the peer and the fingerprint of its certificate.
        budget: The most that all runs over the data set may spend of epsilon; None for any.
    """

    local: PartyInputs
    held: FolderLock
    peer: tuple[str, str]
    budget: Fraction | None = None

    def judge_job(self, job: Job) -> Objection | None:
        """Return the first field in which this job lets out something other than before."""
        release = release_of(self.local, job, self.peer)
        changed = changed_field(self.held.folder, release)
        if changed is None:
            return None
        return Objection(changed, f"our {_refused(self.held.folder, release, changed)}")

    def judge(self, agreed: Agreement) -> Objection | None:
        """Return the first thing that the peer brings and that differs from before, named without its content.

        If there is none, "noise" where the run would spend more than the budget has left.
        """
        release = self._release(agreed)
        return self._objection(release) or self._overspent(release)

    def note(self, agreed: Agreement) -> None:
        """Note what was agreed, before any of it leaves.

        Raises:
            ConfigError: It is not what is on record.
            InputError: The record cannot be written.
        """
        record_release(self.held, self._release(agreed))

    def judge_copy(self, agreed: Agreement, copy: bytes) -> Objection | None:
        """Object to a copy that is not the peer's earlier one; else note its digest, before anything answers to it.

        Raises:
            InputError: The record cannot be written.
        """
        release = self._release(agreed, copy)
        objection = self._objection(release)
        if objection is None:
            record_release(self.held, release)
        return objection

    def _release(self, agreed: Agreement, copy: bytes | None = None) -> Release:
        release = with_brought(release_of(self.local, Train(agreed.terms), self.peer), agreed, copy)
        return replace(release, spend=spend_of(self.local, agreed))

    def _overspent(self, release: Release) -> Objection | None:
        if release.spend is None:
            return None
        reason = release.spend.refusal(spent_of(_known(self.held.folder, release)), self.budget)
        return None if reason is None else Objection("noise", reason)

    def _objection(self, release: Release) -> Objection | None:
        folder, name = self.held.folder, self.peer[0]
        changed = changed_field(folder, release)
        if changed is None:
            return None
        return Objection(
            changed,
            f"{name} brought other {changed.removeprefix('peer ')} to our data set {release.dataset!r} before "
            f"({folder / FILE}), and answers to both can be subtracted: it must bring those again, or both sides name "
            "a new [data] dataset",
        )


def _refused(folder: Path, release: Release, field: str) -> ConfigError:
    known = _known(folder, release)
    return refusal(release.dataset, field, known, release.fields, folder / FILE, _CURES[field])


def _known(folder: Path, release: Release) -> dict[str, object]:
    return _read(folder / FILE, release.key).get(release.dataset, {})


def _check(releases: object, key: bytes) -> str:
    return keyed_digest(key, b"releases", json.dumps(releases, sort_keys=True).encode()).hex()


def _read(path: Path, key: bytes) -> dict[str, dict[str, object]]:
    if not path.exists():
        return {}
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
        releases, check = content["releases"], content["check"]
        fits = content["format"] == _FORMAT and hmac.compare_digest(_check(releases, key), check)
    except (ValueError, KeyError, TypeError, RecursionError):
        fits = False
    if not fits:
        raise ConfigError(
            f"{path} is damaged or edited, or belongs to another secret.key: restore it from a backup; "
            "it must not be lost"
        )
    known: dict[str, dict[str, object]] = releases
    return known
