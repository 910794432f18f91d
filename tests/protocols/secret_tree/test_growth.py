"""A tree of counts that nobody sees is that of who sees them all, and nothing but the tree is opened."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.counting.oblivious import sides_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer, CountTable, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.merit import best, whole_gains
from protocols.learning.tree import Leaf, Split, Tree, assembled
from protocols.learning.whole import Gini
from protocols.messages import MaskedPage
from protocols.noise.accounting import TreeSpending
from protocols.noise.both import TreeNoise
from protocols.noise.geometric import OneSided
from protocols.oblivious.bits import Uint64s
from protocols.oblivious.extension import Transfers
from protocols.oblivious.gates import Gates, Triples
from protocols.role import Message, Phase, Player, Progress, Role, Transcript, run_alone, run_pair, with_progress
from protocols.secret_tree.bits import Allowance, bits
from protocols.secret_tree.growth import SecretTree
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.tenths import with_tenths
from protocols.secret_tree.window import SecretRanking
from protocols.simulation.noise import grow_alone_with_noise
from protocols.tables import Attribute, Codes, Expression, Schema, joint_schema, two_way
from protocols.terms import ALL, Growth, Impurity, Leaves, Window
from protocols.two_party.noise import tree_spending
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import lengths, meet, pages_opened
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.examples import at_most, few
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.plain import schema_of
from tests.support.privacy_claims import Claim
from tests.support.secure_engines import columns_of
from tests.support.simulators import simulate_openings


@dataclass(frozen=True)
class Guesses:
    """One side's estimates: some counts for each node and candidate, of one record in twelve on average."""

    schema: Schema
    seed: int

    def advance(self, expressions: Sequence[Expression]) -> None:
        pass

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        def table(query: Query, at: int) -> CountTable:
            told = (self.seed, *(part for term in query.expression.terms for part in (term.column, term.value)), at)
            shape = self.schema.attributes[at].size, self.schema.classes
            return np.random.default_rng(told).integers(0, 24, shape)

        return [Answer(tuple(table(query, at) for at in query.candidates)) for query in queries]


@dataclass(frozen=True)
class Sorted:
    """Windows by who sees both sides' estimates."""

    schema: Schema
    growth: Growth

    def advance(self, expressions: Sequence[Expression]) -> None:
        pass

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        return [self.window(query, omega) for query in queries]
        yield

    def window(self, query: Query, omega: int) -> tuple[int, ...]:
        both = [whole_gains(Guesses(self.schema, seed), [query], self.schema.classes, self.growth) for seed in (0, 1)]
        return tuple(sorted(query.candidates[at] for at in best((both[0] + both[1])[0].tolist(), omega)))


@dataclass(frozen=True)
class Game:
    schema: Schema
    codes: Codes
    growth: Growth
    most_bits: Fraction | None = None
    omega: Window = ALL
    secrets: tuple[bytes, bytes] = (b"a", b"b")

    def noise(self, *, first: bool) -> TreeNoise | None:
        """Return the noise of a side, if there is any."""
        spent = tree_spending(len(self.schema.attributes), self.growth, len(self.codes))
        return None if spent is None else TreeNoise(self.secrets[not first] * 32, b"tables", spent)

    def grown(self, transcript: Transcript | None = None, seed: int = 3) -> Tree:
        return self.grown_by(*meet(4, seed), transcript)

    def grown_by(self, one: Transfers, other: Transfers, transcript: Transcript | None = None) -> Tree:
        sides = sides_of(self.schema, "alice")
        left, right = self.side(one, sides.chooser, first=True), self.side(other, sides.corrector, first=False)
        ours, theirs = run_pair(left, right, transcript)
        assert ours == theirs
        return ours

    def side(self, transfers: Transfers, columns: frozenset[int], *, first: bool) -> Role[Tree]:
        gates = Gates(first, transfers, Triples(transfers, Chance(first)))
        counts = SharedCounts(
            sides_of(self.schema, "alice"), columns_of(self.codes, columns), transfers, is_chooser=first
        )
        noise = self.noise(first=first)
        ranking = None
        if self.omega is not ALL:
            ranking = SecretRanking(Guesses(self.schema, int(first)), self.schema.classes, self.growth, gates)
        return SecretTree(self.allowance, self.growth, counts, gates, noise=noise, ranking=ranking).build()

    @property
    def allowance(self) -> Allowance:
        return Allowance(self.schema, self.growth.max_depth, self.omega, self.most_bits, self.growth.leaves)

    def windows(self, tree: Tree) -> dict[Expression, tuple[int, ...]]:
        """Return the window of every node that has one."""
        sort, every = Sorted(self.schema, self.growth), range(len(self.schema.attributes))
        queries = [Query(path, tuple(at for at in every if at not in path.columns), None) for path, _ in tree.walk()]
        asked = (query for query in queries if self.omega is not ALL and len(query.candidates) > self.omega)
        return {query.expression: sort.window(query, self.omega or 0) for query in asked}

    def expected(self, tree: Tree) -> Iterator[Uint64s]:
        """Return what a run of this tree opens."""
        return simulate_openings(tree, self.allowance, self.windows(tree))

    def plain(self) -> Tree:
        """Grow it by who sees all counts, and take these out."""
        noises = [noise for first in (True, False) if (noise := self.noise(first=first)) is not None]
        if noises:
            return grow_alone_with_noise(self.schema, self.codes, noises, self.growth)
        engine = PlaintextEngine(self.schema, self.codes, self.codes[:0])
        ranking = Sorted(self.schema, self.growth)
        learner = HybridId3(self.schema, engine.class_counts, self.omega, engine, ranking, self.growth)
        tree = run_alone(learner.build()).tree
        if self.growth.leaves is Leaves.TENTHS:
            tree = with_tenths(tree)
        nodes = [(expression, replace(node, counts=())) for expression, node in tree.walk()]
        return assembled(self.schema, nodes, self.growth)


