"""Privacy breaches of itemsets, and the weakest randomizer that prevents them (Review sections 3.2, 3.5; DESIGN 9).

A *breach of level b*: a randomized transaction shows all of `A`, and the chance that some item `a` of `A` was in the
true one is `b` or more. For any distribution of transactions of one size

    P[a in t | A in t'] = sum_l s_l^(a) p[l -> k] / sum_l s_l p[l -> k],   s_l^(a) = P[l items of A are in t, a is one].

The Review's worst case is that every `j` items of `A` have the largest support `sigma_j` that transactions of the size
allow. By inclusion and exclusion `s_l = sum_{j >= l} (-1)^(j - l) C(j, l) C(k, j) sigma_j`, and `s_l^(a) = (l/k) s_l`.

NB: that case is not the worst. Where the other items of `A` are only found together with `a`, fewer transactions show
`A` without holding `a`, and the belief is higher: 0.59 where the Review's case has 0.50 (DESIGN 9.3). `breach_bound`
holds for every distribution with such supports.

Breaches ask only what a shown itemset makes likely. Measured apart is what else the receiver sees; what it knows from
elsewhere is set aside (Review section 3.2):

* An absent item: `P[a in t | a not in t']`, at most the prior wherever foreign items are rarer than own ones.
* The size of `t'`: few items leave little room for foreign ones, so a shown item is likelier to be true.
* The loss `epsilon`: two transactions of one size give one response with chances that differ at most by the factor
  `e^epsilon`. A response of `z` items, `i` of them own, has the chance `p_m[j = i]/C(m, i)` times that of one set of
  `z - i` foreign items; all overlaps `i` that two transactions can have with one response occur.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm

from protocols.association.operators import Operator, transition
from protocols.errors import InputError

RESOLUTION = 1000


@dataclass(frozen=True)
class ItemsetBreach:
    """The strongest belief in an item of a set of `items` that is shown whole."""

    items: int
    level: Fraction


def posterior(operator: Operator, partial: Sequence[Fraction], with_item: Sequence[Fraction]) -> Fraction | None:
    """Return `P[a in t | A in t']`; None if such transactions never show all of `A`.

    `partial` has `s_l` for `l = 0 .. k`, `with_item` has `s_l^(a)`.
    """
    if len(with_item) != len(partial) or any(
        not 0 <= part <= whole for part, whole in zip(with_item, partial, strict=True)
    ):
        raise InputError("the shares with the item must be at least 0 and at most those of the set")
    shown = transition(operator, len(partial) - 1)[-1]
    every = sum((share * chance for share, chance in zip(partial, shown, strict=False)), Fraction(0))
    own = sum((share * chance for share, chance in zip(with_item, shown, strict=False)), Fraction(0))
    return own / every if every else None


def worst_shares(sigmas: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return `s_0 .. s_k` where every `j` items of a set of `k` have the support `sigmas[j - 1]`."""
    k, sigma = len(sigmas), (Fraction(1), *sigmas)
    shares = tuple(
        sum(((-1) ** (j - held) * comb(j, held) * comb(k, j) * sigma[j] for j in range(held, k + 1)), Fraction(0))
        for held in range(k + 1)
    )
    if min(shares) < 0:
        at = next(held for held, share in enumerate(shares) if share < 0)
        raise InputError(
            f"no transactions have the supports {', '.join(map(str, sigmas))} for sets of 1 to {k} items: "
            f"the share that holds {at} of {k} items would be {shares[at]}; change one of them"
        )
    return shares


def worst_breach(operator: Operator, sigmas: Sequence[Fraction]) -> ItemsetBreach:
    """Return the strongest belief in the Review's worst case over itemsets of 1 to `min(len(sigmas), m)` items.

    `sigmas` are the largest supports that sets of 1, 2, ... items can have among transactions of this size.
    """
    _check_sigmas(sigmas)
    worst = ItemsetBreach(1, Fraction(0))
    for k in range(1, min(len(sigmas), operator.size) + 1):
        shares = worst_shares(sigmas[:k])
        level = posterior(operator, shares, [share * Fraction(held, k) for held, share in enumerate(shares)])
        if level is not None and level > worst.level:
            worst = ItemsetBreach(k, level)
    return worst


