"""Itemsets of two parties as a file, `cotally-itemsets/1` or without counts `cotally-sets/1` (FORMATS.md)."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from party.models.strict_json import attribute_of, compact, list_of, parsed, read_format, record_of, refuse, text_of
from protocols.association.joint import JointItemsets, JointSet, ReachedRules
from protocols.association.own_sets import TermSet
from protocols.tables import Attribute, Term
from protocols.terms import Metric

FORMAT = "cotally-itemsets/1"
WITHOUT_COUNTS = "cotally-sets/1"

_MOST_DIGITS = 400
_MOST_RECORDS = 1 << 53
_LARGEST, _SMALLEST = Fraction(10**60), Fraction(1, 10**60)
"""Of a count, or of the root of a variance, that is not 0: beyond, ratios of them leave what floats can hold."""


def itemsets_json(found: JointItemsets) -> str:
    """Write itemsets as text, one set per line."""
    attributes = ",\n  ".join(compact({"party": a.party, "name": a.name, "values": a.values}) for a in found.attributes)
    sets = ",\n  ".join(compact(_set_content(each, found.has_counts)) for each in found.kept)
    head = {
        "format": FORMAT if found.has_counts else WITHOUT_COUNTS,
        "records": found.records,
        "min_support": str(found.threshold),
    }
    top = compact({**head, "least": found.least, "undecided": found.undecided})[:-1]
    rules = "" if found.has_counts else f',\n "rules": {_rules_text(found.reached)}'
    return f'{top},\n "attributes": [\n  {attributes}],\n "sets": [\n  {sets}]{rules}}}\n'


def _rules_text(reached: ReachedRules | None) -> str:
    if reached is None:
        return "null"
    rules = ",\n  ".join(compact([_items(side) for side in rule]) for rule in reached.rules)
    top = compact({"metric": reached.metric, "min_threshold": str(reached.least)})[:-1]
    return f'{top}, "reached": [\n  {rules}]}}'


def _items(terms: TermSet) -> list[list[int]]:
    return [[term.column, term.value] for term in terms]


def _set_content(each: JointSet, has_counts: bool) -> dict[str, object]:
    items = _items(each.terms)
    if not has_counts:
        return {"items": items}
    return {"items": items, "count": str(each.count), "variance": str(each.variance), "settled": each.settled}


def read_itemsets(path: Path) -> JointItemsets:
    """Read a file of itemsets."""
    return read_format(path, FORMAT, itemsets_from_json)


def itemsets_from_json(data: bytes | str) -> JointItemsets:
    """Read itemsets from their JSON."""
    keys = {"format", "records", "min_support", "least", "undecided", "attributes", "sets"}
    content = parsed(data)
    without = isinstance(content, dict) and content.get("format") == WITHOUT_COUNTS
    top = record_of(content, "the file", keys | {"rules"} if without else keys)
    if top["format"] not in (FORMAT, WITHOUT_COUNTS):
        refuse("format", f"must be {FORMAT!r}")
    least = _count(top["least"], "least", 1)
    unknown = Fraction(least) if without else None
    attributes = tuple(
        _attribute(value, f"attributes[{position}]")
        for position, value in enumerate(list_of(top["attributes"], "attributes"))
    )
    sets = dict[TermSet, JointSet]()
    for position, value in enumerate(list_of(top["sets"], "sets")):
        each = _set(value, f"sets[{position}]", attributes, unknown)
        subsets = list(combinations(each.terms, len(each.terms) - 1)) if len(each.terms) > 1 else []
        if unknown is not None:
            subsets = [part for part in subsets if _is_of_both(part, attributes)]
            if not _is_of_both(each.terms, attributes):
                refuse(f"sets[{position}]", "has items of one side alone")
        before = list(sets)[-1:]
        if before and (len(each.terms), each.terms) <= (len(before[0]), before[0]):
            refuse(f"sets[{position}]", "is not in order")
        if not all(part in sets for part in subsets):
            refuse(f"sets[{position}]", "has a subset that is not listed")
        sets[each.terms] = each
    records, threshold = _count(top["records"], "records", 1), _fraction(top["min_support"], "min_support")
    if not 0 < threshold <= 1:
        refuse("min_support", "must be above 0 and at most 1")
    if unknown is None:
        _check_counts(sets, records)
    return JointItemsets(
        attributes=attributes,
        records=records,
        threshold=threshold,
        least=least,
        kept=tuple(sets.values()),
        undecided=_count(top["undecided"], "undecided", 0),
        has_counts=unknown is None,
        reached=_rules(top["rules"], attributes, sets) if without else None,
    )


def _rules(value: object, attributes: tuple[Attribute, ...], sets: Collection[TermSet]) -> ReachedRules | None:
    if value is None:
        return None
    entry, rules = record_of(value, "rules", {"metric", "min_threshold", "reached"}), list[tuple[TermSet, TermSet]]()
    if entry["metric"] not in list(Metric):
        refuse("rules.metric", f"must be one of {', '.join(Metric)}")
    for position, pair in enumerate(list_of(entry["reached"], "rules.reached")):
        place = f"rules.reached[{position}]"
        sides = [_terms(side, place, attributes) for side in list_of(pair, place)]
        if len(sides) != len(("antecedent", "consequent")) or tuple(sorted(sum(sides, ()))) not in sets:
            refuse(place, "must be two parts of a set that is listed")
        rules.append((sides[0], sides[1]))
    if len(set(rules)) != len(rules):
        refuse("rules.reached", "has a rule twice")
    least = _fraction(entry["min_threshold"], "rules.min_threshold")
    if least <= 0:
        refuse("rules.min_threshold", "must be above 0")
    return ReachedRules(Metric(entry["metric"]), least, tuple(rules))


def _attribute(value: object, place: str) -> Attribute:
    entry = record_of(value, place, {"party", "name", "values"})
    return attribute_of(place, text_of(entry["party"], place), entry["name"], entry["values"])


def _is_of_both(terms: TermSet, attributes: tuple[Attribute, ...]) -> bool:
    return len({attributes[term.column].party for term in terms}) > 1


def _set(value: object, place: str, attributes: tuple[Attribute, ...], unknown: Fraction | None) -> JointSet:
    keys = {"items", "count", "variance", "settled"} if unknown is None else {"items"}
    entry = record_of(value, place, keys)
    terms = _terms(entry["items"], f"{place}.items", attributes)
    if unknown is not None:
        return JointSet(terms, unknown, settled=False)
    if type(entry["settled"]) is not bool:
        refuse(f"{place}.settled", "must be true or false")
    count, variance = (_fraction(entry[key], f"{place}.{key}") for key in ("count", "variance"))
    for key, number, power in (("count", count, 1), ("variance", variance, 2)):
        if number and not _SMALLEST**power <= abs(number) <= _LARGEST**power:
            refuse(f"{place}.{key}", "is larger or smaller than any that can be")
    if entry["settled"] and (variance or count < 0 or count.denominator != 1):
        refuse(place, "is settled, but its count is not exact")
    return JointSet(terms, count, variance, entry["settled"])


def _terms(value: object, place: str, attributes: tuple[Attribute, ...]) -> TermSet:
    terms = tuple(_term(item, place, attributes) for item in list_of(value, place))
    columns = [term.column for term in terms]
    if not columns or columns != sorted(set(columns)):
        refuse(place, "must be of different columns, in their order")
    return terms


def _check_counts(sets: Mapping[TermSet, JointSet], records: int) -> None:
    """Refuse exact counts of more records than there are, or than a subset has."""
    for position, each in enumerate(sets.values()):
        parts = combinations(each.terms, len(each.terms) - 1) if len(each.terms) > 1 else ()
        exact = [sets[part].count for part in parts if sets[part].settled]
        if each.settled and each.count > min([Fraction(records), *exact]):
            refuse(f"sets[{position}].count", "is more than there are, or than a subset has")


def _term(value: object, place: str, attributes: tuple[Attribute, ...]) -> Term:
    pair = list_of(value, place)
    if len(pair) != 2 or not all(type(number) is int and number >= 0 for number in pair):
        refuse(place, "must be pairs of a column and a value")
    column, code = pair
    if column >= len(attributes) or code >= attributes[column].size:
        refuse(place, "names no value of a column")
    return Term(column, code)


def _count(value: object, place: str, least: int) -> int:
    if type(value) is not int or not least <= value < _MOST_RECORDS:
        refuse(place, f"must be an integer from {least}")
    return value


def _fraction(value: object, place: str) -> Fraction:
    text = text_of(value, place)
    try:
        fraction = Fraction(text) if len(text) <= _MOST_DIGITS and not set(text) - set("-0123456789/") else None
    except (ValueError, ZeroDivisionError):
        fraction = None
    if fraction is None or str(fraction) != text:
        refuse(place, "must be a fraction in lowest terms")
    return fraction
