"""What a run reveals and learns, as entries of the ledger: facts with the names of columns and values."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import count as counting
from itertools import takewhile
from typing import Any, Final, assert_never

import numpy as np

from party.records.ledger import Content, Ledger, LedgerEntry, PeerName
from protocols.counts import Query
from protocols.errors import InputError
from protocols.facts import (
    ClassCountsFact,
    CopyFact,
    CorrectFact,
    CountsFact,
    MinedFact,
    ModelFact,
    SetsFact,
    Way,
    WindowsFact,
)
from protocols.jobs import Align, Job, Predict, Train
from protocols.kinds import from_plain, kinds_of, values_of
from protocols.messages import SignedHead
from protocols.privacy.loss import Odds, disguised_odds, relations
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Fact, Kept, Part, Save
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.tables import Attribute, Expression, Schema
from protocols.terms import LEARNERS, Learner, RuleTerms, Terms, absent_of, asking_of, terms_of
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import NOTHING_SIGNED, LedgerHead

Calendar = Callable[[], datetime]
COLUMNS: Final = "columns"
ANSWERS: Final = "answers"
_SHOWN: Final = "shown"


def date_text(moment: datetime) -> str:
    """Return a time of day as records have it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def now() -> datetime:
    """Return the time of day."""
    return datetime.now(UTC)


@dataclass(frozen=True, repr=False)
class PeerPages:
    """The part of a ledger that is about one peer.

    Args:
        ledger: To write to.
        peer: The peer.
        clock: Gives the date of an entry.
        shown: Says how far the peer's ledger about us leads, as its messages have shown; None before.
    """

    ledger: Ledger
    peer: PeerName
    clock: Calendar = now
    shown: Callable[[], SignedHead | None] = lambda: None

    def write(self, kind: str, content: Content) -> None:
        """Add an entry, and with it how far the peer's ledger was when it sent what the entry is about."""
        who = {"peer": self.peer.name, "fingerprint": self.peer.fingerprint}
        end = self.shown()
        shown = {} if end is None else {_SHOWN: _end_content(end)}
        self.ledger.append({"time": self.date(), **who, "kind": kind, **content, **shown})

    def date(self) -> str:
        """Return the time of day as records have it."""
        return date_text(self.clock())

    def head(self) -> LedgerHead:
        """Return the end of these entries."""
        return self.ledger.head(self.peer)

    def holds(self, head: LedgerHead) -> bool:
        """Return whether these entries led through this head."""
        return self.ledger.holds(self.peer, head)

    def known(self) -> SignedHead:
        """Return the end of the peer's entries about us, as it was last shown."""
        return last_head(self.ledger.entries(), self.peer)

    def keep_head(self, theirs: SignedHead) -> None:
        """Keep the end of the peer's entries about us."""
        self.write("head", _end_content(theirs))


def _end_content(end: SignedHead) -> Content:
    return {"entries": end.entries, "digest": end.digest.hex(), "signature": end.signature.hex()}


def last_head(entries: Iterator[LedgerEntry], peer: PeerName) -> SignedHead:
    """Return the last head of this peer's ledger that is on record."""
    known = NOTHING_SIGNED
    for entry in entries:
        content: Any = entry.content
        end = content if content["kind"] == "head" else content.get(_SHOWN)
        if end is not None and entry.peer == peer:
            known = SignedHead(end["entries"], *map(bytes.fromhex, (end["digest"], end["signature"])))
    return known


def _column(name: str, values: Iterable[str], missing: str | None, marks: Iterable[str] | None) -> Content:
    """Return what was sent of a column: with its missing cells only what differs from nothing."""
    told = {} if missing is None else {"missing": missing}
    return {"column": name, "values": list(values)} | told | ({} if marks is None else {"marks": list(marks)})


def note_columns(pages: PeerPages, local: PartyInputs) -> None:
    """Note the names of columns and values that the peer is about to receive, agreed or not, unless it knows them."""
    share = local.share()
    columns = [_column(each.name, each.values, each.missing, each.marks) for each in share.attributes]
    label = None if share.class_values is None else list(share.class_values)
    content = {"dataset": local.dataset, "records": share.records, "columns": columns, "class values": label}
    last: Content = {}
    for entry in pages.ledger.entries():
        if entry.peer == pages.peer and entry.content["kind"] == COLUMNS:
            last = entry.content
    if any(last.get(name) != value for name, value in content.items()):
        pages.write(COLUMNS, content)


