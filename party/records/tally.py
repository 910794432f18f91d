"""What a ledger's entries add up to: how much each side has learned of the other in a data set."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from party.records.comparisons import COMPARISON, refused_comparisons
from party.records.entries import ANSWERS, COLUMNS, asking_text
from party.records.ledger import LedgerEntry, PeerName
from party.records.predictions import PREDICTION
from protocols.facts import Way
from protocols.secret_tree.bits import bits, bits_of_node, bits_of_window
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import ALL, Method, Reveal, asking_of, epsilon_of

NodePath = frozenset[tuple[str, str]]
"""A node, as the values of the columns above it; their order says nothing."""
NodeTable = tuple[NodePath, str, str]
"""The counts of one column at a node, and what sets them apart: terms of noise, and of 0.2.0 which classes were one."""
_NOISED = ("class counts", "counts", "accuracy", "opened")
Booked = tuple[str, tuple[str, NodePath], Fraction]
"""The bits of something that was opened of a node, each time: what its run asks, what and of which node, how many."""
_DATED = (PREDICTION, "alignment", COLUMNS, COMPARISON, "run")
"""Entries whose dates are the first and last of what passed."""


@dataclass
class Side:
    """What one side has learned of the other: all but counts with noise, or these alone.

    `tables` are the sizes of all tables of counts, each once however often it was sent, `counts` those of which the
    numbers are known here. `windows` are the nodes of which it is known which columns rank highest, `accuracies` the
    terms of the runs whose accuracy was revealed, `itemsets` the counts of sets of items, None where the number is not
    known here. `opened` is what was opened of the nodes of trees, by what it is. `answers` are the people, as digests,
    whose class a joint prediction revealed, by model and by whether it revealed the shares of the classes too,
    `times` how many answers that were by each model.
    """

    class_counts: list[list[int]] = field(default_factory=list)
    copies: list[Any] = field(default_factory=list)
    windows: set[NodePath] = field(default_factory=set)
    tables: dict[NodeTable, int] = field(default_factory=dict)
    counts: dict[NodeTable, list[list[int]]] = field(default_factory=dict)
    mined: int = 0
    accuracies: list[Any] = field(default_factory=list)
    itemsets: dict[NodePath, int | None] = field(default_factory=dict)
    opened: dict[tuple[str, NodePath, str], str | None] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    answers: dict[tuple[str, bool], set[str]] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)

    @property
    def numbers(self) -> int:
        """How many counts: those of the classes, of the tables, of itemsets, and of correct predictions."""
        told = sum(map(len, self.class_counts)) + sum(self.tables.values())
        return told + len(self.itemsets) + len(self.accuracies)

    def add(self, content: Any, terms: Any) -> None:
        """Add what an entry of a run on these terms reveals."""
        match content["kind"]:
            case "class counts":
                _once(self.class_counts, content["counts"])
            case "copy":
                _once(self.copies, {key: value for key, value in content.items() if key in _DESIGN})
            case "windows":
                self.windows |= {frozenset(map(tuple, node["path"])) for node in content["nodes"]}
            case "counts":
                self._add_tables(content["nodes"], "" if terms["noise"] is None else asking_text(terms))
            case "mined tree":
                self.mined += 1
            case "accuracy":
                _once(self.accuracies, asking_of(terms))
            case "opened":
                self._add_opened(content, asking_text(terms))
            case "itemsets":
                counts = content["counts"] or [None] * len(content["sets"])
                paths = (frozenset((column, value) for column, value in path) for path in content["sets"])
                self.itemsets |= dict(zip(paths, counts, strict=True))
            case "model":
                _once(self.models, content["digest"])

    def _add_opened(self, content: Any, terms: str) -> None:
        """Add what was opened of nodes: a run that goes on opens some of them again."""
        if content["what"] == OpenedKind.SCORES:
            self.opened[content["what"], frozenset(), terms] = str(content["are"])
        sides = content.get("consequents", [[]] * len(content["paths"]))
        for at, (path, rest) in enumerate(zip(content["paths"], sides, strict=True)):
            node = frozenset([*map(tuple, path), *((f"=> {column}", value) for column, value in rest)])
            self.opened[content["what"], node, terms] = None if content["are"] is None else content["are"][at]

    def add_answers(self, content: Any) -> None:
        """Add what an entry of a joint prediction reveals."""
        self.answers.setdefault((content["model"], content["probabilities"]), set()).update(content["people"])
        self.times[content["model"]] += len(content["people"])

    def _add_tables(self, nodes: Any, noise: str) -> None:
        for node in nodes:
            path = frozenset((column, value) for column, value in node["path"])
            apart = str(node.get("together", "")) + noise
            for column, cells in node.get("cells", {}).items():
                self.tables[path, column, apart] = cells
            for column, rows in node.get("counts", {}).items():
                self.tables[path, column, apart] = sum(map(len, rows))
                self.counts[path, column, apart] = rows


@dataclass(frozen=True)
class Revealed:
    """How many numbers were revealed: counts of tables, of classes, of models' right answers, of sets of items."""

    tables: int = 0
    classes: int = 0
    accuracy: int = 0
    sets: int = 0

    @property
    def counts(self) -> int:
        """All of them."""
        return self.tables + self.classes + self.accuracy + self.sets

    def __add__(self, other: "Revealed") -> "Revealed":
        return Revealed(*(mine + yours for mine, yours in zip(vars(self).values(), vars(other).values(), strict=True)))

    @classmethod
    def of(cls, *sides: Side) -> "Revealed":
        """Count what these sides know of each other, what both know once."""
        classes: list[list[int]] = []
        accuracies: list[Any] = []
        for side in sides:
            for each in side.class_counts:
                _once(classes, each)
            for each in side.accuracies:
                _once(accuracies, each)
        tables = {table: size for side in sides for table, size in side.tables.items()}
        sets = {path for side in sides for path in side.itemsets}
        return cls(sum(tables.values()), sum(map(len, classes)), len(accuracies), len(sets))


