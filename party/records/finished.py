"""One finished run as the ledger has it: its terms, its dates, our copy, and what was counted for its tree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from party.records.ledger import LedgerEntry, PeerName
from party.records.tally import NodePath, Revealed, dealings
from protocols.facts import Way
from protocols.secret_tree.held_out import Scores, noise_of_scores
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import EPSILON_OF_SCORES, Method, Terms
from protocols.two_party.inputs import held_out_records


@dataclass(frozen=True)
class FinishedRun:
    """A run that ended with a model.

    Args:
        run: Its name.
        dataset: Ours.
        peer: Whom it was with.
        terms: As JSON has them.
        began, ended: Dates.
        records: How many both sides had.
        class_owners: Who held the class.
        correct: How many of the `tests` held-out records the tree gets right; None if untold.
        tests: How many records were held out.
        error: The standard error of `correct`, 0 where it was counted.
        copy: How our copy was disguised, as the ledger has it; None where none left.
        revealed: How many counts this run has revealed.
        counted: How many cells were counted by a secure protocol.
        countable: How many there are of all candidates at the same nodes.
        itemsets: The sets of items that were counted exactly, each item a column with its party's name and a value.
        scores: How many held-out records have which label and class, where a tree alone was revealed.
        tables: A digest of ours, and the peer's commitment to its own.
    """

    run: str
    dataset: str
    peer: PeerName
    terms: Mapping[str, Any]
    began: str
    ended: str
    records: int
    class_owners: tuple[str, ...]
    correct: float | None
    tests: int
    error: float
    copy: Mapping[str, Any] | None
    revealed: Revealed
    counted: int
    countable: int
    itemsets: frozenset[NodePath] = frozenset()
    scores: Scores | None = None
    tables: tuple[str, ...] = ()


_ALIKE = [each.name for each in fields(Terms) if each.name not in ("method", "theta", "omega", "counting", "key_bits")]
"""The terms that must be the same where runs are compared by their windows."""


def finished_run(entries: Iterable[LedgerEntry], digest: bytes) -> FinishedRun | None:
    """Return the last run that ended with the model of this digest, if there is one."""
    runs = _by_run(entries)
    ended = [name for name, own in runs.items() if digest.hex() in _models(own)]
    return _told(runs[ended[-1]]) if ended else None


def runs_alike(entries: Iterable[LedgerEntry], run: FinishedRun) -> list[FinishedRun]:
    """Return the finished runs that differ from this one in method and window alone, of each such pair the last.

    They are of the same people and data set with the same peer; `smc` has no theta, all others have the same.
    """
    found: dict[tuple[object, object], FinishedRun] = {}
    for own in _by_run(entries).values():
        begun: list[Any] = [entry.content for entry in own if entry.content["kind"] == "run"][:1]
        same = [each for each in begun if (each["dataset"], own[0].peer) == (run.dataset, run.peer) and _models(own)]
        for each in same:
            if _is_alike(each["terms"], run.terms) and each["records"] == run.records:
                found[each["terms"]["method"], each["terms"]["omega"]] = _told(own)
    return list(found.values())


def _is_alike(terms: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    thetas = {each["theta"] for each in (terms, others) if each["method"] != Method.SMC}
    return len(thetas) < 2 and all(terms.get(name) == others.get(name) for name in _ALIKE)


def _by_run(entries: Iterable[LedgerEntry]) -> dict[str, list[LedgerEntry]]:
    """Return the entries of each run, the run that something was last learned of at the end."""
    runs: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        content: Any = entry.content
        if "run" in content:
            own = runs.pop(content["run"], [])
            own.append(entry)
            runs[content["run"]] = own
    return runs


def _models(entries: Iterable[LedgerEntry]) -> list[str]:
    """Return the digests of the models that a run ended with."""
    return [str(entry.content["digest"]) for entry in entries if entry.content["kind"] == "model"]


def _told(entries: list[LedgerEntry]) -> FinishedRun:
    kinds: dict[str, list[Any]] = {}
    for entry in entries:
        kinds.setdefault(str(entry.content["kind"]), []).append(entry.content)
    (run,), model = kinds["run"][:1], kinds["model"][-1]
    tested = [each for each in kinds.get("accuracy", []) if each["correct"] is not None]
    tests = held_out_records(run["records"], Fraction(run["terms"]["test"]))
    cells = [each["are"] for each in kinds.get("opened", []) if each["what"] == OpenedKind.SCORES and each["are"]]
    scores = Scores(tuple(cells[-1]), tests, noise_of_scores(EPSILON_OF_SCORES)) if cells else None
    if scores is not None:
        tested.append({"correct": scores.correct, "error": scores.correct_error})
    accuracy = tested[-1] if tested else {}
    copies = [copy for copy in kinds.get("copy", []) if copy["way"] == Way.TOLD]
    sizes = {column["column"]: len(column["values"]) for column in run["columns"]}
    nodes = _counted_nodes(kinds.get("counts", []))
    return FinishedRun(
        run=run["run"],
        dataset=run["dataset"],
        peer=entries[0].peer,
        terms=run["terms"],
        began=run["time"],
        ended=model["time"],
        records=run["records"],
        class_owners=tuple(run["class"]["owners"]),
        correct=_kept_between(accuracy.get("correct"), tests) if run["terms"]["noise"] else accuracy.get("correct"),
        tests=tests,
        error=accuracy.get("error") or 0.0,
        scores=scores,
        tables=tuple(run["tables"]),
        copy=copies[-1] if copies else None,
        revealed=dealings(entries)[0].revealed,
        counted=sum(sum(tables.values()) for tables in nodes.values()),
        countable=sum(_cells_of_all(path, tables, sizes) for path, tables in nodes.items()),
        itemsets=frozenset(_path(each) for content in kinds.get("itemsets", []) for each in content["sets"]),
    )


def _kept_between(correct: int | None, tests: int) -> int | None:
    """Keep a number between none and all, which noise may have moved out."""
    return None if correct is None else min(max(correct, 0), tests)


def _path(items: Iterable[Iterable[str]]) -> NodePath:
    return frozenset((column, value) for column, value in items)


def _counted_nodes(contents: Iterable[Any]) -> dict[NodePath, dict[str, int]]:
    """Return how many cells each counted table of each node has; what both sides learn stands there once."""
    nodes: dict[NodePath, dict[str, int]] = {}
    for content in contents:
        for node in content["nodes"]:
            tables = nodes.setdefault(_path(node["path"]), {})
            tables |= node.get("cells", {})
            tables |= {column: sum(map(len, rows)) for column, rows in node.get("counts", {}).items()}
    return nodes


def _cells_of_all(path: NodePath, tables: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    """Return how many cells all candidates of a node have, counted against as many classes as its tables were."""
    column = next(iter(tables))
    classes = tables[column] // sizes[column]
    above = {name for name, _ in path}
    return classes * sum(size for name, size in sizes.items() if name not in above)
