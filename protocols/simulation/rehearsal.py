"""A run of two parties as it would be, played by who has both tables, before anything leaves.

Agreement, split, coins, noise and learners are those of a run, by the same code and under the same secrets. Counts that
nobody would see are counted in the open, so it takes seconds, and the tree is the run's, node for node (a test holds
both against each other, method by method). How good it is on held-out records is exact here, where a run adds noise to
the table of a tree alone: its errors are those that a run reports.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from protocols.counting.rows import View, make_view
from protocols.errors import InputError
from protocols.learning.model import gives_shares
from protocols.learning.quality import ScoreTable, score_table
from protocols.learning.tree import Tree, assembled
from protocols.randomized_response.related_question import disguise
from protocols.role import run_alone, run_pair
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.held_out import noise_of_table
from protocols.secret_tree.tenths import with_tenths
from protocols.simulation.noise import grow_alone_with_noise, grow_with_noise
from protocols.simulation.two_party import HoldOut, grow_hybrid
from protocols.tables import Codes, Expression
from protocols.terms import EPSILON_OF_SCORES, Leaves, Terms
from protocols.two_party.agreement import Agreement, agree_on_training, object_to_limits
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.mined import ended_within, grow_mined
from protocols.two_party.noise import noises_of, tree_noise_of
from protocols.two_party.secret import parts_of


@dataclass(frozen=True)
class Rehearsed:
    """The tree that both end with, and what it reveals.

    `scores` are of the held-out records, if any; `computations` are exact counts, seen or not: 0 where winners have
    noise, or a tree is mined; `bits` are known where a tree alone is revealed, without noise.
    """

    tree: Tree
    scores: ScoreTable | None
    computations: int
    revealed: int
    bits: Fraction | None
    most_bits: Fraction | None


def rehearse(ours: PartyInputs, theirs: PartyInputs, terms: Terms) -> Rehearsed:
    """Return what a run of these two on these terms gives."""
    ours, theirs = ours.bringing(terms), theirs.bringing(terms)
    flaw = object_to_limits(ours, terms) or object_to_limits(theirs, terms)
    if flaw is not None:
        raise InputError(flaw.reason)
    return _Rehearsal(ours, theirs, terms).play()


class _Rehearsal:
    def __init__(self, ours: PartyInputs, theirs: PartyInputs, terms: Terms) -> None:
        self._terms, self._sides = terms, (ours, theirs)
        self._agreed = run_pair(
            agree_on_training(ours, terms, theirs.party, b""), agree_on_training(theirs, terms, ours.party, b"")
        )
        self._schema = self._agreed[0].learning.schema
        self._train, self._test = parts_of(ours, self._agreed[0])
        whole = self._joint()
        self._rows = HoldOut(self._schema, *(self._schema.recode(whole[part]) for part in (self._train, self._test)))

    def play(self) -> Rehearsed:
        terms, limits = self._terms, Allowance.of(self._schema, self._terms, len(self._sides[0].records))
        tree, counted = self._grown(limits)
        alone = not terms.reveals_counts and terms.noise is None
        if alone:
            ends = {path for path, _ in tree.leaves()}
            tree = ended_within(tree, limits)
            tree = with_tenths(tree) if terms.growth.leaves == Leaves.TENTHS else tree
            unasked = {path for path, _ in tree.leaves()} - ends  # since bits are used up
            nodes = {path: replace(node, counts=()) for path, node in tree.walk()}
            counted = [(path, cells) for path, cells in counted if path in nodes and path not in unasked]
            tree = assembled(self._schema, nodes.items(), terms.growth)
        made = sum(cells for _, cells in counted)
        return Rehearsed(
            tree=tree,
            scores=self._tested(tree) if len(self._test) else None,
            computations=made,
            revealed=terms.reveals_counts * (made + self._schema.classes + (len(self._test) > 0)),
            bits=limits.spent(tree) if alone else None,
            most_bits=limits.at_most if alone else None,
        )

    def _grown(self, limits: Allowance) -> tuple[Tree, list[tuple[Expression, int]]]:
        """Return the tree, and how many cells were counted at which node."""
        terms = self._terms
        if terms.mines:
            miner = next(at for at, each in enumerate(self._sides) if each.party == self._schema.class_attribute.party)
            counts = self._sides[miner].class_counts(self._train)
            return run_alone(grow_mined(self._view(miner).rows(self._train), counts, terms.growth, limits)), []
        if terms.noise is None:
            views = [self._view(side).rows(self._train) for side in (0, 1)] if terms.ranks else ()
            grown = grow_hybrid(self._rows, views, terms.window, terms.growth)
            return grown.tree, [(each.expression, sum(each.cells(self._schema))) for each in grown.queries]
        both = [(local, agreed.learning) for local, agreed in zip(self._sides, self._agreed, strict=True)]
        if terms.hides_counts:
            drawn = [tree_noise_of(local, agreed, len(self._train)) for local, agreed in both]
            some = [each for each in drawn if each is not None]
            return grow_alone_with_noise(self._schema, self._rows.train, some, terms.growth), []
        noises = {local.party: noise.own for local, agreed in both if (noise := noises_of(local, agreed))}
        noisy = grow_with_noise(self._rows, noises, terms.growth)
        return noisy.tree, [(path, table.size) for (path, _), table in noisy.cells.items()]

    def _tested(self, tree: Tree) -> ScoreTable:
        rows, classes = self._rows.test, self._schema.classes
        scores = tree.shares(rows)[:, 1] if gives_shares(tree) and classes == 2 else None
        table = score_table(tree.predict(rows), rows[:, self._schema.class_index], classes, scores, len(rows))
        of_run = 2 * noise_of_table(EPSILON_OF_SCORES).variance if self._terms.opens_tree else 0.0
        return replace(table, noise=of_run)

    def _joint(self) -> Codes:
        """Put the tables side by side, in the agreed order; of a class that both hold ours is taken."""
        held = {
            (local.party, each.name): local.table.codes[:, at]
            for local in self._sides[::-1]
            for at, each in enumerate(local.table.attributes)
        }
        return np.column_stack([held[each.party, each.name] for each in self._agreed[0].schema.columns])

    def _view(self, side: int) -> View:
        """Return what a side sees once the other has sent its copy."""
        local, agreed, other = self._sides[side], self._agreed[side], self._sides[1 - side]
        return make_view(agreed.schema, local.party, local.table.codes, self._copy(other, agreed), agreed.peer_design)

    def _copy(self, other: PartyInputs, agreed: Agreement) -> Codes | None:
        design = agreed.peer_design
        if not design.sizes:
            return None
        return disguise(other.table.codes[:, : len(design.sizes)], other.coins(design), design)
