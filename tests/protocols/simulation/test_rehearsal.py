"""What is rehearsed in one process is what a run of both then gives: tree, bits and counts, and how good it is."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from protocols.role import run_pair
from protocols.secret_tree.bits import Allowance
from protocols.simulation.rehearsal import rehearse
from protocols.terms import Impurity, Leaves, Splits
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.secret import parts_of
from tests.support.cases import cases
from tests.support.examples import at_most, few
from tests.support.parties import Case, make_local, make_roles, make_terms

WAYS: Mapping[str, dict[str, Any]] = {
    "smc, the tree alone": {"method": "smc", "reveal": "tree", "max_depth": 3},
    "smc, two-way": {"method": "smc", "reveal": "tree", "max_depth": 3, "splits": Splits.TWO_WAY},
    "smc, few bits": {"method": "smc", "reveal": "tree", "max_depth": 3, "most_bits": 9},
    "smc, tenths": {"method": "smc", "reveal": "tree", "max_depth": 2, "leaves": Leaves.TENTHS, "min_leaf": 100},
    "smc, weights": {"method": "smc", "reveal": "tree", "max_depth": 2, "min_leaf": 18, "weights": ("v1=5/2",)},
    "smc, weights and few bits": {
        "method": "smc", "reveal": "tree", "max_depth": 3, "min_leaf": 18, "weights": ("v1=5/2",), "most_bits": 9,
    },
    "smc, noise in the tree": {
        "method": "smc", "reveal": "tree", "max_depth": 2, "noise": Fraction(4), "impurity": Impurity.GINI,
    },
    "smc, noise in counts": {"method": "smc", "max_depth": 2, "noise": Fraction(4)},
    "hybrid, the tree alone": {"omega": 1, "reveal": "tree", "max_depth": 3},
    "hybrid, counts": {"omega": 2, "max_depth": 3},
    "hybrid, gini": {"omega": 1, "impurity": Impurity.GINI},
    "randomized": {"method": "randomized", "max_depth": 3},
    "randomized, few bits": {"method": "randomized", "reveal": "tree", "max_depth": 3, "most_bits": 12},
}  # fmt: skip


def assert_played(case: Case, alice: PartyInputs, bob: PartyInputs) -> None:
    """Hold a rehearsal against a run."""
    (agreed, outcome), _ = run_pair(*make_roles(case, alice, bob))
    found = rehearse(alice, bob, case.terms)
    assert rehearse(bob, alice, case.terms).tree == found.tree
    assert found.tree == outcome.tree
    assert found.revealed == outcome.exact_counts_disclosed
    assert case.terms.hides_counts or found.computations == outcome.smc_computations
    if case.terms.opens_tree and case.terms.noise is None:
        limits = Allowance.of(agreed.learning.schema, case.terms, len(case.codes))
        assert (found.bits, found.most_bits) == (limits.spent(outcome.tree), limits.at_most)
    _, test = parts_of(alice.bringing(case.terms), agreed)
    codes = case.codes[test]  # whose columns are in the agreed order
    if not len(test):
        assert found.scores is None
        return
    predicted = outcome.tree.predict(agreed.learning.schema.recode(codes))
    assert found.scores is not None
    assert found.scores.accuracy().value == pytest.approx((predicted == codes[:, -1]).mean())
    assert found.scores.noise == (0.0 if outcome.scores is None else outcome.scores.table.noise)
    if not case.terms.hides_counts and case.terms.counts_exactly and case.terms.noise is None:
        assert outcome.correct == (predicted == codes[:, -1]).sum()


@pytest.mark.parametrize("way", few([*WAYS], 2))
@settings(max_examples=at_most(12, least=1))
@given(case=cases(rows=120))
def test_it_gives_the_tree_of_a_run_and_says_what_that_reveals(way: str, case: Case) -> None:
    given = {"theta": case.terms.theta, "seed": case.terms.seed, "test": case.terms.test}
    terms = make_terms(**{**given, **WAYS[way]})
    assume(case.classes == 2 or not (terms.noise or terms.impurity is Impurity.GINI) or not terms.hides_counts)
    enough = 1 if terms.min_leaf == 1 else 5 * terms.min_leaf // len(case.codes) + 1
    case = replace(case, terms=terms, codes=np.tile(case.codes, (enough, 1)))
    assert_played(case, make_local(case, "alice"), make_local(case, "bob"))
