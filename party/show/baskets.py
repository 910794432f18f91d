"""Itemsets and rules in words, of disguised baskets and of two parties: supports, what a design discloses, doubts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path

from party.association.estimation import SupportFinding
from party.association.files import Baskets
from party.association.mining import FoundSets, ResultColumns, RuleThreshold, result_json, rules_of, sets_of
from party.names import printable
from party.settings.transactions import BasketDesign
from party.show.document import Grid, ReportPart, headed
from party.show.privacy_short import epsilon, percent
from protocols.association.apriori import MinedItemsets
from protocols.association.findings import Exceeding, SizeFindings, TransactionFindings
from protocols.association.joint import JointItemsets
from protocols.association.transactions import Randomized
from protocols.survey.itemsets import MinedColumns

_ROWS = 20
_UNBIASED = (
    "Supports are estimates: unbiased, and so not cut to 0 .. 1. Errors are those of the coins, the records being what "
    "they are."
)


def basket_copy_lines(sent: Randomized, design: BasketDesign, output: Path, made: Path | None) -> Iterator[str]:
    mean = len(sent.transactions.items) / len(sent)
    yield f"Disguised {len(sent)} baskets by {design.path}: {output}"
    yield f"They held {float(sent.sizes.mean()):.1f} items on average; {mean:.1f} are sent."
    yield "The original size of every basket is in the copy, in the clear: the collector needs it."
    if made is not None:
        yield f"Made {made}: keep it secret, keep a backup, and give it to nobody."
        yield "A second copy of these data under another secret would weaken this one: use this secret again."
    yield f"What the copy discloses: cotally privacy {design.path}"


def repeating_lines(baskets: Baskets) -> Iterator[str]:
    if baskets.repeating:
        names = "1 basket names" if baskets.repeating == 1 else f"{baskets.repeating:,} baskets name"
        yield f"cotally: note: {baskets.path}: {names} an item more than once; it counts once"


def exceeding_lines(found: Sequence[Exceeding], design: BasketDesign) -> Iterator[str]:
    if found:
        first, k = found[0], len(found[0].items)
        share, items = Fraction(first.holders, first.baskets), "item" if k == 1 else "items"
        others = f", and {len(found) - 1:,} other sets are above it" if len(found) > 1 else ""
        yield (
            f"cotally: note: {set_text(frozenset(design.items[item] for item in first.items))}: in {percent(share)} of "
            f"the baskets of {first.size} items ({first.holders:,} of {first.baskets:,}), while {design.path} assumes "
            f"at most {float(100 * first.assumed):g}% for {k} {items}{others}: beliefs can be stronger than "
            f"`cotally privacy` shows; set supports from what is known of such baskets, and look again before you send"
        )


def support_lines(
    baskets: int, design: BasketDesign, found: Sequence[SupportFinding], confidence: float
) -> Iterator[str]:
    yield f"{baskets} baskets, {design.kind}"
    for finding in found:
        low, high = finding.interval
        yield printable(", ".join(finding.items))
        yield (
            f"  support {float(finding.support.share):.4f}, standard error {finding.support.standard_error:.4f}, "
            f"{100 * confidence:g}% interval {low:.4f} to {high:.4f}"
        )
        if finding.too_small:
            yield f"  {finding.too_small} baskets have fewer items than the set, so they cannot hold it"
    yield _UNBIASED


_ITEMSETS = headed("<itemset", "support", "error", "low", "high")
_RULES = headed("<rule", "confidence", "error", "support", "lift:1")
_SHARES = {"support": ".4f", "standard_error": ".4f", "low": ".4f", "high": ".4f"}
_RATIOS = {"confidence": ".3f", "confidence_error": ".3f", "support": ".4f", "lift": ".2f"}


def itemset_parts(columns: ResultColumns, title: str = "") -> Iterator[ReportPart]:
    rows = [
        [set_text(columns["itemsets"][k]) + _mark(columns, k), *formatted(columns, k, _SHARES)]
        for k in first_rows(columns["support"])
    ]
    yield from _first(Grid(_ITEMSETS, rows, title=title), len(columns["support"]), "sets")


def rule_parts(columns: ResultColumns, title: str = "") -> Iterator[ReportPart]:
    """Yield a table of the rules whose confidence is surely highest: by the lower ends of its intervals."""
    rows = [
        [rule_text(columns, k, "=>") + _mark(columns, k), *formatted(columns, k, _RATIOS)]
        for k in first_rows(columns["low"])
    ]
    yield from _first(Grid(_RULES, rows, title=title), len(columns["support"]), "rules")


def formatted(columns: ResultColumns, k: int, forms: Mapping[str, str]) -> Iterator[str]:
    return (format(float(columns[name][k]), form) for name, form in forms.items())


def rule_text(columns: ResultColumns, k: int, arrow: str) -> str:
    return f"{set_text(columns['antecedents'][k])} {arrow} {set_text(columns['consequents'][k])}"


def _first(table: Grid, total: int, what: str) -> Iterator[ReportPart]:
    if table.rows:
        yield table
    if total > len(table.rows):
        yield f"And {total - len(table.rows)} other {what}."


def asked_grid(found: Sequence[SupportFinding], title: str) -> Grid:
    rows = [
        [
            printable(", ".join(each.items)),
            *(f"{n:.4f}" for n in (float(each.support.share), each.support.standard_error, *each.interval)),
        ]
        for each in found
    ]
    return Grid(_ITEMSETS, rows, title=title)


def found_lines(found: FoundSets, columns: ResultColumns, undefined: int, output: Path | None) -> Iterator[str]:
    listed = ", ".join(f"{number} of {k}" for k, number in enumerate(found.by_length, 1) if number) or "none"
    yield f"Frequent itemsets at {float(found.threshold):g} or more, by their number of items: {listed}."
    straddling = sum(map(bool, columns["straddles"]))
    if straddling:
        yield f"(?) the interval holds the threshold: {straddling} of {len(columns['straddles'])}"
    if undefined:
        yield f"{undefined} rules have no confidence: the support of what they start from is estimated as 0 or less."
    yield _UNBIASED
    if output is not None:
        yield f"Wrote {output}."


def cut_short_lines(mined: MinedItemsets) -> Iterator[str]:
    if mined.cut_short and not mined.usable:
        yield (
            "No sets were looked for: at this support the error of even a single item is larger than the support; "
            "raise it, or collect more baskets."
        )
    elif mined.cut_short:
        yield (
            f"Sets of more than {mined.usable} items were not looked for: at this support their errors are larger than "
            "the support."
        )


def noisy_lines(mined: MinedColumns) -> Iterator[str]:
    if mined.noisy:
        yield f"{mined.noisy} sets were left out: their errors are as large as the support that was asked for."


def baskets_needed_lines(
    needed: dict[int, int | None], items: int, width: Fraction, confidence: float
) -> Iterator[str]:
    noun = "item" if items == 1 else "items"
    width_text = f"+- {float(width):g} at {100 * confidence:g}%"
    yield f"For {width_text} for the support of a set of {items} {noun}, by size of basket"
    for size, number in needed.items():
        text = "its parameters hide sets of this many items" if number is None else f"{number:,} baskets are enough"
        yield f"  {size} item{'s' * (size > 1)}: {text}"
    if not needed:
        yield "  no size has this many items: no basket holds such a set"


_BREACHES = headed("items", "shown\nset", "of\nitems", "shown\nitem", "absent\nitem", "telling\nsize", "epsilon")
_MEANINGS = (
    "Shown set: the most that a set that is sent whole can make likely of one of its items, by the most telling "
    "number of items, if supports are as assumed. Absent item: the belief that an item that is not sent was there "
    "all the same. Telling size: the belief in a shown item where the number of items sent says most; numbers that "
    "come less than once in a thousand baskets are left out."
)
_EPSILON = (
    "Epsilon bounds what anybody can learn, whatever else they know: no response is more than e^epsilon times as "
    "likely for one basket as for another of its size. The original size of every basket is sent in the clear."
)


def basket_privacy_parts(found: TransactionFindings) -> list[ReportPart]:
    supports = ", ".join(f"{float(100 * sigma):g}%" for sigma in found.sigmas)
    kept = "" if found.level is None else f"; {percent(found.level)} is allowed"
    return [
        f"Assumed: no set of 1, 2, ... items is in more than {supports} of the baskets of any size.",
        f"Strongest belief in an item of a set that is shown whole: {percent(found.worst)}{kept}.",
        *(Grid(_BREACHES, list(map(_size_row, found.sizes))), _MEANINGS, "", _EPSILON),
    ]


def _size_row(found: SizeFindings) -> list[str]:
    loss = float("inf") if found.ratio is None else log(found.ratio)
    return [
        str(found.size),
        percent(found.breach.level),
        str(found.breach.items),
        percent(found.shown),
        "-" if found.absent is None else percent(found.absent),
        "-" if found.telling is None else percent(Fraction(found.telling.belief)),
        epsilon(loss),
    ]


def first_rows(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda k: float(values[k]), reverse=True)[:_ROWS]


def set_text(items: frozenset[str]) -> str:
    return printable(", ".join(sorted(items)))


def _mark(columns: ResultColumns, k: int) -> str:
    return " (?)" if columns["straddles"][k] else ""


BASKET_PRIVACY_FORMAT = "cotally-basket-privacy/1"


def basket_findings_json(found: TransactionFindings) -> Mapping[str, object]:
    return {
        "format": BASKET_PRIVACY_FORMAT,
        "supports": found.sigmas,
        "level": found.level,
        "worst": float(found.worst),
        "sizes": [
            {
                "size": each.size,
                "shown_set": {"items": each.breach.items, "belief": float(each.breach.level)},
                "shown_item": float(each.shown),
                "absent_item": None if each.absent is None else float(each.absent),
                "telling_size": each.telling,
                "epsilon": None if each.ratio is None else log(each.ratio),
            }
            for each in found.sizes
        ],
    }


def baskets_needed_json(
    needed: Mapping[int, Mapping[int, int | None]], width: Fraction, confidence: float
) -> dict[str, object]:
    """Return for programs how many baskets of each size are enough, by the number of items of a set; null: none are."""
    enough = [
        {"items": items, "size": size, "baskets": number}
        for items, by_size in needed.items()
        for size, number in by_size.items()
    ]
    head = {"format": "cotally-baskets-needed/1", "half_width": float(width), "confidence": confidence}
    return {**head, "enough": enough}


def sets_json(columns: ResultColumns) -> dict[str, object]:
    return {"format": "cotally-itemsets-found/1", "itemsets": result_json(columns)}


def rules_json(columns: ResultColumns) -> dict[str, object]:
    return {"format": "cotally-rules-found/1", "rules": result_json(columns)}


_LISTED = 100


def doubt_lines(found: JointItemsets) -> Iterator[str]:
    estimated = sum(not each.settled for each in found.frequent)
    if not found.has_counts:
        sure = "" if found.reached is None else " beyond that"
        yield f"how many records have each of them is not known, nor how sure a rule is{sure}"
    elif estimated:
        yield f"{estimated:,} of them have estimated counts, from both disguised copies; all others are exact"
    if found.undecided:
        theta = ", or take theta further from 1/2" if found.has_counts else ""
        what = "sets" if found.reached is None else "sets and rules"
        yield f"{found.undecided:,} {what} were left out undecided: raise most_sets or min_support{theta}"


def joint_parts(found: JointItemsets, most_items: int | None = None) -> Iterator[ReportPart]:
    if not found.has_counts:
        yield from uncounted_lines(found, most_items)
        return
    yield joint_title(found)
    yield from itemset_parts(sets_of(up_to(found, most_items)))
    yield from doubt_lines(found)


def uncounted_lines(found: JointItemsets, most_items: int | None = None) -> Iterator[str]:
    yield joint_title(found)
    yield from _listed([*map(set_text, sets_of(up_to(found, most_items))["itemsets"])], "sets are")
    yield from reached_lines(found)
    yield from doubt_lines(found)


def _listed(texts: Sequence[str], rest: str) -> Iterator[str]:
    yield from (f"  {text}" for text in texts[:_LISTED])
    if len(texts) > _LISTED:
        yield f"{len(texts) - _LISTED:,} more {rest} in the file"


def joint_title(found: JointItemsets) -> str:
    return f"Frequent itemsets of {found.records:,} records, at {found.threshold} or more: {numbers_text(found)}"


def up_to(found: JointItemsets, most_items: int | None) -> JointItemsets:
    if most_items is None:
        return found
    return replace(found, kept=tuple(each for each in found.kept if len(each.terms) <= most_items))


def reached_lines(found: JointItemsets) -> Iterator[str]:
    if (reached := found.reached) is None:
        return
    columns = rules_of(found)
    rules = [rule_text(columns, k, "=>") for k in range(len(columns["antecedents"]))]
    yield f"{len(rules):,} rules of a {reached.metric} of {float(reached.least):g} or more"
    yield from _listed(rules, "rules are")


def joint_rule_parts(found: JointItemsets, wanted: RuleThreshold | None) -> Iterator[ReportPart]:
    columns, wanted = rules_of(found, wanted), wanted or RuleThreshold()
    if found.reached is not None:
        yield from reached_lines(found)
        yield from doubt_lines(found)
        return
    yield f"{len(columns['antecedents']):,} rules of a {wanted.metric} of {float(wanted.least):g} or more"
    yield from rule_parts(columns)
    yield from doubt_lines(found)


def numbers_text(found: JointItemsets) -> str:
    lengths = [len(each.terms) for each in found.frequent]
    by_length = ", ".join(f"{lengths.count(k)} of {k}" for k in sorted(set(lengths)))
    return f"{len(lengths):,} by their number of items ({by_length})" if lengths else "none"
