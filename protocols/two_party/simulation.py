"""The methods side by side on one table, both parties in one process, for experiments (Hybrid section 5).

Coins are drawn in bulk from a seeded generator, and exact counts are taken from the joined table: they are what secure
counting would give, at no cost. Trees, windows and tallies are those of a real run, by the same code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from protocols.counting.estimated import Estimator
from protocols.counting.projected import MeanEstimates
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.view import View, make_view, peer_columns
from protocols.learning.hybrid_id3 import ALL, HybridId3, Result
from protocols.randomized_response.bulk import bulk_draw
from protocols.randomized_response.multi_group import MultiGroupDesign, default_groups
from protocols.role import run_alone, run_pair
from protocols.tables.schema import Attribute, Schema, joint_schema
from protocols.tables.table import Codes, Table

PARTIES = ("alice", "bob")


@dataclass(frozen=True)
class Split:
    """A joint table, divided between two parties and into training and test records."""

    schema: Schema
    train: Codes
    test: Codes


@dataclass(frozen=True)
class Row:
    """One method on one split: `cost_ratio` is hybrid's SMC computations over those of `smc`."""

    method: str
    omega: int | None
    accuracy: float
    cost_ratio: float


def random_split(table: Table, class_column: int, test: Fraction, generator: np.random.Generator) -> Split:
    """Divide the attributes at random into halves, give the class to one, hold out a share of the records."""
    others = np.array([c for c in range(len(table.attributes)) if c != class_column])
    shuffled = generator.permutation(others)
    halves = np.array_split(shuffled, 2)
    owned = [sorted(half.tolist()) for half in halves]
    attributes = [
        Attribute(party, table.attributes[c].name, table.attributes[c].values)
        for party, half in zip(PARTIES, owned, strict=True)
        for c in half
    ]
    owner = PARTIES[generator.integers(2)]
    label = table.attributes[class_column]
    schema = joint_schema(attributes, Attribute(owner, label.name, label.values), [owner])
    codes = table.codes[generator.permutation(len(table))][:, [*owned[0], *owned[1], class_column]]
    held_out = int(len(table) * test)
    return Split(schema, codes[held_out:], codes[:held_out])


def compare_methods(
    split: Split, theta: Fraction, groups: int, windows: Sequence[int], generator: np.random.Generator
) -> list[Row]:
    """Run plain ID3, `randomized`, and `hybrid` for each window on one disguise of a split.

    Args:
        split: The table.
        theta: Chance of the truth.
        groups: Groups of each party.
        windows: Values of omega.
        generator: Draws the coins.
    """
    views = [_disguised_view(split, party, theta, groups, generator) for party in PARTIES]
    plain = run_alone(HybridId3(split.schema, len(split.train), ALL, _exact(split)).build())
    rows = [Row("plain", None, _accuracy(plain, split), 1.0)]
    rows.append(Row("randomized", None, _accuracy(_randomized(split, views), split), 0.0))
    for omega in windows:
        result = _hybrid(split, views, omega)
        ratio = result.computations / plain.computations
        rows.append(Row("hybrid", omega, _accuracy(result, split), ratio))
    return rows


def _disguised_view(split: Split, party: str, theta: Fraction, groups: int, generator: np.random.Generator) -> View:
    """Return what this party sees of the training records once the peer has disguised its own."""
    columns = list(peer_columns(split.schema, party))
    sizes = tuple(split.schema.columns[c].size for c in columns)
    design = MultiGroupDesign(sizes, default_groups(sizes, groups), theta)
    copy = design.randomize(split.train[:, columns], bulk_draw(generator, len(split.train)))
    own = split.train[:, list(split.schema.held_by(party))]
    return make_view(split.schema, party, own, copy, design)


def _exact(split: Split) -> PlaintextEngine:
    return PlaintextEngine(split.schema, split.train, split.test)


def _randomized(split: Split, views: Sequence[View]) -> Result:
    records = len(split.train)

    def learner(view: View) -> HybridId3:
        estimator = Estimator(view)
        return HybridId3(split.schema, records, 1, MeanEstimates(estimator, None, records), estimator)

    return run_pair(learner(views[0]).build(), learner(views[1]).build())[0]


def _hybrid(split: Split, views: Sequence[View], omega: int) -> Result:
    def learner(view: View) -> HybridId3:
        return HybridId3(split.schema, len(split.train), omega, _exact(split), Estimator(view))

    return run_pair(learner(views[0]).build(), learner(views[1]).build())[0]


def _accuracy(result: Result, split: Split) -> float:
    labels = split.test[:, split.schema.class_index]
    return float((result.tree.predict(split.test) == labels).mean())
