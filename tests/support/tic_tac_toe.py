"""Records of tic-tac-toe in the hands of two parties, and the tree that one who holds all would build."""

from fractions import Fraction

import numpy as np

from party.datasets.included import load
from protocols.counting.plaintext import PlaintextEngine
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Tree
from protocols.role import run_alone
from protocols.tables import Schema
from protocols.terms import ALL, TO_THE_END, Growth
from protocols.two_party.inputs import split_records

RECORDS = 160
ALICE, BOB = (0, 3, 5, 6, 9), (1, 2, 4, 7, 8)  # columns of tic-tac-toe; 9 is the class


def table(columns: tuple[int, ...]) -> tuple[list[str], list[list[str]]]:
    dataset = load("tic-tac-toe")
    rows = dataset.rows[:: len(dataset.rows) // RECORDS][:RECORDS]
    return [dataset.columns[c] for c in columns], [[row[c] for c in columns] for row in rows]


def plain_tree(schema: Schema, growth: Growth = TO_THE_END, held_out: Fraction = Fraction(1, 5)) -> Tree:
    dataset = load("tic-tac-toe")
    (names_a, rows_a), (names_b, rows_b) = table(ALICE), table(BOB)
    cells = {**dict(zip(names_a, zip(*rows_a, strict=True), strict=True))}
    cells |= dict(zip(names_b, zip(*rows_b, strict=True), strict=True))
    assert set(cells) == set(dataset.columns)
    codes = np.array(
        [[column.values.index(text) for text in cells[column.name]] for column in schema.columns], dtype=np.uint8
    ).T
    train, test = split_records(1, RECORDS, held_out)
    engine = PlaintextEngine(schema, codes[train], codes[test])
    return run_alone(HybridId3(schema, engine.class_counts, ALL, engine, growth=growth).build()).tree
