"""What a ledger's entries add up to: how much each side has learned of the other in a data set."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, TypeVar

from party.records import ledger_entries as kinds
from party.records.approvals import Proposal, proposals
from party.records.comparisons import refused_comparisons
from party.records.ledger import LedgerEntry, PeerName
from protocols.facts import Way
from protocols.secret_tree.bits import bits, bits_of_leaf, bits_of_node, bits_of_tenths, bits_of_window
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import Leaves, Reveal

T = TypeVar("T")
NodePath = frozenset[tuple[str, str]]
"""A node, as the values of the columns above it; their order says nothing."""
NodeTable = tuple[NodePath, str, str]
"""The counts of one column at a node, and what sets them apart: terms of noise, and of 0.2.0 which classes were one."""
CountRows = tuple[tuple[int, ...], ...]
"""Counts of one column at a node, values by classes."""
_NOISED: Final = (kinds.ClassCountsEntry, kinds.CountsEntry, kinds.AccuracyEntry, kinds.OpenedEntry)
Booked = tuple[str, tuple[str, NodePath], Fraction]
"""What the run asks, what was opened of which node, and its bits; each time that it was opened."""


@dataclass
class Side:
    """What one side has learned of the other; `Dealings` keeps a second one for counts with noise.

    `tables` are the sizes of all tables of counts, each once however often it was sent, `counts` those of which the
    numbers are known here. `windows` are the nodes of which it is known which columns rank highest, `accuracies` the
    terms of the runs whose accuracy was revealed, `itemsets` the counts of sets of items, None where the number is not
    known here. `opened` is what was opened of the nodes of trees, by what it is. `answers` are the people, as digests,
    whose class a joint prediction revealed, by model and by whether it revealed the shares of the classes too,
    `times` how many answers that were by each model.
    """

    class_counts: list[tuple[int, ...]] = field(default_factory=list)
    copies: list[kinds.CopyEntry] = field(default_factory=list)
    windows: set[NodePath] = field(default_factory=set)
    tables: dict[NodeTable, int] = field(default_factory=dict)
    counts: dict[NodeTable, CountRows] = field(default_factory=dict)
    mined: int = 0
    accuracies: list[str] = field(default_factory=list)
    itemsets: dict[NodePath, int | None] = field(default_factory=dict)
    opened: dict[tuple[OpenedKind, NodePath, str], object] = field(default_factory=dict)
    models: list[bytes] = field(default_factory=list)
    answers: dict[tuple[bytes, bool], set[bytes]] = field(default_factory=dict)
    times: Counter[tuple[bytes, bool]] = field(default_factory=Counter)

    def add(self, said: kinds.LearnedEntry, run: kinds.RunEntry) -> None:
        """Add what an entry of a run reveals."""
        match said:
            case kinds.ClassCountsEntry():
                _once(self.class_counts, said.counts)
            case kinds.CopyEntry():
                _once(self.copies, said)
            case kinds.WindowsEntry():
                self.windows |= {frozenset(node.path) for node in said.nodes}
            case kinds.CountsEntry():
                self._add_tables(said.nodes, "" if run.agreed.noise is None else run.reveal_key)
            case kinds.MinedEntry():
                self.mined += 1
            case kinds.AccuracyEntry():
                _once(self.accuracies, run.reveal_key)
            case kinds.OpenedEntry():
                self._add_opened(said, run.reveal_key)
            case kinds.SetsEntry(sets=sets):
                self.itemsets |= dict(zip(map(frozenset, sets), said.counts or [None] * len(sets), strict=True))
            case kinds.ModelEntry():
                _once(self.models, said.digest)

    def _add_opened(self, said: kinds.OpenedEntry, key: str) -> None:
        """Add what was opened of nodes: a run that goes on opens some of them again."""
        if said.what is OpenedKind.SCORES:
            self.opened[said.what, frozenset(), key] = said.are
        for at, (path, rest) in enumerate(zip(said.paths, said.consequents or [()] * len(said.paths), strict=True)):
            node = frozenset([*path, *((f"=> {column}", value) for column, value in rest)])
            self.opened[said.what, node, key] = None if said.are is None else said.are[at]

    def add_answers(self, said: kinds.PredictionEntry) -> None:
        """Add what an entry of a joint prediction reveals."""
        self.answers.setdefault((said.model, said.probabilities), set()).update(said.people)
        self.times[said.model, said.probabilities] += len(said.people)

    def _add_tables(self, nodes: Iterable[kinds.CountNode], noise: str) -> None:
        for node in nodes:
            path, apart = frozenset(node.path), str(node.together or "") + noise
            self.tables |= {(path, column, apart): cells for column, cells in node.sizes.items()}
            self.counts |= {(path, column, apart): rows for column, rows in (node.counts or {}).items()}


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
        classes = {each for side in sides for each in side.class_counts}
        accuracies = {each for side in sides for each in side.accuracies}
        tables = {table: size for side in sides for table, size in side.tables.items()}
        sets = {path for side in sides for path in side.itemsets}
        return cls(sum(tables.values()), sum(map(len, classes)), len(accuracies), len(sets))


def _peer_columns(run: kinds.RunEntry, peer: str) -> kinds.ColumnsEntry:
    """Return what a run says of the peer's names: as an entry of ours does."""
    start = f"{peer}."
    own = [each for each in run.columns if each.column.startswith(start)]
    columns = tuple(replace(each, column=each.column.removeprefix(start)) for each in own)
    return kinds.ColumnsEntry(
        run.dataset, run.records, columns, run.label.values if run.label.owners == (peer,) else None
    )


