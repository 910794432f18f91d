"""What came of a run in which two parties looked for itemsets together, in words."""

from collections.abc import Iterator
from pathlib import Path

from party.node.check import Assessment
from party.node.players import FoundRules
from party.show.assessment import amount_lines
from party.show.costs import key_text
from party.show.joint_rules import doubt_lines, numbers_text
from party.show.run_report import revealed_by


def found_rules_lines(ended: FoundRules, model: Path) -> Iterator[str]:
    """Say what came of a run whose itemsets were written there, and what both sides have told for them."""
    found, terms = ended.found, ended.agreed.terms
    digest = found.itemsets.digest().hex()[:16]
    yield f"Both parties hold the same itemsets: {numbers_text(found.itemsets)}, digest {digest}"
    yield from doubt_lines(found.itemsets)
    if terms.counts_exactly:
        most = terms.rules.most_told if terms.rules else 0
        yield from amount_lines(Assessment(terms, most, likely=None), revealed_by(ended))
        if terms.hides_counts:
            rules = "" if found.itemsets.reached is None else ", and rules of them,"
            yield f"{found.counted:,} sets with items of both{rules} were asked about"
        else:
            yield f"Of the sets, {found.told:,} are of one side's items and were told, {found.counted:,} of both"
    if found.withheld:
        yield (
            f"{found.withheld:,} frequent sets of our own were not used: they differ from others in fewer than "
            f"min_leaf = {terms.min_leaf} records, of whom too much would be told"
        )
    listing = (
        f"`cotally rules {model}` lists the rules"
        if found.itemsets.has_counts or found.itemsets.reached is not None
        else f"`cotally show {model}` lists them"
    )
    yield f"Wrote {model}: {listing}"
    if found.key is not None:
        yield key_text(found.key)
