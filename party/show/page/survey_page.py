"""The page of a survey: what was asked, what answers say, what is learned from them, what they disclose."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from party.association.estimation import SupportFinding
from party.association.mining import FoundSets, ResultColumns
from party.names import printable
from party.settings.transactions import BasketDesign
from party.show.audit import audit_lines
from party.show.baskets import asked_grid, basket_privacy_parts, found_lines, itemset_parts, rule_parts
from party.show.document import Document, Drawing, Grid, PageSection, Pairs, ReportPart, headed, laid_out
from party.show.mining import UNBIASED, at_random_line, chi_square_text, weights_text
from party.show.page.drawings import Interval, bayes_svg, intervals_svg, sets_svg
from party.show.page.run_page import importance_section, tree_section
from party.show.privacy_full import after_mining_lines, shown_names
from party.show.privacy_short import (
    LIKE_THESE,
    figures,
    kinds_text,
    known_grid,
    known_or_none,
    reading_line,
    summary_lines,
)
from party.show.tree import bayes_parts
from party.survey.estimation import AnswerFile, ColumnShares, EstimateOptions, Finding
from protocols.association.audit import OperatorAudit
from protocols.association.findings import TransactionFindings
from protocols.association.transactions import Randomized
from protocols.learning.model import Model
from protocols.learning.tree import Tree
from protocols.privacy.attack import Disclosure
from protocols.privacy.audit import AuditResult
from protocols.privacy.findings import Findings
from protocols.randomized_response.combined import CombinedEstimate
from protocols.randomized_response.random_answers import RandomAnswers
from protocols.survey.inference import AfterMining


@dataclass(frozen=True, eq=False, repr=False)
class AskedFile:
    """Answers of one design, and what is known of it."""

    sample: AnswerFile
    answers: tuple[str, str]
    design: tuple[str, str]
    found: Findings
    read: Disclosure | None
    audited: AuditResult
    at_random: RandomAnswers | None
    mined: AfterMining | None
    ruled: AfterMining | None


@dataclass(frozen=True, eq=False, repr=False)
class FoundInColumns:
    """Itemsets and rules, and how many rules have no confidence."""

    sets: FoundSets
    itemsets: ResultColumns
    rules: ResultColumns
    undefined: int


@dataclass(frozen=True, eq=False, repr=False)
class SurveyTold:
    """All that the page of a survey shows."""

    files: Sequence[AskedFile]
    options: EstimateOptions
    columns: Sequence[ColumnShares]
    asked: Sequence[Finding]
    model: Model | None
    levels: int | None
    found: FoundInColumns | None


TRIED = "What was tried is the sampler that is installed here, by which `cotally disguise` works."
_GIVEN = "Those are the shares that these answers suggest, negative ones set to 0 and the others rescaled."


def page_of_survey(survey: SurveyTold) -> Document:
    def audit(each: AskedFile) -> list[str]:
        return audit_lines(each.audited, shown_names(each.sample.questionnaire))

    def known(each: AskedFile) -> list[ReportPart]:
        return [*known_or_none(each.found), known_grid(each.found)]

    records = sum(len(each.sample.codes) for each in survey.files)
    return Document(
        f"Survey of {records:,} respondents",
        [
            PageSection("asked", "What was asked", list(_asked(survey))),
            PageSection("answers", "What the answers say", list(_answers(survey))),
            *_learned(survey),
            PageSection("privacy", "What a response reveals of a single person", _of_each(survey, _privacy)),
            PageSection("known", "Where a personal answer is known", _of_each(survey, known)),
            PageSection("mining", "What is left after mining", list(_after_mining(survey))),
            PageSection("audit", "Whether answers are disguised as declared", [*_of_each(survey, audit), "", TRIED]),
            checks([file for each in survey.files for file in (each.answers, each.design)]),
        ],
    )


def _asked(survey: SurveyTold) -> Iterator[ReportPart]:
    for each in survey.files:
        asked = each.sample.questionnaire
        yield Pairs(
            [
                ("Answers", f"{each.answers[0]}: {len(each.sample.codes):,} records"),
                ("Design", each.design[0]),
                ("Kinds of question", kinds_text(asked.design)),
                ("Columns", printable(", ".join(asked.names))),
                ("Asked as they are", printable(", ".join(asked.names[c] for c in asked.design.plain)) or "none"),
            ]
        )


def _answers(survey: SurveyTold) -> Iterator[ReportPart]:
    for each in survey.files:
        if each.at_random is not None:
            yield at_random_line(each.sample.questionnaire, each.at_random)
    if len(survey.files) > 1:
        yield "Each file is taken for a sample of one population: the surer its share, the more it counts."
        if any(each.sample.questionnaire.controls for each in survey.files):
            yield "Where files are combined nothing is corrected for random answers."
    yield UNBIASED
    shares = [finding for column in survey.columns for finding in column.findings]
    if shares:
        yield Drawing("Shares and their intervals", _drawn(survey, "Shares and their intervals", shares))
        yield _grid(survey, "Every column", shares)
    few = [printable(column.name) for column in survey.columns if not column.findings]
    if few:
        yield f"Too few gave an answer to estimate from: {', '.join(few)}."
    plain = [printable(column.name) for column in survey.columns if column.plain]
    if plain:
        yield f"Sent as they are, no coin's error is in them: {', '.join(plain)}."
    if survey.asked:
        yield Drawing("What was asked for", _drawn(survey, "What was asked for, with intervals", survey.asked))
        yield _grid(survey, "What was asked for", survey.asked)


def _drawn(survey: SurveyTold, title: str, findings: Sequence[Finding]) -> str:
    intervals = [Interval(printable(f.text), float(f.estimate.proportion), *f.interval) for f in findings]
    return intervals_svg(f"{title}, {100 * survey.options.confidence:g}%", intervals, alone=False)


def _grid(survey: SurveyTold, title: str, findings: Sequence[Finding]) -> Grid:
    percent = f"{100 * survey.options.confidence:g}%"
    heads = headed("<Answer", "Share", "Error:3", f"{percent} from", "to", "Of:3")
    numbers = ((float(f.estimate.proportion), f.estimate.proportion_error, *f.interval) for f in findings)
    rows = [
        [printable(f.text), *(f"{share:.4f}" for share in shares), f"{f.estimate.records:,}"]
        for f, shares in zip(findings, numbers, strict=True)
    ]
    if any(finding.corrected is not None for finding in findings):
        heads += headed("Corrected", "Error of it:3")
        known = [finding.corrected for finding in findings]
        cells = [["", ""] if k is None else [f"{float(k.share):.4f}", f"{k.standard_error:.4f}"] for k in known]
        rows = [[*row, *more] for row, more in zip(rows, cells, strict=True)]
    if any(isinstance(finding.estimate, CombinedEstimate) for finding in findings):
        heads += headed("Weights of files:3", "Chi-square:3")
        found = [finding.estimate for finding in findings]
        cells = [
            [weights_text(each), chi_square_text(each)] if isinstance(each, CombinedEstimate) else ["", ""]
            for each in found
        ]
        rows = [[*row, *more] for row, more in zip(rows, cells, strict=True)]
    return Grid(heads, rows, title=title)


def _learned(survey: SurveyTold) -> Iterator[PageSection]:
    if isinstance(survey.model, Tree):
        yield tree_section(survey.model, survey.levels)
        yield importance_section(survey.model)
    elif survey.model is not None:
        title, *lines = laid_out(bayes_parts(survey.model), None)
        drawing = Drawing("The model", bayes_svg(survey.model, alone=False), lines)
        yield PageSection("model", "The model", [title, drawing])
    if survey.found is not None:
        yield PageSection("sets", "Itemsets and rules", list(sets_parts(survey.found)))


def sets_parts(found: FoundInColumns) -> Iterator[ReportPart]:
    yield from found_lines(found.sets, found.itemsets, found.undefined, None)
    if found.sets.sets:
        label = "Supports and their intervals"
        yield Drawing(label, sets_svg(label, found.itemsets, float(found.sets.threshold), alone=False))
        yield from itemset_parts(found.itemsets, "The most frequent itemsets")
    yield from rule_parts(found.rules, "The rules whose confidence is surely highest")


def _of_each(survey: SurveyTold, parts: Callable[[AskedFile], Iterable[ReportPart]]) -> list[ReportPart]:
    """Return parts of each file, below its name if there are several."""
    return [part for each in survey.files for part in (*_named(survey, each), *parts(each))]


def _privacy(each: AskedFile) -> Iterator[ReportPart]:
    yield from [*summary_lines(each.found), reading_line(each.read, LIKE_THESE)]
    if parts := figures(each.found):
        yield from [*parts, _GIVEN]


def _named(survey: SurveyTold, each: AskedFile) -> Sequence[str]:
    return ("", f"{each.design[0]}:", "") if len(survey.files) > 1 else ()


def _after_mining(survey: SurveyTold) -> Iterator[ReportPart]:
    for each in survey.files:
        for what, mined in (("The model", each.mined), ("The rules that name a class", each.ruled)):
            if mined is not None:
                yield from _named(survey, each)
                yield from [f"{what}:", *after_mining_lines(mined, each.found), ""]
    if not any(each.mined or each.ruled for each in survey.files):
        yield "Neither a model nor rules that name a class are in this report."


def checks(files: Sequence[tuple[str, str]]) -> PageSection:
    said = "Another report is of the same files if their digests (SHA-256) are equal."
    return PageSection("checks", "What can be compared", [said, Pairs(files)])


@dataclass(frozen=True, eq=False, repr=False)
class BasketsTold:
    """All that the page of baskets shows."""

    sent: Randomized
    baskets: tuple[str, str]
    declared: BasketDesign
    design: tuple[str, str]
    confidence: float
    asked: Sequence[SupportFinding]
    found: FoundInColumns | None
    unsought: Sequence[str]
    disclosed: TransactionFindings
    audited: OperatorAudit


def page_of_baskets(report: BasketsTold) -> Document:
    audited = [*audit_lines(report.audited), "", TRIED]
    return Document(
        f"{len(report.sent):,} disguised baskets",
        [
            PageSection("asked", "What was sent", [Pairs(_sent(report))]),
            PageSection("answers", "What the baskets say", list(_said(report))),
            PageSection("privacy", "What a basket reveals of a single person", basket_privacy_parts(report.disclosed)),
            PageSection("known", "Where items of a basket are known", [_KNOWN]),
            PageSection("audit", "Whether baskets are disguised as declared", audited),
            checks([report.baskets, report.design]),
        ],
    )


_KNOWN = (
    "Baskets are disguised by chance alone, and rest on no personal answer. A person who knows some items of a "
    "basket from elsewhere may believe more of the others than the levels above say, as far as items go together; "
    "epsilon bounds what the response adds to whatever is known."
)


def _sent(report: BasketsTold) -> list[tuple[str, str]]:
    mean = len(report.sent.transactions.items) / max(len(report.sent), 1)
    return [
        ("Baskets", f"{report.baskets[0]}: {len(report.sent):,}"),
        ("Design", report.design[0]),
        ("Kind", str(report.declared.kind)),
        ("Items", f"{len(report.declared.items):,}"),
        ("Items per basket", f"{float(report.sent.sizes.mean()):.1f} held, {mean:.1f} sent, on average"),
    ]


def _said(report: BasketsTold) -> Iterator[ReportPart]:
    if report.asked:
        label = f"What was asked for, {100 * report.confidence:g}%"
        intervals = [
            Interval(printable(", ".join(each.items)), float(each.support.share), *each.interval)
            for each in report.asked
        ]
        yield Drawing("What was asked for", intervals_svg(label, intervals, alone=False))
        yield asked_grid(report.asked, label)
    if report.found is not None:
        yield from sets_parts(report.found)
    yield from report.unsought