def _once(known: list[T], new: T) -> None:
    if new not in known:
        known.append(new)


@dataclass(frozen=True)
class ListsAligned:
    """The last entry about a pair of lists, what is known best of the common, and the number of sessions."""

    entry: LedgerEntry
    said: kinds.AlignmentEntry
    times: int


@dataclass
class Dealings:
    """All that passed between us and one peer about one data set; `first` and `last` are the dates of its entries.

    Counts of runs with noise are kept apart, in `told_noisy` and `learned_noisy`. `runs` has each run by its name,
    `finished` what those asked for that ended with a model, `telling` what those did that revealed anything to it.
    `booked` are the bits of all that was opened of trees that alone were revealed, `trees` the classes of such models,
    those with noise among them; `on_record`, by what runs ask for, the bits of what is not opened again, since we know
    what it was.
    `crosstabs` are tables of two columns, as far as they are known here, by what they are.
    `alignments` are what was learned of each pair of lists, `named` the names of columns and values that the peer
    received, in each form, `heard` those that it sent in runs. `proposed` are the jobs about which people decide.
    `refused` are the comparisons of whole lists that found a difference, or no end. `unlisted` is the older release
    that kept no list of the counts that it revealed.
    """

    dataset: str
    peer: PeerName
    runs: dict[str, kinds.RunEntry] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    telling: set[str] = field(default_factory=set)
    alignments: dict[tuple[bytes, bytes], ListsAligned] = field(default_factory=dict)
    named: list[kinds.ColumnsEntry] = field(default_factory=list)
    heard: list[kinds.ColumnsEntry] = field(default_factory=list)
    crosstabs: dict[bytes, kinds.CrosstabEntry] = field(default_factory=dict)
    refused: int = 0
    unlisted: str = ""
    proposed: list[Proposal] = field(default_factory=list)
    booked: list[Booked] = field(default_factory=list)
    trees: dict[bytes, tuple[int, Leaves]] = field(default_factory=dict)
    on_record: dict[str, Fraction] = field(default_factory=dict)
    _opened: dict[str, dict[tuple[str, NodePath], Fraction]] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    told: Side = field(default_factory=Side)
    learned: Side = field(default_factory=Side)
    told_noisy: Side = field(default_factory=Side)
    learned_noisy: Side = field(default_factory=Side)

    @property
    def revealed(self) -> Revealed:
        """How many counts both sides have revealed to each other, with noise or without: the same at either side."""
        exact = sum(each.cells for each in self.crosstabs.values() if each.noise is None)
        models = Revealed.of(self.told, self.learned) + Revealed.of(self.told_noisy, self.learned_noisy)
        return models + Revealed(tables=exact)

    @property
    def bits(self) -> Fraction:
        """The bits that were revealed to the peer: of trees that alone were, however often, and of answers by them."""
        bits = (times * self.bits_of_answer(*by) for by, times in self.told.times.items())
        return sum(self.bits_of_runs.values(), start=sum(bits, start=Fraction(0)))

    def bits_of_answer(self, model: bytes, probabilities: bool) -> Fraction:
        """The bits of an answer by a tree that alone was revealed: its class, and its shares if they are asked for."""
        classes, leaves = self.trees.get(model, (1, Leaves.LABEL))
        return bits_of_leaf(classes, leaves if probabilities else Leaves.LABEL)

    @property
    def bits_of_runs(self) -> dict[str, Fraction]:
        """The bits of trees alone, of the runs that asked for the same together."""
        found: dict[str, Fraction] = {}
        for key, _, price in self.booked:
            found[key] = found.get(key, Fraction(0)) + price
        return found

    @property
    def epsilons(self) -> list[Fraction]:
        """The epsilon of each run or table with noise; those that asked for the same got the same, and count once."""
        noisy = {run.reveal_key: run.agreed.epsilon for run in self.runs.values()}
        tables = (each.noise for each in self.crosstabs.values())
        return [epsilon for epsilon in (*noisy.values(), *tables) if epsilon is not None]

    def add(self, entry: LedgerEntry) -> None:
        """Add an entry of this data set and peer."""
        said = entry.noted
        self.first, self.last = self.first or entry.time, entry.time
        match said:
            case kinds.PredictionEntry():
                (self.told if said.way is Way.TOLD else self.learned).add_answers(said)
            case kinds.AlignmentEntry():
                self._add_alignment(entry, said)
            case kinds.ColumnsEntry():
                _once(self.named, said)
            case kinds.CrosstabEntry():
                self.crosstabs[said.question] = said
                if said.noise is None:
                    self.telling.add(said.question.hex())
            case kinds.ReleaseEntry(fields=fields) if kinds.UNLISTED in fields:
                self.unlisted = str(fields[kinds.UNLISTED])
            case kinds.RunEntry():
                self.runs[said.run] = said
                _once(self.heard, _peer_columns(said, self.peer.name))
            case kinds.EntryOfRun():
                self._add_of_run(said, self.runs[said.run])

    def _add_of_run(self, said: kinds.EntryOfRun, run: kinds.RunEntry) -> None:
        if isinstance(said, kinds.ModelEntry):
            self.finished.add(run.reveal_key)
        if run.agreed.reveal == Reveal.TREE:
            self._book(said, run)
        if not isinstance(said, kinds.LearnedEntry):
            return
        noisy = isinstance(said, _NOISED) and run.agreed.noise is not None
        if said.way is not Way.LEARNED:
            self.telling.add(run.reveal_key)
            (self.told_noisy if noisy else self.told).add(said, run)
        if said.way is not Way.TOLD:
            (self.learned_noisy if noisy else self.learned).add(said, run)

    def _book(self, said: kinds.EntryOfRun, run: kinds.RunEntry) -> None:
        """Book the bits of what a run opens without noise, each time, and keep the classes of its model."""
        if isinstance(said, kinds.ModelEntry):
            self.trees[said.digest] = len(run.label.values), run.agreed.leaves
        if run.agreed.noise is not None:
            return
        run_key, mined = run.reveal_key, isinstance(said, kinds.MinedEntry)
        again = self.booked if mined else []  # the same tree: its miner counts nothing afresh
        new = [(run_key, *each) for each in _booked(said, run) if (run_key, *each) not in again]
        self.booked += new
        opened = self._opened.setdefault(run_key, {})
        if any(key in opened for _, key, _ in new):
            opened.clear()  # the level is opened again, from its first question
        opened |= {key: price for _, key, price in new}
        if mined or isinstance(said, kinds.AnswersEntry):
            self.on_record[run_key] = self.on_record.get(run_key, Fraction(0)) + sum(opened.values())
            opened.clear()

    def _add_alignment(self, entry: LedgerEntry, said: kinds.AlignmentEntry) -> None:
        """Keep of a pair of lists what is known best of how many are common."""
        times, before = 1, self.alignments.get(said.lists)
        if before is not None:
            times = before.times + (before.said.session != said.session)
            both = before.said.both if said.both is None else said.both
            said = replace(said, both=both, named=said.named or before.said.named)
        self.alignments[said.lists] = ListsAligned(entry, said, times)