@dataclass(frozen=True, repr=False)
class RunPages:
    """The entries of one run.

    Args:
        pages: About its peer.
        local: What we bring.
        agreed: What was agreed.
        run: Its name.
    """

    pages: PeerPages
    local: PartyInputs
    agreed: Agreement
    run: str

    def open(self) -> None:
        """Note the agreement: terms, and the columns and values that both have named."""
        schema = self.agreed.schema
        columns = [
            _column(column_name(each), each.values, each.missing.value, each.missing.marks)
            for each in schema.attributes
        ]
        content = {
            "terms": terms_content(self.agreed.terms),
            "records": len(self.local.records),
            "tables": tables_content(self.local, self.agreed),
            "class": {"values": list(schema.class_attribute.values), "owners": list(schema.class_owners)},
            "columns": columns,
        }
        self._write("run", content)

    def note(self, fact: Fact) -> None:
        """Note a fact, durably, before the role goes on."""
        kind, content = _content(fact, self)
        self._write(kind, content)

    def keep(self, item: Save) -> None:
        """Keep an answer about a tree alone as long as the ledger: nobody is asked for it again."""
        numbers = [int(number) for number in np.frombuffer(item.content).tolist()]
        self._write(ANSWERS, {"number": item.number, "numbers": numbers})

    def _write(self, kind: str, content: Content) -> None:
        self.pages.write(kind, {"dataset": self.local.dataset, "run": self.run, **content})


def tables_content(local: PartyInputs, agreed: Agreement) -> list[str]:
    """Return what identifies both tables: a digest of ours, and the peer's commitment to its own."""
    return [local.digest(b"contents").hex(), agreed.commitment.hex()]


def terms_content(terms: Terms | RuleTerms) -> dict[str, object]:
    """Return terms as JSON has them: fractions as text."""
    return {name: _told(value) for name, value in values_of(terms).items()}


def _told(value: Any) -> object:
    match value:
        case RuleTerms():
            return terms_content(value)
        case Fraction() | str():
            return str(value)
        case tuple():
            return list(value)
        case _:
            return value


def asking_text(terms: Mapping[str, Any]) -> str:
    """Return what terms as JSON has them ask for (`Terms.asking`), as one text: the same for the same."""
    return json.dumps(asking_of(terms), sort_keys=True)


def terms_read(content: Mapping[str, Any]) -> Terms:
    """Return the terms that `terms_content` wrote; what a learner of then noted beside its own is passed over."""
    learner, rules = Learner(content.get("learner", Learner.TREE)), content.get("rules")
    fixed = absent_of(LEARNERS[learner])
    own = {name: value for name, value in _read(content, Terms).items() if name not in fixed}
    told = None if rules is None else RuleTerms(**_read(rules, RuleTerms))
    return terms_of({**own, "learner": learner, "rules": told})


def _read(content: Mapping[str, Any], declaration: type[Any]) -> dict[str, Any]:
    kinds = kinds_of(declaration).items()
    return {name: from_plain(kind, content[name]) for name, kind in kinds if name in content}


def job_content(job: Job) -> dict[str, object]:
    """Return a job as JSON has it: its kind, and its terms."""
    match job:
        case Train(terms):
            return {"kind": "train", **terms_content(terms)}
        case Align() | Predict():
            return {"kind": type(job).__name__.lower(), "terms": str(job)}
        case _:
            assert_never(job)


def _content(fact: Fact, run: RunPages) -> tuple[str, dict[str, object]]:  # noqa: PLR0911  # one return per kind
    schema = run.agreed.schema
    match fact:
        case ClassCountsFact(way, values):
            return "class counts", {"way": way, "counts": list(values)}
        case CopyFact(way, digest):
            return "copy", {"way": way, "digest": digest.hex(), **_design(way, run)}
        case WindowsFact(way, queries, windows):
            return "windows", {"way": way, "nodes": list(_windows(schema, queries, windows))}
        case CountsFact(way, queries, values):
            return "counts", {"way": way, "nodes": list(_counts(schema, queries, values))}
        case MinedFact(way, nodes, price):
            return "mined tree", {"way": way, "nodes": nodes, "bits": str(price)}
        case CorrectFact(way, count, tests):
            return "accuracy", {"way": way, "correct": count, "tests": tests}
        case SetsFact(way, sets, values):
            told = None if values is None else list(values)
            return "itemsets", {"way": way, "sets": [_path(schema, each) for each in sets], "counts": told}
        case OpenedFact(what, nodes, values, consequents):
            return "opened", {
                "way": Way.BOTH,
                "what": what,
                **_opened(schema, what, nodes, values),
                **_rules(schema, consequents),
            }
        case ModelFact(digest):
            return "model", {"way": Way.BOTH, "digest": digest.hex()}
        case _:
            raise InputError(f"{fact!r} has no place in the ledger")


