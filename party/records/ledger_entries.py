"""The kinds of entries of a ledger, each field declared once: what leaves a party, and what it learns (DESIGN 12).

`json_codec` writes and reads them, FORMATS has them in words. No field is ever taken away, as no ledger is: what an
earlier release noted is read for the life of the data. `way` says who learns, `run` names the run; entries of runs that
differ in these alone are equal.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Self, dataclass_transform

from party.records.json_codec import LEFT_OUT, fields_from_json, json_key, to_json
from protocols.facts import Way
from protocols.messages import SignedHead
from protocols.secret_tree.openings import OpenedKind
from protocols.tables import Attribute
from protocols.terms import LEARNERS, Counting, Learner, Terms, fixed_terms, reveal_key_of
from protocols.two_party.agreement import split_sizes

ItemPath = tuple[tuple[str, str], ...]
"""A node, or a set of items: columns with their party's names, and a value of each."""


ENTRY_KINDS: Final[dict[str, type[Any]]] = {"head": SignedHead}
"""All kinds that are written, by name, as each class below declares its own."""
BYGONE: Final = ("gains", "estimates", "estimated accuracy", "pruning")
"""Kinds of entries that only 0.2.0 wrote; an upgrade adds counts by which trees were pruned as those of sets."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Declared:
    """What JSON has as an object: each kind of it is a frozen dataclass, whose repr shows nothing of it."""

    def __init_subclass__(cls, kind: str = "") -> None:
        dataclass(frozen=True, repr=False)(cls)
        if kind:
            ENTRY_KINDS[kind] = cls


class EntryOfData(_Declared):
    """What an entry about a data set of ours says."""

    dataset: str


Noted = EntryOfData | SignedHead
"""What an entry says: a head is the end of the peer's ledger about us."""


class EntryOfRun(EntryOfData):
    """What an entry about a run says."""

    run: str = field(compare=False)


class LearnedEntry(EntryOfRun):
    """What one side or both have learned in a run; the class itself stands for the kinds of 0.2.0."""

    way: Way = field(compare=False)


class NamedColumn(_Declared):
    """A column, its values, and of missing cells and an order only what differs from the usual."""

    column: str
    values: tuple[str, ...]
    missing: str | None = field(default=None, metadata=LEFT_OUT)
    marks: tuple[str, ...] | None = field(default=None, metadata=LEFT_OUT)
    ordered: int = field(default=0, metadata=LEFT_OUT)

    @classmethod
    def of(cls, name: str, column: Attribute) -> Self:
        """Return what is said of a column under this name."""
        return cls(name, column.values, column.missing.value, column.missing.marks, column.ordered)


class ColumnsEntry(EntryOfData, kind="columns"):
    """The names that the peer receives before it is known whether both agree; again only where they differ."""

    records: int
    columns: tuple[NamedColumn, ...]
    class_values: tuple[str, ...] | None = field(metadata=json_key("class values"))


class NamedClass(_Declared):
    """The class of a run, and who holds it."""

    values: tuple[str, ...]
    owners: tuple[str, ...]


class RunEntry(EntryOfRun, kind="run"):
    """A run that begins; `tables` are a digest of ours, and the peer's commitment to its own."""

    terms: dict[str, Any]
    records: int
    tables: tuple[bytes, bytes]
    label: NamedClass = field(metadata=json_key("class"))
    columns: tuple[NamedColumn, ...]

    @property
    def candidates(self) -> list[tuple[str, int]]:
        """What may split a node, each by its name, and how many branches it has."""
        columns = (Attribute("", each.column, each.values, ordered=each.ordered) for each in self.columns)
        return split_sizes(columns, self.agreed)

    @cached_property
    def agreed(self) -> Terms:
        """The terms that we know of those that were agreed."""
        return terms_read(self.terms)

    @cached_property
    def reveal_key(self) -> str:
        """As `reveal_key_text`; what 0.2.0 alone had among its terms keeps such a run apart."""
        return json.dumps(reveal_key_of({**self.terms, **to_json(self.agreed)}), sort_keys=True)


