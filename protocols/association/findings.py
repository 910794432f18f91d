"""All that a design of transactions discloses, size by size: breaches, absent items, sizes, losses (DESIGN 9.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from protocols.association.breaches import ItemsetBreach, breach_bound
from protocols.association.design import TransactionDesign
from protocols.association.disclosure import SizeBelief, absent_belief, likelihood_ratio, size_beliefs
from protocols.errors import InputError

RARE = 1e-3


@dataclass(frozen=True)
class SizeFindings:
    """What randomized transactions of one original size tell, where supports are as large as they can be.

    Args:
        size: `m`.
        breach: The strongest belief in an item of a set that is shown whole, whatever the distribution.
        shown: Belief in a single item that is shown, whatever else is.
        absent: Belief in a single item that is not shown; None if every transaction shows it.
        telling: The size of a randomized transaction that makes most of a shown item, of those that come
            at least once in a thousand; None if there is none.
        ratio: `e^epsilon`; None if infinite.
    """

    size: int
    breach: ItemsetBreach
    shown: Fraction
    absent: Fraction | None
    telling: SizeBelief | None
    ratio: Fraction | None


@dataclass(frozen=True)
class TransactionFindings:
    """What a design of transactions discloses.

    Args:
        sigmas: The bounds on supports that were assumed.
        level: The largest belief that is to be allowed, if one is.
        sizes: Of each size with items.
    """

    sigmas: tuple[Fraction, ...]
    level: Fraction | None
    sizes: tuple[SizeFindings, ...]

    @property
    def worst(self) -> Fraction:
        """The strongest belief in an item of a shown set, over all sizes."""
        return max((found.breach.level for found in self.sizes), default=Fraction(0))


def measure_transactions(
    design: TransactionDesign, sigmas: Sequence[Fraction], level: Fraction | None = None
) -> TransactionFindings:
    """Measure every size of a design.

    Args:
        design: The operators.
        sigmas: The largest supports that sets of 1, 2, ... items can have.
        level: The largest belief that is to be allowed, if one is.

    Raises:
        InputError: There are no bounds, or one is out of range.
    """
    if not sigmas:
        raise InputError("must say how frequent sets of 1, 2, ... items can be", field="supports")
    found = []
    for size in (size for size in design.sizes if size):
        operator = design.operator(size)
        usual = [belief for belief in size_beliefs(operator, sigmas[0], design.universe) if belief.chance >= RARE]
        found.append(
            SizeFindings(
                size=size,
                breach=breach_bound(operator, sigmas),
                shown=breach_bound(operator, sigmas[:1]).level,
                absent=absent_belief(operator, sigmas[0]),
                telling=max(usual, key=lambda belief: belief.belief, default=None),
                ratio=likelihood_ratio(operator, design.universe),
            )
        )
    return TransactionFindings(tuple(sigmas), level, tuple(found))
