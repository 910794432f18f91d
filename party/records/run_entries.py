"""What a run, or a table of two columns, reveals and learns as entries of the ledger: facts with names and values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as counting
from itertools import islice, takewhile
from typing import Any, assert_never

import numpy as np

from party.records import ledger_entries as kinds
from party.records.json_codec import to_json
from party.records.ledger import LedgerEntry, PeerEntries, PeerName
from protocols import facts
from protocols.counts import Query
from protocols.errors import InputError
from protocols.jobs import Align, Crosstab, Job, Predict, Train
from protocols.privacy.loss import disguised_odds, relations
from protocols.role import Fact, Kept, Part, Save
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.tables import Attribute, Expression, Schema
from protocols.two_party.agreement import Agreement
from protocols.two_party.crosstab import Crossed
from protocols.two_party.inputs import PartyInputs


def note_columns(entries: PeerEntries, local: PartyInputs) -> None:
    """Note the names of columns and values that the peer is about to receive, agreed or not, unless it knows them."""
    share = local.share()
    columns = tuple(kinds.NamedColumn.of(each.name, each) for each in local.attributes)
    said = kinds.ColumnsEntry(local.dataset, share.records, columns, share.class_values)
    if [*entries.noted(kinds.ColumnsEntry, local.dataset)][-1:] != [said]:
        entries.write(said)


@dataclass(frozen=True, repr=False)
class RunEntries:
    """The entries of one run."""

    entries: PeerEntries
    local: PartyInputs
    agreed: Agreement
    run: str

    def open(self) -> None:
        """Note the agreement: terms, and the columns and values that both have named."""
        schema = self.agreed.schema
        columns = tuple(kinds.NamedColumn.of(column_name(each), each) for each in schema.attributes)
        label = kinds.NamedClass(schema.class_attribute.values, schema.class_owners)
        terms, tables = to_json(self.agreed.terms), tables_of(self.local, self.agreed)
        self.entries.write(kinds.RunEntry(*self._of, terms, len(self.local.records), tables, label, columns))

    def note(self, fact: Fact) -> None:
        """Note a fact, durably, before the role goes on."""
        self.entries.write(_said(fact, self))

    def keep(self, item: Save) -> None:
        """Keep an answer about a tree alone as long as the ledger: nobody is asked for it again."""
        numbers = tuple(int(number) for number in np.frombuffer(item.content).tolist())
        self.entries.write(kinds.AnswersEntry(*self._of, item.number, numbers))

    @property
    def _of(self) -> tuple[str, str]:
        return self.local.dataset, self.run


def tables_of(local: PartyInputs, agreed: Agreement) -> tuple[bytes, bytes]:
    """Return what identifies both tables: a digest of ours, and the peer's commitment to its own."""
    return local.digest(b"contents"), agreed.commitment


def job_content(job: Job) -> dict[str, Any]:
    """Return a job as JSON has it: its kind, and its terms."""
    match job:
        case Train(terms) | Predict(terms) | Crosstab(terms):
            return {"kind": type(job).__name__.lower(), **to_json(terms)}
        case Align():
            return {"kind": "align", **to_json(job)}
        case _:
            assert_never(job)


