"""What randomized transactions tell beyond shown itemsets: by absent items, by sizes, to anyone who knows more.

The breaches of `breaches.py` ask only what a shown itemset makes likely. The receiver also sees which items are *not*
there, how many items were sent, and the original size; and it may know anything else (Review section 3.2 sets side
knowledge aside).

* An absent item: `P[a in t | a not in t']`, at most the prior wherever foreign items are rarer than own ones.
* The size of `t'`: few items leave little room for foreign ones, so a shown item is likelier to be true.
* The loss `epsilon`: two transactions of one size give one response with chances that differ at most by the factor
  `e^epsilon`, whatever else is known. A response of `z` items, `i` of them own, has the chance `p_m[j = i]/C(m, i)`
  times that of one set of `z - i` foreign items; all overlaps `i` that two transactions can have with one response
  occur.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm

from protocols.association.operators import Operator
from protocols.association.transition import transition
from protocols.errors import InputError


@dataclass(frozen=True)
class SizeBelief:
    """Belief in a shown item where the randomized transaction has this many items.

    Args:
        shown: Number of items that were sent, `z`.
        chance: How often a transaction is sent with so many.
        belief: `P[a in t | a in t', z items in t']`.
    """

    shown: int
    chance: float
    belief: float


def absent_belief(operator: Operator, support: Fraction) -> Fraction | None:
    """Return `P[a in t | a not in t']` for an item of this support; None if every transaction shows it.

    Raises:
        InputError: The support is not between 0 and 1, or the transactions are empty.
    """
    _check(operator, support)
    hidden = transition(operator, 1)[0]
    every = (1 - support) * hidden[0] + support * hidden[1]
    return support * hidden[1] / every if every else None


def size_beliefs(operator: Operator, support: Fraction, universe: int) -> list[SizeBelief]:
    """Return the belief in a shown item of this support, for each size of the randomized transaction.

    Raises:
        InputError: The support is not between 0 and 1, the transactions are empty, or the universe is too small.
    """
    _check(operator, support)
    operator.check_universe(universe)
    m, foreign = operator.size, universe - operator.size
    kept = operator.kept
    shares = {j: share for j, share in enumerate(kept.weights()) if share}
    added = {j: operator.entering(j, foreign) for j in shares}
    whole = lcm(*(chances.total for chances in added.values()))
    parts: dict[tuple[int, int], int] = {}
    for j, share in shares.items():
        chances = added[j]
        scale = share * (whole // chances.total)
        parts.update({(j + f, j): scale * weight for f, weight in enumerate(chances.weights()) if scale * weight})
    found = []
    for shown in sorted({shown for shown, _ in parts}):
        here = [(j, parts[shown, j]) for j in range(m + 1) if (shown, j) in parts]
        own = support.numerator * max(foreign, 1) * sum(j * part for j, part in here)
        other = (support.denominator - support.numerator) * m * sum((shown - j) * part for j, part in here)
        if own + other:
            chance = sum(part for _, part in here) / (whole * kept.total)  # of whole numbers, rounded once
            found.append(SizeBelief(shown, chance, own / (own + other)))
    return found


def likelihood_ratio(operator: Operator, universe: int) -> Fraction | None:
    """Return `e^epsilon`: the largest ratio of the chances of one response to two transactions of this size.

    None where it is infinite: a response that one transaction can have and another cannot.

    Raises:
        InputError: The universe is too small.
    """
    operator.check_universe(universe)
    foreign = universe - operator.size
    worst = Fraction(1)
    enough = [operator.size] if foreign >= operator.size else range(universe + 1)  # there all overlaps occur
    for shown in enough:
        chances = _response_chances(operator, shown, foreign)
        if any(chances):
            if not all(chances):
                return None
            worst = max(worst, max(chances) / min(chances))
    return worst


def _response_chances(operator: Operator, shown: int, foreign: int) -> list[Fraction]:
    """Return the chance of one response of `shown` items for every number of own items that it can have."""
    m = operator.size
    chances = []
    for own in range(max(0, shown - foreign), min(m, shown) + 1):
        kept = operator.kept[own]
        entering = operator.entering(own, foreign)[shown - own] if kept else Fraction(0)
        chances.append(kept / comb(m, own) * entering / comb(foreign, shown - own))
    return chances


def _check(operator: Operator, support: Fraction) -> None:
    if not 0 <= support <= 1:
        raise InputError("must be between 0 and 1", field="support")
    if not operator.size:
        raise InputError("empty transactions hold no item")
