"""What the answers say so far: every value of every column, and of pairs of columns, with intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from party.settings.collector import Population
from party.settings.survey import Questionnaire
from party.survey.estimation import corrected_finding, known_answers, random_answers, random_json
from party.survey.web.round_two import ModelTest
from protocols.errors import InputError
from protocols.randomized_response.combined import poststratified, weighted_share
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.random_answers import RandomAnswers
from protocols.tables import Codes, Expression, Term

_MOST_CELLS = 400


@dataclass(frozen=True)
class ResultCell:
    """The share of a value or pair, an interval for the population, and the share without random answers."""

    values: tuple[str, ...]
    share: float
    error: float
    interval: tuple[float, float]
    corrected: RandomAnswers | None = None


@dataclass(frozen=True)
class ResultTable:
    """All shares of a column or pair, by those who answered; `plain` says that no answer in it was disguised."""

    columns: tuple[str, ...]
    records: int
    answers: int
    cells: tuple[ResultCell, ...]
    plain: bool


@dataclass(frozen=True)
class SurveyResults:
    """All that answers say so far; `known` is by group the share whose truth a knower of personal answers learns."""

    records: int
    confidence: float
    weighted: bool
    controls: tuple[str, ...]
    at_random: RandomAnswers | None
    tables: tuple[ResultTable, ...]
    known: tuple[tuple[str, Fraction], ...]
    tested: ModelTest | None = None


def survey_results(
    codes: Codes,
    questionnaire: Questionnaire,
    pairs: Sequence[tuple[int, int]],
    confidence: float,
    population: Population | None = None,
) -> SurveyResults:
    """Return what answers say of every column, and of each pair that is asked for."""
    singles = [(column,) for column in range(len(questionnaire.names))]
    weights = None if population is None else poststratified(codes, population.column, population.shares)
    tables = (_table(codes, questionnaire, columns, confidence, weights) for columns in (*singles, *pairs))
    return SurveyResults(
        records=len(codes),
        confidence=confidence,
        weighted=weights is not None,
        controls=tuple(questionnaire.names[control.column] for control in questionnaire.controls),
        at_random=_if_enough(lambda: random_answers(codes, questionnaire)),
        tables=tuple(tables),
        known=tuple(known_answers(codes, questionnaire)),
    )


def _if_enough(find: Callable[[], RandomAnswers | None]) -> RandomAnswers | None:
    """Return what is found; None while answers are too few, as at the beginning of a survey."""
    try:
        return find()
    except InputError:
        return None


def _table(
    codes: Codes,
    questionnaire: Questionnaire,
    columns: tuple[int, ...],
    confidence: float,
    weights: Sequence[Fraction] | None,
) -> ResultTable:
    design, sizes = questionnaire.design, [len(questionnaire.values[column]) for column in columns]
    if prod(sizes) > _MOST_CELLS:
        raise InputError(f"a table of {prod(sizes)} cells is too large, the most are {_MOST_CELLS}: merge values")
    given = design.answered(codes, columns)
    answers = codes[given]
    own = None if weights is None else [w for w, told in zip(weights, given.tolist(), strict=True) if told]
    cells = []
    for cell in product(*map(range, sizes)) if len(answers) > 1 else ():
        expression = Expression(tuple(Term(column, value) for column, value in zip(columns, cell, strict=True)))
        values = tuple(questionnaire.values[column][value] for column, value in zip(columns, cell, strict=True))
        cells.append(_cell(values, answers, expression, questionnaire, confidence, own))
    names = tuple(questionnaire.names[column] for column in columns)
    plain = all(design.group_of(column) is None for column in columns)
    return ResultTable(names, len(codes), len(answers), tuple(cells), plain)


def _cell(
    values: tuple[str, ...],
    answers: Codes,
    expression: Expression,
    questionnaire: Questionnaire,
    confidence: float,
    weights: Sequence[Fraction] | None,
) -> ResultCell:
    if weights is not None:
        found = weighted_share(answers, expression, questionnaire.design, weights)
        return ResultCell(values, float(found.share), found.standard_error, found.interval(confidence))
    estimate = estimate_count(answers, expression, questionnaire.design)
    return ResultCell(
        values,
        float(estimate.proportion),
        estimate.proportion_error,
        estimate.interval(confidence),
        _if_enough(lambda: corrected_finding(answers, expression, questionnaire)),
    )


def results_json(found: SurveyResults) -> dict[str, object]:
    """Return plain types for `json.dumps`."""
    content: dict[str, object] = {"records": found.records, "confidence": found.confidence}
    content |= {} if found.at_random is None else {"at_random": random_json(found.at_random)}
    content |= {"certain_if_personal_answers_are_known": {name: float(share) for name, share in found.known}}
    content |= {} if found.tested is None else {"round_two": _test_json(found.tested)}
    return content | {"tables": [_table_json(table) for table in found.tables]}


def _test_json(tested: ModelTest) -> dict[str, object]:
    named = {"personal": tested.personal, "accuracy": tested.accuracy}
    return {"bits": tested.count.bits, "truth": tested.design.truth} | {
        name: {"records": found.records, "share": found.share, "share_error": found.standard_error}
        for name, found in named.items()
        if found is not None
    }


def _table_json(table: ResultTable) -> Mapping[str, object]:
    cells = [
        {"values": c.values, "share": c.share, "share_error": c.error, "interval": c.interval}
        | ({} if c.corrected is None else {"corrected": random_json(c.corrected)})
        for c in table.cells
    ]
    return {"columns": table.columns, "answers": table.answers, "cells": cells}
