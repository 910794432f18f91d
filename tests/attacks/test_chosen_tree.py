"""What a tree alone says of people whom a partner has chosen its columns, or its class, to ask about.

All of it follows from what is opened: the tree, and the table of those held out. What works is tested too, beside the
bits that are shown before a run.
"""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.learning.tree import Leaf, Split, Tree
from protocols.learning.whole import mixture
from protocols.noise.geometric import Geometric
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.held_out import noise_of_scores
from protocols.terms import Growth
from tests.protocols.secret_tree.test_growth import Game
from tests.support.plain import schema_of

PEOPLE, ASKED = 600, 5
Labels = NDArray[np.int64]
ONE_SPLIT = Growth(max_depth=1, min_leaf=20)


def with_columns_that_differ_by_a_few(asked: list[int], seed: int, most_bits: Fraction | None = None) -> Game:
    """Return a table of which the partner holds all columns: halves of the people that differ by those asked alone."""
    rng = np.random.default_rng(seed)
    half = rng.integers(0, 2, PEOPLE)
    label = np.where(rng.random(PEOPLE) < 0.7, half, 1 - half)
    columns = []
    for places in product((0, 1), repeat=len(asked)):
        column = half.copy()
        column[asked] = places
        columns.append(column)
    codes = np.column_stack([*columns, label]).astype(np.uint8)
    return Game(schema_of((2,) * len(columns), 2, len(columns)), codes, ONE_SPLIT, most_bits)


def classes_that_follow(game: Game, tree: Tree, asked: list[int]) -> list[int]:
    """Return what the partner concludes: the column won that puts each of them with the class of its half."""
    if isinstance(tree.root, Leaf):
        return []
    labels = [child.label for child in tree.root.children if isinstance(child, Leaf)]
    return [labels[game.codes[person, tree.root.attribute]] for person in asked]


@pytest.mark.parametrize("runs", [1, 10])
def test_columns_that_differ_by_a_few_people_read_their_classes_and_no_more_than_the_bits_that_are_shown(
    runs: int,
) -> None:
    """Of 32 columns the winner says five classes for certain; the commonest class is right for about half of them.

    One split of 32 columns and two labels are at most 7.1 bits; with 5 bits allowed there is no split, and no class.
    """
    read = guessed = 0
    shown = Fraction(0)
    for run in range(runs):
        asked = list(range(ASKED * run, ASKED * (run + 1)))
        game = with_columns_that_differ_by_a_few(asked, run)
        tree = game.grown() if run == 0 else game.plain()
        truth = game.codes[asked, -1]
        read += int((np.array(classes_that_follow(game, tree, asked)) == truth).sum())
        guessed += int((truth == np.bincount(game.codes[:, -1]).argmax()).sum())
        shown += Allowance(game.schema, 1).spent(tree)
    assert read == ASKED * runs > guessed
    assert read < shown < Fraction(72, 10) * runs
    bounded = with_columns_that_differ_by_a_few(list(range(ASKED)), 0, Fraction(5))
    assert classes_that_follow(bounded, bounded.grown(), list(range(ASKED))) == []


def asked_about(person_has_it: bool) -> Game:
    """Return a table whose class, which the partner chose, follows the other side's column of three values.

    One person of 200 may have the third value. The partner's own column is the second best.
    """
    rng = np.random.default_rng(1)
    theirs = np.tile([0, 1], 100)
    own = np.where(rng.random(200) < 0.8, theirs, 1 - theirs)
    label = np.where(rng.random(200) < 0.9, theirs, 1 - theirs)
    theirs[0] = 2 if person_has_it else 0
    return Game(schema_of((2, 3), 2, 1), np.column_stack([own, theirs, label]).astype(np.uint8), ONE_SPLIT)


def winner_if_small_branches_bar(game: Game) -> int:
    """Return the column that would win if a branch of fewer than `min_leaf` people barred it."""
    worth = {}
    for column in range(2):
        table = np.zeros((game.schema.attributes[column].size, 2), int)
        np.add.at(table, (game.codes[:, column], game.codes[:, -1]), 1)
        sizes = table.sum(1)
        if not ((sizes > 0) & (sizes < game.growth.min_leaf)).any():
            worth[column] = int(mixture(table))
    return min(worth, key=worth.__getitem__)


def test_one_person_alone_in_a_branch_would_bar_it_and_does_not() -> None:
    """Whoever holds the class reads whether the person has the third value where a small branch bars its column."""
    with_it, without_it = asked_about(True), asked_about(False)
    assert winner_if_small_branches_bar(with_it) != winner_if_small_branches_bar(without_it)
    trees = with_it.grown(), without_it.grown()
    assert isinstance(trees[0].root, Split)
    assert trees[0] == trees[1]


def chance(law: Geometric, value: int) -> float:
    return 0.0 if abs(value) > law.cut else exp(-abs(value) / float(law.scale))


def test_a_table_of_all_held_out_people_but_one_that_are_known_reads_that_one_exactly_and_hardly_with_noise() -> None:
    """The partner knows the classes of all others and its own noise, so the other side's noise alone is in its way.

    Whatever is opened speaks for one class by `exp(1/2)` to 1 at most; without noise it says which.
    """
    law = noise_of_scores(Fraction(1, 2))
    with_person, other = (31, 11), (30, 12)
    odds = [
        chance(law, seen[0] - with_person[0])
        * chance(law, seen[1] - with_person[1])
        / (chance(law, seen[0] - other[0]) * chance(law, seen[1] - other[1]))
        for seen in product(range(-30, 90), repeat=2)
    ]
    assert max(odds) == pytest.approx(exp(1 / 2)) == pytest.approx(1 / min(odds))
