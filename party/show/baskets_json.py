"""What a design of baskets discloses, as JSON: fractions as texts beside their values."""

from collections.abc import Mapping
from fractions import Fraction
from math import log

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
