#!/usr/bin/env python
"""Surveys figure 7: naive Bayes from adult by both questions near theta = 1/2, which the related one refuses."""

from _command import main
from _data import QUICK_RECORDS, RECORDS
from _figure import Figure, Line, Panel, Sweep, grid
from _one_data_set import measure_naive_bayes

RELATED = ("0.51", "0.6", "0.7", "0.8", "0.9")
UNRELATED = ("0.5", *RELATED)
PRINTED = {
    "related": (0.66, 0.81, 0.82, 0.82, 0.82),
    "unrelated": (0.81, 0.81, 0.82, 0.82, 0.82, 0.82),
}

QUICK = {"data": ["adult"], "records": [QUICK_RECORDS["adult"]]}

SWEEP = Sweep(
    name="surveys_figure_7",
    seed=2005,
    repetitions=1_000,
    cells=[
        *grid(data=["adult"], records=[RECORDS["adult"]], question=["related"], theta=RELATED),
        *grid(data=["adult"], records=[RECORDS["adult"]], question=["unrelated"], theta=UNRELATED),
    ],
    measure=measure_naive_bayes,
    quick=grid(**QUICK, question=["related", "unrelated"], theta=["0.51", "0.9"]),
)


def panel(question: str, thetas: tuple[str, ...]) -> Panel:
    def of_question(line: Line) -> bool:
        return line["question"] == question

    printed = {"printed": list(zip(map(float, thetas), PRINTED[question], strict=True))}
    return Panel(f"{question} question", "theta", "mean", ("method",), of_question, bars=True, printed=printed)


FIGURE = Figure(SWEEP.name, SWEEP, [panel("related", RELATED), panel("unrelated", UNRELATED)])

if __name__ == "__main__":
    main(FIGURE)
