"""The methods side by side on one table, both parties in one process, for experiments (Hybrid section 5).

Coins are drawn in bulk from a seeded generator, and exact counts are taken from the joined table: they are what secure
counting would give, at no cost. Trees, windows, tallies, and which sets are counted for rules (DESIGN 9, "Hybrid
rules") are those of a real run, by the same code.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.association.joint import JointItemsets, items_of
from protocols.association.own_sets import TermSet, find_own_sets
from protocols.counting.estimated import Estimator, estimates_over
from protocols.counting.plaintext import PlaintextEngine, ProjectedEstimates
from protocols.counting.rows import View, make_view, peer_columns, view_of_copies
from protocols.counts import Answer, Classifier, Counts, CountTable, Estimates, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.merit import best, whole_gains
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.learning.whole import Whole
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Role, run_alone
from protocols.tables import Attribute, Codes, Expression, Schema, Table, joint_schema
from protocols.terms import ALL, TO_THE_END, Growth, Method, RuleTerms, Window
from protocols.two_party.itemset_search import Evidence, JointSearch

SIDES = ("alice", "bob")
_EVERYONE = Attribute("", "everyone", ("all",))


def bulk_draw(generator: np.random.Generator, records: int) -> Draw:
    """Return draws for this many records, in the order in which they are asked for."""

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        del purpose  # the generator goes on
        return generator.integers(bound, size=records)

    return draw


def random_groups(columns: Sequence[int], groups: int, generator: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Spread columns at random over this many groups, as equal in size as possible (Multi-group section 5.2)."""
    if not 1 <= groups <= len(columns):
        raise InputError(f"{len(columns)} columns make 1 to {len(columns)} groups, not {groups}")
    parts = np.array_split(generator.permutation(np.array(columns)), groups)
    return tuple(sorted(tuple(sorted(part.tolist())) for part in parts))


@dataclass(frozen=True, eq=False, repr=False)
class HoldOut:
    """Training and test records by the columns of a schema; of two parties, the schema says who holds which."""

    schema: Schema
    train: Codes
    test: Codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Domain size of every column."""
        return tuple(column.size for column in self.schema.columns)

    def __repr__(self) -> str:
        return f"<HoldOut {len(self.train)} + {len(self.test)} x {len(self.sizes)}>"


def accuracy(model: Classifier, data: HoldOut) -> float:
    """Return the share of the test records that a model classifies correctly."""
    return float((model.predict(data.test) == data.test[:, data.schema.class_index]).mean())


def label_leaves(tree: Tree, engine: Counts) -> Role[Tree]:
    """Return the same splits with leaves labelled by this engine's counts; an empty leaf takes its parent's class.

    Discloses: whatever `engine` discloses.
    """
    tables: dict[Expression, CountTable] = {}
    known: dict[Expression, tuple[float, ...] | None] = {}
    for level in tree.levels():
        queries = [Query(expression, (node.attribute,), known.get(expression)) for expression, node in level]
        for (expression, node), answer in zip(level, (yield from engine.count(queries)), strict=True):
            (tables[expression],) = answer.tables
            rows = tables[expression].tolist()
            known |= {expression.child(node.attribute, value): tuple(row) for value, row in enumerate(rows)}
    return replace(tree, root=_labelled(tree, tables))


def _labelled(tree: Tree, tables: dict[Expression, CountTable]) -> Node:
    def split(expression: Expression, node: Split, children: Sequence[Node]) -> Node:
        rows, counts = tables[expression].tolist(), tables[expression].sum(axis=0).tolist()
        labelled = (
            Leaf(tuple(row), majority(row if sum(row) > 0 else counts)) if isinstance(child, Leaf) else child
            for child, row in zip(children, rows, strict=True)
        )
        return Split(tuple(counts), node.attribute, tuple(labelled))

    return tree.folded(lambda _, leaf: leaf, split)


def end_early(tree: Tree, is_split: Callable[[Expression, Split], bool]) -> Tree:
    """Return the tree in which splits that fail the test are leaves of their majority class.

    Splits are decided from the root downward, so this is the tree that such an early stop would have grown.
    """

    def split(expression: Expression, node: Split, children: Sequence[Node]) -> Node:
        if is_split(expression, node):
            return Split(node.counts, node.attribute, tuple(children))
        return Leaf(node.counts, majority(node.counts))

    return replace(tree, root=tree.folded(lambda _, leaf: leaf, split))


Disguise = Callable[[tuple[int, ...]], RelatedDesign]


@dataclass(frozen=True)
class MethodScore:
    """One method on one split: `cost_ratio` is hybrid's SMC computations over those of `smc`."""

    method: str
    omega: Window
    accuracy: float
    cost_ratio: float


