"""The sections of a page about a model: naive Bayes, or what two parties have found in their items together."""

from collections.abc import Iterator
from fractions import Fraction

from party.association.mining import ResultColumns, RuleThreshold, rules_of, sets_of
from party.models.tree_file import references
from party.names import printable
from party.show.baskets import first_rows, set_text
from party.show.joint_rules import doubt_lines, joint_title, uncounted_lines, up_to
from party.show.layout import ScreenColumn, laid_out
from party.show.page.interval_svg import bayes_svg, joint_svg
from party.show.page.parts import Drawing, Grid, PagePart, PageSection, Sentences
from party.show.tree import bayes_blocks
from protocols.association.joint import JointItemsets
from protocols.learning.impurity import informations
from protocols.learning.naive_bayes import NaiveBayes

IMPORTANCE = "Which attributes matter"
_BEST = RuleThreshold("confidence", Fraction(1, 2))


def bayes_sections(model: NaiveBayes) -> list[PageSection]:
    """Return the chances of the model's values, drawn and as text, and what each attribute says of the class."""
    title, *lines = laid_out(bayes_blocks(model), None)
    said = f"{title}: how likely each value is in each class, as bars in the classes' order."
    drawing = Drawing("The model", bayes_svg(model, alone=False), lines)
    return [PageSection("model", "The model", [Sentences([said]), drawing]), _informing(model)]


def _informing(model: NaiveBayes) -> PageSection:
    """Rank the attributes by the bits that each alone gives of the class."""
    attributes, bits = model.schema.attributes, informations(model).tolist()
    rows = sorted(zip(bits, references(attributes), attributes, strict=True), key=lambda row: -row[0])
    heads = [ScreenColumn("Attribute", is_text=True), ScreenColumn("Party", is_text=True), ScreenColumn("Bits")]
    cells = [(printable(name), each.party, f"{told:.4f}") for told, name, each in rows]
    most = max(bits, default=0.0)
    said = "How many bits of the class each attribute gives by itself, by the model's chances."
    bars = [told / most if most > 0 else 0.0 for told, *_ in rows]
    return PageSection("importance", IMPORTANCE, [Sentences([said]), Grid(heads, cells, bars)])


def rules_sections(found: JointItemsets, most_items: int | None) -> list[PageSection]:
    """Return the frequent sets of at most this many items, drawn and as a table, and the surest rules."""
    if not found.has_counts:
        return [PageSection("sets", "The frequent itemsets", [Sentences(list(uncounted_lines(found, most_items)))])]
    rules = rules_of(found, _BEST)
    return [
        PageSection("sets", "The frequent itemsets", list(_set_parts(found, most_items))),
        PageSection("rules", "The surest rules", list(_rule_parts(rules))),
    ]


def _set_parts(found: JointItemsets, most_items: int | None) -> Iterator[PagePart]:
    yield Sentences([joint_title(found), *doubt_lines(found)])
    sets = sets_of(up_to(found, most_items))
    order = first_rows(sets["support"])
    if not order:
        return
    yield Drawing("Supports of the most frequent sets", joint_svg(found, most_items))
    heads = [
        ScreenColumn("Itemset", is_text=True),
        ScreenColumn("Support"),
        ScreenColumn("Records", rank=3),
        ScreenColumn("Known", is_text=True),
    ]
    rows = [
        (
            set_text(sets["itemsets"][k]),
            f"{100 * sets['support'][k]:.2f}%",
            f"{sets['support'][k] * found.records:,.0f}",
            _known(sets, k, ".1%"),
        )
        for k in order
    ]
    yield Grid(heads, rows)
    yield from _rest(len(rows), len(sets["support"]), "sets")


def _rule_parts(rules: ResultColumns) -> Iterator[PagePart]:
    order = first_rows(rules["low"])
    if not order:
        yield Sentences([f"No rule has a confidence of {float(_BEST.least):g} or more."])
        return
    yield Sentences(["By the lower ends of the intervals of their confidence."])
    heads = [
        ScreenColumn("Rule", is_text=True),
        ScreenColumn("Confidence"),
        ScreenColumn("Support", rank=3),
        ScreenColumn("Lift", rank=3),
        ScreenColumn("Known", is_text=True),
    ]
    rows = [
        (
            f"{set_text(rules['antecedents'][k])} → {set_text(rules['consequents'][k])}",
            f"{rules['confidence'][k]:.3f}",
            f"{100 * rules['support'][k]:.2f}%",
            f"{rules['lift'][k]:.2f}",
            _known(rules, k, ".3f"),
        )
        for k in order
    ]
    yield Grid(heads, rows)
    yield from _rest(len(rows), len(rules["low"]), f"rules of a confidence of {float(_BEST.least):g} or more")


def _rest(shown: int, every: int, what: str) -> Iterator[PagePart]:
    if shown < every:
        yield Sentences([f"{shown:,} of {every:,} {what}; `cotally rules MODEL -o FILE` writes all."])


def _known(columns: ResultColumns, k: int, form: str) -> str:
    """Say how well a number is known: exactly, or within an interval."""
    if columns["settled"][k]:
        return "exactly"
    return f"{columns['low'][k]:{form}} to {columns['high'][k]:{form}}"
