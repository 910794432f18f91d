#!/usr/bin/env python
"""Whole runs of two processes over mutual TLS, by phase, beside the price of one textbook dot product.

`--reveal tree` makes those that reveal the tree alone (`min_leaf` 20): adult, four and five levels, on this machine,
and five over a line of 100 Mb/s and 20 ms there and back; with `--data generated` 2^20 records of 11 two-valued
columns, four levels. `--splits two-way` makes adult's with two-way splits, of columns of up to eight values, all
conditions competing or five in a window; beside it is scikit-learn's tree on the same conditions, with the same limits.
Neither party has the records held out, on which both trees are tried.

The textbook dot product is n encryptions by `phe` under a key of the same size, sampled in the same run; `of_textbook`
is the run's time over it. Dot products of more than 2,000 records are left out: they take hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
from _lab import OPTIONS, Line, make_parser, measure_run, phe_seconds, publish, say
from growth import generate

from party.data import ColumnTreatment
from party.data.bins import number
from party.data.frame import frame_of
from party.demo.data import Halves, deal_dataset
from party.models.prediction import coded_rows
from protocols.learning.tree import Tree
from protocols.randomness import public_order
from protocols.tables import Codes, Index
from protocols.terms import ALL, DEPTH, OMEGA, Counting, Method, Reveal, Splits, Window

GENERATED_RECORDS = 1 << 20
DATA = {"tic-tac-toe": None, "mushroom": 8_124, "adult": 32_561, "generated": GENERATED_RECORDS}
USUAL = ("tic-tac-toe", "mushroom", "adult")


@dataclass(frozen=True)
class Way:
    """How a tree is built."""

    method: Method = Method.HYBRID
    omega: Window = 3
    counting: Counting = Counting.OBLIVIOUS_TRANSFER
    max_depth: int | None = None
    reveal: Reveal = Reveal.COUNTS
    far: bool = False
    splits: Splits = Splits.VALUES

    def is_left_out(self, records: int) -> bool:
        """Tell whether the run would take too long on this many records."""
        return self.counting is Counting.PAILLIER and records > DOT_PRODUCT_RECORDS


RUNS = [
    *(Way(omega=omega) for omega in (1, 3, ALL)),
    *(Way(omega=omega, max_depth=5) for omega in (3, ALL)),
    *(Way(omega=omega, counting=Counting.PAILLIER) for omega in (1, 3, ALL)),
    Way(Method.SMC, ALL, Counting.PAILLIER),
    Way(Method.SMC, ALL, max_depth=4, reveal=Reveal.TREE),
    *(Way(Method.SMC, ALL, max_depth=5, reveal=Reveal.TREE, far=far) for far in (False, True)),
    Way(Method.SMC, ALL),
    Way(Method.SMC, ALL, max_depth=5, reveal=Reveal.TREE, splits=Splits.TWO_WAY),
    Way(Method.HYBRID, 5, max_depth=5, reveal=Reveal.TREE, splits=Splits.TWO_WAY),
]
GENERATED = [Way(Method.SMC, ALL, max_depth=4, reveal=Reveal.TREE)]
LINE = Line(delay=0.01, rate=1e8)
DOT_PRODUCT_RECORDS = 2_000  # above, one plane per distinct E_a takes hours


MOST_VALUES = 8


def in_eight(halves: Halves) -> Halves:
    """Return the same columns, of up to eight values: bins of numbers, and the commonest texts."""

    def treated(cells: Sequence[str | None]) -> ColumnTreatment:
        numbers = all(text is None or number(text) is not None for text in cells)
        return ColumnTreatment(bins=f"quantiles:{MOST_VALUES}") if numbers else ColumnTreatment(max_values=MOST_VALUES)

    parties = {
        party: replace(
            half, treatments={c: treated(each) for c, each in half.columns.items() if c != halves.class_name}
        )
        for party, half in halves.of.items()
    }
    return replace(halves, of=parties)


def beside_scikit_learn(tree: Tree, train: Halves, held_out: Halves) -> dict[str, float]:
    """Return accuracy and AUC of a tree, its leaves ranked by the records they have, and of scikit-learn's."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415  # here, or both parties' processes import it too
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    learned, tried = ((_conditions(tree, halves), _classes(tree, halves)) for halves in (train, held_out))
    ends = {expression: at for at, (expression, _) in enumerate(tree.leaves())}
    at, reached = (
        np.sum([at * path.satisfied_by(rows) for path, at in ends.items()], axis=0) for rows, _ in (learned, tried)
    )
    shares = np.bincount(at, learned[1], len(ends)) / np.maximum(1, np.bincount(at, minlength=len(ends)))
    growth = tree.growth
    other = DecisionTreeClassifier(
        criterion="entropy", max_depth=growth.max_depth, min_samples_leaf=growth.min_leaf, random_state=0
    ).fit(*learned)
    return {
        "conditions": len(tree.schema.attributes),
        "accuracy": float((tree.predict(tried[0]) == tried[1]).mean()),
        "auc": float(roc_auc_score(tried[1], shares[reached])),
        "scikit_learn_accuracy": float(other.score(*tried)),
        "scikit_learn_auc": float(roc_auc_score(tried[1], other.predict_proba(tried[0])[:, 1])),
    }


