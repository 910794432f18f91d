#!/usr/bin/env python
"""Question: how many exact counts do two parties need to find the rules of their joined table (Hybrid section 6)?

Columns are dealt to the parties at random. Both copies leave out of the counts what they show clearly; of what they
leave in doubt, the sets nearest to the threshold are counted, as many as the budget allows. Counts are taken from the
joined table: they are what secure counting gives, at no cost. *True sets* are the frequent ones with items of both, by
plain Apriori; `found` of them, `false drops` and `false positives` as in Review section 3.7. `told` is the number of
counts, `of all` its share of what `smc` counts, which settles every candidate. No set is withheld (`min_leaf` is 1);
sets of one party's items have no budget.
"""

from fractions import Fraction

import numpy as np
from _baskets import made_baskets
from _command import main
from _data import QUICK_RECORDS, RECORDS, binary_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import SIDES, JointTable, random_groups
from protocols.tables import Attribute, Codes
from protocols.terms import SETS, RuleTerms

SUPPORTS = {"mushroom": "2/5", "adult": "2/5", "made baskets": "1/100"}
ITEMS, MADE = 60, 30_000
MAX_LEN, GROUPS = 3, 2
BUDGETS = (0, 10, 30, 100, 300, 1000, SETS.high)


def table(data: str, records: int) -> tuple[Codes, tuple[str, ...]]:
    """Return two-valued columns, and the values that are no items: of baskets, a column per item of the commonest."""
    if data != "made baskets":
        return binary_table(data, records).codes, ()
    made = made_baskets(records)
    held = np.zeros((len(made), made.universe), dtype=np.uint8)
    held[np.repeat(np.arange(len(made)), np.diff(made.starts)), made.items] = 1
    return held[:, np.argsort(-held.sum(axis=0), kind="stable")[:ITEMS]], ("0",)


def dealt(codes: Codes, generator: np.random.Generator) -> JointTable:
    """Deal the columns to both parties at random."""
    order = generator.permutation(codes.shape[1])
    attributes = [Attribute("", f"c{c}", ("0", "1")) for c in order]
    half = len(order) // 2
    return JointTable.of(attributes[:half], attributes[half:], codes[:, order])


def designs(joint: JointTable, theta: Fraction, generator: np.random.Generator) -> dict[str, RelatedDesign]:
    """Return the disguise of each party, in groups at random."""
    sizes = {party: sum(each.party == party for each in joint.schema.attributes) for party in SIDES}
    return {
        party: RelatedDesign.of_odds((2,) * size, random_groups(range(size), GROUPS, generator), theta)
        for party, size in sizes.items()
    }


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    data, theta = str(cell["data"]), Fraction(str(cell["theta"]))
    plain, absent = table(data, int(cell["records"]))
    joint = dealt(plain, generator)
    copies = joint.copies(designs(joint, theta, generator), generator)
    support = Fraction(SUPPORTS[data])
    truth = joint.find(RuleTerms(support, MAX_LEN, SETS.high, absent), 1, None)
    true = _of_both(truth.itemsets)
    measured: Measured = [({"quantity": "true sets"}, float(len(true)))]
    for budget in BUDGETS:
        found = joint.find(RuleTerms(support, MAX_LEN, budget, absent), 1, copies, SETS.high)
        labels: Labels = {"budget": budget}
        mine = _of_both(found.itemsets)
        counted = {
            "found": len(true & mine),
            "false drops": len(true - mine),
            "false positives": len(mine - true),
            "told": found.counted,
            "of all": found.counted / truth.counted,
        }
        measured += [({"quantity": name, **labels}, float(value)) for name, value in counted.items()]
    return measured


def _of_both(found: JointItemsets) -> set[TermSet]:
    attributes = found.attributes
    return {each.terms for each in found.frequent if len({attributes[term.column].party for term in each.terms}) > 1}


def panel(data: str) -> Panel:
    def where(line: Line) -> bool:
        return line["data"] == data and line["quantity"] in {"false drops", "false positives"}

    return Panel(data, "budget", "mean", ("theta", "quantity"), where, bars=True, y="sets")


SWEEP = Sweep(
    name="question_rules_budget",
    seed=77,
    repetitions=5,
    cells=[
        cell
        for data in SUPPORTS
        for cell in grid(data=[data], records=[RECORDS.get(data, MADE)], theta=["9/10", "4/5", "2/3", "3/5"])
    ],
    measure=measure,
    quick=grid(data=["mushroom"], records=[QUICK_RECORDS["mushroom"]], theta=["4/5"]),
    constants={"groups": GROUPS, "longest": MAX_LEN, "items": ITEMS, "generator": 1, **SUPPORTS},
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel(data) for data in SUPPORTS])

if __name__ == "__main__":
    main(FIGURE)
