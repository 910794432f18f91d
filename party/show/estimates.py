"""Counts and shares estimated from disguised answers, in words, and how many respondents they need."""

from collections.abc import Iterator, Sequence
from math import hypot

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.privacy_short import kinds_text
from party.survey.estimation import EstimateOptions, Finding, expression_text
from protocols.randomized_response.combined import CombinedEstimate
from protocols.randomized_response.estimate import quantile
from protocols.randomized_response.moments import records_to_tell, tells
from protocols.randomized_response.random_answers import RandomAnswers
from protocols.randomized_response.sample_size import SampleSize
from protocols.tables import Expression

UNBIASED = (
    "Estimates are unbiased and their intervals normal: they may leave 0 .. 1 where a share is near an end or records "
    "are few. Cutting them off would bias them."
)


def estimate_lines(
    records: int,
    questionnaire: Questionnaire,
    findings: Sequence[Finding],
    asked: EstimateOptions,
    at_random: RandomAnswers | None = None,
) -> Iterator[str]:
    yield f"{records} records, {kinds_text(questionnaire.design)}"
    if at_random is not None:
        yield at_random_line(questionnaire, at_random)
    for finding in findings:
        yield from finding_lines(finding, asked)
    yield UNBIASED


def at_random_line(questionnaire: Questionnaire, found: RandomAnswers) -> str:
    names = printable(", ".join(questionnaire.names[control.column] for control in questionnaire.controls))
    share, error = float(found.share), found.standard_error
    return f"answers at random: share {share:.4f}, standard error {error:.4f}, by the control {names}"


def combined_lines(
    questionnaires: Sequence[Questionnaire], findings: Sequence[Finding], asked: EstimateOptions
) -> Iterator[str]:
    yield f"{findings[0].records} records of {len(questionnaires)} files"
    for questionnaire in questionnaires:
        yield f"  {printable(str(questionnaire.path))}: {kinds_text(questionnaire.design)}"
    for finding in findings:
        yield from finding_lines(finding, asked)
        if isinstance(finding.estimate, CombinedEstimate):
            gap = f"a chi-square of {chi_square_text(finding.estimate)}"
            yield f"  weights of the files: {weights_text(finding.estimate)}; their shares differ by {gap}"
    yield "Each file is taken for a sample of one population: the surer its share, the more it counts."
    if any(questionnaire.controls for questionnaire in questionnaires):
        yield "Nothing is corrected for random answers: ask each file alone for that."
    yield "Intervals are normal: they may leave 0 .. 1 where a share is near an end or records are few."


def weights_text(found: CombinedEstimate) -> str:
    return ", ".join(f"{100 * float(weight):.1f}%" for weight in found.weights)


def chi_square_text(found: CombinedEstimate) -> str:
    return f"{found.deviation:.2f}, {len(found.samples) - 1} expected"


def finding_lines(finding: Finding, asked: EstimateOptions) -> Iterator[str]:
    low, high = finding.interval
    estimate = finding.estimate
    yield printable(finding.text)
    if estimate.records < finding.records:
        yield f"  {estimate.records} of {finding.records} gave an answer; the figures are of these"
    yield f"  count {float(estimate.count):.1f}, standard error {estimate.standard_error:.1f}"
    share, error = float(estimate.proportion), estimate.proportion_error
    percent = f"{100 * asked.confidence:g}%"
    yield f"  share {share:.4f}, standard error {error:.4f}, {percent} interval {low:.4f} to {high:.4f}"
    if finding.corrected is not None:
        known = finding.corrected
        half = quantile(asked.confidence) * known.standard_error
        low, high = float(known.share) - half, float(known.share) + half
        yield (
            f"  corrected for random answers: share {float(known.share):.4f}, standard error "
            f"{known.standard_error:.4f}, {percent} interval {low:.4f} to {high:.4f}"
        )
    if not tells(error):
        yield f"  too few records for an estimate: about {records_to_tell(estimate.records, error):,} would do"
    if finding.likely is not None:
        yield f"  most likely distribution of {printable(', '.join(finding.columns))} (not the estimates above):"
        for values, likely in finding.cells(finding.likely):
            yield f"    {likely:.4f}  {printable(', '.join(values))}"
        if not finding.likely.converged:
            yield f"    not at the maximum yet after {finding.likely.rounds} rounds"


def difference_lines(findings: Sequence[Finding], others: Sequence[Finding], asked: EstimateOptions) -> Iterator[str]:
    if not others:
        return
    yield "Differences from the other respondents' shares, where who answers how is chance:"
    for own, other in zip(findings, others, strict=True):
        gap = float(own.estimate.proportion - other.estimate.proportion)
        error = hypot(own.estimate.proportion_error, other.estimate.proportion_error)
        half = quantile(asked.confidence) * error
        yield (
            f"{printable(own.text)}: {gap:+.4f}, standard error {error:.4f}, {100 * asked.confidence:g}% interval "
            f"{gap - half:.4f} to {gap + half:.4f}; the other share {float(other.estimate.proportion):.4f}"
        )


def given_lines(answers: Sequence[tuple[str, int]], records: int) -> list[str]:
    return [f"{printable(name)}: {given} of {records} gave an answer" for name, given in answers]


def enough_for(found: SampleSize, expression: Expression, questionnaire: Questionnaire) -> str:
    return _enough(found, f"the share of {printable(expression_text(expression, questionnaire))}")


def enough_for_shares(found: SampleSize) -> list[str]:
    return [
        _enough(found, "the share of any answer"),
        "For several answers together give --expression; for a model, name the class in the design.",
    ]


def enough_for_model(found: SampleSize, depth: int | None) -> str:
    model = "naive Bayes" if depth is None else f"a tree of depth {depth}"
    return _enough(found, f"{model}, all {found.cells} shares that it looks at")


def _enough(found: SampleSize, what: str) -> str:
    width = f"+- {float(found.half_width):g} at {100 * found.confidence:g}%"
    return f"{found.records} respondents are enough for {width} for {what}"


def enough_json(found: SampleSize, what: str) -> dict[str, object]:
    width, confidence = float(found.half_width), found.confidence
    return {"for": what, "respondents": found.records, "half_width": width, "confidence": confidence}