@st.composite
def games(draw: st.DrawFn) -> Game:
    sizes = draw(st.lists(st.integers(2, 8), min_size=1, max_size=4))
    classes, count = draw(st.integers(1, 4)), draw(st.integers(1, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.stack([rng.integers(0, size, count) for size in (*sizes, classes)], axis=1)
    codes[:, -1] = np.where(rng.random(count) < 0.7, codes[:, : len(sizes)].sum(1) % classes, codes[:, -1])
    growth = Growth(max_depth=draw(st.sampled_from([None, 1, 2, 3])), min_leaf=draw(st.sampled_from([1, 2, 20])))
    if classes == 2:
        growth = replace(growth, impurity=draw(st.sampled_from([Impurity.INFORMATION_GAIN, Impurity.GINI])))
    if draw(st.booleans()):
        label, weight = draw(st.integers(0, classes - 1)), draw(st.sampled_from(["3", "1/2", "7/5"]))
        growth = replace(growth, weights=(f"c{label}={weight}",))
    schema = schema_of(sizes, classes, draw(st.integers(0, len(sizes))))
    owners = draw(st.sampled_from([("alice",), ("bob",), ("alice", "bob")]))
    omega = draw(st.sampled_from([ALL, *range(1, len(sizes) + 1)]))
    whole = joint_schema(schema.attributes, schema.class_attribute, owners)
    return Game(whole, codes.astype(np.uint8), growth, omega=omega)


@settings(max_examples=at_most(25), deadline=None)
@given(games())
def test_it_is_the_tree_of_who_sees_all(game: Game) -> None:
    assert game.grown() == game.plain()


SCHEMA = schema_of((2, 3, 2, 4), 3, 2)


def table(seed: int, counts: int = 400) -> Codes:
    """Return records whose class follows their columns but for one in eight."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, counts) for size in (2, 3, 2, 4)], axis=1)
    label = np.where(codes[:, 3] == 0, 2, np.where(codes[:, 0] == 1, codes[:, 2], codes[:, 1] == 2))
    label[::8] = rng.integers(0, 3, len(label[::8]))
    return np.column_stack([codes, label]).astype(np.uint8)


@pytest.mark.parametrize("depth", few([3, 1], 2))
def test_progress_says_how_far_a_tree_is_level_by_level_and_within(depth: int) -> None:
    """At a level's start all of those above it are done, and half of it once it is counted; all is the tree."""
    game, said = Game(SCHEMA, table(1), Growth(depth)), list[Progress]()
    sides, (one, other) = sides_of(SCHEMA, "alice"), meet(4, 3)

    def listen(progress: Progress) -> Progress:
        said.append(progress)
        return progress

    run_pair(
        with_progress(game.side(one, sides.chooser, first=True), listen), game.side(other, sides.corrector, first=False)
    )
    grown = [each for each in said if each.phase is Phase.TREE]
    shares = [each.done / each.total for each in grown]
    assert all(each.phase in (Phase.TREE, Phase.COLUMNS) for each in said)
    assert (shares[0], shares[-1]) == (0, 1)
    assert len(set(shares)) > 2 * depth
    assert [each.done for each in grown] == sorted(each.done for each in grown)


@settings(max_examples=at_most(15), deadline=None)
@given(games(), st.fractions(2, 40, max_denominator=8))
def test_a_tree_ends_where_it_would_reveal_more_bits_than_it_may(game: Game, most: Fraction) -> None:
    """It is the tree without a bound, cut where the next node would pass it; what it has revealed is what it may."""
    whole, transcript, bounded = game.plain(), Transcript(), replace(game, most_bits=most)
    cut = bounded.grown(transcript)
    allowance = bounded.allowance
    assert allowance.spent(cut) <= allowance.at_most <= most
    unbounded = replace(allowance, most=None)
    assert allowance.spent(cut) <= unbounded.spent(whole) <= unbounded.at_most
    nodes = dict(whole.walk())
    for expression, node in cut.walk():
        other = nodes[expression]
        assert isinstance(node, Leaf) or (isinstance(other, Split) and node.attribute == other.attribute)
    assert cut == whole or allowance.spent(cut) < unbounded.spent(whole)
    assert unbounded.unasked(whole) == 0
    assert cut == whole or allowance.unasked(cut) > 0
    assert pages_opened(transcript) == [wires.tobytes() for wires in bounded.expected(cut)]


def test_bits_count_the_answers_that_a_tree_can_be() -> None:
    """Two two-valued columns and classes, one level: `log2(3)` for the root, and two labels of a bit."""
    allowance = Allowance(schema_of((2, 2), 2, 1), max_depth=1)
    assert allowance.at_most == bits(3) + 2
    assert replace(allowance, max_depth=None).at_most == bits(3) + 2 * bits(2) + 4
    assert replace(allowance, window=1).at_most == bits(2) + bits(2) + 2
    assert replace(allowance, most=Fraction(1)).asked([(0, 1)], Fraction(0)) == []


@pytest.mark.parametrize(("sizes", "classes", "depth"), [((2, 2), 2, 1), ((2, 3, 2), 2, 2), ((4, 2, 3), 3, 3)])
def test_there_are_no_more_trees_than_the_bits_can_tell_apart(sizes: tuple[int, ...], classes: int, depth: int) -> None:
    def trees(left: tuple[int, ...], levels: int) -> int:
        places = range(len(left)) if levels else ()
        return classes + sum(math.prod([trees(left[:at] + left[at + 1 :], levels - 1)] * left[at]) for at in places)

    at_most = Allowance(schema_of(sizes, classes, 1), depth).at_most
    assert math.log2(trees(sizes, depth)) <= at_most < 2 * math.log2(trees(sizes, depth))


def test_lengths_are_those_of_the_tree_and_the_number_of_records() -> None:
    """Two tables of other counts, of which one tree grows; a third grows another, and its lengths are others."""
    growth, crossed = Growth(max_depth=2, min_leaf=10), []
    tables = [table(1), table(1), table(1)]
    tables[1][:80:8, -1] = (tables[1][:80:8, -1] + 1) % 3
    tables[2][:, -1] = tables[2][:, 3] % 3
    trees = []
    for codes in tables:
        transcript = Transcript()
        trees.append(Game(SCHEMA, codes, growth, omega=3).grown(transcript))
        crossed.append(lengths(transcript))
    assert trees[0] == trees[1] != trees[2]
    assert (np.bincount(tables[0][:, -1]) != np.bincount(tables[1][:, -1])).any()
    assert crossed[0] == crossed[1] != crossed[2]


def test_what_crosses_looks_the_same_whatever_the_counts_are() -> None:
    """The bits of all that goes into gates: half of them ones, of records of one kind as of all kinds."""
    alike = np.tile(table(1)[:1], (400, 1))
    alike[:200, -1] = (alike[0, -1] + 1) % 3
    for codes in (table(1), alike):
        transcript = Transcript()
        Game(SCHEMA, codes, Growth(max_depth=2)).grown(transcript)
        for sent in (transcript.sent_by_a, transcript.sent_by_b):
            masked = b"".join(message.words for message in sent if isinstance(message, MaskedPage))
            assert len(masked) > 5000
            assert off(bits_of(masked, 8)) == []


class Timed(deque[tuple[Message, int]]):
    """An inbox of messages with the turn in which each was sent; its owner goes on one turn later."""

    turn = 0

    def popleft(self) -> Message:  # type: ignore[override]  # what the player sees is the message alone
        message, sent = super().popleft()
        self.turn = max(self.turn, sent + 1)
        return message


def turns(game: Game) -> NDArray[np.int64]:
    """Return how many messages of a run wait for one another, and how many either side sends."""
    sides = sides_of(game.schema, "alice")
    one, other = meet(4, 3)
    inboxes = (Timed(), Timed())
    roles = (game.side(one, sides.chooser, first=True), game.side(other, sides.corrector, first=False))

    sent = [0, 0]

    def deliver(sender: int, message: Message) -> None:
        sent[sender] += 1
        inboxes[1 - sender].append((message, inboxes[sender].turn))

    players = [Player(role, partial(deliver, at)) for at, role in enumerate(roles)]
    for player, inbox in zip(players, inboxes, strict=True):
        player.inbox = inbox  # type: ignore[assignment]  # as above
    while players[0].advance() | players[1].advance():
        pass
    assert players[0].finished
    return np.array([max(inbox.turn for inbox in inboxes), *sent])


@pytest.mark.parametrize(("impurity", "most"), few([(Impurity.INFORMATION_GAIN, 45), (Impurity.GINI, 54)], 2))
def test_a_level_takes_few_exchanges(impurity: Impurity, most: int) -> None:
    """Of 14 candidates and 1,000 records: what one level more of several nodes takes, beside batches of transfers."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (1_000, 15)).astype(np.uint8)
    codes[:, -1] = np.where(rng.random(len(codes)) < 0.8, codes[:, 0] ^ codes[:, 1] & codes[:, 2], codes[:, -1])
    game = Game(schema_of((2,) * 14, 2, 7), codes, Growth(2, 20, impurity=impurity))
    deeper = replace(game, growth=replace(game.growth, max_depth=3))
    exchanges, *sent = (turns(deeper) - turns(game)).tolist()
    assert most - 10 < exchanges <= most
    assert max(sent) <= exchanges + 8


def test_no_mask_serves_twice_in_a_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    Game(SCHEMA, table(1, 100), Growth(max_depth=2), omega=2).grown()
    assert recorder.times() <= ONCE
    assert recorder.offsets == 2


NOISY_SCHEMA = schema_of((2, 3, 2, 4), 2, 2)
GROWTH = Growth(2, noise=Fraction(4), impurity=Impurity.GINI)


def noisy_table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, 300) for size in (2, 3, 2, 4)], axis=1)
    label = np.where(rng.random(300) < 0.8, codes[:, 0] ^ codes[:, 2], codes[:, 1] == 2)
    return np.column_stack([codes, label]).astype(np.uint8)


GAME = Game(NOISY_SCHEMA, noisy_table(1), GROWTH)


def test_it_is_the_tree_of_who_sees_all_and_adds_the_same_noise() -> None:
    for epsilon, seed in few([*product([Fraction(1, 10), Fraction(1), Fraction(40)], [1, 2])], 3):
        game = Game(NOISY_SCHEMA, noisy_table(seed), replace(GROWTH, noise=epsilon))
        transcript = Transcript()
        tree = game.grown(transcript)
        assert tree == game.plain()
        assert pages_opened(transcript) == [wires.tobytes() for wires in game.expected(tree)]


def test_with_noise_no_condition_competes_that_the_path_decides() -> None:
    """It would win by noise, and have a branch that nobody can reach: trees of the control have some."""
    columns = [Attribute("alice", "age", ("0", "1", "2", "3"), ordered=4), Attribute("bob", "job", ("a", "b", "c"))]
    schema = two_way(joint_schema(columns, Attribute("bob", "class", ("no", "yes")), ["bob"]))
    rng = np.random.default_rng(5)
    codes = schema.recode(rng.integers(0, (4, 3, 2), (300, 3)).astype(np.uint8))
    growth = Growth(2, noise=Fraction(1, 10), impurity=Impurity.GINI)
    for secret in (b"a", b"c", b"d"):
        game = Game(schema, codes, growth, secrets=(secret, b"b"))
        tree = game.plain()
        assert secret != b"a" or game.grown() == tree
        assert not any(schema.decides(path, node.attribute) for path, node in tree.splits())
    unaware = [
        Game(replace(schema, conditions=(), derived_from=None), codes, growth, secrets=(bytes([k]), b"b")).plain()
        for k in range(9)
    ]
    assert any(schema.decides(path, node.attribute) for tree in unaware for path, node in tree.splits())


@pytest.mark.parametrize("epsilon", [None, Fraction(4)], ids=str)
def test_noise_and_the_growth_that_names_it_come_together(epsilon: Fraction | None) -> None:
    class Wrong(Game):
        def noise(self, *, first: bool) -> TreeNoise | None:
            return GAME.noise(first=first) if epsilon is None else None

    with pytest.raises(InputError, match="noise of its growth"):
        Wrong(NOISY_SCHEMA, noisy_table(1), replace(GROWTH, noise=epsilon)).grown()


def test_another_run_opens_the_same_tree_and_epsilon_is_split_over_levels_and_labels() -> None:
    game = replace(GAME, growth=replace(GROWTH, noise=Fraction(1, 10)))
    tree = game.grown()
    assert game.grown(seed=4) == tree
    assert any(replace(game, secrets=(bytes([k]), b"b")).plain() != tree for k in range(8))
    spending = TreeSpending(Fraction(1), 5, 4097, 14)
    assert 5 * spending.of_level + spending.of_label == 1
    assert spending.worth.scale == 2 * 4097 / Fraction(3, 25)
    assert spending.label.scale == 5
    assert spending.delta == Fraction(14, 2**40)


CHANGE = 3
DELTA = 2**-40  # of each winner


def winners(law: OneSided, worth: tuple[int, ...]) -> list[float]:
    """Return each candidate's chance to win by the least of `worth - G`, ties to the first, of all noise there is."""
    decay = exp(-1 / float(law.scale))
    weights = decay ** np.arange(law.cut + 1)
    chances = weights / weights.sum()
    at = np.arange(law.cut + 1)
    below = np.concatenate([[0], np.cumsum(chances)])
    result = []
    for own, value in enumerate(worth):
        chance = chances.copy()
        for other, theirs in enumerate(worth):
            if other != own:  # their noise is smaller than what takes them below, or at, our number
                chance *= below[np.clip(theirs - value + at + (other > own), 0, law.cut + 1)]
        result.append(float(chance.sum()))
    assert sum(result) == pytest.approx(1)
    return result


def test_no_winner_is_likelier_by_more_than_epsilon_and_one_nearly_is() -> None:
    """Of all ways in which a record may move what three candidates are worth, by less than its range or by all of it.

    A third of the noise is not enough.
    """

    def worst(law: OneSided) -> float:
        greatest = 0.0
        for worth in ((0, 0, 0), (20, 0, 5), (60, 0, 40)):
            before = winners(law, worth)
            for moved in product((-CHANGE, 0, CHANGE), repeat=3):
                after = winners(law, tuple(each + by for each, by in zip(worth, moved, strict=True)))
                greatest = max(
                    greatest, *(log((a - DELTA) / b) for a, b in zip(after, before, strict=True) if a > DELTA)
                )
        return greatest

    law = OneSided(Fraction(2 * CHANGE), 2 * CHANGE)
    assert 0.9 < worst(law) <= 1 + 1e-12
    assert worst(OneSided(law.scale / 3, law.reach)) > 1


SMALL = schema_of((2, 2), 2, 2)
AUDITED = {
    "alice": ([[1, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 0]], (0, 1), (1, 1, 0)),
    "bob": ([[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]], (2,), (0, 1, 0)),
}
"""Of who holds two columns, and who the class: a table, what of its first record changes, and what tells them apart.

The latter is a winner and the labels of its leaves.
"""


class Silent(TreeNoise):
    """No noise: a side that leaves out its own protects itself alone."""

    def worth(self, expression: Expression, candidate: int) -> int:
        del expression, candidate
        return 0

    def label(self, expression: Expression, classes: int) -> list[int]:
        del expression
        return [0] * classes


@dataclass(frozen=True)
class Audit:
    """Runs on two tables that one record of a side sets apart, whose noise alone is in them, of another secret each."""

    side: str
    epsilon: Fraction

    @property
    def tables(self) -> tuple[Codes, Codes]:
        rows, changed, _ = AUDITED[self.side]
        noisy_table = np.array(rows, np.uint8)
        other = noisy_table.copy()
        other[0, list(changed)] ^= 1
        return noisy_table, other

    @property
    def spending(self) -> TreeSpending:
        spent = tree_spending(2, Growth(1, noise=self.epsilon), 5)
        assert spent is not None
        return spent

    @property
    def claim(self) -> Claim:
        return Claim(float(self.epsilon), float(self.spending.delta), alarm=1e-3)

    def event(self) -> Tree:
        _, _, (winner, *labels) = AUDITED[self.side]
        root = Split((), winner, tuple(Leaf((), label) for label in labels))
        return Tree(SMALL, root, Growth(1, noise=self.epsilon, impurity=Impurity.GINI))

    def chances(self, spending: TreeSpending) -> tuple[Fraction, Fraction]:
        """Return the chance of the event on either table, of all noise there is."""
        _, _, (winner, *labels) = AUDITED[self.side]
        law, found = spending.label, []
        assert isinstance(law, OneSided)
        for codes in self.tables:
            cells = np.zeros((2, 2, 2), int)
            for column in (0, 1):
                np.add.at(cells[column], (codes[:, column], codes[:, 2]), 1)
            chance = winners(spending.worth, tuple(Gini(5).mixture(cells).tolist()))[winner]
            for label, counts in zip(labels, cells[winner], strict=True):
                chance *= winners(law, tuple((-counts).tolist()))[label]
            found.append(Fraction(chance))
        return found[0], found[1]

    def hits(self, runs: int, happens: Callable[[Codes, int], bool]) -> tuple[int, int]:
        one, other = self.tables
        return sum(happens(one, run) for run in range(runs)), sum(happens(other, runs + run) for run in range(runs))


@pytest.mark.parametrize(("side", "part"), few([*product(AUDITED, (1, 4))], 3))
def test_trees_tell_neighbours_apart_no_further_than_epsilon_and_a_quarter_of_the_noise_is_caught(
    side: str, part: int
) -> None:
    """False alarm 1e-3; a quarter of the noise is refuted with a chance of 0.95: the number of runs follows from it."""
    audit = Audit(side, Fraction(3, 2))
    runs = audit.claim.runs_needed(*audit.chances(replace(audit.spending, epsilon=Fraction(6))), miss=0.05)
    drawn, growth = replace(audit.spending, epsilon=audit.epsilon * part), audit.event().growth

    def happens(codes: Codes, run: int) -> bool:
        noise = TreeNoise(b"%032d" % run, b"audit", drawn)
        return grow_alone_with_noise(SMALL, codes, [noise], growth) == audit.event()

    hits, others = audit.hits(runs, happens)
    assert audit.claim.refuted(hits, others, runs) == (part > 1)
    assert hits > 2 * others  # they are told apart, as far as epsilon lets them


@dataclass(frozen=True)
class Whole(Game):
    """A run of both by the protocol; the noise of one side is audited, if it has any."""

    audited: TreeNoise | None = None
    side_is_first: bool = True

    def noise(self, *, first: bool) -> TreeNoise | None:
        if self.audited is None or first == self.side_is_first:
            return self.audited
        return Silent(b"s" * 32, b"audit", self.audited.spending)


@pytest.mark.full
@pytest.mark.parametrize(("side", "law"), [("alice", TreeNoise), ("bob", TreeNoise), ("bob", Silent)])
def test_what_a_whole_run_opens_tells_neighbours_apart_no_further_than_epsilon_and_no_noise_is_caught(
    side: str, law: type[TreeNoise]
) -> None:
    """False alarm 1e-3; without noise the event is certain on one table and never on the other: no miss."""
    audit = Audit(side, Fraction(1, 10))
    runs = audit.claim.runs_needed(Fraction(1), Fraction(0), miss=1e-2)
    expected, transfers = simulate_openings(audit.event(), Allowance(SMALL, 1)), meet(2, 3)
    wires = [each.tobytes() for each in expected]

    def happens(codes: Codes, run: int) -> bool:
        noise, transcript = law(b"%032d" % run, b"audit", audit.spending), Transcript()
        game = Whole(SMALL, codes, audit.event().growth, audited=noise, side_is_first=side == "alice")
        game.grown_by(*transfers, transcript)
        return pages_opened(transcript) == wires

    assert audit.claim.refuted(*audit.hits(runs, happens), runs) == (law is Silent)
