"""Association rules between parts of frequent itemsets, their confidence with its error (DESIGN 9.4).

The Review's title speaks of rules and its text stops at itemsets. The confidence of `A => U - A` is estimated by the
ratio `s~_U/s~_A` of two dependent estimates; its error follows by the delta method,

    Var c ~ (Var s~_U - 2 c Cov(s~_A, s~_U) + c^2 Var s~_A) / s~_A^2,

with the covariance estimated from how many transactions hold exactly which items of `U`. A ratio is not unbiased, and
where `s~_A` is not clearly above 0 its error says little; where it is 0 or below there is no confidence at all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protocols.association.apriori import MinedItemsets
from protocols.association.lattice import Lattice, Level, Reals, Tallies

Shares = NDArray[Any]
"""Floats, or fractions as objects."""
_BLOCK_CELLS = 2**22
_NEAR = 1e-9  # of a measure and a threshold that floats cannot tell apart


@dataclass(frozen=True)
class RuleEstimate:
    """A rule: transactions that hold the antecedent hold the consequent too, in this share of cases.

    `supports` are of both together, of the antecedent, of the consequent; `support_error` is the first one's. A
    confidence whose variance is estimated as negative has the error 0.
    """

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]
    supports: tuple[float, float, float]
    support_error: float
    confidence: float
    confidence_error: float


Supports = tuple[Fraction, Fraction, Fraction]
"""Of both sides of a rule together, of its antecedent, of its consequent."""


@dataclass(frozen=True)
class MinedRules:
    """Rules, and how many have no confidence: the support of the antecedent is estimated as 0 or less.

    `exact` returns the supports of one of them without rounding: where a measure meets a threshold they decide.
    """

    rules: tuple[RuleEstimate, ...]
    undefined: int
    exact: Callable[[RuleEstimate], Supports] = field(compare=False)

    @classmethod
    def of(cls, rules: Iterable[RuleEstimate | None], exact: Callable[[RuleEstimate], Supports]) -> Self:
        """Return these rules, of which those without a confidence are None."""
        found = list(rules)
        return cls(tuple(rule for rule in found if rule is not None), found.count(None), exact)

    def reached(self, metric: str, least: Fraction) -> NDArray[np.bool_]:
        """Return for every rule whether a measure of it is at least this; fractions decide what floats cannot."""
        shares = np.array([rule.supports for rule in self.rules], dtype=np.float64).reshape(-1, 3)
        values = rule_metrics(*shares.T)[metric]
        found: NDArray[np.bool_] = values >= float(least)
        with np.errstate(invalid="ignore"):  # what is infinite is not near
            near = np.flatnonzero(np.abs(values - float(least)) <= _NEAR * max(1.0, abs(float(least))))
        if len(near):
            supports = np.array([self.exact(self.rules[place]) for place in near], dtype=object)
            found[near] = (rule_metrics(*supports.T)[metric] >= least).astype(np.bool_)
        return found


def mine_rules(mined: MinedItemsets) -> MinedRules:
    """Return the rules of all frequent itemsets."""
    parts = (part for level in mined.frequent() for part in _parts(level, len(mined.lattice.sizes)))
    rules = (rule for part in parts for rule in _rules(mined.lattice, part))
    return MinedRules.of(rules, partial(_supports, mined.lattice))


def _supports(lattice: Lattice, rule: RuleEstimate) -> Supports:
    both = sorted(rule.antecedent + rule.consequent)
    whole, inner, outer = map(lattice.exact_share, (both, rule.antecedent, rule.consequent))
    return whole, inner, outer


def confidence_error(confidence: Reals, union: Reals, inner: Reals, covariance: Reals, support: Reals) -> Reals:
    """Return standard errors of ratios by the delta method."""
    variance = (union - 2 * confidence * covariance + confidence**2 * inner) / support**2
    return np.sqrt(np.maximum(variance, 0))


def rule_metrics(both: Shares, antecedent: Shares, consequent: Shares) -> dict[str, Shares]:
    """Return the usual measures of rules from three supports, floats or fractions, by mlxtend's names.

    Where a measure is not defined it is what mlxtend makes it: conviction is infinite for a confidence of 1 or more,
    Zhang's metric and certainty are 0 where they would divide by 0.
    """
    confidence, rest = _ratio(both, antecedent, np.nan), 1 - consequent
    leverage = both - antecedent * consequent
    zhang = np.maximum(both * (1 - antecedent), antecedent * (consequent - both))
    return {
        "antecedent support": antecedent,
        "consequent support": consequent,
        "support": both,
        "confidence": confidence,
        "lift": _ratio(both, antecedent * consequent, np.nan),
        "representativity": np.ones_like(both),
        "leverage": leverage,
        "conviction": np.where(confidence < 1, _ratio(rest, 1 - confidence, np.inf), np.inf),
        "zhangs_metric": _ratio(leverage, zhang, 0),
        "jaccard": _ratio(both, antecedent + consequent - both, np.nan),
        "certainty": _ratio(confidence - consequent, rest, 0),
        "kulczynski": (confidence + _ratio(both, consequent, np.nan)) / 2,
    }


def _ratio(part: Shares, whole: Shares, undefined: float) -> Shares:
    found: Shares = np.full(part.shape, undefined, dtype=part.dtype)
    np.divide(part, whole, out=found, where=whole != 0)
    return found


def _parts(level: Level, sizes: int) -> Iterator[Level]:
    """Cut a level into parts whose patterns fit in memory."""
    k = level.itemsets.shape[1]
    most = max(1, _BLOCK_CELLS // (2**k * max(sizes, 1)))
    numbers = np.arange(len(level))
    return (level.chosen((numbers >= at) & (numbers < at + most)) for at in range(0, len(level), most))


def _rules(lattice: Lattice, level: Level) -> Iterator[RuleEstimate | None]:
    """Yield the rules of every set, set by set; None for one without a confidence."""
    k = level.itemsets.shape[1]
    outer = lattice.factors(k, range(k))
    exact = lattice.patterns(level.itemsets, level.counts)
    inner = [part for number in range(1, k) for part in combinations(range(k), number)]
    columns = [_of_part(lattice, level, exact, outer, part) for part in inner]
    for row in range(len(level)):
        for part, column in zip(inner, columns, strict=True):
            yield column.rule(level, row, part)


@dataclass(frozen=True, eq=False, repr=False)
class _Column:
    """The rules of many sets whose antecedents are in the same places."""

    antecedent: Reals
    consequent: Reals
    confidence: Reals
    error: Reals

    def rule(self, level: Level, row: int, part: tuple[int, ...]) -> RuleEstimate | None:
        if not self.antecedent[row] > 0:
            return None
        items = level.itemsets[row].tolist()
        return RuleEstimate(
            tuple(items[i] for i in part),
            tuple(item for i, item in enumerate(items) if i not in part),
            (float(level.shares[row]), float(self.antecedent[row]), float(self.consequent[row])),
            float(np.sqrt(max(level.variances[row], 0))),
            float(self.confidence[row]),
            float(self.error[row]),
        )


def _of_part(lattice: Lattice, level: Level, exact: Tallies, outer: Reals, part: tuple[int, ...]) -> _Column:
    k, total = level.itemsets.shape[1], float(lattice.transactions)
    rest = [i for i in range(k) if i not in part]
    below, beside = lattice.levels[len(part) - 1], lattice.levels[len(rest) - 1]
    inner = lattice.find(level.itemsets[:, list(part)])
    products = np.einsum("cps,ps->c", exact, outer * lattice.factors(k, part)) / total
    covariance = (products - level.shares) / total
    support = below.shares[inner]
    with np.errstate(divide="ignore", invalid="ignore"):  # a rule without confidence is left out
        confidence = level.shares / support
        error = confidence_error(confidence, level.variances, below.variances[inner], covariance, support)
    return _Column(support, beside.shares[lattice.find(level.itemsets[:, rest])], confidence, error)