def breach_bound(operator: Operator, sigmas: Sequence[Fraction]) -> ItemsetBreach:
    """Return a belief that no distribution with these supports exceeds, over itemsets of up to `len(sigmas)` items.

    With `d_j` the `j`-th difference of `p[l -> k]` at `l = 1`, the chance that `A` is shown and `a` is there is the
    sum, over sets of `j` other items of `A`, of `d_j` times the support of `a` with them: at most `N = sum_j C(k - 1,
    j) max(d_j, 0) sigma_(j+1)`. That `A` is shown without `a` has a chance of at least `D = (1 - sigma_1) min_l p[l ->
    k]`. So the belief is at most `N/(N + D)`. Cut-and-paste has no negative difference: there `p[l -> k] = sum_r C(l,
    r) c_r` with `c_r = rho^k (1/rho - 1)^r P(r given own items are cut)`, and the bound is reached wherever supports
    can be so.
    """
    _check_sigmas(sigmas)
    worst = ItemsetBreach(1, Fraction(0))
    for k in range(1, min(len(sigmas), operator.size) + 1):
        shown = transition(operator, k)[-1]
        own = Fraction(0)
        for j in range(k):
            difference = sum(((-1) ** (j - i) * comb(j, i) * shown[1 + i] for i in range(j + 1)), Fraction(0))
            own += comb(k - 1, j) * max(difference, Fraction(0)) * sigmas[j]
        other = (1 - sigmas[0]) * min(shown)
        if own and own / (own + other) > worst.level:
            worst = ItemsetBreach(k, own / (own + other))
    return worst


def _check_sigmas(sigmas: Sequence[Fraction]) -> None:
    if not sigmas or any(not 0 <= sigma <= 1 for sigma in sigmas):
        raise InputError("bounds on supports must be given for sets of 1 item at least, each between 0 and 1")


def smallest_rho(
    make: Callable[[Fraction], Operator],
    sigmas: Sequence[Fraction],
    level: Fraction,
    measure: Callable[[Operator, Sequence[Fraction]], ItemsetBreach] = worst_breach,
    resolution: int = RESOLUTION,
) -> Fraction:
    """Return the smallest rho, in `1/resolution`, whose worst breach is at most `level` (Review section 3.5)."""
    if not 0 < level < 1:
        raise InputError("must lie strictly between 0 and 1", field="level")
    if resolution < 2:
        raise InputError("must be 2 or more", field="resolution")

    def keeps(rho: int) -> bool:
        return measure(make(Fraction(rho, resolution)), sigmas).level <= level

    low, high = 0, resolution - 1
    if not keeps(high):
        raise InputError(
            f"no rho up to {high}/{resolution} keeps beliefs at {level}: "
            "allow a higher level, or write as supports only what at least this many baskets hold for certain"
        )
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle + 1, high)
    return Fraction(high, resolution)


@dataclass(frozen=True)
class SizeBelief:
    """Belief in a shown item where the randomized transaction has `shown` items, which has this chance."""

    shown: int
    chance: float
    belief: float


def absent_belief(operator: Operator, support: Fraction) -> Fraction | None:
    """Return `P[a in t | a not in t']` for an item of this support; None if every transaction shows it."""
    _check(operator, support)
    hidden = transition(operator, 1)[0]
    every = (1 - support) * hidden[0] + support * hidden[1]
    return support * hidden[1] / every if every else None


def size_beliefs(operator: Operator, support: Fraction, universe: int) -> list[SizeBelief]:
    """Return the belief in a shown item of this support, for each size of the randomized transaction."""
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
    """Return `e^epsilon`: the largest ratio of the chances of one response to two transactions; None if infinite."""
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
