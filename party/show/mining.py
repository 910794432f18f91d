"""A model mined from disguised answers, in words: the model, which splits may be chance, how good it is."""

import json
from collections.abc import Iterator, Sequence
from math import hypot, isinf
from pathlib import Path

from party.models.any_file import model_json
from party.names import printable
from party.settings.survey import Questionnaire
from party.show.privacy_short import kinds_text, reading_line
from party.show.quality import worth_json, worth_lines
from party.show.tree import MARK
from party.survey.disguise import DisguisedTable
from party.survey.estimation import EstimateOptions, Finding, expression_text
from party.survey.mining import CONFIDENCE, MinedModel, Parts
from party.survey.table import answers_given
from protocols.randomized_response.combined import CombinedEstimate
from protocols.randomized_response.estimate import quantile
from protocols.randomized_response.moments import records_to_tell, tells
from protocols.randomized_response.random_answers import RandomAnswers
from protocols.randomized_response.sample_size import SampleSize
from protocols.survey.mining import Accuracy
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
        yield "Nothing is corrected for random answers: for that, estimate from one file at a time."
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
    yield "Differences from the other respondents' shares, as if all were drawn at random:"
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


def mined_lines(mined: MinedModel, parts: Parts, questionnaire: Questionnaire, output: Path | None) -> Iterator[str]:
    if mined.splits:
        tally = f"{len(mined.doubtful)} of {mined.splits} splits"
        yield f"{MARK} chance may bring the split, or its lead over the runner-up (at {100 * CONFIDENCE:g}%): {tally}"
        yield (
            "Counts are estimates, fitted node by node to the total above: class counts of branches may not add up to "
            "their parent's."
        )
    parted = {"to prune by": parts.pruning, "to test on": parts.test}
    held = " and ".join(f"{len(part)} {use}" for use, part in parted.items() if part is not None)
    held_out = f"; held out: {held}" if held else ""
    yield f"Learned from {len(parts.train)} disguised records{held_out}."
    for line in given_lines(answers_given(parts.train.codes, questionnaire), len(parts.train)):
        yield f"  {line}"
    if mined.accuracy is not None and mined.guess is not None:
        yield _accuracy_text(mined.accuracy, len(parts.test or ()))
        if tells(mined.guess.standard_error):
            yield f"Always guessing the commonest class would have {mined.guess.share:.4f}."
    yield from worth_lines(mined.model, mined.beats_guessing)
    if output is not None:
        unmarked = f"; the marks {MARK} are shown only here" if mined.doubtful else ""
        yield f"Wrote {output}: `cotally show` and `cotally predict` take it{unmarked}."
        yield f"What its rules leave of privacy: cotally privacy {questionnaire.path} --model {output}"


def _accuracy_text(accuracy: Accuracy, held_out: int) -> str:
    lacking = held_out - accuracy.records
    rest = f"; {lacking} more lack an answer that is needed" if lacking else ""
    error = "unknown, of one record" if isinf(accuracy.standard_error) else f"{accuracy.standard_error:.4f}"
    if not tells(accuracy.standard_error):
        return f"Accuracy: {accuracy.records} held-out records are too few for it (standard error {error}){rest}."
    return (
        f"Accuracy {accuracy.share:.4f}, standard error {error}: "
        f"estimated from {accuracy.records} disguised records that were held out{rest}; it may leave 0 .. 1."
    )


def mined_json(mined: MinedModel, parts: Parts, output: Path | None) -> dict[str, object]:
    return {
        "format": "cotally-mined/1",
        "records": len(parts.train),
        "pruned_by": len(parts.pruning or ()),
        "tested_on": len(parts.test or ()),
        "accuracy": mined.accuracy,
        "commonest_class": mined.guess,
        **worth_json(mined.model, mined.beats_guessing),
        "splits": mined.splits,
        "doubtful": len(mined.doubtful),
        "output": output,
        "model": json.loads(model_json(mined.model)),
    }


def copy_lines(table: DisguisedTable, questionnaire: Questionnaire, output: Path, made: Path | None) -> Iterator[str]:
    yield f"Disguised {len(table)} records by {questionnaire.path}: {output}"
    yield from given_lines(table.answers, len(table))
    if table.answers:
        yield "The copy shows in the clear who gave no answer."
    if table.left_out:
        yield f"Left out, since the design does not name them: {printable(', '.join(table.left_out))}."
    if made is not None:
        yield f"Made {made}: keep it secret, keep a backup, and give it to nobody."
        yield "A second copy of these data under another secret would weaken this one: use this secret again."
    yield reading_line(table.read)
    yield f"More on what the design discloses: cotally privacy {questionnaire.path}"


def example_lines(data: Path, design: Path) -> list[str]:
    return [
        f"Wrote {data} and {design}. Next:",
        f"  cotally disguise {data} {design} -o disguised.csv --secret survey.key",
    ]


def copy_json(records: int, output: Path, left_out: Sequence[str], made: Path | None) -> dict[str, object]:
    head = {"format": "cotally-copy/1", "records": records, "output": output}
    return {**head, "left_out": left_out, "secret_made": made}
