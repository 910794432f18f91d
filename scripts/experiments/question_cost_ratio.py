#!/usr/bin/env python
"""Question: how does Hybrid's table 1 reach cost ratios of 19 % (adult) and 10 % (mushroom) at omega = 2?

Three things are varied: how many values a column keeps; an early stop (a node of few records, or deep down, is not
split); and what is tallied. Trees are grown once: an early stop is a cut of the grown tree, its queries a part of all.
Columns are ranked by estimates (2 groups per party, each telling the truth with theta = 0.45) or as if nothing were
disguised.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from _command import main
from _data import RECORDS, TEST, binary_table, several_valued_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.counts import Query
from protocols.learning.tree import Split
from protocols.randomized_response.related_question import RelatedDesign, default_groups
from protocols.simulation.two_party import (
    GrownTree,
    HoldOut,
    accuracy,
    disguised_views,
    end_early,
    grow_hybrid,
    grow_plain,
    random_split,
)
from protocols.tables import Expression, Table

THETA, GROUPS_PER_PARTY = "0.45", 2
WINDOWS = (2, 3, 4)
VALUES = {"two": None, "up to 4": (4, 4), "all": (None, 10)}  # of texts, and bins of numbers
LEAST_SHARES = ("0.0025", "0.01", "0.025", "0.05")  # of the training records in a node that is split
DEPTHS = (4, 5, 6)
PRINTED = {"adult": ((2, 0.19), (3, 0.28), (4, 0.37)), "mushroom": ((2, 0.10), (3, 0.15), (4, 0.20))}

Stop = Callable[[float, int], bool]
Queries = Sequence[Query]


def stops(records: int) -> dict[str, Stop]:
    """Tell for each early stop which nodes, of this many records at such a depth, are still split."""
    least = {
        f"under {float(share):.2%}": lambda n, _, share=share: n >= Fraction(share) * records for share in LEAST_SHARES
    }
    return (
        {"grown to the end": lambda *_: True}
        | least
        | {f"depth {depth}": lambda _, d, depth=depth: d < depth for depth in DEPTHS}
    )


def tallies(omega: int, split: HoldOut, hybrid: Queries, plain: Queries) -> dict[str, float]:
    """Return the cost ratio by each rule.

    `counts` is ours (DESIGN 7.3); `candidates` ignores how many values they have. `one tree` sets windows against all
    candidates at the nodes of plain ID3, as if both methods grew that tree.
    """
    sizes = [attribute.size for attribute in split.schema.attributes]

    def counts(queries: Queries) -> int:
        return sum(sizes[c] for query in queries for c in query.candidates)

    def candidates(queries: Queries) -> int:
        return sum(len(query.candidates) for query in queries)

    windows = sum(min(omega, len(query.candidates)) for query in plain)
    return {
        "counts": counts(hybrid) / counts(plain),
        "candidates": candidates(hybrid) / candidates(plain),
        "one tree": windows / candidates(plain),
    }


def asked(grown: GrownTree, records: int, is_split: Stop) -> Queries:
    """Return the queries that an early stop leaves."""
    sizes = [records if query.class_counts is None else sum(query.class_counts) for query in grown.queries]
    pairs = zip(grown.queries, sizes, strict=True)
    return [query for query, size in pairs if is_split(size, len(query.expression.terms))]


def splits_on(keeps: Stop, expression: Expression, node: Split) -> bool:
    return keeps(sum(node.counts), len(expression.terms))


def table_of(name: str, records: int, values: str) -> Table:
    kept = VALUES[values]
    return binary_table(name, records) if kept is None else several_valued_table(name, records, *kept)


def disguised(sizes: tuple[int, ...]) -> RelatedDesign:
    """Each group tells the truth by theta itself, however many offsets it has."""
    return RelatedDesign(sizes, default_groups(sizes, GROUPS_PER_PARTY), Fraction(THETA))


def undisguised(sizes: tuple[int, ...]) -> RelatedDesign:
    return RelatedDesign(sizes, (), Fraction(THETA))


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    table = table_of(str(cell["data"]), int(cell["records"]), str(cell["values"]))
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    views = disguised_views(split, disguised if cell["ranking"] == "estimated" else undisguised, generator)
    plain = grow_plain(split)
    measured: Measured = []
    for omega in WINDOWS:
        hybrid = grow_hybrid(split, views, omega)
        for name, is_split in stops(len(split.train)).items():
            labels: Labels = {"omega": omega, "stop": name}
            queries = [asked(grown, len(split.train), is_split) for grown in (hybrid, plain)]
            for rule, ratio in tallies(omega, split, *queries).items():
                measured.append(({**labels, "quantity": "cost ratio", "tally": rule}, ratio))
            cut = end_early(hybrid.tree, partial(splits_on, is_split))
            measured.append(({**labels, "quantity": "accuracy"}, accuracy(cut, split)))
    return measured


def cells(data: str, records: int) -> list[Labels]:
    """Ranking by estimates needs groups of few offsets: not where all values are kept."""
    estimated = grid(data=[data], records=[records], values=["two", "up to 4"], ranking=["estimated"])
    return [*estimated, *grid(data=[data], records=[records], values=list(VALUES), ranking=["exact"])]


def panel(data: str, tally: str, ranking: str) -> Panel:
    def where(line: Line) -> bool:
        drawn = line.get("tally") == tally and line["stop"] in {"grown to the end", "under 2.50%", "depth 5"}
        return drawn and (line["data"], line["ranking"]) == (data, ranking)

    title = f"{data}, {tally}, ranked by {'estimates' if ranking == 'estimated' else 'exact gains'}"
    printed = {"printed": PRINTED[data]}
    return Panel(title, "omega", "mean", ("values", "stop"), where, printed=printed, y="cost ratio")


SWEEP = Sweep(
    name="question_cost_ratio",
    seed=102,
    repetitions=20,
    cells=[cell for data in PRINTED for cell in cells(data, RECORDS[data])],
    measure=measure,
    quick=[cells("adult", 200)[0], cells("mushroom", 200)[-1]],
)
FIGURE = Figure(
    SWEEP.name, SWEEP, [panel(d, *kind) for d in PRINTED for kind in (("counts", "estimated"), ("one tree", "exact"))]
)

if __name__ == "__main__":
    main(FIGURE)
