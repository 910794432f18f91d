"""What a run lets out of a side: no neighbour changes more than the accounting says, and some change as much."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from protocols.noise.accounting import Spending, most_changes
from protocols.tables import ROOT, Attribute, Codes, Expression, Schema, joint_schema
from protocols.terms import ALL, Window

SIZES = {"alice": (2, 3, 2), "bob": (3, 2)}
OWNERS = [("alice",), ("bob",), ("alice", "bob")]


def _schema(owners: tuple[str, ...]) -> Schema:
    attributes = [
        Attribute(party, f"{party[0]}{k}", tuple("uvw"[:size]))
        for party, sizes in SIZES.items()
        for k, size in enumerate(sizes)
    ]
    return joint_schema(attributes, Attribute(owners[0], "class", ("x", "y")), owners)


def _neighbours(schema: Schema, side: str, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Return joint tables that differ in the values of one record on one side."""
    sizes = [column.size for column in schema.columns]
    codes = rng.integers(0, sizes, size=(6, len(sizes))).astype(np.uint8)
    shared = {schema.class_index} if len(schema.class_owners) > 1 else set()
    own = sorted({*schema.held_by(side)} - shared)
    other = codes.copy()
    other[0, own] = rng.integers(0, [sizes[column] for column in own])
    return codes, other


def _cells(codes: Codes, node: Expression, candidate: int, schema: Schema) -> list[int]:
    rows = codes[node.satisfied_by(codes)]
    keys = rows[:, candidate].astype(int) * schema.classes + rows[:, schema.class_index]
    counts: list[int] = np.bincount(keys, minlength=schema.attributes[candidate].size * schema.classes).tolist()
    return counts


def _asked(schema: Schema, window: Window, depth: int, rng: np.random.Generator) -> list[tuple[Expression, int]]:
    """Return what any tree asks for, split anywhere: nothing that the data say decides it."""
    level, asked = [ROOT], []
    for _ in range(depth):
        below = []
        for node in level:
            left = [c for c in range(len(schema.attributes)) if c not in node.columns]
            counted = rng.permutation(left)[: len(left) if window is ALL else window].tolist()
            asked += [(node, candidate) for candidate in counted]
            chosen = int(rng.choice(counted))
            below += [node.child(chosen, value) for value in range(schema.attributes[chosen].size)]
        level = below
    return asked


def _changes(schema: Schema, side: str, window: Window, depth: int, rng: np.random.Generator) -> int:
    one, other = _neighbours(schema, side, rng)
    changes = sum(
        abs(a - b)
        for node, candidate in _asked(schema, window, depth, rng)
        for a, b in zip(_cells(one, node, candidate, schema), _cells(other, node, candidate, schema), strict=True)
    )
    classes = [np.bincount(codes[:, schema.class_index], minlength=schema.classes) for codes in (one, other)]
    return changes + sum(int(abs(a - b)) for a, b in zip(*classes, strict=True))


@pytest.mark.parametrize("owners", OWNERS, ids="+".join)
@pytest.mark.parametrize("side", ["alice", "bob"])
@pytest.mark.parametrize(("window", "depth"), [(ALL, 1), (ALL, 3), (2, 2), (1, 3)])
def test_no_neighbour_changes_more_than_the_accounting_says_and_some_as_much(
    owners: tuple[str, ...], side: str, window: Window, depth: int
) -> None:
    schema, rng = _schema(owners), np.random.default_rng(len(owners) + depth)
    seen = [_changes(schema, side, window, depth, rng) for _ in range(200)]
    assert max(seen) == most_changes(schema, side, window, depth)


def test_delta_bounds_what_each_change_adds_at_the_ends_of_its_range() -> None:
    """`changes` times the chance of the noise at one end of its range, computed here with floats, is below delta."""
    for epsilon, changes in [("0.1", 4), ("1", 26), ("1", 140), ("10", 26), ("20", 2)]:
        spending = Spending(Fraction(epsilon), changes)
        for law, times in ((spending.cells, changes), (spending.accuracy, 1)):
            weights = np.exp(-np.abs(np.arange(-law.cut, law.cut + 1)) / float(law.scale))
            assert times * weights[0] / weights.sum() <= spending.delta


def test_the_scale_is_all_changes_over_epsilon() -> None:
    schema = _schema(("bob",))
    assert most_changes(schema, "bob", ALL, 5) == most_changes(schema, "bob", ALL, 99) == 2 * (5 + 4 + 3 + 2 + 1) + 2
    assert most_changes(schema, "alice", ALL, 5) == 2 * (3 + 4 + 3 + 2 + 1)
    spending = Spending(Fraction("0.5"), 26)
    assert spending.cells.scale == 52
    assert spending.accuracy.scale == 2
    assert spending.delta == Fraction(1, 2**41)
    spreads = [Spending(Fraction(epsilon), 26).cells.variance for epsilon in ("0.1", "0.5", "1", "2", "10")]
    assert all(less > more for less, more in pairwise(spreads))
