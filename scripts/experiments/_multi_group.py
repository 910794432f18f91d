"""What figures 3 to 6 of Multi-group share: one sweep a data set, over groups and theta."""

from _data import QUICK_RECORDS, RECORDS, THETAS
from _figure import Figure, Line, Panel, Sweep, grid
from _one_data_set import measure_tree

GROUPS = (1, 2, 3)
REPETITIONS = 50
SEED = 2004


def sweep_of(data: str) -> Sweep:
    return Sweep(
        name=f"multi_group_{data}",
        seed=SEED,
        repetitions=REPETITIONS,
        cells=grid(data=[data], records=[RECORDS[data]], groups=GROUPS, theta=THETAS),
        measure=measure_tree,
        quick=grid(data=[data], records=[QUICK_RECORDS[data]], groups=GROUPS, theta=["0.3", "1.0"]),
    )


def one_benchmark(line: Line) -> bool:
    """Keep one curve of what does not depend on the groups."""
    return line["method"] == "randomized" or line["groups"] == GROUPS[0]


def mean_and_variance(name: str, data: str) -> Figure:
    panels = [
        Panel(f"({letter}) {statistic}, {data}", "theta", statistic, ("method", "groups"), one_benchmark)
        for letter, statistic in (("a", "mean"), ("b", "variance"))
    ]
    return Figure(name, sweep_of(data), panels)
