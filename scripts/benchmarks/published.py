#!/usr/bin/env python
"""One tree of ours at the settings of other systems' printed figures, over this machine and over a line.

The figures of others are *printed*, and were not measured here: their machines and models differ. Squirrel boosts (a
tree of many), Hamada et al. share the work among three parties of which two are honest. All split in two, as ours: at
each cut of a column, or one value against the rest.

`processor` is the time of all cores of both parties together. The line is of 100 Mb/s with 20 ms each way.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from _lab import FAR, OPTIONS, Line, make_parser, measure_run, publish, say
from growth import generate

from party.demo.data import Halves
from protocols.terms import ALL, Method, Reveal, Splits

OURS_REVEAL = "the tree alone"


@dataclass(frozen=True)
class Figure:
    """What another system prints for a tree: seconds, who computes, what parties learn, where."""

    system: str
    seconds: float
    parties: str
    reveals: str
    source: str


@dataclass(frozen=True)
class Setting:
    """A table, how deep its tree is, and what others print for it."""

    name: str
    table: Callable[[], Halves]
    depth: int
    figures: tuple[Figure, ...]


SQUIRREL = (
    Figure(
        "Squirrel, LAN, less than",
        6,
        "2, semi-honest",
        "the tree to its owners; no counts, no node's records",
        "Lu et al., USENIX Security 2023, abstract",
    ),
)
HAMADA = (
    Figure("Hamada et al., LAN", 404, "3, two of them honest", "nothing but sizes", "PoPETs 2023(1), abstract"),
    Figure(
        "Squirrel, WAN, above 10^6 rows, about",
        90,
        "2, semi-honest",
        "the tree to its owners; no counts, no node's records",
        "Lu et al., USENIX Security 2023, abstract",
    ),
)
SETTINGS = {
    "50000x15": Setting("50,000 x 15 of 8 values", partial(generate, 50_000, 15, values=8), 4, SQUIRREL),
    "2^20x11": Setting("2^20 x 11 of 2 values", partial(generate, 2**20, 11), 4, HAMADA),
    "2^20x11of8": Setting("2^20 x 11 of 8 values", partial(generate, 2**20, 11, values=8), 4, HAMADA),
}
QUICK = {
    "50000x15": Setting("200 x 15 of 8 values", partial(generate, 200, 15, values=8), 4, SQUIRREL),
}


def measure(setting: Setting, line: Line | None) -> dict[str, object]:
    say(f"{setting.name}, {line} ...")
    options = replace(OPTIONS, max_depth=setting.depth, min_leaf=20, test=Fraction(0))
    options = replace(options, reveal=Reveal.TREE, splits=Splits.TWO_WAY)
    run = measure_run(setting.table(), Method.SMC, ALL, line, options=options)
    return {
        "setting": setting.name,
        "depth": setting.depth,
        "system": "cotally, a tree alone",
        "line": "this machine" if line is None else "100 Mb/s, 40 ms there and back",
        "seconds": run.report.seconds,
        "processor": run.processor_seconds,
        "megabytes": run.megabytes,
        "memory_mib": run.memory_mib,
        "conditions": len(run.tree.schema.attributes),
        "parties": "2, semi-honest",
        "reveals": OURS_REVEAL,
        "source": "this run",
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--setting", choices=SETTINGS, action="append", help="only this one; may be repeated")
    parser.add_argument("--near", action="store_true", help="without the line")
    arguments = parser.parse_args()
    settings = QUICK if arguments.quick else {name: SETTINGS[name] for name in arguments.setting or SETTINGS}
    lines = (None,) if arguments.near else (FAR,) if arguments.quick else (None, FAR)
    rows: list[dict[str, object]] = []
    for setting in settings.values():
        rows += [measure(setting, line) for line in lines]
        rows += [{"setting": setting.name, "depth": setting.depth, **vars(figure)} for figure in setting.figures]
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
