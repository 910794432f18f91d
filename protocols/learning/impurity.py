"""Measures of impurity, what a split reduces them by, and which attributes a model relies on (DESIGN 5.3).

The measures (Hybrid equations 1 and 2) are of one table of counts or of many at once: all functions but the gradient
take stacks, of which only the last axes are read as counts.

What a model owes to an attribute is of a tree the total decrease of impurity per attribute (Breiman et al. 1984), of
naive Bayes the mutual information of attribute and class.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import ArrayLike

from protocols.counts import positive_part
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Split, Tree
from protocols.tables import Floats
from protocols.terms import Impurity

TIE = 1e-9


def entropy(counts: ArrayLike) -> Floats:
    """Return `-sum Q log2 Q` of non-negative counts along the last axis, with `0 log 0 = 0`.

    >>> float(entropy([2, 2]))
    1.0
    """
    values: Floats = np.asarray(counts, dtype=np.float64)
    total = values.sum(axis=-1, keepdims=True)
    shares = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: Floats = 0.0 - (shares * logarithms).sum(axis=-1)
    return bits


def gini(counts: ArrayLike) -> Floats:
    """Return Gini's index `1 - sum Q^2` of non-negative counts along the last axis (Breiman et al. 1984); 0 of none.

    >>> float(gini([2, 2]))
    0.5
    """
    values: Floats = np.asarray(counts, dtype=np.float64)
    total = values.sum(axis=-1)
    squares = (values * values).sum(axis=-1)
    index: Floats = 1.0 - np.divide(squares, total * total, out=np.ones_like(total), where=total > 0)
    return index


def gain(tables: ArrayLike) -> Floats:
    """Return `H(class) - sum_v N(v)/N H(class | v)` of `values x classes` matrices of counts.

    >>> float(gain([[3, 0], [0, 3]]))
    1.0
    """
    return _decrease(entropy, tables)


def _decrease(impurity: Callable[[ArrayLike], Floats], tables: ArrayLike) -> Floats:
    """Return how much less the mean impurity of the values is than that of all records."""
    counts: Floats = np.asarray(tables, dtype=np.float64)
    sizes = counts.sum(axis=-1)
    total = sizes.sum(axis=-1)
    inside = (sizes * impurity(counts)).sum(axis=-1)
    mean_inside = np.divide(inside, total, out=np.zeros_like(inside), where=total > 0)
    less: Floats = impurity(counts.sum(axis=-2)) - mean_inside
    return less


def split_information(tables: ArrayLike) -> Floats:
    """Return the entropy of the values themselves, in bits: the gain ratio's divisor (Quinlan 1986, "IV")."""
    return entropy(np.asarray(tables, dtype=np.float64).sum(axis=-1))


def merit(tables: ArrayLike, impurity: Impurity) -> Floats:
    """Return what a split by an attribute of these counts (`values x classes`) is worth by this measure.

    The gain ratio of an attribute of which one value alone has records is 0: so is its gain.

    >>> float(merit([[3, 0], [0, 3]], Impurity.GAIN_RATIO)), float(merit([[3, 0], [0, 3]], Impurity.GINI))
    (1.0, 0.5)
    """
    match impurity:
        case Impurity.INFORMATION_GAIN:
            return gain(tables)
        case Impurity.GINI:
            return _decrease(gini, tables)
        case Impurity.GAIN_RATIO:
            bits, divisor = gain(tables), split_information(tables)
            ratio: Floats = np.divide(bits, divisor, out=np.zeros_like(bits), where=divisor > 0)
            return ratio


