"""Disguised answers with their design, one file or several: what they say together of columns and of expressions."""

from collections.abc import Sequence
from dataclasses import dataclass

from party.settings.survey import Questionnaire
from party.survey.estimation import EstimateOptions, Finding, combine_findings, estimate_expression
from party.survey.expressions import expression_text, parse_expression
from protocols.errors import InputError
from protocols.tables.expression import Expression
from protocols.tables.table import Codes


@dataclass(frozen=True, eq=False, repr=False)
class AnswerFile:
    """Answers, and how they were asked for."""

    questionnaire: Questionnaire
    codes: Codes

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The values of each column."""
        return dict(zip(self.questionnaire.names, self.questionnaire.values, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class ColumnShares:
    """What answers say of every value of a column; of none where too few gave an answer.

    Args:
        name: The column.
        plain: Whether all were asked it as it is.
        findings: By the order of its values.
    """

    name: str
    plain: bool
    findings: tuple[Finding, ...]


def estimate_together(samples: Sequence[AnswerFile], text: str, asked: EstimateOptions) -> Finding:
    """Return what one sample, or several together, say of an expression.

    Raises:
        InputError: It cannot be read by the design of one, has a column of other values in one, or too few answers.
    """
    found = [
        estimate_expression(each.codes, parse_expression(text, each.questionnaire), each.questionnaire, asked)
        for each in samples
    ]
    return found[0] if len(found) == 1 else combine_findings(found, [each.questionnaire for each in samples], asked)


def column_shares(samples: Sequence[AnswerFile], asked: EstimateOptions) -> list[ColumnShares]:
    """Return what the samples say of each column, each by those that have it.

    Raises:
        InputError: A column has other values in one of them, or the confidence is out of range.
    """
    names = dict.fromkeys(name for each in samples for name in each.columns)
    return [_shares(name, [each for each in samples if name in each.columns], asked) for name in names]


def _shares(name: str, samples: Sequence[AnswerFile], asked: EstimateOptions) -> ColumnShares:
    first = samples[0].questionnaire
    other = next((e.questionnaire for e in samples if e.columns[name] != samples[0].columns[name]), None)
    if other is not None:
        raise InputError(f"column {name!r} has other values in {other.path}: what is combined must mean the same")
    enough = [each for each in samples if _answers(each, name) > 1]
    column = first.names.index(name)
    texts = [expression_text(Expression().child(column, value), first) for value in range(len(first.values[column]))]
    plain = all(e.questionnaire.design.group_of(e.questionnaire.names.index(name)) is None for e in samples)
    found = tuple(estimate_together(enough, text, asked) for text in texts) if enough else ()
    return ColumnShares(name, plain, found)


def _answers(sample: AnswerFile, name: str) -> int:
    column = sample.questionnaire.names.index(name)
    return int(sample.questionnaire.design.answered(sample.codes, [column]).sum())
