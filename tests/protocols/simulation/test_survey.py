"""Simulated answers, labels and rules: what disguises nothing changes nothing, and groups are drawn fairly."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from party.datasets.included import load_table
from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Split, majority
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import run_alone
from protocols.simulation.survey import (
    disguised,
    naive_bayes_accuracy,
    no_disguise,
    random_hold_out,
    related_question,
    tree_accuracy,
    unrelated_question,
)
from protocols.simulation.two_party import (
    SIDES,
    HoldOut,
    JointTable,
    accuracy,
    at_random,
    disguised_views,
    end_early,
    grow_hybrid,
    grow_plain,
    grow_randomized,
    label_by_estimates,
    label_exactly,
    random_groups,
    random_split,
)
from protocols.survey.mining import grow_tree
from protocols.tables import Attribute
from protocols.terms import ALL, RuleTerms
from tests.protocols.two_party.test_itemsets import cases, table
from tests.support.examples import at_most, few
from tests.support.joint_itemsets import RuleCase, plain_apriori


@pytest.fixture(scope="module")
def data() -> HoldOut:
    table = load_table("adult", 150)
    return random_hold_out(table, Fraction(1, 5), np.random.default_rng(1))


def test_a_fifth_is_held_out_and_the_benchmark_is_plain_id3(data: HoldOut) -> None:
    assert (len(data.train), len(data.test)) == (120, 30)
    together = np.sort(np.concatenate([data.train, data.test]), axis=0)
    assert (together == np.sort(load_table("adult", 150).codes, axis=0)).all()
    assert repr(data) == "<HoldOut 120 + 30 x 15>"
    engine = PlaintextEngine(data.schema, data.train, data.test)
    plain = run_alone(HybridId3(data.schema, engine.class_counts, ALL, engine).build()).tree
    assert tree_accuracy(data, no_disguise(data), np.random.default_rng(2)) == accuracy(plain, data)
    for learn, groups in ((tree_accuracy, 3), (naive_bayes_accuracy, 1)):
        generator = np.random.default_rng(3)
        original = learn(data, no_disguise(data), generator)
        assert learn(data, related_question(data, Fraction(1), groups, generator), generator) == original
        assert learn(data, unrelated_question(data, Fraction(1)), generator) == original
    generator = np.random.default_rng(4)
    lies = disguised(data, related_question(data, Fraction(0), 2, generator), generator)
    assert (lies.codes == 1 - data.train).all()
    truth = grow_tree(disguised(data, no_disguise(data), generator))
    assert (grow_tree(lies).predict(data.train) == truth.predict(data.train)).all()


def test_equal_chance_gives_equal_results_and_personal_values_share_one_coin(data: HoldOut) -> None:
    def disguise_with(seed: int) -> bytes:
        generator = np.random.default_rng(seed)
        return disguised(data, related_question(data, Fraction(2, 5), 3, generator), generator).codes.tobytes()

    assert disguise_with(5) == disguise_with(5) != disguise_with(6)
    design = unrelated_question(data, Fraction(1, 3))
    assert design.groups == (tuple(range(15)),)
    assert set(design.personal) == {(Fraction(1, 2), Fraction(1, 2))}


def test_random_groups_are_a_partition_of_which_every_pair_occurs_alike_often() -> None:
    groups = random_groups(range(3, 10), 3, np.random.default_rng(7))
    assert sorted(column for group in groups for column in group) == list(range(3, 10))
    assert sorted(map(len, groups)) == [2, 2, 3]
    generator = np.random.default_rng(8)
    tally = dict.fromkeys(combinations(range(4), 2), 0)
    for _ in range(3_000):
        for group in random_groups(range(4), 2, generator):
            tally[group[0], group[1]] += 1
    # Binomial(3000, 1/3): 1000 +- 25.8; six standard deviations either way fail once in 10^8.
    assert all(abs(count - 1_000) < 155 for count in tally.values())


@pytest.mark.parametrize("groups", [0, 5])
def test_impossible_numbers_of_groups_are_refused(groups: int) -> None:
    with pytest.raises(InputError, match="1 to 4 groups"):
        random_groups(range(4), groups, np.random.default_rng(9))


@pytest.fixture(scope="module", params=few(["tic-tac-toe", "adult"], 2))
def split(request: pytest.FixtureRequest) -> HoldOut:
    table = load_table(request.param)
    generator = np.random.default_rng(1)
    sample = table.rows(generator.choice(len(table), 900, replace=False))
    return random_split(sample, len(table.attributes) - 1, Fraction(1, 5), generator)


def test_an_early_end_cuts_what_fails_and_exact_labels_leave_exact_trees_as_they_are(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(3, 5), 2, np.random.default_rng(2)), np.random.default_rng(2))
    tree = grow_plain(split).tree
    for grown in (tree, grow_hybrid(split, views, 1).tree):
        assert label_exactly(grown, split) == grown
    views = disguised_views(split, at_random(Fraction(1), 2, np.random.default_rng(3)), np.random.default_rng(3))
    assert label_by_estimates(tree, split, views).leaves() == tree.leaves()
    stump = end_early(tree, lambda *_: False)
    assert isinstance(stump.root, Leaf)
    assert label_exactly(stump, split) == stump
    assert end_early(tree, lambda *_: True) == tree
    cut = end_early(tree, lambda _, node: sum(node.counts) >= 50)
    kept = {expression: node for expression, node in tree.walk() if isinstance(node, Split) and sum(node.counts) >= 50}
    found = {expression: node for expression, node in cut.walk() if isinstance(node, Split)}
    assert set(found) == set(kept)
    assert 1 < cut.size < tree.size
    for _, node in cut.walk():
        if isinstance(node, Leaf) and sum(node.counts) > 0:
            assert node.label == majority(node.counts)
    assert end_early(tree, lambda expression, _: len(expression.terms) < 3).depth == 3


def test_labels_are_majorities_of_training_records(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(7, 10), 2, np.random.default_rng(4)), np.random.default_rng(4))
    tree = grow_randomized(split, views)
    again = label_by_estimates(tree, split, views)
    assert [expression for expression, _ in again.leaves()] == [expression for expression, _ in tree.leaves()]
    assert (again.predict(split.train) == tree.predict(split.train)).mean() > 0.99  # but for rounding on ties
    views = disguised_views(split, at_random(Fraction(7, 10), 2, np.random.default_rng(5)), np.random.default_rng(5))
    tree = label_exactly(grow_randomized(split, views), split)
    classes = split.train[:, split.schema.class_index]
    for expression, label in tree.leaves():
        counts = np.bincount(classes[expression.satisfied_by(split.train)], minlength=split.schema.classes)
        assert counts.sum() == 0 or label == majority(counts.tolist())
    views = disguised_views(split, at_random(Fraction(3, 5), 2, np.random.default_rng(6)), np.random.default_rng(6))
    for grown in (grow_plain(split), grow_hybrid(split, views, 2)):
        sizes = [attribute.size for attribute in split.schema.attributes]
        cells = sum(sizes[c] * split.schema.classes for query in grown.queries for c in query.candidates)
        assert cells == grown.computations
        inner = sum(isinstance(node, Split) for _, node in grown.tree.walk())
        assert len(grown.queries) == inner


def joint(case: RuleCase) -> JointTable:
    alice, bob = ([each for each in case.attributes if each.party == party] for party in SIDES)
    return JointTable.of(alice, bob, case.codes)


def counts_of(found: JointItemsets) -> dict[TermSet, int]:
    return {each.terms: int(each.count) for each in found.frequent}


@settings(max_examples=at_most(8))
@given(case=cases())
def test_without_copies_it_shows_and_finds_what_a_run_does(case: RuleCase) -> None:
    run, _ = case.play()
    found = joint(case).find(case.terms.rules, case.terms.min_leaf, None)
    assert counts_of(found.itemsets) == counts_of(run.itemsets) == plain_apriori(case)
    assert (found.own, found.counted) == (run.own, run.counted)


def test_copies_that_show_all_leave_nothing_to_count_and_weak_ones_most() -> None:
    case = table(2000)
    rules = RuleTerms(Fraction(1, 4), 3, 10_000)
    every = joint(case).find(rules, 1, None).counted
    counted = []
    for theta in ("1", "9/10", "3/5"):
        design = RelatedDesign.of_odds((2, 2, 2), ((0,), (1, 2)), Fraction(theta))
        copies = joint(case).copies(dict.fromkeys(SIDES, design), np.random.default_rng(1))
        found = joint(case).find(rules, 1, copies)
        assert {terms for terms, _ in counts_of(found.itemsets).items()} == plain_apriori(
            RuleCase(case.sizes, case.codes, case.with_terms(rules=rules).terms)
        ).keys()
        counted.append(found.counted)
    assert counted[0] == 0
    assert 0 < counted[1] < counted[2] <= every


def test_more_sets_than_agreed_and_estimates_with_large_errors_are_not_taken() -> None:
    attributes = [Attribute("", name, ("0", "1")) for name in "ab"]
    made = JointTable.of(attributes, attributes, np.zeros((10, 4), dtype=np.uint8))
    with pytest.raises(InputError, match="more than most_sets = 2 sets of one party's items are frequent"):
        made.find(RuleTerms(Fraction(1, 2), 2, 2), 1, None)
    # Of some hundred sets a few are estimated at several times what there is.
    generator = np.random.default_rng(2)
    attributes = [Attribute("", f"i{number}", ("0", "1")) for number in range(16)]
    codes = (generator.random((600, 32)) < 0.3).astype(np.uint8)
    made = JointTable.of(attributes, attributes, codes)
    design = RelatedDesign.of_odds((2,) * 16, (tuple(range(8)), tuple(range(8, 16))), Fraction(2, 3))
    copies = made.copies(dict.fromkeys(SIDES, design), generator)
    found = made.find(RuleTerms(Fraction(1, 20), 4, 0, ("0",)), 1, copies, 5000).itemsets
    assert found.undecided > 0
    assert all(0 < each.error < found.least for each in found.kept if not each.settled)