def noise_merit(tables: ArrayLike, noises: ArrayLike, impurity: Impurity) -> Floats:
    """Return what errors of estimates add to the merit of an attribute that says nothing, on average (DESIGN 5.3).

    Where the counts of a node, `N(v)` of a value and `N(c)` of a class are about right, and each cell departs by `r`
    from `N(v) N(c)/N` (`noises` are the expected `r^2`), the gain is `sum r^2/(2 ln 2 N(v) N(c))` and the decrease of
    Gini's index `sum r^2/(N N(v))` to second order. A branch can bring no more than its share of all that there is to
    gain. Of the gain ratio this is the gain's, divided as it is. No estimate is negative (`... x values x classes`).
    """
    counts, spread = np.asarray(tables, dtype=np.float64), np.maximum(noises, 0.0)
    sizes, classes = counts.sum(axis=-1), counts.sum(axis=-2)
    total = classes.sum(axis=-1)[..., None]
    of_class = np.ones_like(classes) / np.maximum(total, TIE)
    if impurity != Impurity.GINI:
        of_class = np.divide(1 / (2 * log(2)), classes, out=np.zeros_like(classes), where=classes > 0)
    brought = (spread * of_class[..., None, :]).sum(axis=-1)
    per_branch = np.divide(brought, sizes, out=np.zeros_like(brought), where=sizes > 0)
    whole = (gini if impurity == Impurity.GINI else entropy)(classes)[..., None]
    most = np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0) * whole
    bits: Floats = np.minimum(per_branch, most).sum(axis=-1)
    if impurity != Impurity.GAIN_RATIO:
        return bits
    divisor = split_information(counts)
    return np.divide(bits, divisor, out=np.zeros_like(bits), where=divisor > 0)


def merit_gradient(table: ArrayLike, impurity: Impurity) -> Floats:
    """Return the derivative of a table's merit by each cell, 0 for cells without a positive count.

    These are the delta method's weights. `N gain` is `sum N(v,c) log2(N(v,c) N / (N(v) N(c)))`, so a cell's derivative
    of the gain is that logarithm less the gain, over `N`.
    """
    counts = positive_part(np.asarray(table, dtype=np.float64))
    total = float(counts.sum())
    if total <= 0:
        return np.zeros_like(counts)
    gradient = _gini_gradient(counts) if impurity == Impurity.GINI else _gain_gradient(counts)
    if impurity == Impurity.GAIN_RATIO:
        divisor, ratio = float(split_information(counts)), float(merit(counts, impurity))
        shares = counts.sum(axis=1, keepdims=True) / total
        by_sizes = (-np.log2(shares, out=np.zeros_like(shares), where=shares > 0) - divisor) / total
        gradient = (gradient - ratio * by_sizes) / divisor if divisor > 0 else np.zeros_like(counts)
    return np.where(counts > 0, gradient, 0.0)


def _gain_gradient(counts: Floats) -> Floats:
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    gradient: Floats = (np.log2(ratio) - float(gain(counts))) / total
    return gradient


def _gini_gradient(counts: Floats) -> Floats:
    """Of `sum N(v,c)^2 / (N N(v)) - sum N(c)^2 / N^2`, which the decrease of Gini's index is."""
    total, sizes, classes = counts.sum(), counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    shares = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
    squares = (shares * shares).sum(axis=1, keepdims=True)
    inside, outside = float((sizes * squares).sum() / total), float((classes @ classes) / total**2)
    gradient: Floats = (2 * shares - squares - inside - 2 * classes / total + 2 * outside) / total
    return gradient


def importances(tree: Tree) -> Floats:
    """Return each attribute's share of all decrease of impurity, in the order of the schema; all 0 if there is none.

    A split counts by its share of the records. What the model's counts show is enough: those of a split's children are
    the table of its attribute. Trees by gain ratio are measured by the gain itself, which adds up along a path.
    """
    measure = tree.growth.impurity
    if measure == Impurity.GAIN_RATIO:
        measure = Impurity.INFORMATION_GAIN
    total = np.zeros(len(tree.schema.attributes))
    for _, node in tree.nodes():
        if isinstance(node, Split):
            table = positive_part(np.array([child.counts for child in node.children], dtype=np.float64))
            total[node.attribute] += table.sum() * max(float(merit(table, measure)), 0.0)
    whole = total.sum()
    return total / whole if whole > 0 else total


def informations(model: NaiveBayes) -> Floats:
    """Return how many bits of the class each attribute gives by itself, in the order of the schema.

    `sum_c P(c) sum_v P(v | c) log2(P(v | c) / P(v))`, the gain of the attribute by the model's chances (Hybrid equation
    2).
    """
    prior = np.exp(model.prior)
    return np.array([_bits(np.exp(table), prior) for table in model.conditional])


def _bits(chances: Floats, prior: Floats) -> float:
    joint = chances * prior
    ratios = np.divide(chances, joint.sum(axis=1, keepdims=True), out=np.ones_like(chances), where=joint > 0)
    return max(0.0, float((joint * np.log2(ratios)).sum()))