def _conditions(tree: Tree, halves: Halves) -> Codes:
    columns = {name: cells for half in halves.of.values() for name, cells in half.columns.items()}
    frame = frame_of(Path("rows"), list(columns), list(columns.values()))
    return coded_rows(tree, frame, range(len(tree.schema.attributes))).codes.astype(np.uint8)


def _classes(tree: Tree, halves: Halves) -> Index:
    (cells,) = (half.columns[halves.class_name] for half in halves.of.values() if half.holds_class)
    return np.array([tree.schema.class_attribute.values.index(str(text)) for text in cells])


def measure(name: str, records: int | None, runs: list[Way], key_bits: int, textbook: float) -> list[dict[str, object]]:
    if name == "generated":
        halves = generate(records or GENERATED_RECORDS, 11)
    else:
        halves = deal_dataset(name, OPTIONS.seed)
        halves = halves.drawn(records or len(halves.ids), OPTIONS.seed)
    train = len(halves.ids) - floor(len(halves.ids) * OPTIONS.test)
    rows = []
    for way in runs:
        row: dict[str, object] = {
            "data": name,
            "records": train,
            **vars(way),
            "omega": OMEGA.text(way.omega),
            "max_depth": DEPTH.text(way.max_depth),
        }
        if way.is_left_out(len(halves.ids)):
            rows.append({**row, "note": "left out: too long"})
            continue
        say(f"{name}: {way} ...")
        options = replace(OPTIONS, ways=(way.counting,), key_bits=key_bits, max_depth=way.max_depth, reveal=way.reveal)
        if way.reveal is Reveal.TREE:
            options = replace(options, min_leaf=20)
        brought, held_out = halves, None
        if way.splits is Splits.TWO_WAY:
            options, order = replace(options, splits=way.splits, test=Fraction(0)), range(len(halves.ids))
            chosen = public_order(OPTIONS.seed, len(order))[:train]
            brought, held_out = in_eight(halves.taken(sorted(chosen))), halves.taken(sorted({*order} - {*chosen}))
        run = measure_run(brought, way.method, way.omega, LINE if way.far else None, options=options)
        if held_out is not None:
            row |= beside_scikit_learn(run.tree, brought, held_out)
        rows.append(
            {
                **row,
                "seconds": run.report.seconds,
                "processor": run.processor_seconds,
                "of_textbook": run.report.seconds / (textbook * train),
                "megabytes": run.megabytes,
                "round_trips": run.report.round_trips,
                "counts": run.report.exact_counts_disclosed,
                "memory_mib": run.memory_mib,
                "phases": run.report.phases,
            }
        )
    return rows


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--data", choices=DATA, action="append", help="only this data set")
    parser.add_argument("--omega", type=OMEGA.parse, help="only this window")
    parser.add_argument("--method", type=Method, choices=list(Method), help="only this method")
    parser.add_argument("--reveal", type=Reveal, choices=list(Reveal), help="only what reveals this")
    parser.add_argument("--splits", type=Splits, choices=list(Splits), help="only what splits nodes so")
    parser.add_argument("--rows", type=int, help="of each data set, instead of all")
    arguments = parser.parse_args()
    key_bits = 2048 if arguments.quick else 3072
    data = {name: arguments.rows or DATA[name] for name in arguments.data or USUAL}
    if arguments.quick:
        data = {"tic-tac-toe": 160}  # a fifth of fewer is too small to be held out
    wanted = {name: getattr(arguments, name) for name in ("omega", "method", "reveal", "splits")}
    textbook = phe_seconds(key_bits, 4 if arguments.quick else 50)
    rows = []
    for name, records in data.items():
        ways = GENERATED if name == "generated" else RUNS
        ways = [way for way in ways if name == "adult" or way.splits is Splits.VALUES]
        asked = [way for way in ways if all(value in (None, getattr(way, name)) for name, value in wanted.items())]
        rows += measure(name, records, asked[-1:] if arguments.quick else asked, key_bits, textbook)
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
