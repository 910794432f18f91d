"""What a design of baskets discloses, as JSON: fractions as texts beside their values."""

from collections.abc import Mapping
from fractions import Fraction
from math import log

from party.association.mining import ResultColumns, result_json
from protocols.association.findings import SizeFindings, TransactionFindings

BASKET_PRIVACY_FORMAT = "cotally-basket-privacy/1"


def basket_findings_json(found: TransactionFindings) -> Mapping[str, object]:
    """Return plain types for `json.dumps`; what is infinite or not defined is null."""
    return {
        "format": BASKET_PRIVACY_FORMAT,
        "supports": list(map(str, found.sigmas)),
        "level": None if found.level is None else str(found.level),
        "worst": float(found.worst),
        "sizes": list(map(_size, found.sizes)),
    }


def _size(found: SizeFindings) -> Mapping[str, object]:
    telling = found.telling
    return {
        "size": found.size,
        "shown_set": {"items": found.breach.items, "belief": float(found.breach.level)},
        "shown_item": float(found.shown),
        "absent_item": _value(found.absent),
        "telling_size": None
        if telling is None
        else {"shown": telling.shown, "chance": telling.chance, "belief": telling.belief},
        "epsilon": None if found.ratio is None else log(found.ratio),
    }


def _value(chance: Fraction | None) -> float | None:
    return None if chance is None else float(chance)


def baskets_needed_json(
    needed: Mapping[int, Mapping[int, int | None]], width: Fraction, confidence: float
) -> dict[str, object]:
    """Return for programs how many baskets of each size are enough, by the number of items of a set; null: none are."""
    told = [
        {"items": items, "size": size, "baskets": number}
        for items, by_size in needed.items()
        for size, number in by_size.items()
    ]
    head = {"format": "cotally-baskets-needed/1", "half_width": float(width), "confidence": confidence}
    return {**head, "enough": told}


def sets_json(columns: ResultColumns) -> dict[str, object]:
    """Return frequent itemsets for programs."""
    return {"format": "cotally-itemsets-found/1", "itemsets": result_json(columns)}


def rules_json(columns: ResultColumns) -> dict[str, object]:
    """Return association rules for programs."""
    return {"format": "cotally-rules-found/1", "rules": result_json(columns)}
