"""What a collector asks of disguised answers: counts and shares with their errors, likelihoods.

People write an expression as `smoker = yes and age = "> 40"`. Names and values that hold blanks, quotes or an equals
sign stand in quotes, single or double; a quote within quotes of its own kind is doubled, as CSV has it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

from party.names import suggestion
from party.settings.survey import Questionnaire
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.privacy.attack import Disclosure, disclosure, likely_disclosure, read_rows
from protocols.privacy.entry import entry_of
from protocols.privacy.single_entry import given_away
from protocols.randomized_response.combined import CombinedEstimate, combined
from protocols.randomized_response.design import Draw, cells
from protocols.randomized_response.estimate import Estimate, estimate_count
from protocols.randomized_response.likelihood import MostLikely, most_likely
from protocols.randomized_response.random_answers import RandomAnswers, corrected_share, random_share
from protocols.randomized_response.related_question import compared_draw
from protocols.survey.inference import AfterMining, RuleSet, inference_rules, privacy_after_mining
from protocols.tables import Codes, Expression, Term

_WORD = r"""(?:("[^"]*(?:""[^"]*)*")|('[^']*(?:''[^']*)*')|([^\s"'=]+))"""
_TERM = re.compile(rf"\s*{_WORD}\s*=\s*{_WORD}(\s+and\s+|\s*\Z)")
_FORM = 'write it as in: smoker = yes and age = "> 40"; only "and" is known'
_PLAIN = re.compile(r"""[^\s"'=]+""")


def parse_expression(text: str, questionnaire: Questionnaire) -> Expression:
    """Return the expression that a text stands for, over the columns of the design."""
    terms: list[Term] = []
    position, goes_on = 0, True
    while goes_on:
        match = _TERM.match(text, position)
        if match is None:
            raise InputError(f"{text!r} is no expression: {_FORM}")
        name, value = (_unquoted(next(g for g in match.groups()[k : k + 3] if g is not None)) for k in (0, 3))
        if name not in questionnaire.names:
            raise InputError(f"the design has no column {name!r}" + suggestion(name, questionnaire.names))
        column = questionnaire.names.index(name)
        values = questionnaire.values[column]
        if value not in values:
            raise InputError(f"column {name!r} has no value {value!r}" + suggestion(value, values))
        terms.append(Term(column, values.index(value)))
        position, goes_on = match.end(), bool(match[7].strip())
    if len({term.column for term in terms}) != len(terms):
        raise InputError(f"{text!r} names a column twice: no record has two values in one column")
    return Expression(tuple(terms))


def expression_text(expression: Expression, questionnaire: Questionnaire) -> str:
    """Return an expression as people write it."""
    terms = (
        (questionnaire.names[term.column], questionnaire.values[term.column][term.value]) for term in expression.terms
    )
    return " and ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in terms)


def _unquoted(word: str) -> str:
    quote = word[0]
    return word[1:-1].replace(2 * quote, quote) if quote in "\"'" else word


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    quote = "'" if '"' in word and "'" not in word else '"'
    return f"{quote}{word.replace(quote, 2 * quote)}{quote}"


MOST_COLUMNS = 63  # numpy numbers the cells of no more axes


@dataclass(frozen=True)
class EstimateOptions:
    """Which answers are wanted beside the estimate."""

    confidence: float = 0.95
    likelihood: bool = False


@dataclass(frozen=True, repr=False)
class Finding:
    """What is known of one expression, by the answers of those who gave one in all of its columns."""

    text: str
    records: int
    estimate: Estimate | CombinedEstimate
    interval: tuple[float, float]
    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    likely: MostLikely | None
    corrected: RandomAnswers | None

    def cells(self, likely: MostLikely) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield every cell of the likely distribution by its labels."""
        for cell in cells(likely.shares.shape):
            values = tuple(labels[code] for labels, code in zip(self.labels, cell, strict=True))
            yield values, float(likely.shares[cell])

    def to_json(self) -> Mapping[str, object]:
        """Return plain types for `json.dumps`."""
        content: dict[str, object] = {
            "expression": self.text,
            "answers": self.estimate.records,
            "count": float(self.estimate.count),
            "count_error": self.estimate.standard_error,
            "share": float(self.estimate.proportion),
            "share_error": self.estimate.proportion_error,
            "interval": self.interval,
        }
        if isinstance(self.estimate, CombinedEstimate):
            content["weights"] = [float(weight) for weight in self.estimate.weights]
            content["deviation"] = self.estimate.deviation
        if self.corrected is not None:
            content["corrected"] = random_json(self.corrected)
        if self.likely is not None:
            content["likelihood"] = {
                "columns": self.columns,
                "cells": [{"values": values, "share": share} for values, share in self.cells(self.likely)],
                "log_likelihood": self.likely.log_likelihood,
                "gap": self.likely.gap,
                "converged": self.likely.converged,
            }
        return content


def estimate_expression(
    codes: Codes, expression: Expression, questionnaire: Questionnaire, asked: EstimateOptions
) -> Finding:
    """Return what the disguised answers say of one expression."""
    columns = [term.column for term in expression.terms]
    if asked.likelihood and len(columns) > MOST_COLUMNS:
        raise InputError(f"a likelihood is of at most {MOST_COLUMNS} columns, not {len(columns)}: name fewer of them")
    text, answers = expression_text(expression, questionnaire), codes[questionnaire.design.answered(codes, columns)]
    if len(answers) < min(2, len(codes)):
        raise InputError(f"{text}: {len(answers)} of {len(codes)} gave an answer, too few to estimate from")
    estimate = estimate_count(answers, expression, questionnaire.design)
    return Finding(
        text=text,
        records=len(codes),
        estimate=estimate,
        interval=estimate.interval(asked.confidence),
        columns=tuple(questionnaire.names[column] for column in columns),
        labels=tuple(questionnaire.values[column] for column in columns),
        likely=most_likely(answers, columns, questionnaire.design) if asked.likelihood else None,
        corrected=corrected_finding(answers, expression, questionnaire),
    )


def combine_findings(
    findings: Sequence[Finding], questionnaires: Sequence[Questionnaire], asked: EstimateOptions
) -> Finding:
    """Return what several samples say together of one expression."""
    first = findings[0]
    if asked.likelihood:
        raise InputError("a likelihood is of one design: ask for that of each file alone")
    for other, questionnaire in zip(findings, questionnaires, strict=True):
        differing = [n for n, a, b in zip(first.columns, first.labels, other.labels, strict=True) if a != b]
        if differing:
            raise InputError(
                f"column {differing[0]!r} has other values in {questionnaire.path}: what is combined must mean the same"
            )
    samples = [finding.estimate for finding in findings if isinstance(finding.estimate, Estimate)]
    expressions = [parse_expression(first.text, questionnaire) for questionnaire in questionnaires]
    found = combined(samples, [each.design for each in questionnaires], expressions)
    records = sum(finding.records for finding in findings)
    interval = found.interval(asked.confidence)
    return replace(first, records=records, estimate=found, interval=interval, likely=None, corrected=None)


def random_answers(codes: Codes, questionnaire: Questionnaire) -> RandomAnswers | None:
    """Return the share of respondents who answer at random; None where the design has no control item."""
    controls = questionnaire.controls
    answers = codes[questionnaire.design.answered(codes, [control.column for control in controls])]
    return random_share(answers, questionnaire.design, controls) if controls else None


def random_json(found: RandomAnswers) -> dict[str, object]:
    """Return plain types for `json.dumps`."""
    return {"answers": found.records, "share": float(found.share), "share_error": found.standard_error}


def corrected_finding(answers: Codes, expression: Expression, questionnaire: Questionnaire) -> RandomAnswers | None:
    """Return the share among those who do not answer at random; None without control items, or for one of these."""
    controls, design = questionnaire.controls, questionnaire.design
    known = [control.column for control in controls]
    if not controls or expression.columns.intersection(known):
        return None
    return corrected_share(answers[design.answered(answers, known)], expression, design, controls)


def estimated_priors(codes: Codes, questionnaire: Questionnaire) -> list[tuple[Fraction, ...] | None]:
    """Return each column's distribution, negative shares set to 0 and the rest rescaled; None without answers."""
    return [_projected(codes, column, questionnaire) for column in range(len(questionnaire.names))]


def _projected(codes: Codes, column: int, questionnaire: Questionnaire) -> tuple[Fraction, ...] | None:
    codes = codes[questionnaire.design.answered(codes, [column])]
    if not len(codes):
        return None
    every = range(len(questionnaire.values[column]))
    counts = [estimate_count(codes, Expression().child(column, value), questionnaire.design).count for value in every]
    positive = [max(count, Fraction(0)) for count in counts]
    return tuple(count / sum(positive) for count in positive)


def mined_privacy(
    model: Model,
    questionnaire: Questionnaire,
    codes: Codes | None,
    priors: Sequence[tuple[Fraction, ...] | None] | None,
) -> AfterMining:
    """Return what a mined model leaves of the privacy of its class."""
    own = [(column.name, column.values) for column in model.schema.columns]
    if own != list(zip(questionnaire.names, questionnaire.values, strict=True)):
        raise InputError("the model is of other columns than the design: name the design that it was mined by")
    given = None if codes is None else codes[questionnaire.design.answered(codes, [*model.columns, len(own) - 1])]
    return rules_privacy(inference_rules(model), questionnaire, given, priors)


def rules_privacy(
    sets: Sequence[RuleSet],
    questionnaire: Questionnaire,
    codes: Codes | None,
    priors: Sequence[tuple[Fraction, ...] | None] | None,
) -> AfterMining:
    """Return what rules leave of the privacy of the class, the last column."""
    label = len(questionnaire.names) - 1
    entry = entry_of(questionnaire.design, label, None if priors is None else priors[label])
    return privacy_after_mining(sets, entry, codes)


def known_answers(codes: Codes, questionnaire: Questionnaire) -> list[tuple[str, Fraction]]:
    """Return by group the share of respondents whose truth is certain to anyone who knows their personal answers."""
    found = estimated_priors(codes, questionnaire)
    sizes = questionnaire.design.sizes
    priors = [prior or (Fraction(1, size),) * size for prior, size in zip(found, sizes, strict=True)]
    shares = (given_away(questionnaire.design, group, priors) for group in range(len(questionnaire.group_names)))
    named = zip(questionnaire.group_names, shares, strict=True)
    return [(name, share) for name, share in named if share is not None]


def pilot_reading(codes: Codes, questionnaire: Questionnaire) -> Disclosure | None:
    """Return what a collector would read of a pilot table of true answers, disguised for this look alone."""
    looked, chance = codes[read_rows(len(codes))], _looks()
    sent = questionnaire.design.randomize(looked, chance(len(looked)))
    return disclosure(looked, sent, questionnaire.design, chance(len(looked)))


def likely_reading(codes: Codes, questionnaire: Questionnaire) -> Disclosure | None:
    """Return what a collector reads of answers like these, as far as these show how common records are."""
    return likely_disclosure(codes, questionnaire.design, _looks())


def _looks() -> Callable[[int], Draw]:
    """Return what makes draws, others at each call: alike for all who look, so no secret."""
    numbers = count()
    return lambda records: compared_draw(b"a look at a design", str(next(numbers)), records)


def column_names(questionnaire: Questionnaire) -> list[str]:
    """Return the names of all items, `column = value`, in their order."""
    columns = zip(questionnaire.names, questionnaire.values, strict=True)
    return [f"{name} = {value}" for name, values in columns for value in values]


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
    """What answers say of every value of a column; of none where too few gave an answer."""

    name: str
    plain: bool
    findings: tuple[Finding, ...]


def estimate_together(samples: Sequence[AnswerFile], text: str, asked: EstimateOptions) -> Finding:
    """Return what one sample, or several together, say of an expression."""
    found = [
        estimate_expression(each.codes, parse_expression(text, each.questionnaire), each.questionnaire, asked)
        for each in samples
    ]
    return found[0] if len(found) == 1 else combine_findings(found, [each.questionnaire for each in samples], asked)


def column_shares(samples: Sequence[AnswerFile], asked: EstimateOptions) -> list[ColumnShares]:
    """Return what the samples say of each column, each by those that have it."""
    names = dict.fromkeys(name for each in samples for name in each.columns)
    return [_shares(name, [each for each in samples if name in each.columns], asked) for name in names]


def _shares(name: str, samples: Sequence[AnswerFile], asked: EstimateOptions) -> ColumnShares:
    first = samples[0].questionnaire
    other = next((e.questionnaire for e in samples if e.columns[name] != samples[0].columns[name]), None)
    if other is not None:
        raise InputError(f"column {name!r} has other values in {other.path}: what is combined must mean the same")
    given = [e.questionnaire.design.answered(e.codes, [e.questionnaire.names.index(name)]).sum() for e in samples]
    enough = [each for each, answers in zip(samples, given, strict=True) if answers > 1]
    column = first.names.index(name)
    texts = [expression_text(Expression().child(column, value), first) for value in range(len(first.values[column]))]
    plain = all(e.questionnaire.design.group_of(e.questionnaire.names.index(name)) is None for e in samples)
    found = tuple(estimate_together(enough, text, asked) for text in texts) if enough else ()
    return ColumnShares(name, plain, found)
