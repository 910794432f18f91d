"""Learning from simulated answers: what disguises nothing changes nothing, and groups are drawn fairly."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from party.datasets.included import load_table
from protocols.counting.plaintext import PlaintextEngine
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.randomized_response.design import Design
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
from protocols.simulation.two_party import HoldOut, accuracy, random_groups
from protocols.survey.mining import grow_tree
from protocols.terms import ALL

Learn = Callable[[HoldOut, Design, np.random.Generator], float]


@pytest.fixture(scope="module")
def data() -> HoldOut:
    table = load_table("adult", 600)
    return random_hold_out(table, Fraction(1, 5), np.random.default_rng(1))


def test_a_fifth_is_held_out_and_the_benchmark_is_plain_id3(data: HoldOut) -> None:
    assert (len(data.train), len(data.test)) == (480, 120)
    together = np.sort(np.concatenate([data.train, data.test]), axis=0)
    assert (together == np.sort(load_table("adult", 600).codes, axis=0)).all()
    assert repr(data) == "<HoldOut 480 + 120 x 15>"
    engine = PlaintextEngine(data.schema, data.train, data.test)
    plain = run_alone(HybridId3(data.schema, engine.class_counts, ALL, engine).build()).tree
    assert tree_accuracy(data, no_disguise(data), np.random.default_rng(2)) == accuracy(plain, data)
    for learn in (tree_accuracy, naive_bayes_accuracy):
        for groups in (1, 3):
            generator = np.random.default_rng(3)
            original = learn(data, no_disguise(data), generator)
            assert learn(data, related_question(data, Fraction(1), groups, generator), generator) == original
            assert learn(data, unrelated_question(data, Fraction(1)), generator) == original
    generator = np.random.default_rng(4)
    lies = disguised(data, related_question(data, Fraction(0), 2, generator), generator)
    assert (lies.codes == 1 - data.train).all()
    truth = grow_tree(disguised(data, no_disguise(data), generator))
    assert (grow_tree(lies).predict(data.train) == truth.predict(data.train)).all()


def test_equal_chance_gives_equal_results_and_other_chance_others(data: HoldOut) -> None:
    def disguise_with(seed: int) -> bytes:
        generator = np.random.default_rng(seed)
        return disguised(data, related_question(data, Fraction(2, 5), 3, generator), generator).codes.tobytes()

    assert disguise_with(5) == disguise_with(5) != disguise_with(6)


def test_personal_values_are_uniform_and_share_one_coin(data: HoldOut) -> None:
    design = unrelated_question(data, Fraction(1, 3))
    assert design.groups == (tuple(range(15)),)
    assert set(design.personal) == {(Fraction(1, 2), Fraction(1, 2))}


def test_random_groups_are_a_partition_into_equal_parts() -> None:
    groups = random_groups(range(3, 10), 3, np.random.default_rng(7))
    assert sorted(column for group in groups for column in group) == list(range(3, 10))
    assert sorted(map(len, groups)) == [2, 2, 3]


def test_every_pair_of_groups_occurs_alike_often() -> None:
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