def _booked(said: kinds.EntryOfRun, run: kinds.RunEntry) -> Iterator[tuple[tuple[str, NodePath], Fraction]]:
    window = run.agreed.window
    prices: Iterable[tuple[str, kinds.ItemPath, Fraction]] = ()
    match said:
        case kinds.WindowsEntry(nodes=nodes):
            asked = [(node.path, node.candidates) for node in nodes if node.candidates is not None]
            prices = [("windows", path, bits_of_window(candidates, window)) for path, candidates in asked]
        case kinds.OpenedEntry(what=OpenedKind.LEAVES, are=None, paths=paths):
            prices = [(said.what, path, bits_of_node(len(run.candidates) - len(path), window)) for path in paths]
        case kinds.OpenedEntry(what=OpenedKind.LABELS, are=None, paths=paths):
            prices = [(said.what, path, bits(len(run.label.values))) for path in paths]
        case kinds.OpenedEntry(what=OpenedKind.TENTHS, are=None, paths=paths):
            prices = [(said.what, path, bits_of_tenths(len(run.label.values))) for path in paths]
        case kinds.MinedEntry(way=Way.TOLD):
            prices = [("mined tree", (), said.bits)]
    for what, path, price in prices:
        yield (what, frozenset(path)), price


def dealings(entries: Iterable[LedgerEntry]) -> list[Dealings]:
    """Add up the entries, data set by data set and peer by peer, in the order of their first entries."""
    found: dict[tuple[str, PeerName], Dealings] = {}
    compared: list[LedgerEntry] = []
    decided: list[LedgerEntry] = []
    for entry in entries:
        if isinstance(said := entry.noted, kinds.EntryOfData):
            found.setdefault((said.dataset, entry.peer), Dealings(said.dataset, entry.peer)).add(entry)
            compared += [entry] if isinstance(said, kinds.ComparisonEntry) else []
            decided += [entry] if isinstance(said, kinds.ProposalEntry | kinds.DecisionEntry) else []
    for each in found.values():
        each.refused = len(refused_comparisons(compared, each.peer, each.dataset))
    for job in proposals(decided):
        found[job.said.dataset, job.peer].proposed.append(job)
    return list(found.values())


def peers(entries: Iterable[LedgerEntry]) -> Iterator[PeerName]:
    """Yield every peer once, in the order of the first entries about them."""
    yield from dict.fromkeys(entry.peer for entry in entries)
