"""A few of the rounds that `scripts/kill` plays."""

from itertools import product
from pathlib import Path

import pytest

from tests.support.examples import few
from tests.support.kills import make_opening_round, make_round

TREE = {"reveal": "tree", "max_depth": 1, "most_bits": 1000, "test": "0"}
SMC = {**TREE, "method": "smc", "theta": None, "omega": None}
OPENINGS: dict[str, dict[str, object]] = {
    "noise": {**SMC, "noise": "0.1", "impurity": "gini", "most_bits": None},
    "a tree": SMC,
    "windows": {**TREE, "omega": 2},
    "held out": {**SMC, "test": "1/5"},
    "rules": {
        **SMC, "reveal": "sets", "learner": "rules", "class": None, "max_depth": None, "most_bits": None, "seed": None,
        "min_support": "1/5", "max_len": 2, "most_sets": 100, "min_threshold": "1/2", "metric": "confidence",
        "test": None, "min_leaf": 5,
    },
}  # fmt: skip


@pytest.mark.parametrize("seed", few([3, 2], 2))
def test_parties_that_are_killed_at_any_moment_end_with_the_tree_of_plain_id3(
    trusting: Path, tmp_path: Path, seed: int
) -> None:
    made = make_round(trusting, tmp_path / "parties", seed)
    made.play()
    made.assert_right()


TURNS = {"both": (("bob", "alice"),), "one after the other": (("bob",), ("alice",))}


@pytest.mark.parametrize(("way", "turns"), few([*product(OPENINGS, TURNS)], 5))
def test_parties_killed_at_each_opening_hear_one_answer_and_end_with_one_model(
    trusting: Path, tmp_path: Path, way: str, turns: str
) -> None:
    made = make_opening_round(trusting, tmp_path / "parties", OPENINGS[way], TURNS[turns])
    made.play()
    made.assert_right()
