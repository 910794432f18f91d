"""What figures 2 to 5 and 7 of Surveys share: naive Bayes on one disguised data set, one sweep a data set."""

from _data import QUICK_RECORDS, RECORDS
from _figure import Figure, Panel, Sweep, grid
from _one_data_set import measure_naive_bayes

THETAS = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0")  # the paper's, but for 0
REPETITIONS = 1_000
SEED = 2005


def sweep_of(data: str) -> Sweep:
    return Sweep(
        name=f"surveys_{data}",
        seed=SEED,
        repetitions=REPETITIONS,
        cells=grid(data=[data], records=[RECORDS[data]], question=["unrelated"], theta=THETAS),
        measure=measure_naive_bayes,
        quick=grid(data=[data], records=[QUICK_RECORDS[data]], question=["unrelated"], theta=["0.5", "1.0"]),
    )


def figure_of(name: str, data: str, statistic: str) -> Figure:
    return Figure(name, sweep_of(data), [Panel(f"{statistic}, {data}", "theta", statistic, ("method",))])
