"""How many respondents a survey needs for an interval of a given half-width (DESIGN 5.2, 8).

`Estimate.interval` has the half-width `z sqrt(V/n)`, `V` the variance of one record's `f` over coins and respondents,
so `n = ceil(z^2 V / w^2)`. With `P = P(E)` and the exact moments of each touched group's factor, `s1` where the truth
satisfies its part of `E` and at most `s0` where not,

    V <= P prod s1 + (1 - P) b - P^2,     b = max over k of s0_k prod_{j != k} max(s1_j, s0_j),

and some population reaches it; a record that fails a plain term adds 0. In `P` this is a parabola with its top at
`(prod s1 - b)/2`, which is what counts if nothing is known of `P`. The half-width is the planned one: that of a survey
uses the variance found in its sample.

For many cells at once each interval gets the confidence `1 - (1 - confidence)/cells` (Bonferroni).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod
from statistics import NormalDist

from protocols.errors import InputError
from protocols.randomized_response.design import Design, Moments
from protocols.randomized_response.estimate import quantile
from protocols.randomized_response.moments import UNTOUCHED, one_false
from protocols.tables import ROOT, Expression, Term

MAX_KINDS = 2**14

TermKind = tuple[int, Fraction, Fraction]


@dataclass(frozen=True)
class SampleSize:
    """How many records are needed, 2 or more, for this half-width (a share), and what decides it.

    Args:
        variance: The bound on one record's variance that decides.
        expression: The expression that has it; None for a tree, where the bound is over all.
        groups: The groups that the deciding expression touches.
        cells: How many intervals hold at once, with this confidence.
    """

    records: int
    variance: Fraction
    expression: Expression | None
    groups: tuple[int, ...]
    cells: int
    confidence: float
    half_width: Fraction


def sample_size(
    design: Design, expression: Expression, half_width: Fraction, confidence: float, share: Fraction | None = None
) -> SampleSize:
    """Return the records needed for one expression; `share` is `P(E)` where it is roughly known, else the worst."""
    variance = record_variance(design, expression, share)
    groups = tuple(k for k, _ in design.touched(expression))
    return _needed(variance, expression, groups, 1, confidence, half_width)


def shares_sample_size(design: Design, half_width: Fraction, confidence: float) -> SampleSize:
    """Return the records needed for the share of any value of any column, each interval taken alone."""
    values = (ROOT.child(column, value) for column, size in enumerate(design.sizes) for value in range(size))
    return max((sample_size(design, each, half_width, confidence) for each in values), key=lambda size: size.records)


def naive_bayes_sample_size(design: Design, class_column: int, half_width: Fraction, confidence: float) -> SampleSize:
    """Return the records needed for all `P(c)` and `P(a and c)` at once, `a` over all other columns (Surveys 3.3)."""
    classes = [Expression((term,)) for term in _kinds(design, class_column).values()]
    attributes = [column for column in range(len(design.sizes)) if column != class_column]
    terms = [term for column in attributes for term in _kinds(design, column).values()]
    asked = [*classes, *(part & term for part in classes for term in terms)]
    worst = max(asked, key=lambda expression: record_variance(design, expression))
    groups = tuple(k for k, _ in design.touched(worst))
    cells = _tree_cells(design, class_column, 1)
    return _needed(record_variance(design, worst), worst, groups, cells, confidence, half_width)


def tree_sample_size(
    design: Design, class_column: int, depth: int, half_width: Fraction, confidence: float
) -> SampleSize:
    """Return the records needed for every cell that a tree may look at: a class and up to `depth` other columns.

    Which cells a tree looks at depends on the data, so all that it may look at count. Conservative: a group is taken
    with the largest moments that any part of up to `depth` attributes gives it, the groups that make `prod s1` and `b`
    largest are chosen for each separately, and the share is the worst. Exact where a group's parts are all alike.
    """
    _check_column(design, class_column)
    if depth < 0:
        raise InputError(f"the depth of a tree must be 0 or more, not {depth}")
    depth = min(depth, len(design.sizes) - 1)
    own = design.group_of(class_column)
    moments = {k: _largest(design, k, class_column, depth) for k in range(len(design.groups))}
    fixed = UNTOUCHED if own is None else moments.pop(own)
    chosen = sorted(moments, key=lambda k: moments[k][0], reverse=True)[:depth]
    groups = chosen if own is None else [own, *chosen]
    satisfied = fixed[0] * prod((moments[k][0] for k in chosen), start=Fraction(1))
    variance = _variance(satisfied, one_false(fixed, list(moments.values()), depth), None)
    return _needed(
        variance, None, tuple(sorted(groups)), _tree_cells(design, class_column, depth), confidence, half_width
    )


def record_variance(design: Design, expression: Expression, share: Fraction | None = None) -> Fraction:
    """Return `V`: the largest variance of one record's `f` that a population with this share of `E` can have."""
    if share is not None and not 0 <= share <= 1:
        raise InputError(f"a share must be between 0 and 1, not {share}")
    for term in expression.terms:
        _check_column(design, term.column)
        if not 0 <= term.value < design.sizes[term.column]:
            raise InputError(f"column {term.column} has the values 0 to {design.sizes[term.column] - 1}")
    moments = [design.moments(k, part) for k, part in design.touched(expression)]
    satisfied = prod((s1 for s1, _ in moments), start=Fraction(1))
    return _variance(satisfied, one_false(UNTOUCHED, moments, len(moments)), share)