def _said(fact: Fact, run: RunEntries) -> kinds.LearnedEntry:  # noqa: PLR0911  # one return per kind
    schema, at = run.agreed.learning.schema, (run.local.dataset, run.run)
    match fact:
        case facts.ClassCountsFact(way, values):
            return kinds.ClassCountsEntry(*at, way, values)
        case facts.CopyFact(way, digest):
            return _copy(way, digest, run)
        case facts.WindowsFact(way, queries, windows):
            return kinds.WindowsEntry(*at, way, tuple(_windows(schema, queries, windows)))
        case facts.CountsFact(way, queries, values):
            return kinds.CountsEntry(*at, way, tuple(_counts(schema, queries, values)))
        case facts.MinedFact(way, nodes, price):
            return kinds.MinedEntry(*at, way, nodes, price)
        case facts.CorrectFact(way, count, tests):
            return kinds.AccuracyEntry(*at, way, count, tests)
        case facts.SetsFact(way, sets, values):
            return kinds.SetsEntry(*at, way, _paths(schema, sets), values)
        case OpenedFact(what, nodes, values, consequents):
            are = _opened(schema, what, values)
            return kinds.OpenedEntry(*at, facts.Way.BOTH, what, _paths(schema, nodes), are, _paths(schema, consequents))
        case facts.ModelFact(digest):
            return kinds.ModelEntry(*at, facts.Way.BOTH, digest)
        case _:
            raise InputError(f"{fact!r} has no place in the ledger")


def _opened(schema: Schema, what: OpenedKind, values: Sequence[int] | None) -> tuple[str | int, ...] | None:
    """Name what was opened of nodes: leaf or split, the class, or the column that splits; None while nobody knows."""
    words: Mapping[OpenedKind, Sequence[str]] = {
        OpenedKind.LEAVES: ("split", "leaf"),
        OpenedKind.SETS: ("rare", "frequent"),
        OpenedKind.RULES: ("below", "reached"),
        OpenedKind.LABELS: schema.class_attribute.values,
        OpenedKind.SPLITS: [column_name(each) for each in schema.attributes],
    }
    if values is None or what is OpenedKind.SCORES:
        return None if values is None else tuple(values)
    if what is OpenedKind.TENTHS:
        others = schema.classes - 1
        return tuple(" ".join(map(str, values[at : at + others])) for at in range(0, len(values), others))
    return tuple(words[what][value] for value in values)


def _copy(way: facts.Way, digest: bytes, run: RunEntries) -> kinds.CopyEntry:
    """Say how the copy is disguised, and what it reveals: with certainty, and by odds to 1."""
    own = way is facts.Way.TOLD
    design = run.agreed.own_design if own else run.agreed.peer_design
    schema, side = run.agreed.schema, run.local.party if own else run.agreed.peer
    names = [attribute.name for attribute in schema.attributes if attribute.party == side]
    names += [schema.class_attribute.name] if schema.class_owners == (side,) else []  # where it is sent
    hidden = {column for group in design.groups for column in group}
    return kinds.CopyEntry(
        run.local.dataset,
        run.run,
        way,
        digest,
        design.theta,
        groups=tuple(tuple(names[column] for column in group) for group in design.groups),
        relations=tuple((names[each.first], names[each.second], each.modulus) for each in relations(design)),
        plain=tuple(name for column, name in enumerate(names) if column not in hidden),
        odds={
            name: None if odds.strength is None else str(odds.strength) for name, odds in disguised_odds(design, names)
        },
    )


def _windows(
    schema: Schema, queries: Sequence[Query], windows: Sequence[tuple[int, ...]] | None
) -> Iterator[kinds.WindowNode]:
    """Yield each node with the columns in its window, or only with how many it is chosen from."""
    for number, query in enumerate(queries):
        path = _path(schema, query.expression)
        if windows is None:
            yield kinds.WindowNode(path, len(query.candidates))
        else:
            yield kinds.WindowNode(path, window=tuple(column_name(schema.attributes[each]) for each in windows[number]))


def _counts(schema: Schema, queries: Sequence[Query], values: Sequence[int] | None) -> Iterator[kinds.CountNode]:
    """Yield each node with its tables, values by classes, or only with how many cells each has."""
    rest = iter(() if values is None else values)
    for query in queries:
        path, columns = _path(schema, query.expression), [schema.attributes[each] for each in query.candidates]
        sizes = dict(zip(map(column_name, columns), query.cells(schema), strict=True))
        if values is None:
            yield kinds.CountNode(path, cells=sizes)
        else:
            cells = {name: [islice(rest, size)] * schema.classes for name, size in sizes.items()}
            yield kinds.CountNode(path, counts={name: tuple(zip(*rows, strict=True)) for name, rows in cells.items()})


