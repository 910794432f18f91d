"""Counts by oblivious transfer: a tree of them is plain ID3's, count for count, and no other count is opened."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.counting.checks import Checks
from protocols.counting.oblivious import ObliviousChooser, ObliviousCorrector, sides_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Answer, Correct, ModelParts, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import ChoicePage, CorrectionPage, CountShares, ExactCounts
from protocols.noise.both import EXACT, Lift, Noises
from protocols.role import Role, Transcript, run_alone, run_pair
from protocols.tables import ROOT, Codes, Expression, Schema, Term, joint_schema
from protocols.terms import ALL, TO_THE_END, Growth
from tests.protocols.ciphers.paillier.chance import Chance
from tests.support.cases import correlated
from tests.support.examples import at_most, few
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.plain import schema_of
from tests.support.secure_engines import columns_of


@dataclass(frozen=True)
class Game:
    """A joint table, of which the first columns are Alice's."""

    schema: Schema
    train: Codes
    test: Codes
    chooser: str = "alice"

    def engines(self, *noises: Noises) -> tuple[ObliviousChooser, ObliviousCorrector]:
        """Return both sides; of their noises the chooser's is first."""
        sides, sizes = sides_of(self.schema, self.chooser), (len(self.train), len(self.test))
        theirs, own = (
            [columns_of(codes, columns) for codes in (self.train, self.test)]
            for columns in (sides.corrector, sides.chooser)
        )
        ours, other = noises or (EXACT, EXACT)
        telling, hearing = (Checks(self.schema, len(self.train), None, ours.cells.both) for _ in range(2))
        return (
            ObliviousChooser(sides, own[0], own[1], CountSender(telling, sizes, ours), Chance(1)),
            ObliviousCorrector(sides, theirs[0], theirs[1], CountReceiver(hearing, sizes, other), Chance(2)),
        )

    @property
    def plain(self) -> PlaintextEngine:
        return PlaintextEngine(self.schema, self.train, self.test)

    def learner(self, engine: Any, growth: Growth) -> HybridId3:
        return HybridId3(self.schema, self.plain.class_counts, ALL, engine, growth=growth)


def game(sizes: Sequence[int], chooser: int, classes: int, rows: int, seed: int, tests: int = 12) -> Game:
    codes = correlated((*sizes, classes), rows + tests, seed, flips=0.5)
    return Game(schema_of(sizes, classes, alice=chooser), codes[:rows], codes[rows:])


def grown(game: Game, engine: Any, growth: Growth) -> Role[tuple[Result, float]]:
    yield from engine.set_up()
    result = yield from game.learner(engine, growth).build()
    return result, (yield from engine.count_correct(result.tree)).count


def play(game: Game, growth: Growth = TO_THE_END) -> tuple[Result, float, Transcript]:
    crossed = Transcript()
    chooser, corrector = game.engines()
    one, other = run_pair(grown(game, chooser, growth), grown(game, corrector, growth), crossed)
    assert one == other
    return *one, crossed


def plain(game: Game, growth: Growth = TO_THE_END) -> tuple[Result, float]:
    result = run_alone(game.learner(game.plain, growth).build())
    return result, run_alone(game.plain.count_correct(result.tree)).count


@st.composite
def games(draw: st.DrawFn) -> Game:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    classes, rows = draw(st.integers(1, 4)), draw(st.integers(1, 80))
    chooser = draw(st.integers(0, len(sizes)))
    return game(sizes, chooser, classes, rows, draw(st.integers(0, 2**32)), draw(st.integers(0, 12)))


@pytest.mark.parametrize("chooser", ["alice", "bob"])
def test_a_class_that_both_hold_is_the_correctors_whichever_side_chooses(chooser: str) -> None:
    table = game((3, 2, 2, 3), 2, 3, 90, seed=8)
    schema = joint_schema(table.schema.attributes, table.schema.class_attribute, ("alice", "bob"))
    shared = replace(table, schema=schema, chooser=chooser)
    result, correct, _ = play(shared)
    assert (result, correct) == plain(shared)


