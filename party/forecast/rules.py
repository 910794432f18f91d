"""How many exact counts a run for rules will probably tell, played through with a peer like us.

The peer is taken to have our columns over again, of other people: what is frequent on one side follows from nothing on
the other. Real columns go together, so that more sets are frequent; those are seldom the ones in doubt.
"""

from dataclasses import dataclass

import numpy as np

from protocols.rule_terms import RuleTerms
from protocols.simulation.joint_rules import SIDES, JointTable
from protocols.terms import Terms
from protocols.two_party.inputs import PartyInputs

_MOST_RECORDS = 1_000_000
_SEED = 0  # the chance of a guess, which may be the same every time


@dataclass(frozen=True)
class RuleOutlook:
    """What a run for rules will probably tell.

    Args:
        own: Exact counts of sets of each side's own items, of both sides together.
        both: Exact counts of sets with items of both.
    """

    own: int
    both: int

    @property
    def counts(self) -> int:
        """All of them, with that of the records."""
        return self.own + self.both + 1


def guess_rules(local: PartyInputs, terms: Terms, rules: RuleTerms, records: int | None = None) -> RuleOutlook:
    """Guess what a run tells.

    Args:
        local: What we bring.
        terms: Of the run.
        rules: Those of its rules.
        records: Of a table like ours; those of ours unless given. Of more than a million, it is played with a million,
            which leave more in doubt.

    Raises:
        InputError: More sets of our own items are frequent than are agreed, or there are too many candidates.
    """
    if not terms.counts_exactly:
        return RuleOutlook(0, 0)
    ours = local.bringing(terms)
    generator = np.random.default_rng(_SEED)
    own = ours.table.codes[:, : len(ours.attributes)]
    if records is not None:
        own = own[generator.integers(len(own), size=min(records, _MOST_RECORDS))]
    joint = JointTable.of(ours.attributes, ours.attributes, np.hstack([own, generator.permutation(own)]))
    copies = None
    if terms.disguises:
        design = ours.design(terms.theta, class_is_shared=True)
        copies = joint.copies(dict.fromkeys(SIDES, design), generator)
    found = joint.find(rules, terms.min_leaf, copies)
    return RuleOutlook(found.own, found.counted)
