#!/usr/bin/env python
"""Question: is it the binning that keeps our naive Bayes on adult below the 0.82 that Surveys prints?

"We split the value of each attribute from the median point of the range": numbers in the middle of their range (as in
all figures here), or at the median of the records; or every column by its codes, as a program would that sees only
these: texts in the order of UCI's `adult.names`; or several values per column, which the papers leave to the future.
"""

from fractions import Fraction

import numpy as np
from _command import main
from _data import QUICK_RECORDS, RECORDS, TEST, binary_table, several_valued_table, table_by_codes
from _figure import Figure, Labels, Line, Measured, Panel, Sweep, grid

from protocols.simulation.survey import (
    naive_bayes_accuracy,
    no_disguise,
    random_hold_out,
    related_question,
    tree_accuracy,
    unrelated_question,
)
from protocols.tables import Table

BINS = {"middle of the range": "median-of-range", "median of the records": "quantiles:2"}
CODES, SEVERAL, QUANTILES = "middle of the codes", "several values", 10
RELATED, UNRELATED = (("0.51", 0.66), ("0.9", 0.82)), (("0.51", 0.81), ("0.9", 0.82))


def table_of(records: int, numbers: str) -> Table:
    if numbers == SEVERAL:
        return several_valued_table("adult", records, None, QUANTILES)
    return table_by_codes(records) if numbers == CODES else binary_table("adult", records, BINS[numbers])


def measure(cell: Labels, generator: np.random.Generator) -> Measured:
    data = random_hold_out(table_of(int(cell["records"]), str(cell["numbers"])), Fraction(TEST), generator)
    plain = no_disguise(data)
    measured: Measured = [
        ({"learner": "tree", "question": "none", "theta": "1.0"}, tree_accuracy(data, plain, generator)),
        ({"learner": "naive Bayes", "question": "none", "theta": "1.0"}, naive_bayes_accuracy(data, plain, generator)),
    ]
    if cell["numbers"] == SEVERAL:
        return measured
    for theta, _ in RELATED:
        design = related_question(data, Fraction(theta), 1, generator)
        labels: Labels = {"learner": "naive Bayes", "question": "related", "theta": theta}
        measured.append((labels, naive_bayes_accuracy(data, design, generator)))
    for theta, _ in UNRELATED:
        labels = {"learner": "naive Bayes", "question": "unrelated", "theta": theta}
        measured.append((labels, naive_bayes_accuracy(data, unrelated_question(data, Fraction(theta)), generator)))
    return measured


def panel(question: str, printed: tuple[tuple[str, float], ...]) -> Panel:
    def where(line: Line) -> bool:
        return line["learner"] == "naive Bayes" and line["question"] in {question, "none"}

    points = {"printed": [(float(theta), accuracy) for theta, accuracy in printed]}
    return Panel(f"naive Bayes, {question} question", "theta", "mean", ("numbers",), where, True, points)


SWEEP = Sweep(
    name="question_binning",
    seed=104,
    repetitions=50,
    cells=grid(records=[RECORDS["adult"]], numbers=[*BINS, CODES, SEVERAL]),
    measure=measure,
    quick=grid(records=[QUICK_RECORDS["adult"]], numbers=[CODES, SEVERAL]),
)
FIGURE = Figure(SWEEP.name, SWEEP, [panel("related", RELATED), panel("unrelated", UNRELATED)])

if __name__ == "__main__":
    main(FIGURE)
