"""What is said to follow from a tree holds in every table from which that tree could have come."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from protocols.learning.tree import Tree
from protocols.secret_tree.deduction import deduce, what_follows
from protocols.tables import Codes
from protocols.terms import ALL, Growth, Window
from tests.protocols.secret_tree.test_growth import SCHEMA as WIDE
from tests.protocols.secret_tree.test_growth import Game, table
from tests.support.examples import few
from tests.support.plain import schema_of

SCHEMA = schema_of((2, 2), 2, 1)
SIDES = {"alice": (0,), "bob": (1, 2)}


def every_table(tree: Tree, own: tuple[int, ...], codes: Codes, growth: Growth) -> Codes:
    """Return all joint tables (`tables x records x columns`) with these own columns that grow this tree."""
    others = [column for column in range(3) if column not in own]
    tables = []
    for values in product((0, 1), repeat=len(others) * len(codes)):
        table = codes.copy()
        table[:, others] = np.array(values).reshape(len(codes), len(others))
        if Game(SCHEMA, table, growth).plain() == tree:
            tables.append(table)
    return np.stack(tables)


@pytest.mark.parametrize("party", SIDES)
@pytest.mark.parametrize("growth", [Growth(), Growth(max_depth=1), Growth(min_leaf=2)], ids=repr)
def test_it_holds_in_all_tables_that_grow_the_tree(party: str, growth: Growth) -> None:
    """Each pair of own and other cells, of five records: whatever follows is one thing in all of them."""
    rng, own, found = np.random.default_rng(3), SIDES[party], 0
    for _ in few(range(12), 2):
        codes = rng.integers(0, 2, (5, 3)).astype(np.uint8)
        game = Game(SCHEMA, codes, growth)
        tree = game.plain()
        deduced = deduce(tree, own, codes, game.allowance)
        tables = every_table(tree, own, codes, growth)
        same = (tables == tables[0]).all(0)
        other = 0 if party == "bob" else 1
        assert (same[deduced.classes, -1]).all()
        assert (same[deduced.values, other]).all()
        found += int(deduced.classes.sum() + deduced.values.sum())
    assert (found > 0) == (growth == Growth())


def test_who_holds_the_class_knows_what_the_leaves_of_its_class_say() -> None:
    """The class is the other side's column: each record's class gives its cell; with larger leaves nothing does."""
    codes = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1]], np.uint8)
    game = Game(SCHEMA, codes, Growth())
    assert deduce(game.plain(), (1, 2), codes, game.allowance).values.all()
    assert not deduce(game.plain(), (0,), codes, game.allowance).values.any()
    assert deduce(game.plain(), (0,), codes, game.allowance).classes.all()
    many = Game(SCHEMA, np.tile(codes, (20, 1)), Growth(min_leaf=20))
    deduced = deduce(many.plain(), (1, 2), many.codes, many.allowance)
    assert many.plain().size == 3
    assert not deduced.values.any()


@pytest.mark.parametrize("party", SIDES)
def test_the_numbers_are_of_what_follows_and_the_other_side_can_say_no_more_classes_than_are_shown(party: str) -> None:
    rng = np.random.default_rng(4)
    for growth in (Growth(), Growth(min_leaf=2)):
        codes = rng.integers(0, 2, (8, 3)).astype(np.uint8)
        codes[:, 2] |= codes[:, 0]
        game = Game(SCHEMA, codes, growth)
        tree, allowance = game.plain(), game.allowance
        own, found = SIDES[party], deduce(tree, SIDES[party], codes, allowance)
        told = what_follows(tree, own, codes, allowance, alone=party == "bob")
        assert (told.records, told.values, told.classes) == (8, found.values.sum(), found.classes.sum())
        others = deduce(tree, SIDES["alice"], codes, allowance).classes.sum()
        assert (others <= told.shown) if party == "bob" else told.shown == 0
        assert (told.shown > 0) == (party == "bob" and growth.min_leaf == 1)


@pytest.mark.parametrize("omega", [ALL, 1])
def test_a_leaf_that_bits_have_ended_is_not_said_to_be_of_one_class(omega: Window) -> None:
    """Windows are of the bits too: fewer nodes are asked than there would be without them."""
    found, ended = 0, 0
    for most in (*range(6, 40, 4), 10**6):
        game = Game(WIDE, table(1, 24), Growth(max_depth=3), most_bits=Fraction(most), omega=omega)
        tree = game.grown()
        certain = deduce(tree, range(4), game.codes, game.allowance).classes
        labels = tree.predict(game.codes)
        assert (labels == game.codes[:, -1])[certain].all()
        found += int(certain.sum())
        ended += int((labels != game.codes[:, -1]).sum())
    assert found
    assert ended
