"""A whole demo: the tables, the two processes, a run for each method and window, and what came of them."""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from party.data import Notice
from party.demo import USUAL_ROWS
from party.demo.data import ALICE, BOB, PARTIES, Halves, deal_dataset, read_own
from party.demo.folders import (
    MODEL,
    PNG,
    RUN,
    SVG,
    config_path,
    fresh_folder,
    held_folder,
    write_job,
    write_parties,
)
from party.demo.options import DemoError, DemoOptions, OwnFiles
from party.demo.processes import PartyProcess, free_port, run_together
from party.models.tree_file import read_tree, tree_json
from party.node.inputs import ReleasedBefore, load_inputs
from party.node.policy import check_disguise
from party.records.run_file import (
    PLAIN,
    BytesSent,
    DataFacts,
    Parameters,
    Row,
    RunReport,
    TrainReport,
    TreeSize,
    write_run,
    write_train_report,
)
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.show import runs as show_runs
from party.show.document import Block
from party.show.progress import Display, Work, working
from party.show.runs import write_figures
from protocols.errors import InputError
from protocols.learning.tree import Tree
from protocols.role import Progress
from protocols.simulation.two_party import HoldOut, grow_plain
from protocols.tables import Codes, Schema, joint_schema
from protocols.terms import ALL, OMEGA, Counting, Method, Reveal, Window
from protocols.two_party.agreement import object_to_limits
from protocols.two_party.inputs import PartyInputs, split_records
from protocols.two_party.secret import drawn_split


@dataclass(frozen=True, eq=False, repr=False)
class Reference(HoldOut):
    """The joined table, split as the runs split it, and the tree of plain ID3 with the counts that it asked for."""

    tree: Tree
    computations: int

    def correct(self, tree: Tree) -> int | None:
        """Return how many test records a tree gets right; None if there are none."""
        same_class = tree.schema.class_attribute.values == self.schema.class_attribute.values
        if tree.schema.base.attributes != self.schema.base.attributes or not same_class:
            raise DemoError("a party's model is over other columns than the joined table")
        if not len(self.test):
            return None
        return int((tree.predict(self.test) == self.test[:, self.schema.class_index]).sum())

    def is_plain(self, tree: Tree) -> bool:
        """Return whether a tree equals plain ID3, node for node and count for count, if it has any."""
        if not tree.has_counts:
            return tree.leaves() == self.tree.leaves()
        return tree_json(tree) == tree_json(self.tree)


def make_reference(parties: Mapping[str, PartyInputs], options: DemoOptions) -> Reference:
    """Join both parties' tables and grow the plain tree."""
    terms = options.terms(Method.SMC, ALL, "class")
    brought = {name: local.bringing(terms) for name, local in parties.items()}
    schema, codes = _join(brought)
    commitments = {name: local.digest(b"commitment") for name, local in brought.items()}
    seed = drawn_split(commitments) if terms.hides_counts else options.seed
    train, test = split_records(seed, len(codes), options.test)
    split = HoldOut(schema, codes[train], codes[test])
    grown = grow_plain(split, options.growth)
    return Reference(schema, split.train, split.test, grown.tree, grown.computations)


def _join(parties: Mapping[str, PartyInputs]) -> tuple[Schema, Codes]:
    """Put the tables side by side: attributes in the agreed order, then the class."""
    holders = [party for party in PARTIES if parties[party].holds_class]
    classes = [parties[party].class_attribute for party in holders]
    labels = [parties[party].table.codes[:, -1] for party in holders]
    values = {attribute.values for attribute in classes if attribute is not None}
    if len(values) != 1 or not all(np.array_equal(labels[0], other) for other in labels):
        raise InputError("the two files differ in their class columns")
    attributes = [attribute for party in PARTIES for attribute in parties[party].attributes]
    first = classes[0]
    assert first is not None  # noqa: S101  # this party holds it
    schema = joint_schema(attributes, first, holders)
    own = [parties[party].table.codes[:, : len(parties[party].attributes)] for party in PARTIES]
    return schema, np.column_stack([*own, labels[0]])


Say = Callable[[Block], None]
PartyNotice = tuple[str, Notice | ReleasedBefore]


