"""Supports of single itemsets that somebody asks for, with intervals; and how many baskets such an interval needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from party.names import suggestion
from party.settings.transactions import BasketDesign
from protocols.association.operators import Operator, transition
from protocols.association.support import MOST_ITEMS, Support, estimate_support, overlap_counts, weights
from protocols.association.transactions import Randomized
from protocols.errors import InputError
from protocols.randomized_response.estimate import quantile


@dataclass(frozen=True)
class SupportFinding:
    """The estimated support of one set; its interval is not cut to `0 .. 1`, `too_small` baskets cannot hold it."""

    items: tuple[str, ...]
    support: Support
    interval: tuple[float, float]
    too_small: int

    def to_json(self) -> Mapping[str, object]:
        """Return what programs read of it."""
        return {
            "items": self.items,
            "support": float(self.support.share),
            "standard_error": self.support.standard_error,
            "interval": self.interval,
        }


def parse_itemset(text: str, design: BasketDesign) -> tuple[int, ...]:
    """Return the items of a set written with commas between them, such as `bread, milk`; rising numbers."""
    names = [part.strip() for part in text.split(",")]
    number = {item: index for index, item in enumerate(design.items)}
    for name in names:
        if name not in number:
            raise InputError(
                f"the design has no item {name!r}" + suggestion(name, design.items if len(design.items) <= 1000 else ())
            )
    if len(set(names)) != len(names):
        raise InputError(f"{text!r} names an item twice: name each once")
    if len(names) > MOST_ITEMS:
        raise InputError(f"a set of {len(names)} items is too large to ask about: name up to {MOST_ITEMS}")
    return tuple(sorted(number[name] for name in names))


def estimate_itemset(
    sent: Randomized, itemset: Sequence[int], design: BasketDesign, confidence: float
) -> SupportFinding:
    """Return the support of a set."""
    counts = overlap_counts(sent, itemset)
    support = estimate_support(design.design, counts)
    half = quantile(confidence) * support.standard_error
    interval = (float(support.share) - half, float(support.share) + half)
    small = sum(sum(row) for size, row in counts.items() if size < len(itemset))
    return SupportFinding(tuple(design.items[item] for item in itemset), support, interval, small)


def baskets_needed(design: BasketDesign, items: int, half_width: Fraction, confidence: float) -> dict[int, int | None]:
    """Return, by size, how many baskets of it alone are enough for an interval of any set's support.

    They are whatever the baskets hold, by the worst variance of what one adds. None where a size's parameters hide sets
    of this many items.
    """
    if not 1 <= items <= MOST_ITEMS:
        raise InputError(f"must be 1 to {MOST_ITEMS}", field="items")
    if not 0 < half_width < 1:
        raise InputError("must lie between 0 and 1, both excluded", field="half_width")
    z = Fraction(quantile(confidence))
    needed: dict[int, int | None] = {}
    for operator in sorted(design.design.operators, key=lambda known: known.size):
        if operator.size >= items:
            worst = _worst_variance(operator, items)
            needed[operator.size] = None if worst is None else max(1, ceil(z**2 * worst / half_width**2))
    return needed


def _worst_variance(operator: Operator, k: int) -> Fraction | None:
    try:
        q = weights(operator, k)
    except InputError:
        return None
    columns = zip(*transition(operator, k), strict=True)
    return max(
        sum((chance * weight**2 for chance, weight in zip(column, q, strict=True)), Fraction(0)) - (held == k)
        for held, column in enumerate(columns)
    )
