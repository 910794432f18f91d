"""Rare values are not named: bins join their neighbours, texts become "other" (DESIGN 3 and 14).

Both work on frequencies alone. A value that fewer than `smallest` records hold never keeps a label of its own, and no
label made here is held by fewer, unless it is the only one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

OTHER = "other"


def joined_bins(
    edges: Sequence[Decimal], records: Sequence[int], smallest: int, most: int | None
) -> tuple[Decimal, ...]:
    """Return the edges that remain when rare bins have joined a neighbour, then the rarest until few enough are left.

    The rarest bin joins the smaller of its neighbours; of two equal ones, the lower. With `smallest = 1` nothing is
    rare, not even an empty bin. No edge remains if all records end up in one bin.

    Args:
        edges: In rising order.
        records: Of each bin, lowest first: one more than edges.
        smallest: A bin of fewer records is rare.
        most: How many bins may remain; None for any number.
    """
    kept, sizes = list(edges), list(records)
    while len(sizes) > 1:
        rarest = min(range(len(sizes)), key=sizes.__getitem__)
        rare = smallest > 1 and sizes[rarest] < smallest
        if not rare and (most is None or len(sizes) <= most):
            break
        near = [at for at in (rarest - 1, rarest + 1) if 0 <= at < len(sizes)]
        low, high = sorted((rarest, min(near, key=sizes.__getitem__)))
        sizes[low : high + 1] = [sizes[low] + sizes[high]]
        del kept[low]
    return tuple(kept)


@dataclass(frozen=True)
class Merged:
    """What becomes "other".

    Args:
        labels: The labels, the data's own "other" among them; none if nothing has to be merged.
        rare: How many of them, not counting the data's own "other", fewer than `smallest` records hold.
        absorbed: Whether a label that enough records hold is among them, because the rare ones were too few.
    """

    labels: frozenset[str]
    rare: int = 0
    absorbed: bool = False


def merged_labels(frequency: Mapping[str, int], smallest: int, most: int | None) -> Merged:
    """Return the labels that become "other".

    Those are the labels that fewer than `smallest` records hold; of the others the rarest, so that at most `most`
    labels remain (of equally common ones, those first in text order remain); and the rarest of what is then left, for
    as long as fewer than `smallest` records hold "other".
    """
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    room = len(ranked) if most is None else most - 1
    common = [label for label in ranked if smallest == 1 or frequency[label] >= smallest]
    if len(common) == len(ranked) and (most is None or len(ranked) <= most):
        return Merged(frozenset())
    named = [label for label in common if label != OTHER][:room]
    chosen, inside = len(named), sum(frequency.values()) - sum(map(frequency.__getitem__, named))
    while named and inside < smallest:
        inside += frequency[named.pop()]
    rare = len(frozenset(ranked) - {*common, OTHER})
    return Merged(frozenset(ranked) - frozenset(named), rare, len(named) < chosen)