def _opened(
    schema: Schema, what: OpenedKind, nodes: Sequence[Expression], values: Sequence[int] | None
) -> dict[str, object]:
    """Name what was opened of nodes: leaf or split, the class, or the column that splits; None while nobody knows."""
    words: Mapping[OpenedKind, Sequence[str]] = {
        OpenedKind.LEAVES: ("split", "leaf"),
        OpenedKind.SETS: ("rare", "frequent"),
        OpenedKind.RULES: ("below", "reached"),
        OpenedKind.LABELS: schema.class_attribute.values,
        OpenedKind.SPLITS: [column_name(each) for each in schema.attributes],
    }
    of_nodes = what is not OpenedKind.SCORES
    are = None if values is None else [words[what][value] if of_nodes else value for value in values]
    return {"paths": [_path(schema, node) for node in nodes], "are": are}


def _rules(schema: Schema, consequents: Sequence[Expression]) -> Content:
    """Name the other sides of rules, whose antecedents are the paths."""
    return {"consequents": [_path(schema, each) for each in consequents]} if consequents else {}


def _design(way: Way, run: RunPages) -> dict[str, object]:
    """Say how the copy is disguised, and what it reveals: with certainty, and by odds to 1."""
    own = way is Way.TOLD
    design = run.agreed.own_design if own else run.agreed.peer_design
    names = list(_sent_columns(run, own))
    return {
        "theta": str(design.theta),
        "groups": [[names[column] for column in group] for group in design.groups],
        "relations": [[names[r.first], names[r.second], r.modulus] for r in relations(design)],
        "plain": _plain(design, names),
        "odds": {name: _odds_text(odds) for name, odds in disguised_odds(design, names)},
    }


def _plain(design: RelatedDesign, names: Sequence[str]) -> list[str]:
    hidden = {column for group in design.groups for column in group}
    return [name for column, name in enumerate(names) if column not in hidden]


def _odds_text(odds: Odds) -> str | None:
    return None if odds.strength is None else str(odds.strength)


def _sent_columns(run: RunPages, own: bool) -> Iterator[str]:
    """Yield the columns of a copy: those of one side's table, in its order, then the class where it is sent."""
    side = run.local.party if own else run.agreed.peer
    schema = run.agreed.schema
    yield from (attribute.name for attribute in schema.attributes if attribute.party == side)
    if schema.class_owners == (side,):
        yield schema.class_attribute.name


def _windows(schema: Schema, queries: Sequence[Query], windows: Sequence[tuple[int, ...]] | None) -> Iterator[Content]:
    """Yield each node with the columns in its window, or only with how many it is chosen from."""
    for number, query in enumerate(queries):
        told: Content = {"candidates": len(query.candidates)}
        if windows is not None:
            told = {"window": [column_name(schema.attributes[candidate]) for candidate in windows[number]]}
        yield {"path": _path(schema, query.expression), **told}


def _counts(schema: Schema, queries: Sequence[Query], values: Sequence[int] | None) -> Iterator[Content]:
    """Yield each node with its tables, values by classes, or only with how many cells each has."""
    start = 0
    for query in queries:
        tables: dict[str, object] = {}
        for candidate, cells in zip(query.candidates, query.cells(schema), strict=True):
            told = None if values is None else values[start : start + cells]
            rows = cells if told is None else [list(row) for row in zip(*[iter(told)] * schema.classes, strict=True)]
            tables[column_name(schema.attributes[candidate])] = rows
            start += cells
        told_as = "cells" if values is None else "counts"
        yield {"path": _path(schema, query.expression), told_as: tables}


def _path(schema: Schema, expression: Expression) -> list[list[str]]:
    terms = [(schema.columns[term.column], term.value) for term in expression.terms]
    return [[column_name(column), column.values[value]] for column, value in terms]


def column_name(attribute: Attribute) -> str:
    """Return the name of a column as the ledger has it, with its party's."""
    return f"{attribute.party}.{attribute.name}"


@dataclass(frozen=True, repr=False)
class KnownAnswers:
    """What we remember of a run in which nobody sees a count: its answers by the ledger, all else by the journal.

    Args:
        answers: The first one first.
        opened: What was opened beside them, if anything was: the answer that follows them, which we have lost.
        kept: By the journal, where a run goes on.
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
    tables, asking = tables_content(local, agreed), asking_of(terms_content(agreed.terms))
    runs: set[str] = set()
    known: dict[int, bytes] = {}
    opened: tuple[bytes, ...] = ()
    for entry in entries:
        content: Any = entry.content
        if entry.peer != peer or content.get("dataset") != local.dataset:
            continue
        if content["kind"] == "run":
            if content["tables"] == tables and asking_of(content["terms"]) == asking:
                runs.add(content["run"])
        elif content["kind"] == ANSWERS and content["run"] in runs:
            known.setdefault(content["number"], np.array(content["numbers"], np.float64).tobytes())
            opened = ()
        elif content["kind"] in ("opened", "windows") and content["run"] in runs:
            opened = (b"",)
    return KnownAnswers([known[number] for number in takewhile(known.__contains__, counting())], opened)