def reveal_key_text(terms: Terms) -> str:
    """Return `Terms.reveal_key` as one text: the same for the same."""
    return json.dumps(reveal_key_of(to_json(terms)), sort_keys=True)


def terms_read(content: Mapping[str, Any]) -> Terms:
    """Return terms that are on record, even if no longer legal; what a learner does not use is passed over.

    How 0.2.0 counted, of which nothing follows, counts as dot products.
    """
    learner = LEARNERS[Learner(content.get("learner", Learner.TREE))]
    fixed = fixed_terms(learner)
    own = {"counting": Counting.PAILLIER, **{name: value for name, value in content.items() if name not in fixed}}
    terms = object.__new__(learner)
    vars(terms).update(fields_from_json(learner, own))
    return terms


UNLISTED: Final = "unlisted"
"""The field of a release by which an upgrade says which older one kept no list of the counts that it revealed."""


class ReleaseEntry(EntryOfData, kind="release"):
    """The fields of a data set that no later run may change, ours or the peer's, and what the run spends."""

    fields: dict[str, Any]
    spent: dict[str, str]


class ClassCountsEntry(LearnedEntry, kind="class counts"):
    """How many training records each class has."""

    counts: tuple[int, ...]


class CopyEntry(LearnedEntry, kind="copy"):
    """A disguised copy: its digest under our secret, its disguise, and what that reveals: for certain, and by odds."""

    digest: bytes
    theta: Fraction
    groups: tuple[tuple[str, ...], ...]
    relations: tuple[tuple[str, str, int], ...]
    plain: tuple[str, ...]
    odds: dict[str, str | None]


class WindowNode(_Declared):
    """A node with its window, or, before that is opened, the number of candidates."""

    path: ItemPath
    candidates: int | None = field(default=None, metadata=LEFT_OUT)
    window: tuple[str, ...] | None = field(default=None, metadata=LEFT_OUT)


class WindowsEntry(LearnedEntry, kind="windows"):
    """Which columns rank highest at these nodes."""

    nodes: tuple[WindowNode, ...]


class CountNode(_Declared):
    """A node with its tables, or before they are known here their cells; 0.2.0 counted some classes together."""

    path: ItemPath
    together: tuple[tuple[str, ...], ...] | None = field(default=None, metadata=LEFT_OUT)
    cells: dict[str, int] | None = field(default=None, metadata=LEFT_OUT)
    counts: dict[str, tuple[tuple[int, ...], ...]] | None = field(default=None, metadata=LEFT_OUT)

    @property
    def sizes(self) -> dict[str, int]:
        """How many cells each table has."""
        return {**(self.cells or {}), **{name: sum(map(len, rows)) for name, rows in (self.counts or {}).items()}}


class CountsEntry(LearnedEntry, kind="counts"):
    """Exact counts, or such with noise, of nodes of a tree."""

    nodes: tuple[CountNode, ...]


class MinedEntry(LearnedEntry, kind="mined tree"):
    """A tree of this many nodes, and bits at most, that the class holder mined; 0.2.0 noted no bits."""

    nodes: int
    bits: Fraction = Fraction(0)


class AccuracyEntry(LearnedEntry, kind="accuracy"):
    """How many held-out records the model gets right; null before it is known here."""

    correct: int | None
    tests: int


class SetsEntry(LearnedEntry, kind="itemsets"):
    """How many records have each set of items; null before that is known here."""

    sets: tuple[ItemPath, ...]
    counts: tuple[int, ...] | None


class OpenedEntry(LearnedEntry, kind="opened"):
    """What was opened of nodes, sets or rules, which have a consequent each; `are` is null before it is known.

    Of scores they are, row by row, a tenth (-1 for none), a label and the numbers of held-out records by class; of
    tenths those of all classes but the first.
    """

    what: OpenedKind
    paths: tuple[ItemPath, ...]
    are: tuple[str | int, ...] | None
    consequents: tuple[ItemPath, ...] = field(default=(), metadata=LEFT_OUT)


class AnswersEntry(EntryOfRun, kind="answers"):
    """What was opened of a tree alone, level by level, as the answer of this number (`protocols.answers`)."""

    number: int
    numbers: tuple[int, ...]