@dataclass(frozen=True)
class GrownTree:
    """A tree, and all queries that exact counts answered while it grew."""

    result: Result
    queries: Sequence[Query]

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.result.tree

    @property
    def computations(self) -> int:
        """How many exact counts were asked for (DESIGN 7.3)."""
        return self.result.computations


def random_split(table: Table, class_column: int, test: Fraction, generator: np.random.Generator) -> HoldOut:
    """Divide the attributes at random into halves, give the class to one, hold out a share of the records."""
    others = np.array([c for c in range(len(table.attributes)) if c != class_column])
    shuffled = generator.permutation(others)
    halves = np.array_split(shuffled, 2)
    owned = [sorted(half.tolist()) for half in halves]
    attributes = [
        replace(table.attributes[c], party=party) for party, half in zip(SIDES, owned, strict=True) for c in half
    ]
    owner = SIDES[generator.integers(2)]
    label = table.attributes[class_column]
    schema = joint_schema(attributes, Attribute(owner, label.name, label.values), [owner])
    codes = table.codes[generator.permutation(len(table))][:, [*owned[0], *owned[1], class_column]]
    held_out = int(len(table) * test)
    return HoldOut(schema, codes[held_out:], codes[:held_out])


def compare_methods(
    split: HoldOut,
    theta: Fraction,
    groups: int,
    windows: Sequence[int],
    generator: np.random.Generator,
    growth: Growth = TO_THE_END,
) -> list[MethodScore]:
    """Run plain ID3, `randomized`, and `hybrid` for each window omega on one disguise of a split.

    Theta is of a two-valued column, others have its odds; each party's groups are drawn at random.
    """
    views = disguised_views(split, at_random(theta, groups, generator), generator)
    plain = grow_plain(split, growth)
    rows = [MethodScore("plain", None, accuracy(plain.tree, split), 1.0)]
    rows.append(MethodScore(Method.RANDOMIZED, None, accuracy(grow_randomized(split, views, growth), split), 0.0))
    for omega in windows:
        grown = grow_hybrid(split, views, omega, growth)
        ratio = grown.computations / plain.computations
        rows.append(MethodScore(Method.HYBRID, omega, accuracy(grown.tree, split), ratio))
    return rows


def at_random(theta: Fraction, groups: int, generator: np.random.Generator) -> Disguise:
    """Return how columns of given domain sizes are disguised: in groups at random, as two parties would."""

    def disguise(sizes: tuple[int, ...]) -> RelatedDesign:
        drawn = random_groups(range(len(sizes)), min(groups, len(sizes)), generator)
        return RelatedDesign.of_odds(sizes, drawn, theta)

    return disguise


def disguised_views(split: HoldOut, disguise: Disguise, generator: np.random.Generator) -> tuple[View, View]:
    """Return what each party sees of the training records once the other has disguised its own."""

    def view(party: str) -> View:
        columns = list(peer_columns(split.schema, party))
        sizes = tuple(split.schema.columns[c].size for c in columns)
        design = disguise(sizes)
        copy = design.randomize(split.train[:, columns], bulk_draw(generator, len(split.train)))
        own = split.train[:, list(split.schema.held_by(party))]
        return make_view(split.schema, party, own, copy, design)

    alice, bob = (view(party) for party in SIDES)
    return alice, bob


def grow_plain(split: HoldOut, growth: Growth = TO_THE_END) -> GrownTree:
    """Grow plain ID3 on the joint table: what `smc` finds, all candidates counted."""
    return grow_hybrid(split, (), ALL, growth)


def grow_randomized(split: HoldOut, views: Sequence[View], growth: Growth = TO_THE_END) -> Tree:
    """Grow a tree on what the class holder estimates from its own columns and the other's copy."""
    class_counts = _exact(split).class_counts
    return run_alone(HybridId3(split.schema, class_counts, ALL, _mined(split, views), growth=growth).build()).tree


def _mined(split: HoldOut, views: Sequence[View]) -> Counts:
    miner = split.schema.class_attribute.party
    return ProjectedEstimates(Estimator(views[SIDES.index(miner)]))


def grow_hybrid(split: HoldOut, views: Sequence[View], omega: Window, growth: Growth = TO_THE_END) -> GrownTree:
    """Grow a tree on exact counts of the `omega` candidates that both parties' estimates rank highest."""
    exact = _exact(split)
    engine = _Recorded(exact)
    estimates = [] if omega is ALL else [estimates_over(split.schema, each) for each in views]
    ranking = PlainRanking(estimates, split.schema.classes, growth)
    learner = HybridId3(split.schema, exact.class_counts, omega, engine, ranking, growth)
    return GrownTree(run_alone(learner.build()), engine.queries)


