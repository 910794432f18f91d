"""Whether disguised answers carry anything, and whether they can have come from their design at all.

Over the coins the estimated count of a value lies near a count between none and all records. How far it may stray is
known from the design alone: the largest standard error, `sqrt(n max(s1 - 1, s0))`, of a record's factor.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np

from party.errors import DataError
from party.names import printable
from party.settings.survey import Questionnaire
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.moments import count_error, drowns
from protocols.randomized_response.related_question import RelatedDesign
from protocols.survey.mining import learn_naive_bayes
from protocols.survey.pooled import Survey
from protocols.survey.responses import Responses
from protocols.tables import Codes, Expression

SURE = 2.0  # standard errors by which rows must look clear or disguised to be taken as that
IMPOSSIBLE_ERRORS = 6  # standard errors beyond what can be: by chance once in 10^9 values


def check_signal(survey: Survey) -> None:
    """Refuse records whose counts the coins hide altogether (FAULTS B6): theta is too near a guess."""
    for part in (survey,) if isinstance(survey, Responses) else survey.parts:
        for group, column, _, records, error in _count_errors(part.design, part.codes):
            if drowns(error, records):
                hidden = f"theta = {part.design.truth(group)} hides column {part.schema.columns[column].name!r}"
                few = f"with {records} to learn from, the standard error of a count may be {error:.1f}"
                raise InputError(f"{hidden} from so few answers: {few}; collect more")


def check_origin(codes: Codes, questionnaire: Questionnaire) -> None:
    """Refuse answers that this design cannot well have disguised: a value's estimated count is no count."""
    for _, column, part, records, error in _count_errors(questionnaire.design, codes):
        answers = codes[questionnaire.design.answered(codes, [column])]
        count = estimate_count(answers, part, questionnaire.design).count
        if not -IMPOSSIBLE_ERRORS * error <= count <= records + IMPOSSIBLE_ERRORS * error:
            value = questionnaire.values[column][part.terms[0].value]
            raise DataError(
                f"the estimated count of {printable(value)!r} is {float(count):,.0f} of {records:,}, which this "
                "design cannot produce: check that the table is the disguised one and the design the one used "
                "to make it",
                path=questionnaire.path,
                column=questionnaire.names[column],
            )


def clearness(learned: Responses, rows: Responses) -> float:
    """Return whether rows are likelier clear (above 0) or disguised, in standard errors, by naive Bayes of both."""
    rows = rows.answered([rows.schema.class_index])
    size = learned.design.sizes
    sent = Responses(learned.schema, learned.codes, RelatedDesign(size, (), Fraction(1)))
    label = rows.codes[:, -1]
    every = np.arange(len(label), dtype=np.intp)
    clear, disguised = (
        _with_every_class(learn_naive_bayes(each, 1.0), len(learned)).scores(rows.codes)[every, label]
        for each in (learned, sent)
    )
    ratios = clear - disguised
    spread = float(ratios.std()) * sqrt(len(ratios))
    return float(ratios.sum()) / spread if spread > 0 else 0.0


def _with_every_class(model: NaiveBayes, records: int) -> NaiveBayes:
    """Return the model with a chance for the classes that nobody is estimated to have."""
    prior = np.exp(model.prior) * records + 1
    return replace(model, prior=np.log(prior / prior.sum()))


def _count_errors(design: Design, codes: Codes) -> Iterator[tuple[int, int, Expression, int, float]]:
    """Yield every value of every disguised column with its group, answers and the largest error of its count."""
    for group, columns in enumerate(design.groups):
        for column in columns:
            records = int(design.answered(codes, [column]).sum())
            for value in range(design.sizes[column]):
                part = Expression().child(column, value)
                yield group, column, part, records, count_error(design.moments(group, part), records)
