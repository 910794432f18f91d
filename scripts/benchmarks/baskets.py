#!/usr/bin/env python
"""What mining disguised baskets costs beside mlxtend's fpgrowth on the undisguised ones, and what it finds.

By default 100,000 baskets of 10 items on average over 870 items, made in the manner of the IBM Quest generator; or
files of your own (`.dat`, `.dat.gz`: numbers with blanks between; `.csv`: names with commas). All sizes that occur have
parameters: cut-off 7, breach level 1/2, no set of 1, 2, 3 items in more than 5 %, 1 %, 0.5 % of the baskets, or what
`--supports` says. A row also says how many sets of 1, 2 and 3 items are frequent, how many of them were found, and how
many others were. Items of a file that are more frequent than the first bound are left out: no noise hides them.
"""

import argparse
import gzip
import json
import resource
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from _lab import machine

from protocols.association.apriori import MinedItemsets, mine_itemsets
from protocols.association.breaches import smallest_rho
from protocols.association.operators import CutAndPaste, Operator, SelectASize
from protocols.association.sampling import keyed_words, randomize
from protocols.association.transactions import Randomized, TransactionDesign, Transactions

CUTOFF, LEVEL = 7, Fraction(1, 2)
SIZES = (1, 2, 3)


def quest_baskets(records: int, items: int, mean_size: int, patterns: int) -> Transactions:
    """Make baskets that take patterns of 4 items on average, each pattern with a chance of its items, to their size."""
    chance = np.random.default_rng(1994)
    pool = [chance.choice(items, 1 + chance.poisson(3), replace=False) for _ in range(patterns)]
    weights = chance.exponential(size=patterns)
    keep = np.clip(chance.normal(0.5, 0.3, patterns), 0.05, 1)
    sizes = np.maximum(1, chance.poisson(mean_size, records))
    picks = iter(chance.choice(patterns, 8 * records, p=weights / weights.sum()).tolist())
    baskets = []
    for size in sizes.tolist():
        basket: set[int] = set()
        while len(basket) < size:
            pick = next(picks, None)
            pattern = pool[int(chance.integers(patterns)) if pick is None else pick]
            basket.update(pattern[chance.random(len(pattern)) < keep[0 if pick is None else pick]].tolist())
        baskets.append(sorted(basket))
    return Transactions.of(baskets, items)


def file_baskets(path: Path, most_items: int, most_frequent: Fraction, largest: int) -> Transactions:
    """Return a file's baskets, without large ones, items beyond the most frequent ones, and those too frequent."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        rows = [[name.strip() for name in line.split("," if ".csv" in path.name else None)] for line in file]
    counts = Counter(item for row in rows for item in set(row))
    fitting = [name for name, count in counts.most_common() if count <= most_frequent * len(rows)][:most_items]
    number = {name: index for index, name in enumerate(sorted(fitting))}
    baskets = [{number[item] for item in row if item in number} for row in rows]
    return Transactions.of([basket for basket in baskets if 0 < len(basket) <= largest], len(number))


def limited(sizes: list[int], universe: int, supports: list[Fraction]) -> TransactionDesign:
    makers: list[Callable[[Fraction], Operator]] = [partial(CutAndPaste, m, CUTOFF) for m in sizes]
    return TransactionDesign(universe, tuple(make(smallest_rho(make, supports, LEVEL)) for make in makers))


def plain(transactions: Transactions, support: Fraction) -> MinedItemsets:
    sizes = np.unique(transactions.sizes).tolist()
    keep = tuple(SelectASize(m, (*[Fraction(0)] * m, Fraction(1)), Fraction(0)) for m in sizes)
    known = TransactionDesign(transactions.universe, keep)
    return mine_itemsets(Randomized(transactions, transactions.sizes), known, support, min(max(SIZES), max(sizes)))


def fpgrowth_seconds(transactions: Transactions, support: Fraction) -> tuple[float, int] | None:
    """Return the time of mlxtend's fpgrowth and how many sets it found; None where mlxtend is not installed."""
    if find_spec("mlxtend") is None:
        return None
    import pandas as pd  # noqa: PLC0415
    from mlxtend.frequent_patterns import fpgrowth  # noqa: PLC0415

    frame = pd.DataFrame(transactions.matrix(np.arange(len(transactions))))
    started = time.perf_counter()
    found = fpgrowth(frame, min_support=float(support))
    return time.perf_counter() - started, len(found)


def found_sets(mined: MinedItemsets) -> set[tuple[int, ...]]:
    return {tuple(row) for level in mined.frequent() for row in level.itemsets.tolist()}


def measure(name: str, transactions: Transactions, support: Fraction, supports: list[Fraction]) -> dict[str, object]:
    marks = [time.perf_counter()]
    design = limited(np.unique(transactions.sizes).tolist(), transactions.universe, supports)
    marks.append(time.perf_counter())
    words = keyed_words(bytes(32), "benchmark", list(map(str, range(len(transactions)))))
    sent = randomize(transactions, design, words)
    marks.append(time.perf_counter())
    mined = mine_itemsets(sent, design, support)
    marks.append(time.perf_counter())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    other = fpgrowth_seconds(transactions, support)
    true, found = found_sets(plain(transactions, support)), found_sets(mined)
    by_size = {
        str(k): {
            "true": sum(len(s) == k for s in true),
            "found": sum(len(s) == k for s in found & true),
            "others": sum(len(s) == k for s in found - true),
        }
        for k in SIZES
    }
    limits, disguise, mining = (after - before for before, after in pairwise(marks))
    return {
        "data": name,
        "baskets": len(transactions),
        "items": transactions.universe,
        "sent_per_basket": len(sent.transactions.items) / max(len(sent), 1),
        "support": str(support),
        "seconds_limits": limits,
        "seconds_disguise": disguise,
        "seconds_mining": mining,
        "memory_mib": memory,
        "seconds_fpgrowth": None if other is None else other[0],
        "ratio": None if other is None else mining / other[0],
        "usable": mined.usable,
        "sets": by_size,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="baskets of your own")
    parser.add_argument("--support", type=Fraction, default=Fraction(1, 200), help="(default: %(default)s)")
    parser.add_argument("--supports", default="1/20,1/100,1/200", help="bounds on supports (default: %(default)s)")
    parser.add_argument("--items", type=int, default=10_000, help="of files: most frequent ones kept")
    parser.add_argument("--largest", type=int, default=200, help="of files: larger baskets are left out")
    parser.add_argument("--quick", action="store_true", help="300 baskets over 20 items: the form that the tests run")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    supports = list(map(Fraction, arguments.supports.split(",")))
    rows = []
    if arguments.quick:
        rows.append(measure("made", quest_baskets(300, 20, 4, 10), Fraction(3, 10), supports))
    elif not arguments.files:
        rows.append(measure("made", quest_baskets(100_000, 870, 10, 500), arguments.support, supports))
    for path in arguments.files:
        kept = file_baskets(path, arguments.items, supports[0], arguments.largest)
        rows += [measure(path.name, kept, arguments.support, supports)]
    for row in rows:
        print(json.dumps(row, indent=1))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
