"""The findings of a privacy report in plain words, for whoever decides whether the data may leave."""

from collections.abc import Sequence
from fractions import Fraction
from math import isinf

from protocols.privacy.findings import AttributeFindings, GroupFindings
from protocols.privacy.relations import Relation

Attributes = tuple[AttributeFindings, ...]


def percent(chance: Fraction) -> str:
    """Return a chance in percent; never rounded to certainty or impossibility.

    >>> percent(Fraction(1, 3)), percent(Fraction(99999, 100000)), percent(Fraction(1))
    ('33.3 %', 'over 99.9 %', '100 %')
    """
    if chance in (0, 1):
        return f"{100 * int(chance)} %"
    if chance < Fraction(1, 1000):
        return "under 0.1 %"
    if chance > Fraction(999, 1000):
        return "over 99.9 %"
    return f"{float(100 * chance):.1f} %"


def loss_words(loss: float) -> str:
    """Return a loss in words."""
    return "infinite: some response rules a truth out" if isinf(loss) else f"{loss:.3f}"


def attribute_lines(found: AttributeFindings) -> list[str]:
    """Return what responses say about one attribute."""
    if found.group is None:
        return [f"{found.name}: sent as it is; every response is the truth."]
    if len(found.values) == 1:
        return [f"{found.name}: has one value; there is nothing to disclose."]
    level, rise = found.breach.level, found.rise
    response, value = (found.values[code] for code in found.breach.where[0])
    raised = f"{found.values[rise.value]!r} from {percent(rise.before)} to {percent(rise.after)}"
    twice = f"{percent(found.twice)}{_doubled(found.loss)}"
    return [
        f"{found.name}:",
        *(f"  {line}" for line in response_lines(found)),
        f"  Breach level: at most {percent(level)} falls on one value ({value!r}, when {response!r} is sent).",
        f"  Largest rise: {raised}, when {found.values[rise.response]!r} is sent.",
        f"  Single-entry privacy before mining: {percent(found.single_entry)} expected chance on a wrong value.",
        f"  Secret bits: {found.bits_before:.3f} before the response, {found.bits_left:.3f} after it.",
        f"  Loss (epsilon) of this attribute alone: {loss_words(found.loss)}.",
        f"  The same response again, with fresh coins, would bring the breach level to {twice}.",
    ]


def response_lines(found: AttributeFindings) -> list[str]:
    """Return one line a response: how often it comes, and what it makes likely."""
    lines = []
    for label, chance, posterior in zip(found.values, found.responses, found.posteriors, strict=True):
        if posterior is None:
            lines.append(f"{label!r} is never sent.")
            continue
        order = sorted(range(len(posterior)), key=lambda value: -posterior[value])
        shown = [f"{found.values[v]!r} {percent(posterior[v])} (was {percent(found.prior[v])})" for v in order[:3]]
        more = ", and others" if len(order) > 3 else ""
        lines.append(f"{label!r} is sent by {percent(chance)}; then the truth is {', '.join(shown)}{more}.")
    return lines


def _doubled(loss: float) -> str:
    return "" if isinf(loss) or not loss else f" and the loss to {2 * loss:.3f}"


def group_lines(number: int, found: GroupFindings, attributes: Attributes) -> list[str]:
    """Return what responses say about the attributes of one group together."""
    names = _named(found.columns, attributes)
    return [
        f"Group {number} ({names}): one coin of {found.coin_bits:.3f} bits.",
        f"  Single-entry privacy before mining, smallest of the group: {percent(found.single_entry)}.",
        f"  Loss (epsilon) of the group as a whole: {loss_words(found.loss)}.",
        *(f"  {line}" for line in level_lines(found, attributes)),
        *(f"  {line}" for line in relation_lines(found.relations, attributes)),
    ]


def level_lines(found: GroupFindings, attributes: Attributes) -> list[str]:
    """Return what reading all responses of a group adds to reading one; nothing where it has one attribute."""
    if len(found.columns) == 1:
        return []
    if found.levels is None:
        return ["Figures of one attribute hold for its own response alone; the others of the group may add to it."]
    named = zip(found.columns, found.levels, strict=True)
    levels = ", ".join(f"{attributes[column].name} {percent(level)}" for column, level in named)
    return [f"Breach levels when all responses of the group are read, its attributes being independent: {levels}."]


def relation_lines(found: Sequence[Relation], attributes: Attributes) -> list[str]:
    """Return what relations give to someone who knows an attribute from elsewhere; pairs of equal sizes in one line."""
    alike: dict[tuple[int, int], list[Relation]] = {}
    for relation in found:
        sizes = len(attributes[relation.first].values), len(attributes[relation.second].values)
        ordered = relation if sizes[0] <= sizes[1] else relation.turned()
        alike.setdefault((min(sizes), max(sizes)), []).append(ordered)
    return [_relation_line(sizes, pairs, attributes) for sizes, pairs in sorted(alike.items())]


def _relation_line(sizes: tuple[int, int], pairs: Sequence[Relation], attributes: Attributes) -> str:
    columns = [sorted(set(side)) for side in ([r.first for r in pairs], [r.second for r in pairs])]
    if sizes[0] == sizes[1]:
        names = _named(sorted({*columns[0], *columns[1]}), attributes)
        return (
            f"Disclosed with certainty: how {names} differ in a record (binary: their XOR). "
            "Who knows one of them from elsewhere knows all of them."
        )
    fewer, more = (_named(side, attributes) for side in columns)
    return (
        f"Disclosed with certainty: the difference between the codes of {fewer} and of {more}, modulo "
        f"{pairs[0].modulus}. Who knows one of the former is left with {pairs[0].left_of_second} of {sizes[1]} values "
        f"of the latter, who knows one of the latter with {pairs[0].left_of_first} of {sizes[0]} of the former."
    )


def _named(columns: Sequence[int], attributes: Attributes) -> str:
    return ", ".join(attributes[column].name for column in columns)
