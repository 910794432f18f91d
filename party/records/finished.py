"""One finished run as the ledger has it: its terms, its dates, our copy, and what was counted for its tree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeVar

from party.records import ledger_entries as kinds
from party.records.ledger import LedgerEntry, PeerName
from party.records.tally import NodePath, Revealed, dealings
from protocols.facts import Way
from protocols.secret_tree.held_out import Scores, noise_of_table
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import EPSILON_OF_SCORES, Method, Terms
from protocols.two_party.inputs import held_out_records

N = TypeVar("N", bound=kinds.EntryOfRun)


@dataclass(frozen=True)
class FinishedRun:
    """A run that ended with a model.

    Of the `tests` held-out records the tree gets `correct` right (None if not known), with a standard error that is 0
    where it was counted. `copy` is how ours was disguised, as the ledger has it; None where none left. `revealed` has
    how many counts were revealed, `counted` how many cells a secure protocol counted, of `countable` of all candidates
    at the same nodes. `itemsets` were counted exactly, each item a column with its party's name and a value. `scores`
    say how many held-out records have which label and class, where a tree alone was revealed.
    """

    begun: kinds.RunEntry
    peer: PeerName
    began: str
    ended: str
    correct: float | None
    tests: int
    error: float
    copy: kinds.CopyEntry | None
    revealed: Revealed
    counted: int
    countable: int
    itemsets: frozenset[NodePath]
    scores: Scores | None


_OF_WINDOWS: Final = {"method", "theta", "omega", "counting", "key_bits"}
_ALIKE: Final = [each.name for each in fields(Terms) if each.name not in _OF_WINDOWS]
"""The terms that must be the same where runs are compared by their windows."""


def finished_run(entries: Iterable[LedgerEntry], digest: bytes) -> FinishedRun | None:
    """Return the last run that ended with the model of this digest, if there is one."""
    ended = [own for own in _by_run(entries) if digest in [model.digest for model in _of_kind(own, kinds.ModelEntry)]]
    return _finished_run(ended[-1]) if ended else None


def runs_alike(entries: Iterable[LedgerEntry], run: FinishedRun) -> list[FinishedRun]:
    """Return the finished runs like this one but for method and window, of each such pair the last."""
    found: dict[tuple[object, object], FinishedRun] = {}
    for own in _by_run(entries):
        begun, models = _of_kind(own, kinds.RunEntry), _of_kind(own, kinds.ModelEntry)
        if begun and models and own[0].peer == run.peer and _are_alike(begun[0], run.begun):
            found[begun[0].agreed.method, begun[0].agreed.omega] = _finished_run(own)
    return list(found.values())


def _are_alike(run: kinds.RunEntry, other: kinds.RunEntry) -> bool:
    both = (run.agreed, other.agreed)
    thetas = {terms.theta for terms in both if terms.method != Method.SMC}
    alike = all(getattr(run.agreed, at) == getattr(other.agreed, at) for at in _ALIKE) and {*run.terms} == {
        *other.terms
    }
    return alike and len(thetas) < 2 and (run.dataset, run.records) == (other.dataset, other.records)


def _by_run(entries: Iterable[LedgerEntry]) -> list[list[LedgerEntry]]:
    """Return the entries of each run, the run that something was last learned of at the end."""
    runs: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        if isinstance(entry.noted, kinds.EntryOfRun):
            own = runs.pop(entry.noted.run, [])
            own.append(entry)
            runs[entry.noted.run] = own
    return list(runs.values())


def _of_kind(entries: Iterable[LedgerEntry], kind: type[N]) -> list[N]:
    return [entry.noted for entry in entries if isinstance(entry.noted, kind)]


def _finished_run(entries: list[LedgerEntry]) -> FinishedRun:
    run = _of_kind(entries, kinds.RunEntry)[0]
    tests = held_out_records(run.records, run.agreed.test)
    cells = [each.are for each in _of_kind(entries, kinds.OpenedEntry) if each.what is OpenedKind.SCORES and each.are]
    law, classes = noise_of_table(EPSILON_OF_SCORES), len(run.label.values)
    scores = Scores.read([*map(int, cells[-1])], classes, tests, law) if cells else None
    correct = [each.correct for each in _of_kind(entries, kinds.AccuracyEntry) if each.correct is not None]
    if scores is not None:
        correct.append(scores.correct)
    if run.agreed.noise is not None:
        correct = [min(max(each, 0), tests) for each in correct]  # noise may have moved it out
    copies = [copy for copy in _of_kind(entries, kinds.CopyEntry) if copy.way is Way.TOLD]
    sizes = dict(run.candidates)
    nodes = _counted_nodes(_of_kind(entries, kinds.CountsEntry))
    return FinishedRun(
        begun=run,
        peer=entries[0].peer,
        began=next(entry.time for entry in entries if entry.noted is run),
        ended=[entry.time for entry in entries if isinstance(entry.noted, kinds.ModelEntry)][-1],
        correct=correct[-1] if correct else None,
        tests=tests,
        error=0.0 if scores is None else scores.correct_error,
        scores=scores,
        copy=copies[-1] if copies else None,
        revealed=dealings(entries)[0].revealed,
        counted=sum(sum(tables.values()) for tables in nodes.values()),
        countable=sum(_cells_of_all(path, tables, sizes) for path, tables in nodes.items()),
        itemsets=frozenset(frozenset(path) for each in _of_kind(entries, kinds.SetsEntry) for path in each.sets),
    )


def _counted_nodes(counted: Iterable[kinds.CountsEntry]) -> dict[NodePath, dict[str, int]]:
    """Return how many cells each counted table of each node has; what both sides learn stands there once."""
    nodes: dict[NodePath, dict[str, int]] = {}
    for each in counted:
        for node in each.nodes:
            nodes.setdefault(frozenset(node.path), {}).update(node.sizes)
    return nodes


def _cells_of_all(path: NodePath, tables: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    """Return how many cells all candidates of a node have, counted against as many classes as its tables were."""
    column = next(iter(tables))
    classes = tables[column] // sizes[column]
    above = {name for name, _ in path}
    return classes * sum(size for name, size in sizes.items() if name not in above)