def _heard(run: Any, peer: str) -> Any:
    """Return what a run says of the peer's names: as an entry of ours does."""
    start = f"{peer}."
    columns = [each for each in run["columns"] if each["column"].startswith(start)]
    own = [each | {"column": each["column"].removeprefix(start)} for each in columns]
    label = run["class"]["values"] if run["class"]["owners"] == [peer] else None
    return {"records": run["records"], "columns": own, "class values": label}


_DESIGN = ("digest", "theta", "groups", "relations", "plain", "odds")


def _once(known: list[Any], new: Any) -> None:
    if new not in known:
        known.append(new)


@dataclass
class Dealings:
    """All that passed between us and one peer about one data set; dates are those of the first and last run.

    Counts of runs with noise are kept apart, in `told_noisy` and `learned_noisy`. `terms` are those of each run,
    `finished` those of the runs that ended with a model, `telling` those of the runs that revealed anything to it.
    `booked` are the bits of all that was opened of trees that alone were revealed, `trees` the classes of such models,
    those with noise among them; `on_record`, by what runs ask for, the bits of what is not opened again, since we know
    what it was.
    `alignments` are what was learned of each pair of lists, `named` the names of columns and values that the peer
    received, in each form, `heard` those that it sent in runs. `refused` are the comparisons of whole lists
    that found a difference, or no end.
    """

    dataset: str
    peer: PeerName
    runs: list[str] = field(default_factory=list)
    terms: dict[str, Any] = field(default_factory=dict)
    finished: list[Any] = field(default_factory=list)
    telling: list[Any] = field(default_factory=list)
    alignments: dict[str, Any] = field(default_factory=dict)
    named: list[Any] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)
    refused: int = 0
    booked: list[Booked] = field(default_factory=list)
    trees: dict[str, int] = field(default_factory=dict)
    on_record: dict[str, Fraction] = field(default_factory=dict)
    _opened: dict[str, dict[Any, Fraction]] = field(default_factory=dict)
    _sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    told: Side = field(default_factory=Side)
    learned: Side = field(default_factory=Side)
    told_noisy: Side = field(default_factory=Side)
    learned_noisy: Side = field(default_factory=Side)

    @property
    def revealed(self) -> Revealed:
        """How many counts both sides have revealed to each other, with noise or without: the same at either side."""
        return Revealed.of(self.told, self.learned) + Revealed.of(self.told_noisy, self.learned_noisy)

    @property
    def bits(self) -> Fraction:
        """The bits that were revealed to the peer: of trees that alone were, however often, and of answers by them."""
        told = (times * bits(self.trees.get(model, 1)) for model, times in self.told.times.items())
        return sum(self.bits_of_runs.values(), start=sum(told, start=Fraction(0)))

    @property
    def bits_of_runs(self) -> dict[str, Fraction]:
        """The bits of trees alone, of the runs that asked for the same together."""
        found: dict[str, Fraction] = {}
        for asking, _, price in self.booked:
            found[asking] = found.get(asking, Fraction(0)) + price
        return found

    @property
    def epsilons(self) -> list[Fraction]:
        """The epsilon of each run with noise; runs that asked for the same got the same, and count once."""
        noisy = {asking_text(terms): terms for terms in self.terms.values() if terms["noise"] is not None}
        return [
            epsilon_of(Fraction(each["noise"]), Fraction(each["test"]), Reveal(each.get("reveal", Reveal.COUNTS)))
            for each in noisy.values()
        ]

    def add(self, content: Any) -> None:
        """Add an entry of this data set and peer."""
        if content["kind"] in _DATED:
            self.first, self.last = self.first or content["time"], content["time"]
        match content["kind"]:
            case "prediction":
                (self.told if content["way"] == Way.TOLD else self.learned).add_answers(content)
                return
            case "alignment":
                self._add_alignment(content)
            case "columns":
                _once(self.named, {name: content[name] for name in ("records", "columns", "class values")})
            case "run":
                self.runs.append(content["run"])
                self.terms[content["run"]] = content["terms"]
                _once(self.heard, _heard(content, self.peer.name))
                if content["terms"].get("reveal") == Reveal.TREE:
                    self._sizes[content["run"]] = len(content["columns"]), len(content["class"]["values"])
            case "model":
                _once(self.finished, self.terms[content["run"]])
        if content.get("run") in self._sizes:
            self._book(content, self.terms[content["run"]], *self._sizes[content["run"]])
        if "way" in content:
            self._add_learned(content)

    def _add_learned(self, content: Any) -> None:
        """Add what an entry of a run says that one side has learned."""
        terms = self.terms[content["run"]]
        if content["way"] != Way.LEARNED:
            _once(self.telling, terms)
        noisy = content["kind"] in _NOISED and terms["noise"] is not None
        if content["way"] in (Way.TOLD, Way.BOTH):
            (self.told_noisy if noisy else self.told).add(content, terms)
        if content["way"] in (Way.LEARNED, Way.BOTH):
            (self.learned_noisy if noisy else self.learned).add(content, terms)

    def _book(self, content: Any, terms: Any, columns: int, classes: int) -> None:
        """Book the bits of what is about to be opened without noise, each time, and keep who may be answered by."""
        if content["kind"] == "model":
            self.trees[content["digest"]] = classes
        if terms["noise"] is not None:
            return
        again = self.booked if content["kind"] == "mined tree" else []  # the same tree: its miner counts nothing afresh
        new = [each for each in _booked(content, terms, columns, classes) if each not in again]
        self.booked += new
        asking = asking_text(terms)
        opened = self._opened.setdefault(asking, {})
        if any(key in opened for _, key, _ in new):
            opened.clear()  # the level is opened again, from its first question
        opened |= {key: price for _, key, price in new}
        if content["kind"] in (ANSWERS, "mined tree"):
            self.on_record[asking] = self.on_record.get(asking, Fraction(0)) + sum(opened.values())
            opened.clear()

    def _add_alignment(self, content: Any) -> None:
        """Keep of a pair of lists what is known best of how many are common."""
        name = str(content["lists"])
        before = self.alignments.get(name, {"both": None, "named": False, "times": 0, "session": ""})
        both = before["both"] if content["both"] is None else content["both"]
        times = before["times"] + (content["session"] != before["session"])
        named = before["named"] or content["named"]
        self.alignments[name] = {**content, "both": both, "named": named, "times": times}