@dataclass(frozen=True)
class Run:
    """One run: how counts are made, its method and window (`ALL` where the method has none)."""

    way: Counting
    method: Method
    omega: Window = ALL

    @property
    def label(self) -> str:
        """As people read it."""
        return show_runs.method_text(self.method, self.omega)

    @property
    def name(self) -> str:
        """As in `model-hybrid-2-paillier.json`."""
        window = f"-{OMEGA.text(self.omega)}" if self.method == Method.HYBRID else ""
        return f"{self.method}{window}-{self.way}"


def planned(options: DemoOptions) -> tuple[Run, ...]:
    """Return the runs of a demo in their order."""
    of_way: list[tuple[Method, Window]] = [(Method.SMC, ALL)]
    if options.reveal == Reveal.COUNTS:
        of_way = [(Method.RANDOMIZED, ALL), *((Method.HYBRID, omega) for omega in options.omegas), *of_way]
    return tuple(Run(way, method, omega) for way in options.ways for method, omega in of_way)


def compare_all(options: DemoOptions, display: Display, say: Say) -> RunReport:
    """Run everything and report it line by line."""
    with held_folder(options.out):
        return _run_held(options, display, say)


def _run_held(options: DemoOptions, display: Display, say: Say) -> RunReport:
    display.show(working(Work.READING))
    halves = _halves(options)
    options = options.sized(len(halves.ids))
    port = free_port()
    with fresh_folder(options.out) as staged:
        display.show(working(Work.KEYS))
        write_parties(staged, halves, options, port)
        notices: list[PartyNotice] = list(halves.notices)
        parties = {}
        for party in PARTIES:
            told: list[Notice | ReleasedBefore] = []
            config = read_party_config(config_path(staged, party), options.key_floor)
            parties[party] = load_inputs(config, options.key_floor, told.extend)
            notices += [(party, notice) for notice in told]
        display.show(working(Work.PLAIN_TREE))
        started = time.monotonic()
        reference = make_reference(parties, options)
        demo = _Demo(options, halves, reference, time.monotonic() - started)
        demo.check_design(parties)
        write_run(staged / RUN, demo.report)
    display.finish()
    held = {party: list(halves.of[party].columns) for party in PARTIES}
    for line in (*show_runs.introduction(demo.report, held), *show_runs.notice_lines(notices)):
        say(line)
    demo.play(display, say)
    model = options.out / ALICE / MODEL
    for block in show_runs.conclusion(demo.report, demo.tree, model):
        say(block)
    say(show_runs.demo_written(options.out, RUN, _pictures(demo.report, options.out, say), model))
    return demo.report


def _halves(options: DemoOptions) -> Halves:
    data = options.data
    halves = read_own(data) if isinstance(data, OwnFiles) else deal_dataset(data, options.seed)
    most = USUAL_ROWS if options.reveal == Reveal.COUNTS else len(halves.ids)
    return halves.drawn(options.rows or min(most, len(halves.ids)), options.seed)


