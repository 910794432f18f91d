"""What two parties have found together in words: how many sets and rules, how sure, what was revealed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from party.association.mining import RuleThreshold, rules_of, sets_of
from party.show.baskets import itemset_parts, rule_parts, set_text
from party.show.document import ReportPart
from protocols.association.joint import JointItemsets

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
    sets = sets_of(up_to(found, most_items))["itemsets"]
    yield from (f"  {set_text(each)}" for each in sets[:_LISTED])
    if len(sets) > _LISTED:
        yield f"{len(sets) - _LISTED:,} more sets are in the file"
    yield from reached_lines(found)
    yield from doubt_lines(found)


def joint_title(found: JointItemsets) -> str:
    return f"Frequent itemsets of {found.records:,} records, at {found.threshold} or more: {numbers_text(found)}"


def up_to(found: JointItemsets, most_items: int | None) -> JointItemsets:
    if most_items is None:
        return found
    return replace(found, kept=tuple(each for each in found.kept if len(each.terms) <= most_items))


def reached_lines(found: JointItemsets) -> Iterator[str]:
    """Yield the first rules of which it is known that they reach the threshold of the run, and no number."""
    if (reached := found.reached) is None:
        return
    columns = rules_of(found)
    rules = list(zip(columns["antecedents"], columns["consequents"], strict=True))
    yield f"{len(rules):,} rules of a {reached.metric} of {float(reached.least):g} or more"
    yield from (f"  {set_text(first)} => {set_text(rest)}" for first, rest in rules[:_LISTED])
    if len(rules) > _LISTED:
        yield f"{len(rules) - _LISTED:,} more rules are in the file"


def joint_rule_parts(found: JointItemsets, wanted: RuleThreshold | None) -> Iterator[ReportPart]:
    columns, wanted = rules_of(found, wanted), wanted or RuleThreshold()
    if found.reached is not None:
        yield from reached_lines(found)
        yield from doubt_lines(found)
        return
    rules: Sequence[object] = columns["antecedents"]
    yield f"{len(rules):,} rules of a {wanted.metric} of {float(wanted.least):g} or more"
    yield from rule_parts(columns)
    yield from doubt_lines(found)


def numbers_text(found: JointItemsets) -> str:
    lengths = [len(each.terms) for each in found.frequent]
    told = ", ".join(f"{lengths.count(k)} of {k}" for k in sorted(set(lengths)))
    return f"{len(lengths):,} by their number of items ({told})" if lengths else "none"
