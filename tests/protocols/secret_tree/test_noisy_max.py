"""A tree of noisy winners and labels is that of who sees all counts and adds the same noise; its epsilon holds."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from protocols.counting.oblivious import sides_of
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled
from protocols.learning.whole import Gini
from protocols.noise.accounting import TreeSpending
from protocols.noise.geometric import OneSided
from protocols.noise.own import TreeNoise
from protocols.oblivious.gates import Gates
from protocols.oblivious.triples import Triples
from protocols.role import Role, Transcript, run_pair
from protocols.secret_tree.growth import SecretTree, simulate_openings, tree_spending
from protocols.secret_tree.shares import SharedCounts
from protocols.tables.expression import ROOT, Expression
from protocols.terms import Growth, Impurity
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.protocols.secret_tree.test_growth import Game, opened
from tests.support.plain import schema_of
from tests.support.secure_engines import columns_of

SCHEMA = schema_of((2, 3, 2, 4), 2, 2)
GROWTH = Growth(2, noise=Fraction(4), impurity=Impurity.GINI)


def table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, 300) for size in (2, 3, 2, 4)], axis=1)
    label = np.where(rng.random(300) < 0.8, codes[:, 0] ^ codes[:, 2], codes[:, 1] == 2)
    return np.column_stack([codes, label]).astype(np.uint8)


GAME = Game(SCHEMA, table(1), GROWTH)


def noises(game: Game = GAME) -> list[TreeNoise]:
    spending = tree_spending(4, game.growth.max_depth or 0, game.growth.noise or Fraction(1), len(game.codes))
    return [TreeNoise(name * 32, b"tables", spending) for name in (b"a", b"b")]


def grown(game: Game, drawn: list[TreeNoise], transcript: Transcript | None = None, seed: int = 3) -> Tree:
    sides = sides_of(game.schema, "alice")

    def side(first: bool) -> Role[Tree]:
        transfers = transfers_of[not first]
        gates = Gates(first, transfers, Triples(transfers, Chance(first)))
        columns = columns_of(game.codes, sides.chooser if first else sides.corrector)
        counts = SharedCounts(sides, columns, transfers, is_chooser=first)
        return SecretTree(game.allowance, game.growth, counts, gates, noise=drawn[not first]).build()

    transfers_of = meet(4, seed)
    ours, theirs = run_pair(side(True), side(False), transcript)
    assert ours == theirs
    return ours


def plain(game: Game, drawn: list[TreeNoise]) -> Tree:
    """Grow it as simply as possible, of counts that are there for all to see, with the same noise."""
    nodes: dict[Expression, Node] = {}
    pending = [(ROOT, game.codes)]
    while pending:
        expression, rows = pending.pop()
        if len(expression.terms) == game.growth.max_depth:
            counts = np.bincount(rows[:, -1], minlength=2)
            counts = counts + np.sum([each.label(expression, 2) for each in drawn], axis=0)
            nodes[expression] = Leaf((), int(counts.argmax()))
            continue
        worth = {}
        for candidate in set(range(4)) - expression.columns:
            cells = np.zeros((game.schema.attributes[candidate].size, 2), int)
            np.add.at(cells, (rows[:, candidate], rows[:, -1]), 1)
            less = sum(each.worth(expression, candidate) for each in drawn)
            worth[candidate] = int(Gini(len(game.codes)).mixture(cells)) - less
        best = min(sorted(worth), key=lambda each: worth[each])
        nodes[expression] = Split((), best, ())
        sizes = range(game.schema.attributes[best].size)
        pending += [(expression.child(best, value), rows[rows[:, best] == value]) for value in sizes]
    return assembled(game.schema, nodes.items(), game.growth)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(40)], ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_the_tree_of_who_sees_all_and_adds_the_same_noise(epsilon: Fraction, seed: int) -> None:
    game = Game(SCHEMA, table(seed), replace(GROWTH, noise=epsilon))
    transcript = Transcript()
    tree = grown(game, noises(game), transcript)
    assert tree == plain(game, noises(game))
    assert opened(transcript) == [wires.tobytes() for wires in simulate_openings(tree, game.allowance)]


def test_another_run_with_other_transfers_opens_the_same_tree_and_another_secret_another() -> None:
    game = replace(GAME, growth=replace(GROWTH, noise=Fraction(1, 10)))
    tree = grown(game, noises(game))
    assert grown(game, noises(game), seed=4) == tree
    others = [TreeNoise(bytes([k]) * 32, b"tables", noises(game)[0].spending) for k in range(8)]
    assert any(plain(game, [other, noises(game)[1]]) != tree for other in others)


@pytest.mark.parametrize(
    ("growth", "why"),
    [
        (replace(GROWTH, max_depth=None), "max_depth"),
        (replace(GROWTH, impurity=Impurity.INFORMATION_GAIN), "gini"),
        (replace(GROWTH, min_leaf=2), "min_leaf"),
        (replace(GROWTH, noise=None), "without needs nothing"),
        (replace(GROWTH, noise=Fraction(5)), "another tree"),
    ],
)
def test_what_noise_does_not_cover_is_refused(growth: Growth, why: str) -> None:
    with pytest.raises(InputError, match=why):
        grown(replace(GAME, growth=growth), noises())


def test_epsilon_is_split_over_levels_and_labels_and_adds_up() -> None:
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