def _paths(schema: Schema, expressions: Iterable[Expression]) -> tuple[kinds.ItemPath, ...]:
    return tuple(_path(schema, each) for each in expressions)


def _path(schema: Schema, expression: Expression) -> kinds.ItemPath:
    terms = [(schema.columns[term.column], term.value) for term in expression.terms]
    return tuple((column_name(column), column.values[value]) for column, value in terms)


def column_name(attribute: Attribute) -> str:
    """Return the name of a column as the ledger has it, with its party's."""
    return f"{attribute.party}.{attribute.name}"


@dataclass(frozen=True, repr=False)
class KnownAnswers:
    """What we remember of a run in which nobody sees a count: its answers by the ledger, all else by the journal.

    Answers are in their order. `opened` is the answer that follows them, which we have lost, if anything was opened
    beside them; `kept` has those of the journal, where a run goes on.
    """

    answers: Sequence[bytes]
    opened: Sequence[bytes] = ()
    kept: Kept | None = None

    def recall(self, part: Part) -> Iterator[bytes]:
        """Yield the items of a part, the first one first."""
        if part is not Part.COPY:
            return iter(self.answers if part is Part.ANSWERS else self.opened)
        return iter(()) if self.kept is None else self.kept.recall(part)


def recorded_answers(
    entries: Iterable[LedgerEntry], peer: PeerName, local: PartyInputs, agreed: Agreement
) -> KnownAnswers:
    """Return what this peer and we have opened of both tables, in runs that asked for the same.

    Terms that change neither what is asked nor its answer are passed over, and whether such a run has ended, too.
    """
    tables, key = tables_of(local, agreed), kinds.reveal_key_text(agreed.terms)
    runs: set[str] = set()
    known: dict[int, bytes] = {}
    opened: tuple[bytes, ...] = ()
    for said in (entry.noted for entry in entries if entry.peer == peer):
        match said:
            case kinds.RunEntry(dataset=local.dataset) if said.tables == tables and said.reveal_key == key:
                runs.add(said.run)
            case kinds.AnswersEntry() if said.run in runs:
                known.setdefault(said.number, np.array(said.numbers, np.float64).tobytes())
                opened = ()
            case kinds.OpenedEntry() | kinds.WindowsEntry() if said.run in runs:
                opened = (b"",)
    return KnownAnswers([known[number] for number in takewhile(known.__contains__, counting())], opened)


@dataclass(frozen=True, repr=False)
class CrosstabEntries:
    """The entries of one table."""

    entries: PeerEntries
    agreed: Crossed

    def note(self, fact: Fact) -> None:
        """Note, durably, that the table is about to be opened."""
        del fact
        self.entries.write(self._entry(None))

    def save(self, item: Save) -> None:
        """Keep the table as long as the ledger."""
        self.entries.write(self._entry(tuple(int(cell) for cell in np.frombuffer(item.content).tolist())))

    def recalled(self) -> KnownAnswers:
        """Return the table if it was opened before; the peer may fill in what we have lost."""
        every = self.entries.noted(kinds.CrosstabEntry, self.agreed.local.dataset)
        said = [each for each in every if each.counts is not None]
        known = [each.counts for each in said if each.question == self.agreed.question]
        return KnownAnswers([np.array(each, np.float64).tobytes() for each in known[:1]], (b"",))

    def _entry(self, counts: tuple[int, ...] | None) -> kinds.CrosstabEntry:
        local, (first, second) = self.agreed.local, self.agreed.schema.columns
        columns = (kinds.NamedColumn.of(column_name(first), first), kinds.NamedColumn.of(column_name(second), second))
        noise = self.agreed.terms.noise
        return kinds.CrosstabEntry(local.dataset, self.agreed.question, columns, len(local.records), noise, counts)