def batches(game: Game, data: st.DataObject) -> list[list[Query]]:
    """Draw the nodes and windows of a few levels, as a learner might ask for them."""
    every, levels = tuple(range(len(game.schema.attributes))), []
    nodes = [ROOT]
    for _ in range(data.draw(st.integers(1, 3))):
        level, below = [], []
        for node in nodes:
            left = [candidate for candidate in every if candidate not in node.columns]
            if not left or not node.satisfied_by(game.train).any():
                continue
            window = tuple(sorted(data.draw(st.sets(st.sampled_from(left), min_size=1))))
            level.append(Query(node, window, None if data.draw(st.booleans()) and node == ROOT else counts(game, node)))
            split = data.draw(st.sampled_from(window))
            values = range(game.schema.attributes[split].size)
            below += [node.child(split, value) for value in data.draw(st.permutations(values))]
        if level:
            levels.append(level)
        nodes = below[: data.draw(st.integers(1, 12))]
    return levels


def counts(game: Game, node: Expression) -> tuple[float, ...]:
    labels = game.train[node.satisfied_by(game.train), -1]
    return tuple(map(float, np.bincount(labels, minlength=game.schema.classes)))


def asked(engine: Any, levels: Sequence[Sequence[Query]]) -> Role[list[list[list[int]]]]:
    yield from engine.set_up()
    answers = []
    for level in levels:
        told = yield from engine.count(level)
        answers.append([table.astype(int).ravel().tolist() for answer in told for table in answer.tables])
    return answers


@settings(max_examples=at_most(32), deadline=None)
@given(games(), st.data())
def test_any_windows_at_any_nodes_have_plain_counts(game: Game, data: st.DataObject) -> None:
    levels = batches(game, data)
    chooser, corrector = game.engines()
    ours, theirs = run_pair(asked(chooser, levels), asked(corrector, levels))
    assert ours == theirs == run_alone(asked(Ready(game.plain), levels))


@dataclass(frozen=True)
class Ready:
    """A plain engine that needs no setting up."""

    engine: PlaintextEngine

    def set_up(self) -> Role[None]:
        yield from ()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        return (yield from self.engine.count(queries))


