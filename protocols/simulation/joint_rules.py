"""A run for rules on one table, both parties in one process, for experiments and forecasts (DESIGN 9, "Hybrid rules").

Coins are drawn in bulk from a seeded generator, and exact counts are taken from the joined table: they are what secure
counting would give, at no cost. Which sets are counted is decided by the code of a real run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.association.joint import JointItemsets, items_of
from protocols.association.own_sets import TermSet, find_own_sets
from protocols.counting.rows import View, make_view, peer_columns, view_of_copies
from protocols.errors import InputError
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Role, run_alone
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Attribute, Codes, Expression, Schema, joint_schema
from protocols.terms import RuleTerms
from protocols.two_party.itemset_search import Evidence, JointSearch

SIDES = ("alice", "bob")
_EVERYONE = Attribute("", "everyone", ("all",))


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