class _Demo:
    """A demo in the middle: the reference, and the rows so far."""

    def __init__(self, options: DemoOptions, halves: Halves, reference: Reference, seconds: float) -> None:
        self.options, self._halves, self.reference = options, halves, reference
        self._out = options.out
        self.report = RunReport(
            DataFacts(
                halves.name,
                len(reference.train),
                len(reference.test),
                len(reference.schema.attributes),
                reference.schema.classes,
            ),
            Parameters(
                theta=str(options.theta),
                key_bits=options.key_bits,
                seed=options.seed,
                max_depth=options.max_depth,
                min_leaf=options.min_leaf or 1,
                impurity=options.impurity,
                noise=None if options.noise is None else str(options.noise),
                reveal=options.reveal,
            ),
            (self._plain(seconds),),
        )
        self.tree = reference.tree

    def check_design(self, parties: Mapping[str, PartyInputs]) -> None:
        """Refuse a disguise that cannot work, or counts of too few, before any process is started."""
        options = self.options
        terms = options.terms(options.closest, ALL, self._halves.class_name)
        for local in parties.values():
            flaw = object_to_limits(local, terms)
            if flaw is not None:
                raise InputError(flaw.reason)
            if terms.disguises:
                check_disguise(local, terms, most_odds=None)

    def _plain(self, seconds: float) -> Row:
        tree = self.reference.tree
        return Row(
            method=PLAIN,
            omega=None,
            accuracy=self._share(self.reference.correct(tree)),
            smc_computations=0,
            cost_ratio=None,
            seconds=seconds,
            bytes_sent=None,
            round_trips=None,
            exact_counts_disclosed=0,
            tree=TreeSize(tree.size, tree.depth),
            equals_plain_id3=True,
            counting=None,
        )

    def _share(self, correct: int | None) -> float | None:
        return None if correct is None else correct / len(self.reference.test)

    def play(self, display: Display, say: Say) -> None:
        """Do every run, way by way, and write what came of it."""
        runs = planned(self.options)
        for way in self.options.ways:
            say(f"{show_runs.way_text(way)}:")
            with PartyProcess(self._out / BOB) as bob, PartyProcess(self._out / ALICE) as alice:
                for number, run in enumerate(runs, 1):
                    if run.way == way:
                        follow = partial(show_runs.show_in_run, display, number, len(runs), run.label)
                        row = self._run(run, bob, alice, follow)
                        display.finish()
                        self._add(row)
                        say(show_runs.result(row))
        for party in PARTIES:
            closest = self.options.closest
            last = Run(self.options.ways[0], closest, self.options.omegas[-1] if closest == Method.HYBRID else ALL)
            shutil.copyfile(self._out / party / f"model-{last.name}.json", self._out / party / MODEL)

    def _add(self, row: Row) -> None:
        self.report = replace(self.report, rows=(*self.report.rows, row))
        write_run(self._out / RUN, self.report)

    def _run(self, run: Run, bob: PartyProcess, alice: PartyProcess, follow: Callable[[Progress], None]) -> Row:
        terms = self.options.terms(run.method, run.omega, self._halves.class_name, run.way)
        job, model = write_job(self._out / ALICE, run.name, terms), f"model-{run.name}.json"
        read_job(self._out / ALICE / job, self.options.key_floor)
        report = run_together(bob, alice, job, model, follow)
        write_train_report(self._out / ALICE / f"report-{run.name}.json", report)
        models = [self._out / party / model for party in PARTIES]
        if models[0].read_bytes() != models[1].read_bytes():
            raise DemoError(f"{run.name}: the two parties ended with different models")
        return self._row(run, read_tree(models[0]), report)

    def _row(self, run: Run, tree: Tree, told: TrainReport) -> Row:
        correct = self.reference.correct(tree)
        equal = self.reference.is_plain(tree)
        self._check(run, told, correct, equal)
        plain = self.reference.computations
        if run.method == self.options.closest and run.way == self.options.ways[0]:
            self.tree = tree
        return Row(
            method=run.method,
            omega=run.omega,
            accuracy=self._share(correct),
            smc_computations=told.smc_computations,
            cost_ratio=told.smc_computations / plain if plain and told.smc_computations else None,
            seconds=told.seconds,
            bytes_sent=BytesSent(told.bytes_sent, told.bytes_received),
            round_trips=told.round_trips,
            exact_counts_disclosed=told.exact_counts_disclosed,
            tree=TreeSize(tree.size, tree.depth),
            equals_plain_id3=equal,
            counting=run.way,
        )

    def _check(self, run: Run, told: TrainReport, correct: int | None, equal: bool) -> None:
        """Compare what the parties found with what the joined table says (they cannot, we can), where it is exact."""
        if run.method == Method.RANDOMIZED or self.options.noise is not None:
            return
        if told.correct != correct and self.options.reveal == Reveal.COUNTS:
            raise DemoError(f"{run.name}: the parties counted {told.correct} right predictions, there are {correct}")
        if run.omega is ALL and not equal:
            raise DemoError(f"{run.name}: the tree is not that of plain ID3")
        counts = self.reference.computations if self.options.reveal == Reveal.COUNTS else 0
        if run.method == Method.SMC and told.smc_computations != counts:
            raise DemoError(f"{run.name}: {told.smc_computations} counts, not {counts}")


def _pictures(report: RunReport, out: Path, say: Say) -> tuple[str, ...]:
    if report.parameters.reveal == Reveal.TREE:
        return ()
    try:
        write_figures(report, out / PNG, out / SVG)
    except InputError as error:
        say(show_runs.no_figure(error))
        return ()
    return PNG, SVG
