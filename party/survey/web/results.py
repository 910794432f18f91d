"""What the answers say so far: every value of every column, and of pairs of columns, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from party.settings.population import Population
from party.settings.survey import Questionnaire
from protocols.errors import InputError
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.weighted import poststratified, weighted_share
from protocols.tables.expression import Expression, Term
from protocols.tables.table import Codes

_MOST_CELLS = 400


@dataclass(frozen=True)
class ResultCell:
    """The share of one value, or of one pair; `interval` is for the population."""

    values: tuple[str, ...]
    share: float
    error: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class ResultTable:
    """All shares of a column, or of a pair of columns, by the answers of those who gave one.

    `plain` says that no answer in it was disguised.
    """

    columns: tuple[str, ...]
    records: int
    answers: int
    cells: tuple[ResultCell, ...]
    plain: bool


def result_tables(
    codes: Codes,
    questionnaire: Questionnaire,
    pairs: Sequence[tuple[int, int]],
    confidence: float,
    population: Population | None = None,
) -> list[ResultTable]:
    """Return the table of every column, and of each pair that is asked for.

    Args:
        codes: Responses.
        questionnaire: What was asked.
        pairs: Columns, by index.
        confidence: Of each interval.
        population: What records are weighted by; all alike if not given.

    Raises:
        InputError: A pair has too many cells, the confidence is out of range, or the weights cannot be had.
    """
    singles = [(column,) for column in range(len(questionnaire.names))]
    weights = None if population is None else poststratified(codes, population.column, population.shares)
    return [_table(codes, questionnaire, columns, confidence, weights) for columns in (*singles, *pairs)]


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
    return ResultCell(values, float(estimate.proportion), estimate.proportion_error, estimate.interval(confidence))


def tables_json(tables: Sequence[ResultTable]) -> list[Mapping[str, object]]:
    """Return plain types for `json.dumps`."""
    return [
        {
            "columns": list(table.columns),
            "answers": table.answers,
            "cells": [
                {"values": list(c.values), "share": c.share, "share_error": c.error, "interval": list(c.interval)}
                for c in table.cells
            ],
        }
        for table in tables
    ]
