"""Which attributes a model owes what it knows to.

Of a tree the total decrease of impurity per attribute (Breiman et al. 1984), of naive Bayes the mutual information of
attribute and class.
"""

import numpy as np

from protocols.counts import positive_part
from protocols.learning.impurity import merit
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Split, Tree
from protocols.tables.arrays import Floats
from protocols.terms import Impurity


def importances(tree: Tree) -> Floats:
    """Return each attribute's share of all decrease of impurity, in the order of the schema; all 0 if there is none.

    A split counts by its share of the records. What the model's counts show is enough: those of a split's children are
    the table of its attribute. Trees by gain ratio are measured by the gain itself, which adds up along a path.
    """
    measure = tree.growth.impurity
    if measure is Impurity.GAIN_RATIO:
        measure = Impurity.INFORMATION_GAIN
    total = np.zeros(len(tree.schema.attributes))
    for _, node in tree.nodes():
        if isinstance(node, Split):
            table = positive_part(np.array([child.counts for child in node.children], dtype=np.float64))
            total[node.attribute] += table.sum() * max(float(merit(table, measure)), 0.0)
    whole = total.sum()
    return total / whole if whole > 0 else total


def informations(model: NaiveBayes) -> Floats:
    """Return how many bits of the class each attribute tells by itself, in the order of the schema.

    `sum_c P(c) sum_v P(v | c) log2(P(v | c) / P(v))`, the gain of the attribute by the model's chances (Hybrid equation
    2).
    """
    prior = np.exp(model.prior)
    return np.array([_bits(np.exp(table), prior) for table in model.conditional])


def _bits(chances: Floats, prior: Floats) -> float:
    joint = chances * prior
    ratios = np.divide(chances, joint.sum(axis=1, keepdims=True), out=np.ones_like(chances), where=joint > 0)
    return max(0.0, float((joint * np.log2(ratios)).sum()))
