"""What the mined tree of `randomized` tells the side that has no class, which knows its own copy as it was sent."""

from fractions import Fraction
from math import sqrt

import numpy as np

from protocols.randomized_response.related_question import disguise
from protocols.role import run_pair
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_roles, make_terms

RECORDS, THETA = 300, Fraction(2, 3)


def test_counts_of_a_mined_tree_tell_weighted_sums_of_classes_far_more_exactly_than_the_copy() -> None:
    """Bob knows each record's weight in a count (DESIGN 5.2). Where nothing was projected away he learns their sum."""
    codes = correlated((1, 2, 2, 2, 2), RECORDS, seed=3, flips=0.5)
    terms = make_terms(method="randomized", theta=THETA, min_leaf=5, test=Fraction(0))
    case = Case({"alice": (1,), "bob": (2, 2, 2)}, ("alice",), 2, codes, {"alice": 1, "bob": 3}, terms)
    (_, outcome), _ = run_pair(*make_roles(case))
    bob = make_local(case, "bob")
    design = bob.design(THETA, class_is_shared=False)
    sent, theta = disguise(bob.table.codes, bob.coins(design), design), float(THETA)
    contrast = 2 * theta - 1
    for node, told in outcome.tree.walk():
        if len(node.terms) == 1:
            (term,) = node.terms
            weights = np.where(sent[:, term.column - 1] == term.value, theta, theta - 1) / contrast
            copy_error = sqrt((weights**2).sum() * theta * (1 - theta)) / contrast
            for label, count in enumerate(told.counts):
                assert abs(weights[codes[:, -1] == label].sum() - count) < copy_error / 15
