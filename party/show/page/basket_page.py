"""The page of disguised baskets: what they say of sets and rules, and what a design discloses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from party.association.estimation import SupportFinding
from party.names import printable
from party.settings.transactions import BasketDesign
from party.show.audit import audit_lines
from party.show.baskets import asked_grid, basket_privacy_parts
from party.show.document import Document, Drawing, PageSection, Pairs, ReportPart
from party.show.page.interval_svg import Interval, intervals_svg
from party.show.page.survey_page import TRIED, FoundInColumns, checks, sets_parts
from protocols.association.audit import OperatorAudit
from protocols.association.findings import TransactionFindings
from protocols.association.transactions import Randomized


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
    "Baskets are disguised by chance alone, and rest on no personal answer. Who knows some items of a basket from "
    "elsewhere may believe more of the others than the levels above say, as far as items go together; epsilon bounds "
    "what the response adds to whatever is known."
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
