"""Which attributes a tree owes its order to: the total decrease of impurity per attribute (Breiman et al. 1984)."""

import numpy as np

from protocols.counts import positive_part
from protocols.learning.impurity import merit
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