class ModelEntry(LearnedEntry, kind="model"):
    """The model that both hold."""

    digest: bytes


class PredictionEntry(EntryOfData, kind="prediction"):
    """Joint answers by a model: `outcomes` where we learned them, `asked` and `own` columns where the peer did."""

    way: Way
    model: bytes
    probabilities: bool
    people: tuple[bytes, ...]
    asked: tuple[bytes, ...] | None = field(default=None, metadata=LEFT_OUT)
    own: tuple[bytes, ...] | None = field(default=None, metadata=LEFT_OUT)
    outcomes: tuple[int, ...] | None = field(default=None, metadata=LEFT_OUT)


class CrosstabEntry(EntryOfData, kind="crosstab"):
    """A table of two columns that both learn, row by row of the first; null before it is known here.

    `question` is a digest under our secret: tables that are equal in it are one.
    """

    question: bytes
    columns: tuple[NamedColumn, NamedColumn]
    records: int
    noise: Fraction | None
    counts: tuple[int, ...] | None

    @property
    def cells(self) -> int:
        """How many counts there are."""
        first, second = self.columns
        return len(first.values) * len(second.values)


class WouldReveal(_Declared):
    """What a proposed job would reveal at most, what it probably would, and what it would cost: by what was known then.

    A run may not reveal more: it ends, and people decide again about what it would with the peer's columns.

    `bits` are of a tree alone, `counts` exact or with noise of `epsilon`; `read` are the whole records that a receiver
    reads of our copy, of how many; `people` are those whom answers may be about, or whose ids are compared.
    """

    bits: int | None = None
    likely_bits: int | None = field(default=None, metadata=json_key("bits probably"))
    counts: int | None = None
    likely_counts: int | None = field(default=None, metadata=json_key("counts probably"))
    epsilon: Fraction | None = None
    read: tuple[int, int] | None = None
    people: int | None = None
    seconds: float | None = None
    megabytes: float | None = None

    @property
    def amount(self) -> bytes:
        """What people sign as the most that is revealed, as bytes."""
        return f"{self.bits} {self.counts}".encode()

    def passes(self, signed: "WouldReveal") -> bool:
        """Return whether this is more than was signed."""
        return (self.bits or 0) > (signed.bits or 0) or (self.counts or 0) > (signed.counts or 0)


class ProposalEntry(EntryOfData, kind="proposal"):
    """A job that waits for people to decide, ours or the peer's, by a digest of all that they decide about.

    `other` is what of the peer's, its table or list, is not as it was when the same job was approved before, or
    "columns" where the job reveals more by them than was signed; by a table's columns `reveals` is then.
    """

    proposal: bytes
    job: dict[str, Any]
    ours: bool
    records: int
    reveals: WouldReveal
    other: str | None = field(default=None, metadata=LEFT_OUT)


class DecisionEntry(EntryOfData, kind="decision"):
    """What a person here has decided about a proposed job, signed by our key."""

    proposal: bytes
    approved: bool
    name: str
    signature: bytes


class ProposedTableEntry(EntryOfData, kind="proposed table"):
    """With which table, or list, of the peer an approved job has begun: with another one it is another proposal."""

    proposal: bytes
    what: str
    theirs: bytes


class ProposedRunEntry(EntryOfData, kind="proposed run"):
    """An approved job has run to its end: nobody decides about it any more."""

    proposal: bytes


class ComparisonEntry(EntryOfData, kind="comparison"):
    """A comparison as a whole; `same` is null before it is answered, false once an alignment has settled it."""

    what: str
    about: bytes
    same: bool | None


class AlignmentEntry(EntryOfData, kind="alignment"):
    """What both learned of whom both list, as `AlignmentFact`, of which 0.2.0 noted a part; `rows` are to classify."""

    session: bytes = field(default=b"", kw_only=True)
    lists: tuple[bytes, bytes]
    mine: int
    yours: int
    tries: int = field(default=0, kw_only=True)
    least: int = field(default=0, kw_only=True)
    both: int | None
    named: bool
    people: bytes = field(default=b"", kw_only=True)
    rows: bool
