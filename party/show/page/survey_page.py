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
from protocols.learning.naive_bayes import Model
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


def page_of_survey(told: SurveyTold) -> Document:
    def audit(each: AskedFile) -> list[str]:
        return audit_lines(each.audited, shown_names(each.sample.questionnaire))

    records = sum(len(each.sample.codes) for each in told.files)
    return Document(
        f"Survey of {records:,} respondents",
        [
            PageSection("asked", "What was asked", list(_asked(told))),
            PageSection("answers", "What the answers say", list(_answers(told))),
            *_learned(told),
            PageSection("privacy", "What a response reveals of a single person", _of_each(told, _privacy)),
            PageSection(
                "known",
                "Where a personal answer is known",
                _of_each(told, lambda each: [*known_or_none(each.found), known_grid(each.found)]),
            ),
            PageSection("mining", "What is left after mining", list(_after_mining(told))),
            PageSection("audit", "Whether answers are disguised as declared", [*_of_each(told, audit), "", TRIED]),
            checks([file for each in told.files for file in (each.answers, each.design)]),
        ],
    )


def _asked(told: SurveyTold) -> Iterator[ReportPart]:
    for each in told.files:
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


def _answers(told: SurveyTold) -> Iterator[ReportPart]:
    random = [
        at_random_line(each.sample.questionnaire, each.at_random) for each in told.files if each.at_random is not None
    ]
    several = len(told.files) > 1
    text = (
        ["Each file is taken for a sample of one population: the surer its share, the more it counts."]
        if several
        else []
    )
    if several and any(each.sample.questionnaire.controls for each in told.files):
        text.append("Where files are combined nothing is corrected for random answers.")
    yield from [*random, *text, UNBIASED]
    shares = [finding for column in told.columns for finding in column.findings]
    if shares:
        yield Drawing("Shares and their intervals", _drawn(told, "Shares and their intervals", shares))
        yield _grid(told, "Every column", shares)
    few = [printable(column.name) for column in told.columns if not column.findings]
    if few:
        yield f"Too few gave an answer to estimate from: {', '.join(few)}."
    plain = [printable(column.name) for column in told.columns if column.plain]
    if plain:
        yield f"Sent as they are, no coin's error is in them: {', '.join(plain)}."
    if told.asked:
        yield Drawing("What was asked for", _drawn(told, "What was asked for, with intervals", told.asked))
        yield _grid(told, "What was asked for", told.asked)


def _drawn(told: SurveyTold, title: str, findings: Sequence[Finding]) -> str:
    intervals = [Interval(printable(f.text), float(f.estimate.proportion), *f.interval) for f in findings]
    return intervals_svg(f"{title}, {100 * told.options.confidence:g}%", intervals, alone=False)


def _grid(told: SurveyTold, title: str, findings: Sequence[Finding]) -> Grid:
    percent = f"{100 * told.options.confidence:g}%"
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
        rows = [[*row, *_combination(finding)] for row, finding in zip(rows, findings, strict=True)]
    return Grid(heads, rows, title=title)


def _combination(finding: Finding) -> list[str]:
    found = finding.estimate
    return [weights_text(found), chi_square_text(found)] if isinstance(found, CombinedEstimate) else ["", ""]


def _learned(told: SurveyTold) -> Iterator[PageSection]:
    if isinstance(told.model, Tree):
        yield tree_section(told.model, told.levels)
        yield importance_section(told.model)
    elif told.model is not None:
        title, *lines = laid_out(bayes_parts(told.model), None)
        drawing = Drawing("The model", bayes_svg(told.model, alone=False), lines)
        yield PageSection("model", "The model", [title, drawing])
    if told.found is not None:
        yield PageSection("sets", "Itemsets and rules", list(sets_parts(told.found)))


def sets_parts(found: FoundInColumns) -> Iterator[ReportPart]:
    yield from found_lines(found.sets, found.itemsets, found.undefined, None)
    if found.sets.sets:
        label = "Supports and their intervals"
        yield Drawing(label, sets_svg(label, found.itemsets, float(found.sets.threshold), alone=False))
        yield from itemset_parts(found.itemsets, "The most frequent itemsets")
    yield from rule_parts(found.rules, "The rules whose confidence is surely highest")


def _of_each(told: SurveyTold, parts: Callable[[AskedFile], Iterable[ReportPart]]) -> list[ReportPart]:
    """Return parts of each file, below its name if there are several."""
    return [part for each in told.files for part in (*_named(told, each), *parts(each))]


def _privacy(each: AskedFile) -> Iterator[ReportPart]:
    yield from [*summary_lines(each.found), reading_line(each.read, LIKE_THESE)]
    if parts := figures(each.found):
        yield from [*parts, _GIVEN]


def _named(told: SurveyTold, each: AskedFile) -> Sequence[str]:
    return ("", f"{each.design[0]}:", "") if len(told.files) > 1 else ()


def _after_mining(told: SurveyTold) -> Iterator[ReportPart]:
    for each in told.files:
        for what, mined in (("The model", each.mined), ("The rules that name a class", each.ruled)):
            if mined is not None:
                yield from _named(told, each)
                yield from [f"{what}:", *after_mining_lines(mined, each.found), ""]
    if not any(each.mined or each.ruled for each in told.files):
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


def page_of_baskets(told: BasketsTold) -> Document:
    return Document(
        f"{len(told.sent):,} disguised baskets",
        [
            PageSection("asked", "What was sent", [Pairs(_sent(told))]),
            PageSection("answers", "What the baskets say", list(_said(told))),
            PageSection("privacy", "What a basket reveals of a single person", basket_privacy_parts(told.disclosed)),
            PageSection("known", "Where items of a basket are known", [_KNOWN]),
            PageSection("audit", "Whether baskets are disguised as declared", [*audit_lines(told.audited), "", TRIED]),
            checks([told.baskets, told.design]),
        ],
    )


_KNOWN = (
    "Baskets are disguised by chance alone, and rest on no personal answer. A person who knows some items of a "
    "basket from elsewhere may believe more of the others than the levels above say, as far as items go together; "
    "epsilon bounds what the response adds to whatever is known."
)


def _sent(told: BasketsTold) -> list[tuple[str, str]]:
    mean = len(told.sent.transactions.items) / max(len(told.sent), 1)
    return [
        ("Baskets", f"{told.baskets[0]}: {len(told.sent):,}"),
        ("Design", told.design[0]),
        ("Kind", str(told.declared.kind)),
        ("Items", f"{len(told.declared.items):,}"),
        ("Items per basket", f"{float(told.sent.sizes.mean()):.1f} held, {mean:.1f} sent, on average"),
    ]


def _said(told: BasketsTold) -> Iterator[ReportPart]:
    if told.asked:
        label = f"What was asked for, {100 * told.confidence:g}%"
        intervals = [
            Interval(printable(", ".join(each.items)), float(each.support.share), *each.interval) for each in told.asked
        ]
        yield Drawing("What was asked for", intervals_svg(label, intervals, alone=False))
        yield asked_grid(told.asked, label)
    if told.found is not None:
        yield from sets_parts(told.found)
    yield from told.unsought
