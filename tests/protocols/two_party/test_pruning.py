"""Two parties prune as one would that has the joined records, and tell no more than two numbers per split."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocols.learning.tree import Leaf, Node, Split
from protocols.messages import ExactCounts
from protocols.role import Transcript
from protocols.terms import NO_SHARE, Impurity, TermError
from protocols.two_party.split import split_records
from tests.protocols.two_party.test_equals_plain_id3 import SECURE_WAYS
from tests.support.cases import cases
from tests.support.parties import Case, make_terms, play
from tests.support.plain import ReferenceId3

WAYS = {**SECURE_WAYS, "dot products on the curve": {**SECURE_WAYS["dot products"], "cipher": "curve"}}


@dataclass
class PlainPruning:
    """Reduced-error pruning on joined rows that end with the class; `asked` counts the numbers that it needs."""

    smallest: Fraction
    asked: int = 0

    def prune(self, node: Node, rows: Sequence[Sequence[int]]) -> tuple[Node, int]:
        """Return what is left of a node, and how many of the rows that reach it it gets right."""
        if isinstance(node, Leaf):
            return node, sum(row[-1] == node.label for row in rows)
        label = node.counts.index(max(node.counts))
        cut = Leaf(node.counts, label), sum(row[-1] == label for row in rows)
        if round(sum(node.counts)) < self.smallest:
            return cut
        parts = [[row for row in rows if row[node.attribute] == v] for v in range(len(node.children))]
        ends = [isinstance(child, Leaf) or round(sum(child.counts)) < self.smallest for child in node.children]
        self.asked += 1 + any(ends)
        pruned = [self.prune(child, part) for child, part in zip(node.children, parts, strict=True)]
        right = sum(each for _, each in pruned)
        children = tuple(child for child, _ in pruned)
        if right <= cut[1]:
            return cut
        labels = {child.label if isinstance(child, Leaf) else None for child in children}
        if len(labels) == 1 and None not in labels:
            return Leaf(node.counts, children[0].label), right  # type: ignore[union-attr]
        return Split(node.counts, node.attribute, children), right


def shares() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "prune": st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(2, 3)]),
            "max_depth": st.none() | st.integers(1, 3),
            "min_leaf": st.integers(1, 3),
            "impurity": st.sampled_from(Impurity),
        }
    )


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=12)
@given(case=cases(rows=70, sizes=(2, 3)), changed=shares())
def test_the_tree_is_that_of_plain_pruning_and_no_other_count_crosses(
    way: str, case: Case, changed: dict[str, Any]
) -> None:
    terms = replace(case.terms, **WAYS[way], **changed, test=Fraction(1, 10))
    train, test, pruning = split_records(terms.seed, len(case.codes), terms.test, terms.prune)
    assume(len(train) and 2 * terms.min_leaf <= len(train))
    sizes = [*case.sizes["alice"], *case.sizes["bob"]]
    reference = ReferenceId3(sizes, case.classes, terms.max_depth, terms.min_leaf, terms.impurity, case.without_class)
    grown = reference.grow(case.codes[train].tolist())
    plain = PlainPruning(Fraction(2 * terms.min_leaf * len(train), len(pruning)) if len(pruning) else Fraction(0))
    expected = plain.prune(grown, case.codes[pruning].tolist())[0] if len(pruning) else grown
    crossed = Transcript()
    alice, bob = play(replace(case, terms=terms), crossed)
    assert alice == bob
    assert alice.tree.root == expected
    assert alice.tree.growth.prune == terms.prune
    levels = [sum(level) for level in reference.asked.values()]
    batches = [*levels, *([plain.asked] if plain.asked else []), *([1] if len(test) else [])]
    assert [len(m.values) for m in (*crossed.sent_by_a, *crossed.sent_by_b) if isinstance(m, ExactCounts)] == batches
    assert alice.exact_counts_disclosed == sum(batches) + case.classes
    assert alice.correct == (
        (alice.tree.predict(case.codes[test]) == case.codes[test, -1]).sum() if len(test) else None
    )


def noisy_case(**changes: Any) -> Case:
    """Return a case of which the class is a column of Alice's, but for one record in four."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 2, size=(160, 5)).astype(np.uint8)
    codes[:, -1] = codes[:, 0] ^ (random.random(160) < 0.25)
    terms = make_terms(prune=Fraction(1, 3), test=Fraction(1, 4), **changes)
    return Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, terms)


def test_pruning_cuts_what_is_chance_and_keeps_what_is_not() -> None:
    pruned, whole = (
        play(noisy_case())[0],
        play(replace(noisy_case(), terms=replace(noisy_case().terms, prune=NO_SHARE)))[0],
    )
    assert isinstance(pruned.tree.root, Split)
    assert pruned.tree.root.attribute == 0
    assert pruned.tree.size < whole.tree.size


def test_the_share_is_of_the_records_after_those_of_the_test_and_takes_none_of_them() -> None:
    train, test, pruning = split_records(1, 30, Fraction(1, 5), Fraction(1, 3))
    assert (len(train), len(test), len(pruning)) == (14, 6, 10)
    assert sorted([*train, *test, *pruning]) == list(range(30))
    assert split_records(1, 30, Fraction(1, 5))[1].tolist() == test.tolist()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"prune": Fraction(-1, 5)}, "must be 0 or more and below 1"),
        ({"prune": Fraction(1)}, "must be 0 or more and below 1"),
        ({"prune": Fraction(4, 5)}, "must leave records to train on beside those of test"),
        ({"method": "randomized"}, "is for the methods hybrid and smc"),
        ({"method": "smc", "noise": Fraction(1), "max_depth": 2}, "does not go with noise"),
    ],
)
def test_a_share_that_no_run_can_have_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(TermError, match=reason) as error:
        make_terms(**{"prune": Fraction(1, 5)} | changes)
    assert error.value.field == "prune"
