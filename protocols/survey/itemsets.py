"""Itemsets and rules over the columns of a group-disguised table: Du-Zhan 2003 name it as future work.

An item is a column with a value, a set holds one item per column at most, and so is an expression `E` whose share can
be estimated already (`randomized_response.estimate`). Apriori as of DESIGN 9.4: a set is dropped below `s_min -
sigma`, output at `s_min` and above. A set is of the records that gave an answer in all its columns; a rule's
confidence is of those that gave one in all columns of both sides, and its error is by the delta method: `f_A f_U -
f_U` is an unbiased estimate of the covariance of what one record adds, since the expectations of `f_A` and `f_U` are
0 or 1 and that of the latter is the smaller. Errors are those of the coins.

A set whose standard error is `s_min` or more cannot be judged: it is left out and counted, and nothing is built on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protocols.association.own_sets import TermSet, larger_sets
from protocols.association.rules import MinedRules, RuleEstimate, Supports, confidence_error
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_of, record_factors
from protocols.tables import Codes, Expression, Term

MAX_CANDIDATE_SETS = 100_000


@dataclass(frozen=True)
class ColumnSet:
    """A set of items, by rising columns, with its estimated share of the records that gave an answer in all of them.

    The variance is over the coins, and may be negative.
    """

    terms: TermSet
    share: Fraction
    variance: Fraction


@dataclass(frozen=True, eq=False, repr=False)
class MinedColumns:
    """What was found in a disguised table: sets of an estimated share of `s_min` or more, fewest items first.

    `noisy` sets were left out since their errors are as large as the threshold.
    """

    threshold: Fraction
    sets: tuple[ColumnSet, ...]
    noisy: int
    codes: Codes
    design: Design


def mine_columns(codes: Codes, design: Design, min_support: Fraction, max_len: int | None = None) -> MinedColumns:
    """Find the sets of up to `max_len` columns with values whose estimated share is at least `min_support`."""
    if not 0 < min_support <= 1:
        raise InputError("must be above 0 and at most 1", field="min_support")
    if max_len is not None and max_len < 1:
        raise InputError("must be 1 or more", field="max_len")
    if not len(codes):
        raise InputError("there are no records to mine")
    least, found, noisy = float(min_support), [], 0
    candidates: list[TermSet] = [(item,) for item in column_items(design)]
    for _ in range(len(design.sizes) if max_len is None else min(max_len, len(design.sizes))):
        if len(candidates) > MAX_CANDIDATE_SETS:
            raise InputError(
                f"there are {len(candidates):,} candidates of one size: raise min_support, or lower max_len"
            )
        kept: list[TermSet] = []
        for terms in candidates:
            known = estimate_set(codes, design, terms)
            error = np.sqrt(max(float(known.variance), 0.0)) if known is not None else np.inf
            if known is None or error >= least:
                noisy += 1
            elif known.share >= min_support:
                kept.append(terms)
                found.append(known)
            elif known.share >= least - error:
                kept.append(terms)
        candidates = list(larger_sets(kept))
    return MinedColumns(min_support, tuple(found), noisy, codes, design)


def column_items(design: Design) -> list[Term]:
    """Return all items: every value of every column, in their order."""
    return [Term(column, value) for column, size in enumerate(design.sizes) for value in range(size)]


def estimate_set(codes: Codes, design: Design, terms: TermSet) -> ColumnSet | None:
    """Estimate one set; None if nobody gave an answer in all its columns."""
    answers = _answered(codes, design, terms)
    if not len(answers):
        return None
    estimate = estimate_of(record_factors(answers, Expression(terms), design))
    return ColumnSet(terms, estimate.proportion, estimate.variance / estimate.records**2)


def column_rules(mined: MinedColumns) -> MinedRules:
    """Return the rules of all sets that were found; their items are numbered as by `column_items`."""
    rules = (
        _rule(mined, union.terms, first)
        for union in mined.sets
        for number in range(1, len(union.terms))
        for first in combinations(union.terms, number)
    )
    return MinedRules.of(rules, partial(_supports, mined))


def _supports(mined: MinedColumns, rule: RuleEstimate) -> Supports:
    """Return the supports of a rule as fractions."""
    items = column_items(mined.design)
    first, rest = (tuple(sorted(items[item] for item in part)) for part in (rule.antecedent, rule.consequent))
    union = tuple(sorted(first + rest))
    answers = _answered(mined.codes, mined.design, union)
    whole, inner, outer = (
        estimate_of(record_factors(answers, Expression(terms), mined.design)).proportion
        for terms in (union, first, rest)
    )
    return whole, inner, outer


def _rule(mined: MinedColumns, union: TermSet, first: TermSet) -> RuleEstimate | None:
    rest = tuple(term for term in union if term not in first)
    whole, inner, outer = _contributions(mined.codes, mined.design, [union, first, rest])
    total, shares = len(whole), [float(part.mean()) for part in (whole, inner, outer)]
    if shares[1] <= 0:
        return None
    ratio = shares[0] / shares[1]
    union_spread, inner_spread, covariance = (
        (float((part * other).mean()) - least) / total
        for part, other, least in ((whole, whole, shares[0]), (inner, inner, shares[1]), (inner, whole, shares[0]))
    )
    error = confidence_error(
        *map(np.atleast_1d, (ratio, union_spread, inner_spread, covariance, shares[1]))  # one rule at a time
    )
    number = {term: index for index, term in enumerate(column_items(mined.design))}
    names = [tuple(number[term] for term in part) for part in (first, rest)]
    return RuleEstimate(
        names[0],
        names[1],
        (shares[0], shares[1], shares[2]),
        float(np.sqrt(max(union_spread, 0))),
        ratio,
        float(error[0]),
    )


def _contributions(codes: Codes, design: Design, sets: list[TermSet]) -> list[NDArray[np.float64]]:
    """Return what each record adds to the shares of these sets, of the records with an answer in all their columns."""
    answers = _answered(codes, design, {term for terms in sets for term in terms})
    found = []
    for terms in sets:
        factors = record_factors(answers, Expression(terms), design)
        found.append(np.array(list(map(float, factors.values)))[factors.kinds])
    return found


def _answered(codes: Codes, design: Design, terms: Iterable[Term]) -> Codes:
    """Return the records with an answer in all columns of these items."""
    return codes[design.answered(codes, sorted({term.column for term in terms}))]
