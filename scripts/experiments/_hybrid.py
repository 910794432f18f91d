"""What the figures of Hybrid share: plain ID3, `randomized` and `hybrid` side by side on one disguise.

All is drawn for each repetition: the halves of the attributes, the owner of the class (who disguises it with the group
it is in), training and test records (80 : 20), groups, coins. `groups` are those of each party: what it sees of the
other's columns is disguised in this many groups, which is the only reading that gives the paper's "1G" a meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from _data import QUICK_RECORDS, RECORDS, TEST, THETAS, binary_table
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.simulation.two_party import compare_methods, random_split
from protocols.terms import TO_THE_END, Growth

SEED = 2007
REPETITIONS = 20
LEVELS = 5
WINDOWS = 3
ALL_WINDOWS = 8


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    table = binary_table(str(cell["data"]), int(cell["records"]))
    split = random_split(table, len(table.attributes) - 1, Fraction(TEST), generator)
    windows = range(1, int(cell["windows"]) + 1)
    growth = Growth(max_depth=int(cell["levels"])) if "levels" in cell else TO_THE_END
    rows = compare_methods(split, Fraction(cell["theta"]), int(cell["groups"]), windows, generator, growth)
    randomized = next(row.accuracy for row in rows if row.method == "randomized")
    measured: Measured = []
    for row in rows:
        labels: Labels = {"method": row.method} if row.omega is None else {"method": row.method, "omega": row.omega}
        measured.append(({**labels, "quantity": "accuracy"}, row.accuracy))
        if row.omega is not None:
            measured.append(({**labels, "quantity": "gain over randomized"}, row.accuracy - randomized))
            measured.append(({**labels, "quantity": "cost ratio"}, row.cost_ratio))
    return measured


def cells(
    data: str, groups: Sequence[int], thetas: Sequence[str], windows: int, sizes: Mapping[str, int] = RECORDS
) -> list[Labels]:
    return grid(data=[data], records=[sizes[data]], groups=groups, theta=thetas, windows=[windows])


def five_levels(sweep: Sweep) -> Sweep:
    """Return the same sweep on trees of five levels, for the files that have it on trees grown to the end."""
    limited = [[{**cell, "levels": LEVELS} for cell in cells] for cells in (sweep.cells, sweep.quick)]
    return replace(sweep, name=f"{sweep.name}_five_levels", cells=limited[0], quick=limited[1])


def against_theta(data: str) -> Sweep:
    """1 and 4 groups with windows; on adult 2 and 3 groups without, for figure 2b."""
    between = cells(data, (2, 3), THETAS, 0) if data == "adult" else []
    return Sweep(
        name=f"hybrid_2007_theta_{data}",
        seed=SEED,
        repetitions=REPETITIONS,
        cells=[*cells(data, (1, 4), THETAS, WINDOWS), *between],
        measure=measure,
        quick=cells(data, (1, 4), ("0.45",), 1, QUICK_RECORDS),
    )


def against_window(name: str, data: str) -> Figure:
    """Figures 3b and 4b: 4 groups."""
    sweep = Sweep(
        name=name,
        seed=SEED,
        repetitions=REPETITIONS,
        cells=cells(data, (4,), ("0.2", "0.3", "0.4", "0.45"), ALL_WINDOWS),
        measure=measure,
        quick=cells(data, (4,), ("0.45",), 2, QUICK_RECORDS),
    )
    panel = Panel(
        f"{data}, 4 groups", "omega", "mean", ("theta", "levels"), lambda line: line["method"] == "hybrid", bars=True
    )
    return Figure(name, sweep, [panel], is_accuracy, [five_levels(sweep)])


def methods_against_theta(name: str, data: str) -> Figure:
    """Figures 3a and 4a."""

    def panel(groups: int) -> Panel:
        def where(line: Line) -> bool:
            return line["groups"] == groups

        title = f"{data}, {groups} group{'s' * (groups > 1)}"
        return Panel(title, "theta", "mean", ("method", "omega"), where, bars=True)

    return Figure(
        name, against_theta(data), [panel(1), panel(4)], lambda line: is_accuracy(line) and line["groups"] in {1, 4}
    )


def is_accuracy(line: Line) -> bool:
    return line["quantity"] == "accuracy"
