"""What only a demo can know: both tables joined, plain ID3 on them, and how good a tree is there."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from party.demo.data import PARTIES
from party.demo.errors import DemoError
from party.demo.options import DemoOptions
from party.models.tree_file import tree_json
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Tree
from protocols.role import run_alone
from protocols.tables.schema import Schema, joint_schema
from protocols.tables.table import Codes
from protocols.terms import ALL, Method
from protocols.two_party.held_out import drawn_split
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.split import split_records


@dataclass(frozen=True, repr=False)
class Reference:
    """The joined table, split as the runs split it, and the tree of plain ID3 with the counts that it asked for."""

    schema: Schema
    train: Codes
    test: Codes
    tree: Tree
    computations: int

    def __repr__(self) -> str:
        return f"<Reference on {len(self.train)} + {len(self.test)} records>"

    def correct(self, tree: Tree) -> int | None:
        """Return how many test records a tree gets right; None if there are none.

        Raises:
            DemoError: The tree is over other columns.
        """
        same_class = tree.schema.class_attribute.values == self.schema.class_attribute.values
        if tree.schema.attributes != self.schema.attributes or not same_class:
            raise DemoError("a party's model is over other columns than the joined table")
        if not len(self.test):
            return None
        return int((tree.predict(self.test) == self.test[:, self.schema.class_index]).sum())

    def is_plain(self, tree: Tree) -> bool:
        """Tell whether a tree equals plain ID3, node for node and count for count, if it has any."""
        if not tree.has_counts:
            return tree.leaves() == self.tree.leaves()
        return tree_json(tree) == tree_json(self.tree)


def make_reference(parties: Mapping[str, PartyInputs], options: DemoOptions) -> Reference:
    """Join both parties' tables and grow the plain tree.

    Raises:
        InputError: The parties' class columns differ.
    """
    terms = options.terms(Method.SMC, ALL, "class")
    brought = {name: local.bringing(terms) for name, local in parties.items()}
    schema, codes = _join(brought)
    commitments = {name: local.digest(b"commitment") for name, local in brought.items()}
    seed = drawn_split(commitments) if terms.hides_counts else options.seed
    train, test = split_records(seed, len(codes), options.test)
    engine = PlaintextEngine(schema, codes[train], codes[test])
    learner = HybridId3(schema, engine.class_counts, ALL, engine, growth=options.growth)
    result = run_alone(learner.build())
    return Reference(schema, codes[train], codes[test], result.tree, result.computations)


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