def _variance(satisfied: Fraction, failed: Fraction, share: Fraction | None) -> Fraction:
    if share is None:
        share = min(max((satisfied - failed) / 2, Fraction(0)), Fraction(1))
    return share * satisfied + (1 - share) * failed - share**2


def _largest(design: Design, group: int, class_column: int, depth: int) -> Moments:
    """Return the largest `s1` and `s0` over parts of up to `depth` attributes and the class, one part of each kind."""
    columns = design.groups[group]
    parts: dict[tuple[TermKind, ...], Expression] = {(): ROOT}
    for column in columns:
        if column == class_column:
            continue
        kinds = _kinds(design, column)
        for key, part in list(parts.items()):
            if len(key) < depth:
                parts.update({tuple(sorted((*key, kind))): part & term for kind, term in kinds.items()})
        if len(parts) > MAX_KINDS:
            raise InputError(f"a group has more than {MAX_KINDS} kinds of expressions: lower the depth")
    seeds = _kinds(design, class_column).values() if class_column in columns else ()
    full = [part & term for part in parts.values() for term in seeds] if seeds else [*parts.values()][1:]
    moments = [design.moments(group, part) for part in full] or [UNTOUCHED]
    return max(s1 for s1, _ in moments), max(s0 for _, s0 in moments)


def _kinds(design: Design, column: int) -> dict[TermKind, Term]:
    """Return one term of each kind: domain size, `s1`, `s0`; any term of a plain column."""
    _check_column(design, column)
    group = design.group_of(column)
    if group is None:
        return {(1, *UNTOUCHED): Term(column, 0)}
    terms = [Term(column, value) for value in range(design.sizes[column])]
    return {(design.sizes[column], *design.moments(group, Expression((term,)))): term for term in reversed(terms)}


def _tree_cells(design: Design, class_column: int, depth: int) -> int:
    """Count the conjunctions of a class and up to `depth` other columns: `classes sum_k e_k(sizes)`."""
    counts = [1] + [0] * depth  # of k terms
    for column, size in enumerate(design.sizes):
        if column != class_column:
            for k in range(depth, 0, -1):
                counts[k] += counts[k - 1] * size
    return design.sizes[class_column] * sum(counts)


def _needed(
    variance: Fraction,
    expression: Expression | None,
    groups: tuple[int, ...],
    cells: int,
    confidence: float,
    half_width: Fraction,
) -> SampleSize:
    if not 0 < half_width < 1:
        raise InputError(f"a half-width must lie between 0 and 1, both excluded, not {half_width}")
    deviations = quantile(confidence)
    if cells > 1:
        tail = float(Fraction(1 - confidence) / (2 * cells))
        if not tail:
            raise InputError("too many cells to plan for at once: take a smaller depth, or merge values")
        deviations = -NormalDist().inv_cdf(tail)
    records = max(2, ceil(Fraction(deviations) ** 2 * variance / half_width**2))
    return SampleSize(records, variance, expression, groups, cells, confidence, half_width)


def _check_column(design: Design, column: int) -> None:
    if not 0 <= column < len(design.sizes):
        raise InputError(f"column {column} is unknown: columns are 0 to {len(design.sizes) - 1}")
