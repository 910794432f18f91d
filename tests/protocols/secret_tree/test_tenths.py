"""The shares of leaves in tenths are those of who sees all counts, and nothing but them is opened."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, e, exp

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.answers import KeptAnswers
from protocols.counting.oblivious import sides_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import DeviationError, InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Split, Tree, assembled, shares_in_tenths, shares_of
from protocols.noise.accounting import TreeSpending
from protocols.noise.geometric import Geometric
from protocols.oblivious.extension import Transfers
from protocols.oblivious.gates import Gates, Triples
from protocols.role import Role, Transcript, run_alone, run_pair
from protocols.secret_tree.bits import bits
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.tenths import add_tenths, with_tenths
from protocols.tables import ROOT, Codes, Term
from protocols.terms import Growth, Impurity, Leaves
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet, pages_opened
from tests.protocols.secret_tree.test_growth import SCHEMA, Game, games, table
from tests.support.examples import at_most
from tests.support.plain import schema_of
from tests.support.secure_engines import columns_of
from tests.support.simulators import simulate_openings


def counted(game: Game) -> Tree:
    """Grow the tree with its counts."""
    engine = PlaintextEngine(game.schema, game.codes, game.codes[:0])
    return run_alone(HybridId3(game.schema, engine.class_counts, None, engine, None, game.growth).build()).tree


def bare(tree: Tree) -> Tree:
    """Leave labels alone, as where nobody sees counts."""
    nodes = [(path, replace(node, counts=())) for path, node in tree.walk()]
    return assembled(tree.schema, nodes, tree.growth)


def opened_tenths(game: Game, tree: Tree, transcript: Transcript | None = None) -> Tree:
    held = sides_of(game.schema, "alice")

    def side(transfers: Transfers, columns: frozenset[int], *, first: bool) -> Role[Tree]:
        gates = Gates(first, transfers, Triples(transfers, Chance(first)))
        counts = SharedCounts(held, columns_of(game.codes, columns), transfers, is_chooser=first)
        return add_tenths(tree, counts, gates, KeptAnswers(), game.noise(first=first))

    one, other = meet(4, 3)
    sides = side(one, held.chooser, first=True), side(other, held.corrector, first=False)
    ours, theirs = run_pair(*sides, transcript)
    assert ours == theirs
    return ours


@settings(max_examples=at_most(20), deadline=None)
@given(games())
def test_each_leaf_has_the_rounded_shares_of_its_records_or_of_its_parents_where_it_is_small(game: Game) -> None:
    tree = counted(game)
    found = opened_tenths(game, bare(tree))
    assert found == bare(tree).relabelled(lambda path, leaf: replace(leaf, tenths=expected(tree, path.terms)))
    assert [node.tenths for _, node in with_tenths(tree).walk() if isinstance(node, Leaf)] == [
        node.tenths for _, node in found.walk() if isinstance(node, Leaf)
    ]


def expected(tree: Tree, terms: tuple[Term, ...]) -> tuple[int, ...]:
    """Return the tenths of a leaf, reckoned in fractions."""
    nodes = {path.terms: node for path, node in tree.walk()}
    node = nodes[terms]
    if sum(node.counts) < tree.growth.min_leaf and terms:
        node = nodes[terms[:-1]]
    whole = sum(map(Fraction, node.counts))
    others = [int(10 * Fraction(count) / whole + Fraction(1, 2)) for count in node.counts[1:]]
    return (max(0, 10 - sum(others)), *others)


GAME = Game(SCHEMA, table(1), Growth(max_depth=2, min_leaf=20, leaves=Leaves.TENTHS))


def test_nothing_is_opened_but_the_tree_and_the_comparisons_that_make_them() -> None:
    transcript = Transcript()
    tree = GAME.grown(transcript)
    assert pages_opened(transcript) == [wires.tobytes() for wires in simulate_openings(tree, GAME.allowance)]
    assert tree == opened_tenths(GAME, replace(bare(counted(GAME)), growth=GAME.growth))


def test_shares_cost_bits_of_each_leaf() -> None:
    tree, labels = GAME.plain(), replace(GAME.allowance, leaves=Leaves.LABEL)
    leaves = len(tree.leaves())
    assert GAME.allowance.of_leaf - labels.of_leaf == 2 * bits(11)
    assert GAME.allowance.spent(tree) - labels.spent(tree) == leaves * 2 * bits(11)
    assert GAME.allowance.at_most - labels.at_most == 4 * 3 * 2 * bits(11)  # two levels of the widest


TWO = schema_of((2, 2, 3), 2, 2)
NOISY = Growth(2, noise=Fraction(1), impurity=Impurity.GINI, leaves=Leaves.TENTHS)


def two_classes(seed: int, records: int = 500) -> Codes:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, records) for size in (2, 2, 3)], axis=1)
    label = (codes[:, 0] & codes[:, 1]) ^ (rng.random(records) < 0.15)
    return np.column_stack([codes, label]).astype(np.uint8)


def test_with_noise_label_and_shares_follow_from_one_draw_of_each_sides_noise() -> None:
    game = Game(TWO, two_classes(1), NOISY)
    tree = game.grown()
    assert tree == game.plain()
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and leaf.tenths[0] != leaf.tenths[1]:
            assert leaf.label == int(leaf.tenths[1] > leaf.tenths[0])


def test_shares_have_noise_of_both_signs_that_pays_for_two_cells() -> None:
    """Of one-sided noise, which a winner may have, a sum of two counts would give away more than its epsilon."""
    spending = TreeSpending(Fraction(1), 2, 4096, 3, tenths=True)
    assert spending.label == Geometric(2 / spending.of_label)
    drawn = [number for path in range(60) for number in noise_of(path)]
    assert min(drawn) < 0 < max(drawn)


def chances(law: Geometric, counts: tuple[int, int]) -> dict[tuple[int, tuple[int, ...]], float]:
    """Return the chance of each label and share of a leaf with these counts, of all noise of one side."""
    decay, size = exp(-1 / float(law.scale)), 8 * ceil(law.scale)
    weights = decay ** np.abs(np.arange(-size, size + 1))
    weights /= weights.sum()
    found: dict[tuple[int, tuple[int, ...]], float] = {}
    for one, other in product(range(2 * size + 1), repeat=2):
        noisy = [counts[0] + one - size, counts[1] + other - size]
        said = int(noisy[1] > noisy[0]), shares_in_tenths(noisy)
        found[said] = found.get(said, 0.0) + float(weights[one] * weights[other])
    return found


def test_no_label_and_share_of_a_leaf_is_likelier_by_more_than_epsilon_and_one_nearly_is() -> None:
    """Of one record that moves to the other class of its leaf; half the noise is not enough."""

    def worst(law: Geometric) -> float:
        pairs = [((3, 2), (2, 3)), ((1, 0), (0, 1)), ((20, 1), (19, 2))]
        ratios = []
        for one, other in (tuple(chances(law, counts) for counts in pair) for pair in pairs):
            ratios += [one[said] / other[said] for said in one if other.get(said, 0) > 1e-6]
        return max(ratios)

    assert 1.5 < worst(Geometric(Fraction(2))) <= e + 1e-3  # epsilon 1
    assert worst(Geometric(Fraction(1))) > e


def test_label_alone_and_with_shares_are_made_of_other_draws() -> None:
    """Of one stream an observer of both would learn more than both cost: sizes agree as often as chance has it."""
    label = replace(Game(TWO, two_classes(1), replace(NOISY, leaves=Leaves.LABEL)), secrets=(b"k", b"b"))
    alike = 0
    for value in range(200):
        path = ROOT & Term(0, value)
        one, other = (replace(game, growth=game.growth).noise(first=True) for game in (label, shared()))
        assert one is not None
        assert other is not None
        alike += abs(other.label(path, 2)[0]) == one.label(path, 2)[0]
    assert alike < 60  # a fifth or less by chance, nine in ten of one stream


def shared() -> Game:
    return replace(Game(TWO, two_classes(1), NOISY), secrets=(b"k", b"b"))


def noise_of(path: int) -> list[int]:
    noise = replace(Game(TWO, two_classes(1), NOISY), secrets=(bytes([path]), b"b")).noise(first=True)
    assert noise is not None
    return noise.label(ROOT, 2)


@pytest.mark.parametrize("remembered", [(11.0, 0.0), (-1.0, 0.0), (3.0,)], ids=str)
def test_what_both_remember_must_be_tenths(remembered: tuple[float, ...]) -> None:
    """A peer may send what it alone remembers."""
    one, _ = meet(4, 3)
    kept = KeptAnswers([np.array(remembered).tobytes()], common=1)
    tree = Tree(SCHEMA, Leaf((), 1))
    counts = SharedCounts(sides_of(SCHEMA, "alice"), table(1), one, is_chooser=True)
    role = add_tenths(tree, counts, Gates(True, one, Triples(one, Chance(0))), kept)
    with pytest.raises(DeviationError):
        run_alone(role)


def test_shares_are_the_scores_of_a_model() -> None:
    assert shares_of(Leaf((), 1, (3, 7))) == (Fraction(3, 10), Fraction(7, 10))
    assert shares_of(Leaf((), 2, (0, 6, 6))) == (Fraction(0), Fraction(1, 2), Fraction(1, 2))
    apart = Split((), 0, (Leaf((), 0, (9, 1)), Leaf((), 1, (4, 6))))
    assert shares_of(apart) == (Fraction(13, 20), Fraction(7, 20))
    with pytest.raises(InputError, match="classes alone"):
        shares_of(replace(apart, children=(Leaf((), 0), Leaf((), 1))))
