"""What figures 2 to 5 and 7 of Surveys share: naive Bayes on one disguised data set, one sweep a data set.

Figures 2 and 7 are also drawn from adult by its codes, as question 4 found it.
"""

from _data import QUICK_RECORDS, RECORDS
from _figure import Figure, Line, Panel, Sweep, grid
from _one_data_set import measure_naive_bayes

THETAS = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0")  # the paper's, but for 0
RELATED = ("0.51", "0.6", "0.7", "0.8", "0.9")
UNRELATED = ("0.5", *RELATED)
PRINTED = {
    "related": (0.66, 0.81, 0.82, 0.82, 0.82),
    "unrelated": (0.81, 0.81, 0.82, 0.82, 0.82, 0.82),
}
REPETITIONS = 1_000
SEED = 2005


def sweep_of(data: str) -> Sweep:
    return Sweep(
        name=f"surveys_{data}".replace(" ", "_"),
        seed=SEED,
        repetitions=REPETITIONS,
        cells=grid(data=[data], records=[RECORDS[data]], question=["unrelated"], theta=THETAS),
        measure=measure_naive_bayes,
        quick=grid(data=[data], records=[QUICK_RECORDS[data]], question=["unrelated"], theta=["0.5", "1.0"]),
    )


def figure_of(name: str, data: str, statistic: str) -> Figure:
    return Figure(name, sweep_of(data), [Panel(f"{statistic}, {data}", "theta", statistic, ("method",))])


def both_questions(name: str, data: str) -> Figure:
    """Return figure 7, from a data set: both questions near theta = 1/2, which the related one refuses."""
    quick = grid(data=[data], records=[QUICK_RECORDS[data]], question=["related", "unrelated"], theta=["0.51", "0.9"])
    sweep = Sweep(
        name=name,
        seed=SEED,
        repetitions=REPETITIONS,
        cells=[
            *grid(data=[data], records=[RECORDS[data]], question=["related"], theta=RELATED),
            *grid(data=[data], records=[RECORDS[data]], question=["unrelated"], theta=UNRELATED),
        ],
        measure=measure_naive_bayes,
        quick=quick,
    )
    return Figure(name, sweep, [_panel("related", RELATED), _panel("unrelated", UNRELATED)])


def _panel(question: str, thetas: tuple[str, ...]) -> Panel:
    def of_question(line: Line) -> bool:
        return line["question"] == question

    printed = {"printed": list(zip(map(float, thetas), PRINTED[question], strict=True))}
    return Panel(f"{question} question", "theta", "mean", ("method",), of_question, bars=True, printed=printed)