@pytest.mark.parametrize("most", [1, 150, 1 << 24])
def test_sets_and_leaves_are_counted_however_many_vectors_are_made_at_once(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocols.counting.oblivious.MOST_TRANSFERS", most)
    table = game((3, 2, 2, 3), 2, 2, 60, seed=7)
    sets = [ROOT & Term(a, v) & Term(b, w) for a, b in ((0, 2), (1, 3), (0, 1)) for v in (0, 1) for w in (1, 0)]
    tree = plain(table)[0].tree

    def both(engine: Any) -> Role[tuple[list[int], float]]:
        yield from engine.set_up()
        told = yield from engine.count_sets(sets)
        return told, (yield from engine.count_correct(tree)).count

    chooser, corrector = table.engines()
    one, other = run_pair(both(chooser), both(corrector))
    assert one == other
    assert one[0] == [int(each.satisfied_by(table.train).sum()) for each in sets]
    assert one[1] == run_alone(table.plain.count_correct(tree)).count


def shares(crossed: Transcript) -> list[int]:
    return [len(message.shares) for message in crossed.sent_by_b if isinstance(message, CountShares)]


def test_only_trees_are_tested_and_only_counts_that_do_not_follow_are_asked_once() -> None:
    table = game((2, 2), 1, 2, 30, seed=1)
    bayes = NaiveBayes(table.schema, np.zeros(2), ())

    def tested(engine: Any) -> Role[Correct]:
        yield from engine.set_up()
        correct: Correct = yield from engine.count_correct(bayes)
        return correct

    chooser, corrector = table.engines()
    with pytest.raises(InputError, match="test trees alone"):
        run_pair(tested(chooser), tested(corrector))
    # Of 3, 2 and 2 values and two classes: all at the root, and of one branch of a split, 2 x 2 + 2.
    table = game((3, 2, 2), 2, 2, 60, seed=3)
    split = [Query(ROOT & Term(2, value), (0, 1), counts(table, ROOT & Term(2, value))) for value in (0, 1)]
    levels = [[Query(ROOT, (0, 1, 2), counts(table, ROOT))], split]
    crossed = Transcript()
    chooser, corrector = table.engines()
    run_pair(asked(chooser, levels), asked(corrector, levels), crossed)
    assert shares(crossed) == [6 + 4 + 4, 4 + 2]
    told = [len(message.values) for message in crossed.sent_by_a if isinstance(message, ExactCounts)]
    assert told == [6 + 4 + 4, 2 * (6 + 4)]
    # Both branches of a split on the corrector's column have the chooser's part of the root.
    table = game((2, 2, 2), 1, 2, 60, seed=4)
    node = ROOT & Term(1, 0)
    levels = [[Query(ROOT, (0, 1, 2), counts(table, ROOT))], [Query(node, (0, 2), counts(table, node))]]
    crossed = Transcript()
    chooser, corrector = table.engines()
    run_pair(asked(chooser, levels), asked(corrector, levels), crossed)
    kinds = [type(message) for message in crossed.sent_by_a[3:]]
    assert kinds == [ChoicePage, ExactCounts, ExactCounts]


def test_corrections_are_for_all_records_however_few_are_in_the_node() -> None:
    """Of a branch with 33 to 60 records of each class, whose counts have six binary digits: two candidates, of which
    one value follows."""
    schema, lengths = game((2, 2, 2), 1, 2, 4, seed=5).schema, []
    for some in (33, 45, 60):
        codes = np.random.default_rng(some).integers(0, 2, (192, 4)).astype(np.uint8)
        codes[:, 3] = np.arange(192) % 2
        codes[:, 1] = np.arange(192) >= 2 * some
        table = Game(schema, codes, codes[:0])
        node = ROOT & Term(1, 0)
        assert counts(table, node) == (some, some)
        chooser, corrector = table.engines()
        crossed, levels = Transcript(), [[Query(node, (0, 2), counts(table, node))]]
        run_pair(asked(chooser, levels), asked(corrector, levels), crossed)
        matrices = [len(message.matrix) for message in crossed.sent_by_a if isinstance(message, ChoicePage)]
        pages = [len(message.corrections) for message in crossed.sent_by_b if isinstance(message, CorrectionPage)]
        lengths.append((matrices, pages, shares(crossed)))
        assert sum(pages) == 192 * (2 * 2 * 6) // 8
    assert lengths[0] == lengths[1] == lengths[2]


def test_no_mask_is_formed_twice_in_a_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    play(game((3, 2, 2, 3), 2, 3, 120, seed=1))
    assert recorder.times() == ONCE


@dataclass(frozen=True)
class Shifting(Noises):
    """Noise that is the same number everywhere."""

    lift: Lift
    noise: int

    @property
    def cells(self) -> Lift:
        return self.lift

    @property
    def accuracy(self) -> Lift:
        return self.lift

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        return [self.noise] * sum(sum(query.cells(schema)) for query in queries)

    def of_accuracy(self, model: ModelParts) -> int:
        return self.noise

    def correct(self, told: int, tests: int) -> Correct:
        return Correct(float(told))


@pytest.mark.parametrize(("ours", "theirs"), few([(3, -4), (-5, 4), (5, 4), (-5, -4)], 2))
def test_each_side_adds_its_noise_before_the_other_sees_a_number(ours: int, theirs: int) -> None:
    table = game((3, 2, 2), 2, 2, 60, seed=3)
    levels = [[Query(ROOT, (0, 1, 2), counts(table, ROOT))]]
    noises = Shifting(Lift(5, 4), ours), Shifting(Lift(4, 5), theirs)
    tree = plain(table)[0].tree

    def both(engine: Any) -> Role[tuple[list[list[list[int]]], float]]:
        told = yield from asked(engine, levels)
        return told, (yield from engine.count_correct(tree)).count

    chooser, corrector = table.engines(*noises)
    crossed = Transcript()
    one, other = run_pair(both(chooser), both(corrector), crossed)
    exact = run_alone(asked(Ready(table.plain), levels))
    assert one == other
    assert one[0] == [[[count + ours + theirs for count in cells] for cells in level] for level in exact]
    assert one[1] == run_alone(table.plain.count_correct(tree)).count + ours + theirs
    assert shares(crossed) == [6 + 4 + 4, 1]  # each has noise of its own, so none follows from others
