#!/usr/bin/env python
"""Review section 3.7: frequent itemsets of disguised baskets, cut-off 7, breach level 50 %; what is found of them.

The paper's data are not to be had; these are made (`_baskets.made_baskets`). The paper does not say `s_min`: 2 % here.
"""

from fractions import Fraction

import numpy as np
from _baskets import (
    CUTOFF,
    LEVEL,
    SIZES,
    discovery,
    disguised,
    frequent_sets,
    limited_design,
    made_baskets,
    plain_frequent,
)
from _command import main
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.association.apriori import MinedItemsets, mine_itemsets
from protocols.association.support import estimate_support, overlap_counts
from protocols.association.transactions import Randomized, TransactionDesign

SUPPORT = "1/50"
RANKED = 15


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    transactions, support = made_baskets(int(cell["records"])), Fraction(SUPPORT)
    design = limited_design(transactions, Fraction(LEVEL))
    truth = plain_frequent(transactions, support)
    sent = disguised(transactions, design, generator.bytes(32))
    mined = mine_itemsets(sent, design, support)
    measured: Measured = []
    for k in SIZES:
        found = discovery(truth, mined, k)
        counted = {
            "true sets": found.true,
            "found": found.found,
            "false drops": found.drops,
            "false positives": found.positives,
            "mean standard error": found.error,
        }
        measured += [({"quantity": name, "k": k}, float(value)) for name, value in counted.items()]
        measured += ranked(k, truth, sent, design)
    return measured


def ranked(k: int, truth: MinedItemsets, sent: Randomized, design: TransactionDesign) -> Measured:
    """Return the true and the estimated supports of the most frequent sets."""
    true = frequent_sets(truth, k)
    order = sorted(true, key=lambda itemset: true[itemset][0], reverse=True)[:RANKED]
    values: Measured = []
    for rank, itemset in enumerate(order, 1):
        labels: Labels = {"k": k, "rank": rank}
        estimated = estimate_support(design, overlap_counts(sent, itemset))
        values.append(({"quantity": "true support", **labels}, true[itemset][0]))
        values.append(({"quantity": "estimated support", **labels}, float(estimated.share)))
    return values


def counts_panel(k: int) -> Panel:
    def where(line: Line) -> bool:
        return line["k"] == k and line["quantity"] in {"true sets", "found", "false drops", "false positives"}

    return Panel(f"sets of {k}", "records", "mean", ("quantity",), where, bars=True, y="sets")


def supports_panel(records: int) -> Panel:
    def where(line: Line) -> bool:
        return line["records"] == records and line["quantity"] in {"true support", "estimated support"}

    return Panel(f"{records} baskets", "rank", "mean", ("quantity", "k"), where, bars=True, y="support")


SWEEP = Sweep(
    name="review_discovery",
    seed=2002,
    repetitions=10,
    cells=grid(records=[10_000, 30_000, 100_000]),
    measure=measure,
    quick=grid(records=[1_000]),
    constants={"cut-off": CUTOFF, "level": LEVEL, "support": SUPPORT, "generator": 1},
)
FIGURE = Figure(SWEEP.name, SWEEP, [*map(counts_panel, SIZES), supports_panel(100_000)])

if __name__ == "__main__":
    main(FIGURE)