class PlainRanking:
    """The windows of a real run, by who sees both sides' estimated gains.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, estimates: Sequence[Estimates], classes: int, growth: Growth = TO_THE_END) -> None:
        self._estimates, self._classes, self._growth = estimates, classes, growth

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        for each in self._estimates:
            each.advance(expressions)

    def gains(self, queries: Sequence[Query]) -> Whole:
        """Return the sums of both sides' estimated gains (`queries x candidates`)."""
        one, other = (whole_gains(each, queries, self._classes, self._growth) for each in self._estimates)
        return one + other

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        """Return the `omega` best candidates of each query; yields nothing."""
        yield from ()
        places = [best(of_node, omega) for of_node in self.gains(queries).tolist()]
        return [tuple(map(query.candidates.__getitem__, each)) for query, each in zip(queries, places, strict=True)]


def label_exactly(tree: Tree, split: HoldOut) -> Tree:
    """Label a tree's leaves again, by exact counts of the training records."""
    return run_alone(label_leaves(tree, _exact(split)))


def label_by_estimates(tree: Tree, split: HoldOut, views: Sequence[View]) -> Tree:
    """Label a tree's leaves again, by the class holder's estimates."""
    return run_alone(label_leaves(tree, _mined(split, views)))


class _Recorded:
    """Counts that remember what was asked."""

    def __init__(self, engine: Counts) -> None:
        self._engine = engine
        self.queries: list[Query] = []

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        self.queries += queries
        return self._engine.count(queries)


def _exact(split: HoldOut) -> PlaintextEngine:
    return PlaintextEngine(split.schema, split.train, split.test)


@dataclass(frozen=True, repr=False)
class Found:
    """What a run finds: of `own` sets of one side's items the counts are sent, `counted` have items of both."""

    itemsets: JointItemsets
    own: int
    counted: int


@dataclass(frozen=True, eq=False, repr=False)
class JointTable:
    """The columns of both, Alice's first, and a last one of one value in the place of a class."""

    schema: Schema
    codes: Codes

    @classmethod
    def of(cls, alice: Sequence[Attribute], bob: Sequence[Attribute], codes: Codes) -> "JointTable":
        """Put together columns whose attributes name them; whose they are is overwritten."""
        owned = zip(SIDES, (alice, bob), strict=True)
        attributes = [Attribute(party, each.name, each.values) for party, all_ in owned for each in all_]
        last = np.zeros((len(codes), 1), dtype=np.uint8)
        return cls(joint_schema(attributes, _EVERYONE, SIDES), np.hstack([codes, last]))

    def copies(self, designs: Mapping[str, RelatedDesign], generator: np.random.Generator) -> View:
        """Return both disguised copies side by side, by the design of each party."""
        copy = {party: self._copy(party, designs[party], generator) for party in SIDES}
        own = self.codes[:, list(self.schema.held_by(SIDES[0]))]
        view = make_view(self.schema, SIDES[0], own, copy[SIDES[1]], designs[SIDES[1]])
        return view_of_copies(view, SIDES[0], copy[SIDES[0]], designs[SIDES[0]])

    def _copy(self, party: str, design: RelatedDesign, generator: np.random.Generator) -> Codes:
        other = SIDES[1 - SIDES.index(party)]
        columns = list(peer_columns(self.schema, other))
        return design.randomize(self.codes[:, columns], bulk_draw(generator, len(self.codes)))

    def find(self, terms: RuleTerms, smallest: int, copies: View | None, most_own: int | None = None) -> Found:
        """Find what both parties would; with no copies all are counted (`smc`).

        `most_own` is the most sets of one party's items; as many as of both, as in a run, unless given.
        """
        own: dict[TermSet, int] = {}
        for party in SIDES:
            own |= self._own(party, terms, smallest, terms.most_sets if most_own is None else most_own)
        search = JointSearch(self.schema, len(self.codes), terms, Evidence(own, copies, self._count))
        return Found(run_alone(search.find()), len(own), search.counted)

    def _own(self, party: str, terms: RuleTerms, smallest: int, most: int) -> dict[TermSet, int]:
        items = items_of(self.schema.attributes, terms.absent)
        mine = [item for item in items if self.schema.attributes[item.column].party == party]
        limits = (terms.max_len, smallest)
        found = find_own_sets(self.codes, mine, terms.least(len(self.codes)), limits, most)
        if not found.complete:
            raise InputError(f"more than most_sets = {most:,} sets of one party's items are frequent")
        return {each.terms: each.count for each in found.sets}

    def _count(self, sets: Sequence[Expression]) -> Role[list[int]]:
        yield from ()
        return [int(each.satisfied_by(self.codes).sum()) for each in sets]