def _booked(content: Any, terms: Any, columns: int, classes: int) -> Iterator[Booked]:
    window = terms["omega"] if terms["method"] == Method.HYBRID else ALL
    prices: list[tuple[str, Any, Fraction]] = []
    if content["kind"] == "windows":
        nodes = [node for node in content["nodes"] if "candidates" in node]
        prices = [("windows", node["path"], bits_of_window(node["candidates"], window)) for node in nodes]
    elif content["kind"] == "opened" and content["are"] is None and content["what"] == OpenedKind.LEAVES:
        paths = content["paths"]
        prices = [(content["what"], path, bits_of_node(columns - len(path), window)) for path in paths]
    elif content["kind"] == "opened" and content["are"] is None and content["what"] == OpenedKind.LABELS:
        prices = [(content["what"], path, bits(classes)) for path in content["paths"]]
    elif content["kind"] == "mined tree" and content["way"] == Way.TOLD:
        prices = [(content["kind"], (), Fraction(content["bits"]))]
    for what, path, price in prices:
        node = frozenset((column, value) for column, value in path)
        yield asking_text(terms), (what, node), price


def dealings(entries: Iterable[LedgerEntry]) -> list[Dealings]:
    """Add up the entries, data set by data set and peer by peer, in the order of their first runs."""
    found: dict[tuple[str, PeerName], Dealings] = {}
    compared: list[LedgerEntry] = []
    for entry in entries:
        if "dataset" in entry.content:
            name = str(entry.content["dataset"])
            found.setdefault((name, entry.peer), Dealings(name, entry.peer)).add(entry.content)
            compared += [entry] if entry.content["kind"] == COMPARISON else []
    for each in found.values():
        each.refused = len(refused_comparisons(compared, each.peer, each.dataset))
    return list(found.values())


def peers(entries: Iterable[LedgerEntry]) -> Iterator[PeerName]:
    """Yield every peer once, in the order of the first entries about them."""
    yield from dict.fromkeys(entry.peer for entry in entries)
